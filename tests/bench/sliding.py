"""A picture of one megapixel scanned with gradient histograms, beside the same detector on pixels.

    python -m tests.bench.sliding [--json FILE] [--steps gradients:5,unit-norm]

Both detectors learn from the windows of CBCL, with the same kernel and C, and search the same 1.28 million windows of
four photographs side by side, none of which is kept. Turn by turn, the least processor and clock seconds of each, and
their ratio: with and without the quick look, and of degree 2 (a quadratic form) and by 400 support vectors. "windows
cut out": the same machine where each window goes through the steps by itself.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from skimage import color, data

from data import pictures
from svmcore import RBF, SVC, Poly, Preprocessor
from svmcore.detection.discard import Discard
from svmcore.detection.scan import scan
from svmcore.model import Machine
from svmcore.preprocess import split_steps
from tests.bench.faces import SIDE, WINDOW, quick_look
from tests.bench.machine import machine as this_machine

KERNELS = {"degree 2": (Poly(2, 1.0, 1.0), None), "RBF, 400 SVs": (RBF(1.0), 400)}
TURNS = 3


def picture() -> np.ndarray:
    """(1024, 1024) uint8: two portraits and two textures."""
    astronaut = np.rint(255 * color.rgb2gray(data.astronaut())).astype(np.uint8)
    return np.block([[astronaut, data.camera()], [data.brick(), data.grass()]])


def trained(steps: tuple[str, ...], kernel, n_sv: int | None) -> Machine:
    """A machine of CBCL's windows, with the first n_sv of its support vectors."""
    X, y = pictures.load("cmu-faces").chips
    prepare = Preprocessor(*steps, image_shape=(SIDE, SIDE))
    machine = SVC(kernel, C=10.0).fit(prepare.fit_transform(X.reshape(len(X), -1)), y).machine_
    first = np.arange(len(machine.support))[:n_sv]
    names = ("support", "support_vectors", "coef", "bound")
    few = {name: getattr(machine, name)[..., first] if name in ("coef", "bound") else getattr(machine, name)[first]
           for name in names}  # fmt: skip
    return replace(machine, prepare=prepare, **few)


class Apart:
    """Preparation that has no shared work to give: windows are cut out first."""

    def __init__(self, prepare: Preprocessor):
        self.transform = prepare.transform


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sliding", description=__doc__.split("\n")[0])
    parser.add_argument("--steps", default="gradients:5,unit-norm")
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args(argv)
    steps, seen, rows = tuple(split_steps(options.steps)), picture(), []
    quick = quick_look(*pictures.load("cmu-faces").chips)
    for name, (kernel, n_sv) in KERNELS.items():
        pixels, features = (trained(one, kernel, n_sv) for one in (WINDOW, steps))
        for discard in (quick, None):
            ways = {"pixels": pixels, "gradients": features}
            if n_sv is None:
                ways["windows cut out"] = replace(features, prepare=Apart(features.prepare))
            row = {"kernel": name, "quick look": discard is not None} | measured(seen, ways, discard)
            rows.append(row)
            print(json.dumps(row), flush=True)
    if options.json:
        told = {"machine": this_machine(), "steps": options.steps, "rows": rows}
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def measured(seen: np.ndarray, ways: dict[str, Machine], discard: Discard | None) -> dict:
    """Of each way the least clock and processor seconds, and both beside those on pixels."""
    least = {name: [np.inf, np.inf] for name in ways}
    for _ in range(TURNS):
        for name, machine in ways.items():
            began, busy = time.perf_counter(), time.process_time()
            found = scan(seen, machine, discard=discard, threshold=np.inf)
            spent = time.perf_counter() - began, time.process_time() - busy
            least[name] = [min(one) for one in zip(least[name], spent)]
    clock, processor = ({name: times[at] for name, times in least.items()} for at in (0, 1))
    told = {"windows": found.looked}
    for said, times in (("clock", clock), ("processor", processor)):
        told[f"{said}, s"] = {name: round(value, 3) for name, value in times.items()}
        told[f"{said}, ratio"] = {name: round(v / times["pixels"], 2) for name, v in times.items() if name != "pixels"}
    return told


if __name__ == "__main__":
    raise SystemExit(main())
