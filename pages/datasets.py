"""Datasets: what there is, what it looks like, what preprocessing does to it, and the reader's own data."""

from functools import partial

import numpy as np
import streamlit as st

from data import DataError, Entry, catalogue, fetch, pictures, revisions, thumbnails, transfers
from data.pictures import PictureEntry, drawing
from data.revisions import Revision
from pages.datasets import keeping, picture_sets
from pages.datasets.upload import upload_panel
from pages.ui.example import views
from pages.ui.kit import parameters, present, state, ways
from pages.ui.kit.gallery import in_theme
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain, short
from svmcore.lab.store import runs

WIDTH = 96  # of a thumbnail, pixels
FEW = 4  # cards that are shown unasked: a row


def listed(entries, chosen: str, choose) -> dict:
    """The cards of a list, the reader's own sets first: those that pass what is looked for, or a row of them with the
    chosen one until all are asked for. Returns the places of their pictures."""
    entries = sorted(entries, key=lambda entry: not _changes(entry))
    looked_for = str(st.session_state.get("find_set") or "").strip().lower()
    found = [entry for entry in entries if looked_for in f"{entry.title} {entry.name}".lower()]
    shown = found
    if not looked_for and not st.session_state.get(
        "all_sets"
    ):  # a row, the chosen one as its last where it comes later
        late = [entry for entry in found[FEW:] if entry.name == chosen]
        shown = [*found[: FEW - len(late)], *late]
    if not shown:
        st.caption(f"No dataset has {plain(short(looked_for))} in its title or id.")
    with st.grid("auto", min_column_width=200):
        places = {entry: card(entry, entry.name == chosen, choose) for entry in shown}
    if len(entries) > FEW and not looked_for:
        help = "Shows every dataset. Off: a few of them, and the chosen one."
        st.toggle(f"Show all {len(entries)} datasets", key="all_sets", help=help)
    return places


def _changes(entry: Entry | PictureEntry) -> bool:
    """Whether a set is the reader's, whose examples or labels may change under its name."""
    return entry.name.startswith(catalogue.OWN_PREFIX) or isinstance(entry, Revision)


