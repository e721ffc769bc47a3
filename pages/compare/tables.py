"""Runs in numbers: what came of each, what was asked differently, and both as files."""

import re

import numpy as np
import streamlit as st

from pages.ui.compare import pairs
from pages.ui.compare.laid import LETTERS, Laid, key
from pages.ui.figures import ranking
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, present, ways, words
from pages.ui.kit.numbers import count, number, table, text
from pages.ui.kit.text import apart
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import FIELDS, Recipe, option_fields
from svmcore.lab.store import titles
from svmcore.lab.store.runs import Run
from svmcore.lab.task import csv_text
from svmcore.metrics import class_positions

BESIDE = ("name", "title", "n_train", "n_test")  # fields that the results tell better
FIRST = ("", "Errors", "95 %")  # on a phone the letters stand for the names, which may be long
SEEN = (*FIRST, "Run", "SVs", "Train", "Test")  # from afar, without a way to scroll
BEYOND = "Memory that the run added to that of its process. Older versions did not record it."
COLUMNS = {
    "Method": text("Training method: how the run uses invariances."),
    "Errors": count("Misclassified test examples."),
    "95 %": text("Error rate with its 95 % interval (Wilson).", "Rate (95 %)"),
    "SVs": count("Distinct support vectors of all machines."),
    "Alphas": count("Alphas above 0 in all machines. A support vector counts once for each machine that uses it."),
    "Bounded": count("Bounded support vectors (alpha = C) of all machines."),
    "Compile": number(1, "Time to compile the solver, which happens in its first run.", "Compile, s"),
    "Train": number(1, "Training time without compiling.", "Train, s"),
    "Test": number(2, "Time to predict all test examples.", "Test, s"),
    "Memory": count(BEYOND, "Memory, MB"),
    "Kernel evaluations": st.column_config.NumberColumn(format="compact", help="Kernel evaluations during training."),
    "Area": number(4, "Area under the ROC curve.", "ROC area"),
}


def row(letter: str, run: Run) -> dict:
    result = run.result
    return {
        "": letter,
        "Run": run.title,
        "Errors": result["errors"],
        "95 %": words.rate(result),
        "Method": METHODS[run.recipe.method].title,
        "SVs": result["n_union"],
        "Alphas": int(np.sum(result["n_sv"])),
        "Bounded": int(np.sum(result["n_bound"])),
        "Compile": result["compile_seconds"],
        "Train": words.training_seconds(result),
        "Test": result["predict_seconds"],
        "Memory": round(result["memory_mb"]) if "memory_mb" in result else None,
        "Kernel evaluations": result["kernel_evals"],
    } | ({"Area": result["roc_area"]} if "roc_area" in result else {})


def numbers(laid: Laid) -> None:
    rows = [row(letter, run) for letter, run in zip(laid.letters, laid.runs, strict=True)]
    brief = apart([run.title for run in laid.runs])
    for one, run in zip(rows, laid.runs, strict=True):
        one |= {"Run": brief[run.title], "Method": METHODS[run.recipe.method].short}
    if not any(one["Compile"] >= 0.05 for one in rows):  # which only a first run does
        rows = [{name: value for name, value in one.items() if name != "Compile"} for one in rows]
    rows[laid.reference][""] += " (reference)"
    alt = "Errors, support vectors, times and memory of each run that is compared"
    order = [*FIRST, *(name for name in rows[0] if name not in FIRST)]
    order = [name for name in order if name in SEEN] if present.presenting() else order
    table(rows, alt, "compare_numbers", COLUMNS, column_order=order)
    n, split = len(laid.answers.index), laid.answers.split
    name = words.plain(titles.data_set(laid.runs[0].recipe.dataset))
    where = "held out of the training set" if split == "train" else "from the test set"
    together = len(np.unique(laid.answers.groups))
    more = f" They form {words.many(together, 'group')}; the significance tests below count groups." if together else ""
    st.caption(f"All runs are tested on the same {n:,} examples, {where} of {name}.{more}")


