"""Judging by key: one example at a time, large, with why it is doubted; a key is a verdict, and the next one comes.

Buttons carry the example in their key, so that a second press of a key, made while the next example is on its way, is
no verdict on one that nobody has seen. Steps and undo have the same key on all; of presses that come faster than the
page, Streamlit takes several for one.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import Dataset, verdicts
from data.loaders.images import stacked
from data.verdicts import Verdict
from pages.labels import doubtful, gives, merging, target
from pages.labels.doubtful import Doubt, Near
from pages.labels.target import Target
from pages.ui.example import evidence
from pages.ui.kit import parameters, roles, state, walk, words
from pages.ui.kit.gallery import DIGIT, Tile, gallery, large, open_digit, reference
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain, short
from pages.ui.why import contributions, table, waterfall
from pages.ui.why.answer import Answer, Shown
from pages.ui.why.working import Work, by_stage, watched
from svmcore.lab.analyses.unseen import Unseen
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.background import TaskStatus
from svmcore.lab.store.runs import Run
from svmcore.model import answers

CALLED_WRONG = (verdicts.LABEL, verdicts.OUT)


def hint(run: Run, to: Target, doubts: tuple[Doubt, ...]) -> None:
    """A switch, and behind it what of the list, and of what was judged, was swapped by noise."""
    if not run.recipe.options.get("noise") or not doubts or doubts[0].part != "train":
        return
    asked = st.toggle(
        "Check my decisions", key="label_practice",
        help="This recipe swapped some labels at random, so the correct labels are known. Shows the precision and "
        "recall of your decisions; review labels first.",
    )  # fmt: skip
    if asked:
        st.markdown(practised(doubtful.swapped(run), [doubt.key for doubt in doubts], to.standing))


def practised(swapped: set, ranked: list, stands: dict) -> str:
    """Precision and recall of the first k of a list, and of the verdicts."""
    n, k = len(swapped), len(ranked)
    found = sum(key in swapped for key in ranked)
    lines = [
        f"Noise swapped {words.many(n, 'training label')}. The list of {k:,} likely label errors has "
        f"{words.many(found, 'swapped label')}: precision {_share(found, k)}, recall {_share(found, n)}."
    ]
    called = {key: one for key, one in stands.items() if key[0] == "train" and one.verdict in CALLED_WRONG}
    right = sum(key in swapped for key in called)
    if not called:
        return lines[0] + " You have not marked any label as wrong yet."
    mended = sum(key in swapped and one.says == (verdicts.LABEL, one.given) for key, one in called.items())
    kept = sum(key in swapped and stands[key].verdict == verdicts.KEEP for key in ranked if key in stands)
    lines.append(
        f"You marked {words.many(len(called), 'label')} as wrong, of which {right:,} "
        f"{'is' if right == 1 else 'are'} swapped: precision {_share(right, len(called))}, recall {_share(right, n)}. "
        f"Of these, {mended:,} {'has its' if mended == 1 else 'have their'} original label again."
        + (f" You confirmed {words.many(kept, 'swapped label')}." if kept else "")
    )
    return "  \n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"


ASKED = "unseen"  # in the address: whether the contributions are shown
CLOSE = 0.005  # answers that differ by less are the same on screen
BAR = by_stage(list(analyses.UNSEEN.stages.values()))


def section(run: Run, doubt: Doubt) -> None:
    """A button, and behind it the contributions, for the examples that the folds of a run held out."""
    folded = run.folded()
    if folded is None or doubt.part != "train" or doubt.row not in folded.index or not roles.teacher():
        return
    asked = parameters.read(ASKED, False)
    button(  # no switch, which would have the focus, and the keys with it
        "Hide explanation" if asked else "Explain this prediction", "balance", "label_unseen",
        parameters.say, ASKED, None if asked else "true", shortcut=None if DIGIT in st.query_params else "w",
        help="Shows what each support vector contributes in the machine trained without this example. The machines of "
        "folds are not stored, so this machine is trained again.",
    )  # fmt: skip
    if not asked:
        return
    work = Work(
        analyses.UNSEEN, (run.id, doubt.row), "unseen", BAR,
        "The machine could not be trained again", begin="Train this machine again", stop="Stops training.",
        help="Trains the machine that did not see the fold of this example.",
    )  # fmt: skip
    watched(work, partial(_bill, run, doubt), at_once=True)


def _bill(run: Run, doubt: Doubt, now: TaskStatus) -> None:
    if now.state != "done":
        return
    found: Unseen = now.result
    dataset, names = evidence.data_of(run), evidence.class_names(run, found.machine)
    X = evidence.rows_of(dataset, doubt.part, np.array([doubt.row]))
    shown = Shown(dataset, X, doubt.given, doubtful.ref(run, doubt))
    said = Answer(X[0], found.k, found.f, names, int(answers(found.f)), names.index(doubt.given), "given")
    sides = said.sides()
    sums, pictured = ([of[c] for c in sides] for of in (found.contributions, found.strongest))
    view = waterfall.view(run, found.machine, shown, said, "sv")
    contributions.bars(view, sides, sums, pictured, lambda _: [], lambda _: None, "unseen_bill")
    folded = run.folded()  # as stored, of the fold that did not see the example
    if not np.allclose(found.f, folded.decision[np.searchsorted(folded.index, doubt.row)], atol=CLOSE):
        st.caption(
            "The prediction stored with the run differs from this one. An earlier version of the lab trained the run. "
            "It did not store which likely label errors its folds left out of training."
        )
    st.caption(
        f"This prediction is from a machine trained without fold {found.number + 1} of {run.recipe.folds}, which "
        "contains this example. *Why*, above, uses the run's own machine, which was trained with this label."
    )


AT = "label_at"  # session state: the list that is judged, and the place in it, from 0
HEIGHT = 252  # wished height of the example, in screen pixels
STRIP = 14  # examples of the list in sight
AGREED = " A dot instead of the arrow: the label is predicted as well, and the second most likely class follows."
DIGITS = "1234567890"
MANY = len(DIGITS)  # classes that have a key each


class Judging(NamedTuple):
    """What is judged: a list of a run's data, and where the verdicts go."""

    run: Run
    dataset: Dataset
    doubts: tuple[Doubt, ...]
    to: Target
    kind: str  # of LISTS
    of: int = 0  # how many there are to judge where the list holds those alone that come next
    beside: Callable[[], None] | None = None  # draws what stands below the keys instead of the nearest examples


