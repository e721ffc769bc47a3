"""Numbers and recipes in the words of the lab, the same on every page."""

from contextlib import suppress
from datetime import datetime

import numpy as np

from data import DataError, catalogue
from pages.ui.kit.text import distinct, in_figure, isolated, many, minus, percent, plain, plural, short, small  # noqa: F401  (for others)
from svmcore import metrics
from svmcore.lab.meter import training_seconds
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import titles
from svmcore.lab.tasks import TASKS

SHOWN_SECONDS = 0.05  # less than that beside the training is not told


def error_rate(result: dict) -> str:
    """`12 of 1,000 wrong, 1.20 % (0.7–2.1)`: what came out of a run, in the words of its task."""
    return TASKS[result.get("task", "classify")].headline(result)


def interval(result: dict) -> str:
    """`3.0–5.3`: the 95 % interval of the share of wrong answers, per cent."""
    return metrics.interval_text(result["interval"])


def rate(result: dict) -> str:
    """`4.00 % (3.0–5.3)`: the share of wrong answers with its 95 % interval, written like this everywhere."""
    return metrics.rate_text(result["error_rate"], result["interval"])


def test_example(split: str, index: int) -> str:
    """`Test example 65 (held out of the training set)`: what a run calls an example that it was judged on."""
    return f"Test example {index}" + (" (held out of the training set)" if split == "train" else "")


def outcome(result: dict) -> str:
    """Support vectors, time and memory of a finished run, in a line."""
    machines, bound = len(result["n_sv"]), np.sum(result["n_bound"])
    held = f"{result['n_union']:,} support vectors"
    if machines > 1:
        held = f"{result['n_union']:,} distinct support vectors, {alphas(np.sum(result['n_sv']), machines)}"
    ranked = [f"area under the ROC curve {result['roc_area']:.4f}"] if "roc_area" in result else []
    parts = [
        *ranked,
        f"{held}, {bound:,} bounded",
        f"trained in {duration(training_seconds(result))}",
        beside({"compile_seconds": compiling(result)}),
        memory(result),
    ]
    return " · ".join(filter(None, parts))


def compiling(result: dict) -> float:
    """Seconds of compiling in all of a run; while training alone, for a run that kept no more."""
    return result.get("compile_all_seconds", result.get("compile_seconds", 0.0))


def beside(line: dict) -> str:
    """`compiling 3.1 s (once), slow motion 14 s`: what passed beside the training; empty for next to nothing."""
    named = (("compile_seconds", "compiling {} (once)"), ("rest_seconds", "slow motion {}"))
    known = ((text, line.get(name, 0.0)) for name, text in named)
    return ", ".join(text.format(duration(seconds)) for text, seconds in known if seconds >= SHOWN_SECONDS)


def memory(result: dict) -> str:
    """What a run took of memory; for one that did not keep it, the most that its whole process held."""
    if "memory_mb" in result:
        return f"{megabytes(result['memory_mb'])} of memory for the run itself"
    return f"{megabytes(result['peak_rss_mb'])} of memory for the whole process"


def alphas(number: int, machines: int) -> str:
    """`7,195 alphas above 0 in 10 machines together`: support vectors, counted in each machine that has them."""
    return (
        f"{number:,} support vectors" if machines == 1 else f"{number:,} alphas above 0 in {machines} machines together"
    )


def held_so_far(progress: dict) -> str:
    """`7,195 alphas above 0 in 10 machines together so far`, of a run at work."""
    return f"{alphas(progress['n_sv'], machines(progress))} so far"


def machines(progress: dict) -> int:
    """How many are at work, by a line of progress; 1 where an older version did not say."""
    return progress.get("machines") or max(1, len(progress.get("gaps", ())))


def count(number: float) -> str:
    """`950`, `12 k`, `3.4 M`, `1.2 G`."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"


def summary(recipe: Recipe) -> str:
    """One line of Markdown that says what was asked."""
    steps = ", ".join(recipe.preprocess) or "raw values"
    cost, method = f"C = {small(recipe.C, 6)}", METHODS[recipe.method].summary(recipe)
    name = plain(short(titles.data_set(recipe.dataset), 60))
    parts = [name, _size(recipe), titles.noise(recipe), steps, f"${recipe.kernel.formula}$", cost, method]
    return " · ".join(filter(None, parts))


def _size(recipe: Recipe) -> str:
    """How many examples train: `all examples`, or what is held out where a dataset has no test part of its own."""
    if recipe.n_train is not None:
        return f"{titles.trained_on(recipe):,} examples"
    with suppress(DataError):
        if not catalogue.entry(recipe.dataset).n_test:
            return f"all examples but {f'{recipe.n_test:,}' if recipe.n_test else 'a fifth'}"
    return "all examples"


def duration(seconds: float) -> str:
    """`23 ms`, `0.4 s`, `12 s`, `3 min 20 s`, `1 h 05 min`."""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def left(status, text: str = "{} left") -> str:
    """The time left of a run in `text`; `12 s longer than forecast` once that is used up, empty for none known."""
    if status.eta_seconds is None:
        return ""
    return f"{duration(status.late)} longer than forecast" if status.late else text.format(_within(status))


def left_metric(status) -> dict[str, str]:
    """`Time left` of a run as label and value, or `Over forecast`; empty where nothing is known."""
    if status.eta_seconds is None:
        return {}
    return {"Over forecast": duration(status.late)} if status.late else {"Time left": _within(status)}


def _within(status) -> str:
    return duration(max(status.eta_seconds, 0.1))


FIRST_TIME = "a rough estimate, as no similar run has finished on this computer yet; compiling may take extra time"


def megabytes(amount: float) -> str:
    """`less than 1 MB`, `120 MB`, `5.5 GB`."""
    if amount < 1:
        return "less than 1 MB"
    return f"{amount:,.0f} MB" if amount < 1000 else f"{amount / 1000:.1f} GB"


def file_size(amount: float) -> str:
    """Of megabytes: `12 MB`, `0.06 MB`, `6.4 kB`, `290 bytes`."""
    if amount < 0.001:
        return f"{1e6 * amount:.0f}\u00a0bytes"
    if amount < 0.00995:
        return f"{1e3 * amount:.2g}\u00a0kB"
    return f"{amount:.2g}\u00a0MB" if amount < 10 else f"{amount:.0f}\u00a0MB"


def when(created: str) -> str:
    """An ISO time as `21 Nov 01:08`, in the machine's time zone."""
    local = datetime.fromisoformat(created).astimezone()
    return f"{local.day} {local:%b %H:%M}"
