"""Base of the kernels that are not functions of u.v, |u|^2 and |v|^2: each fills whole blocks of kernel values itself.

    fill(operand, A, sq, cols, out)      out[i, j] = K(a_i, x_j),  x_j the operand's examples of the slice `cols`

A (m, d) float32; sq (m,) = |a|^2; out (m, n') float32. What such a kernel wants to know of the operand's examples once
and for all it keeps by `operand.derived`.
"""

from svmcore.kernels import Kernel
from svmcore.products import Operand


class BlockwiseKernel(Kernel):
    """A kernel whose blocks come from its `fill`, wherever an Operand asks for them."""

    def block(self, A, B, out=None):
        """Kernel values of every row of A (m, d) against every row of B (n, d): (m, n) float32, into `out` if given."""
        return Operand(B).block(A, self, out)
