"""Virtual support vectors: the estimator `VirtualSVC` and the stages of its fit."""

from svmcore.methods.virtual.estimator import SCOPES, VirtualSVC
from svmcore.methods.virtual.stages import VirtualSnapshot

__all__ = ["SCOPES", "VirtualSVC", "VirtualSnapshot"]
