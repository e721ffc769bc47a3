"""Figures that statements of the Paper page rest on and no run holds: `python -m tests.bench.claims NAME [NAME ...]`.

Each is computed in one go and written to pages/paper/measured/claims.json with its date, the machine, and the share of
the processors that other processes took.

forces       what is left of the forces and torques of all support vectors; needs a stored run of mnist-sv
fiftieth     a fiftieth of the virtual SVs at degree 5, fitted by distance; needs stored runs of FIFTIETH
dimension    training time by dimension: random points, separable or not, at several C; median of three rounds
become       share of the virtual examples that become support vectors, ours and the paper's
stages       seconds of the second stage beside the first, and with 13 jitters beside 9
tables       support vectors beside those of the paper's tables; needs stored runs of mnist-pixels-sv
alphas       alphas of digit 8 at C = 10; needs a stored run of mnist-8-c10
digestion    kernel evaluations on 6,000 digits with and without digestion, from the samples that come with the lab
definite     negative eigenvalues of the jittering kernel, by digits and jitters
volcanoes    operating points and decision values; needs the stored runs of volcano-A-...
hurt         the map of 45 pairs and 14 jitter sets; runs what is not stored
transfer     machines trained on each other's support vectors; needs the stored runs of its table
paired       chances of differences between stored runs
thresholds   of the reduced machines: kept, chosen on training digits and on the test set; needs mnist-rs-degree5-118
neighbours   errors of the rivals whose cells were measured: python -m svmcore run mnist-table3
raised       gradients until the optimum, C raised stepwise or not, on mixtures like Ripley's
settings     least and most errors of cross-training over C, from crossed.json
after.py: those of what came after the papers
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import date

import numpy as np

from pages.paper import figures, plane
from pages.paper.quoted import Row
from svmcore import SVC
from svmcore.detection import curve
from svmcore.explain.balance import balance
from svmcore.lab.analyses import rivals
from svmcore.lab.finders.findings import joined
from svmcore.lab.jobs.console import carry_out
from svmcore.lab.meter import Processors
from svmcore.lab.papers import PUBLISHED, TABLES, of_run
from svmcore.lab.presets import RECIPES
from svmcore.lab.presets.digestion import PROBLEMS
from svmcore.lab.presets.digits import HURT, HURT_GROUP, HURTS
from svmcore.lab.store import runs
from svmcore.lab.train import prepare
from svmcore.metrics import paired_test
from svmcore.solvers.general import WAYS, General
from tests.bench import after, measured
from tests.bench.machine import machine

DIMENSIONS, POINTS, SWAPPED, ROUNDS = (100, 200, 400, 800), 2000, 0.1, 3
CS = 0.1, 1.0, 10.0
COUNTS = 10, 25, 50, 100, 200  # false alarms that runs.json has rates at
WEIGHTED = ["volcano-A", *(name for name in RECIPES if name.startswith("volcano-A-weight-"))]
FIFTIETH = "mnist-sv-degree5", "mnist-vsv-degree5", "mnist-rs-degree5-118"


def of_forces() -> dict:
    """plane_force: of one vector of the Playground's machine; digits_, ten_: shares left of a machine of threes and
    eights, and the largest of ten machines of 60,000 digits."""
    points, digits = balance(plane.in_the_plane()[2]), plane.of_digits()
    (run,) = runs.stored([RECIPES["mnist-sv"]], finished=True)
    ten = [balance(run.machine(), number).left for number in range(10)]
    return {
        "plane_force": round(float(np.abs(points.force).max()), 4),
        "plane_left": points.left,
        "digits_svs": len(digits.row),
        "digits_left": digits.left,
        "ten_force": max(force for force, _ in ten),
        "ten_torque": max(torque for _, torque in ten),
    }


def of_fiftieth() -> dict:
    """error_pct; vectors of a machine, and multiply-adds of a decision, of which the original and the virtual SV
    machine have so many times as many."""
    first, virtual, reduced = (of_run(run) for run in runs.stored((RECIPES[name] for name in FIFTIETH), finished=True))
    folds = {
        f"{name}_{figure}": round(whole[figure].value / reduced[figure].value, 2)
        for name, whole in (("first", first), ("virtual", virtual))
        for figure in ("svs", "mults")
    }
    return {"error_pct": reduced["error_pct"].value, "svs": reduced["svs"].value} | folds


def random_points(d: int, separable: bool) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) float32 of normal values, of length about 1, and y by a random plane; a tenth of the labels swapped
    where they are not to be separable."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(POINTS, d)).astype(np.float32) / np.float32(d**0.5)
    y = np.where(X @ rng.normal(size=d) > 0, 1, -1)
    return X, y if separable else np.where(rng.random(POINTS) < SWAPPED, -y, y)


def of_dimension() -> dict:
    """seconds: problem, C -> of each dimension, the median of all rounds; growth: the exponent of d from the first to
    the last."""
    seconds: dict[str, list[list[float]]] = {}
    for _ in range(ROUNDS):
        for separable in (True, False):
            for C in CS:
                name = f"{'separable' if separable else 'swapped'} {C:g}"
                seconds.setdefault(name, []).append([_seconds(*random_points(d, separable), C) for d in DIMENSIONS])
    medians = {name: np.median(rounds, axis=0) for name, rounds in seconds.items()}
    growth = {
        name: round(float(np.log(one[-1] / one[0]) / np.log(DIMENSIONS[-1] / DIMENSIONS[0])), 2)
        for name, one in medians.items()
    }
    return {
        "dimensions": DIMENSIONS,
        "seconds": {name: [round(value, 3) for value in one.tolist()] for name, one in medians.items()},
        "growth": growth,
        "least_growth": min(growth.values()),
        "most_growth": max(growth.values()),
    }


def _seconds(X: np.ndarray, y: np.ndarray, C: float) -> float:
    began = time.perf_counter()
    SVC("linear", C=C).fit(X, y)
    return time.perf_counter() - began


def _run(name: str) -> runs.Run:
    """The stored run of a recipe. LookupError where there is none."""
    (run,) = runs.stored([RECIPES[name]], finished=True)
    if run is None:
        raise LookupError(f"{name} has no stored run: python -m svmcore run {name}")
    return run


def of_become() -> dict:
    """Per cent of the virtual stage's examples that are support vectors in the end: nine shifts of a support vector
    each, thirteen of deslanted digits, and the 3x3 shifts of 400 threes and eights; paper_: by Tables 6, 9 and 10."""
    ours, known = measured.read("runs"), {number: PUBLISHED[f"mnist_table{number}"] for number in (6, 9)}
    pair, theirs = ours["3v8-vsv"], PUBLISHED["table10"]["vsv"]

    def share(after, before, jitters: int) -> float:
        return round(100 * float(np.mean(np.divide(after, before))) / jitters, 1)

    return {
        "nine": share(ours["mnist-vsv"]["n_sv"], ours["mnist-sv"]["n_sv"], 9),
        "paper_nine": share(known[6]["vsv"], known[6]["sv"], 9),
        "thirteen": share(ours["mnist-pixels-vsv2"]["n_sv"], ours["mnist-pixels-sv"]["n_sv"], 13),
        "paper_thirteen": share(known[9]["vsv2"], known[9]["sv"], 13),
        "pair": share(pair["n_sv"], [pair["size"]], 1),
        "paper_pair": share([theirs["svs"]], [theirs["size"]], 1),
    }


def of_stages() -> dict:
    """second: of virtual SVs beside the first machines; thirteen: the second stage with 13 jitters beside that with 9,
    deslanted; all by the medians of quiet.json."""
    took = {name: float(np.median(row["train_seconds"])) for name, row in measured.read("quiet").items()}
    first = took["mnist-deslant-sv"]
    return {
        "second": round((took["mnist-vsv"] - took["mnist-sv"]) / took["mnist-sv"], 2),
        "thirteen": round((took["mnist-deslant-vsv2"] - first) / (took["mnist-deslant-vsv"] - first), 2),
    }


def of_tables() -> dict:
    """Support vectors beside those published: per cent more, or ratios; least and most over the digits."""
    ours = {name: np.array(row["n_sv"]) for name, row in measured.read("runs").items()}
    bound = np.array(_run("mnist-pixels-sv").result["n_bound"])
    table6, table9, pair = PUBLISHED["mnist_table6"], PUBLISHED["mnist_table9"], PUBLISHED["table10_5x5"]
    upright = [ours[f"mnist-deslant-{kind}"] / table9[kind] for kind in ("sv", "vsv", "vsv2")]
    methods = {"sv": "base", "vsv": "vsv", "jsv": "jsv"}
    few = {
        way: [ours[f"3v8-5x5{way}-{ours_}"][0] / pair[theirs]["svs"] for ours_, theirs in methods.items()]
        for way in ("", "-pixels")
    }
    note, first = PUBLISHED["mnist_note7"], [ours[f"mnist-5000-{name}"].mean() for name in ("sv", "vsv", "virtual-all")]
    note = np.divide(first, [note["mean_svs"], note["mean_vsvs"], note["full_virtual_mean_svs"]])
    shares = {
        "plain_off_pct": 100 * np.abs(ours["mnist-sv"] / table6["sv"] - 1).max(),
        "virtual_more_pct": 100 * (ours["mnist-vsv"].sum() / sum(table6["vsv"]) - 1),
        "upright_least": np.min(upright),
        "upright_most": np.max(upright),
        "pixels_least_pct": 100 * (ours["mnist-pixels-sv"] / table9["sv"] - 1)[2:].min(),
        "pixels_most_pct": 100 * (ours["mnist-pixels-sv"] / table9["sv"] - 1)[2:].max(),
        "pixels_bound_off_pct": 100 * np.abs(bound / table9["sv_bound"] - 1).max(),
        "few_pixels_off_pct": 100 * np.abs(np.array(few["-pixels"]) - 1).max(),
        "few_least_fewer_pct": 100 * (1 - np.max(few[""])),
        "few_most_fewer_pct": 100 * (1 - np.min(few[""])),
        "note_least": note.min(),
        "note_most": note.max(),
    }
    return {name: round(float(value), 2) for name, value in shares.items()}


def of_alphas() -> dict:
    """Alphas of digit 8 against the rest at C = 10."""
    coef = _run("mnist-8-c10").machine().coef[0]
    alpha = np.abs(coef)
    counts = {"svs": alpha > 0, "above_2": alpha > 2, "eights_above_2": coef > 2, "above_7": alpha > 7,
              "at_10": alpha >= 10}  # fmt: skip
    return {name: int(np.count_nonzero(chosen)) for name, chosen in counts.items()}


def of_digestion() -> dict:
    """Kernel evaluations, millions, of digit 1 of 6,000: extremes over the caches of each use of the cache beside
    another; most_: support vectors at once, final: in the end; filled_: per cent of the rows' entries."""
    traces = {run.recipe.name: run for run in runs.samples() if run.recipe.name.startswith("digest-1-few-")}
    caches = PROBLEMS["1-few"].caches
    found = {
        way: [of_run(traces[f"digest-1-few-{way}-{mb}"]) for mb in caches]
        for way in ("lru", "hoard", "digest", "learned")
    }
    counted = {way: np.array([one["computed"].value for one in each]) for way, each in found.items()}
    most = {way: int(max(one["sv_most"].value for one in each)) for way, each in found.items()}
    return {
        "hoard_over_digest": round(float((counted["hoard"] / counted["digest"]).max()), 2),
        "lru_over_digest": round(float((counted["lru"] / counted["digest"]).max()), 2),
        "lru_more_pct": round(100 * float((counted["lru"] / counted["hoard"]).max() - 1), 1),
        "lru_fewer_pct": round(100 * float(1 - (counted["lru"] / counted["hoard"]).min()), 1),
        "most_hoard": most["hoard"],
        "most_digest": most["digest"],
        "final": int(found["digest"][0]["svs"].value),
        "filled_digest": round(found["digest"][0]["filled"].value, 1),
        "filled_hoard": round(found["hoard"][0]["filled"].value, 1),
    }


