"""Ways in which a file may be damaged, and the files that they can happen to."""

import json
import os
import zipfile

import numpy as np

from svmcore.lab.store import runs
from tests.trained import executed


def finished(recipe, title="Damaged one"):
    """A run that is done, with every file that a run can have."""
    outcome = executed(recipe)
    run = runs.create(recipe, "20020101-000000-000-abcdef")
    run.set_state("running")
    run.save_grant(10.0)
    run.save_split(outcome.train_index, outcome.test.index)
    counts = dict.fromkeys(("iterations", "n_sv", "n_bound", "kernel_evals", "cache_hits", "cache_misses"), 1)
    run.add_progress({"stage": "train", "gap": 0.5, "dual": 1.0, "seconds": 0.1} | counts)
    run.save_part(outcome.machine, outcome.test)
    run.complete(outcome.result)
    run.set_state("done")
    run.rename(title)
    run.release()
    return run


def _huge(path):
    path.write_bytes(b"")
    os.truncate(path, 1 << 43)  # 8 TB that take no room


def _folder(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def _loop(path):
    """What may not be opened: as for permission, the system refuses; that would not stop the user root."""
    path.unlink()
    path.symlink_to(path.name)


def _pipe(path):
    path.unlink()
    os.mkfifo(path)


def _halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


ANY = {  # name -> what it does to a file
    "empty": lambda path: path.write_bytes(b""),
    "cut off": _halved,
    "noise": lambda path: path.write_bytes(np.random.default_rng(0).bytes(3000)),
    "huge": _huge,
    "a folder": _folder,
    "not to be opened": _loop,
    "a pipe": _pipe,
}
JSON = ANY | {
    "a list": lambda path: path.write_text("[1]"),
    "null": lambda path: path.write_text("null"),
    "a number": lambda path: path.write_text("-1" if path.name != "grant.json" else '"x"'),
    "no keys": lambda path: path.write_text("{}"),
    "not a number": lambda path: path.write_text('{"state": NaN}'),
    "deep": lambda path: path.write_text("[" * 100_000),
    "long numbers": lambda path: path.write_text('{"C": 1' + "0" * 5000 + "}"),
}


def without(*names):
    """A JSON object that lacks some of its fields."""

    def change(path):
        path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k not in names}))

    return change


def with_(**values):
    """A JSON object some of whose fields have other values."""
    return lambda path: path.write_text(json.dumps(json.loads(path.read_text()) | values))


def arrays(**changes):
    """An npz file some of whose arrays are other ones, or None for those that it lacks."""

    def change(path):
        with np.load(path) as file:
            old = dict(file)
        new = {name: value(old[name]) if callable(value) else value for name, value in (old | changes).items()}
        np.savez(path, **{name: value for name, value in new.items() if value is not None})

    return change


def bomb(name):
    """An npz file in which an array of the right type unpacks to a thousand times its size: zeros, 0.1 GB of them."""

    def change(path):
        with np.load(path) as file:
            shape, dtype = (1 << 24, *file[name].shape[1:]), file[name].dtype
        with zipfile.ZipFile(path) as archive:
            members = {m: archive.read(m) for m in archive.namelist() if m != f"{name}.npy"}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                for _ in range(16):
                    file.write(bytes(dtype.itemsize * int(np.prod(shape)) // 16))

    return change


def _spoilt(array):
    array = array.copy()
    array.flat[0] = np.nan
    return array


SPLIT = ANY | {
    "no train": arrays(train=None),
    "objects": arrays(train=np.array([{}, []], object)),
    "fractions": arrays(train=np.ones(3)),
    "a table": arrays(train=np.ones((3, 3), int)),
}
MODEL = ANY | {
    "no support": arrays(support=None),
    "objects": arrays(support=np.array([{}, []], object)),
    "texts": arrays(coef=np.array([["a", "b"]])),
    "a bomb": bomb("support_vectors"),
}
MODEL_INSIDE = {  # what only reading all of it shows
    "nan": arrays(coef=_spoilt),
    "strangers": arrays(support=lambda rows: rows + 10_000_000),
    "another length": arrays(bias=np.zeros(7)),
}
TEST = ANY | {
    "no decision": arrays(decision=None),
    "objects": arrays(y_true=np.array([{}, []], object)),
    "another length": arrays(y_true=lambda y: y[:-1]),
    "a bomb": bomb("index"),
}
TEST_INSIDE = {
    "nan": arrays(decision=_spoilt),
    "negative": arrays(index=lambda index: index - 10_000),
    "strange labels": arrays(y_pred=lambda y: y + 100),
    "strange part": arrays(split=np.array("spare")),
    "more machines": arrays(decision=lambda decision: np.tile(decision, (1, 5))),
}
RESULT = JSON | {
    "no n_features": without("n_features"),
    "texts": with_(n_train="many"),  # a count that the results of all tasks have
    "n_sv": with_(n_sv=3),
    "an interval of one": with_(interval=[0.1]),
    "none tested": with_(n_test=0),
    "a long number": with_(n_train=10**400),
    "validation": with_(validation={"errors": 3}),
}
STATE = JSON | {"unknown": with_(state="asleep"), "no state": without("state"), "message": with_(message=[1])}
FILES = {  # file of a run -> ways
    "recipe.json": JSON | {"C": with_(C=-1), "a long C": with_(C=10**400)},
    "state.json": STATE,
    "title.json": JSON | {"lines": lambda path: path.write_text('"a\\nb"')},
    "parent.json": JSON,
    "grant.json": {way: change for way, change in JSON.items() if way != "cut off"}  # half a number is one
    | {"negative": lambda path: path.write_text("-5")},
    "result.json": RESULT,
    "split.npz": SPLIT,
    "model.npz": MODEL,
    "test.npz": TEST,
    "progress.jsonl": {name: ANY[name] for name in ("huge", "a folder", "not to be opened", "a pipe")},
}
INSIDE = {
    "model.npz": MODEL_INSIDE,
    "test.npz": TEST_INSIDE,
    "split.npz": {"negative": arrays(train=lambda t: t - 999)},
}
OWN = ANY | {
    "no entry": arrays(entry=None),
    "an entry that is a list": arrays(entry=np.array("[1]")),
    "an entry without title": arrays(entry=np.array('{"kind": "images"}')),
    "an entry that is a number": arrays(entry=np.array(3)),
    "objects": arrays(X_train=np.array([{}, []], object)),
    "another shape": arrays(X_train=np.zeros((3, 3), np.float32)),
    "labels": arrays(y_train=lambda y: y[:-1]),
    "a bomb": bomb("X_train"),
}
OWN_INSIDE = {"nan": arrays(X_train=_spoilt), "classes": arrays(y_train=lambda y: y + 5)}
