"""Exact sums: contributions lie on a grid so coarse that no sum over all units is rounded.

A contribution is a product of f factors. Each factor is rounded towards zero to a multiple of a
power of two, with floor((52 - ceil(log2 n)) / f) bits below the declared bound. n is the public
number of units. Every product and every partial sum over n units is then a whole number of steps
below 2^53, which float64 holds exactly. So order, blocks, threads and machines cannot change one
bit of a sum. The rounding of other units' sums adds nothing to what one unit moves (Casacuberta et
al. 2022, "Widespread underestimation of sensitivity in differentially private libraries and how to
fix it").

No coordinate grows, so a proved bound on the norm stays valid after rounding.
"""

import math

from dpmf_core.base.arrays import Array

ON = True  # whether factors are rounded; without rounding, sums depend on their order
# bits of a float64 below its leading one: whole numbers up to 2^53 are exact
MANTISSA = 52


def fraction_bits(n_units: int, factors: int = 1) -> int:
    """Bits of each of `factors` factors (at most 1) that keep sums of n products exact."""
    return (MANTISSA - math.ceil(math.log2(max(n_units, 2)))) // factors


def grid_step(bound: float, n_units: int, factors: int = 1) -> float:
    """The step of the grid for factors of magnitude at most `bound`: a power of two.

    It is 0 if rounding is off or the bound is infinite; such sums are never released.
    """
    if not ON or math.isinf(bound):
        return 0.0
    return math.ldexp(
        1.0, math.ceil(math.log2(bound)) - fraction_bits(n_units, factors)
    )


def on_grid(values: Array, bound: float, n_units: int, factors: int = 1) -> Array:
    """Round values towards zero to the grid of their bound.

    No magnitude grows or exceeds the bound. Values that are not finite become 0, so every sum is
    finite and exact. If rounding is off, values are returned unchanged.

    Parameters
    ----------
    values : (any shape)
    bound : float
        Declared largest magnitude.
    n_units : int
        Public number of units that are added up.
    factors : int
        How many such values a contribution multiplies.

    Returns
    -------
    float64 (same shape)
    """
    # loaded when first needed
    from dpmf_core.kernels.rating_loops import round_towards_zero

    step = grid_step(bound, n_units, factors)
    if step:
        return round_towards_zero(values, bound, step)
    return values
