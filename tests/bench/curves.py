"""How soon the objective rises: the dual objective against seconds on three hard problems, ours beside
scikit-learn-intelex's: `python -m tests.bench.curves [--only NAME ...]`.

One fit of ours tells its objective between bursts. A peer tells nothing, so it fits anew with each smaller tol, and its
objective is computed by judge.py. Both fit a few examples first, in one process, ours before the peer. The best
objective of a problem is the largest that either ended at; a curve shows how far from it the objective still is,
relative to it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from svmcore import SVC
from tests.bench import measured
from tests.bench.candidate import Peer
from tests.bench.judge import judged
from tests.bench.machine import machine
from tests.bench.problems import ONEDAL, PROBLEMS, Problem
from tests.bench.ratio import COLOURS, STYLE, between, joined, rule, text

PATH = Path(__file__).parent / "measured" / "curves.svg"
HARD = ("forest-10000-C10000", "showers-19020-C100", "overlap-C1e4")
TOLS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.01, 0.001)
FEW, APART = 1e-3, 1.01  # seconds between two points of ours at least; ratio of their times at least
WARM = 300  # examples of the first fit
WHO = {"ours": "ours", ONEDAL: "intelex"}
PANEL, HEIGHT, LEFT, GAP, TOP, BOTTOM = 250, 300, 58, 44, 46, 46
NEAREST = 1e-9  # of the best objective: what is nearer is drawn there
ALT = (
    "![How far the dual objective is below the best one, against the seconds of a fit, on three hard problems; one\n"
    "curve ours, one scikit-learn-intelex's](measured/curves.svg)"
)


def ours(problem: Problem, task) -> list[tuple[float, float]]:
    """(seconds, dual objective), ascending."""
    SVC(problem.kernel, C=problem.C).fit(task.X[:WARM], task.y[:WARM])
    points, start = [], time.perf_counter()

    def monitor(progress):
        now = time.perf_counter() - start
        if not points or now > APART * points[-1][0] + FEW:
            points.append((now, progress.dual))
        return True

    fitted = SVC(problem.kernel, C=problem.C, cache_mb=problem.cache_mb).fit(task.X, task.y, monitor=monitor)
    return [*points, (time.perf_counter() - start, fitted.history_[-1].dual)]


def peers(problem: Problem, task) -> list[tuple[float, float]]:
    """(seconds, dual objective) of a fit at each tol."""
    signs, points = np.where(task.y == np.unique(task.y)[1], 1.0, -1.0), []
    for tol in (None, *TOLS):
        peer = Peer(problem, ONEDAL)
        X, y = (task.X, task.y) if tol else (task.X[:WARM], task.y[:WARM])
        model, start = peer.new().set_params(tol=tol or 1e-3), time.perf_counter()
        model.fit(X, y)
        if tol:
            seconds, C = time.perf_counter() - start, np.full(len(y), problem.C)
            coef = np.ravel(model.dual_coef_)
            points.append((seconds, judged(problem.kernel.to_dict(), X, signs, C, model.support_, coef)[0]))
    return sorted(points)


def below(rows: dict[str, list]) -> dict[str, list[tuple[float, float]]]:
    """Who -> (seconds, distance of the objective from the best one, relative to it). What a fit tells on its way is
    rounded and may be above the best one."""
    best = max(points[-1][1] for points in rows.values())
    return {who: [(s, max(abs(best - dual) / best, NEAREST)) for s, dual in points] for who, points in rows.items()}


def picture(bench: dict) -> str:
    """The SVG: a panel for each problem."""
    width = LEFT + len(bench) * (PANEL + GAP)
    parts = [text(LEFT, 16, "dual objective, relative distance to the best, against seconds of a fit", "start")]
    for i, (name, row) in enumerate(bench.items()):
        left = LEFT + i * (PANEL + GAP)
        curves = below({who: row[who] for who in WHO})
        seconds = [s for points in curves.values() for s, _ in points]
        powers = range(int(np.floor(np.log10(min(seconds)))), int(np.ceil(np.log10(max(seconds)))) + 1)
        ends = 10.0 ** powers[0], 10.0 ** max(powers[-1], powers[0] + 1)

        def x(s, left=left, ends=ends):
            return round(between(s, *ends, left, left + PANEL), 1)

        def y(far):
            return round(between(far, NEAREST, 1.0, HEIGHT - BOTTOM, TOP), 1)

        parts.append(text(left, TOP - 10, PROBLEMS[name].title, "start"))
        for power in powers:
            parts += [rule(x(10.0**power), x(10.0**power), TOP, HEIGHT - BOTTOM, "grid")]
            parts.append(text(x(10.0**power), HEIGHT - BOTTOM + 18, f"{10.0**power:g}"))
        for far in (1.0, 1e-3, 1e-6, NEAREST):
            parts.append(rule(left, left + PANEL, y(far), y(far), "grid"))
            parts += [] if i else [text(left - 8, y(far) + 4, f"{far:g}", "end")]
        for colour, (who, points) in zip(COLOURS, curves.items(), strict=False):
            at = [(x(s), y(min(far, 1.0))) for s, far in points]
            parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{joined(at)}"/>')
            label = f'<tspan style="fill:{colour};font-weight:600">{WHO[who]}</tspan>'
            parts.append(text(left + PANEL - 4, TOP + 16 * (1 + list(WHO).index(who)), label, "end"))
    parts.append(text(LEFT + (width - LEFT) / 2, HEIGHT - 8, "seconds"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" role="img">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>\n"])


def part(bench: dict, measured_on) -> str:
    """The picture, as RESULTS.md shows it."""
    if not bench:
        return "Not measured yet."
    return ALT + measured_on(bench.values())


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.curves", description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=HARD, default=HARD, help="only these problems")
    known = measured.read("curves")
    for name in parser.parse_args(argv).only:
        problem = PROBLEMS[name]
        task = problem.make()
        known[name] = {"ours": ours(problem, task), ONEDAL: peers(problem, task), "machine": machine()}
        print(name, *(f"{WHO[who]}: {known[name][who][-1][0]:.2f} s" for who in WHO), flush=True)
        measured.write("curves", {name: known[name] for name in HARD if name in known})
    PATH.write_text(picture(measured.read("curves")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