def judge(judging: Judging) -> None:
    """The example that is looked at, its keys, and what comes next; drawn anew by itself with each verdict."""
    title = doubtful.LISTS[judging.kind].title.lower()
    walk.over((doubtful.ref(judging.run, doubt) for doubt in judging.doubts), f"list {title}")
    _look(judging)


@state.fragment
def _look(judging: Judging) -> None:
    doubts, stands = judging.doubts, judging.to.standing
    if doubts:
        one(judging, stands)
    if roles.teacher():
        gives.train(judging.run, judging.to)
    hint(judging.run, judging.to, doubts)


def one(judging: Judging, stands) -> None:
    """The example, its keys, and where it stands in the list."""
    doubts, at = judging.doubts, _place(judging, stands)
    doubt, n = doubts[at], judging.of or len(judging.doubts)
    done = sum(one.key in stands for one in doubts)
    likely = sum(one.likely for one in doubts)
    said = f" · the first {likely:,} labels are more likely wrong than right" if 0 < likely < len(doubts) else ""
    st.progress(done / n, f"**{done:,} of {n:,} reviewed** · this is number {at + 1:,}{said}")
    left, right = st.columns([1, 3] if judging.dataset.image_shape else [2, 3], gap="medium")
    with left:
        _picture(judging, doubt)
    with right:
        _said(judging, doubt, stands.get(doubt.key))
        _keys(judging, at, doubt, stands)
        if judging.beside:
            judging.beside()
        else:
            _neighbours(judging, doubt, doubtful.near(judging.run.id, doubts)[at])
    if not judging.beside:
        section(judging.run, doubt)
    _strip(judging, at, stands)
    if done == len(doubts):
        st.success("All examples of this list are reviewed.", icon=":material/check:")


def _place(judging: Judging, stands) -> int:
    """The place in the list: the address's, where the reader is, or the first that is not judged yet."""
    doubts, of = judging.doubts, (judging.run.id, judging.kind, judging.to.name)
    known, at = st.session_state.get(AT, (None, 0))
    if parameters.asked("label", ["at"]):
        at = parameters.read("at", 1, slice(1, len(doubts))) - 1
    elif known != of:
        at = next((i for i, doubt in enumerate(doubts) if doubt.key not in stands), 0)
    at = min(at, len(doubts) - 1)
    st.session_state[AT] = of, at
    parameters.write("label", ["at"], {"at": str(at + 1)})
    return at