def card(entry: Entry | PictureEntry, chosen: bool, choose):
    """One dataset of the list: name, size, licence, whether it is at hand; returns the place for its picture."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            place = st.container(width=WIDTH)
            how = {"help": "Shows this dataset below.", "type": "primary" if chosen else "secondary"}
            button("Shown" if chosen else "Show", "", f"show_{entry.name}", choose, entry.name, **how)
        badge = (
            ":green-badge[:material/check: available]"
            if entry.at_hand
            else ":gray-badge[:material/download: to download]"
        )
        st.markdown(f"**{plain(short(entry.title))}** {badge}  \n:small[{facts(entry)}  \n{plain(entry.licence)}]")
    return place


def facts(entry: Entry | PictureEntry) -> str:
    """How many examples or pictures of what, in a line."""
    return picture_sets.facts(entry) if isinstance(entry, PictureEntry) else views.facts(entry)


def draw(places: dict) -> None:
    """Put the thumbnails into their places; the first drawing reads every set that is at hand."""
    for entry, place in places.items():
        written = tuple(path.stat().st_mtime_ns for path in entry.paths()) if _changes(entry) else ()
        image = _thumbnail(entry.name, isinstance(entry, PictureEntry), (entry.at_hand, written))
        place.image(in_theme(np.asarray(image)), width=WIDTH, output_format="PNG", alt=f"Examples of {entry.title}")


@st.cache_data(max_entries=128, show_spinner=False)
def _thumbnail(name: str, of_pictures: bool, state: tuple):
    """A small picture of the set, drawn once for each state it is in; empty frames for files that cannot be read."""
    entry = (pictures if of_pictures else catalogue).entry(name)
    try:
        if not entry.at_hand:
            return thumbnails.frames()
        return drawing.thumbnail(entry.load()) if of_pictures else thumbnails.draw(entry.load())
    except DataError:
        return thumbnails.frames()


def fetch_panel(entry: Entry) -> None:
    """Offer to fetch the set, follow a fetch under way, and run the page again when it has ended."""
    transfer = transfers.current(entry.name)
    running = transfer is not None and transfer.state.phase == "running"
    with st.container(border=True):
        st.markdown(f"**Not downloaded yet.** {entry.size_mb:g} MB from {', '.join(entry.sources)}.")
        if not entry.fetchable:
            st.markdown(
                "This dataset has no public download. Put its files into a folder that the environment variable "
                "`SVMLAB_DATA` names."
            )
            return
        if running:
            keeping.follow(transfer)
            return
        if transfer is not None and transfer.state.phase == "failed":
            st.error(plain(transfer.state.message), title="The download failed", icon=":material/cloud_off:")
        label = "Try again" if transfer else "Download"
        help = "Downloads and verifies the files in the background. A broken download can be tried again."
        work = partial(fetch.fetch, entry.name)
        button(label, "download", "fetch", transfers.start, entry.name, work, help=help, type="primary")


OWN, OWN_PICTURES = "new", "new-pictures"  # the values of ?set= that stand for "add your own"
HUNDRED = "First hundred"  # as addresses have it; every further hundred is a page of it
VIEWS = {HUNDRED: views.hundred, "By class": views.by_class, "Preprocessing": views.preprocessing}
COLUMNS, ABOUT = "Columns", "About"
CLASSES, OBJECTS = "Examples in classes", "Pictures with objects"
FIRST_SET = {CLASSES: catalogue.DEFAULT, OBJECTS: "venus-like"}
NEW = {CLASSES: OWN, OBJECTS: OWN_PICTURES}


def choose(name: str):
    st.query_params["set"] = name
    for of_the_last in views.CHOSEN:
        st.query_params.pop(of_the_last, None)
        st.session_state.pop(of_the_last, None)
    picture_sets.leave()


def change_kind():
    if (kind := st.session_state["kind"]) is None:  # what a browser says that is clicked while it draws the page anew
        return
    choose(FIRST_SET[kind])


def remove(name: str):
    try:
        (pictures if name.startswith(pictures.OWN_PREFIX) else catalogue).forget(name)
    except DataError as error:
        state.tell_later(f":material/block: {plain(error)}")
    st.query_params.pop("set", None)


def remove_button(name: str):
    help = "Deletes the lab's copy of this dataset. Runs on it remain, but lose their pictures."
    if revisions.parse_name(name):
        help = "Deletes the revision. Its base dataset remains. Runs on the revision remain, but lose their pictures."
    button("Remove", "delete", f"remove_{name}", remove, name, help=help)


def is_readers(name: str) -> bool:
    """Whether the reader made a set, and may remove it."""
    return name.startswith(catalogue.OWN_PREFIX) or revisions.parse_name(name) is not None


def of_a_revision(entry: Revision):
    """Ways on from a revision: its verdicts as a file, and the page where they are given."""
    name = revisions.parse_name(entry.name)
    with st.container(horizontal=True, vertical_alignment="center"):
        content, file = revisions.export(name.head, entry.base), f"{name.base}-{name.slug}.csv".replace(":", "-")
        help = "Your decision for each reviewed example. The page *Labels* can import this file on another computer."
        ways.download("Labels (CSV)", "table", f"export_{entry.name}", content, file, help=help)
        ways.to("labels", "Review more labels", "gavel", {"revision": name.slug})


def ask_link(entry: Entry):
    """The way to the examples of a set that have no label yet: the newest run on it asks for them."""
    if not entry.unlabelled:
        return
    base = revisions.base_of(entry.name)
    on_it = (run for run in runs.newest_first() if revisions.base_of(run.recipe.dataset) == base)
    run = next((run for run in on_it if run.state == "done"), None)
    if run is None:
        st.caption("Train a machine on the labelled examples. The page *Labels* then chooses the next ones to label.")
        return
    ways.to("labels", "Choose the next example to label", "label", {"run": run.id, "doubted": "next"})


def heading(entry: Entry | PictureEntry):
    of_pictures = isinstance(entry, PictureEntry)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(plain(short(entry.title, 60)), width="content")
        if of_pictures:
            ways.to("detect", "Detect", "center_focus_strong", {"task": "detect", "dataset": entry.name})
        else:
            ways.to("train", "Train on this dataset", "play_circle", {"dataset": entry.name})


def show(entry: Entry | PictureEntry):
    called = f"**{plain(short(entry.title, 60))}** · " if present.presenting() else ""  # one line above the figure
    if not called:
        heading(entry)
    of_pictures = isinstance(entry, PictureEntry)
    if not entry.at_hand:
        st.caption(called + facts(entry))
        fetch_panel(entry)
        views.about(entry)
        return
    try:
        dataset = entry.load()
    except DataError as error:
        st.error(plain(error), title="This dataset cannot be read", icon=":material/broken_image:")
        if is_readers(entry.name):
            remove_button(entry.name)
        return
    if of_pictures:
        st.caption(called + picture_sets.facts(dataset.entry, entry))
        view = picture_sets.show_set(entry, dataset)
    else:
        st.caption(called + views.facts(entry))
        ask_link(entry)
        view = show_view(entry, dataset)
    if view == ABOUT and isinstance(entry, Revision):
        of_a_revision(entry)
    if view == ABOUT and is_readers(entry.name):
        remove_button(entry.name)


def show_view(entry: Entry, dataset) -> str:
    """The view of a set of examples that is picked; its name."""
    of_a_table = {} if dataset.image_shape else {COLUMNS: views.columns}
    shown = VIEWS | of_a_table
    names = [*shown, ABOUT]
    view = parameters.choice("datasets.view", names, format_func=lambda name: "Examples" if name == HUNDRED else name)
    if view == ABOUT:
        views.about(entry)
    else:
        shown[view](dataset)
    return view


def choose_kind(kinds: dict) -> None:
    """Which of the two lists is shown, and what is looked for in it."""
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        parameters.one_of(
            "Kind",
            list(kinds),
            "kind",
            on_change=change_kind,
            label_visibility="collapsed",
            help="Classification: one label per example. Detection: objects in larger pictures.",
        )
        if len(kinds[st.session_state["kind"]]) > FEW:
            st.text_input(
                "Find a dataset", key="find_set", placeholder="Find a dataset", icon=":material/search:", width=220,
                label_visibility="collapsed", help="Shows only datasets with this text in their title or id.",
            )  # fmt: skip


def damage() -> None:
    """Own sets that cannot be read, each with the way to be rid of it."""
    for damaged in [*catalogue.damaged(), *pictures.damaged()]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.error(plain(damaged.reason), title=f"{plain(damaged.name)} is damaged", icon=":material/broken_image:")
            remove_button(damaged.name)


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.title("Datasets", width="content")
    add = st.container(width="content")
kinds = {CLASSES: catalogue.entries(), OBJECTS: pictures.entries()}
entries = {entry.name: entry for of_kind in kinds.values() for entry in of_kind}
chosen = parameters.read("set", catalogue.DEFAULT, [*entries, *NEW.values()])
parameters.own(*views.CHOSEN, part=views.PARTS, look=picture_sets.LOOKS, picture=slice(1, None), page=slice(1, None))
of_objects = chosen == OWN_PICTURES or isinstance(entries.get(chosen), PictureEntry)
kind = st.session_state["kind"] = OBJECTS if of_objects else CLASSES
if chosen in NEW.values():
    with add:
        help = "Discards the uploaded files."
        button("Back to the datasets", "arrow_back", "to_sets", choose, FIRST_SET[kind], help=help)
    upload_panel()
else:
    sets = present.form("Choose another dataset")
    with sets if present.presenting() else add:
        help = "Images in one folder per class, a table, or pictures with boxes. The files stay on this computer."
        button("Add your own", "upload", "add_own", choose, NEW[kind], help=help)
    with sets:
        choose_kind(kinds)
        places = listed(kinds[kind], chosen, choose)
        damage()
    st.set_page_config(f"Datasets · {short(entries[chosen].title, 40)} · Invariant SVM Lab")
    show(entries[chosen])
    keeping.begin_at_the_top()
    draw(places)
