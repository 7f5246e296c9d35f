"""What deviations from Algorithm 2 of Saha & Imtiaz 2022 cost in error.

`python -m benchmarks.deviations_samples` runs the printed algorithm as it is and with one
deviation, on the same faces with the same draws, and records both errors
(`dpmf_core/papers/deviations.json`).
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from benchmarks.deviation_costs import record_costs
from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.nmf import starting_factors, unit_components
from dpmf_core.algorithms.spectrum import nearest_psd
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.samples import Samples
from dpmf_core.kernels import nmf_loops as kernel
from dpmf_core.papers.deviations import Cost
from dpmf_core.papers.saha_2022 import methods as saha
from dpmf_core.papers.saha_2022 import printed
from dpmf_core.privacy import Budget, Calibration, Noise
from dpmf_core.runs.specification import Value

Array = npt.NDArray[Any]
FACES = "cbcl"
ON = "CBCL faces, ε = 0.5 a step, 20 steps"

EPSILON = 0.5
DELTA = 1e-5
STEPS = 20
REPEATS = 20


def clipped(columns: Array) -> Array:
    """Scale columns that are longer than 1 to norm 1."""
    return np.asarray(columns / np.maximum(np.linalg.norm(columns, axis=0), 1))


def unit(columns: Array) -> Array:
    """Scale every column to norm 1; empty ones stay empty."""
    return np.asarray(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300))


def statistics_with(deviations: frozenset[str], outliers: bool) -> Callable[..., Any]:
    """Line 3 of the printed algorithm with deviations, of H and R as they were learned."""
    plain = printed.statistics

    def statistics(
        V: Array,
        H: Array,
        R: Array,
        tau_A: float,
        tau_B: float,
        noise: printed.NormalDraws,
    ) -> tuple[Array, Array]:
        if "columns of H" in deviations:
            H = clipped(H)
        else:
            H = unit(H)
        if outliers and "columns of R" in deviations:
            V, R = clipped(V - R), np.zeros_like(R)
        elif outliers:
            R = unit(R)

        def drawn(name: str, shape: tuple[int, int]) -> Array:
            Z = noise(name, shape)
            is_halved = name == "A" and "symmetric noise" in deviations
            if is_halved:
                return (Z + Z.T) / 2
            return Z

        A, B = plain(V, H, R, tau_A, tau_B, drawn)
        return (nearest_psd(A) if "semi-definite A" in deviations else A), B

    return statistics


def faces() -> tuple[Array, int]:
    """V (D, N) with columns of norm 1, and K."""
    samples = catalogue().load(FACES)
    assert isinstance(samples, Samples)
    return np.asarray(samples.scaled(samples.X, np.float64)).T, saha.parts_of(FACES)


def objective(V: Array, W: Array) -> float:
    """The objective value of equation 15 with the best H."""
    return printed.objective(V, W, kernel.coefficients(V.T @ W, W.T @ W).T)


@functools.cache
def private_faces(deviations: frozenset[str], outliers: bool) -> float:
    V, K = faces()
    H, W = starting_factors(V.T, K, "nndsvd", 0)
    if "columns of the start" in deviations:
        W = unit_components(W).astype(float)
    rng = np.random.default_rng(0)
    with patch.object(printed, "statistics", statistics_with(deviations, outliers)):
        W_private = printed.private_nmf(
            V, W.T, H.T, np.zeros_like(V),
            eta_H=V.shape[1] / K, eta_W=float(saha.THEIRS["basis_rate"]),
            n=STEPS, epsilon=EPSILON, delta=DELTA, lambda_=0.01, M=1.0, outliers=outliers,
            repeats_H=REPEATS, repeats_W=1, normalise=lambda columns: columns,
            noise=lambda name, shape: rng.standard_normal(shape),
        )  # fmt: skip
    return objective(V, W_private)


def _cost(plain: float, ours: float) -> Cost:
    return Cost(
        on=ON,
        printed=round(plain, 5),
        ours=round(ours, 5),
        draws=1,
        measure="objective value",
    )


def of_printed(deviation: str, outliers: bool = False) -> Cost:
    plain = private_faces(frozenset(), outliers)
    ours = private_faces(frozenset((deviation,)), outliers)
    return _cost(plain, ours)


def of_ours(**changed: Value) -> Cost:
    """Compare our algorithm with the source's noise, start and step with one that changes some."""
    samples = catalogue().load(FACES)
    objectives = []
    V, K = faces()
    budget = Budget(epsilon=EPSILON, delta=DELTA, calibration=Calibration.SOURCE)
    for more in ({}, changed):
        parameters = {**saha.as_published(K, STEPS).parameters, **more}
        method: Any = build("dp-nmf", parameters, samples.shape, budget)
        plan = method.plan(samples.shape, method.source_level(samples.shape, budget))
        noise = Noise(plan, np.random.SeedSequence(0))
        model: Any = train(method, samples, noise, Streams(np.random.default_rng(0), 0))
        objectives.append(objective(V, model.basis.T.astype(float)))
    return _cost(*objectives)


MEASURES: Mapping[str, Mapping[str, Callable[[], Cost]]] = {
    "dp-nmf": {
        "columns of H": lambda: of_printed("columns of H"),
        "columns of R": lambda: of_printed("columns of R", outliers=True),
        "symmetric noise": lambda: of_printed("symmetric noise"),
        "semi-definite A": lambda: of_printed("semi-definite A"),
        "columns of the start": lambda: of_printed("columns of the start"),
        "start": lambda: of_ours(start="random"),
        "solved W": lambda: of_ours(basis_rate=0.0),
    },
}

if __name__ == "__main__":
    record_costs(MEASURES)
