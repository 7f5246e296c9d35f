"""One private algorithm over a grid of epsilons and its references: runs, and finished figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.comparison import DRAWS, references
from dpmf_core.runs.needed_epsilon import Measured, kept_at
from dpmf_core.runs.privacy_cost import PrivacyCost
from dpmf_core.runs.record import value_of
from dpmf_core.runs.specification import RunSpec

# the series 1, 2, 5 first, then values between: the order in which they are most useful
COARSE = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
EPSILONS = tuple(sorted((*COARSE, 0.14, 0.32, 0.71, 1.4, 3.2, 7.1, 14.1, 31.6)))
# their names in a comparison
PRIVATE, OPEN, BEST_KNOWN, TRIVIAL = "main", "open", "best", "trivial"


@dataclass(frozen=True)
class GridRun:
    """A run of a grid. epsilon: None if not private. draw: its seed, counted from the first."""

    who: str
    epsilon: float | None
    draw: int
    spec: RunSpec


@dataclass(frozen=True)
class Point(Measured):
    """The draws at one epsilon, ascending by seed.

    values: held-out figures. prices: each draw's own epsilon, None if nothing is proved.
    shared_draws: (private, best, trivial) of each draw in which all three are finished. cost: what
    noise and algorithm cost, over the draws that the algorithm without noise has too.
    """

    prices: tuple[float | None, ...] = ()
    shared_draws: tuple[tuple[float, float, float], ...] = ()
    cost: PrivacyCost | None = None


@dataclass(frozen=True)
class EpsilonGrid:
    """The finished part of an algorithm's grid.

    points: ascending by epsilon, at least one draw each. best, trivial, open: figures of the draws
    of the best finished algorithm without privacy, of guessing, and of the algorithm without noise.
    missing: the missing runs, most useful first.
    """

    metric: str
    points: tuple[Point, ...]
    best: tuple[float, ...]
    trivial: tuple[float, ...]
    open: tuple[float, ...] = ()
    missing: tuple[RunSpec, ...] = field(default=(), repr=False)

    @property
    def epsilons(self) -> tuple[float, ...]:
        return tuple(point.epsilon for point in self.points)

    @property
    def count(self) -> int:
        """The number of finished runs."""
        own = sum(len(point.values) for point in self.points)
        return own + len(self.best) + len(self.trivial) + len(self.open)

    @property
    def kept(self) -> list[Measured]:
        """The share of the gain over guessing that each epsilon keeps, ascending.

        Epsilons without a share are left out.
        """
        shares = (kept_at(point.epsilon, point.shared_draws) for point in self.points)
        return [it for it in shares if it is not None]

    def point(self, epsilon: float) -> Point | None:
        """The measurement at exactly this epsilon."""
        return next((it for it in self.points if it.epsilon == epsilon), None)


def grid_runs(
    spec: RunSpec, epsilons: Sequence[float] = EPSILONS, draws: int = DRAWS
) -> list[GridRun]:
    """The runs of a private run's grid, most useful first.

    First draws come before further ones, then references before private runs, then coarse epsilons
    before fine ones. Each is the run that `comparison` shows at its epsilon. Raises BadInput if the
    run has no budget.
    """
    order = sorted(dict.fromkeys(epsilons), key=lambda epsilon: (epsilon not in COARSE, epsilon))
    specs: list[tuple[str, float | None, RunSpec]] = [
        *((who, None, run) for who, run in references(spec).items()),
        *((PRIVATE, epsilon, at_epsilon(spec, epsilon)) for epsilon in order),
    ]
    return [
        GridRun(who, epsilon, draw, run.model_copy(update={"seed": spec.seed + draw}))
        for draw in range(draws)
        for who, epsilon, run in specs
    ]


def at_epsilon(spec: RunSpec, epsilon: float) -> RunSpec:
    """The same run at another epsilon. Raises BadInput if it has no budget."""
    if spec.budget is None:
        raise BadInput(f"{spec.algorithm} has no epsilon here. Choose a private algorithm.")
    return spec.model_copy(update={"budget": spec.budget.model_copy(update={"epsilon": epsilon})})


def read_grid(
    runs: Sequence[GridRun], summaries: Sequence[Mapping[str, Any] | None], metric: str
) -> EpsilonGrid:
    """The grid of these runs.

    summaries: of each run (`summary.summarise`), None if it is missing. metric: a name of
    `METRICS`; a run without that figure is left out.
    """
    finished: dict[tuple[str, float | None], dict[int, Mapping[str, Any]]] = {}
    missing = []
    for run, summary in zip(runs, summaries, strict=True):
        if summary is None:
            missing.append(run.spec)
        elif math.isfinite(value_of({metric: None, **summary["metrics"]}, metric)):
            finished.setdefault((run.who, run.epsilon), {})[int(summary["seed"])] = summary
    best = _figures(finished.get((BEST_KNOWN, None), {}), metric)
    if any(run.who == TRIVIAL for run in runs):
        trivial = _figures(finished.get((TRIVIAL, None), {}), metric)
    else:  # runs on samples hold the guess themselves
        trivial = _figures(finished.get((BEST_KNOWN, None), {}), f"trivial_{metric}")
    without_noise = _figures(finished.get((OPEN, None), {}), metric)
    points = tuple(
        _point(epsilon, finished[PRIVATE, epsilon], metric, best, trivial, without_noise)
        for epsilon in sorted(epsilon for _, epsilon in finished if epsilon is not None)
    )
    return EpsilonGrid(
        metric,
        points,
        tuple(best.values()),
        tuple(trivial.values()),
        tuple(without_noise.values()),
        tuple(missing),
    )


def _figures(summaries: Mapping[int, Mapping[str, Any]], metric: str) -> dict[int, float]:
    """A figure by seed, ascending."""
    return {seed: float(summaries[seed]["metrics"][metric]) for seed in sorted(summaries)}


def _point(
    epsilon: float,
    summaries: Mapping[int, Mapping[str, Any]],
    metric: str,
    best: Mapping[int, float],
    trivial: Mapping[int, float],
    without_noise: Mapping[int, float],
) -> Point:
    own = _figures(summaries, metric)
    seeds = sorted(own.keys() & best.keys() & trivial.keys())
    draws = [
        (own[seed], without_noise[seed], best[seed], trivial[seed])
        for seed in seeds
        if seed in without_noise
    ]
    return Point(
        epsilon,
        tuple(own.values()),
        tuple(summaries[seed]["epsilon"] for seed in own),
        tuple((own[seed], best[seed], trivial[seed]) for seed in seeds),
        PrivacyCost.of(METRICS[metric], draws) if draws else None,
    )
