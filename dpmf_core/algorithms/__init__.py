"""The registry: every algorithm by its id."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from dpmf_core.algorithms import als, baselines, frank_wolfe, gradient, nmf, perturbation, retention, sgd, sketch, slope, spectral, svd
from dpmf_core.algorithms.base import Algorithm, Fit, Personal, Recommender, Streams, Watch, unwatched
from dpmf_core.errors import BadInput, closest, explain
from dpmf_core.privacy import Budget, Event, Gaussian, NoiseKind, normal_form
from dpmf_core.privacy.events import on_grids

MOST_DISCRETE = 10_000_000  # numbers that a run may release with exact noise: 0.2 to 0.5 microseconds each

REGISTRY: dict[str, type[Algorithm]] = {
    algorithm.id: algorithm
    for algorithm in (
        baselines.GlobalMean, baselines.UserMean, baselines.Bias, baselines.PrivateBias, baselines.Popularity, slope.SlopeOne,
        als.ALS, als.DPALS, als.AdaDPALS, spectral.Spectral,
        frank_wolfe.FW, frank_wolfe.DPFW, frank_wolfe.DPFWOja,
        svd.PrivateSVD, svd.SVDCleansing, gradient.PGD, gradient.PrivatePGD, gradient.DPSGD,
        sgd.SGDMF, sgd.SGLD, perturbation.InputPerturbation, perturbation.DPNMFLaplace,
        sketch.Sketch, retention.NoRetention,
        nmf.NMF, nmf.RobustNMF, nmf.DPNMF, nmf.OneShotNMF,
    )
}  # fmt: skip


def find(algorithm_id: str) -> type[Algorithm]:
    """The algorithm of this id. Raises BadInput naming the known ones."""
    if algorithm_id not in REGISTRY:
        raise BadInput(f"There is no algorithm {algorithm_id!r}.{closest(algorithm_id, REGISTRY)} Known: {', '.join(REGISTRY)}.")
    return REGISTRY[algorithm_id]


def of_task(task: str) -> dict[str, type[Algorithm]]:
    """What factorises `ratings` or `samples`, by id."""
    return {name: kind for name, kind in REGISTRY.items() if kind.task == task}


def build(algorithm_id: str, parameters: dict[str, Any], shape: Any, budget: Budget | None) -> Algorithm:
    """An algorithm with the given parameters, the recommended ones where none is given. Raises BadInput on a bad one."""
    algorithm = declared(algorithm_id, {**find(algorithm_id).recommend(shape, budget, parameters), **parameters})
    algorithm.check(shape)
    return algorithm


def declared(algorithm_id: str, parameters: dict[str, Any]) -> Algorithm:
    """An algorithm with the given parameters and its defaults for the others, whatever the data. Raises BadInput on a bad one."""
    kind = find(algorithm_id)
    try:
        return kind(**parameters)
    except ValidationError as error:
        raise explain(error, kind.title, kind.model_json_schema().get("properties", {})) from None


def planned(algorithm: Algorithm, shape: Any, noise: NoiseKind = NoiseKind.CONTINUOUS) -> Callable[[float], Event]:
    """The plan of an algorithm with this noise, over its level. Raises BadInput where it cannot be drawn."""
    if noise is NoiseKind.CONTINUOUS:
        return lambda level: algorithm.plan(shape, level)
    releases = normal_form(algorithm.plan(shape, 1.0))
    if others := [leaf for leaf, _ in releases if type(leaf) is not Gaussian]:
        raise BadInput(f"Discrete noise takes the place of Gaussian noise; {algorithm.title} releases a {others[0].mechanism}. Take continuous noise.")
    size = sum(count * algorithm.coordinates(leaf.statistic, shape) for leaf, count in releases)
    if size > MOST_DISCRETE:
        raise BadInput(
            f"Discrete noise is drawn exactly, for at most {MOST_DISCRETE:,} numbers in a run. {algorithm.title} would release up to {size:,} here. "
            "Keep fewer items (--top-items) or words (--most-words), take a smaller rank or fewer steps, or continuous noise."
        )
    return lambda level: on_grids(algorithm.plan(shape, level))


__all__ = ["REGISTRY", "Algorithm", "Fit", "Personal", "Recommender", "Streams", "Watch", "build", "declared", "find", "of_task", "planned", "unwatched"]
