"""Local columns: released or public values of items that each user's regression fits loadings on.

They cost no budget. A user's own ratings show whether they like popular items or one genre. The
loadings stay with the user.
"""

import math
from dataclasses import replace
from typing import TypeVar

import numpy as np

from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.parameters import parameter
from dpmf_core.base.arrays import Array
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Shape

R = TypeVar("R", bound=Recommender)
RATING_VARIANCE = 0.8  # that the columns leave, in squared quarters of the rating range
# Prior variances of a user's loadings, in squared quarters of the range: on columns scaled to mean
# square 1, and on a category; on offsets they have no unit. Chosen on MovieLens 1M;
# docs/RESULTS.md.
OFFSETS = 0.1
POPULARITY = 0.005
NUMBER = 0.02
CATEGORY = 0.03
LOCAL_COLUMNS: bool = parameter(
    True,
    "local columns",
    "each user's own regression also fits the released item offsets and counts, and public item"
    " features if there are any; costs no budget",
)


def with_local_columns(
    model: R, counts: Array | None, shape: Shape, strength: float = 1.0
) -> R:
    """Add local columns: item offsets, log counts and the public item features of `shape`.

    Models of lists are returned unchanged, because lists have no ratings to fit.

    Parameters
    ----------
    model : Recommender
    counts : (n_items,) or None
        Released counts, above 0.
    shape : Shape
    strength : float
        A factor of the prior variances of loadings.
    """
    if model.unobserved_weight or shape.bounds == (0.0, 1.0):
        return model
    unit = shape.quarter_range
    if counts is None:
        weights = np.ones(shape.n_items)
    else:
        weights = counts
    columns = [math.sqrt(OFFSETS) * centred(model.item_offsets[:, None], weights)]
    if counts is not None:
        columns.append(
            unit * math.sqrt(POPULARITY) * scaled(np.log(counts)[:, None], weights)
        )
    if shape.item_features is not None:
        columns.append(unit * feature_columns(shape.item_features, weights))
    L = np.hstack(columns)
    L = L[:, L.any(axis=0)]
    if not L.shape[1]:
        return model
    # the factors' own regression may have another ridge: give loadings the same variance under it
    if model.item_factors.shape[1]:
        ridge = model.ridge
    else:
        ridge = RATING_VARIANCE * unit**2
    scale = math.sqrt(strength * ridge / (RATING_VARIANCE * unit**2))
    L = (scale * L).astype(np.float32)
    mended = model.user_damping is not None
    return replace(
        model,
        local_columns=L,
        ridge=ridge,
        mended=mended,
    )


def feature_columns(features: ItemFeatures, weights: Array) -> Array:
    """Centred columns (n_items, n_features), each times the prior deviation of its loading."""
    categories = centred(features.categories, weights)
    numbers = scaled(features.numbers, weights)
    return np.hstack([math.sqrt(CATEGORY) * categories, math.sqrt(NUMBER) * numbers])


def centred(columns: Array, weights: Array) -> Array:
    """Columns minus their weighted means."""
    return np.asarray(columns - np.average(columns, axis=0, weights=weights))


def scaled(columns: Array, weights: Array) -> Array:
    """Scale columns to mean 0 and mean square 1; a constant one becomes 0."""
    from_mean = centred(columns, weights)
    deviation = np.sqrt(np.average(from_mean**2, axis=0, weights=weights))
    return from_mean / np.where(deviation > 1e-9, deviation, np.inf)
