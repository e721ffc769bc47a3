"""Before any two runs are chosen: pairs of the store that are worth laying side by side."""

from collections import Counter
from itertools import combinations

import streamlit as st

from data import DataError
from pages.ui.compare.laid import RUNS
from pages.ui.kit import present, state, ways, words
from pages.ui.kit.buttons import button
from pages.ui.recipe import config, starting
from pages.ui.run import card, stored
from svmcore.lab.experiment import comparison
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES
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
                "**No two finished runs on the same test examples yet.** Train a run, then a variation of it: "
                "another method, kernel or C, on the same data."
            )
            _twin(next(iter(chosen), None) or state.current_run())
            ways.to("train", "Train one", "play_circle")
        for number, (a, b, why) in enumerate(pairs):
            label = f"{words.plain(words.short(a.title, 60))} — {words.plain(words.short(b.title, 60))} ({why})"
            help = "Both were tested on the same examples."
            button(label, "compare", f"compare_pair_{number}", _choose, [a.id, b.id], help=help)


def sample() -> list[Run]:
    """Two runs that come with the lab, while the reader has none that could be compared."""
    if worth([]):
        return []
    pair = stored.samples([RECIPES[name] for name in SAMPLE])
    if not all(pair):
        return []
    stored.say_samples(pair, "Two runs of your own, chosen below, take their place.")
    if not present.presenting():
        _twin(state.current_run())
        link = config.link(pair[-1].recipe)
        ways.to("train", "Set up the second of them on Train", "play_circle", link)
    return pair


def _twin(run: Run | None) -> None:
    """Offer to train what `run` was asked once more with virtual support vectors."""
    if run is None or comparison.unfit(run) is not None:
        return
    try:
        recipe = run.recipe.replace(method="vsv", name="custom", title=f"{run.title}, virtual SVs"[:120])
        need = estimate(recipe)
    except (RecipeError, DataError):  # not for these data
        return
    if need.fits and recipe.digest() != run.recipe.digest():
        label = f"Train {words.plain(words.short(run.title, 60))} again with virtual support vectors, and compare"
        help = f"About {words.duration(need.seconds)}. It shows here what they fix and what they break."
        button(label, "play_arrow", "compare_twin", _train, recipe, run.id, help=help, type="primary")


def _train(recipe: Recipe, parent: str) -> None:
    with starting.asking():
        _choose([parent, starting.submit(recipe, parent=parent)])


def worth(chosen: list[Run]) -> list[tuple[Run, Run, str]]:
    """(reference, other, why), at most MOST of them: runs with their parents, then those newest ones tested on the
    same examples whose recipes differ in the fewest fields."""
    store = [run for run in runs.newest_first() if comparison.unfit(run) is None]
    found = [(parent, run, "a variation of it") for run in store if (parent := card.parent_of(run)) in store]
    own, alike = {run.id for run in chosen}, {}
    for run in store:
        group, asked = alike.setdefault(_test(run), {}), run.recipe.digest()
        if asked not in group or run.id in own:  # of runs that were asked the same, the chosen or the newest one
            group[asked] = run
    for group in (list(newest.values()) for newest in alike.values()):
        near = [(_distance(a, b), b, a) for a, b in combinations(group[:NEWEST], 2)]  # the older one first
        near = sorted(near, key=lambda pair: (pair[0], group.index(pair[2])))
        found += [(a, b, "alike but for a few settings") for _, a, b in near[:2]]
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
