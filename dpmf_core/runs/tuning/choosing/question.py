"""An analyst's question (who must be protected, the goal, ratings or lists) and its runs."""

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.base.errors import BadInput, checked
from dpmf_core.base.frozen import Frozen
from dpmf_core.privacy import Budget, Event, Relation, Status
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_epsilon, gaussian_mu
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.references import best_known_on, floors, proven_methods
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Method, Sweep
from dpmf_core.runs.tuning.choosing.unpaid_range import is_declared

# public, whatever the data; runs at these come with the package (`comparison.EPSILONS`)
GRID = (0.5, 1.0, 2.0, 3.2, 5.0, 10.0)
# epsilons for private data; each costs a run in every world
GRID_OF_WORLDS = (
    0.5,
    1.0,
    2.0,
    5.0,
    10.0,
)
# draws of a first answer; most draws of close methods, and those of a refined one
FEW = 3
MANY = 8
MORE = (5, MANY)  # draws of close methods, round by round
LARGEST_GROUP = 1000
LARGEST_SPEND = 100.0
NOT_KNOWN = (
    "what sharing is worth on private data, and which error they allow, is not known before"
    " something is released: give spend, the largest epsilon"
)
LEAST_FOR_LISTS = 40  # items; with fewer a list holds most of them
ROUNDING = 1e-9  # relative, of an epsilon

Protect = Literal["person", "group"]
Goal = Literal["ratings", "lists"]
SINGLE_RATING = (
    "No method here is proved for a single rating alone. Protecting a person protects each of their"
    " ratings too: the total ε for replacing a person bounds what is learnt about one rating."
)
METRIC: dict[Goal, str] = {"ratings": "rmse", "lists": "recall_at_20"}
OF_A_PERSON = "person_rmse"  # on private data, where a measurement releases its fall


