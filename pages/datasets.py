"""Datasets: what there is, what it looks like, what preprocessing does to it, and the reader's own data."""

import streamlit as st

from data import DataError, Entry, catalogue, thumbnails
from pages.ui.data.fetching import fetch_panel
from pages.ui.data.upload import upload_panel
from pages.ui.example import views
from pages.ui.kit import state
from pages.ui.kit.words import plain, short

OWN = "new"  # the value of ?set= that stands for "add your own"
VIEWS = {"First hundred": views.hundred, "By class": views.by_class, "Preprocessing": views.preprocessing}
ABOUT = "About"
LIST_HEIGHT = 350  # pixels: a row and a half of cards, so that the list shows that it scrolls


@st.cache_data(max_entries=128, show_spinner=False)
def thumbnail(name: str, state: tuple):
    """A small picture of the set, drawn once for each state it is in; empty frames for files that cannot be read."""
    entry = catalogue.entry(name)
    try:
        return thumbnails.draw(entry.load()) if entry.at_hand else thumbnails.frames()
    except DataError:
        return thumbnails.frames()


def picture(entry: Entry):
    """The thumbnail of a set; the reader's own may have been replaced under their name."""
    written = tuple(path.stat().st_mtime_ns for path in entry.paths()) if entry.name.startswith("own:") else ()
    return thumbnail(entry.name, (entry.at_hand, written))


def choose(name: str):
    st.query_params["set"] = name


def card(entry: Entry, chosen: bool):
    """One data set of the list: name, size, licence, whether it is at hand; returns the place for its picture."""
    at_hand = entry.at_hand
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            place = st.container(width=112)
            st.button(
                "Shown" if chosen else "Show",
                key=f"show_{entry.name}",
                type="primary" if chosen else "secondary",
                on_click=choose,
                args=(entry.name,),
            )
        badge = ":green-badge[:material/check: at hand]" if at_hand else ":gray-badge[:material/download: to fetch]"
        st.markdown(f"**{plain(short(entry.title))}** {badge}  \n:small[{views.facts(entry)}  \n{entry.licence}]")
    return place


def about(entry: Entry):
    facts = {
        "name": entry.name,
        "classes": ", ".join(map(short, entry.classes[:20])) + (", …" if entry.n_classes > 20 else ""),
        "licence": entry.licence,
        "citation": entry.citation or "–",
        "source": ", ".join(entry.sources),
        "note": entry.note or "–",
    }
    st.table(
        {name: plain(text) for name, text in facts.items()},
        alt=f"Licence, citation and sources of {entry.title}",
    )


def remove(name: str):
    try:
        catalogue.forget(name)
    except DataError as error:
        state.tell_later(f":material/block: {plain(error)}")
    st.query_params.pop("set", None)


def remove_button(name: str):
    st.button("Remove", icon=":material/delete:", key=f"remove_{name}", on_click=remove, args=(name,))


def show(entry: Entry):
    """The chosen set: its facts, and the view picked."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(plain(short(entry.title, 60)), width="content")
        st.page_link(
            "pages/train.py", label="Train on it", icon=":material/play_circle:", query_params={"dataset": entry.name}
        )
    st.caption(views.facts(entry))
    if not entry.at_hand:
        fetch_panel(entry)
        about(entry)
        return
    names = [*VIEWS, ABOUT]
    state.param("view", names[0], names)
    view = st.segmented_control(
        "View",
        names,
        default=names[0],
        required=True,
        key="view",
        bind="query-params",
        label_visibility="collapsed",
    )
    try:
        dataset = entry.load()
    except DataError as error:
        st.error(plain(error), title="This data set cannot be read", icon=":material/broken_image:")
        if entry.name.startswith("own:"):
            remove_button(entry.name)
        return
    if view == ABOUT:
        about(entry)
        if entry.name.startswith("own:"):
            remove_button(entry.name)
        return
    VIEWS[view](dataset)


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Datasets", width="content")
    st.button("Add your own", icon=":material/upload:", key="add_own", on_click=choose, args=(OWN,))
entries = {entry.name: entry for entry in catalogue.entries()}
chosen = state.param("set", catalogue.DEFAULT, [*entries, OWN])
with st.container(height=LIST_HEIGHT, border=False), st.grid("auto", min_column_width=230):
    places = {name: card(entry, name == chosen) for name, entry in entries.items()}
for damaged in catalogue.damaged():
    with st.container(horizontal=True, vertical_alignment="center"):
        st.error(plain(damaged.reason), title=f"{plain(damaged.name)} is damaged", icon=":material/broken_image:")
        remove_button(damaged.name)
if chosen == OWN:
    upload_panel()
else:
    show(entries[chosen])
for name, place in places.items():  # last: the first drawing reads every set that is at hand
    entry = entries[name]
    place.image(picture(entry), width=112, output_format="PNG", alt=f"Examples of {entry.title}")