def of_definite() -> dict:
    """Per cent of negative eigenvalues with four shifts and with eighty, and the least beside the largest, by kernel
    and digits."""
    found: dict[str, dict] = {}
    for name, kernel in figures.EXAMINED.items():
        for n in figures.EXAMINED_DIGITS:
            reports = [figures.examined(kernel, n, text) for text in ("plus:1", "box:4")]
            found[f"{kernel.name}-{n}"] = {
                "kernel": name,
                "negative_pct": [round(100 * one.negative, 2) for one in reports],
                "least_pct": [round(100 * one.smallest / one.largest, 3) for one in reports],
                "violations": sum(one.violations for one in reports),
            }
    return found


def _detections(name: str):
    run = _run(name)
    return joined([run.test(part) for part in range(len(run.result["n_sv"]))])


def of_volcanoes() -> dict:
    """gaussian: volcanoes that the Gaussian model detects in A, B and C with at least as many false alarms as the SVM
    has, and with how many; each_, one_: detections of machines for one operating point each, and of one machine with
    as many false alarms; half_: median distance of decision values from 0, cropped, without virtual SVs and with."""
    rows = measured.read("runs")
    at = [next(n for n in COUNTS if n >= rows[f"volcano-{e}"]["offset"]["alarms"]) for e in "ABC"]
    rival = [rows[f"volcano-{e}"]["machines"]["Gaussian"]["rates"][str(n)] for e, n in zip("ABC", at, strict=True)]
    points = sorted(
        (curve.at_threshold(each.trial(each.decision), 0.0) for each in map(_detections, WEIGHTED)),
        key=lambda point: point.alarms,
    )
    one = _detections("volcano-A")
    single = one.trial(one.decision)
    plain, virtual = map(_detections, ("volcano-A-cropped", "volcano-A-vsv"))
    return {
        "gaussian": [round(r * rows[f"volcano-{e}"]["n_test"]) for e, r in zip("ABC", rival, strict=True)],
        "gaussian_alarms": at,
        "each_alarms": [point.alarms for point in points],
        "each": [point.found for point in points],
        "one": [curve.at_alarms(single, point.alarms).found for point in points],
        "volcanoes": rows["volcano-A"]["n_test"],
        "half": [round(float(np.median(np.abs(each.decision))), 2) for each in (plain, virtual)],
        "half_others": [round(float(np.median(np.abs(each.decision[each.hit < 0]))), 2) for each in (plain, virtual)],
    }


