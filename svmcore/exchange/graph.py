"""A graph of ONNX, written by arithmetic: a Value stands where a formula has an array, and each operation is a node.

    u, v Values:  u @ W + b, np.exp(u), np.minimum(u, 0)      nodes MatMul, Add, Exp, Min; W and b its constants

So a formula that is written for arrays of any kind, as `Kernel.value` is, need not be written a second time.
"""

from collections.abc import Iterable
from itertools import count

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

OPERATORS = {  # name of a function of NumPy -> of the operator
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow", "negative": "Neg",
    "matmul": "MatMul", "minimum": "Min", "maximum": "Max", "absolute": "Abs", "sqrt": "Sqrt", "exp": "Exp",
    "log": "Log", "tanh": "Tanh", "greater": "Greater",
}  # fmt: skip


class Value(NDArrayOperatorsMixin):
    """What a node gives: its name in the graph, and the type of its numbers."""

    def __init__(self, graph: "Graph", name: str, dtype):
        self.graph, self.name, self.dtype = graph, name, np.dtype(dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **more):
        if method != "__call__" or more or ufunc.__name__ not in OPERATORS:
            raise ValueError(f"the function {ufunc.__name__} is not available for ONNX here; allowed: {_known()}")
        like = next(value.dtype for value in inputs if isinstance(value, Value))
        inputs = [value if isinstance(value, Value) else np.asarray(value, like) for value in inputs]
        kind = np.dtype(bool) if ufunc is np.greater else like
        return self.graph.node(OPERATORS[ufunc.__name__], *inputs, dtype=kind)

    def __array_function__(self, function, types, args, kwargs):
        if function is not np.ones_like:
            raise ValueError(f"the function {function.__name__} is not available for ONNX here; allowed: {_known()}")
        shape, one = self.graph.node("Shape", self, dtype=int), self.graph.from_array(np.ones(1, self.dtype))
        return self.graph.node("ConstantOfShape", shape, dtype=self.dtype, value=one)

    def astype(self, dtype) -> "Value":
        return self.graph.node("Cast", self, dtype=dtype, to=self.graph.number(np.dtype(dtype)))

    def take(self, columns) -> "Value":
        """Some columns of rows (n, d)."""
        return self.graph.node("Gather", self, np.asarray(columns, np.int64), axis=1)

    def reshape(self, *shape: int) -> "Value":
        return self.graph.node("Reshape", self, np.array(shape, np.int64))

    def sum(self, axis: int, keepdims: bool = True) -> "Value":
        return self.graph.node("ReduceSum", self, np.array([axis], np.int64), keepdims=int(keepdims))

    def or_one(self) -> "Value":
        """The numbers above 0, and 1 in the place of others: what may be divided by."""
        return self.graph.node("Where", self > 0, self, np.ones((), self.dtype), dtype=self.dtype)


class Graph:
    """Nodes in the order in which they are made, and the arrays that they take."""

    def __init__(self):
        from onnx import helper, numpy_helper

        self.number, self.from_array, self._make = helper.np_dtype_to_tensor_dtype, numpy_helper.from_array, helper
        self.nodes, self.arrays, self._numbers = [], {}, count()

    def node(self, operator: str, *inputs: Value | np.ndarray, dtype=None, **attributes) -> Value:
        """What one more node gives; of the type of its first input, where no other is said."""
        name = f"{operator}_{next(self._numbers)}"
        names = [value.name if isinstance(value, Value) else self.constant(value).name for value in inputs]
        self.nodes.append(self._make.make_node(operator, names, [name], name, **attributes))
        return Value(self, name, inputs[0].dtype if dtype is None else dtype)

    def constant(self, array: np.ndarray) -> Value:
        """An array that the file holds; of texts, where it is one of them."""
        name = f"constant_{next(self._numbers)}"
        self.arrays[name] = self.from_array(array.astype(object) if array.dtype.kind == "U" else array, name)
        return Value(self, name, array.dtype)

    def name(self, value: Value, name: str) -> None:
        """Give a value a name of its own, that of an output."""
        self.nodes.append(self._make.make_node("Identity", [value.name], [name], name))

    def needed(self, outputs: Iterable[str]) -> tuple[list, list]:
        """The nodes and the arrays that these outputs come from."""
        wanted, kept = set(outputs), []
        for node in reversed(self.nodes):
            if wanted & set(node.output):
                kept.append(node)
                wanted |= set(node.input)
        return kept[::-1], [array for name, array in self.arrays.items() if name in wanted]


def _known() -> str:
    return ", ".join(OPERATORS)
