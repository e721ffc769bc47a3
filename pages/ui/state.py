"""What a reader can share lives in the URL: the run and the parameters of a page.

Widgets bind themselves to the URL (`key=name, bind="query-params"`), which drops a bad value in silence; `param(name,
...)`, called before the widget is drawn, says what was wrong with it.
"""

import streamlit as st

from svmcore.lab import runs


def current_run():
    """The Run that the picker shows, or None when the store is empty."""
    run_id = st.session_state.get("run")
    return runs.get(run_id) if run_id else None


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
        st.warning(f"`{name}={raw}` in the address: allowed is {_spelled(allowed, default)}. Showing `{default}`.")
        return default
    return value


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
