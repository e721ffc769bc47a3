"""Parameters: what a reader can share, carried between the address, the session and the widgets.

    address  --read-->  value  --seed-->  widget  --draw-->  value  --write-->  address

A parameter is a Field of the registry, or as much as a widget needs of one, with a place in the address. Pages declare
theirs and draw them here; nothing else of `pages` knows this loop.

    choice, several, number   one parameter and its widget. Where options are their own labels Streamlit binds the
                              widget to the address, and an address that lags behind a click does no harm; where they
                              are called otherwise, what is chosen is written there
    Form                      several that make up one value, as a recipe: all from the address, or all from what the
                              widgets show
    read, asked, write, say   the address alone, where the widget is the page's own

What cannot be in an address is said aloud and left out. What was put there by a widget itself is no news.
"""

from collections.abc import Callable, Iterable, Mapping

import streamlit as st
from streamlit.errors import StreamlitAPIException

from pages.ui.kit.text import plain, short

LARGEST = 2**53  # whole numbers beyond it are not exact in a browser
KEEP = {"persist_state": "session"}  # of widgets whose form is still filled when the reader comes back to its page
LINK_OFF = ":material/link_off:"


# ------------------------------------------------------------------------------------------------ one of them, a widget


def choice(name: str, label: str, options: Iterable, usual=None, *, draw=None, key: str = "", always=False, **how):
    """One of `options`: at first the address's, else `usual`, else the first. It is never none.

    With a `format_func` the address has what is chosen, not what that is called, and not the usual one unless `always`.
    key: of the widget, where it is not `name`; draw: `st.selectbox`, say, in place of a segmented control.
    """
    values, options, at = st.session_state, list(options), key or name
    usual = options[0] if usual is None else usual
    if draw is None:
        draw, how = st.segmented_control, {"required": True} | how
    before = values.get(f"drawn_{at}")
    if key or "format_func" in how:
        group = f"choice_{name}"
        if asked(group, [name]) or at not in values:
            values[at] = read(name, usual, options, before)
        _settle(at, options, before, usual)
        value = draw(label, options, key=at, **how)
        write(group, [name], {name: str(value)} if always or value != usual else {}, [at])
    else:
        _settle(at, options, before, read(name, usual, options, before))
        first = {"default": usual} if draw is st.segmented_control else {"index": options.index(usual)}
        value = draw(label, options, key=at, bind="query-params", **first, **how)
    values[f"drawn_{at}"] = value
    return value


def several(name: str, label: str, options: Iterable, usual=(), *, key="", least=(), unknown="", always=False, **how):
    """Some of `options`, at first the address's or `usual`; where none of them is there any more, `least`.

    With a `format_func` the address has what is chosen, as with `choice`. unknown: what is said of one in the address
    that is not among them, with a place `{}` for it; without it, what is allowed.
    """
    values, options, at, usual = st.session_state, list(options), key or name, list(usual)
    noted = bool(key) or "format_func" in how
    group = f"choice_{name}"
    given = asked(group, [name]).get(name) if noted else st.query_params.get_all(name)
    if noted and given is None and at not in values:
        given = st.query_params.get_all(name) or usual
    for wrong in [one for one in given or () if one not in options and one not in values.get(f"drawn_{at}", ())][:1]:
        said = unknown.format(plain(short(wrong, 60))) if unknown else _wrong(name, wrong, options)
        st.warning(said if unknown else f"{said} It is left out.", icon=LINK_OFF)
    if noted and given is not None:
        values[at] = list(dict.fromkeys(given))
    if at in values:
        values[at] = [one for one in values[at] if one in options][: how.get("max_selections")] or list(least)
    if noted:
        chosen = st.multiselect(label, options, key=at, **how)
        write(group, [name], {name: chosen} if always or chosen != usual else {}, [at])
    else:
        chosen = st.multiselect(label, options, usual or None, key=at, bind="query-params", **how)
    values[f"drawn_{at}"] = chosen
    return chosen


def number(name: str, label: str, low, high, usual, step=None, *, draw=None, **how):
    """A number from low to high, at first the address's, else `usual`."""
    read(name, usual, slice(low, high))
    return (draw or st.number_input)(label, low, high, usual, step, key=name, bind=binding(name), **how)


def binding(name: str) -> str | None:
    """`bind` of a number widget: Streamlit breaks down over an infinite number in the address, here it is left out.

    Once seen it stays left out: Streamlit remembers the address that a session began with.
    """
    try:
        endless = not abs(float(st.query_params.get(name, "0"))) < LARGEST
    except ValueError:
        endless = False
    if endless:
        st.session_state[f"endless_{name}"] = True
    return None if st.session_state.get(f"endless_{name}") else "query-params"


