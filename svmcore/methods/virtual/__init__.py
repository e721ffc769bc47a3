"""Virtual support vectors: the estimator `VirtualSVC` and the stages of its fit."""

from svmcore.methods.virtual.estimator import SCOPES, VirtualSVC
