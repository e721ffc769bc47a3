"""The volcanoes of DeCoste and Schölkopf (2002), section 5.2: baselines, variants, and a choice beyond the paper.

    python -m tests.bench.volcanoes [A] [B] [C] [regions] [attention] [variants] [points] [choice] [blind] [gradients]
        [features] [--json FILE]

A, B, C     experiments HOM4, HOM38, HOM56: SVM, two Gaussians, matched filter; 10 to 400 false alarms, offset 0
regions     the same machines and one of gradient histograms, trained on one region, or on four pictures, and tested on
            another; gaps searched, or not
attention   A again with other miss rates of the matched filter, and with one training example a volcano
variants    VSV with crop, edge replication, positives only, all examples: area to 200 false alarms less its base's
points      one SVM for each operating point: other C_pos / C_neg, against the one curve of the paper's machine
choice      beyond the paper: settings chosen fold by fold on the training pictures of A alone
blind       the setting that the four pictures of A choose, and VSV with crop, on B
gradients   settings of gradient histograms, chosen on A for B, and on B for A and C: volcano-*-gradients
features    machines with these settings on A, B and C, beside pixels and the Gaussian

Needs the volcano images (folder of SVMLAB_DATA). Intervals are of 1000 resamplings of the pictures, and with the four
pictures of A there are 35 different ones: they say how much hangs on a picture, not more.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

from data import pictures
from svmcore.detection import curve
from tests.bench.venus import Detections, Setting, Venus
from tests.bench.venus_choice import (
    GRADIENTS,
    OF_GRADIENTS,
    PAPER,
    WIDER,
    by_panel,
    by_search,
    folds,
    inner_measure,
    search_settings,
)

COUNTS = (10, 25, 50, 100, 200, 400)
RATIOS = ((1.0, 0.3), (1.0, 1.0), (1.0, 3.0), (1.0, 10.0), (1.0, 30.0), (0.1, 3.0), (0.1, 10.0), (0.1, 30.0))
REGIONS = {"A": range(1, 5), "B": range(5, 43), "C": range(79, 135)}  # numbers of the images
RICH, FEW = 8, 6  # volcanoes of a picture that may be one of four, and how often four are drawn
CROPPED = Setting(seen=13)
CHOSEN = {  # by `gradients`, on pictures of A and of B
    "A": Setting(steps="gradients:3,unit-norm", kernel="rbf:2", C=3.0, weight=1.0),
    "B": Setting(steps="gradients:5,smoothing=0.7,unit-norm", kernel="rbf:1", C=3.0),
}
VARIANTS = {
    "VSV, cropped": (Setting(13, 1, "plus:1"), CROPPED),
    "all examples, cropped": (Setting(13, 1, "plus:1", "all"), CROPPED),
    "positives only, cropped": (Setting(13, 1, "plus:1", "positives"), CROPPED),
    "VSV, edge replicated": (Setting(15, 0, "plus:1@edge"), Setting()),
    "cropped base": (CROPPED, Setting()),
}


class Study:
    """Parts of the set, those of one of its experiments or others, and what is reported of pooled detections."""

    def __init__(self, name: str, parts=None, gaps: bool = False):
        self.set, self.name = pictures.load("venus"), name
        self.venus = Venus(self.set, gaps)
        self.parts = parts or tuple((part.train, part.test) for part in self.set.experiments[name].parts)

    def describe(self, found: Detections) -> dict:
        hit = np.concatenate(found.hit)
        tested = [self.set.pictures[k] for k in found.tested]
        return {
            "labels": sum(len(picture.boxes) for picture in tested),
            "opportunities": sum(picture.opportunities for picture in tested),
            "area_km2": sum(picture.area for picture in tested),
            "candidates": len(hit),
            "covered": len(np.unique(hit[hit >= 0])),
            "training": found.training,
        }

    def row(self, found: Detections, name: str) -> dict:
        """All figures of one machine; rates are of the labels, in brackets below of the table's opportunities."""
        trial = self.venus.trial(found, name)
        zero = curve.at_threshold(trial, 0.0)
        table = self.venus.trial(found, name, opportunities=True)
        return {
            "rates": dict(zip(map(str, COUNTS), curve.rates_at(trial, COUNTS).tolist(), strict=True)),
            "of_opportunities": dict(zip(map(str, COUNTS), curve.rates_at(table, COUNTS).tolist(), strict=True)),
            "zero": {"alarms": zero.alarms, "found": zero.found, "rate": zero.rate},
            "challenge": curve.estimate(trial, curve.challenge),
            "area_200": curve.estimate(trial, curve.area(200)),
            "seconds": found.seconds[name],
        }

    def compare(self, found: Detections, a: str, b: str, statistic) -> curve.Estimate:
        return curve.difference(self.venus.trial(found, a), self.venus.trial(found, b), statistic)


