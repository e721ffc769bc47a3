"""Short links: a page, with all that its address says, under a number; for a board, a sheet of paper, a phone.

    http://192.0.2.2:8080/12   leads to   /errors?run=...&digit=...

A line of SVMLAB_HOME/links.jsonl each, which only ever grows: what was printed stays good.
"""

import io
import json
from collections.abc import Mapping

import streamlit as st

from data import permission, places
from pages.ui.kit import present
from pages.ui.kit.text import command, plain

OWN = ("present", "embed", "embed_options", "who")  # parameters of whoever looks, not of what is looked at
MOST = 9_999  # links
Query = Mapping[str, list[str]]


def number(page: str, query: Query) -> int:
    """The number of a page with these parameters, "" for the first page; the same one whenever it is asked for."""
    permission.require("change")
    link, links = {"page": page, "query": {k: v for k, v in query.items() if k not in OWN}}, _links()
    if link not in links:
        if len(links) >= MOST:
            raise ValueError(f"There are {MOST:,} short links already; delete links.jsonl in SVMLAB_HOME.")
        from svmcore.lab.store import folders  # not before the first picture

        places.home().mkdir(parents=True, exist_ok=True)
        folders.append_line(places.home() / "links.jsonl", link)
        links = _links()
    return links.index(link) + 1


def read(word: str) -> tuple[str, Query] | None:
    """The page and the parameters that a number leads to; None for a word that is none."""
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(MOST))):
        return None
    link = dict(enumerate(_links(), 1)).get(int(word))
    return link and (link["page"], link["query"])


HELP = "Makes a short link to what is shown, with a QR code."
HOW = {"icon": ":material/qr_code_2:", "type": "tertiary", "help": HELP}
SHARED = "shared"  # in the session: the page, and how a class reaches the app


def share(page: str, rooms: list[str]) -> None:
    """A button for a short link to the page as it is. rooms: the addresses by which a class reaches the app."""
    st.session_state[SHARED] = page, rooms
    if st.button("Link", key="share", **HOW):
        st.dialog("Link to this page as shown", width="medium")(_code_and_link)()


def share_view() -> None:
    """The same button in a dialog, for visitors to whom `share` has shown it on the page."""
    if SHARED in st.session_state:
        with st.popover("Link", key="share_view", on_change="rerun", **HOW) as opened:
            if opened.open:
                _code_and_link()


def base(rooms: list[str]) -> str:
    """Where the app is reached: by a class, if it is, else as whoever looks does."""
    return rooms[0] if rooms else "/".join((st.context.url or "").split("/")[:3])


def _code_and_link() -> None:
    page, rooms = st.session_state[SHARED]
    try:
        stored = number(page, {name: st.query_params.get_all(name) for name in st.query_params})
    except (OSError, ValueError) as error:  # a full disk, or too many of them
        st.error(plain(error), title="No short link was made", icon=":material/block:")
        return
    url = f"{base(rooms)}/{stored}"
    st.image(qr(url), width=present.scaled(280), alt=f"QR code of {url}")
    st.code(url, language=None)
    st.caption(
        "Students can open this link if they may open the page, and if you show them the run (on *Class*)."
        if rooms
        else f"This link opens on this computer only. To share links in a room, start `{command('pages.classroom')}`."
    )


@st.cache_data(max_entries=8, show_spinner=False)
def qr(url: str) -> str:
    """A QR code of an address, as SVG."""
    import segno  # rarely needed

    out = io.BytesIO()  # omitsize: with a viewBox instead, so that it is whole at any size
    segno.make(url, error="m").save(out, "svg", border=3, dark="#000", light="#fff", xmldecl=False, omitsize=True)
    return out.getvalue().decode()


def _links() -> list[dict]:
    """The lines of the file; one that is damaged leads nowhere, and keeps its number."""
    try:
        lines = (places.home() / "links.jsonl").read_text("utf-8").splitlines()
    except OSError:
        return []
    return [_link(line) for line in lines]


def _link(line: str) -> dict:
    try:
        link = json.loads(line)
        query = {str(name): [str(text) for text in texts] for name, texts in link["query"].items()}
        return {"page": str(link["page"]), "query": query}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {"page": "", "query": {}}