def differences(laid: Laid) -> None:
    """The fields of the recipes in which the runs differ."""
    st.subheader("Settings that differ")
    rows = differing([run.recipe for run in laid.runs], laid.letters)
    if not rows:
        st.caption("No setting differs: the recipes agree in every field.")
        return
    rows = [{name: words.plain(value) for name, value in one.items()} for one in rows]
    st.table(rows, alt="Fields of the recipes that differ between the runs")


def differing(recipes: list[Recipe], letters: tuple[str, ...]) -> list[dict[str, str]]:
    """A row for each field or option in which some of the recipes differ: its label, and what each has, as a form says
    it, under each letter, with a space after each comma, where it may wrap. What a method of one of them alone leaves
    as it usually is was not asked differently."""
    asked = [recipe.texts() for recipe in recipes]
    fields, changed = FIELDS | option_fields(), {name for recipe in recipes for name in recipe.options}
    names = [name for name in fields if name not in BESIDE and (name in FIELDS or name in changed)]
    told = {name: [fields[name].called(texts.get(name, "")) or "–" for texts in asked] for name in names}
    told = {name: [re.sub(",(?! )", ", ", value) for value in values] for name, values in told.items()}
    sizes = [f"{recipe.n_train:,}" if recipe.n_train else "all" for recipe in recipes]
    told = {"n_train": sizes} | told
    return [
        {"": fields[name].label} | dict(zip(letters, values)) for name, values in told.items() if len(set(values)) > 1
    ]


def table_csv(laid: Laid) -> str:
    rows = []
    for letter, run in zip(laid.letters, laid.runs, strict=True):
        low, high = run.result["interval"]
        shown = row(letter, run) | {"Area": run.result.get("roc_area", "")}
        del shown["95 %"], shown[""]
        beside = {"Tested": run.result["n_test"], "Low": low, "High": high}
        rows.append({"Letter": letter, "Id": run.id} | shown | beside)
    return csv_text(rows[0], (one.values() for one in rows))


def examples_csv(laid: Laid) -> str:
    """Every test example: where it lies, its label, and of each run its answer and its f."""
    found = laid.answers
    head, columns = ["part", "index", "true"], [found.index.tolist(), found.y_true.tolist()]
    for i, letter in enumerate(laid.letters):
        f = found.decision[i]
        names = laid.names[-f.shape[1] :] if f.shape[1] in (1, len(laid.names)) else range(f.shape[1])
        head += [f"{letter}_answer", *(f"{letter}_f_{name}" for name in names)]
        columns += [found.y_pred[i].tolist(), *f.T.tolist()]
    return csv_text(head, ((found.split, *values) for values in zip(*columns, strict=True)))


def exports(laid: Laid) -> None:
    with st.container(horizontal=True):
        content, file = lambda: table_csv(laid), "comparison.csv"
        help = "One line per run: errors, support vectors, times, memory."
        ways.download("Table (CSV)", "table", "export_comparison", content, file, help=help)
        content, file = lambda: examples_csv(laid), "comparison-examples.csv"
        help = "One line per test example: its label, and the prediction and f of each run."
        ways.download("Every example (CSV)", "table", "export_examples", content, file, help=help)
    st.caption("The camera icon over a figure saves the figure as SVG.")