def experiment(name: str) -> dict:
    """The paper's protocol beside its baselines."""
    study = Study(name)
    found = study.venus.search(study.parts, {"SVM": Setting()}, baselines=True, repeats=3 if name == "A" else 1)
    report = study.describe(found) | {"machines": {m: study.row(found, m) for m in found.scores}}
    print(f"\n{name}: {report['labels']} labels, {report['opportunities']} opportunities, {report['area_km2']:.0f} km2")
    print(f"  {report['candidates']} candidates cover {report['covered']}; training +/- {report['training']}")
    table(report["machines"])
    svm, gaussian = (study.venus.trial(found, m) for m in ("SVM", "Gaussian"))
    every = np.arange(10, 401)
    gap = curve.rates_at(svm, every) - curve.rates_at(gaussian, every)
    alarms = report["machines"]["SVM"]["zero"]["alarms"]
    report |= {
        "least_gap_10_to_400": [float(gap.min()), int(every[gap.argmin()])],
        "at_zero": curve.difference(gaussian, svm, curve.rate(alarms)),
        "area_200_gain": curve.difference(gaussian, svm, curve.area(200)),
    }
    print(f"  SVM less Gaussian: least {gap.min():+.3f} between 10 and 400 alarms (at {every[gap.argmin()]})")
    print(f"  at the {alarms} alarms of offset 0 {text(report['at_zero'])}, area {text(report['area_200_gain'])}")
    return report


def regions() -> dict:
    """What a machine of one region, or of four pictures of it, finds in another; gaps searched too, or left out."""
    known, report = pictures.load("venus").pictures, {}
    number = {int(picture.name.removeprefix("img")): k for k, picture in enumerate(known)}
    of = {name: tuple(number[k] for k in span) for name, span in REGIONS.items()}
    ways = {f"{a} on {b}": (of[a], of[b]) for a in of for b in of if a != b}
    rich = [k for k in of["B"] if known[k].opportunities >= RICH]
    for seed in range(FEW):
        four = tuple(sorted(np.random.default_rng(seed).choice(rich, 4, replace=False).tolist()))
        ways |= {f"four of B ({seed}) on {b}": (four, of[b]) for b in ("A", "C")}
    for (name, way), gaps in product(ways.items(), (True, False)):
        study = Study(name, (way,), gaps)
        machines = {"SVM": Setting(), "SVM, strongest": Setting(each="strongest")}
        machines["SVM, gradients"] = CHOSEN["A" if name.endswith("on B") else "B"]
        found = study.venus.search(study.parts, machines, baselines=True)
        title = f"{name}, gaps {'searched' if gaps else 'left out'}"
        report[title] = study.describe(found) | {"machines": {m: study.row(found, m) for m in found.scores}}
        print(f"\n{title}; training +/- {found.training}")
        table(report[title]["machines"])
    return report


def attention() -> dict:
    """How much hangs on what the matched filter lets pass, and on which candidates of a volcano train."""
    report = {}
    for each in ("all", "strongest"):
        for miss in (0.01, 0.02, 0.05, 0.1):
            study = Study("A")
            found = study.venus.search(study.parts, {"SVM": Setting(each=each, miss=miss)}, baselines=True)
            rows = {name: study.row(found, name) for name in found.scores}
            report[f"{each} {miss}"] = study.describe(found) | {"machines": rows}
            print(f"\nA: {each} candidates of a volcano train, the filter misses {miss:.0%}; +/- {found.training}")
            table(rows)
    return report


