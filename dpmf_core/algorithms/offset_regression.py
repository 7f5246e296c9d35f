"""What released item offsets are pulled towards: a line in log counts and, where there are any,
public item features. Post-processing of released values.
"""

from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.base import Array
from dpmf_core.algorithms.local_columns import centred, scaled
from dpmf_core.data.item_features import ItemFeatures

# prior deviations of the coefficients, in quarters of the rating range: of a category, and of a
# number scaled to mean square 1; and how much of an offset's own deviation features leave
CATEGORY, NUMBER, RESIDUAL = 0.2, 0.15, 0.6


@dataclass(frozen=True)
class OffsetPrior:
    """Expected offsets (n_items,) and their deviation from these."""

    mean: Array
    deviation: float


def regress_offsets(
    estimates: Array,
    variance: Array,
    log_counts: Array,
    features: ItemFeatures | None,
    deviation: float,
) -> OffsetPrior:
    """The weighted ridge regression of released offsets (n_items,), of error `variance`
    (n_items,), on their log counts and features. deviation: of offsets about it, without features.
    """
    columns, deviations = [np.ones((len(estimates), 1))], [deviation]
    weights = 1 / (deviation**2 + variance)
    columns.append(centred(log_counts[:, None], weights))
    deviations.append(deviation)
    if features is not None:
        deviation *= RESIDUAL
        weights = 1 / (deviation**2 + variance)
        categories, numbers = features.categories, features.numbers
        columns += [centred(categories, weights), scaled(numbers, weights)]
        deviations += [CATEGORY] * categories.shape[1] + [NUMBER] * numbers.shape[1]
    X = np.hstack(columns)
    weighted_columns = X * weights[:, None]
    ridge = np.diag(1 / np.square(deviations))
    return OffsetPrior(
        X @ np.linalg.solve(weighted_columns.T @ X + ridge, weighted_columns.T @ estimates),
        deviation,
    )
