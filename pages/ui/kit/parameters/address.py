"""The address itself: what it asks for, what it is made to say, and what of it cannot be."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui.kit.text import plain, short

STREAMLITS = ("embed", "embed_options")  # parameters of every page
ALL = 12  # words that are allowed of which all are named, and not only those most like what was written
LARGEST = 2**53  # whole numbers beyond it are not exact in a browser
LINK_OFF = ":material/link_off:"
LAG = 20.0  # seconds within which a click may still come with the address of before `write`; 3 s on a busy machine


def asked(group: str, names: Iterable[str], judged: bool = True) -> dict[str, list[str]]:
    """The parameters `names` as the address has them, or {} when that is what `write` last put there. judged: whoever
    asks says what of them cannot be.

    {} too when a widget of the group was changed since it was drawn: the address may be that of before, still on its
    way back from the browser, and the session knows better.
    """
    if judged:
        judge(*names)
    return _present(names) if changed(group, names) else {}


def changed(group: str, names: Iterable[str]) -> bool:
    """Whether the address says something else of the parameters than `write` made it say, by no click on their
    widgets. An address of before a `write` is none, if it is of the same page and not gone back to: a click may have
    been on its way."""
    now = _present(names)
    if now == st.session_state.get(f"written_{group}", {}):
        if (request := _request()) is None or all(request is not one[3] for one in _left(group)):
            st.session_state.pop(f"left_{group}", None)  # the browser has it: from here on the old one is asked for
        return False
    late = not _goes_back() and now == _sent(names) and (now, _page()) in (one[:2] for one in _left(group))
    return not (late or touched(group))


def _request() -> object:
    """What this run of the script, a callback's or a fragment's too, shares with all that it begins anew (`st.rerun`),
    and with no other request of the browser."""
    return getattr(get_script_run_ctx(suppress_warning=True), "context_info", None)


def _sent(names: Iterable[str]) -> dict[str, list[str]]:
    """The parameters as the browser sent them, before anything in this run changed the address."""
    pages = st.session_state.get("parameters", {})
    if "given" not in pages or pages["request"] is not _request():  # a callback or a fragment: it has not begun a page
        return _present(names)
    return {name: pages["given"][name] for name in names if name in pages["given"]}


def _left(group: str) -> list[tuple[dict, str, float, object]]:
    """(address, page, seconds, request) of what `write` made the address no longer say within LAG seconds."""
    return [one for one in st.session_state.get(f"left_{group}", []) if time.monotonic() - one[2] < LAG]


def _goes_back() -> bool:
    """Whether the page is drawn because the reader moved in the browser's history."""
    return getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", False)


def write(group: str, names: Iterable[str], values: Mapping[str, str | list[str]], keys: Iterable[str] = ()):
    """Make the address say `values`, and nothing else, for the parameters `names`, in one step of its history, or two
    where a widget has bound other parameters and keeps them. keys: of the group's widgets. Of a group that has none,
    such as the run that is shown, two addresses of the page are no news for LAG seconds: the one that the browser sent,
    and the one that stood here before this."""
    left = _present(names), _sent(names)
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
    written = _present(names)
    st.session_state.update({f"written_{group}": written, f"shown_{group}": shown})
    if not shown and any(one != written for one in left):
        here = _page(), time.monotonic(), _request()
        st.session_state[f"left_{group}"] = [*_left(group), *((one, *here) for one in left if one != written)]


def say(name: str, value: str | None):
    """Make one parameter of the address say `value`; an empty one goes."""
    own(name)
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def begin(page: str) -> None:
    """A page is about to be drawn: what is read, drawn or written from here on are its parameters."""
    pages = st.session_state.setdefault("parameters", {})
    given = {name: st.query_params.get_all(name) for name in st.query_params}
    pages |= {"now": pages.setdefault(page, dict.fromkeys(STREAMLITS)), "title": page, "given": given, "judged": set()}
    pages["request"] = _request()


def _page() -> str:
    """The title of the page that is drawn, or was drawn last."""
    return st.session_state.get("parameters", {}).get("title", "")


def own(*names: str, **domains) -> None:
    """These are parameters of the page, also where it does not draw now what they are of; `say_wrong` says what of
    them can never be.

    domains: name -> `bool`, a `slice` of numbers (its `stop` may be None) or a container of texts, as in `taken`; a
    Field; or what raises ValueError over a text that cannot be, and says what can. A parameter without can be any
    text, or whoever reads it says what it cannot be.
    """
    known = st.session_state.get("parameters", {}).get("now", {})
    known.update({name: known.get(name) for name in names} | domains)


def judge(*names: str) -> None:
    """What draws the page has read these parameters, and says what of them cannot be."""
    own(*names)
    st.session_state.get("parameters", {}).get("judged", set()).update(names)


