"""The methods that the lab knows; one more is a file here and a line below."""

from svmcore.lab.registry.fields import Field
from svmcore.lab.registry.method import Method
from svmcore.lab.registry.methods.jsv import JitteringKernel
from svmcore.lab.registry.methods.query_jitter import QueryJitter
from svmcore.lab.registry.methods.sv import SupportVectors
from svmcore.lab.registry.methods.tangent import Tangent
from svmcore.lab.registry.methods.vsv import VirtualSupportVectors
from svmcore.lab.registry.solvers import SOLVERS

METHODS: dict[str, Method] = {
    method.name: method
    for method in (SupportVectors(), VirtualSupportVectors(), JitteringKernel(), QueryJitter(), Tangent())
}


def own_fields(method: str, solver: str) -> dict[str, Field]:
    """Name -> Field of the options that this method and this solver have."""
    return {field.name: field for field in (*METHODS[method].fields, *SOLVERS[solver].fields)}


def option_fields() -> dict[str, Field]:
    """Name -> Field of every option of any method or solver, the first of a name."""
    every = [field for known in (*SOLVERS.values(), *METHODS.values()) for field in known.fields]
    return {field.name: field for field in reversed(every)}
