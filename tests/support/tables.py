"""Small tables of measured draws, planted by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.specification import RunSpec

Figures = Mapping[tuple[str, float | None], Sequence[float | None]]
WITHOUT_NOISE = " without noise"  # ends the id of a private method that has none


def point(method: str, epsilon: float | None, seed: int, **more: Any) -> Point:
    """A planned draw of a method, labelled by its title. method: an id, perhaps `WITHOUT_NOISE`."""
    algorithm = method.removesuffix(WITHOUT_NOISE)
    if epsilon is None:
        budget = {}
    else:
        budget = {"epsilon": epsilon, "delta": 1e-6}
    if algorithm != method:
        noise = {"noise": "none"}
    else:
        noise = {}
    spec = RunSpec.of(
        dataset="cinema-small",
        algorithm=algorithm,
        seed=seed,
        **budget,
        **noise,
        **more,
    )
    return Point(spec.canonical(), spec.kind.title, epsilon)


def table(figures: Figures, metric: str = "rmse", **summary: Any) -> Draws:
    """A table with a draw for each figure; None has not finished.

    figures: by (method, epsilon). summary: what else the summaries of the runs hold.
    """
    points = list[Point]()
    summaries = list[dict[str, Any] | None]()
    for (method, epsilon), draws in figures.items():
        for seed, figure in enumerate(draws):
            points.append(point(method, epsilon, seed))
            proven = {
                "guarantee": "PROVEN",
                "unit": "user",
                "epsilon": epsilon,
                "public": True,
            }
            finished = {**proven, "metrics": {metric: figure}, **summary}
            summaries.append(None if figure is None else finished)
    return Draws.of(points, summaries)
