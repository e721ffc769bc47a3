"""One parameter and its widget.

What a widget says is declared in pages/widgets.toml, by table and name: `number("digestion.n", 10, 4000, 400)` is the
parameter `n` with the label, the help and the settings of that entry. What the page gives itself comes before these.
"""

import tomllib
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path

import streamlit as st

from pages.ui.kit.parameters.address import LINK_OFF, binding, changed, judge, read, refusal, touched, write
from pages.ui.kit.text import plain, short

KEEP = {"persist_state": "session"}  # of widgets whose form is still filled when the reader comes back to its page
WIDGETS = {
    "choice": "selectbox", "flag": "checkbox", "number": "number_input", "text": "text_input", "words": "multiselect",
    "": "multiselect",
}  # fmt: skip
SEGMENTS = "segmented_control"
WHOLE = {"wrap": True}  # what does not fit in a line is below, and not out of sight
DECLARED = tomllib.loads((Path(__file__).parents[3] / "widgets.toml").read_text("utf-8"))  # table -> name -> settings
AT_FIRST = {SEGMENTS: "default", "select_slider": "value"}  # how a widget calls what it shows at first


def declared(draw: Callable) -> Callable:
    """Decorator: a widget by its name alone, or with the table of its declaration before it."""

    @wraps(draw)
    def drawn(name: str, *args, **how):
        return draw(name.rpartition(".")[2], *args, **((settings_of(name) if "." in name else {}) | how))

    return drawn


def settings_of(name: str) -> dict:
    """Label, help and settings that are declared of a widget, `table.name`, for one that is drawn otherwise."""
    table, _, name = name.rpartition(".")
    return dict(DECLARED[table][name])


@declared
def choice(
    name: str, options: Iterable, usual=None, *, label: str, widget=SEGMENTS, key="", always=False, alone=True,
    known=(), **how,
):  # fmt: skip
    """One of `options`: at first the address's, else `usual`, else the first. It is never none.

    With a `format_func` the address has what is chosen, not what that is called, and not the usual one unless `always`.
    What an address says of it is left there until another is chosen, also what cannot be, or the way back in the
    browser would end at an address that is changed as soon as it is come to.
    key: of the widget, where it is not `name`; alone: whether there is one also where there is nothing to choose;
    known: what is offered elsewhere, of which nothing is said.
    """
    values, options, at = st.session_state, list(options), key or name
    usual = options[0] if usual is None else usual
    how = WHOLE | how if widget == SEGMENTS else how
    before, raw = values.get(f"drawn_{at}"), st.query_params.get(name)
    over = (raw,) if touched(f"choice_{name}") else ()  # another was chosen since
    asked = read(name, usual, options, (before, *known, *over))
    if len(options) == 1 and not alone:
        return asked
    if not key and "format_func" not in how:
        first = {"index": options.index(usual)} if widget == "selectbox" else {AT_FIRST[widget]: usual}
        return one_of(label, options, at, widget=widget, instead=asked, bind="query-params", **first, **how)
    if _news(name, at, how):
        values[at] = asked
    if "on_change" not in how:  # noted at the click: what is drawn above this may read the address
        how |= {"on_change": _note, "args": (name, at, usual, always)}
    value = one_of(label, options, at, widget=widget, instead=usual, **how)
    if value != asked or not (raw in options or (raw != before and not always)):
        raw = _text(value, usual, always)
    write(f"choice_{name}", [name], {} if raw is None else {name: raw}, [at])
    return value


def _note(name: str, key: str, usual, always: bool) -> None:
    """Callback: write what was chosen; what is reported as empty is left to `one_of`."""
    if (value := st.session_state[key]) is not None:
        text = _text(value, usual, always)
        write(f"choice_{name}", [name], {} if text is None else {name: text}, [key])


def _text(value, usual, always: bool) -> str | None:
    return str(value) if always or value != usual else None


def one_of(label: str, options: list, key: str, *, where=st, widget=SEGMENTS, instead=None, **how):
    """One of `options` by a segmented control, or another widget; never none.

    A browser that is clicked while it draws the page anew reports a choice as empty: it is what it was. What is not
    offered any more is `instead`, or the first one.
    """
    values, before = st.session_state, st.session_state.get(f"drawn_{key}")
    if key in values and values[key] not in options:
        instead = instead if instead in options else options[0]
        values[key] = before if values[key] is None and before in options else instead
    how |= {"required": True} if widget == SEGMENTS else {}
    values[f"drawn_{key}"] = value = getattr(where, widget)(label, options, key=key, **how)
    return value