def roc(laid: Laid) -> None:
    """The curves of two classes, or of one class against the others by its own machine."""
    if not present.presenting():  # its tab says so
        st.subheader("ROC curves")
    answers, names = laid.answers, laid.names
    wide = {f.shape[1] for f in answers.decision}
    if wide - {1, len(names)} or len(wide) > 1:
        st.caption("The runs have machines for different classes, so their decision values cannot be ranked together.")
        return
    if len(names) == 2:
        c = 1
        decisions = [f[:, -1] for f in answers.decision]
    else:
        hardest = np.bincount(class_positions(answers.y_true, answers.classes), weights=answers.wrong.sum(axis=0))
        with present.form("Class"):
            picked = parameters.choice(
                "compare.roc",
                names,
                names[int(hardest.argmax())],
                format_func=lambda name: words.short(name, 60),
                key=key("roc"),
            )
        c = names.index(picked)
        decisions = [f[:, c] for f in answers.decision]
    positive = answers.y_true == answers.classes[c]
    if not positive.any() or positive.all():
        own = np.count_nonzero(positive)
        st.caption(
            f"{own:,} of the {len(positive):,} test examples belong to this class. A ROC curve needs examples of this "
            "class and of others."
        )
        return
    show(ranking.roc_curves(positive, dict(zip(laid.letters, decisions))), key="compare_roc_figure", file="roc")
    if len(names) > 2:
        st.caption(
            "Each curve belongs to one machine, the one of this class. The classifier predicts the class whose machine "
            "gives the largest decision value."
        )


def by_labels(laid: Laid) -> Laid:
    """Say that test labels were judged and what comes out by the labels of each run; the runs, counted by those that
    the reader chooses. Runs that were judged by the same labels come back as they are."""
    answers = laid.answers
    if answers.left:
        st.warning(
            f"Label revisions of some of these runs exclude {words.many(answers.left, 'test example')}. Errors are "
            f"counted on the {len(answers.index):,} test examples that all runs share, because excluding hard examples "
            "lowers the error.",
            icon=":material/content_cut:",
        )
    if not answers.judged.any():
        return laid
    n = int(answers.judged.sum())
    st.warning(
        f"{words.many(n, 'test example')} {'has' if n == 1 else 'have'} different labels in different runs, because "
        "test labels were reviewed. Correcting test labels where a machine disagrees favours that machine. Errors are "
        "therefore counted by the labels of each run here. None of these counts is a blind test any longer. The table "
        "of runs below counts the errors of each run by its own labels.",
        icon=":material/gavel:",
    )
    kinds = _kinds(laid)
    rows = [_row_by_labels(laid, i, letters) for letters, i in kinds.items()]
    table(rows, "Errors of each run, fixed and broken, by the labels of each run", "compare_by_labels")
    chosen = parameters.choice("compare.labels", kinds, key=key("labels"))
    return laid._replace(answers=answers.by(kinds[chosen]))


def check_letters(text: str) -> None:
    """Of an address: ValueError for what names no runs by their letters."""
    if not set(text.split(", ")) <= set(LETTERS):
        raise ValueError('write the letter of a run, or several with a comma and a space between them, such as "A, B"')


def _kinds(laid: Laid) -> dict[str, int]:
    """Letters of the runs that have the same labels -> one of them, the reference's first."""
    kinds: dict[int, str] = {}
    order = [laid.reference, *laid.others]
    for i in order:
        same = next((j for j in kinds if np.array_equal(laid.answers.labels[i], laid.answers.labels[j])), i)
        kinds[same] = ", ".join(filter(None, (kinds.get(same, ""), laid.letters[i])))
    return {letters: i for i, letters in kinds.items()}


def _row_by_labels(laid: Laid, i: int, letters: str) -> dict[str, str]:
    """What comes out by the labels of run i: errors of each run, and each against the reference."""
    answers, a = laid.answers.by(i), laid.reference
    wrong, every = answers.wrong, pairs.all_pairs(answers)
    row = {"Test labels from run": letters}
    row |= {f"{letter} errors": f"{int(wrong[j].sum()):,}" for j, letter in enumerate(laid.letters)}
    for j in laid.others:
        found = every[a, j]
        row[f"{laid.letters[j]} against {laid.letters[a]}"] = (
            f"fixes {found.fixed:,}, breaks {found.broken:,}, p = {words.small(found.p)}"
        )
    return row