def _settle(key: str, options: list, before, instead) -> None:
    """Put right what a widget is said to show. Nothing at all, as a browser has it that is clicked while it draws the
    page anew, is what it was `before`; what is not offered any more is `instead`."""
    values = st.session_state
    if key in values and values[key] not in options:
        values[key] = before if values[key] is None and before in options else instead


# --------------------------------------------------------------------------------------- several that make up one value


class Form:
    """Parameters that together are one value: of an address that this form did not write, or of what its widgets show.

    name      begins the keys of its widgets
    names     () -> its parameters of the address
    read      ({name: texts}) -> the value that an address asks for, and what was wrong with it
    spell     (value) -> {name: text or texts} for the address
    spread    (value) -> {name of a widget: what it shows}
    """

    def __init__(self, name: str, names: Callable, read: Callable, spell: Callable, spread: Callable):
        self.name, self.names, self.read, self.spell, self.spread = name, names, read, spell, spread

    @classmethod
    def of(cls, name: str, fields: Mapping, refuse: Callable = lambda name, value: None) -> "Form":
        """The form of some Fields, whose value is {name: value}. refuse(name, value) raises ValueError for what cannot
        be here."""

        def read(given):
            shown, wrong = {name: field.default for name, field in fields.items()}, []
            for name, texts in given.items():
                try:
                    value = fields[name].check(fields[name].read(texts[-1]))
                    refuse(name, value)
                    shown[name] = value
                except ValueError as error:
                    wrong.append(str(error))
            return shown, wrong

        def spell(shown):
            return {n: fields[n].show(value) for n, value in shown.items() if value != fields[n].default}

        return cls(name, lambda: list(fields), read, spell, dict)

    def key(self, name: str) -> str:
        """Key of one of its widgets."""
        return f"{self.name}_{name}"

    @property
    def base(self):
        """What it was filled with; None before."""
        return st.session_state.get(self.key("form"))

    def asked(self) -> dict[str, list[str]]:
        """What the address asks for; see `asked`."""
        return asked(self.name, self.names())

    def seed(self, first: Callable, unless: Callable = lambda given: False) -> None:
        """Fill the widgets from the address, `unless` what it asks for is there; with `first()` at the beginning, and
        when nothing is left of them since another page was looked at."""
        given = self.asked()
        if given and not unless(given):
            self.fill(*self.read(given))
        elif self.base is None or not any(self.key(name) in st.session_state for name in self.spread(self.base)):
            self.fill(first())

    def fill(self, value, wrong: Iterable[str] = ()) -> None:
        """Put a value into the widgets; `wrong`: what is to be said of the address that it came from."""
        st.session_state.update({self.key(name): shown for name, shown in self.spread(value).items()})
        kept = {"form": value, "wrong": list(wrong), "said": {}}
        st.session_state.update({self.key(name): what for name, what in kept.items()})

    def warn(self) -> None:
        """What the address had wrong, until something is changed."""
        if wrong := st.session_state[self.key("wrong")]:
            st.warning("\n\n".join(map(plain, wrong)), title="Ignored in the address", icon=LINK_OFF)

    def write(self, value, keep: bool = False) -> None:
        """Make the address spell what the form shows. keep: the form is filled with this from now on, as far as `base`
        says."""
        values, texts = st.session_state, self.spell(value)
        if values[self.key("said")] not in ({}, texts):
            values[self.key("wrong")] = []
        values[self.key("said")] = texts
        if keep:
            values[self.key("form")] = value
        write(self.name, self.names(), texts, map(self.key, self.spread(value)))

    def draw(self, field, owner: str = "", where=st, **how):
        """The widget of a Field in `where`, a column say; the value that it shows. owner: whose field it is, where
        several have one of this name."""
        return draw(field, self.key(f"{owner}_{field.name}" if owner else field.name), where, **how)

    def draw_all(self, fields: Iterable, owner: str = "", **how) -> dict:
        """The widgets of the fields that have one, two numbers in a row; their values by name."""
        shown = [field for field in fields if field.shown]
        numbers = [field for field in shown if field.kind.widget == "number"]
        values = {field.name: self.draw(field, owner, **how) for field in shown if field not in numbers}
        columns = st.columns(2) if len(numbers) > 1 else [st]
        for at, field in enumerate(numbers):
            values[field.name] = self.draw(field, owner, columns[at % len(columns)], **how)
        return values


