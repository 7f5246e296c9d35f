"""An open search from its question to its answer in words, for commands and Python."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.base.plain_tables import table
from dpmf_core.base.registry import find
from dpmf_core.privacy import normal_form
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs import data_access
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run, provenance
from dpmf_core.runs.specification import ParameterValues, RunSpec, Value
from dpmf_core.runs.tuning import search
from dpmf_core.runs.tuning.search import Search, Trial
from dpmf_core.runs.tuning.search_space import (
    FRESH,
    Interval,
    SearchOutcome,
    TuneSpec,
    default_range,
    outcome,
)

FOR_THE_SCREEN = (
    "A search on private data chooses by raw errors, so its scores and its best parameters are for"
    " the screen. Leave --json out, or search with --private-selection (in Python:"
    " private_selection)."
)
MOST_SHOWN = 10  # of the best trials
RAW = (
    "A search on private data chooses by raw errors: its scores and its best parameters are for the"
    " holder of the data."
)


def search_spec(
    run: RunSpec,
    shape: Any,
    *,
    grid: Mapping[str, tuple[Value, ...]],
    ranges: Mapping[str, Interval | None],
    draws: int,
    prune: bool,
) -> TuneSpec:
    """The search around a run.

    Parameters
    ----------
    run
        The run. It gives the data, the budget, the split, the seed and the fixed parameters.
    shape
        The shape of the data.
    grid
        The values to try, all of them, by parameter. If it is empty, a sampler draws from `ranges`.
    ranges
        The range of each parameter for a sampler. None is a range around the recommended value on
        data of this shape.
    draws
        The number of draws of each trial.
    prune
        Whether poor trials are stopped early.

    Returns
    -------
    TuneSpec
        The search.

    Raises
    ------
    BadInput
        If such a search cannot be made.
    """
    space: dict[str, Any] = dict(grid)
    if not grid:
        space = _ranges(run, shape, ranges)
    return TuneSpec.parse(
        data=run.data,
        algorithm=run.algorithm,
        budget=run.budget,
        split=run.split,
        seed=run.seed,
        fixed=run.parameters,
        search=space,
        draws=draws,
        sampler="grid" if grid else "tpe",
        prune=prune,
    )


def _ranges(
    run: RunSpec, shape: Any, ranges: Mapping[str, Interval | None]
) -> dict[str, Any]:
    kind = algorithms.find(run.algorithm)
    recommendation = prepare(run, shape).algorithm
    space = dict[str, Any]()
    for name, interval in ranges.items():
        find(kind.model_fields, name, "parameter")
        space[name] = interval
        if interval is None:
            space[name] = default_range(kind, name, getattr(recommendation, name))
    return space


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search. Printing it gives the output of the command `tune`.

    Attributes
    ----------
    spec
        The search.
    trials
        All trials.
    best
        The best trial.
    importance
        The share of the scores' variance that each parameter explains.
    comparison
        The best and the recommended parameters over fresh draws; None before these are trained.
    final
        The first of these draws.
    cost
        The cost of choosing; None without a proven epsilon.
    """

    epsilon: ClassVar[None] = None

    spec: TuneSpec
    trials: tuple[Trial, ...]
    best: Trial
    importance: dict[str, float]
    comparison: SearchOutcome | None
    final: Run
    cost: dict[str, Any] | None

    @classmethod
    def of(cls, finished: Search) -> "SearchResult":
        """The outcome of a finished search, whose engine computes the fresh draws.

        Raises BadInput if a trial could not start.
        """
        if finished.failure or finished.best is None:
            raise BadInput(finished.failure or "Every trial failed.")
        spec = finished.spec
        fresh_specs = spec.fresh(finished.best.place)
        jobs = {name: finished.engine.submit(one) for name, one in fresh_specs.items()}
        fresh = {name: job.result() for name, job in jobs.items()}
        final = fresh["winner 0"]
        return cls(
            spec,
            tuple(finished.trials),
            finished.best,
            finished.importance(),
            outcome(fresh, spec.metric),
            final,
            _cost(spec, final, len(finished.trials)),
        )

    @property
    def winner(self) -> ParameterValues:
        """The best parameters."""
        return self.best.place

    @property
    def score(self) -> float | None:
        """The best validation error."""
        return self.best.score

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per trial: number, state, score with interval and draws, varied parameters."""
        return search.table(self.trials)

    def export(self) -> dict[str, Any]:
        """The outcome as JSON. Raises BadInput on private data, because trials have raw errors."""
        if not self.final.record.public:
            raise BadInput(FOR_THE_SCREEN)
        return {
            "spec": self.spec.model_dump(mode="json"),
            "best": search.table([self.best])[0],
            "trials": self.rows,
            "importance": self.importance,
            "fresh": self.comparison.export() if self.comparison else None,
            "final": self.final.record.export(),
            "price": self.cost,
            **provenance(),
        }

    def __str__(self) -> str:
        record = self.final.record
        n_scored = sum(trial.score is not None for trial in self.trials)
        n_stopped = sum(trial.state == "stopped" for trial in self.trials)
        shares = ", ".join(
            f"{name} {share:.0%}" for name, share in self.importance.items()
        )
        lines = [
            self._line(trial) for trial in search.by_score(self.trials)[:MOST_SHOWN]
        ]
        parts = [
            table(["trial", "score", "95%", *self.spec.search], lines),
            f"\n{n_scored} trials finished, {n_stopped} stopped early. Importance: {shares}",
            self.comparison.words if self.comparison else "",
            f"The first of these draws: {record.sentence}\n{record.privacy_text()}",
        ]
        if self.cost:
            parts.append(self._cost_words(self.cost))
        if not record.public:
            parts.append(RAW)
        return "\n".join(parts)

    def _line(self, trial: Trial) -> list[str]:
        values = [trial.place.get(name) for name in self.spec.search]
        between = "-"
        if trial.interval is not None:
            between = "{:.4f} to {:.4f}".format(*trial.interval)
        texts = [
            f"{value:.4g}" if isinstance(value, float) else str(value)
            for value in values
        ]
        return [str(trial.number), f"{trial.score:.4f}", between, *texts]

    def _cost_words(self, cost: Mapping[str, Any]) -> str:
        public = ""
        if self.final.record.public:
            public = "nothing, because the data are public. "
        prices = [
            f"{name} {epsilon_text(price)}" for name, price in cost["best_of"].items()
        ]
        best_of = ", ".join(prices)
        runs = "run" if self.spec.draws == 1 else "runs"
        return (
            f"The cost of choosing: {public}On private data, one trial alone"
            f" {epsilon_text(cost['single'])}; all {len(self.trials)} trials shown"
            f" {epsilon_text(cost['all_shown'])}; only the best of a random number of trials, as"
            f" many on average: {best_of}. A trial is {self.spec.draws} training {runs}; the"
            f" comparison trained {2 * FRESH} more."
        )


def _cost(spec: TuneSpec, final: Run, n_trials: int) -> dict[str, Any] | None:
    if spec.budget is None:
        return None
    ready = prepare(final.spec, data_access.open_anywhere(spec.data).shape)
    if not normal_form(ready.plan) or not ready.guarantee.has_epsilon:
        return None
    return asdict(
        search.price(ready.plan, None, max(n_trials, 1), spec.budget, spec.draws)
    )
