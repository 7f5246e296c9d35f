"""Rounding towards zero to a grid, in one compiled pass. No privacy here."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.compilation import compile_kernel

Array = npt.NDArray[Any]


@compile_kernel
def _round_towards_zero(values, bound, steps_in_one, step, out):  # type: ignore[no-untyped-def]
    for place in range(len(values)):
        value = np.float64(values[place])
        within = min(max(value, -bound), bound) if np.isfinite(value) else 0.0
        out[place] = np.trunc(within * steps_in_one) * step


def round_towards_zero(values: Array, bound: float, step: float) -> Array:
    """Round towards zero to multiples of a power of two.

    Parameters
    ----------
    values : (any shape)
        A number beyond the bound is rounded from the bound; one that is not finite becomes 0.
    bound : float
        Largest magnitude of what is returned.
    step : float
        A power of two: products with it are exact.

    Returns
    -------
    float64 (same shape)
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    out = np.empty(len(flat))
    _round_towards_zero(flat, float(bound), 1 / step, step, out)
    return out.reshape(np.shape(values))
