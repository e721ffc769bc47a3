"""What would have fixed it: of each family of changes the weakest that turns an error right, and what it would break.

All changes are tried in one decision. A right example shows the weakest change that turns it wrong instead: how little
it takes. What a change breaks is counted on validation examples (recommend.py), never on the test set.
"""

import numpy as np
import streamlit as st

from pages.ui.example.spoken import spoken
from pages.ui.kit.gallery import in_theme, magnified
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import plain, short
from pages.ui.why import recommend
from pages.ui.why.answer import Shown, answer, value
from pages.ui.why.moving import deciding, form_pictures, is_image
from svmcore.explain import moved, remedy
from svmcore.explain.remedy import Ladder
from svmcore.lab.jobs import analyses
from svmcore.lab.store.runs import Run
from svmcore.metrics import wilson
from svmcore.model import Machine, answers

HEIGHT = 84  # of a picture, in screen pixels


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the weakest changes of one example, and what is known of the run's errors together."""
    if not is_image(shown):
        return
    now = answer(run, machine, shown)
    if shown.label is None or now.true is None:
        why = "has no class" if shown.label is None else "is of a class that this run does not have"
        st.info(f"This example {why}, so there is no error to correct.", icon=":material/draw:")
        return
    ladder = _ladder(tuple(shown.dataset.image_shape))
    forms = ladder.everything.apply(shown.X)
    f = moved.decided(machine, deciding(run), forms)[:, 0]
    wins = answers(f) == now.true
    found = remedy.weakest(ladder, ~wins if now.right else wins)
    st.markdown(_sentence(ladder, found, now.right))
    if found:
        totals = analyses.COUNTS.status(run.id).result
        drawn = form_pictures(shown, forms[[fix.change for fix in found], 0])
        with st.grid("auto", min_column_width=170):
            for picture, fix in zip(drawn, found):
                with st.container():
                    _change(ladder, fix, picture, f[fix.change], now, totals)
    st.caption(
        "A change that corrects one error hints at an invariance that the machine lacks, but does not prove it. "
        "Below: all validation errors together."
    )
    recommend.section(run, "remedy")


@st.cache_resource(max_entries=16, show_spinner=False)
def _ladder(image_shape: tuple[int, ...]) -> Ladder:
    return Ladder(image_shape)


def _sentence(ladder: Ladder, found: list[remedy.Fix], right: bool) -> str:
    """`Right after: 1 pixel left, or turned by +6°.`"""
    if not found:
        if right:
            return "**The prediction is correct, and stays correct** under every change that was tried."
        return "**No single change** corrects it: no shift by up to 2 pixels, no turn by up to 15 degrees, …"
    said = [spoken(ladder.everything.jitters[fix.change]) for fix in found]
    changes = ", or ".join(plain(one) for one in said)
    return (
        f"**The prediction is correct, but these changes make it wrong:** {changes}."
        if right
        else f"**These changes make it correct:** {changes}."
    )


def _change(ladder: Ladder, fix: remedy.Fix, picture: np.ndarray, f: np.ndarray, now, totals) -> None:
    called = int(answers(f))
    said = spoken(ladder.everything.jitters[fix.change])
    st.image(magnified(in_theme(picture), HEIGHT), output_format="PNG", alt=f"The example {said}")
    names = [plain(short(name, 24)) for name in now.names]
    f_of = [  # an error is mended by the rise of its own class or by the fall of its rival
        f"f of {names[c]} {with_sign(value(now.f, c))} → {with_sign(value(f, c))}"
        for c in ((now.own,) if len(now.f) == 1 else (now.own, now.rival if called in (now.own, now.rival) else called))
    ]
    st.markdown(f"**{fix.family.title}**: {plain(said)}  \npredicted {names[called]}  \n" + "  \n".join(f_of))
    if totals and totals.tally.drawn and str(totals.ladder.everything) == str(ladder.everything):
        broken, of = int(totals.tally.change_broken[fix.change]), totals.tally.drawn
        low, high = (100 * share for share in wilson(broken, of))
        mended = int(totals.tally.change_mended[fix.change])
        st.caption(
            f"Applied to all validation examples it fixes {mended} of {totals.tally.wrong:,} errors and adds "
            f"{broken} among {of:,} correct ones ({low:.1f}–{high:.1f} %)."
        )
