"""What a reader can share lives in the URL: the run, a recipe, the parameters of a page.

A widget whose options are their own labels binds itself (`key=name, bind="query-params"`); that drops a bad value in
silence, so `param(name, ...)`, called before the widget is drawn, says what was wrong with it. Where the address and
the labels differ (run ids and titles, a recipe and its form) a page reads `asked` and writes with `write` instead.

The library is imported where it is used: the first page shows its first picture without it.
"""

from collections.abc import Iterable, Mapping
from functools import partial, wraps

import streamlit as st
from streamlit.errors import StreamlitAPIException

from data import DataError
from pages.ui.kit.text import plain, short

LARGEST = 2**53  # whole numbers beyond it are not exact in a browser
TRIES = 5  # pages begun anew, one after the other, over runs that were found damaged, or gone, while drawing them


def current_run():
    """The intact Run that the picker shows, or None; of a damaged one the picker says what is to be said."""
    from svmcore.lab.store import runs

    run_id = st.session_state.get("run")
    run = runs.get(run_id) if run_id else None
    return None if run is None or run.damage else run


def show_run(run_id: str):
    """Make a run the one shown on every page, in the address too: a second click still comes with that of before."""
    st.session_state["run"] = run_id
    write("run", ["run"], {"run": run_id})


def guarded(draw):
    """Call `draw`, which sees the runs of one moment; over a data set or a run that turns out to be damaged, or a run
    that somebody else deletes meanwhile, no page breaks down.

    A run is known as damaged, or gone, once it has been found to be, so that the page, begun anew, is drawn without it.
    """
    from svmcore.lab.store import runs

    try:
        with runs.one_look():
            draw()
    except (runs.Damaged, runs.UnknownRun) as error:
        st.session_state["begun_anew"] = st.session_state.get("begun_anew", 0) + 1
        if st.session_state["begun_anew"] <= TRIES:
            _tell_gone(error)
            st.rerun()
        what = "is gone" if isinstance(error, runs.UnknownRun) else "is damaged"
        st.error(plain(error), title=f"A run {what}", icon=":material/broken_image:")
        st.page_link("pages/runs.py", label="All runs", icon=":material/arrow_forward:")
    except DataError as error:
        st.error(plain(error), title="A data set cannot be read", icon=":material/broken_image:")


def fragment(draw=None, *, run_every: float | None = None):
    """`st.fragment` for what reads the store: guarded, as it is drawn again without the page around it."""
    if draw is None:
        return partial(fragment, run_every=run_every)
    return st.fragment(_within_guard(draw), run_every=run_every)


def dialog(title: str, draw, on_dismiss):
    """A large dialog that `draw` fills, guarded likewise."""
    return st.dialog(title, width="large", on_dismiss=on_dismiss)(_within_guard(draw))


def callback(change):
    """A callback of a widget that reads or changes runs: one that is gone meanwhile, damaged, or at work elsewhere is
    said."""

    @wraps(change)
    def changing(*args, **kwargs):
        from svmcore.lab.store import runs

        try:
            with runs.one_look():
                return change(*args, **kwargs)
        except (runs.Damaged, runs.UnknownRun, runs.RunBusy) as error:
            tell_later(f":material/block: {plain(error)}")
            st.rerun()  # the whole page, also from a fragment

    return changing


def _within_guard(draw):
    @wraps(draw)
    def guard(*args, **kwargs):
        guarded(lambda: draw(*args, **kwargs))

    return guard


def _tell_gone(error):
    from svmcore.lab.store import runs

    if isinstance(error, runs.UnknownRun):
        tell_later(f":material/link_off: {plain(error)}")


def tell_later(text: str):
    """Say something at the end of the next run of the page; for callbacks, which may not draw."""
    st.session_state["told"] = text


def tell():
    """At the end of a page: say what `tell_later` kept, once."""
    st.session_state["begun_anew"] = 0
    if text := st.session_state.pop("told", None):
        st.toast(text)


def asked(group: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The parameters `names` as the address has them, or {} when that is what `write` last put there."""
    now = _present(names)
    return {} if now == st.session_state.get(f"written_{group}") else now


def write(group: str, names: Iterable[str], values: Mapping[str, str | list[str]]):
    """Make the address say `values`, and nothing else, for the parameters `names`, in one step of its history, or two
    where a widget has bound other parameters and keeps them."""
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
    st.session_state[f"written_{group}"] = _present(names)


def note(name: str, key: str):
    """Callback of a widget: its value goes into the address, or the parameter out of it where the value is empty."""
    say(name, st.session_state[key])


def say(name: str, value: str | None):
    """Make one parameter of the address say `value`; an empty one goes."""
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def param(name: str, default, allowed=None):
    """The URL's value of `name`, typed like `default`; a value outside `allowed` is said aloud and replaced.

    allowed: None (anything of that type), `slice(lowest, highest)` for numbers, or a container of values.
    """
    raw = st.query_params.get(name)
    if raw is None:
        return default
    try:
        value = _typed(raw, default)
    except ValueError:
        value = None
    if value is None or not _within(value, allowed):
        spelled = f"{plain(name)}={plain(short(raw, 80))} in the address; allowed: {plain(_spelled(allowed, default))}."
        instead = f"Showing {plain(default)}." if default != "" else "It is left out."
        st.warning(f"{spelled} {instead}", icon=":material/link_off:")
        return default
    return value


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


def _present(names):
    return {name: st.query_params.get_all(name) for name in names if name in st.query_params}


def _typed(raw: str, default):
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(raw.lower())
    if not isinstance(default, int | float):
        return raw
    value = type(default)(raw)
    return value if abs(value) < LARGEST else None  # NaN included


def _within(value, allowed):
    if isinstance(allowed, slice):
        return allowed.start <= value <= allowed.stop
    return allowed is None or value in allowed


def _spelled(allowed, default):
    if isinstance(allowed, slice):
        return f"{allowed.start} to {allowed.stop}"
    if allowed is None:
        return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "a text")
    names = [short(a) for a in allowed]
    if not names:
        return "none here"
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
