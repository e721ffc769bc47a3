"""Invariant SVM Lab's library: support vector machines and what prior knowledge of invariances does to them.

The public names are importable from here. README.md, "Layout", names the levels behind them: a file imports lower
levels only.
"""

import os
import signal
import sys

if (
    sys.argv[:1] == ["-m"]
    and __name__ in sys.orig_argv
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    # A command that still imports: nothing is to be tidied up, and Ctrl-C is no error to be traced
    signal.signal(signal.SIGINT, lambda *_: (os.write(2, b"\nstopped\n"), os._exit(130)))

from svmcore import _jit  # first: it settles Numba's cache folder
from svmcore.exchange import to_onnx
from svmcore.explain.retraining import Retraining
from svmcore.jitter import JitterSet, PointJitters
from svmcore.kernels import RBF, Kernel, Linear, Poly, Sigmoid, kernel_from_dict
from svmcore.memory import BudgetError
from svmcore.methods.definite import PositivePart
from svmcore.methods.editing import CrossTrainingSVC, EditingSVC, bagged, edit
from svmcore.methods.jittering import Jittered, query_jittered
from svmcore.methods.local import LocalPoly
from svmcore.methods.reduced import Answers, ReducedSet
from svmcore.methods.tangent import TangentFeature, TangentWhitened
from svmcore.methods.virtual import VirtualSVC
from svmcore.metrics import froc
from svmcore.model import Machine
from svmcore.nu import NuSVC
from svmcore.preprocess import Preprocessor
from svmcore.rows import FileRows
from svmcore.saved import load, save
from svmcore.solvers.decomposition import Decomposition
from svmcore.solvers.digestion import Digestion
from svmcore.solvers.general import General
from svmcore.solvers.progress import Progress, Snapshot
from svmcore.svc import SVC

__all__ = [
    "RBF", "SVC", "Answers", "BudgetError", "CrossTrainingSVC", "Decomposition", "Digestion", "EditingSVC", "FileRows",
    "General", "JitterSet", "Jittered", "Kernel", "Linear", "LocalPoly", "Machine", "NuSVC", "PointJitters", "Poly",
    "PositivePart", "Preprocessor", "Progress", "ReducedSet", "Retraining", "Sigmoid", "Snapshot", "TangentFeature",
    "TangentWhitened", "VirtualSVC", "bagged", "edit", "froc", "kernel_from_dict", "load", "query_jittered", "save",
    "to_onnx",
]  # fmt: skip
