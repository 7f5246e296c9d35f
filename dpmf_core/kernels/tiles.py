"""Sums of products in tiles that stay in the processor's registers, and Cholesky. No privacy here.

They are one triangle of a sum of outer products, and its factorisation. For matrices as small as a
user's system BLAS computes the whole square, or its triangle at half the speed, and LAPACK takes
two to three times as long for the factorisation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpmf_core.base.compilation import compile_kernel

_intrinsic: Any = intrinsic
# size of a tile: rows, vectors in a row, bytes in a vector
HEIGHT = 4
VECTORS = 2
BYTES = 32
WIDTH = 16  # columns of a tile of float32; half as many for float64
FUSE_FLAGS = ("contract",)  # a product and a sum may be rounded once
# one side of a product: an address, and the distance of its rows
Side = tuple[Any, Any]


@_intrinsic
def add_tile(typing, rows, count, row, column, sums):  # type: ignore[no-untyped-def]
    """sums[row + i, column + j] += sum_e rows[e, row + i] rows[e, column + j] over one tile.

    It uses the first `count` of `rows`. Both arrays in C order, with equally many columns.
    """
    return types.void(rows, count, row, column, sums), _tile_code("fadd")


@_intrinsic
def subtract_tile(typing, rows, count, row, column, sums):  # type: ignore[no-untyped-def]
    """Subtract the sums of `add_tile`."""
    return types.void(rows, count, row, column, sums), _tile_code("fsub")


def _tile_code(joined_by: str) -> Callable[..., Any]:
    """The code of a tile; LLVM's instruction `joined_by` joins a sum and a product."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, sums = (
            context.make_array(signature.args[at])(context, builder, args[at])
            for at in (0, 4)
        )
        number = signature.args[0].dtype
        tile = _Tile(
            builder, context.get_value_type(number), number.bitwidth // 8, joined_by
        )
        stride = builder.extract_value(sums.shape, 1)
        corner = builder.gep(
            sums.data, [builder.add(builder.mul(args[2], stride), args[3])]
        )
        left, right = (builder.gep(rows.data, [args[at]]) for at in (2, 3))
        tile.add_products((left, stride), (right, stride), args[1], corner, stride)
        return context.get_dummy_value()

    return codegen


@_intrinsic
def add_panel(typing, left, right, column, sums):  # type: ignore[no-untyped-def]
    """sums[i, column + j] += sum_e left[e, i] right[e, j] over one tile.

    left (n, `HEIGHT`), right (n, `WIDTH`) and sums float32 in C order.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right, sums = (
            context.make_array(signature.args[at])(context, builder, args[at])
            for at in (0, 1, 3)
        )
        tile = _Tile(
            builder, context.get_value_type(signature.args[0].dtype), 4, "fadd"
        )
        across, down = (
            (matrix.data, builder.extract_value(matrix.shape, 1))
            for matrix in (right, left)
        )
        corner = builder.gep(sums.data, [args[2]])
        stride = builder.extract_value(sums.shape, 1)
        tile.add_products(
            down, across, builder.extract_value(left.shape, 0), corner, stride
        )
        return context.get_dummy_value()

    return types.void(left, right, column, sums), codegen


class _Tile:
    """The instructions for one tile of numbers of `size` bytes."""

    def __init__(self, builder: Any, number: Any, size: int, joined_by: str) -> None:
        self.builder = builder
        self.size = size
        self.lanes = BYTES // size
        self.join = getattr(builder, joined_by)
        self.vector = ir.VectorType(number, self.lanes)
        self.whole = ir.IntType(64)

    def add_products(
        self, left: Side, right: Side, count: Any, corner: Any, stride: Any
    ) -> None:
        """A loop over rows that keeps its sums in registers.

        `left` and `right` are each the address of the tile's columns in the rows, and the distance
        of rows. `corner` and `stride` are the same for its sums.
        """
        builder = self.builder
        whole = self.whole
        places = []
        for line in range(HEIGHT):
            places += self._places(
                builder.gep(corner, [builder.mul(whole(line), stride)])
            )
        sums = [builder.load(place, align=self.size) for place in places]
        before = builder.block
        loop = builder.append_basic_block("rows")
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed(">", count, whole(0)), loop, after)
        builder.position_at_end(loop)
        entry = builder.phi(whole)
        totals = [builder.phi(self.vector) for _ in places]
        numbers = [
            builder.gep(start, [builder.mul(entry, step)])
            for start, step in (left, right)
        ]
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
        """The addresses of the vectors in a tile's row."""
        steps = [self.whole(part * self.lanes) for part in range(VECTORS)]
        places = [self.builder.gep(start, [step]) for step in steps]
        return [
            self.builder.bitcast(place, self.vector.as_pointer()) for place in places
        ]

    def _everywhere(self, place: Any) -> Any:
        """A vector of one number."""
        first = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        empty = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(
            empty, self.builder.load(place), ir.IntType(32)(0)
        )
        return self.builder.shuffle_vector(one, empty, first)


LONGEST = 1024  # bytes of a row: BLAS copies longer ones, which would share cache lines
CACHE_BYTES = 2**14  # bytes of rows that fit the first cache next to their sums


@compile_kernel
def fits_tiles(r, itemsize):  # type: ignore[no-untyped-def]
    """Whether matrices (r, r) of such numbers are computed in tiles."""
    return r % WIDTH == 0 and r * itemsize <= LONGEST