def say_wrong() -> None:
    """The page has been drawn: say which parameters of its address it has not, with those like them, and which values
    cannot be, of those that it did not read now. What can be and means nothing now is no news."""
    pages, wrong = st.session_state["parameters"], {}
    known = pages["now"]
    for name in sorted(st.query_params.keys() - known.keys()):
        near = ", ".join(map(plain, like(name, sorted(known.keys() - set(STREAMLITS)), 3)))
        hint = f"Similar parameters: {near}." if near else "It is ignored."
        wrong[name] = f"{plain(short(name))} in the address is not a parameter of this page. {hint}"
    for name in sorted(known.keys() & pages["given"].keys() - pages["judged"]):
        if said := next(filter(None, (_never(name, text, known[name]) for text in pages["given"][name])), ""):
            wrong[name] = f"{said} It is ignored."
    told, more = list(wrong.values())[:ALL], ", ".join(plain(short(name)) for name in list(wrong)[ALL:])
    if told:
        st.warning("\n\n".join([*told, f"Ignored, too: {short(more, 1000)}."] if more else told), icon=LINK_OFF)


def _never(name: str, text: str, domain) -> str:
    """What is said of a text that its parameter can never be; nothing of another."""
    try:
        if domain is bool or isinstance(domain, slice | Collection):
            usual = False if domain is bool else getattr(domain, "start", "")
            taken(name, text, usual, None if domain is bool else domain)
        elif domain is not None:
            domain.check(domain.read(text)) if hasattr(domain, "check") else domain(text)
    except ValueError as error:
        said, begins = str(error).rstrip("."), f"{name}={short(text, 80)} in the address; "
        said = f"allowed: {error.allowed}" if hasattr(error, "allowed") else said.removeprefix(begins)
        return plain(f"{begins}{said}.")
    return ""


def like(word: str, known: Iterable[str], most: int = 5) -> list[str]:
    """Those of the known words most like an unknown one; distant ones only where none is close."""
    known = list(known)
    return next(filter(None, (get_close_matches(word, known, most, cutoff) for cutoff in (0.6, 0.4))), [])


def read(name: str, default, allowed=None, known=()):
    """The address's value of `name`, typed like `default`; one that is not allowed is said aloud and replaced.

    allowed: as in `taken`. known: texts of which nothing is said, such as what a widget has put there.
    """
    judge(name)
    raw = st.query_params.get(name)
    if raw is None:
        return default
    try:
        return taken(name, raw, default, allowed)
    except ValueError:
        if raw not in known:
            instead = f"Showing {plain(default)}." if default != "" else "It is ignored."
            st.warning(f"{refusal(name, raw, allowed, default, plain)} {instead}", icon=LINK_OFF)
        return default


def taken(name: str, raw: str, usual, allowed=None):
    """The value of a text, of the type of `usual`. ValueError for one that is not allowed.

    allowed: None (anything of that type), `slice(lowest, highest)` for numbers, or a container of values.
    """
    try:
        value = _typed(raw, usual)
    except ValueError:
        value = None
    if value is None or not _within(value, allowed):
        raise ValueError(refusal(name, raw, allowed, usual))
    return value


def refusal(name: str, raw: str, allowed, usual="", show: Callable = str) -> str:
    """The message for a text that is not allowed, formatted by `show`; of many allowed words the most similar."""
    return f"{show(name)}={show(short(raw, 80))} in the address; allowed: {show(_spelled(allowed, usual, raw))}."


def touched(group: str) -> bool:
    """Whether a widget of the group shows something else than when the group was written last."""
    drawn = st.session_state.get(f"shown_{group}", {})
    return any(key in st.session_state and st.session_state[key] != value for key, value in drawn.items())


def _present(names: Iterable[str]) -> dict[str, list[str]]:
    """Those of the parameters that the address has."""
    names = list(names)
    own(*names)
    return {name: st.query_params.get_all(name) for name in names if name in st.query_params}


def _typed(raw: str, usual):
    if isinstance(usual, bool):
        return {"true": True, "false": False}.get(raw.lower())
    if not isinstance(usual, int | float):
        return raw
    value = type(usual)(raw)
    return value if abs(value) < LARGEST else None  # NaN included


def _within(value, allowed):
    if isinstance(allowed, slice):
        return allowed.start <= value and (allowed.stop is None or value <= allowed.stop)
    return allowed is None or value in allowed


def _spelled(allowed, usual, raw: str) -> str:
    if isinstance(allowed, slice):
        return f"{allowed.start:,.12g} " + ("or more" if allowed.stop is None else f"to {allowed.stop:,.12g}")
    if allowed is None:
        return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(usual), "a text")
    names = list(map(str, allowed))
    if not names:
        return "none here"
    near = (len(names) > ALL and like(raw, names)) or names[:ALL]
    return ", ".join(map(short, near)) + (", …" if len(names) > len(near) else "")


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
