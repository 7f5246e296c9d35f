"""Metrics of components: pure functions on raw data, never released."""

import numpy as np

from dpmf_core.algorithms.components import Own, coefficients
from dpmf_core.base.arrays import Array, Doubles
from dpmf_core.data.samples import Matrix, Samples, energies, is_sparse


def errors(target: Matrix, H: Array, W: Array) -> Doubles:
    """Half the squared distance of every row of `target` (n, D), dense or sparse, from H W (n,)."""
    H = H.astype(np.float64)
    W = W.astype(np.float64)
    cross_terms = np.einsum("ik,ik->i", H, np.asarray(target @ W.T))
    return np.asarray(
        np.maximum(
            energies(target)
            - 2 * cross_terms
            + np.einsum("ik,ik->i", H @ (W @ W.T), H),
            0,
        )
        / 2
    )


def target(samples: Samples) -> Matrix:
    """What a factorisation should explain: rows of norm 1.

    If outliers were planted, these are the clean rows in the units of the rows that were seen.
    """
    return samples.scaled(samples.X if samples.clean is None else samples.clean)


def errors_of_row(samples: Samples, W: Array) -> Doubles:
    """`errors` with one row W (1, D) of norm 1 as the only component."""
    return errors(target(samples), coefficients(samples.scaled(samples.X), W), W)


def source_scale(samples: Samples) -> Doubles:
    """The squared norm of each row after scaling to maximum 1 (n,).

    It converts our objective to the axis of [S22]'s figures.
    """
    top = np.asarray(
        samples.X.max(axis=1).todense()
        if is_sparse(samples.X)
        else samples.X.max(axis=1),
        np.float64,
    ).ravel()
    return np.where(top > 0, samples.norms / np.where(top > 0, top, 1), 0.0) ** 2


def similarity(one: Array, other: Array) -> Array:
    """Cosines (k, l) between the rows of two bases; 0 for an empty row."""
    lengths = [
        np.maximum(
            np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True), 1e-300
        )
        for rows in (one, other)
    ]
    return np.asarray((one / lengths[0]) @ (other / lengths[1]).T)


def best_matches(one: Array, other: Array) -> tuple[Array, Array]:
    """The partner in `other` of each row of `one` (-1 without), and the cosine.

    There are min(k, l) pairs, by optimal assignment on cosine.
    """
    from scipy.optimize import linear_sum_assignment  # loaded when first needed

    cosines = similarity(one, other)
    rows, columns = linear_sum_assignment(-cosines)
    partner = np.full(len(one), -1)
    value = np.zeros(len(one))
    partner[rows] = columns
    value[rows] = cosines[rows, columns]
    return partner, value


def match(one: Array, other: Array) -> float:
    """The mean cosine of matched rows, over the smaller basis."""
    return float(best_matches(one, other)[1].sum() / min(len(one), len(other)))


def outlier_cells(samples: Samples, own: Own) -> Array | None:
    """The numbers of planted outliers that were detected, of planted and of detected cells (3,).

    A cell is planted if its value was moved by more than a hundredth of the largest. None if none
    were planted or sought.
    """
    if samples.clean is None or own.outliers is None:
        return None
    is_planted = np.abs(samples.X - samples.clean) > 0.01 * samples.clean.max()
    is_found = own.outliers != 0
    return np.array(
        [int(cells.sum()) for cells in (is_planted & is_found, is_planted, is_found)]
    )


def precision(cells: Array) -> float:
    """The share of the detected cells that were planted."""
    return float(cells[0] / max(cells[2], 1))


def recall(cells: Array) -> float:
    """The share of the planted cells that were detected."""
    return float(cells[0] / max(cells[1], 1))


def f1(cells: Array) -> float:
    """The harmonic mean of precision and recall."""
    return (
        2
        * precision(cells)
        * recall(cells)
        / max(precision(cells) + recall(cells), 1e-300)
    )
