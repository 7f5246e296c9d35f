"""Ranges over worlds, whose errors are given by hand."""

from collections.abc import Callable, Iterator
from typing import Any

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.tuning.choosing.unpaid_range import UnpaidRange, WorldRuns

Error = Callable[[int, str, float | None], float]
AT_FLOOR = 1.0  # what needs no model, in every run


def summaries(runs: WorldRuns, error: Error) -> Iterator[dict[str, Any]]:
    """Of finished runs. error: of (number of the world from 0, algorithm, epsilon)."""
    numbers = {world: number for number, world in enumerate(runs.worlds)}
    for point in runs.points:
        spec = point.spec
        proven = {
            "guarantee": "PROVEN",
            "unit": "user",
            "epsilon": point.epsilon,
            "public": True,
        }
        figure = error(numbers[spec.data], spec.algorithm, point.epsilon)
        yield {
            **proven,
            "metrics": {runs.metric: figure, METRICS[runs.metric].floor: AT_FLOOR},
        }


def range_by_hand(runs: WorldRuns, error: Error) -> UnpaidRange:
    """The range of these runs."""
    result = UnpaidRange.of(runs, Draws.of(runs.points, summaries(runs, error)))
    assert result is not None
    return result
