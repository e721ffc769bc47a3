"""The numbers of a run that tables show: numbers.toml tells them.

errors, svs      of the whole run: one number for all machines, or the mean over them
errors:c, svs:c  of class c, or of its machine alone
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from svmcore.lab.meter import search_apart
from svmcore.lab.store.runs import Run
from svmcore.methods.reduced import best_thresholds
from svmcore.metrics import per_class_table, wilson

NUMBERS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # a figure -> its title


class Number(NamedTuple):
    """A figure and, where chance decides it, its 95 % interval."""

    value: float
    low: float | None = None
    high: float | None = None


def of_run(run: Run) -> dict[str, Number]:
    """All figures of a run that is done, by the names that cells use."""
    result = run.result
    n_test, (low, high) = result["n_test"], result["interval"]
    training, search = search_apart(result)
    size = float(np.mean(result.get("n_virtual", result["n_train"])))
    found = {
        "errors": Number(result["errors"], low * n_test, high * n_test),
        "error_pct": Number(100 * result["error_rate"], 100 * low, 100 * high),
        "spread": Number(result["errors"]),
        "right_pct": Number(100 - 100 * result["error_rate"], 100 - 100 * high, 100 - 100 * low),
        "svs": Number(float(np.mean(result["n_sv"]))),
        "bound": Number(float(np.mean(result["n_bound"]))),
        "size": Number(size),
        "gap": Number(result["gap"]),
        "values": Number(result["kernel_evals"] / 1e9),
        "train_s": Number(training),
        "search_s": Number(search),
        "test_s": Number(result["predict_seconds"]),
        "gram_mb": Number(4 * size**2 / 2**20),
    }
    work = result["n_union"] * result["n_features"] * run.recipe.kernel.work + sum(result["n_sv"])
    found |= {
        "vectors": Number(result["n_union"]),
        "mults": Number(work / 1e6),
        "take_s": Number(1e4 * result["predict_seconds"] / n_test),
    }
    if reduction := result.get("reduction"):
        found["fold"] = Number(reduction["n_before"] / max(reduction["n_after"], 1))
        if None not in reduction["rho"]:  # unknown where the steps go by answers
            found["rho"] = Number(100 * float(np.mean(np.sqrt(reduction["rho"]))))
        if "take" in reduction:  # beside its machine, in turns
            found["take_s"] = Number(reduction["take"][1])
    return found | _of_digestion(result) | _of_sets(result) | _of_classes(run, result)


def _of_digestion(result: dict) -> dict[str, Number]:
    """What the paper's solver counted; none for others. A look-up and an update are a multiply-add each."""
    if "lookups" not in (trace := result.get("trace", ())):
        return {}
    counts = {"computed": trace["values"], "lookups": trace["lookups"], "updates": trace["updates"]}
    found = {name: Number(count / 1e6) for name, count in counts.items()}
    sums = (found["lookups"].value + found["updates"].value) / result["n_features"]
    found["work"] = Number(found["computed"].value * trace["products"] + sums)
    found["filled"] = Number(100 * trace["entries_most"] / (min(trace["rows"], trace["sv_most"]) * trace["n"]))
    found["solve_s"] = Number(trace["seconds"])
    return found | {name: Number(trace[name]) for name in ("steps", "jumps", "sv_most")}


def _of_sets(result: dict) -> dict[str, Number]:
    """What a decomposition counted; of sets that were given no size kernel values alone."""
    trace, found = result.get("trace", {}), {}
    if "lookups" not in trace:
        found["computed"] = Number(result["kernel_evals"] / 1e6)
    if "priced" in trace:
        found |= {
            "rounds": Number(trace["rounds"]),
            "priced": Number(trace["priced"] / 1e3),
            "again": Number(trace["again"]),
        }
    return found


def mean(figure: str, numbers: list[Number]) -> Number:
    """The mean of a figure over splits, with its 95 % interval except for seconds; a single one as it is."""
    if len(numbers) == 1:
        return numbers[0]
    values = [number.value for number in numbers]
    if figure == "spread":
        k, deviation = len(values), float(np.std(values, ddof=1))
        high, low = np.sqrt((k - 1) / stats.chi2.ppf((0.025, 0.975), k - 1))
        return Number(deviation, deviation * low, deviation * high)
    if figure.endswith("_s"):
        return Number(float(np.mean(values)))
    middle, half = float(np.mean(values)), 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return Number(middle, middle - half, middle + half)


def of_rival(measured: dict) -> dict[str, Number]:
    """The figures of a rival, from what `rivals.measure` found."""
    errors, n_test = measured["errors"], measured["n_test"]
    low, high = wilson(errors, n_test)
    return {
        "errors": Number(errors, low * n_test, high * n_test),
        "error_pct": Number(100 * errors / n_test, 100 * low, 100 * high),
        "train_s": Number(measured["fit_seconds"]),
        "test_s": Number(measured["predict_seconds"]),
    }


def _of_classes(run: Run, result: dict) -> dict[str, Number]:
    """Figures of each class against the rest; none for a single machine, or for a sample of figures alone."""
    if len(result["n_sv"]) == 1 or (run.sample and not (run.path / "test.npz").is_file()):
        return {}
    test, found = run.test(), {}
    classes = np.unique(test.y_true)
    rows = per_class_table(test.decision, test.y_true, test.y_pred, classes)
    for row, svs, bound in zip(rows, result["n_sv"], result["n_bound"], strict=True):
        digit = row.pop("digit")
        counts = row | {"svs": svs, "bound": bound, "alone": row["fn"] + row["fp"]}
        found |= {f"{name}:{digit}": Number(value) for name, value in counts.items()}
    return found | _of_thresholds(run, result, test, classes)


def _of_thresholds(run: Run, result: dict, test, classes) -> dict[str, Number]:
    """What other thresholds would have made of a reduction, and how far its steps came; none for other runs."""
    if not (reduction := result.get("reduction")):
        return {}
    best, found = best_thresholds(test.decision, test.y_true, classes, slack=0), {}
    for c, label in enumerate(classes):
        f, own = test.decision[:, c], test.y_true == label
        for name, shift in (("kept", -reduction["shift"][c]), ("best", best[c])):
            found[f"{name}:{label}"] = Number(int(np.count_nonzero((f + shift > 0) != own)))
            if "bias" in reduction:
                found[f"b_{name}:{label}"] = Number(reduction["bias"][c] + shift)
                found[f"b:{label}"] = Number(reduction["bias"][c])
        if reduction["rho"][c]:  # unknown where the steps go by answers
            found[f"rho_fold:{label}"] = Number((reduction["rho_start"][c] / reduction["rho"][c]) ** 0.5)
    return found