def variants() -> dict:
    """VSV and what the paper says did not work, each against its own base on the same chips."""
    study = Study("A")
    report = {}
    for each in ("all", "strongest"):
        settings = {name: with_(variant, each=each) for name, (variant, _) in VARIANTS.items()}
        settings |= {f"base {s.seen}": with_(s, each=each) for s in (CROPPED, Setting())}
        found = study.venus.search(study.parts, settings)
        rows = {name: study.row(found, name) for name in settings}
        print(f"\nA: variants; of the candidates on one volcano {each} trains")
        table(rows)
        for name, (_, base) in VARIANTS.items():
            for key, statistic in (("area_200", curve.area(200)), ("challenge", curve.challenge)):
                rows[name][f"{key}_gain"] = study.compare(found, f"base {base.seen}", name, statistic)
            gains = "   challenge ".join(text(rows[name][f"{k}_gain"]) for k in ("area_200", "challenge"))
            print(f"  {name:24s} less base {base.seen}: area to 200 {gains}")
        report[each] = rows
    return report


def points() -> dict:
    """Machines with other C_neg and C_pos: offset 0 of each against the paper's machine at as many false alarms."""
    study = Study("A")
    settings = {f"C_neg {c:g} C_pos {c * w:g}": Setting(C=c, weight=w) for c, w in RATIOS}
    found = study.venus.search(study.parts, settings)
    report = {name: study.row(found, name) for name in settings}
    print("\nA: one SVM for each operating point")
    table(report)
    for name, row in report.items():
        alarms = row["zero"]["alarms"]
        row["paper_there"] = float(curve.rates_at(study.venus.trial(found, "C_neg 1 C_pos 3"), [alarms])[0])
        print(f"  {name:24s} offset 0: {alarms:4d} alarms {row['zero']['rate']:.3f}, paper's {row['paper_there']:.3f}")
        row["area_200_gain"] = study.compare(found, "C_neg 1 C_pos 3", name, curve.area(200))
    return report


def choice() -> dict:
    """Settings chosen by the training pictures alone, beside the paper's, pooled by f and by the alarms expected."""
    study = Study("A")
    paper, _ = folds(study.venus, study.parts, lambda _: Setting())
    pooled, report = {"paper": paper}, {"settings": {}}
    ways = {"panel": by_panel(study.venus), "wider": by_panel(study.venus, WIDER), "search": by_search(study.venus)}
    for name, choose in ways.items():
        pooled[name], settings = folds(study.venus, study.parts, choose)
        report["settings"][name] = [str(setting) for setting in settings]
        print(f"\nA: chosen fold by fold on the training pictures, by {name}")
        print("".join(f"  test {test}: {s}\n" for (_, test), s in zip(study.parts, settings, strict=True)), end="")
    names = [(name, by) for name in pooled for by in ("f", "rank")]
    report["machines"] = {f"{name}, by {by}": study.row(pooled[name], by) for name, by in names}
    table(report["machines"])
    for name, by in names[2:]:
        a, b = (study.venus.trial(pooled[which], by) for which in ("paper", name))
        gain = {k: curve.difference(a, b, s) for k, s in (("area", curve.area(200)), ("challenge", curve.challenge))}
        report["machines"][f"{name}, by {by}"] |= {f"{k}_gain": value for k, value in gain.items()}
        print(f"  {name} less paper, by {by}: area {text(gain['area'])}   challenge {text(gain['challenge'])}")
    return report


def blind() -> dict:
    """The setting that the four pictures of A choose, and the paper's variants, on B, which nobody looked at before."""
    a, b = Study("A"), Study("B")
    best = by_panel(a.venus)(tuple(k for _, test in a.parts for k in test))
    settings = {"paper": Setting(), "base 13": CROPPED, "VSV 15 to 13": Setting(13, 1, "plus:1"), "chosen on A": best}
    found = b.venus.search(b.parts, settings)
    report = {"setting": str(best)} | b.describe(found) | {"machines": {m: b.row(found, m) for m in settings}}
    print(f"\nB: chosen on A: {best}")
    table(report["machines"])
    for base, name in (("base 13", "VSV 15 to 13"), ("paper", "base 13"), ("paper", "chosen on A")):
        for key, statistic in (("area_200", curve.area(200)), ("challenge", curve.challenge)):
            gain = b.compare(found, base, name, statistic)
            report["machines"][name][f"{key} less {base}"] = gain
            print(f"  {name} less {base}: {key} {text(gain)}")
    return report