def of_hurt() -> dict:
    """jitter set -> mean change of the error in points, pairs that lose a point or more, the pair that loses most and
    by how much, and at how many of those the validation error rose, too."""
    recipes = [recipe for sets in HURT.values() for recipe in sets.values()]
    found = runs.stored(recipes, finished=True)
    for _ in carry_out([recipe for recipe, run in zip(recipes, found, strict=True) if run is None], HURT_GROUP):
        pass
    found, pairs = runs.stored(recipes, finished=True), [f"{a} and {b}" for a, b in HURT]
    test, seen = (figures.changes(found, judge) for judge in figures.JUDGES)
    rows = {}
    for k, text in enumerate(HURTS[1:]):
        lose, worst = test[:, k] >= 1, int(test[:, k].argmax())
        rows[text] = {"mean": round(float(test[:, k].mean()), 2), "lose": int(lose.sum()), "worst": pairs[worst],
                      "points": round(float(test[worst, k]), 1),
                       "seen": int((lose & (seen[:, k] > 0)).sum())}  # fmt: skip
    return {"sets": len(rows), "lose": sum(row["lose"] for row in rows.values()),
            "seen": sum(row["seen"] for row in rows.values()), **rows}  # fmt: skip


def of_transfer() -> dict:
    """Largest change of the error in points, and how many of the changes are rises and falls."""
    rows = [[of_run(_run(cell.recipe))["error_pct"].value for cell in row.cells] for row in TABLES["sv-transfer"].rows]
    change = np.array([[value - whole for value in others] for whole, *others in rows])
    return {"most_pct": round(float(np.abs(change).max()), 2), "rises": int((change > 1e-9).sum()),
            "falls": int((change < -1e-9).sum())}  # fmt: skip


