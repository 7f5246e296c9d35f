"""The results of a sweep, as tables and as a figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from dpmf_core.evaluation.registry import find
from dpmf_core.runs import notebook_views
from dpmf_core.runs.sweep import Point, rows, summaries
from dpmf_core.runs.trained_model import TrainedModel

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True)
class Swept:
    """The results of a sweep: `runs` by point, errors released with noise, and both as tables."""

    points: Sequence[Point]
    runs: Mapping[str, TrainedModel]
    noisy: Mapping[str, float] = field(default_factory=dict)
    noisy_epsilon: float | None = None

    def __repr__(self) -> str:
        labels = ", ".join(dict.fromkeys(point.label for point in self.points))
        return f"<Swept: {len(self.runs):,} runs of {labels}>"

    def _repr_html_(self) -> str:
        return notebook_views.html_of_sweep(repr(self)[1:-1], self.frame())

    def plot(self, metric: str | None = None) -> "Figure":
        """Draw medians against epsilon as a Plotly figure.

        Parameters
        ----------
        metric
            The metric's id; by default the held-out error.

        Raises
        ------
        BadInput
            If no run has it, for example on private data without released errors, or if plotly is
            not installed.
        """
        grid_names = dict.fromkeys(name for point in self.points for name in point.grid)
        return notebook_views.chart_of_sweep(self.frame(), metric, tuple(grid_names))

    def frame(self) -> pd.DataFrame:
        """One row per run, with its settings, epsilons and figures."""
        return pd.DataFrame(rows(self.points, self.runs, self.noisy, self.noisy_epsilon))

    def summary(self, metric: str = "rmse") -> pd.DataFrame:
        """Median, lowest and highest draw for every method, epsilon and grid point.

        Parameters
        ----------
        metric
            The metric's id.

        Raises
        ------
        BadInput
            If no run has it.
        """
        find(metric)
        entries = summaries(self.points, self.runs, metric)
        return pd.DataFrame(
            [
                {
                    "method": it.label,
                    "epsilon": it.epsilon,
                    **it.grid,
                    "median": it.median,
                    "low": it.low,
                    "high": it.high,
                    "draws": len(it.draws),
                }
                for it in entries
            ]
        )