class Question(Frozen):
    """One question. Exactly one of `spend`, `keep` and `reach` is given.

    Attributes
    ----------
    data
        Public or simulated data on which methods are tried, or the declared shape of private data.
        Only `spend` can be asked about private data.
    delta
        The delta of every run.
    """

    data: DataSpec
    protect: Protect = Field("person", description="who must be protected")
    group: int = Field(
        1,
        ge=1,
        le=LARGEST_GROUP,
        description="number of people in a group",
    )
    goal: Goal = Field("ratings", description="the task: ratings, or lists of 20")
    spend: float | None = Field(
        None,
        ge=0.01,
        le=LARGEST_SPEND,
        allow_inf_nan=False,
        description="the largest epsilon",
    )
    keep: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        description="the smallest share to keep of what sharing is worth",
    )
    reach: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="largest RMSE, or smallest Recall@20",
    )
    delta: float = Field(
        1e-6,
        ge=1e-15,
        lt=0.5,
        allow_inf_nan=False,
    )
    draws: int = Field(
        FEW,
        ge=2,
        le=50,
        description="draws of split and noise for every run",
    )
    seed: int = Field(0, ge=0, lt=2**62)
    every: bool = Field(False, description="also try slow methods")

    @model_validator(mode="after")
    def _one_wish(self) -> Self:
        if sum(wish is not None for wish in (self.spend, self.keep, self.reach)) != 1:
            raise ValueError("give exactly one of spend, keep and reach")
        if self.is_private and self.spend is None:
            raise ValueError(NOT_KNOWN)
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
        if self.is_private and self.goal == "ratings":
            return OF_A_PERSON
        return METRIC[self.goal]

    @property
    def is_private(self) -> bool:
        """Whether it is about private data. Only a declared shape of these is used."""
        return is_declared(self.data.id)

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The public grid, with the budget; ascending, for those it must protect."""
        grid = GRID_OF_WORLDS if self.is_private else GRID
        return tuple(sorted({*grid, *(() if self.spend is None else (self.spend,))}))

    def of_one(self, epsilon: float) -> float:
        """The epsilon of one person at which the group has `epsilon`.

        Gaussian releases reveal `group` times as much about all of them.
        """
        if self.group == 1:
            return epsilon
        return gaussian_epsilon(
            gaussian_mu(epsilon, self.delta) / self.group, self.delta
        )

    def budget(self, epsilon: float) -> Budget:
        """The budget of one person at which those it protects have `epsilon`."""
        return Budget(epsilon=self.of_one(epsilon), delta=self.delta)

    @property
    def whom(self) -> str:
        """Those it protects, in words."""
        if self.group == 1:
            return "one person"
        return f"any group of up to {self.group} people"


class QuestionRuns:
    """The runs of a question on data of a public shape.

    Attributes
    ----------
    methods
        The ids of the candidates. Each also runs without noise.
    references
        The ids of algorithms without privacy. The best of them is 100% of the scale.
    points
        All runs of a first answer. The epsilon of a point is the epsilon of the people whom the
        question protects.
    refusals
        Why a method is unsuitable, by the method's title.
    """

    def __init__(self, question: Question, shape: Any) -> None:
        """Raises BadInput if no candidate is left."""
        self.question = question
        self.methods, self.refusals = candidates(question, shape)
        # which is best for lists depends on the data
        best = [
            best_known_on(question.data, shape, metric) for metric in METRIC.values()
        ]
        if question.goal == "ratings":
            self.references = best[:1]
        else:
            self.references = list(dict.fromkeys(best))
        self.points = self.further(
            self.methods, question.epsilons, range(question.draws)
        )

    @property
    def specs(self) -> dict[str, RunSpec]:
        """Every run of a first answer, by its key as text."""
        return {point.key: point.spec for point in self.points}

    def further(
        self, methods: Sequence[str], epsilons: Sequence[float], draws: range
    ) -> list[Point]:
        """Draws of these methods at these epsilons, and of what they are compared with.

        All draws of one place are together, quick methods first, so that the page fills early.
        """
        question = self.question
        protected = {question.of_one(epsilon): epsilon for epsilon in epsilons}
        order = [*floors(question.metric), *methods, *self.references]
        sweep = Sweep(
            data=question.data,
            methods=(
                *(Method(algorithm=name) for name in order),
                *(Method(algorithm=name, without_noise=True) for name in methods),
            ),
            epsilons=tuple(protected),
            seeds=tuple(question.seed + draw for draw in draws),
            delta=question.delta,
        )
        return sorted(
            sweep.points_named(protected),
            key=lambda point: (order.index(point.spec.algorithm), point.epsilon or 0.0),
        )


def candidates(
    question: Question, shape: Any
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Ids of the proven private methods that suit, in their order; and why others do not.

    Raises BadInput if none suits.
    """
    if question.goal == "lists" and shape.n_items < LEAST_FOR_LISTS:
        raise BadInput(
            f"Lists of 20 are informative only with at least {LEAST_FOR_LISTS} items. These"
            f" data have {shape.n_items}. Choose ratings."
        )
    objections = {
        name: _objection(question, kind, shape)
        for name, kind in algorithms.of_task("ratings").items()
        if issubclass(kind, PrivateAlgorithm) and not kind.needs_item_features
    }
    refusals = {
        algorithms.find(name).title: why for name, why in objections.items() if why
    }
    names = proven_methods("ratings", every=question.every)
    methods = tuple(name for name in names if not objections[name])
    if not methods:
        raise BadInput(
            "No proven private method can be used on these data: "
            + " ".join(f"{title}: {why}" for title, why in refusals.items())
        )
    return methods, refusals


def _objection(question: Question, kind: type[Algorithm], shape: Any) -> str:
    """Why a method is not a candidate; '' if it is one."""
    if kind.trusts_nobody:
        return "it needs no trusted curator, and has a larger error than every method that does."
    spec = RunSpec.parse(
        data=question.data,
        algorithm=kind.id,
        budget=question.budget(max(question.epsilons)),
    )
    try:
        ready = prepare(spec, shape)
    except BadInput as error:
        return str(error)
    promise = ready.guarantee
    if promise.status is not Status.PROVEN:
        return f"its guarantee is {str(promise.status).lower()}: {promise.words}"
    if promise.unit != "user":
        return f"it protects no more than one {promise.unit}."
    if kind.id not in proven_methods("ratings", every=question.every):
        return "it is nowhere the best; refine the answer to try it."
    if question.group == 1:
        return ""
    return _objection_of_group(question, ready.plan)


def _objection_of_group(question: Question, plan: Event) -> str:
    """Why a plan at the largest epsilon cannot protect a group; '' if it can."""
    if not all_gaussian(plan):
        return "its cost for a group of people is not known."
    cost = group_epsilon(plan, question.delta, Relation.ADD_REMOVE, question.group)
    if max(question.epsilons) * (1 + ROUNDING) < cost:
        return "it costs a group more than you allow."
    return ""