@declared
def several(
    name: str, options: Iterable, usual=(), *, label: str, key="", least=(), unknown="", always=False, **how
):  # fmt: skip
    """Some of `options`, at first the address's or `usual`; where none of them is there any more, `least`.

    With a `format_func` the address has what is chosen, as with `choice`. unknown: what is said of one in the address
    that is not among them, with a place `{}` for it; without it, what is allowed.
    """
    judge(name)
    values, options, at, usual = st.session_state, list(options), key or name, list(usual)
    how = WHOLE | how
    noted = bool(key) or "format_func" in how
    given = st.query_params.get_all(name) if not noted or _news(name, at, how) else None
    if noted and given == []:
        given = usual
    most = how.get("max_selections")
    for wrong in [one for one in given or () if one not in options and one not in values.get(f"drawn_{at}", ())][:3]:
        said = f"{refusal(name, wrong, options, show=plain)} It is ignored."
        st.warning(unknown.format(plain(short(wrong, 60))) if unknown else said, icon=LINK_OFF)
    if noted and most and len(set(given or ())) > most:
        said = f"{name}: the address names {len(set(given))} values; the first {most} are shown."
        st.warning(said, icon=LINK_OFF)
    if not options:
        return []
    if noted and given is not None:
        values[at] = list(dict.fromkeys(given))
    if at in values:
        left = [one for one in values[at] if one in options][:most]
        values[at] = left or list(least or (usual if values[at] else ()))
    if noted:
        chosen = st.multiselect(label, options, key=at, **how)
        there = st.query_params.get_all(name) == chosen  # the usual one, in a link: it stays as it was written
        write(f"choice_{name}", [name], {name: chosen} if always or there or chosen != usual else {}, [at])
    else:
        chosen = st.multiselect(label, options, usual or None, key=at, bind="query-params", **how)
    values[f"drawn_{at}"] = chosen
    return chosen


@declared
def number(name: str, low, high, usual, step=None, *, label: str, widget="number_input", key="", first=None, **how):
    """A number from low to high, at first the address's, else `first`, else `usual`. With a `key` of the widget's own,
    as where one takes the place of another, it is written into the address, where it is not the usual one."""
    draw = partial(getattr(st, widget), label, low, high, step=step, **how)
    return _single(name, draw, usual, slice(low, high), key, first)


@declared
def flag(name: str, *, label: str, where=st, key="", **how) -> bool:
    """A switch, off unless the address says `true`. With a `key` it is written there as `number` is."""
    return _single(name, partial(where.toggle, label, **how), False, None, key)


def _single(name: str, draw: partial, usual, allowed, key: str, first=None):
    """What the widget shows, of which the address has the value: bound to it, or written there."""
    if not key:
        read(name, usual, allowed)
        return draw(value=usual, key=name, bind=binding(name))
    if _news(name, key, draw.keywords):
        st.session_state[key] = read(name, usual if first is None else first, allowed)
    value = draw(key=key)
    write(f"choice_{name}", [name], {name: str(value).lower()} if value != usual else {}, [key])
    return value


@declared
def text(name: str, usual: str = "", *, label: str, **how) -> str:
    judge(name)
    return st.text_input(label, usual, key=name, bind="query-params", **how)


def tabs(name: str, labels: Iterable[str], **how) -> list:
    """Tabs of which the open one is in the address; only that one need be drawn."""
    labels = list(labels)
    read(name, labels[0], labels)
    return st.tabs(labels, key=name, on_change="rerun", bind="query-params", **how)


def draw(field, key: str, where=st, widget: str = "", **how):
    """The widget that a Field asks for, or another one; `how` overrides its settings. Of `options` that are all there
    are it shows one, whatever the session or the browser says."""
    kind, values = field.kind, st.session_state
    values.setdefault(key, shown(field, field.first))
    widget = widget or WIDGETS[kind.widget]
    settings = {"label": field.label, "help": field.help, "key": key} | KEEP
    if kind.widget == "choice":
        settings |= {"options": list(kind.choices)}
        settings |= {"format_func": field.called} if kind.title else {}
    if kind.widget == "number":
        settings |= _range(field)
    if kind.widget == "words":
        settings |= {"options": list(kind.choices), "accept_new_options": True}
    if widget == "text_input":
        settings |= {"placeholder": field.opens}
    settings |= how
    if widget in ("selectbox", SEGMENTS) and not settings.get("accept_new_options"):
        return one_of(where=where, widget=widget, instead=field.default, **settings)
    value = getattr(where, widget)(**settings)
    if widget == "text_input":
        return field.read(value) if value.strip() or field.default is not None else None
    return " ".join(value) if kind.widget == "words" else value


def shown(field, value):
    """What the widget of a Field shows of a value."""
    if field.kind.widget == "words":
        return value.split()
    if field.kind.widget == "text":
        return "" if value is None else field.show(value)
    return list(value) if isinstance(value, tuple) else value


def _range(field) -> dict:
    whole, step = (int, 1) if field.kind.whole else (float, 0.1)
    ends = {"min_value": field.kind.low, "max_value": field.kind.high, "step": field.step or step}
    limits = {name: whole(end) for name, end in ends.items() if end is not None}
    limits |= {} if field.kind.whole else {"format": "%g"}
    return limits | ({"value": None, "placeholder": field.opens} if field.default is None else {})


def _news(name: str, key: str, how: dict) -> bool:
    """Whether a widget is to show what the address says: it was not there, or the address has changed by no click here.
    One that has lost the parameter may be that of a page come back to, where a widget keeps what it showed."""
    there = name in st.query_params or how.get("persist_state") is None
    return key not in st.session_state or (there and changed(f"choice_{name}", [name]))
