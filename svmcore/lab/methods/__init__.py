"""The methods that the lab knows; one more is a class here and a line below."""

from svmcore.lab.method import METHODS, enter
from svmcore.lab.methods.editing import CrossTraining, Editing
from svmcore.lab.methods.jsv import JitteringKernel, QueryJitter
from svmcore.lab.methods.reduced import Reduced
from svmcore.lab.methods.searched import SearchedJitters
from svmcore.lab.methods.sv import NuSupportVectors, SupportVectors
from svmcore.lab.methods.tangent import Tangent
from svmcore.lab.methods.vsv import VirtualSupportVectors

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
