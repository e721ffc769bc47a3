"""Machines in files: an .npz archive without pickled objects, the arrays, and one JSON text under "header".

Arrays within the description of a kernel or a preparation, a matrix that was fitted say, stand beside the machine's own
as "part.0", "part.1", ..., and their names in their places.
"""

import json
import math
import os
import zipfile
from pathlib import Path

import numpy as np

from svmcore import files
from svmcore.kernels import Precomputed, kernel_from_dict
from svmcore.model import Demanded, Machine
from svmcore.preprocess import Preprocessor

FORMAT = "svmcore-machine-1"
MAX_HEADER = 64 << 20  # bytes of JSON text that `load` agrees to read
NEEDED = {"classes": "biufU", "support": "iu", "support_vectors": "f", "coef": "f", "bias": "f", "bound": "b"}
OPTIONAL = {"parent": "iu", "jitter": "iu"}  # arrays, as above: their kinds of numbers


def save(machine, path: str | os.PathLike) -> None:
    """Write a machine to an .npz file: all or nothing.

    Parameters
    ----------
    machine : Machine or estimator
        The Machine, or a fitted estimator that has it as `machine_`. A Preprocessor that prepares its examples is kept
        with it; of another transformer its name alone, and the machine that `load` returns then asks for prepared
        examples.
    path : str or path
        The file; an older one of that name stays as it was where the disk refuses.

    Raises
    ------
    OSError
        When the disk refuses.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svmcore import SVC, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(SVC(C=1).fit([[0.0], [1.0]], [0, 1]), Path(folder) / "machine.npz")
    ...     load(Path(folder) / "machine.npz").predict([[0.9]]).tolist()
    [1]
    """
    machine = machine if isinstance(machine, Machine) else machine.machine_
    arrays = {name: getattr(machine, name) for name in (*NEEDED, *OPTIONAL) if getattr(machine, name) is not None}
    if arrays["classes"].dtype == object:
        arrays["classes"] = arrays["classes"].astype(str)
    header = {"format": FORMAT, "kernel": _lift(machine.kernel.to_dict(), arrays), "C": machine.C, "meta": machine.meta}
    if isinstance(machine.prepare, Preprocessor):
        header["prepare"] = _lift(machine.prepare.to_dict(), arrays)
    elif machine.prepare is not None:
        header["demands"] = repr(machine.prepare)
    arrays["header"] = np.array(json.dumps(header, allow_nan=False))
    files.write(Path(path), lambda file: _write_npz(file, arrays))


def load(path: str | os.PathLike) -> Machine:
    """The machine that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file. What it brings is never run.

    Returns
    -------
    Machine
        As it was saved.

    Raises
    ------
    ValueError
        Saying why, for any other content.

    Examples
    --------
    >>> from svmcore import load
    >>> load("machine.npz")  # doctest: +SKIP
    """
    try:
        arrays = files.read_arrays(path)
        if arrays["header"].nbytes > MAX_HEADER:
            raise ValueError("its header is too long")
        machine = _assemble(json.loads(str(arrays.pop("header"))), arrays)
        _check_use(machine)
        return machine
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{Path(path).name} is not a machine written by svmcore.save: {error}") from None


def _assemble(header: dict, arrays: dict[str, np.ndarray]) -> Machine:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    kernel = kernel_from_dict(_lower(header["kernel"], arrays))
    for name, kinds in (NEEDED | OPTIONAL).items():
        if name in arrays or name in NEEDED:
            array = arrays[name]
            if array.dtype.kind not in kinds or (array.dtype.kind == "f" and not np.isfinite(array).all()):
                raise ValueError(f"{name} has invalid values")
    prepare = None
    if "prepare" in header:
        prepare = Preprocessor.from_dict(_lower(header["prepare"], arrays))
    elif "demands" in header:
        prepare = Demanded(str(header["demands"]))
    if unknown := arrays.keys() - NEEDED.keys() - OPTIONAL.keys():
        raise ValueError(f"unknown array {min(unknown)}")
    if not isinstance(header["meta"], dict):
        raise ValueError("meta is not an object")
    if not np.isfinite(C := float(header["C"])):
        raise ValueError(f"C = {C} is not finite")
    return Machine(kernel=kernel, C=C, meta=header["meta"], prepare=prepare, **arrays)


def _check_use(machine: Machine) -> None:
    """ValueError unless f of a support vector is a number, and the preparation makes rows like one."""
    one, kernel, prepare = machine.support_vectors[:1], machine.kernel, machine.prepare
    if len(one) and not isinstance(kernel, Precomputed):
        with np.errstate(all="ignore"):
            f = kernel.block(one, machine.support_vectors) @ machine.coef.T + machine.bias
            lengths = kernel.diag(one)
        if not (np.isfinite(f).all() and np.isfinite(lengths).all()):
            raise ValueError("its decision value for one of its support vectors is not finite")
    if isinstance(prepare, Preprocessor) and prepare.image_shape is not None:
        made = prepare.output_shape((*prepare.image_shape, 1)[:3])
        if math.prod(made) != one.shape[1]:
            raise ValueError(f"its preprocessing gives {made} numbers, but its support vectors have {one.shape[1]}")
        prepare.transform(np.linspace(0, 1, math.prod(prepare.image_shape))[None])


def _lift(description: dict, arrays: dict[str, np.ndarray]) -> dict:
    """A description with its arrays moved to `arrays`, each leaving its name there."""
    lifted = {}
    for key, value in description.items():
        if isinstance(value, dict):
            value = _lift(value, arrays)
        elif isinstance(value, np.ndarray):
            name = f"part.{len(arrays)}"
            arrays[name], value = value, {"array": name}
        lifted[key] = value
    return lifted


def _lower(description: dict, arrays: dict[str, np.ndarray]) -> dict:
    """The inverse of `_lift`; takes the arrays out of `arrays`."""
    lowered = {}
    for key, value in description.items():
        if isinstance(value, dict):
            value = arrays.pop(value["array"]) if value.keys() == {"array"} else _lower(value, arrays)
        lowered[key] = value
    return lowered


def _write_npz(file, arrays: dict[str, np.ndarray]) -> None:
    """As numpy.savez_compressed, at the quickest setting: digits shrink to a fifth in a fifth of the time."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
