"""Detections made up for tests: what a run keeps of its parts, small enough to count by hand or slowly."""

from dataclasses import replace

import numpy as np

from svmcore import SVC
from svmcore.kernels import Poly
from svmcore.lab.finders.findings import Detections
from svmcore.lab.store import runs
from svmcore.lab.tasks import TASKS
from svmcore.preprocess import Preprocessor


def detections(
    picture=(), decision=(), hit=(), objects=(), object_picture=(), category=(), tested=(0,), rivals=1, seed=0
) -> Detections:
    """One part. hit: rows of `objects`, or -1; boxes lie on the object that they cover, false alarms anywhere."""
    rng = np.random.default_rng(seed)
    m, o = len(picture), len(objects)
    objects = np.array(objects, float).reshape(o, 4)
    box = rng.uniform(5, 40, (m, 4))
    box[:, 2:] = box[:, :2] + 15
    hit = np.array(hit, np.int64)
    box[hit >= 0] = objects[hit[hit >= 0]]
    names = np.array(["matched filter", "Gaussian"][:rivals], dtype="U20")
    return Detections(
        unit="km²",
        area=np.full(len(tested), 100.0),
        opportunities=np.full(len(tested), 2),
        rival_seconds=np.zeros(rivals),
        picture=np.array(picture, np.int64),
        tested=np.array(tested, np.int64),
        box=box,
        decision=np.array(decision, float),
        hit=hit,
        rivals=rng.standard_normal((m, rivals)),
        rival_names=names,
        chips=rng.integers(0, 255, (m, 15, 15), dtype=np.uint8),
        votes=np.zeros(m),
        turn=np.zeros(m, np.int64),
        objects=objects,
        object_picture=np.array(object_picture, np.int64),
        object_category=np.array(category if len(category) else np.ones(o), np.int64),
        object_found=np.isin(np.arange(o), hit),
        train_chips=rng.integers(0, 255, (40, 15, 15), dtype=np.uint8),
        train_y=np.where(np.arange(40) < 12, 1, -1),
        train_picture=np.full(40, -1, np.int64),
        train_round=np.where(np.arange(40) < 30, 0, 1),
    )


def two_parts(seed=0, n=60):
    """Two parts of three pictures altogether, with repeated hits, ties and objects that nothing covers."""
    rng = np.random.default_rng(seed)
    boxes = np.column_stack([np.arange(8) * 9, np.arange(8) * 9, np.arange(8) * 9 + 12, np.arange(8) * 9 + 12])
    first = detections(
        picture=rng.integers(0, 2, n) * 0 + np.where(np.arange(n) % 2, 1, 0),
        decision=np.round(rng.standard_normal(n), 1),
        hit=[-1] * n,
        objects=boxes[:6],
        object_picture=[0, 0, 0, 1, 1, 1],
        category=[1, 2, 3, 1, 4, 4],
        tested=(0, 1),
        seed=seed,
    )
    for o, rows in enumerate(([0, 2], [4], [], [1, 3, 5], [7], [9])):
        first.hit[rows] = o
        first.object_found[o] = bool(rows)
    second = detections(
        picture=[2] * 5, decision=[2.0, -1.0, 0.5, -2.0, 0.5], hit=[0, -1, -1, 1, 0], objects=boxes[6:],
        object_picture=[2, 2], category=[1, 2], tested=(2,), seed=seed + 1,
    )  # fmt: skip
    return [first, second]


def stored(recipe, parts, state="done", message=""):
    """A run of the store that has judged some parts, in any state; its machine tells the chips of `parts` apart."""
    run = runs.create(recipe)
    run.set_state("running")
    for number, part in enumerate(parts):
        run.save_split(np.arange(len(part.train_y)), np.arange(0), number)
        run.save_part(machine_of(part), part, number)
    if state == "done":
        run.complete(result_of(recipe, parts))
    run.set_state(state, message)
    if state not in runs.ACTIVE:
        run.release()
    return run


def machine_of(part):
    prepare = Preprocessor("standardise", "unit-norm", image_shape=part.train_chips.shape[1:])
    X = prepare.fit_transform(part.train_chips)
    return replace(SVC(Poly(2, 1.0, 1.0), C=1.0).fit(X, part.train_y).machine_, prepare=prepare)


def result_of(recipe, parts):
    counts = dict.fromkeys(("n_train", "n_features"), 40) | dict.fromkeys(("n_union", "kernel_evals", "iterations"), 9)
    seconds = dict.fromkeys(("fit_seconds", "predict_seconds", "peak_rss_mb", "dual", "compile_seconds"), 1.0)
    shared = {"recipe": recipe.name, "task": "detect", "dataset": recipe.dataset, "method": recipe.method}
    return shared | counts | seconds | {"n_sv": [9], "n_bound": [0]} | TASKS["detect"].outcome(parts)
