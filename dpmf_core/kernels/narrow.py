"""Sums over factors of few numbers, read without gathering. No privacy here.

A call of BLAS takes longer than such a small matrix, and sums in memory wait for one another. These
sums stay in the processor's registers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpmf_core.kernels.compilation import compile_kernel

Array = npt.NDArray[Any]

LANES = 8  # float32 in a vector
WIDEST = 16  # numbers of factors whose squares are summed this way
FUSE_FLAGS = ("contract",)  # a product and a sum may be rounded once
VECTOR, WHOLE, INDEX = ir.VectorType(ir.FloatType(), LANES), ir.IntType(64), ir.IntType(32)
# shuffles that add up two vectors, so that in the end each number holds one vector's sum
HALVES = (
    ([0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]),
    ([0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]),
    ([0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]),
)

_intrinsic: Any = intrinsic


def widened(factors: Array) -> Array:
    """The same rows (n, w), float32, padded with zeros to a multiple of 8."""
    n, r = factors.shape
    table = np.zeros((n, -(-r // LANES) * LANES), np.float32)
    table[:, :r] = factors
    return table


@_intrinsic
def _add_square(typing, table, indices, values, span, row, column, sums, side):  # type: ignore[no-untyped-def]
    """Add a tile of squares of factors to `sums`, and their products with values to `side`.

    sums[row + i, column + j] += sum_e f_e[row + i] f_e[column + j] and side[column + j] += sum_e
    v_e f_e[column + j], i, j < 8, over the entries e of span = (first, last), at least one, with
    f_e = table[indices[e]]. sums: as wide as the table.
    """
    return types.void(table, indices, values, span, row, column, sums, side), _square_code


def _square_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    code = _Code(builder)
    table, indices, values, sums, side = code.arrays(context, signature, args, (0, 1, 2, 6, 7))
    width = builder.extract_value(table.shape, 1)
    first, last = (builder.extract_value(args[3], at) for at in range(2))
    row, column = args[4:6]
    corner = builder.gep(sums.data, [builder.add(builder.mul(row, width), column)])
    lines = [builder.gep(corner, [builder.mul(WHOLE(line), width)]) for line in range(LANES)]
    lines.append(builder.gep(side.data, [column]))
    with code.loop(first, last, 1, [code.vector(line) for line in lines]) as (entry, totals):
        f = code.row(table.data, indices.data, entry, width)
        across = code.vector(builder.gep(f, [column]))
        down = [builder.gep(f, [builder.add(row, WHOLE(line))]) for line in range(LANES)]
        down.append(builder.gep(values.data, [entry]))
        for at, place in enumerate(down):
            totals[at] = code.multiply_add(totals[at], code.everywhere(builder.load(place)), across)
    for line, total in zip(lines, totals, strict=True):
        code.store(total, line)
    return context.get_dummy_value()


@_intrinsic
def _set_dots(typing, table, indices, first, x, out, place):  # type: ignore[no-untyped-def]
    """out[place + e] = table[indices[first + e]] . x, e < 8. x: as long as the table is wide."""
    return types.void(table, indices, first, x, out, place), _dots_code


def _dots_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    code = _Code(builder)
    table, indices, x, out = code.arrays(context, signature, args, (0, 1, 3, 4))
    width, first = builder.extract_value(table.shape, 1), args[2]
    entries = [builder.add(first, WHOLE(each)) for each in range(LANES)]
    rows = [code.row(table.data, indices.data, entry, width) for entry in entries]
    zero = ir.Constant(VECTOR, [0.0] * LANES)
    with code.loop(WHOLE(0), width, LANES, [zero] * LANES) as (at, totals):
        own = code.vector(builder.gep(x.data, [at]))
        for each, row in enumerate(rows):
            totals[each] = code.multiply_add(totals[each], code.vector(builder.gep(row, [at])), own)
    for halves in HALVES:
        left, right = (ir.Constant(ir.VectorType(INDEX, LANES), half) for half in halves)
        totals = [
            builder.fadd(*(builder.shuffle_vector(*pair, half) for half in (left, right)))
            for pair in zip(totals[::2], totals[1::2], strict=True)
        ]
    code.store(totals[0], builder.gep(out.data, [args[5]]))
    return context.get_dummy_value()


class _Loop:
    """The instructions of a loop that runs at least once."""

    def __init__(self, builder: Any, first: Any, last: Any, step: int, before: list[Any]) -> None:
        self._builder, self._first, self._last, self._step = builder, first, last, step
        self._before = before

    def __enter__(self) -> tuple[Any, list[Any]]:
        """The counter, and the sums, which the body replaces."""
        builder = self._builder
        self._entry_block, self._body = builder.block, builder.append_basic_block("body")
        builder.branch(self._body)
        builder.position_at_end(self._body)
        self._at = builder.phi(WHOLE)
        self._phis = [builder.phi(VECTOR) for _ in self._before]
        self.totals = list(self._phis)
        return self._at, self.totals

    def __exit__(self, *_: object) -> None:
        builder, after = self._builder, self._builder.append_basic_block("after")
        following = builder.add(self._at, WHOLE(self._step))
        builder.cbranch(builder.icmp_signed("<", following, self._last), self._body, after)
        for phi, old, new in zip(
            [self._at, *self._phis],
            [self._first, *self._before],
            [following, *self.totals],
            strict=True,
        ):
            phi.add_incoming(old, self._entry_block)
            phi.add_incoming(new, self._body)
        builder.position_at_end(after)


class _Code:
    """Instructions for vectors of float32."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def arrays(self, context: Any, signature: Any, args: Any, places: tuple[int, ...]) -> list[Any]:
        return [
            context.make_array(signature.args[at])(context, self._builder, args[at])
            for at in places
        ]

    def loop(self, first: Any, last: Any, step: int, before: list[Any]) -> _Loop:
        return _Loop(self._builder, first, last, step, before)

    def row(self, table: Any, indices: Any, entry: Any, width: Any) -> Any:
        """The address of an entry's factors."""
        builder = self._builder
        number = builder.sext(builder.load(builder.gep(indices, [entry])), WHOLE)
        return builder.gep(table, [builder.mul(number, width)])

    def vector(self, place: Any) -> Any:
        return self._builder.load(self._builder.bitcast(place, VECTOR.as_pointer()), align=4)

    def store(self, vector: Any, place: Any) -> None:
        self._builder.store(vector, self._builder.bitcast(place, VECTOR.as_pointer()), align=4)

    def multiply_add(self, total: Any, left: Any, right: Any) -> Any:
        """total + left right, rounded once."""
        product = self._builder.fmul(left, right, flags=FUSE_FLAGS)
        return self._builder.fadd(total, product, flags=FUSE_FLAGS)

    def everywhere(self, number: Any) -> Any:
        """A vector of one number."""
        first = ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES)
        empty = ir.Constant(VECTOR, ir.Undefined)
        one = self._builder.insert_element(empty, number, INDEX(0))
        return self._builder.shuffle_vector(one, empty, first)


@compile_kernel
def add_squares(table, indices, values, first, last, sums, sides):  # type: ignore[no-untyped-def]
    """Add sums of products over the entries first..last, at least one.

    sums (w, w) += sum f f' where the row is at most the column, and maybe below; sides[0] (w,) +=
    sum v f; sides[1] is overwritten. table: (n, w) of factors f, `widened`.
    """
    for column in range(0, table.shape[1], LANES):
        for row in range(0, column + LANES, LANES):
            side = sides[1] if row else sides[0]
            _add_square(table, indices, values, (first, last), row, column, sums, side)


@compile_kernel
def set_dots(table, indices, first, count, x, out):  # type: ignore[no-untyped-def]
    """out[e] = table[indices[first + e]] . x for `count` entries.

    Up to seven numbers of `out` behind them are overwritten. table: (n, w), `widened`. x: (w,).
    """
    whole = count - count % LANES
    for place in range(0, whole, LANES):
        _set_dots(table, indices, first + place, x, out, place)
    if whole < count:
        rest = np.empty(LANES, np.int32)
        for each in range(LANES):
            rest[each] = indices[first + min(whole + each, count - 1)]
        _set_dots(table, rest, 0, x, out, whole)