def of_paired() -> dict:
    """Exact McNemar tests between runs on the same test examples."""
    pairs = {
        "quarter": ("mnist-5000-copies-25-random", "mnist-5000-copies-25-margin"),
        "knowledge": ("mnist-5000-rs-random-labels", "mnist-5000-rs-own-labels"),
    }
    tests = {name: [_run(one).test() for one in pair] for name, pair in pairs.items()}
    return {name: round(paired_test(a.wrong, b.wrong).p_value, 4) for name, (a, b) in tests.items()}


def of_thresholds() -> dict:
    """Binary errors of the ten reduced machines together, by whose threshold, of our search and of the paper's."""
    found = {}
    for name in ("mnist-rs-degree5-118", "mnist-rs-degree5-118-paper"):
        numbers = of_run(_run(name))
        found[name.rpartition("-")[2]] = {
            figure: round(sum(numbers[f"{figure}:{digit}"].value for digit in range(10)))
            for figure in ("kept", "alone", "best")
        } | {"error_pct": numbers["error_pct"].value, "rho": round(numbers["rho"].value, 2)}
    tenth = of_run(_run("mnist-rs-degree5"))
    folds = [tenth[f"rho_fold:{digit}"].value for digit in range(10)]
    return found | {"rho_fold": [round(min(folds), 2), round(max(folds), 2)]}


