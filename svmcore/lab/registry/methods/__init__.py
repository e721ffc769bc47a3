"""The methods that the lab knows; one more is a file here and a line below."""

from svmcore.lab.registry.method import METHODS, enter
from svmcore.lab.registry.methods.cross_training import CrossTraining
from svmcore.lab.registry.methods.editing import Editing
from svmcore.lab.registry.methods.jsv import JitteringKernel
from svmcore.lab.registry.methods.nu_sv import NuSupportVectors
from svmcore.lab.registry.methods.query_jitter import QueryJitter
from svmcore.lab.registry.methods.reduced import Reduced
from svmcore.lab.registry.methods.searched import SearchedJitters
from svmcore.lab.registry.methods.sv import SupportVectors
from svmcore.lab.registry.methods.tangent import Tangent
from svmcore.lab.registry.methods.vsv import VirtualSupportVectors

__all__ = ["METHODS"]

enter(
    SupportVectors(),
    VirtualSupportVectors(),
    SearchedJitters(),
    JitteringKernel(),
    QueryJitter(),
    Tangent(),
    NuSupportVectors(),
    CrossTraining(),
    Editing(),
    Reduced(),
)