def _picture(judging: Judging, doubt: Doubt) -> None:
    dataset, rows = judging.dataset, np.array([doubt.row])
    if dataset.image_shape is None:
        X = evidence.rows_of(dataset, doubt.part, rows)
        table.top(
            judging.run, judging.run.machine(), Shown(dataset, X, doubt.given or None, doubtful.ref(judging.run, doubt))
        )
        return
    drawn = evidence.large_picture(dataset, doubt.part, doubt.row)
    alt = f"{_called(judging, doubt)}, given {doubt.given or 'no label'}, {_word(judging, doubt)} {doubt.said}"
    large(drawn, HEIGHT, alt)


def _called(judging: Judging, doubt: Doubt) -> str:
    """What the example is to the run."""
    test = judging.run.test()
    if doubt.part == test.split and doubt.row in test.index:
        return words.test_example(doubt.part, doubt.row)
    return f"Training example {doubt.row}" if doubt.given else f"Example {doubt.row}"


def _word(judging: Judging, doubt: Doubt) -> str:
    """What stands before the other class of an example: by whom it is called so."""
    return "also predicted; the second most likely class is" if doubt.agreed else doubtful.LISTS[judging.kind].said


def _said(judging: Judging, doubt: Doubt, verdict: Verdict | None) -> None:
    """What the example is called by whom, why it is in the list, and what was judged."""
    judged = f" :blue-badge[{plain(verdicts.describe(verdict))}]" if verdict else ""
    said = f" · {_word(judging, doubt)} {plain(words.minus(short(doubt.said)))}" if doubt.said else ""
    given = f"Given {plain(words.minus(short(doubt.given)))}" if doubt.given else "No label yet" * (not judged)
    st.markdown(f"#### {given}{said}{judged}")
    st.markdown(f"{plain(doubt.sentence)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{_called(judging, doubt)} of {plain(judging.dataset.entry.title)}", width="content")
        key, ref = f"label_why_{doubt.part}_{doubt.row}", doubtful.ref(judging.run, doubt)
        help = "Shows the prediction of the run's machine, and the contributions of its support vectors."
        button("Why", "help", key, _why, ref, help=help, type="tertiary")


def _why(ref: str) -> None:
    open_digit(ref)
    st.rerun()


def _keys(judging: Judging, at: int, doubt: Doubt, stands) -> None:
    """A button for each verdict, with its key; none has one while a view lies over the page."""
    keys, (given, had) = DIGIT not in st.query_params, doubtful.labels(judging.run, doubt)

    def act(label: str, name: str, key: str | None, help: str, does, *args, on="", icon="", **how) -> None:
        own = f"label_{name}_{on or f'{doubt.part}_{doubt.row}'}"
        button(label, icon, own, does, judging, at, *args, help=help, shortcut=key if keys else None, **how)

    def verdict(kind: str) -> Verdict:
        return Verdict(doubt.part, doubt.row, given, kind)

    def is_of(label) -> Verdict:
        return target.meant(doubt.part, doubt.row, given, had, label, kept)

    classes = dict(zip(judging.to.base.entry.classes, words.distinct(judging.to.base.entry.classes, 14)))
    said = next((label for label in classes if str(label) == doubt.said), None)
    kept = next((label for label in classes if str(label) == doubt.given), given)  # of one class against the rest
    if roles.teacher():
        with st.container(horizontal=True):
            if kept in classes:
                act(f"Keep {plain(words.minus(classes[kept]))}", "keep", "k", "Confirms the label.", _give, is_of(kept))
            if said is not None and said != kept:
                name = plain(words.minus(classes[said]))
                likely = "primary" if doubt.likely else "secondary"
                act(f"It is {name}", "said", "a", f"Sets the label to {name}.", _give, is_of(said), type=likely)
            act("Exclude", "out", "x", "Excludes the example from training and testing.", _give, verdict(verdicts.OUT))
            help = "Leaves the label unchanged and marks it as reviewed."
            act("Unsure", "unsure", "u", help, _give, verdict(verdicts.UNSURE))
        _labels(doubt, classes, is_of, act)
    with st.container(horizontal=True):
        how, last = {"on": "any", "icon": "chevron_left"}, at == len(judging.doubts) - 1
        act("Previous", "previous", "Left", "Goes to the previous example.", _go, at - 1, disabled=at == 0, **how)
        how, help = how | {"icon": "chevron_right"}, "Goes to the next example and leaves this one as it is."
        act("Next", "next", "Right", help, _go, at + 1, disabled=last, **how)
        if roles.teacher():
            act("Undo", "undo", "z", "Undoes your latest decision.", _undo, disabled=not stands, on="any", icon="undo")


