"""The registry: every algorithm by its id."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from dpmf_core import curator, privacy
from dpmf_core.algorithms.base import (
    Algorithm,
    Personal,
    PrivateAlgorithm,
    Recommender,
    Streams,
)
from dpmf_core.algorithms.registry import Registry
from dpmf_core.base.errors import BadInput, checked
from dpmf_core.data.samples import require_not_negative
from dpmf_core.privacy.events import on_grids

# how many numbers a run may release with exact noise, which takes 0.2 to 0.5 microseconds each
MOST_DISCRETE = 10_000_000
# An algorithm is loaded when first used: loading takes time, and most runs use one.
REGISTRY = Registry(
    {
        "global-mean": "baselines:GlobalMean",
        "user-mean": "baselines:UserMean",
        "content": "baselines:OwnContent",
        "bias": "baselines:Bias",
        "private-bias": "baselines:PrivateBias",
        "local-bias": "baselines:LocalBias",
        "popularity": "baselines:Popularity",
        "slope-one": "ease:SlopeOne",
        "als": "als:ALS",
        "ease": "ease:EASE",
        "bmf": "bayesian:BMF",
        "dpals": "dpals:DPALS",
        "ada-dpals": "dpals:AdaDPALS",
        "spectral": "spectral:Spectral",
        "fw": "frank_wolfe:FW",
        "dpfw": "private_frank_wolfe:DPFW",
        "dpfw-oja": "private_frank_wolfe:DPFWOja",
        "private-svd": "svd:PrivateSVD",
        "svd-cleansing": "svd:SVDCleansing",
        "pgd": "projected_gradient:PGD",
        "private-pgd": "projected_gradient:PrivatePGD",
        "dp-sgd": "gradient:DPSGD",
        "sgd-mf": "sgd:SGDMF",
        "sgld": "sgld:SGLD",
        "input-perturbation": "input_perturbation:InputPerturbation",
        "dpnmf-laplace": "input_perturbation:DPNMFLaplace",
        "sketch": "count_sketch:Sketch",
        "no-retention": "no_retention:NoRetention",
        "nmf": "nmf:NMF",
        "robust-nmf": "nmf:RobustNMF",
        "dp-nmf": "private_nmf:DPNMF",
        "oneshot-nmf": "oneshot_nmf:OneShotNMF",
    }
)
find = REGISTRY.find


def of_task(task: str) -> dict[str, type[Algorithm]]:
    """The algorithms by id that factorise `ratings` or `samples`."""
    return {name: kind for name, kind in REGISTRY.items() if kind.task == task}


@functools.cache
def without_noise(kind: type[Algorithm]) -> type[Algorithm]:
    """The algorithm on exact sums.

    It clips, rounds, samples and selects like the private one, but releases nothing through the
    ledger and has no guarantee. Its loss compared with the best known method is the cost of the
    method; the loss of the private run compared with it is the cost of the noise.
    """

    class WithoutNoise(kind):  # type: ignore[valid-type, misc]
        title: ClassVar[str] = f"{kind.title} without noise"
        # either only rises
        version: ClassVar[int] = kind.version + kind.version_without_noise
        adds_noise: ClassVar[bool] = False

        def plan(self, shape: Any, level: float) -> privacy.Event:
            return privacy.NOTHING

        def guarantee(self) -> privacy.Guarantee:
            return privacy.WITHOUT_NOISE

        def guarantee_of_run(self, shape: Any, level: float) -> privacy.Guarantee:
            return privacy.WITHOUT_NOISE

        def asks_sums_alone(self) -> bool:
            return asks_sums_alone(kind(**self.model_dump()))

    return WithoutNoise


def build(
    algorithm_id: str,
    parameters: dict[str, Any],
    shape: Any,
    budget: privacy.Budget | None,
    *,
    noise: bool = True,
) -> Algorithm:
    """Make an algorithm from the given parameters and the recommended ones for the rest.

    Parameters
    ----------
    algorithm_id : str
    parameters : dict
        Those that are given.
    shape
        The public shape of the data.
    budget : Budget or None
    noise : bool
        False for the algorithm `without_noise`.

    Raises
    ------
    BadInput
        On a bad parameter.
    """
    kind = find(algorithm_id)
    if noise:
        recommended = kind.recommend(shape, budget, parameters)
    else:
        recommended = kind.recommend_without_noise(shape, parameters)
    algorithm = build_with_defaults(algorithm_id, recommended | parameters, noise=noise)
    algorithm.check(shape)
    return algorithm


def build_with_defaults(
    algorithm_id: str, parameters: dict[str, Any], *, noise: bool = True
) -> Algorithm:
    """Make an algorithm from the given parameters and its defaults, independent of the data.

    Parameters
    ----------
    algorithm_id : str
    parameters : dict
    noise : bool
        False for the algorithm `without_noise`.

    Raises
    ------
    BadInput
        On a bad parameter.
    """
    if noise:
        kind = find(algorithm_id)
    else:
        kind = without_noise(find(algorithm_id))
    return checked(kind, kind.title, parameters)


def refuse_budget(algorithm_ids: Iterable[str], **options: Any) -> None:
    """Raise BadInput if options of a budget are given but none of the algorithms has privacy.

    Parameters
    ----------
    algorithm_ids : iterable of str
    **options
        By name. None and the defaults of `Budget` count as not given.
    """
    kinds = [find(algorithm_id) for algorithm_id in algorithm_ids]
    defaults = privacy.Budget.model_fields
    given_options = [
        name
        for name, value in options.items()
        if value is not None
        and (name not in defaults or value != defaults[name].default)
    ]
    if given_options and not any(issubclass(kind, PrivateAlgorithm) for kind in kinds):
        titles = ", ".join(kind.title for kind in kinds)
        raise BadInput(
            f"{titles}: not private, so {given_options[0]} has no effect on it. Leave"
            f" {given_options[0]} out (None in Python), or choose a private method (see"
            " `algorithms`)."
        )


def plan_by_level(
    algorithm: Algorithm,
    shape: Any,
    noise: privacy.NoiseKind = privacy.NoiseKind.CONTINUOUS,
) -> Callable[[float], privacy.Event]:
    """The plan of an algorithm with this kind of noise, as a function of its level.

    Raises
    ------
    BadInput
        If the noise cannot be drawn.
    """
    if noise is privacy.NoiseKind.CONTINUOUS:
        return lambda level: algorithm.plan(shape, level)
    releases = privacy.normal_form(algorithm.plan(shape, 1.0))
    if others := [leaf for leaf, _ in releases if type(leaf) is not privacy.Gaussian]:
        raise BadInput(
            f"Discrete noise replaces Gaussian noise, but {algorithm.title} releases a"
            f" {others[0].mechanism}. Use continuous noise."
        )
    size = sum(
        count * leaf.groups * algorithm.coordinates(leaf.statistic, shape)
        for leaf, count in releases
    )
    if size > MOST_DISCRETE:
        raise BadInput(
            f"Discrete noise is drawn exactly, for at most {MOST_DISCRETE:,} numbers per run."
            f" {algorithm.title} would release up to {size:,} here. Keep fewer items (--top-items)"
            " or words (--most-words), use a smaller rank, fewer steps or continuous noise."
        )
    return lambda level: on_grids(algorithm.plan(shape, level))


def curator_for(
    algorithm: Algorithm, data: Any, noise: privacy.Noise
) -> curator.Curator:
    """A curator for one fit.

    Parameters
    ----------
    algorithm : Algorithm
    data : Ratings, Samples or mapping
        A mapping holds tables by name.
    noise : Noise
    """
    if isinstance(data, Mapping):
        tables = data
    else:
        tables = {"train": data}
    return curator_of(algorithm, curator.in_memory(data), noise, tables)


def curator_of(
    algorithm: Algorithm,
    people: curator.People,
    noise: privacy.Noise,
    tables: Mapping[str, Any],
) -> curator.Curator:
    """A curator of these people for one fit.

    It gives access to the rows in `tables` only if the algorithm claims no proof for its
    parameters.
    """
    promise = algorithm.guarantee()
    if promise.has_epsilon:
        return curator.NoisyCurator(people, noise, promise.assumptions)
    return (curator.OpenCurator if algorithm.adds_noise else curator.ExactCurator)(
        people, noise, tables
    )


def asks_sums_alone(algorithm: Algorithm) -> bool:
    """Whether the algorithm accepts ratings in parts, because it needs only sums over them."""
    promise = algorithm.guarantee()
    if not promise.has_epsilon:
        return algorithm.asks_sums_alone()
    return curator.CELLS_ARE_PUBLIC not in promise.assumptions


def require_sums_alone(
    algorithm: Algorithm, name: str, bounds: tuple[float, float]
) -> None:
    """Raise BadInput if an algorithm needs all ratings in memory.

    Parameters
    ----------
    algorithm : Algorithm
    name : str
        The name of the ratings in parts.
    bounds : tuple of float
        Their bounds.
    """
    if asks_sums_alone(algorithm):
        if algorithm.task == "samples":
            require_not_negative(bounds)
        return
    raise BadInput(
        f"{algorithm.title} with these parameters needs all ratings in memory, but {name} is"
        " partitioned. Use an algorithm that needs only sums, such as private-bias, spectral,"
        " ada-dpals, dp-sgd, als (with the exact solver and all ratings of a user) or bias; if the"
        " ratings fit in memory, use their file directly."
    )


def train(algorithm: Algorithm, data: Any, noise: privacy.Noise, rng: Streams) -> Any:
    """The fitted model (`Recommender` or `Components`)."""
    *_, model = algorithm.fit(curator_for(algorithm, data, noise), rng)
    return model


__all__ = [
    "REGISTRY", "Algorithm", "Personal", "PrivateAlgorithm", "Recommender", "Streams",
    "asks_sums_alone", "build", "build_with_defaults", "curator_for", "curator_of", "find",
    "of_task", "plan_by_level", "refuse_budget", "require_sums_alone", "train", "without_noise",
]  # fmt: skip
