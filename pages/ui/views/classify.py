"""classify: one label for each example; what is watched and told are support vectors and errors, as pictures."""

import numpy as np
import streamlit as st

from data import DataError, load
from pages.ui.example import decision_plane, evidence
from pages.ui.kit import gallery, present, words
from pages.ui.kit.view import PageLink, View
from pages.ui.run import hint, snapshots
from pages.ui.run.report import sections
from svmcore.lab.methods import METHODS

TOP = 42  # support vectors, and errors, shown at a time
AT_WORK = "the one running"
LINKS = [PageLink("support_vectors", "See the support vectors"), PageLink("errors", "See the errors")]
REPORT = {
    "Classes": sections.confusions,
    "Wrong answers": sections.wrong,
    "Abstain": sections.abstain,
    "The plane": sections.regions,
    "Largest support vectors": sections.supports,
}
COLUMNS = {
    "Error rate": (
        st.column_config.NumberColumn(format="%.2f %%", help="Share of the test examples that are misclassified."),
        lambda result: 100 * result["error_rate"],
    ),
    "95 %": (st.column_config.TextColumn(width=84, help="The 95 % interval (Wilson), in per cent."), words.interval),
}


def _classes(run):
    """Names of the run's classes, as far as its dataset is there to tell."""
    try:
        return snapshots.classes(run)
    except DataError:
        return []


def _pictures(run, status):
    """Points of the plane with the machine's regions; or the largest alphas of one machine, and the errors."""
    live, done = status.live, status.state == "done"
    try:
        evidence.data_of(run)
    except DataError as error:
        st.caption(f":material/hide_image: No pictures. {words.plain(error)}")
        return
    if decision_plane.is_plane(run):
        machine = run.machine() if done else decision_plane.machine_of(run, live.whole) if live else None
        if machine is not None or run.progress():
            decision_plane.plane(run, machine, key="plane")
    elif done or (live and len(live.top[0][0])):
        if METHODS[run.recipe.method].made:  # else its vectors are no examples
            _largest(run, live, done)
        _wrong(run, live, done)


def _largest(run, live, done):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Support vectors with the largest alpha**", width="content")
        machine = run.machine() if done else None
        if done:
            names = evidence.machine_names(run, machine)
        else:
            names = snapshots.classes(run)
            names = [f"{name} against the rest" for name in names] if len(live.top) > 1 else names[-1:]
        c = _chosen_machine(names, None if done else live.machine)
    shown = evidence.supports(run, machine, c) if done else snapshots.at_work(run, live, c)
    forms = None if done else live.top[c].forms[:TOP]
    snapshots.support_vectors(run.recipe.dataset, evidence.take(shown, slice(TOP)), key="live_sv", forms=forms)
    summed = forms is not None and (forms > 1).any()
    rings = gallery.VIRTUAL_RINGS if shown.virtual.any() else gallery.RINGS
    st.caption(
        f"Class above, alpha below. {rings}; {gallery.SIDES}."
        + (f" {evidence.SWAPPED}." if any(shown.given) else "")
        + (
            " Σ: the sum over an example and its copies, as far as they are support vectors; each alpha is at "
            f"most C = {run.recipe.C:g}."
            if summed
            else ""
        )
    )


def _chosen_machine(names, at_work):
    """Number of the machine that the reader chose; until then the one at work, or the first of a run that is done."""
    if len(names) == 1:
        return 0
    choices = names if at_work is None else [AT_WORK, *names]
    help = "Each class has a machine that separates it (blue) from all the others (orange)."
    how = {"label_visibility": "collapsed", "width": present.scaled(190)}
    if (name := choices[evidence.choose_machine(choices, help, **how)]) != AT_WORK:
        return names.index(name)
    st.markdown(f"now {words.plain(names[at_work])}", width="content")
    return at_work


def _wrong(run, live, done):
    if done:
        test = run.test()
        wrong = np.flatnonzero(test.wrong)
        found = test.split, test.index[wrong], test.y_true[wrong], test.y_pred[wrong]
        st.markdown(f"**Misclassified** ({len(wrong):,})")
    else:
        split = "test" if len(load(run.recipe.dataset).y_test) else "train"
        found = split, live.test_index, live.y_true, live.y_pred
        st.markdown(f"**Misclassified now:** {live.n_errors:,} of a sample of {live.n_sample:,} test examples")
    split, *arrays = found
    if len(arrays[0]):
        snapshots.errors(run.recipe.dataset, split, *(a[:TOP] for a in arrays), key="live_errors")
        st.caption(
            "Upper right: true → predicted class; lower left: the number in the dataset. Click an example to see why."
        )


VIEW = View(
    vectors=PageLink("support_vectors", "See the vectors"),
    classes=_classes,
    pictures=_pictures,
    hint=hint.hint,
    links=lambda run, others: LINKS,
    columns=COLUMNS,
    report=REPORT,
)
