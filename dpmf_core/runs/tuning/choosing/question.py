"""An analyst's question (who must be protected, the goal, ratings or lists) and its runs."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.base.errors import BadInput, checked
from dpmf_core.privacy import Relation, Status
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_epsilon, gaussian_mu
from dpmf_core.runs.comparison import best_known_on
from dpmf_core.runs.draws import Point
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Method, Sweep

GRID = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)  # public, whatever the data
FEW, MANY = 3, 8  # draws of a first answer, and of a refined one
QUICK = 9  # the largest rank of training time among a first answer's candidates
LARGEST_GROUP = 1000
LEAST_FOR_LISTS = 40  # items; with fewer a list holds most of them
ROUNDING = 1e-9  # relative, of an epsilon

Protect = Literal["person", "rating", "group"]
Goal = Literal["ratings", "lists"]
METRIC: dict[Goal, str] = {"ratings": "rmse", "lists": "recall_at_20"}
GUESS, POPULAR = "global-mean", "popularity"  # an arbitrary list ranks as well as the first


class Question(BaseModel):
    """One question. Exactly one of `spend`, `keep` and `reach` is given.

    data: public or simulated data on which methods are tried. delta: of every run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: DataSpec
    protect: Protect = Field("person", description="who must be protected")
    group: int = Field(1, ge=1, le=LARGEST_GROUP, description="number of people in a group")
    goal: Goal = Field("ratings", description="the task: ratings, or lists of 20")
    spend: float | None = Field(
        None, ge=0.01, le=100, allow_inf_nan=False, description="the largest epsilon"
    )
    keep: float | None = Field(
        None, gt=0, le=1, allow_inf_nan=False, description="the smallest share of the gain to keep"
    )
    reach: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="largest RMSE, or smallest Recall@20"
    )
    delta: float = Field(1e-6, ge=1e-15, lt=0.5, allow_inf_nan=False)
    draws: int = Field(FEW, ge=2, le=50, description="draws of split and noise for every run")
    seed: int = Field(0, ge=0, lt=2**62)
    every: bool = Field(False, description="also try slow methods")

    @model_validator(mode="after")
    def _one_wish(self) -> Self:
        if sum(wish is not None for wish in (self.spend, self.keep, self.reach)) != 1:
            raise ValueError("give exactly one of spend, keep and reach")
        if (self.protect == "group") != (self.group > 1):
            raise ValueError(
                "group is a number of people of at least 2, and only with protect=group"
            )
        return self

    @classmethod
    def parse(cls, **parts: Any) -> "Question":
        """A checked question. Raises BadInput with the first problem."""
        return checked(cls, "the question", parts)

    @property
    def metric(self) -> str:
        """The id of the metric that judges methods."""
        return METRIC[self.goal]

    @property
    def relation(self) -> Relation:
        """The relation between neighbours.

        Hiding the replacement of a person's whole row also hides any change of one rating in it.
        For a group only participation is hidden.
        """
        return Relation.REPLACE_ONE if self.protect == "rating" else Relation.ADD_REMOVE

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The public grid, with the budget; ascending, for those it must protect."""
        return tuple(sorted({*GRID, *(() if self.spend is None else (self.spend,))}))

    def of_one(self, epsilon: float) -> float:
        """The epsilon of one person at which the group has `epsilon`.

        Gaussian releases reveal `group` times as much about all of them.
        """
        if self.group == 1:
            return epsilon
        return gaussian_epsilon(gaussian_mu(epsilon, self.delta) / self.group, self.delta)

    @property
    def whom(self) -> str:
        """Those it protects, in words."""
        if self.protect == "rating":
            return "one rating"
        return "one person" if self.group == 1 else f"any group of up to {self.group} people"


class Runs:
    """The runs of a question on data of a public shape.

    points: by name, each with the epsilon of those it must protect (None without privacy). methods:
    ids of the candidates, each of which also runs without noise; plain: of those without privacy.
    refusals: titles of unsuitable methods, and why.
    """

    def __init__(self, question: Question, shape: Any) -> None:
        """Raises BadInput if no candidate is left."""
        if question.goal == "lists" and shape.n_items < LEAST_FOR_LISTS:
            raise BadInput(
                f"Lists of 20 are informative only with at least {LEAST_FOR_LISTS} items. These"
                f" data have {shape.n_items}. Choose ratings."
            )
        self.question = question
        self.methods, self.refusals = _candidates(question, shape)
        if not self.methods:
            raise BadInput(
                "No proven private method can be used on these data: "
                + " ".join(f"{title}: {why}" for title, why in self.refusals.items())
            )
        popular = (POPULAR,) * (question.goal == "lists")
        self.plain = (best_known_on(question.data, shape, question.metric), *popular)
        self._group_epsilons = {question.of_one(epsilon): epsilon for epsilon in question.epsilons}
        self.points = self._points()

    @property
    def specs(self) -> dict[str, RunSpec]:
        """Every distinct run, by its key as text."""
        return {point.key: point.spec for point in self.points}

    def epsilon(self, point: Point) -> float | None:
        """The cost of a run for those it must protect."""
        return None if point.epsilon is None else self._group_epsilons[point.epsilon]

    def _points(self) -> list[Point]:
        """All draws of one place together, quick methods first, so that the page fills early."""
        question = self.question
        order = (GUESS, *self.methods, *self.plain)
        points = Sweep(
            data=question.data,
            methods=(*map(_method, order), *(_method(name, noise=False) for name in self.methods)),
            epsilons=tuple(self._group_epsilons),
            seeds=tuple(range(question.seed, question.seed + question.draws)),
            delta=question.delta,
            relation=question.relation,
        ).points()
        return sorted(points, key=lambda it: (order.index(it.label), it.epsilon or 0.0))


def _method(name: str, *, noise: bool = True) -> Method:
    return Method(algorithm=name, label=name, without_noise=not noise)


def _candidates(question: Question, shape: Any) -> tuple[tuple[str, ...], dict[str, str]]:
    """Ids of the proven private methods that suit, quick ones first; and why others do not."""
    kinds = [
        kind
        for kind in algorithms.of_task("ratings").values()
        if issubclass(kind, PrivateAlgorithm) and not kind.needs_item_features
    ]
    objections = {kind: _objection(question, kind, shape) for kind in kinds}
    refusals = {kind.title: why for kind, why in objections.items() if why}
    candidates = sorted(
        (kind for kind, why in objections.items() if not why), key=lambda it: it.training_cost
    )
    return tuple(kind.id for kind in candidates), refusals


def _objection(question: Question, kind: type[Algorithm], shape: Any) -> str:
    """Why a method is no candidate; '' if it is one."""
    if kind.trusts_nobody:
        return "it needs no trusted curator, and has a larger error than every method that does."
    if not question.every and kind.training_cost > QUICK:
        return "it takes longer; refine the answer to try it."
    epsilon, delta, relation = max(question.epsilons), question.delta, question.relation
    budget = {"epsilon": question.of_one(epsilon), "delta": delta, "relation": relation}
    spec = RunSpec.parse(data=question.data, algorithm=kind.id, budget=budget)
    try:
        ready = prepare(spec, shape)
    except BadInput as error:
        return str(error)
    promise = ready.guarantee
    if promise.status is not Status.PROVEN:
        return f"its guarantee is {str(promise.status).lower()}: {promise.words}"
    if promise.unit != "user":
        return f"it protects no more than one {promise.unit}."
    if question.group > 1 and not all_gaussian(ready.plan):
        return "its cost for a group of people is not known."
    too_dear = question.group > 1 and epsilon * (1 + ROUNDING) < group_epsilon(
        ready.plan, delta, relation, question.group
    )
    return "it costs a group more than you allow." if too_dear else ""
