"""Rounding towards zero to a grid, in one compiled pass. No privacy here."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.compilation import compile_kernel

Array = npt.NDArray[Any]


@compile_kernel
def _round_towards_zero(values, steps_in_one, step, out):  # type: ignore[no-untyped-def]
    for place in range(len(values)):
        out[place] = np.trunc(np.float64(values[place]) * steps_in_one) * step


def round_towards_zero(values: Array, step: float) -> Array:
    """`values` (any shape) rounded towards zero to multiples of `step`, a power of two; float64.

    Products with a power of two are exact.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    out = np.empty(len(flat))
    _round_towards_zero(flat, 1 / step, step, out)
    return out.reshape(np.shape(values))