def gradients() -> dict:
    """Settings of gradient histograms on pictures that they are not reported on: each picture of A, each fourth of B,
    by a machine of the others."""
    report = {}
    for name, n_folds in (("A", None), ("B", 4)):
        study, tried = Study(name), {}
        train = tuple(k for _, test in study.parts for k in test)
        measure = inner_measure(study.venus, train, n_folds)

        def logged(setting, measure=measure, tried=tried):
            if str(setting) not in tried:
                tried[str(setting)] = measure(setting)
                print(f"  {tried[str(setting)]:.4f}  {setting}", flush=True)
            return tried[str(setting)]

        print(f"\n{name}: area to 50 false alarms a picture, pictures left out")
        logged(PAPER)
        logged(Setting(weight=1.0))
        best, _ = search_settings(logged, start=GRADIENTS, coordinates=OF_GRADIENTS)
        report[f"chosen on {name}"] = {"chosen": str(best), "tried": tried}
    return report


def features() -> dict:
    """Machines of gradient histograms beside pixels and the Gaussian, on the pictures that did not choose them."""
    report = {}
    for name in ("A", "B", "C"):
        study = Study(name)
        machines = {"pixels": Setting(), "gradients": CHOSEN["A" if name == "B" else "B"]}
        found = study.venus.search(study.parts, machines, baselines=True)
        report[name] = rows = {m: study.row(found, m) for m in found.scores}
        print(f"\n{name}: gradient histograms")
        table(rows)
        for other in ("pixels", "Gaussian"):
            for key, statistic in (("area_200", curve.area(200)), ("challenge", curve.challenge)):
                rows["gradients"][f"{key} less {other}"] = gain = study.compare(found, other, "gradients", statistic)
                print(f"  gradients less {other}: {key} {text(gain)}")
    return report


def table(rows: dict) -> None:
    print(
        f"  {'rate at false alarms':24s}" + "".join(f"{n:7d}" for n in COUNTS) + "    offset 0  area 200 challenge  s"
    )
    for name, row in rows.items():
        rates = "".join(f"{row['rates'][str(n)]:7.3f}" for n in COUNTS)
        zero, area, score = row["zero"], row["area_200"][0], row["challenge"][0]
        print(
            f"  {name:24s}{rates} {zero['alarms']:5d} {zero['rate']:.3f}  {area:.4f}  {score:.4f}  {row['seconds']:.2f}"
        )


def text(estimate) -> str:
    return f"{estimate[0]:+.4f} ({estimate[1]:+.4f} to {estimate[2]:+.4f})"


def rounded(figures):
    """Figures with four decimals, in whatever they stand."""
    if isinstance(figures, dict):
        return {name: rounded(value) for name, value in figures.items()}
    if isinstance(figures, list | tuple):
        return [rounded(value) for value in figures]
    return round(figures, 4) if isinstance(figures, float) else figures


def with_(setting: Setting, **changes) -> Setting:
    return Setting(**{**vars(setting), **changes})


WORK = {
    "A": lambda: experiment("A"),
    "B": lambda: experiment("B"),
    "C": lambda: experiment("C"),
    "regions": regions,
    "attention": attention,
    "variants": variants,
    "points": points,
    "choice": choice,
    "blind": blind,
    "gradients": gradients,
    "features": features,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="*", choices=[[], *WORK], default=[])
    parser.add_argument("--json", type=Path, help="file for all figures; those that it has of other work stay")
    given = parser.parse_args()
    results = {name: WORK[name]() for name in given.work or WORK}
    if given.json:
        kept = json.loads(given.json.read_text(encoding="utf-8")) if given.json.exists() else {}
        kept |= rounded(results)
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in kept.items())
        given.json.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
