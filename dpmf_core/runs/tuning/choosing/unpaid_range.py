"""Before anything is paid: what a private method may bring on data of a declared shape.

Nothing public tells what private ratings are like. So the recommended method is trained on a dozen
simulated worlds that differ where real data differ, and what it brought is a range, from the least
to the most. The range is about the worlds: it is not a confidence interval.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import Shape
from dpmf_core.data.simulated_shape import SimulatedShape
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.privacy import Relation
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu
from dpmf_core.runs.draws import Draws, Judgement
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.references import RECOMMENDED, best_known_on, floors
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Method, Sweep

HEAD = "worlds?"
LEAST = 10  # users and items
MOST_ITEMS = 10_000_000
# What sharing is worth depends on the number of people, so a world has all of them, or as many as
# make MOST_RATINGS, but at least LEAST_USERS or a third of them.
MOST_RATINGS = 150_000
LEAST_USERS = 4_000
# proven methods; one of them is the best on every data set of benchmarks/results/advice.csv
RIVALS = ("spectral", "private-bias", "dpals")
LARGEST_EPSILON = 1000.0
# The reference: fewer sweeps and factors come within 0.01 of its error above SPARSE ratings a
# person; below that it needs every sweep.
SPARSE = 30
REFERENCE = {"rank": 15, "attention": 16}
OF_DENSE = {"steps": 24, "draws": 8}
# points of each run's curve, which is not shown: each costs an evaluation
CURVE_POINTS = 2


@dataclass(frozen=True)
class DeclaredShape(SimulatedShape):
    """The public and declared facts about private ratings.

    Their id, such as `worlds?users=943&items=1682&each=106&bounds=1,5&step=1`, names them in
    questions and commands.
    """

    @classmethod
    def of(
        cls, shape: Shape, each: float | None, step: float | None
    ) -> "DeclaredShape":
        """The shape of data with a public size. Raises BadInput without `each`."""
        if each is None:
            raise BadInput(
                "Say about how many ratings a person gives, such as each=20 (--each 20). It is not"
                " counted, because that would reveal something about the file."
            )
        return cls(shape.n_users, shape.n_items, each, shape.bounds, step)

    @classmethod
    def parse(cls, data_id: str) -> "DeclaredShape":
        """The shape that an id names. Raises BadInput."""
        try:
            shape = cls.read(data_id.removeprefix(HEAD))
        except (KeyError, TypeError, ValueError):
            raise _unknown(data_id) from None
        is_possible = (
            shape.has_scale
            and min(shape.n_users, shape.n_items) >= LEAST
            and shape.n_items <= MOST_ITEMS
            and 1 <= shape.each <= shape.n_items
        )
        if not is_possible:
            raise _unknown(data_id)
        return shape

    @property
    def id(self) -> str:
        return f"{HEAD}{self.text}"

    @property
    def shape(self) -> Shape:
        return Shape(self.n_users, self.n_items, self.bounds)

    @property
    def simulated_users(self) -> int:
        """The number of people in a world."""
        least = min(LEAST_USERS, math.ceil(self.n_users / 3))
        return min(self.n_users, max(least, round(MOST_RATINGS / max(self.each, 1.0))))

    @property
    def world_ids(self) -> tuple[str, ...]:
        ids: tuple[str, ...] = catalogue().world_ids(
            self.simulated_users, self.n_items, self.each, self.bounds, self.step
        )
        return ids


def is_declared(data_id: str) -> bool:
    """Whether an id names a declared shape and no data."""
    return data_id.startswith(HEAD)


def _unknown(data_id: str) -> BadInput:
    return BadInput(
        f"A declared shape must be written {HEAD}users=943&items=1682&each=106&bounds=1,5, and"
        f" &step=1 if the steps of the scale are known: at least {LEAST} users and items, at most"
        f" {MOST_ITEMS:,} items, 1 rating a person or more, and bounds with the lower first. Got"
        f" '{data_id[:100]}'."
    )


# ---- the worlds ----------------------------------------------------------------------------------


class WorldRuns:
    """The runs on every world: the recommended method at each epsilon, floors and a reference.

    Attributes
    ----------
    points
        The runs, world by world, so that a worker keeps its data. The epsilon of a point holds for
        the declared number of people.
    """

    def __init__(
        self,
        shape: DeclaredShape,
        epsilons: Iterable[float],
        delta: float,
        *,
        metric: str = "person_rmse",
        methods: Sequence[str] = (RECOMMENDED["ratings"],),
        of_one: Callable[[float], float] = float,
        seed: int = 0,
    ) -> None:
        """Plan the runs.

        Parameters
        ----------
        of_one
            The epsilon of one person at which the people who must be protected have a given
            epsilon.
        """
        self.shape = shape
        self.epsilons = tuple(sorted(set(epsilons)))
        self.delta = delta
        self.metric = metric
        self.methods = tuple(methods)
        self.seed = seed
        self._of_one = of_one
        self.worlds = tuple(DataSpec(id=world_id) for world_id in shape.world_ids)
        self.points = [point for world in self.worlds for point in self._points(world)]

    @property
    def specs(self) -> dict[str, RunSpec]:
        """Every run by its key as text."""
        return {point.key: point.spec for point in self.points}

    def _points(self, world: DataSpec) -> list[Point]:
        """The runs on a world: the floors, the reference and the methods, in this order."""
        protected = {self._of_world(epsilon): epsilon for epsilon in self.epsilons}
        sweep = Sweep(
            data=world,
            methods=(
                *(Method(algorithm=name) for name in floors(self.metric)),
                self._reference(world),
                *(Method(algorithm=name) for name in self.methods),
            ),
            epsilons=tuple(protected),
            seeds=(self.seed,),
            delta=self.delta,
            relation=Relation.ADD_REMOVE,
        )
        fewer = {"curve_points": CURVE_POINTS}
        return [
            replace(point, spec=point.spec.model_copy(update=fewer))
            for point in sweep.points_named(protected)
        ]

    def _reference(self, world: DataSpec) -> Method:
        """The best known method without privacy, made as quick as the range allows."""
        shape: Any = catalogue().entry_of(world.id).shape()
        name = best_known_on(world, shape, self.metric)
        if name != "bmf":
            return Method(algorithm=name)
        sizes = {
            parameter: min(size, shape.n_items) for parameter, size in REFERENCE.items()
        }
        few = OF_DENSE if self.shape.each >= SPARSE else {}
        return Method(algorithm=name, parameters={**sizes, **few})

    def _of_world(self, epsilon: float) -> float:
        """The epsilon at which noise weighs as much in a world as it does for all people.

        The product of the number of people and the Gaussian mu is the same.
        """
        own = self._of_one(epsilon)
        share = self.shape.n_users / self.shape.simulated_users
        if share == 1:
            return own
        mu = gaussian_mu(own, self.delta) * share
        return min(gaussian_epsilon(mu, self.delta), LARGEST_EPSILON)


@dataclass(frozen=True)
class Span:
    """The least and the most of a figure over the worlds."""

    low: float
    high: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> "Span":
        known = list(figures)
        return cls(min(known), max(known))

    def holds(self, figure: float) -> bool:
        return self.low <= figure <= self.high


@dataclass(frozen=True)
class UnpaidRange:
    """What the worlds say about data of a shape, without looking at them.

    Figures are in units of the metric; larger is better.
    """

    runs: WorldRuns
    judgements: tuple[Judgement, ...]

    @classmethod
    def of(cls, runs: WorldRuns, table: Draws) -> "UnpaidRange | None":
        """The range from the table of the runs; None before all of them have finished."""
        if table.missing:
            return None
        judgements = []
        for world in runs.worlds:
            rows = tuple(row for row in table.rows if row.point.spec.data == world)
            judgements.append(Draws(rows).by(runs.metric))
        return cls(runs, tuple(judgements))

    @property
    def metric(self) -> Metric:
        return METRICS[self.runs.metric]

    @property
    def epsilons(self) -> tuple[float, ...]:
        return self.runs.epsilons

    @property
    def method(self) -> str:
        """The id of the recommended method."""
        return self.runs.methods[0]

    @cached_property
    def worth(self) -> Span:
        """What sharing is worth: the best known method without privacy against the floor."""
        return Span.of(
            self._rise(judgement, judgement.best_known) for judgement in self.judgements
        )

    def gain(self, epsilon: float, method: str = "") -> Span:
        """What a method brings against the floor; below 0 where it is worse."""
        return Span.of(self.gains(epsilon, method))

    def gains(self, epsilon: float, method: str = "") -> list[float]:
        """What a method brings in each world."""
        return [
            self._rise(judgement, self._at(judgement, epsilon, method))
            for judgement in self.judgements
        ]

    def shares(self, epsilon: float, method: str = "") -> list[float]:
        """The share of what sharing is worth, of worlds where it is worth something measurable."""
        shares = [
            judgement.share(self._at(judgement, epsilon, method))
            for judgement in self.judgements
        ]
        return [share for share in shares if share is not None]

    def share(self, epsilon: float) -> Span | None:
        """The share of what sharing is worth that is kept; None where it is worth nothing."""
        shares = self.shares(epsilon)
        if shares:
            return Span.of(shares)
        return None

    def export(self) -> dict[str, Any]:
        """The range as JSON: the least and the most, in units of the metric."""
        ranges = []
        for epsilon in self.epsilons:
            gain = self.gain(epsilon)
            share = self.share(epsilon)
            kept = None if share is None else (share.low, share.high)
            ranges.append(
                {"epsilon": epsilon, "gain": (gain.low, gain.high), "share": kept}
            )
        return {
            "method": self.method,
            "metric": self.metric.id,
            "worth": (self.worth.low, self.worth.high),
            "at": ranges,
            "worlds": [world.id for world in self.runs.worlds],
        }

    def _at(self, judgement: Judgement, epsilon: float, method: str) -> Measured:
        name = method or self.method
        return next(
            one
            for one in judgement.measured
            if one.algorithm == name and one.epsilon == epsilon
        )

    def _rise(self, judgement: Judgement, one: Measured | None) -> float:
        floor = judgement.floor
        assert floor is not None and one is not None  # every world has both
        return judgement.rank(floor) - judgement.rank(one)
