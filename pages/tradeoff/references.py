"""Where a private method does better than what stands for "without privacy": why, in words."""

import statistics
from collections.abc import Sequence

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import comparison
from dpmf_core.runs.sweep import Point, Summary, summaries
from pages.kit import epsilon_grid
from pages.kit.colours import is_twin
from pages.kit.sweep_frames import Runs, method
from pages.tradeoff import tables


def better_than_reference(points: Sequence[Point], runs: Runs, metric: str) -> list[str]:
    """A sentence for every private method that does better somewhere than the best of what was
    compared without privacy, of those whose runs have all finished. Its own twin without privacy,
    where that is another one, is looked up in the store.
    """
    whole = tables.best_points(tables.complete_points(points, runs), runs, metric)
    results = summaries(whole, runs, metric)
    plain = [it for it in results if it.epsilon is None and is_twin(it.algorithm)]
    if not plain:
        return []
    kind, reference = METRICS[metric], tables.best_summary(plain, metric)
    better: dict[str, list[Summary]] = {}
    for it in results:
        if it.epsilon is not None and _is_better(kind, it.median, reference.median):
            better.setdefault(it.label, []).append(it)
    tops = (tables.best_summary(its, metric) for its in better.values())
    return [_sentence(kind, top, reference, whole) for top in tops]


def _is_better(kind: Metric, value: float, other: float) -> bool:
    """Whether it reads as better, too."""
    return kind.sign * round(value, kind.digits) < kind.sign * round(other, kind.digits)


def _sentence(kind: Metric, top: Summary, reference: Summary, points: Sequence[Point]) -> str:
    name = method(top.label)
    better = (
        f"**{name} does better than {reference.label} without privacy** ({kind.title}"
        f" {kind.text(top.median)} at ε = {budget_text(top.epsilon or 0)} against"
        f" {kind.text(reference.median)}). That is the method, not the privacy: the two differ in"
        " more than noise."
    )
    twin = algorithms.find(algorithms.find(top.algorithm).twin)
    title = twin.title
    if twin.id == reference.algorithm:
        own = f"{name} itself was not run without noise."
    elif (error := _error_of_twin(kind, top, points)) is None:
        own = f"Its own twin, {title}, has not been run on these splits."
    else:
        figure = kind.text(error)
        own = f"Its own twin, {title}, has {figure} without privacy."
    return f"{better} {own}"


def _error_of_twin(kind: Metric, top: Summary, points: Sequence[Point]) -> float | None:
    """The median over the method's draws; None where one of them is not known."""
    own = [it.spec for it in points if (it.label, it.epsilon) == (top.label, top.epsilon)]
    runs = epsilon_grid.run_summaries([comparison.references(it)["twin"] for it in own])
    errors = [run["metrics"].get(kind.id) for run in runs if run is not None]
    values = [float(it) for it in errors if it is not None]
    return statistics.median(values) if values and len(values) == len(own) else None
