"""Sums of products in tiles that stay in the processor's registers, for compiled loops. No privacy
here.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

HEIGHT, VECTORS, BYTES = 4, 2, 32  # of a tile: rows, vectors in a row, bytes in a vector
WIDTH = 16  # columns of a tile of float32; of float64 half as many
FUSE_FLAGS = ("contract",)  # a product and a sum may be rounded once
Side = tuple[Any, Any]  # of a product: an address, and how many numbers its rows lie apart

_intrinsic: Callable[..., Any] = intrinsic


@_intrinsic
def add_tile(typing, rows, count, row, column, sums):  # type: ignore[no-untyped-def]
    """sums[row + i, column + j] += sum_e rows[e, row + i] rows[e, column + j] over one tile and the
    first `count` of `rows`. Both arrays in C order, with as many columns.
    """
    return types.void(rows, count, row, column, sums), _tile_code("fadd")


@_intrinsic
def subtract_tile(typing, rows, count, row, column, sums):  # type: ignore[no-untyped-def]
    """The same sums subtracted."""
    return types.void(rows, count, row, column, sums), _tile_code("fsub")


def _tile_code(joined_by: str) -> Callable[..., Any]:
    """The code of a tile. joined_by: LLVM's instruction for a sum and a product."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, sums = (
            context.make_array(signature.args[at])(context, builder, args[at]) for at in (0, 4)
        )
        number = signature.args[0].dtype
        tile = _Tile(builder, context.get_value_type(number), number.bitwidth // 8, joined_by)
        stride = builder.extract_value(sums.shape, 1)
        corner = builder.gep(sums.data, [builder.add(builder.mul(args[2], stride), args[3])])
        left, right = (builder.gep(rows.data, [args[at]]) for at in (2, 3))
        tile.add_products((left, stride), (right, stride), args[1], corner, stride)
        return context.get_dummy_value()

    return codegen


@_intrinsic
def add_panel(typing, left, right, column, sums):  # type: ignore[no-untyped-def]
    """sums[i, column + j] += sum_e left[e, i] right[e, j] over one tile. left (n, `HEIGHT`), right
    (n, `WIDTH`) and sums float32 in C order.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right, sums = (
            context.make_array(signature.args[at])(context, builder, args[at]) for at in (0, 1, 3)
        )
        tile = _Tile(builder, context.get_value_type(signature.args[0].dtype), 4, "fadd")
        across, down = ((it.data, builder.extract_value(it.shape, 1)) for it in (right, left))
        corner, stride = builder.gep(sums.data, [args[2]]), builder.extract_value(sums.shape, 1)
        tile.add_products(down, across, builder.extract_value(left.shape, 0), corner, stride)
        return context.get_dummy_value()

    return types.void(left, right, column, sums), codegen


class _Tile:
    """The instructions for one tile of numbers of a kind, each of `size` bytes."""

    def __init__(self, builder: Any, number: Any, size: int, joined_by: str) -> None:
        self.builder, self.size, self.lanes = builder, size, BYTES // size
        self.join = getattr(builder, joined_by)
        self.vector, self.whole = ir.VectorType(number, self.lanes), ir.IntType(64)

    def add_products(self, left: Side, right: Side, count: Any, corner: Any, stride: Any) -> None:
        """A loop over rows whose sums stay in registers. left, right: where the tile's own columns
        of the rows begin, and how far rows lie apart. corner, stride: the same of its sums.
        """
        builder, whole = self.builder, self.whole
        places = []
        for line in range(HEIGHT):
            places += self._places(builder.gep(corner, [builder.mul(whole(line), stride)]))
        sums = [builder.load(place, align=self.size) for place in places]
        before, loop = builder.block, builder.append_basic_block("rows")
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed(">", count, whole(0)), loop, after)
        builder.position_at_end(loop)
        entry, totals = builder.phi(whole), [builder.phi(self.vector) for _ in places]
        numbers = [builder.gep(start, [builder.mul(entry, step)]) for start, step in (left, right)]
        new_totals = self._with_row(totals, *numbers)
        following = builder.add(entry, whole(1))
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
        for phi, first, new in zip(
            [entry, *totals], [whole(0), *sums], [following, *new_totals], strict=True
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(new, loop)
        builder.position_at_end(after)
        results = [builder.phi(self.vector) for _ in places]
        for result, first, new in zip(results, sums, new_totals, strict=True):
            result.add_incoming(first, before)
            result.add_incoming(new, loop)
        for result, place in zip(results, places, strict=True):
            builder.store(result, place, align=self.size)

    def _with_row(self, totals: list[Any], left: Any, right: Any) -> list[Any]:
        """The sums after one more row."""
        builder = self.builder
        across = [builder.load(place, align=self.size) for place in self._places(right)]
        new_totals = []
        for line in range(HEIGHT):
            factor = self._everywhere(builder.gep(left, [self.whole(line)]))
            for part, vector in enumerate(across):
                product = builder.fmul(factor, vector, flags=FUSE_FLAGS)
                new_totals.append(
                    self.join(totals[line * VECTORS + part], product, flags=FUSE_FLAGS)
                )
        return new_totals

    def _places(self, start: Any) -> list[Any]:
        """Where the vectors begin of a tile's row that begins there."""
        steps = [self.whole(part * self.lanes) for part in range(VECTORS)]
        places = [self.builder.gep(start, [step]) for step in steps]
        return [self.builder.bitcast(place, self.vector.as_pointer()) for place in places]

    def _everywhere(self, place: Any) -> Any:
        """A vector of one number."""
        first = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        empty = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(empty, self.builder.load(place), ir.IntType(32)(0))
        return self.builder.shuffle_vector(one, empty, first)
