"""What a private method is compared with: guessing, the best known method, and proven rivals."""

import functools
from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation import registry
from dpmf_core.privacy import Status
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.specification import DataSpec, RunSpec

BEST_BY_SUMS = "als"  # the best known algorithm for ratings in partitions
GLOBAL_MEAN = "global-mean"  # an arbitrary list ranks as well as its first
OWN_MEAN = "user-mean"
OURS = "ours"  # begins the source of a method that no paper printed
# the private method that loses least over data sets and epsilons (benchmarks/results/utility.md)
RECOMMENDED = {"ratings": "spectral", "samples": "oneshot-nmf"}


def best_known(
    metric: str,
    task: str = "ratings",
    *,
    outliers: bool = False,
    in_parts: bool = False,
) -> str:
    """The id of the best known algorithm without privacy.

    Parameters
    ----------
    metric
        A name of `METRICS`.
    task
        "ratings" or "samples".
    outliers
        Whether outliers were planted in the samples.
    in_parts
        Whether the algorithm may only ask for sums over the ratings.

    Returns
    -------
    str
        The id in the registry.
    """
    if task == "samples":
        if outliers:
            return "robust-nmf"
        return "nmf"
    if is_of_lists(metric):
        return "ease"
    if in_parts:
        return BEST_BY_SUMS
    return "bmf"


def best_known_on(data: DataSpec, shape: Any, metric: str) -> str:
    """The best known algorithm without privacy for this shape: ALS if it does not fit in memory."""
    name = best_known(metric, in_parts=is_in_parts(data.id))
    try:
        prepare(RunSpec.parse(data=data, algorithm=name), shape)
    except BadInput:
        return BEST_BY_SUMS
    return name


def is_of_lists(metric: str) -> bool:
    """Whether a metric judges lists of items."""
    return registry.lists in registry.find(metric).sums


def judging_metrics(data: DataSpec) -> tuple[str, ...]:
    """Metrics that judge runs on these data; the first that a run has counts.

    Where a row only says that a user had an item there is no error to predict, only lists.
    """
    if data.positives_above is not None:
        return ("recall_at_20",)
    return ("rmse", "objective")


def floors(metric: str) -> tuple[str, ...]:
    """Ids of the predictors that need no model of others; the better one is 0% of the scale.

    For ratings, these are the global mean and each person's own mean. For lists, it is the global
    mean, which orders items arbitrarily. There are none where every run has the figure of 0%.
    """
    if registry.find(metric).floor in registry.METRICS:
        return ()
    if is_of_lists(metric):
        return (GLOBAL_MEAN,)
    return (GLOBAL_MEAN, OWN_MEAN)


def is_proven(algorithm: str) -> bool:
    """Whether a method has a proven guarantee for a whole user or sample."""
    return _is_proven(algorithms.find(algorithm))


@functools.cache
# an id may get another class in a notebook
def _is_proven(
    kind: type[Algorithm],
) -> bool:
    return kind().guarantee().status is Status.PROVEN


def paper_of(algorithm: str) -> str:
    """How the paper of a method is cited, such as "Chien et al."; '' if no paper printed it."""
    first_author = algorithms.find(algorithm).source.partition(" ")[0].rstrip(",")
    if first_author in ("", OURS):
        return ""
    return f"{first_author} et al."


def proven_methods(task: str, *, every: bool = False) -> list[str]:
    """Ids of the proven private methods, the recommended one first, then quick ones first.

    They need no item features and a trusted curator.

    Parameters
    ----------
    task
        "ratings" or "samples".
    every
        Whether to include methods that are nowhere the best.
    """
    names = [
        name
        for name, kind in algorithms.of_task(task).items()
        if issubclass(kind, PrivateAlgorithm)
        and not (kind.needs_item_features or kind.trusts_nobody)
        and is_proven(name)
        and (every or kind.is_usual_rival)
    ]
    costs = {name: algorithms.find(name).training_cost for name in names}
    return sorted(names, key=lambda name: (name != RECOMMENDED[task], costs[name]))
