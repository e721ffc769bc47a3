"""What the verdicts give: the run's recipe on the revision, beside the run; and the verdicts as a file."""

from functools import partial

import streamlit as st

from data import DataError, catalogue, revisions
from pages.labels import merging
from pages.labels.target import Target
from pages.ui.kit import ways, words
from pages.ui.kit.gallery import DIGIT
from pages.ui.kit.words import plain
from pages.ui.recipe import starting
from pages.ui.run import polling
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run


def train(run: Run, to: Target) -> None:
    """Train on the revision as it is now, and the way to Compare."""
    stands = to.standing
    st.markdown(f"**Revised dataset.** {revisions.summary(revisions.counted(stands))}")
    if not stands:
        st.caption("Your first decision creates a revised dataset that you can train on.")
        return
    try:
        with st.container(horizontal=True, vertical_alignment="center"):
            ready = starting.offer(
                revised(run, to), run.id, "label_train", lambda _: None,  # the run shown stays the one that is reviewed
                train="Train on the revision", type="primary", shortcut=None if DIGIT in st.query_params else "t",
                help="Trains the recipe of this run on the reviewed labels. This run does not change.",
            )  # fmt: skip
    except (DataError, RecipeError) as error:
        st.error(plain(error), icon=":material/block:")
        return
    before = ready if ready and ready.id != run.id else _latest(run, to)
    if before is not None:
        _compare(run, before, to)
    _detector(run, to)


def _detector(run: Run, to: Target) -> None:
    """Where the examples are windows of a run that looks for objects: that run once more, on them as judged."""
    whose = {known.id: known for known in runs.newest_first()}.get(run.parent)
    if whose is None:
        return
    try:
        recipe = whose.recipe.replace(windows=to.name, name="custom", title="")
    except RecipeError:
        return
    if "windows" not in recipe.options:  # which is the field of those alone
        return
    starting.start_and_open(
        "Train the detector on these windows", "center_focus_strong", "label_detector", "pages/detect.py",
        lambda: recipe.replace(title=titles.of_recipe(recipe)), whose.id,
        help="Trains the detector that these windows come from again, with your labels. Its hits are still counted "
        "by the boxes marked in the pictures. The review does not change these boxes.",
    )  # fmt: skip


def revised(run: Run, to: Target) -> Recipe:
    """The recipe of a run on the revision as it is now."""
    name = catalogue.pinned(to.name)
    recipe = run.recipe.replace(dataset=name, name="custom", title="")
    return recipe.replace(title=titles.of_recipe(recipe))


def _latest(run: Run, to: Target) -> Run | None:
    """The newest run of this recipe on the revision as it was before."""
    for other in runs.newest_first():
        name = revisions.parse_name(other.recipe.dataset)
        if name is None or name.head != to.name or other.id == run.id:
            continue
        alike = other.recipe.replace(dataset=run.recipe.dataset).digest() == run.recipe.digest()
        if alike and runs.is_current(other):
            return other
    return None


def _compare(run: Run, after: Run, to: Target) -> None:
    """How far a run on the revision is; the way to Compare when it is done."""
    then = revisions.standing(after.recipe.dataset, to.base.entry)
    now = to.standing
    since = sum(then.get(key) != now.get(key) for key in then.keys() | now.keys())
    if after.state in runs.ACTIVE:
        icon = ":material/progress_activity:"
        polling.poll(after.id, lambda status: st.caption(f"{icon} The run on the revision is {status.state}."))
        return
    if after.result is None:
        st.warning(plain(after.message) or "The run on the revision ended without a machine.", icon=":material/error:")
        return
    later = f" {words.many(since, 'decision')} changed after the run on the revision." if since else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Before the review: {plain(words.error_rate(run.result))}. On the revision: "
            f"{plain(words.error_rate(after.result))}.{later}"
        )
        then, now = (dict(zip(one.index.tolist(), one.y_true.tolist())) for one in (run.test(), after.test()))
        if n := sum(then.get(row) != now.get(row) for row in then.keys() | now.keys()):  # other labels, or in one alone
            st.markdown(
                f":material/warning: The two runs differ in {words.many(n, 'test label')} after the review. *Compare* "
                "counts the errors of both runs twice: by the labels of each run."
            )
        help = "Shows which errors the reviewed labels fix and add, with a significance test."
        ways.to("compare", "Compare the two runs", "compare", {"run": run.id, "compare": [run.id, after.id]}, help=help)
        help = "Opens the run. *Export* offers a file for this library or onnxruntime, or a script for scikit-learn."
        ways.to("runs", "Export the machine", "download", {"run": after.id}, help=help)


def files(to: Target) -> None:
    with st.expander("Export or import labels", icon=":material/swap_horiz:"):
        if to.lines:
            content = partial(revisions.export, to.name, to.base.entry)  # as they stand at the click
            file = f"{to.name.replace(':', '-').replace('@', '-')}.csv"
            help = "Your decision for each reviewed example. Spreadsheet formulas in the labels are made harmless."
            ways.download("Labels (CSV)", "table", "label_export", content, file, help=help)
        else:
            st.caption("Nothing reviewed yet.")
        brought = st.file_uploader(
            "Import labels (CSV)", "csv", key="label_import", max_upload_size=64,
            help="A CSV file exported from this page, on this computer or another, for the same dataset.",
        )  # fmt: skip
        if brought is not None:
            merging.beside_ones_own(to, brought.getvalue(), brought.file_id)
