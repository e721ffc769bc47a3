"""The methods that the lab knows; one more is a file here and a line below."""

from svmcore.lab.registry.method import Method
from svmcore.lab.registry.methods.cross_training import CrossTraining
from svmcore.lab.registry.methods.editing import Editing
from svmcore.lab.registry.methods.jsv import JitteringKernel
from svmcore.lab.registry.methods.nu_sv import NuSupportVectors
from svmcore.lab.registry.methods.query_jitter import QueryJitter
from svmcore.lab.registry.methods.reduced import MADE_BY, Reduced
from svmcore.lab.registry.methods.sv import SupportVectors
from svmcore.lab.registry.methods.tangent import Tangent
from svmcore.lab.registry.methods.vsv import VirtualSupportVectors

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        SupportVectors(),
        VirtualSupportVectors(),
        JitteringKernel(),
        QueryJitter(),
        Tangent(),
        NuSupportVectors(),
        CrossTraining(),
        Editing(),
        Reduced(),
    )
}
MADE_BY.update((name, method) for name, method in METHODS.items() if method.made)
