"""Machines in forms that other programs run: ONNX."""

from svmcore.exchange.file import lacking, obstacle, to_onnx
