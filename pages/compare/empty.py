"""Before any two runs are chosen: pairs of the store that are worth laying side by side."""

from collections import Counter
from contextlib import suppress
from itertools import combinations

import streamlit as st

from data import DataError
from pages.ui.compare.laid import RUNS
from pages.ui.kit import present, state, view, ways, words
from pages.ui.kit.ways import button
from pages.ui.recipe import config, starting
from pages.ui.run import card, polling, stored
from svmcore.lab.analyses import comparison
from svmcore.lab.analyses.comparison import Reason
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Damaged, Run

MOST = 5
SAMPLE = PRESET, "mnist-5k-vsv"
OF_ONE = 2  # pairs of one test set
NEWEST = 8  # runs of one test set, all pairs of which are looked at


def suggest(chosen: list[Run]) -> None:
    """Pairs that can be compared, those with the run already chosen first; each by a button."""
    pairs = worth(chosen)
    with st.container(border=True):
        if pairs:
            st.markdown("**Choose two or more runs above**, or start with a pair:")
        else:
            st.markdown(
                "**No two finished runs have the same test examples yet.** Train a run. Then train it again on the "
                "same data with another method, kernel or C."
            )
            _twin(next(iter(chosen), None) or state.current_run())
            ways.to("train", "Train a run", "play_circle")
        for number, (a, b, why) in enumerate(pairs):
            label = f"{words.plain(words.short(a.title, 60))} — {words.plain(words.short(b.title, 60))} ({why})"
            help = "Compares these two runs. Both were tested on the same examples."
            button(label, "compare", f"compare_pair_{number}", _choose, [a.id, b.id], help=help)


def sample() -> list[Run]:
    """Two runs that come with the lab, while the reader has none that could be compared."""
    if worth([]):
        return []
    pair = stored.samples([RECIPES[name] for name in SAMPLE])
    if not all(pair):
        return []
    stored.say_samples(pair, "Choose two runs of your own below to replace this sample.")
    if not present.presenting():
        _twin(state.current_run())
        link = config.link(pair[-1].recipe)
        ways.to("train", "Open the second run's settings on Train", "play_circle", link)
    return pair


def _twin(run: Run | None) -> None:
    """Offer to train what `run` was asked once more with virtual support vectors."""
    if run is None or comparison.unfit(run) is not None:
        return
    with suppress(RecipeError, DataError):  # not for these data
        recipe = run.recipe.replace(method="vsv", name="custom", title=f"{run.title}, virtual SVs"[:120])
        if recipe.digest() != run.recipe.digest() and estimate(recipe).fits:
            name = words.plain(words.short(run.title, 30))
            starting.offer(
                recipe, run.id, "compare_twin", lambda twin: _choose([run.id, twin]), type="primary",
                train=f"Train {name} with virtual SVs, and compare",
                there=f"Compare {name} with virtual SVs",
                help="This page then shows the errors that the new run fixes and adds.",
            )  # fmt: skip


def worth(chosen: list[Run]) -> list[tuple[Run, Run, str]]:
    """(reference, other, why), at most MOST of them: runs with their parents, then those newest ones tested on the
    same examples whose recipes differ in the fewest fields."""
    store = [run for run in runs.newest_first() if comparison.unfit(run) is None]
    found = [(parent, run, "a variation") for run in store if (parent := card.parent_of(run)) in store]
    own, alike = {run.id for run in chosen}, {}
    for run in store:
        group, asked = alike.setdefault(_test(run), {}), run.recipe.digest()
        if asked not in group or run.id in own:  # of runs that were asked the same, the chosen or the newest one
            group[asked] = run
    for group in (list(newest.values()) for newest in alike.values()):
        near = [(_distance(a, b), b, a) for a, b in combinations(group[:NEWEST], 2)]  # the older one first
        near = sorted(near, key=lambda pair: (pair[0], group.index(pair[2])))
        found += [(a, b, "a few settings differ") for _, a, b in near[:2]]
    found.sort(key=lambda pair: not own & {pair[0].id, pair[1].id})
    seen, kept, tests = set(), [], Counter()
    for a, b, why in found:
        ids = frozenset((a.id, b.id))
        room = len(kept) < MOST and (own & ids or tests[_test(a)] < OF_ONE)
        if room and ids not in seen and _comparable(a, b):
            seen.add(ids)
            tests[_test(a)] += 1
            kept.append((a, b, why))
    return kept


def _distance(a: Run, b: Run) -> int:
    """In how many fields two runs' recipes differ."""
    texts = [run.recipe.texts() for run in (a, b)]
    names = (texts[0].keys() | texts[1].keys()) - {"name", "title"}
    return sum(texts[0].get(name) != texts[1].get(name) for name in names)


def _test(run: Run) -> tuple:
    """What decides, almost always, on which examples a run is tested."""
    recipe, result = run.recipe, run.result
    return recipe.dataset, result.get("data_hash"), recipe.classes, recipe.split, recipe.seed, result["n_test"]


def _comparable(a: Run, b: Run) -> bool:
    try:
        return comparison.why_not(a, b) is None
    except (Damaged, FileNotFoundError):
        return False


def _choose(ids: list[str]) -> None:
    st.session_state[RUNS] = ids


ICONS = {comparison.DAMAGED: ":material/broken_image:", comparison.UNFINISHED: ":material/progress_activity:"}
TRAINED_ANEW = (comparison.ENDED, comparison.DATA, comparison.CLASSES, comparison.PART, comparison.EXAMPLES)


def barriers(reasons: dict[str, tuple[Run, Reason]], reference: Run | None) -> None:
    """Each run that is left out, with its reason and what can be done about it."""
    for letter, (run, reason) in reasons.items():
        home = view.home_of(run.recipe) if reason.kind == comparison.ANSWERLESS else None
        icon = home.icon if home else ICONS.get(reason.kind, ":material/block:")
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            title = words.plain(words.short(run.title, 80))
            st.markdown(f"{icon} **{letter} · {title}** is not compared. {words.plain(reason.text)}", width="stretch")
            if home:
                label = f"Compare this run on {home.title}"
                ways.link(home._replace(label=label).link(run.id), icon=home.icon)
            elif reason.kind == comparison.UNFINISHED:
                polling.poll(run.id, _at_work)
                ways.to("train", "Watch this run", "play_circle", {"run": run.id})
            elif reason.kind == comparison.REPLACED:
                st.caption("To compare the two runs, train both again on the current dataset.")
            elif reason.kind in TRAINED_ANEW and reference is not None:
                _offer(letter, run, reference)


def _at_work(status) -> None:
    """How far a run is that is waited for."""
    if status.progress:
        st.caption(words.held_so_far(status.progress), width="content")


def _offer(letter: str, run: Run, reference: Run) -> None:
    """Train its recipe on the reference's examples, with what that will take."""

    def replace(new: str) -> None:
        _choose(list(dict.fromkeys(new if run_id == run.id else run_id for run_id in st.session_state[RUNS])))

    try:
        starting.offer(
            comparison.on_same_examples(run, reference), reference.id, f"same_examples_{letter}", replace,
            train=f"Train {letter} on the same examples", there=f"Compare {letter}'s recipe on the same examples",
            help=f"Trains the recipe of {letter} with the dataset, split, classes and seed of the reference. The new "
            f"run replaces {letter} on this page.",
        )  # fmt: skip
    except (RecipeError, DataError) as error:
        st.caption(f"The recipe of {letter} does not fit the examples of the reference: {words.plain(error)}")
