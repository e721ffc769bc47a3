"""The innermost loop of all products with tiles: sums that stay in vector registers.

    sums[c] = base + sum over start <= p < stop of factor[p] * tile[line[p], c]        c = 0 ... TILE - 1

No loop over an array compiles to this, so it is written in LLVM's own instructions. factor (entries,) and tile (lines,
TILE) hold four bytes each: a float32, or four whole numbers, unsigned ones in a factor and signed ones in a tile, whose
products are added up in int32. Processors with VNNI multiply and add 32 or 64 of those in one instruction. Elsewhere
they are added in pairs, for which LLVM finds the best of any processor (vpmaddwd on x86).
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array

from svmcore._jit import instruction

TILE, REAL_TILE = 64, 32  # examples a tile of whole numbers, or of real ones: a row's lines of it stay in L1
STREAMS = 2  # lines at a time, each with sums of its own where there is room, so that additions need not wait
FOURS = 4  # whole numbers a line
VNNI = {"+avx512vnni": 512, "+avxvnni": 256}  # bits that an instruction of such a processor multiplies, best first

_BYTE, _INT, _FLOAT = ir.IntType(8), ir.IntType(32), ir.FloatType()


def _add_lines(line, factor, start, stop, base, tile, sums):
    factors, values = factor[start:stop, None], tile[line[start:stop]][:, :, None]
    if tile.dtype == np.int32:
        factors, values = factors.view(np.uint8), values.view(np.int8)
    sums[:] = base + np.einsum("pw,pcw->c", factors, values, dtype=factor.dtype)


@instruction(_add_lines)
def add_lines(typing_context, line, factor, start, stop, base, tile, sums):
    """sums (TILE,) float32, exact until they are rounded to it where the numbers are whole; base, factor and tile all
    float32 or all int32; stop - start is a multiple of STREAMS."""

    def generate(context, builder, signature, args):
        lines, factors, values, result = (
            make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 1, 5, 6)
        )
        width = TILE if isinstance(tile.dtype, types.Integer) else REAL_TILE
        add, kind = _form(context, width == TILE)
        apart = STREAMS if "+avx512f" in _features(context) else 1  # else there are not enough registers
        streams = [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(apart)]
        with cgutils.for_range_slice(builder, args[2], args[3], args[2].type(STREAMS)) as (first, _):
            for p in range(STREAMS):
                total, p = streams[p % apart], builder.add(first, first.type(p))
                at = builder.sext(builder.load(builder.gep(lines, [p])), first.type)
                at = builder.gep(values, [builder.mul(at, at.type(width))])
                builder.store(add(builder, builder.load(builder.gep(factors, [p])), at, builder.load(total)), total)
        plus = builder.fadd if kind.element == _FLOAT else builder.add
        total = _everywhere(builder, args[4], width)
        for stream in streams:
            total = plus(total, _folded(builder, builder.load(stream), plus))
        total = total if kind.element == _FLOAT else builder.sitofp(total, ir.VectorType(_FLOAT, TILE))
        builder.store(total, builder.bitcast(result, total.type.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(line, factor, start, stop, base, tile, sums), generate


@instruction(lambda array, first, last: None)
def fetch(typing_context, array, first, last):
    """Ask for the cache lines of array's elements first <= i < last, 4 bytes each, before they are needed."""

    def generate(context, builder, signature, args):
        values = make_array(signature.args[0])(context, builder, args[0]).data
        address = _BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [address] + [_INT] * 3)
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        with cgutils.for_range_slice(builder, args[1], args[2], args[1].type(16)) as (i, _):
            at = builder.bitcast(builder.gep(values, [i]), address)
            builder.call(prefetch, [at, _INT(0), _INT(2), _INT(1)])  # to read, into L2, data
        return context.get_dummy_value()

    return types.void(array, first, last), generate


def _form(context, whole: bool):
    """How a line is added to a total, and the total's type: one number a column, or two to be added up at the end."""
    if not whole:
        return _add_product, ir.VectorType(_FLOAT, REAL_TILE)
    for name, bits in VNNI.items():
        if name in _features(context):
            return _add_by_vnni(bits), ir.VectorType(_INT, TILE)
    return _add_pairs, ir.VectorType(_INT, 2 * TILE)


def _features(context) -> list[str]:
    """What the processor has, as LLVM names it: "+avx2", ..."""
    return context.codegen().magic_tuple()[2].split(",")


def _add_product(builder, factor, at, total):
    """total + factor * (the REAL_TILE float32 at `at`), as one instruction a register."""
    product = builder.fmul(
        _everywhere(builder, factor, REAL_TILE), _values(builder, at, total.type), flags=["contract"]
    )
    return builder.fadd(product, total, flags=["contract"])


def _add_by_vnni(bits):
    """total + the products of four unsigned bytes with TILE times four signed ones, `bits` of them at a time."""
    part = ir.VectorType(_INT, bits // 32)

    def add(builder, factors, at, total):
        function = builder.module.declare_intrinsic(
            f"llvm.x86.avx512.vpdpbusd.{bits}", fnty=ir.FunctionType(part, [part] * 3)
        )
        factors, values = _everywhere(builder, factors, part.count), _values(builder, at, total.type)
        sums = []
        for first in range(0, TILE, part.count):
            lanes = range(first, first + part.count)
            sums.append(
                builder.call(function, [_lanes(builder, total, lanes), factors, _lanes(builder, values, lanes)])
            )
        while len(sums) > 1:
            sums = [_joined(builder, *sums[i : i + 2]) for i in range(0, len(sums), 2)]
        return sums[0]

    return add


def _add_pairs(builder, factors, at, total):
    """As `_add_by_vnni`, with the sums of the first two and of the last two products side by side."""
    products = ir.VectorType(_INT, FOURS * TILE)
    values = _values(builder, at, ir.VectorType(_BYTE, FOURS * TILE))
    factors = builder.bitcast(factors, ir.VectorType(_BYTE, FOURS))
    factors = builder.zext(_lanes(builder, factors, list(range(FOURS)) * TILE), products)
    product = builder.mul(factors, builder.sext(values, products))
    even, odd = (_lanes(builder, product, range(half, FOURS * TILE, 2)) for half in (0, 1))
    return builder.add(builder.add(even, odd), total)


def _folded(builder, total, plus):
    if total.type.count <= TILE:
        return total
    return plus(*(_lanes(builder, total, range(half, 2 * TILE, 2)) for half in (0, 1)))


def _values(builder, at, kind):
    values = builder.load(builder.bitcast(at, kind.as_pointer()))
    values.align = 4
    return values


def _everywhere(builder, value, count):
    vector = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    return _lanes(builder, builder.insert_element(vector, value, _INT(0)), [0] * count)


def _joined(builder, first, second):
    return _lanes(builder, first, range(2 * first.type.count), second)


def _lanes(builder, vector, lanes, other=None):
    """Those lanes of a vector, or of it and another behind it."""
    lanes = list(lanes)
    return builder.shuffle_vector(
        vector, vector if other is None else other, ir.Constant(ir.VectorType(_INT, len(lanes)), lanes)
    )
