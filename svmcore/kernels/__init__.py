"""Kernels: the base of all, the plain ones, and their compiled code."""

from svmcore.kernels.apart import Side, as_columns, far_features, squared_norms, taken_apart
from svmcore.kernels.base import KERNELS, Kernel, kernel_from_dict, named_kernels, numeral, register
from svmcore.kernels.compiled import POLY, KernelCode, _finish
from svmcore.kernels.plain import RBF, Linear, Poly, Precomputed, Sigmoid
