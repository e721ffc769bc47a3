"""Datasets: what there is, what it looks like, what preprocessing does to it, and the reader's own data."""

import streamlit as st

from data import DataError, Entry, catalogue, pictures
from data.pictures import PictureEntry
from pages.ui.data import cards, picture_sets
from pages.ui.data.fetching import fetch_panel
from pages.ui.data.picture_upload import picture_panel
from pages.ui.data.upload import upload_panel
from pages.ui.example import views
from pages.ui.kit import parameters, state
from pages.ui.kit.words import plain, short

OWN, OWN_PICTURES = "new", "new-pictures"  # the values of ?set= that stand for "add your own"
VIEWS = {"First hundred": views.hundred, "By class": views.by_class, "Preprocessing": views.preprocessing}
ABOUT = "About"
LIST_HEIGHT = 300  # pixels: a row and a half of cards, so that the list shows that it scrolls
FEW_CARDS = 4  # cards that need no scrolling
CLASSES, OBJECTS = "Examples in classes", "Pictures with objects"
FIRST_SET = {CLASSES: catalogue.DEFAULT, OBJECTS: "venus-like"}
NEW = {CLASSES: OWN, OBJECTS: OWN_PICTURES}


def choose(name: str):
    st.query_params["set"] = name
    picture_sets.leave()


def change_kind():
    """Show the first set of the other kind, or the panel that adds one."""
    if (kind := st.session_state["kind"]) is None:  # what a browser says that is clicked while it draws the page anew
        return
    choose((NEW if st.query_params.get("set") in NEW.values() else FIRST_SET)[kind])


def about(entry: Entry):
    facts = {
        "id in addresses and snippets": entry.name,
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
        (pictures if name.startswith(pictures.OWN_PREFIX) else catalogue).forget(name)
    except DataError as error:
        state.tell_later(f":material/block: {plain(error)}")
    st.query_params.pop("set", None)


def remove_button(name: str):
    st.button(
        "Remove", icon=":material/delete:", key=f"remove_{name}", on_click=remove, args=(name,),
        help="Deletes the lab's copy of this set; runs on it stay, without their pictures.",
    )  # fmt: skip


def heading(entry: Entry | PictureEntry):
    """Title, facts, and where the set is used."""
    of_pictures = isinstance(entry, PictureEntry)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(plain(short(entry.title, 60)), width="content")
        if of_pictures:
            picture_sets.link(entry.name)
        else:
            query = {"dataset": entry.name}
            st.page_link("pages/train.py", label="Train on it", icon=":material/play_circle:", query_params=query)


def show(entry: Entry | PictureEntry):
    """The chosen set: its facts, and the view picked."""
    heading(entry)
    of_pictures = isinstance(entry, PictureEntry)
    if not entry.at_hand:
        st.caption(cards.facts(entry))
        fetch_panel(entry)
        (picture_sets.about if of_pictures else about)(entry)
        return
    try:
        dataset = entry.load()
    except DataError as error:
        st.error(plain(error), title="This data set cannot be read", icon=":material/broken_image:")
        if entry.name.startswith("own:"):
            remove_button(entry.name)
        return
    if of_pictures:
        st.caption(picture_sets.facts(dataset.entry, entry))
        view = picture_sets.show_set(entry, dataset)
    else:
        st.caption(views.facts(entry))
        view = show_view(entry, dataset)
    if view == ABOUT and entry.name.startswith("own:"):
        remove_button(entry.name)


def show_view(entry: Entry, dataset) -> str:
    """The view of a set of examples that is picked; its name."""
    names = [*VIEWS, ABOUT]
    view = parameters.choice(
        "view",
        "View",
        names,
        label_visibility="collapsed",
        help="Examples in their order, a draw of each class, what each preprocessing step does, or facts and licence.",
    )
    if view == ABOUT:
        about(entry)
    else:
        VIEWS[view](dataset)
    return view


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Datasets", width="content")
    add = st.container(width="content")
kinds = {CLASSES: catalogue.entries(), OBJECTS: pictures.entries()}
entries = {entry.name: entry for of_kind in kinds.values() for entry in of_kind}
chosen = parameters.read("set", catalogue.DEFAULT, [*entries, *NEW.values()])
of_objects = chosen == OWN_PICTURES or isinstance(entries.get(chosen), PictureEntry)
kind = st.session_state["kind"] = OBJECTS if of_objects else CLASSES
add.button(
    "Add your own", icon=":material/upload:", key="add_own", on_click=choose, args=(NEW[kind],),
    help="Images in one folder a class, a table, or pictures with boxes; they stay on this machine.",
)  # fmt: skip
parameters.one_of(
    "Kind",
    list(kinds),
    "kind",
    on_change=change_kind,
    label_visibility="collapsed",
    help="One label for each example, or objects to be found in larger pictures.",
)
height = LIST_HEIGHT if len(kinds[kind]) > FEW_CARDS else "content"
with st.container(height=height, border=False), st.grid("auto", min_column_width=230):
    places = {entry: cards.card(entry, entry.name == chosen, choose) for entry in kinds[kind]}
for damaged in [*catalogue.damaged(), *pictures.damaged()]:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.error(plain(damaged.reason), title=f"{plain(damaged.name)} is damaged", icon=":material/broken_image:")
        remove_button(damaged.name)
if chosen in NEW.values():
    (upload_panel if chosen == OWN else picture_panel)()
else:
    st.set_page_config(f"Datasets · {short(entries[chosen].title, 40)} · Invariant SVM Lab")
    show(entries[chosen])
cards.draw(places)