def of_neighbours() -> dict:
    """Errors in per cent and seconds of the rivals of Tables 2 and 3 that are measured, as a click on a cell does."""
    found = {name: rivals.measured(name) for name in rivals.RIVALS}
    return {
        name: {"error_pct": round(100 * one["errors"] / one["n_test"], 2), "fit_s": round(one["fit_seconds"], 1),
               "predict_s": round(one["predict_seconds"], 1)}
        for name, one in found.items() if one
    }  # fmt: skip


def of_raised() -> dict:
    """C -> gradients of conjugate gradients, begun with C itself and with C raised stepwise (Osuna, section 3.1)."""
    problem = prepare(RECIPES["osuna-ripley-c1"])
    X, y = problem.X_train, problem.y_train
    return {
        f"{C:g}": [int(np.sum(SVC("linear", C=C, solver=General(way)).fit(X, y).n_iter_)) for way in WAYS[:2]]
        for C in (1.0, 100.0, 10_000.0)
    }


def of_settings() -> dict:
    """set, kind of machine -> least and most errors in per cent over C, and support vectors at the least and the
    largest C."""
    rows, found = Row(measured.read("crossed")), {}
    for name, row in rows.items():
        if name.startswith("xtrain-settings-"):
            data, _, _, C, kind = name.removeprefix("xtrain-settings-").split("-", 4)
            found.setdefault(f"{data}-{kind}", []).append((float(C), row["wrong"], row["svs"]))
    return {
        name: {"wrong": [round(min(w for _, w, _ in points), 1), round(max(w for _, w, _ in points), 1)],
               "svs": [round(min(points)[2]), round(max(points)[2])]}
        for name, points in found.items()
    }  # fmt: skip


CLAIMS = {
    compute.__name__.removeprefix("of_"): compute
    for compute in (of_forces, of_fiftieth, of_dimension, of_become, of_stages, of_tables, of_alphas, of_digestion,
                    of_definite, of_volcanoes, of_hurt, of_transfer, of_paired, of_thresholds, of_neighbours, of_raised,
                    of_settings)
} | after.CLAIMS  # fmt: skip


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.claims", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", choices=CLAIMS)
    for name in parser.parse_args(argv).names:
        before = Processors.read()
        row = CLAIMS[name]()
        row |= {
            "date": date.today().isoformat(),
            "machine": machine(),
            "others_share": round(Processors.read().since(before).get("others_share", 0.0), 3),
        }
        measured.write("claims", measured.read("claims") | {name: row})
        print(f"{name}: {json.dumps(row)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
