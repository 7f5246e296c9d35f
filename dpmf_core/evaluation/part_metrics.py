"""How good parts are. Pure functions, computed on raw data and never released."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.parts import Own, Parts, coefficients
from dpmf_core.data.samples import Matrix, Samples, energies, is_sparse

Array = npt.NDArray[Any]


def errors(target: Matrix, H: Array, W: Array) -> npt.NDArray[np.float64]:
    """Half the squared distance of every row of `target` (n, D), dense or sparse, from H W (n,)."""
    H, W = H.astype(np.float64), W.astype(np.float64)
    cross_terms = np.einsum("ik,ik->i", H, np.asarray(target @ W.T))
    return np.asarray(
        np.maximum(energies(target) - 2 * cross_terms + np.einsum("ik,ik->i", H @ (W @ W.T), H), 0)
        / 2
    )


def target(samples: Samples) -> Matrix:
    """What a factorisation should explain: rows of norm 1; clean ones, in the units of the rows
    that were seen, where outliers were planted.
    """
    return samples.scaled(samples.X if samples.clean is None else samples.clean)


def objective(model: Parts, samples: Samples, own: Own | None = None) -> float:
    """1/2N ||X - H W||^2 on clean rows; X has rows of norm 1 (Saha & Imtiaz 2022, eq. 1,
    without the outliers).
    """
    own = model.personal(samples) if own is None else own
    return float(errors(target(samples), own.coefficients, model.basis).mean())


def trivial_objective(samples: Samples) -> float:
    """The objective of a single part, the mean row: what guessing costs."""
    mean = np.asarray(samples.scaled(samples.X).mean(axis=0), np.float64).reshape(1, -1)
    W = mean / max(float(np.linalg.norm(mean)), 1e-300)
    return float(errors(target(samples), coefficients(samples.scaled(samples.X), W), W).mean())


def source_scale(samples: Samples) -> npt.NDArray[np.float64]:
    """Squared norm of each row once it is scaled to maximum 1 (n,): from our objective to the
    axis of [S22]'s figures.
    """
    top = np.asarray(
        samples.X.max(axis=1).todense() if is_sparse(samples.X) else samples.X.max(axis=1),
        np.float64,
    ).ravel()
    return np.asarray(np.where(top > 0, samples.norms / np.where(top > 0, top, 1), 0.0) ** 2)


def similarity(one: Array, other: Array) -> Array:
    """Cosines (k, l) between the rows of two bases; 0 for an empty row."""
    lengths = [
        np.maximum(np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True), 1e-300)
        for rows in (one, other)
    ]
    return np.asarray((one / lengths[0]) @ (other / lengths[1]).T)


def best_matches(one: Array, other: Array) -> tuple[Array, Array]:
    """For each row of `one` its partner in `other` (min(k, l) pairs by optimal assignment on
    cosine; -1 without), and the cosine.
    """
    from scipy.optimize import linear_sum_assignment  # loaded when first needed

    cosines = similarity(one, other)
    rows, columns = linear_sum_assignment(-cosines)
    partner, value = np.full(len(one), -1), np.zeros(len(one))
    partner[rows], value[rows] = columns, cosines[rows, columns]
    return partner, value


def match(one: Array, other: Array) -> float:
    """Mean cosine of matched rows, over the smaller basis."""
    return float(best_matches(one, other)[1].sum() / min(len(one), len(other)))


def recovery(samples: Samples, own: Own) -> dict[str, float]:
    """How well the planted outliers were found: cells whose value was moved by more than a
    hundredth of the largest.
    """
    if samples.clean is None or own.outliers is None:
        return {}
    is_planted, is_found = (
        np.abs(samples.X - samples.clean) > 0.01 * samples.clean.max(),
        own.outliers != 0,
    )
    hits = float((is_planted & is_found).sum())
    precision, recall = hits / max(int(is_found.sum()), 1), hits / max(int(is_planted.sum()), 1)
    return {
        "outlier_precision": precision,
        "outlier_recall": recall,
        "outlier_f1": 2 * precision * recall / max(precision + recall, 1e-300),
    }