@compile_kernel
def add_triangle(rows, count, sums):  # type: ignore[no-untyped-def]
    """sums += rows[:count]' rows[:count] where the row is at most the column, and maybe below.

    rows (n, r) and sums (r, r) in C order, r a multiple of `WIDTH`.
    """
    width = WIDTH * 4 // rows.itemsize
    for column in range(0, len(sums), width):
        for row in range(0, column + width, HEIGHT):
            add_tile(rows, count, row, column, sums)


@compile_kernel(fastmath={"contract"})
def factorise(gram):  # type: ignore[no-untyped-def]
    """Replace the upper triangle of a positive definite matrix (r, r) by U of U' U.

    r is a multiple of `WIDTH`. The rest is overwritten.

    Four rows at a time: subtract the part of the rows above in their panel, factorise their own
    square, and multiply the rest by its inverse. A panel, as high as a tile is wide, is then
    subtracted from all rows below.

    Returns
    -------
    bool
        False if the matrix is not positive definite in this precision.
    """
    r = len(gram)
    width = WIDTH * 4 // gram.itemsize
    one = gram.dtype.type(1)
    for top in range(0, r, HEIGHT):
        panel_start = top - top % width
        for column in range(panel_start, r, width):
            subtract_tile(gram[panel_start:top], top - panel_start, top, column, gram)
        a = gram[top]
        b = gram[top + 1]
        c = gram[top + 2]
        d = gram[top + 3]
        diagonal = a[top]
        if not diagonal > 0:
            return False
        ia = one / np.sqrt(diagonal)
        ab = ia * a[top + 1]
        ac = ia * a[top + 2]
        ad = ia * a[top + 3]
        diagonal = b[top + 1] - ab * ab
        if not diagonal > 0:
            return False
        ib = one / np.sqrt(diagonal)
        bc = ib * (b[top + 2] - ab * ac)
        bd = ib * (b[top + 3] - ab * ad)
        diagonal = c[top + 2] - ac * ac - bc * bc
        if not diagonal > 0:
            return False
        ic = one / np.sqrt(diagonal)
        cd = ic * (c[top + 3] - ac * ad - bc * bd)
        diagonal = d[top + 3] - ad * ad - bd * bd - cd * cd
        if not diagonal > 0:
            return False
        own = a[panel_start:], b[panel_start:], c[panel_start:], d[panel_start:]
        _divide(*own, ia, ab, ac, ad, ib, bc, bd, ic, cd, one / np.sqrt(diagonal))
        if top + HEIGHT == panel_start + width:
            for column in range(panel_start + width, r, width):
                for row in range(panel_start + width, column + width, HEIGHT):
                    subtract_tile(gram[panel_start:], width, row, column, gram)
    return True


@compile_kernel(fastmath={"contract"})
def _divide(a, b, c, d, ia, ab, ac, ad, ib, bc, bd, ic, cd, id):  # type: ignore[no-untyped-def]  # noqa: A002
    """Multiply four rows by the inverse of a lower triangle; ia to id: 1 / its diagonal."""
    for q in range(len(a)):
        va = ia * a[q]
        vb = ib * (b[q] - ab * va)
        vc = ic * (c[q] - ac * va - bc * vb)
        a[q] = va
        b[q] = vb
        c[q] = vc
        d[q] = id * (d[q] - ad * va - bd * vb - cd * vc)


@compile_kernel
def solve_factorised(U, x):  # type: ignore[no-untyped-def]
    """Solve U' U x = x in place, for an upper triangle U (r, r) with r a multiple of 4."""
    solve_lower(U, x)
    solve_upper(U, x)


@compile_kernel(fastmath={"contract", "reassoc"})
def solve_lower(U, x):  # type: ignore[no-untyped-def]
    """Solve U' x = x in place, four numbers at a time."""
    for p in range(0, len(x), HEIGHT):
        a = U[p][p:]
        b = U[p + 1][p:]
        c = U[p + 2][p:]
        d = U[p + 3][p:]
        own_x = x[p : p + HEIGHT]
        rest = x[p + HEIGHT :]
        xa = own_x[0] / a[0]
        xb = (own_x[1] - xa * a[1]) / b[1]
        xc = (own_x[2] - xa * a[2] - xb * b[2]) / c[2]
        xd = (own_x[3] - xa * a[3] - xb * b[3] - xc * c[3]) / d[3]
        own_x[0] = xa
        own_x[1] = xb
        own_x[2] = xc
        own_x[3] = xd
        for q in range(len(rest)):
            rest[q] -= xa * a[q + 4] + xb * b[q + 4] + xc * c[q + 4] + xd * d[q + 4]


@compile_kernel(fastmath={"contract", "reassoc"})
def solve_upper(U, x):  # type: ignore[no-untyped-def]
    """Solve U x = x in place, four numbers at a time."""
    for p in range(len(x) - HEIGHT, -1, -HEIGHT):
        a = U[p][p:]
        b = U[p + 1][p:]
        c = U[p + 2][p:]
        d = U[p + 3][p:]
        own_x = x[p : p + HEIGHT]
        rest = x[p + HEIGHT :]
        ta = own_x[0]
        tb = own_x[1]
        tc = own_x[2]
        td = own_x[3]
        for q in range(len(rest)):
            ta -= a[q + 4] * rest[q]
            tb -= b[q + 4] * rest[q]
            tc -= c[q + 4] * rest[q]
            td -= d[q + 4] * rest[q]
        xd = td / d[3]
        xc = (tc - xd * c[3]) / c[2]
        xb = (tb - xd * b[3] - xc * b[2]) / b[1]
        xa = (ta - xd * a[3] - xc * a[2] - xb * a[1]) / a[0]
        own_x[0] = xa
        own_x[1] = xb
        own_x[2] = xc
        own_x[3] = xd
