"""What a reader can share lives in the URL: the run, a recipe, the parameters of a page.

A widget whose options are their own labels binds itself (`key=name, bind="query-params"`); that drops a bad value in
silence, so `param(name, ...)`, called before the widget is drawn, says what was wrong with it. Where the address and
the labels differ (run ids and titles, a recipe and its form) a page reads `asked` and writes with `write` instead.
"""

from collections.abc import Iterable, Mapping

import streamlit as st

from pages.ui.kit.words import plain
from svmcore.lab.store import runs


def current_run():
    """The Run that the picker shows, or None when the store is empty."""
    run_id = st.session_state.get("run")
    return runs.get(run_id) if run_id else None


def tell_later(text: str):
    """Say something at the end of the next run of the page; for callbacks, which may not draw."""
    st.session_state["told"] = text


def tell():
    """Say what `tell_later` kept, once."""
    if text := st.session_state.pop("told", None):
        st.toast(text)


def asked(group: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The parameters `names` as the address has them, or {} when that is what `write` last put there."""
    now = _present(names)
    return {} if now == st.session_state.get(f"written_{group}") else now


def write(group: str, names: Iterable[str], values: Mapping[str, str | list[str]]):
    """Make the address say `values`, and nothing else, for the parameters `names`, in one step of its history."""
    now = {name: st.query_params.get_all(name) for name in st.query_params}
    wanted = {name: [value] if isinstance(value, str) else value for name, value in values.items() if value != []}
    changed = {name: texts for name, texts in now.items() if name not in names} | wanted
    if changed != now:
        st.query_params.from_dict(changed)
    st.session_state[f"written_{group}"] = _present(names)


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
        spelled = f"{plain(name)}={plain(raw)} in the address; allowed: {plain(_spelled(allowed, default))}."
        st.warning(f"{spelled} Showing {plain(default)}.", icon=":material/link_off:")
        return default
    return value


def _present(names):
    return {name: st.query_params.get_all(name) for name in names if name in st.query_params}


def _typed(raw: str, default):
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(raw.lower())
    return type(default)(raw) if isinstance(default, int | float) else raw


def _within(value, allowed):
    if isinstance(allowed, slice):
        return allowed.start <= value <= allowed.stop
    return allowed is None or value in allowed


def _spelled(allowed, default):
    if isinstance(allowed, slice):
        return f"{allowed.start} to {allowed.stop}"
    if allowed is None:
        return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "a text")
    names = [str(a) for a in allowed]
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