def draw(field, key: str, where=st, **how):
    """The widget that a Field asks for, with this key; `how` overrides its settings."""
    kind = field.kind
    st.session_state.setdefault(key, field.default)
    settings = {"label": field.label, "help": field.help, "key": key} | KEEP
    if kind.widget == "choice":
        named = {"format_func": lambda word: kind.title(kind.choices[word])} if kind.title else {}
        return where.selectbox(**settings | {"options": list(kind.choices)} | named | how)
    if kind.widget == "flag":
        return where.checkbox(**settings | how)
    if kind.widget == "number":
        return where.number_input(**settings | _range(field) | how)
    return where.text_input(**settings | how)


def _range(field) -> dict:
    whole, step = (int, 1) if field.kind.whole else (float, 0.1)
    ends = {"min_value": field.kind.low, "max_value": field.kind.high, "step": field.step or step}
    limits = {name: whole(end) for name, end in ends.items() if end is not None}
    limits |= {} if field.kind.whole else {"format": "%g"}
    return limits | ({"value": None, "placeholder": field.opens} if field.default is None else {})


# --------------------------------------------------------------------------------------------------- the address itself


def asked(group: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The parameters `names` as the address has them, or {} when that is what `write` last put there.

    {} too when a widget of the group was changed since it was drawn: the address may be that of before, still on its
    way back from the browser, and the session knows better.
    """
    drawn, now = st.session_state.get(f"drawn_{group}", {}), _present(names)
    if any(key in st.session_state and st.session_state[key] != value for key, value in drawn.items()):
        return {}
    return {} if now == st.session_state.get(f"written_{group}") else now


def write(group: str, names: Iterable[str], values: Mapping[str, str | list[str]], keys: Iterable[str] = ()):
    """Make the address say `values`, and nothing else, for the parameters `names`, in one step of its history, or two
    where a widget has bound other parameters and keeps them. keys: of the group's widgets."""
    now = {name: st.query_params.get_all(name) for name in st.query_params}
    wanted = {name: [value] if isinstance(value, str) else value for name, value in values.items() if value != []}
    changed = {name: texts for name, texts in now.items() if name not in names} | wanted
    if changed != now:
        try:
            st.query_params.from_dict(changed)
        except StreamlitAPIException:  # another parameter is a widget's own
            for name in now.keys() - changed.keys():
                del st.query_params[name]
            st.query_params.update({name: texts for name, texts in wanted.items() if now.get(name) != texts})
    shown = {key: st.session_state[key] for key in keys if key in st.session_state}
    st.session_state.update({f"written_{group}": _present(names), f"drawn_{group}": shown})


def note(name: str, key: str):
    """Callback of a widget: its value goes into the address, or the parameter out of it where the value is empty."""
    say(name, st.session_state[key])


def say(name: str, value: str | None):
    """Make one parameter of the address say `value`; an empty one goes."""
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def read(name: str, default, allowed=None, known=None):
    """The address's value of `name`, typed like `default`; one that is not allowed is said aloud and replaced.

    allowed: as in `taken`. known: what the page's own widget has put there, of which nothing is said.
    """
    raw = st.query_params.get(name)
    if raw is None:
        return default
    try:
        return taken(name, raw, default, allowed)
    except ValueError as error:
        if raw != known:
            instead = f"Showing {plain(default)}." if default != "" else "It is left out."
            st.warning(f"{error} {instead}", icon=LINK_OFF)
        return default


def taken(name: str, raw: str, like, allowed=None):
    """The value of a text, of the type of `like`. ValueError, in Markdown, for one that is not allowed.

    allowed: None (anything of that type), `slice(lowest, highest)` for numbers, or a container of values.
    """
    try:
        value = _typed(raw, like)
    except ValueError:
        value = None
    if value is None or not _within(value, allowed):
        raise ValueError(_wrong(name, raw, allowed, like))
    return value


def _wrong(name: str, raw: str, allowed, like="") -> str:
    return f"{plain(name)}={plain(short(raw, 80))} in the address; allowed: {plain(_spelled(allowed, like))}."


def _present(names):
    return {name: st.query_params.get_all(name) for name in names if name in st.query_params}


def _typed(raw: str, like):
    if isinstance(like, bool):
        return {"true": True, "false": False}.get(raw.lower())
    if not isinstance(like, int | float):
        return raw
    value = type(like)(raw)
    return value if abs(value) < LARGEST else None  # NaN included


def _within(value, allowed):
    if isinstance(allowed, slice):
        return allowed.start <= value <= allowed.stop
    return allowed is None or value in allowed


def _spelled(allowed, like):
    if isinstance(allowed, slice):
        return f"{allowed.start} to {allowed.stop}"
    if allowed is None:
        return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(like), "a text")
    names = [short(a) for a in allowed]
    if not names:
        return "none here"
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
