"""The declared bounds of ratings."""

import math
from typing import Any

from dpmf_core.base.errors import BadInput

Bounds = tuple[float, float]  # the lowest and the highest rating
INTERACTIONS = (0.0, 1.0)  # bounds of data that only say who used what
# Ratings and their range are squared in float32, so neither may be extreme.
LARGEST_RATING = 1e9
NARROWEST = 1e-6  # the smallest range, as a share of the larger bound


def checked_bounds(bounds: Any, source: str, advice: str) -> Bounds:
    """The declared bounds as numbers.

    Parameters
    ----------
    bounds
        As declared, or None.
    source : str
        The name of the ratings in messages.
    advice : str
        How to declare bounds, for the message about missing ones.

    Raises
    ------
    BadInput
        If the bounds are missing or cannot be used.
    """
    if bounds is None:
        raise BadInput(
            f"The lowest and highest rating of {source} are not declared, and reading them from"
            f" private data would leak information. {advice}"
        )
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadInput(
            f"The rating bounds of {source} must be two finite numbers, lowest first, e.g. (1, 5)."
            f" Got {bounds!r}."
        )
    largest = max(abs(low), abs(high))
    narrowest = NARROWEST * max(largest, 1e-3)  # bounds near 0 need a range too
    if largest > LARGEST_RATING or high - low < narrowest:
        raise BadInput(
            f"Ratings must lie within {LARGEST_RATING:g} of 0, and their bounds must differ by at"
            f" least a millionth of the larger one. Got {low:g} and {high:g}."
        )
    return low, high


def interaction_bounds(bounds: Bounds | None) -> Bounds:
    """The bounds of data without ratings, where each row counts as 1.

    Raises
    ------
    BadInput
        If other bounds are declared.
    """
    if bounds is not None and tuple(bounds) != INTERACTIONS:
        raise BadInput(
            "Without a column of ratings each row counts as 1, with bounds 0 to 1: leave bounds"
            f" out. Got {bounds!r}."
        )
    return INTERACTIONS
