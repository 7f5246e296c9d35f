"""One triangle of a sum of outer products, and its factorisation by Cholesky, in tiles. No privacy
here.

Of matrices as small as a user's system BLAS computes the whole square, or its triangle at half the
speed; and LAPACK takes two to three times as long to factorise one.
"""

import numpy as np

from dpmf_core.kernels.compilation import compile_kernel
from dpmf_core.kernels.tiles import HEIGHT, WIDTH, add_tile, subtract_tile

LONGEST = 1024  # bytes of a line of such a matrix: BLAS copies longer ones, which share cache lines
CACHE_BYTES = 2**14  # bytes of rows that stay in the first cache beside their sums


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
    """Replaces the upper triangle of a positive definite matrix (r, r), r a multiple of `WIDTH`,
    by U of U' U, and spoils the rest; False where it is not positive definite in this precision.

    Four rows at a time: less what the rows above in their panel take from them, then the factor of
    their own square, then its inverse times the rest of them. A panel, as high as a tile is wide,
    takes its part from all that lies below.
    """
    r, width, one = len(gram), WIDTH * 4 // gram.itemsize, gram.dtype.type(1)
    for top in range(0, r, HEIGHT):
        panel_start = top - top % width
        for column in range(panel_start, r, width):
            subtract_tile(gram[panel_start:top], top - panel_start, top, column, gram)
        a, b, c, d = gram[top], gram[top + 1], gram[top + 2], gram[top + 3]
        diagonal = a[top]
        if not diagonal > 0:
            return False
        ia = one / np.sqrt(diagonal)
        ab, ac, ad = ia * a[top + 1], ia * a[top + 2], ia * a[top + 3]
        diagonal = b[top + 1] - ab * ab
        if not diagonal > 0:
            return False
        ib = one / np.sqrt(diagonal)
        bc, bd = ib * (b[top + 2] - ab * ac), ib * (b[top + 3] - ab * ad)
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
    """Four rows become the inverse of a lower triangle times them; ia to id: 1 / its diagonal."""
    for q in range(len(a)):
        va = ia * a[q]
        vb = ib * (b[q] - ab * va)
        vc = ic * (c[q] - ac * va - bc * vb)
        a[q], b[q], c[q], d[q] = va, vb, vc, id * (d[q] - ad * va - bd * vb - cd * vc)


@compile_kernel(fastmath={"contract", "reassoc"})
def solve_factorised(U, x):  # type: ignore[no-untyped-def]
    """x becomes the solution of U' U x = x, four of its numbers at a time. U: (r, r), of which the
    upper triangle is read, r a multiple of 4.
    """
    for p in range(0, len(x), HEIGHT):
        a, b, c, d = U[p][p:], U[p + 1][p:], U[p + 2][p:], U[p + 3][p:]
        own_x, rest = x[p : p + HEIGHT], x[p + HEIGHT :]
        xa = own_x[0] / a[0]
        xb = (own_x[1] - xa * a[1]) / b[1]
        xc = (own_x[2] - xa * a[2] - xb * b[2]) / c[2]
        xd = (own_x[3] - xa * a[3] - xb * b[3] - xc * c[3]) / d[3]
        own_x[0], own_x[1], own_x[2], own_x[3] = xa, xb, xc, xd
        for q in range(len(rest)):
            rest[q] -= xa * a[q + 4] + xb * b[q + 4] + xc * c[q + 4] + xd * d[q + 4]
    for p in range(len(x) - HEIGHT, -1, -HEIGHT):
        a, b, c, d = U[p][p:], U[p + 1][p:], U[p + 2][p:], U[p + 3][p:]
        own_x, rest = x[p : p + HEIGHT], x[p + HEIGHT :]
        ta, tb, tc, td = own_x[0], own_x[1], own_x[2], own_x[3]
        for q in range(len(rest)):
            ta -= a[q + 4] * rest[q]
            tb -= b[q + 4] * rest[q]
            tc -= c[q + 4] * rest[q]
            td -= d[q + 4] * rest[q]
        xd = td / d[3]
        xc = (tc - xd * c[3]) / c[2]
        xb = (tb - xd * b[3] - xc * b[2]) / b[1]
        xa = (ta - xd * a[3] - xc * a[2] - xb * a[1]) / a[0]
        own_x[0], own_x[1], own_x[2], own_x[3] = xa, xb, xc, xd
