"""What else there is to a detection run: its first chips, categories of labels, ambiguous ones, mined false alarms,
published figures, and what can be taken away.
"""

import numpy as np
import streamlit as st

from pages.ui.detect import labels, marked, tables
from pages.ui.detect.view import View, line
from pages.ui.detect.windows import open_window
from pages.ui.figures import froc
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, state, words
from pages.ui.kit.buttons import button
from pages.ui.kit.gallery import Tile, gallery, magnified
from pages.ui.kit.text import with_sign

EACH = 25  # chips of a class: Figure 6 of DeCoste and Schölkopf shows so many
FLIPPED, PAGE = 200, 48  # false alarms that can be flipped through, and seen at a time
MINED = 60  # shown of each round
FIRST_CHIPS, CATEGORIES, AMBIGUOUS, MINED_BY, PUBLISHED, EXPORT = (
    "First chips",
    "By category",
    "Ambiguous labels",
    "Mined false alarms",
    "Published",
    "Export",
)


@state.fragment
def more(view: View, compared: list[View]):
    """One of several further looks at a time."""
    there = [FIRST_CHIPS, *([CATEGORIES] if len(view.pictures.entry.categories) > 1 else []), AMBIGUOUS]
    rounds = _rounds(view)
    there += [MINED_BY] if rounds else []
    there += [PUBLISHED] if view.run.recipe.dataset in tables.OF_PAPERS else []
    there.append(EXPORT)
    wanted = parameters.choice(
        "more",
        "More",
        there,
        label_visibility="collapsed",
        help="What else the run tells: by category, beside published figures, as files.",
    )
    if wanted == FIRST_CHIPS:
        _first(view)
    elif wanted == CATEGORIES:
        _categories(view)
    elif wanted == AMBIGUOUS:
        _ambiguous(view)
    elif wanted == MINED_BY:
        _mined(view, rounds)
    elif wanted == PUBLISHED:
        _published(view)
    else:
        tables.exports(view, compared)


def _first(view: View):
    kept = view.run.test(0)
    for sign, word in ((1, view.noun), (-1, "background")):
        rows = np.flatnonzero((kept.train_y == sign) & (kept.train_round == 0))[:EACH]
        if len(rows):
            tiles = [Tile("", f"Training chip {i}, {word}", sign=sign) for i in rows]
            alt = f"The first {len(rows)} training chips: {word}"
            gallery(marked.stretched(view, kept.train_chips[rows]), tiles, key=f"first_{sign}", alt=alt, rows=[word])
    n_pos, n_neg = int(np.sum(kept.train_y > 0)), int(np.sum(kept.train_y < 0))
    st.caption(
        f"The first {EACH} of each class that the machine of the first part was trained on, of {n_pos:,} and "
        f"{n_neg:,}, as in Figure 6 of DeCoste and Schölkopf, which shows volcanoes of HOM4."
    )
    labels.offer(view)


def _categories(view: View):
    names = view.pictures.entry.categories
    lines = []
    for category, word in sorted(names.items()):
        n = int(np.sum(view.judged.object_category == category))
        if n:
            lines.append(line(view, 0, f"{words.short(word, 12)} ({n})", "other", category)[0])
    if not lines:
        st.caption("No object has a category.")
        return
    log = st.session_state.get("axis", "log") == "log"
    show(froc.category_figure(lines, per=len(view.judged.tested), unit="picture", log=log), "froc_categories")


def _ambiguous(view: View):
    """The surest false alarms, one at a time and as a gallery."""
    score = view.judged.scores[:, 0]
    alarms = np.flatnonzero(view.judged.hit < 0)
    alarms = alarms[np.argsort(-score[alarms], kind="stable")][:FLIPPED]
    if not len(alarms):
        st.caption("There is not one false alarm among the candidates.")
        return
    at = parameters.read("flip", 1, slice(1, len(alarms))) - 1
    left, right = st.columns([1, 2], gap="large")
    with left:
        _flipped_to(view, alarms, at)
    with right:
        start = (at // PAGE) * PAGE
        page = alarms[start : start + PAGE]
        tiles = [
            Tile(
                str(number),
                f"False alarm {number}, score {score[d]:.3g}",
                lower=with_sign(score[d]),
                ring="free" if number == at + 1 else "",
                sign=-1,
            )
            for number, d in enumerate(page, start + 1)
        ]
        chips, alt = marked.stretched(view, view.judged.chips[page]), "The surest false alarms"
        gallery(chips, tiles, key="flip_gallery", alt=alt, on_pick=_flip)
    st.caption(
        f"What the machine takes for a {view.noun} and no one labelled, the surest first. "
        + ("Labels are opinions in degrees of confidence. " if view.graded else "")
        + f"Some of these may be {view.nouns} after all; the curve counts them as false alarms all the same."
    )


def _flipped_to(view: View, alarms: np.ndarray, at: int):
    """One false alarm large, with what lies around it, and the way to the next."""
    shown, n = alarms[at], len(alarms)
    with st.container(horizontal=True, vertical_alignment="center"):
        back, on = {"icon": ":material/chevron_left:"}, {"icon": ":material/chevron_right:"}
        st.button("Previous", key="flip_back", on_click=_flip, args=(at,), disabled=at == 0, **back)
        st.button("Next", key="flip_on", on_click=_flip, args=(at + 2,), disabled=at == n - 1, **on)
        st.caption(f"{at + 1} of {n}", width="content")
    chip = magnified(marked.stretched(view, view.judged.chips[shown][None])[0], 190)
    alt = ["A false alarm, as it was cut", "Its surroundings"]
    st.image([chip, marked.surroundings(view, shown)], output_format="PNG", width=190, alt=alt)
    name = view.pictures.pictures[view.judged.picture[shown]].name
    st.markdown(
        f"In {words.plain(name)}, score **{with_sign(view.judged.scores[shown, 0], 3)}**. No label says {view.noun} "
        "here."
    )
    help = "Its preparation, its support vectors, and the training chips like it."
    button("Why", "help", "flip_why", open_window, marked.reference(view, shown), help=help)


def _flip(to):
    """Callback: show the false alarm of this number, from 1."""
    st.query_params["flip"] = str(to)


def _rounds(view: View) -> list[int]:
    return [int(r) for r in np.unique(view.run.test(0).train_round) if r > 0]


def _mined(view: View, rounds: list[int]):
    kept = view.run.test(0)
    for number in rounds:
        rows = np.flatnonzero(kept.train_round == number)
        tiles = [Tile("", f"False alarm {i} of round {number}", sign=-1) for i in rows[:MINED]]
        gallery(
            marked.stretched(view, kept.train_chips[rows[:MINED]]),
            tiles,
            key=f"mined_{number}",
            alt=f"False alarms of round {number}",
            rows=[f"round {number}: {len(rows):,}"],
        )
    st.caption(
        f"Windows of pictures without a {view.noun} that the machine of each round took for one; they join the "
        "background and the machine is trained again (bootstrapping: Osuna, Freund and Girosi, section 4)."
    )


def _published(view: View):
    rows, note = tables.published(view)
    numbers.table(rows, "Published figures beside ours")
    st.caption(note)