def _labels(doubt: Doubt, classes: dict, is_of: Callable, act: Callable) -> None:
    """Another label: by a key each, or from a list where classes are many."""
    if len(classes) <= MANY:
        alike = [str(label) in DIGITS for label in classes]
        digits, mixed = all(alike), any(alike) and not all(alike)  # of -1 and 1 no key may mean the other one
        with st.container(horizontal=True, key="label_classes"):
            for (label, name), digit in zip(classes.items(), DIGITS, strict=False):
                key = str(label) if digits else digit
                shown = "Is" if digits else plain(words.minus(name))  # the button shows its key beside that
                help = f"Sets the label to {plain(name)}."
                act(shown, f"is_{key}", None if mixed else key, help, _give, is_of(label))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = st.selectbox(
            "Relabel as", list(classes), index=None, format_func=classes.get, width=220, placeholder="choose",
            key=f"label_list_{doubt.part}_{doubt.row}", help="Choose the new label, of all classes of the dataset.",
        )  # fmt: skip
        if picked is not None:
            act(f"It is {plain(classes[picked])}", "listed", "l", "Sets this label.", _give, is_of(picked))


def _give(judging: Judging, at: int, verdict: Verdict) -> None:
    """Callback: keep a verdict, and go to the next example that has none."""
    if not target.give(judging.to, [verdict]):
        return
    stands, doubts = judging.to.standing, judging.doubts
    order = [*range(at + 1, len(doubts)), *range(at)]
    _go(judging, at, next((i for i in order if doubts[i].key not in stands), at))


def _go(judging: Judging, _, to: int) -> None:
    st.session_state[AT] = (judging.run.id, judging.kind, judging.to.name), to


def _undo(judging: Judging, at: int) -> None:
    """Callback: take back the latest verdict, and go to its example, if it is one of the list."""
    undone = target.undo(judging.to)
    place = {doubt.key: i for i, doubt in enumerate(judging.doubts)}
    if undone is not None:
        _go(judging, at, place.get(undone.key, at))


def _neighbours(judging: Judging, doubt: Doubt, near: Near) -> None:
    """The nearest training examples of the class given and of the class said."""
    kinds = [(name, rows) for name, rows in ((doubt.given, near.given), (doubt.said, near.said)) if name and rows]
    if not kinds:
        return
    longest = max(len(rows) for _, rows in kinds)
    tiles, shown = [], []
    for name, rows in kinds:
        dealt = [*rows, *(longest - len(rows)) * rows[:1]]
        told = [Tile(reference(judging.run.recipe.dataset, "train", r), f"Training example {r}, {name}") for r in rows]
        tiles += [*told, *(longest - len(rows)) * [Tile("", "")]]
        shown += dealt
    gallery(
        evidence.example_pictures(judging.dataset, "train", np.array(shown)),
        tiles,
        key="label_near",
        alt="The nearest training examples of either class, by the machine's own distance",
        rows=[short(name, 14) for name, _ in kinds],
        legend=f"Nearest training examples of {'either' if len(kinds) > 1 else 'its'} class, by the machine's own "
        "distance",
    )


def _strip(judging: Judging, at: int, stands) -> None:
    """Where the example stands in its list: those before and after it, with what was judged."""
    first = max(0, min(at - 3, len(judging.doubts) - STRIP))
    shown = judging.doubts[first : first + STRIP]
    cut = dict(
        zip(names := list(dict.fromkeys([n for d in shown for n in (d.given, d.said)])), words.distinct(names, 7))
    )
    drawn = [evidence.example_pictures(judging.dataset, one.part, np.array([one.row]))[0] for one in shown]
    said = doubtful.LISTS[judging.kind].said
    above = ["given label"] * (not judging.of)
    other = "predicted class" if said == "predicted" else "class of the other example"
    above += [other] * any(one.said for one in shown)
    over = f" Above each example: {' → '.join(above)}." if above else ""
    tiles = [
        Tile(
            str(first + i),
            f"Number {first + i + 1}: {_called(judging, one)}, given {one.given or 'no label'}"
            + (f", {_word(judging, one)} {one.said}" if one.said else "")
            + (f", reviewed: {verdicts.describe(stands[one.key])}" if one.key in stands else ""),
            upper=(" · " if one.agreed else " → ").join(cut[name] for name in (one.given, one.said) if name),
            lower=merging.brief(stands.get(one.key)),
            ring="free" if first + i == at else "",
        )
        for i, one in enumerate(shown)
    ]
    gallery(
        stacked(drawn), tiles, key="label_strip", alt="The next examples in this list, and your decisions", size=42,
        on_pick=lambda number: _go(judging, at, int(number)), whole_page=False,
        legend=f"The list.{over}{AGREED * any(one.agreed for one in shown)} Below each example: "
        "your decision. The ring marks the current example. Click an example to open it.",
    )  # fmt: skip
