"""A private selection: a random number of private trials with random settings, only the best shown.

Papernot & Steinke 2022. Unlike an open search (`tune`) it may be made on private ratings. All its
trials run in one worker, and neither their number nor the losers are shown, logged or stored. Its
cost is the theorem's price of the whole, not the best trial's.
"""

import math
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field
from scipy.optimize import brentq

from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput, Cancelled, checked
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.plain_tables import number
from dpmf_core.base.progress import Progress, Stopped, Tell, ignore
from dpmf_core.data import AnyData
from dpmf_core.data.addresses import file_of
from dpmf_core.data.catalogue import is_own
from dpmf_core.privacy import (
    NOTHING,
    Budget,
    Calibration,
    Event,
    Gaussian,
    Guarantee,
    NoiseKind,
    Relation,
    Status,
    neighbours,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import of_group
from dpmf_core.privacy.accounts import (
    LedgerFile,
    NoisePermit,
    account_of,
    charging,
)
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.random_streams import Secret
from dpmf_core.privacy.receipts import Receipt
from dpmf_core.privacy.selection import (
    exception_of_best,
    number_of_trials,
    price_of_best,
)
from dpmf_core.privacy.selection_bound import gaussian_bound
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.execution import run
from dpmf_core.runs.noisy_errors import Score, noisy_score, score_deviation, score_event
from dpmf_core.runs.planning import prepare, prepared_for
from dpmf_core.runs.privacy_record import in_words
from dpmf_core.runs.record import Run, provenance
from dpmf_core.runs.specification import DataSpec, ParameterValues, RunSpec
from dpmf_core.runs.tuning.search_space import TuneSpec, random_value
from dpmf_core.runs.tuning.selection_budget import require_fit

REDRAWS = 200
MOST = 200  # the largest mean number of trials
LEAST_EPSILON = 0.001  # of a training run
RULE = (
    "after Papernot & Steinke 2022 and Koskela, Redberg & Wang 2024, by the privacy profile of a"
    " trial"
)


class PrivateSelection(Frozen):
    """A private selection among runs that all cost the same.

    Parameters
    ----------
    searches
        A trial draws one of them, then a value for each parameter that may vary. All have one data
        set and one budget; a search may be of a method as recommended, in which nothing varies.
    distribution, trials
        The distribution of the number of trials, and its mean.
    score_noise
        The noise multiplier of each trial's validation score.
    """

    limit: ClassVar[str] = "largest_search"
    size_words: ClassVar[str] = "trials of a search"

    searches: tuple[TuneSpec, ...] = Field(min_length=1)
    distribution: Literal["logarithmic", "geometric", "poisson", "binomial"] = (
        "logarithmic"
    )
    trials: float = Field(
        10.0,
        gt=1,
        le=MOST,
        allow_inf_nan=False,
    )
    score_noise: float = Field(
        5.0,
        gt=0,
        le=1000,
        allow_inf_nan=False,
        title="score noise",
    )

    @classmethod
    def parse(cls, **parts: Any) -> Self:
        """A checked specification. Raises BadInput with the first problem."""
        selection = checked(cls, "the private selection", parts)
        selection.check()
        return selection

    @property
    def data(self) -> DataSpec:
        return self.searches[0].data

    @property
    def kinds(self) -> tuple[type[Algorithm], ...]:
        """The algorithms that trials train."""
        return tuple(search.kind for search in self.searches)

    @property
    def budget(self) -> Budget:
        """The budget of the training in each trial."""
        budget = self.searches[0].budget
        if budget is None:
            raise BadInput(
                "A private selection needs a private algorithm and a budget for each trial: give an"
                " epsilon and a delta."
            )
        return budget

    @property
    def typical(self) -> RunSpec:
        """A run that takes as long as a trial."""
        return self.searches[-1].final({})

    def check(self) -> None:
        """Raise BadInput if the theorem does not apply.

        Everything that a trial releases must have the same Gaussian curve, whatever its parameters.
        """
        budget = self.budget
        kinds = self.kinds
        objections = {
            "A private selection scores trials by noisy validation errors, which exist for ratings."
            " Search openly, on public data.": any(
                kind.task != "ratings" for kind in kinds
            ),
            "All methods of a private selection must use the same data set and the same budget."
            " Make them equal.": len(
                {(search.budget, search.data) for search in self.searches}
            )
            > 1,
            "A private selection needs every trial to cost the same: use exact accounting, not the"
            " source's rule.": budget.calibration is not Calibration.EXACT,
            "The cost of a private selection is proved for Gaussian releases: use continuous"
            " noise.": budget.noise is not NoiseKind.CONTINUOUS,
        }
        for words, applies in objections.items():
            if applies:
                raise BadInput(words)
        for kind in self.kinds if len(self.kinds) > 1 else ():
            promise = kind().guarantee()
            if promise.status is not Status.PROVEN or promise.unit != "user":
                raise BadInput(
                    f"{kind.title} is not proven for a whole person, so the cost of choosing it is"
                    " unknown. Leave it out."
                )

    @property
    def size(self) -> float:
        return self.trials

    @property
    def trial_event(self) -> Event:
        """The releases of one trial: a training run of at most the budget's mu, and a score."""
        return self._trial(1.0)

    def _trial(self, factor: float) -> Event:
        """A trial with a training run that moves `factor` times as much when a unit is replaced."""
        return sequence(
            Gaussian(
                1 / gaussian_mu(self.budget.epsilon, self.budget.delta),
                "training",
                1.0,
                factor,
            ),
            score_event(self.score_noise),
        )

    @property
    def epsilon(self) -> float:
        """Total epsilon of the selection, at the budget's delta and relation."""
        return self._price(self.trial_event, self.budget.relation)

    def _price(self, event: Event, relation: Relation) -> float:
        return price_of_best(
            event, self.distribution, self.trials, self.budget.delta, relation
        )

    def within(self, total: float) -> "PrivateSelection":
        """The selection with as much epsilon for training runs as a total leaves.

        Raises BadInput if the scores alone cost the total.
        """
        least = self.with_epsilon(LEAST_EPSILON).epsilon
        if least >= total:
            raise BadInput(
                f"Noisy scores alone cost ε = {epsilon_text(least)}, but the search may cost at"
                f" most {total:g}. Raise that limit, add more noise to the scores, or use fewer"
                " trials."
            )
        ends = math.log(LEAST_EPSILON), math.log(total)

        def excess(log_epsilon: float) -> float:
            return self.with_epsilon(math.exp(log_epsilon)).epsilon - total

        each = math.exp(brentq(excess, *ends, rtol=1e-4))
        while self.with_epsilon(each).epsilon > total:
            each *= 1 - 1e-4
        return self.with_epsilon(each)

    def with_epsilon(self, epsilon: float) -> "PrivateSelection":
        """The selection with this epsilon for each training run."""
        budget = self.budget.model_copy(update={"epsilon": epsilon})
        searches = tuple(
            search.model_copy(update={"budget": budget}) for search in self.searches
        )
        return self.model_copy(update={"searches": searches})

    def score_deviation(self, error: float, shape: Any) -> float:
        """The standard deviation of a trial's score by its noise, at this error."""
        return score_deviation(self.score_noise, error, shape.n_users, shape.half_range)

    def group_price(self, size: int) -> float:
        """Epsilon of the whole for a group of `size` people, at the budget's delta."""
        return self._price(of_group(self.trial_event, size), self.budget.relation)

    def exception(self, size: int = 1) -> float:
        """The probability of a privacy loss above the price of the whole, at most.

        For a group of `size` people, above its price for the group.
        """
        event = of_group(self.trial_event, size)
        price = self._price(event, self.budget.relation)
        return exception_of_best(
            event, self.distribution, self.trials, price, self.budget.relation
        )

    @property
    def title(self) -> str:
        """The name of its charge."""
        if len(self.kinds) > 1:
            return f"private selection among {len(self.kinds)} methods"
        return f"private selection, {self.kinds[0].title}"

    @property
    def charges(self) -> list[Charge]:
        """The charge to the account of private data: the price of the whole.

        Releases of its trials stay inside it. A budget for the data counts it as one Gaussian
        release.
        """
        charge = Charge.of(self.title, NOTHING, self._guarantee(), self.budget)
        release = normal_form(self.as_one_release)
        return [replace(charge, price=self.prices, release=release)]

    @property
    def as_one_release(self) -> Event:
        """A Gaussian release that costs at least as much at every epsilon.

        NOTHING if none is known.
        """
        mu = self.mu(Relation.ADD_REMOVE)
        if math.isinf(mu):
            return NOTHING
        factor = max(1.0, self.mu(Relation.REPLACE_ONE) / mu)
        return Gaussian(1 / mu, "winner of a private selection", 1.0, factor)

    def mu(self, relation: Relation) -> float:
        """The smallest known mu of a Gaussian release that costs at least as much; may be infinite.

        A trial for replacing one covers both relations. Replacing a unit removes one and adds
        another, so it moves a Gaussian release at most twice as far.
        """
        if self.budget.relation is Relation.REPLACE_ONE:
            return self._mu(self.trial_event, Relation.REPLACE_ONE)
        added = self._mu(self.trial_event, Relation.ADD_REMOVE)
        if relation is Relation.ADD_REMOVE:
            return added
        return min(self._mu(self._trial(2.0), Relation.REPLACE_ONE), 2 * added)

    def _mu(self, event: Event, relation: Relation) -> float:
        return gaussian_bound(event, self.distribution, self.trials, relation)

    @property
    def prices(self) -> tuple[float, float]:
        """The epsilons of the whole, for adding or removing a unit and for replacing one.

        A budget for adding or removing a unit implies only that replacing one moves a training run
        at most twice as much. A budget for replacing one covers both.
        """
        if self.budget.relation is Relation.REPLACE_ONE:
            return self.epsilon, self.epsilon
        return self.epsilon, self._price(self._trial(2.0), Relation.REPLACE_ONE)

    def _guarantee(self) -> Guarantee:
        """A trial's guarantee, with the assumptions of all methods that trials choose from."""
        data = open_anywhere(self.data)
        specs = [search.final({}) for search in self.searches]
        first, *others = [prepared_for(spec, data).guarantee for spec in specs]
        return first.assuming(
            *(premise for other in others for premise in other.assumptions)
        )

    def measure(
        self,
        report: Tell = ignore,
        stopped: Stopped = lambda: False,
        ledger: LedgerFile = None,
    ) -> "SelectionResult":
        """Draw, train, score, and keep the best.

        Raises BadInput, and Cancelled when `stopped` returns true.
        """
        self.check()
        data = open_anywhere(self.data)
        if data.public:
            best = self._best(data, NoisePermit(private=False), report, stopped)
            return self._result(best, public=True)
        (charge,) = self.charges
        require_fit(self, account_of(data, ledger))
        with charging(data, charge, ledger, lasting=not is_own(self.data.id)) as permit:
            best = self._best(data, permit, report, stopped)
        result = self._result(best, public=False)
        return replace(result, receipt=Receipt.of(data, permit.entry), charge=charge)

    def _result(
        self, best: tuple[Score, Run] | None, *, public: bool
    ) -> "SelectionResult":
        if best is None:
            unit = self.kinds[0]().guarantee().unit
            return SelectionResult(self, None, {}, self.epsilon, public, "", unit)
        score, winner = best
        promise = winner.record.guarantee
        return SelectionResult(
            self,
            score.error.value,
            self._choice(winner),
            self.epsilon,
            public,
            f"{promise.status}: {promise.words}",
            promise.unit,
            (score.error.low, score.error.high),
            paired=score,
            floor_words=score.floor_words,
        )

    def _best(
        self,
        data: AnyData,
        permit: NoisePermit,
        report: Tell,
        stopped: Stopped,
    ) -> tuple[Score, Run] | None:
        """The trial with the lowest score."""
        drawing, scoring = np.random.SeedSequence(
            [self.searches[0].seed, 0x5E1EC7]
        ).spawn(2)
        if data.public:
            rng = np.random.default_rng(drawing)
        else:
            rng = Secret().generator()
        best: tuple[Score, Run] | None = None
        start_time = time.perf_counter()
        for _ in range(number_of_trials(self.distribution, self.trials, rng)):
            if stopped():
                raise Cancelled
            trial = run(self._place(rng, data.shape), stopped=stopped, paid=permit)
            require_gaussian(trial)
            noise = permit.noise(score_event(self.score_noise), scoring.spawn(1)[0])
            score = noisy_score(trial, noise)
            if best is None or score.error.value < best[0].error.value:
                best = (score, trial)
            if data.public:  # messages would reveal the number of trials
                report(Progress(0, 0, time.perf_counter() - start_time, ()))
        return best

    def _place(self, rng: np.random.Generator, shape: Any) -> RunSpec:
        """A random run for a trial, drawn again if the public shape forbids it.

        It has a split and noise of its own.
        """
        for _ in range(REDRAWS):
            seed = int(rng.integers(2**62))
            search = self.searches[int(rng.integers(len(self.searches)))]
            place = {
                name: random_value(values, rng)
                for name, values in search.search.items()
            }
            spec = search.model_copy(update={"seed": seed}).trial(place)
            try:
                prepare(spec, shape)
            except BadInput as error:
                complaint = error
            else:
                return spec
        raise BadInput(f"None of the parameters in the search can be run. {complaint}")

    def _choice(self, winner: Run) -> ParameterValues:
        """The published part of the best trial's choice: its method if there are several."""
        if len(self.searches) > 1:
            return {"method": winner.spec.algorithm}
        return {
            name: winner.record.parameters[name] for name in self.searches[0].search
        }

    def export(self, public: bool) -> dict[str, Any]:
        """The selection as JSON, as it may leave the machine."""
        spec = self.model_dump(mode="json")
        for search in () if public else spec["searches"]:
            search["data"]["id"] = file_of(search["data"]["id"])
        return spec


@dataclass(frozen=True)
class SelectionResult:
    """The result of a private selection.

    Attributes
    ----------
    spec
        The selection.
    score
        The noisy validation RMSE of the best trial; None if no trial was drawn.
    winner
        The parameters of the best trial.
    epsilon
        The epsilon of the whole selection.
    public
        Whether the data are public.
    guarantee
        The guarantee in words.
    unit
        The unit that the guarantee protects.
    interval
        The interval of the score, by its noise alone.
    paired, floor_words
        The score next to the error of own means, as figures and in words.
    receipt, charge
        The receipt and the charge of private data.
    """

    spec: PrivateSelection
    score: float | None
    winner: ParameterValues
    epsilon: float
    public: bool
    guarantee: str
    unit: str = "user"
    interval: tuple[float, float] | None = None
    paired: Score | None = None
    floor_words: str = ""
    receipt: Receipt | None = None
    charge: Charge | None = None

    @property
    def terms(self) -> str:
        """The terms of its epsilon: delta, unit, relation and rule."""
        budget = self.spec.budget
        relation = neighbours(self.unit, budget.relation)
        return f"δ = {delta_text(budget.delta)}, per {self.unit}, {relation}; {RULE}"

    def __str__(self) -> str:
        parts = [
            "No trial was drawn, so nothing is released. That is a possible outcome too."
        ]
        if self.score is not None:
            winner = [
                f"{name} = {number(value)}" for name, value in self.winner.items()
            ]
            parts = [
                f"The winner: {', '.join(winner)}",
                f"Its validation RMSE with noise: {self.score:.4f}.",
                self.floor_words,
                self.guarantee,
            ]
        cost = f"epsilon = {epsilon_text(self.epsilon)} ({in_words(self.terms)})"
        return "\n".join([*parts, f"The whole selection: {cost}."])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The only row that may be shown, for a table."""
        return [{"score": self.score, **self.winner}]

    def export(self) -> dict[str, Any]:
        """The result as JSON; on private data without anything from raw ratings."""
        budget = self.spec.budget
        return {
            "spec": self.spec.export(self.public),
            "winner": self.winner,
            "score": self.score,
            "interval": self.interval,
            "paired": None if self.paired is None else self.paired.columns,
            "epsilon": self.epsilon,
            "delta": budget.delta,
            "relation": str(budget.relation),
            "unit": self.unit,
            "guarantee": self.guarantee,
            "rule": RULE,
            **provenance(),
        }


def require_gaussian(trial: Run) -> None:
    """Raise BadInput unless a trial has only Gaussian releases: the theorem covers no others."""
    if any(row.mechanism != Gaussian.mechanism for row in trial.record.ledger):
        raise BadInput(
            f"{trial.record.title} has releases other than Gaussian ones, and its trade-off curve"
            " depends on the parameters. Choose another algorithm."
        )
    if not trial.record.guarantee.has_epsilon:
        raise BadInput(
            f"{trial.record.title} has no proof with these parameters, so the cost of choosing"
            " among its runs is unknown. Choose other parameters."
        )
