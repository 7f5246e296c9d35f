"""A private selection: a random number of private trials with parameters drawn at random, of which nothing but the best leaves (Papernot & Steinke 2022).

Unlike an open search (`tune`) it may be made on private ratings: all its trials run in one worker, and neither their number nor the losers are told,
journalled or stored. What is paid is the theorem's price of the whole, not of the winner.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dpmf_core.accounts import Paid, charging
from dpmf_core.errors import BadInput, Cancelled, explain
from dpmf_core.experiment import Data, Progress, Report, Run, RunSpec, file_of, ignore, is_own, open_data, open_split, prepare, provenance, run
from dpmf_core.noisy_errors import noisy_score, score_event
from dpmf_core.privacy import Budget, Calibration, Event, Gaussian, NoiseKind, Relation, Status, sequence
from dpmf_core.privacy.accounting import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.selection import number_of_trials, price_of_choosing
from dpmf_core.privacy.streams import Secret
from dpmf_core.tune import Interval, TuneSpec, Value

REDRAWS = 200
MOST = 200  # trials on average
RULE = "after Papernot & Steinke 2022 and Koskela, Redberg & Wang 2024, by the privacy profile of a trial"


class SelectionSpec(BaseModel):
    """One private selection, complete. trials: their mean number; score_noise: noise multiplier of each trial's validation score."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    limit: ClassVar[str] = "largest_search"
    counted: ClassVar[str] = "trials of a search"

    search: TuneSpec
    distribution: Literal["logarithmic", "geometric", "poisson", "binomial"] = "logarithmic"
    trials: float = Field(10.0, gt=1, le=MOST, allow_inf_nan=False)
    score_noise: float = Field(5.0, gt=0, le=1000, allow_inf_nan=False, title="score noise")

    @classmethod
    def parse(cls, **parts: Any) -> "SelectionSpec":
        """A checked specification. Raises BadInput with the first thing that is wrong."""
        try:
            made = cls(**parts)
        except ValidationError as error:
            raise explain(error, "the private selection", cls.model_json_schema().get("properties", {})) from None
        made.check()
        return made

    def check(self) -> None:
        """Raises BadInput where the theorem does not apply: everything that a trial releases must have the same Gaussian curve, whatever its parameters."""
        self.search.check()
        kind, budget = self.search.kind, self.search.budget
        if kind.task != "ratings":
            raise BadInput("A private selection scores trials by noisy validation errors, which exist for ratings. Search openly, on public data.")
        if budget is None:
            raise BadInput("A private selection needs a private algorithm and a budget for each trial: give an epsilon and a delta.")
        if budget.calibration is not Calibration.EXACT:
            raise BadInput("A private selection needs every trial to cost the same: set the noise by exact accounting, not by the source's rule.")
        if budget.noise is not NoiseKind.CONTINUOUS:
            raise BadInput("The price of a private selection is that of Gaussian releases: take continuous noise.")
        if self.search.sampler == "grid":
            raise BadInput("A private selection draws parameters at random: give ranges or lists for a sampler, not a grid.")

    @property
    def size(self) -> float:
        return self.trials

    @property
    def data(self) -> Any:
        """The data set of the search."""
        return self.search.data

    @property
    def trial_event(self) -> Event:
        """What one trial releases: a training of at most the budget's mu, and a noisy score."""
        return self._trial(1.0)

    def _trial(self, factor: float) -> Event:
        """A trial whose training is moved `factor` times as much by replacing a unit."""
        return sequence(Gaussian(1 / gaussian_mu(self.budget.epsilon, self.budget.delta), "training", 1.0, factor), score_event(self.score_noise))

    @property
    def budget(self) -> Budget:
        """Of the training in each trial."""
        if self.search.budget is None:
            raise ValueError("a private selection has a budget")
        return self.search.budget

    @property
    def epsilon(self) -> float:
        """Total epsilon of the selection, at the budget's delta and relation."""
        return self._price(self.trial_event, self.budget.relation)

    def _price(self, event: Event, relation: Relation) -> float:
        return price_of_choosing(event, self.trials, self.budget.delta, relation).best_of[self.distribution]

    @property
    def charge(self) -> Charge:
        """What it enters in the account of private data: its price as a whole, for the releases of its trials do not leave it.

        A budget for adding or removing a unit says of replacing one no more than that it moves a training at most twice as much; a budget for replacing
        one holds for both.
        """
        both = self.budget.relation is Relation.REPLACE_ONE
        replaced = self.epsilon if both else self._price(self._trial(2.0), Relation.REPLACE_ONE)
        kind, promise = self.search.kind, self.search.kind().guarantee()
        title = f"private selection, {kind.title}"
        return Charge(title, (), promise.status, promise.unit, self.budget.delta, self.budget.relation, (self.epsilon, replaced))

    def measure(self, report: Report = ignore, stopped: Callable[[], bool] = lambda: False) -> "Selected":
        """Draw, train, score, keep the best. Raises BadInput, and Cancelled when `stopped` turns true."""
        self.check()
        data = open_data(self.search.data)
        paying = contextlib.nullcontext(Paid(private=False)) if data.public else charging(data, self.charge, lasting=not is_own(self.search.data.id))
        with paying as paid:
            best = self._best(data, paid, report, stopped)
        if best is None:
            return Selected(self, None, {}, None, self.epsilon, data.public, "", self.search.kind().guarantee().unit)
        score, made = best
        promise = made.record["guarantee"]
        names = {name: made.record["parameters"][name] for name in self.search.search}
        return Selected(self, score, names, _test_rmse(made), self.epsilon, data.public, f"{promise['status']}: {promise['words']}", promise["unit"])

    def _best(self, data: Data, paid: Paid, report: Report, stopped: Callable[[], bool]) -> tuple[float, Run] | None:
        """The trial with the lowest score."""
        drawing, scoring = np.random.SeedSequence([self.search.seed, 0x5E1EC7]).spawn(2)
        rng = np.random.default_rng(drawing) if data.public else Secret().generator()
        best: tuple[float, Run] | None = None
        began = time.perf_counter()
        for _ in range(number_of_trials(self.distribution, self.trials, rng)):
            if stopped():
                raise Cancelled
            made = run(self._place(rng, data.shape), stopped=stopped, paid=paid)
            _covered(made)
            score = noisy_score(made, paid.noise(score_event(self.score_noise), scoring.spawn(1)[0]))
            if best is None or score < best[0]:
                best = (score, made)
            report(Progress(0, 0, time.perf_counter() - began, ()))  # how many there are is not told
        return best

    def _place(self, rng: np.random.Generator, shape: Any) -> RunSpec:
        """Parameters uniformly at random, drawn again where the public shape forbids them; with a split and noise of its own."""
        for _ in range(REDRAWS):
            moved = {name: _drawn(values, rng) for name, values in self.search.search.items()}
            spec = self.search.model_copy(update={"seed": int(rng.integers(2**62))}).trial(moved)
            try:
                prepare(spec, shape)
            except BadInput as error:
                complaint = error
            else:
                return spec
        raise BadInput(f"No parameters within the search can be run. {complaint}")


@dataclass(frozen=True)
class Selected:
    """What leaves a private selection. score: the winner's noisy validation RMSE, None where no trial was drawn; epsilon: of the whole.
    test_rmse: of the winner, computed on raw data, not released."""

    spec: SelectionSpec
    score: float | None
    winner: dict[str, Value]
    test_rmse: float | None
    epsilon: float
    public: bool
    guarantee: str
    unit: str = "user"

    @property
    def terms(self) -> str:
        """What its epsilon rests on: delta, unit, relation and rule."""
        budget = self.spec.search.budget
        neighbours = "" if budget is None else f"delta = {budget.delta:.1e}, per {self.unit}, {budget.relation}"
        return f"{neighbours}; {RULE}"

    def export(self) -> dict[str, Any]:
        """As JSON; on private data without what was computed from raw ratings."""
        budget = self.spec.search.budget
        spec = self.spec.model_dump(mode="json")
        if not self.public:
            spec["search"]["data"]["id"] = file_of(spec["search"]["data"]["id"])
        out = {
            "spec": spec, "winner": self.winner, "score": self.score, "epsilon": self.epsilon,
            "delta": budget.delta if budget else None, "relation": str(budget.relation) if budget else None, "unit": self.unit,
            "guarantee": self.guarantee, "rule": RULE, **provenance(),
        }  # fmt: skip
        return out | ({"test_rmse": self.test_rmse} if self.public else {})


def _covered(made: Run) -> None:
    """The theorem's curve is that of Gaussian releases of at most the budget; whatever else was released would be outside it."""
    if any(row["mechanism"] != "Gaussian" for row in made.record["ledger"]):
        raise BadInput(f"{made.record['title']} releases more than Gaussian noise, and not every choice of its parameters has the same curve.")
    if made.record["guarantee"]["status"] not in (Status.PROVEN, Status.CONDITIONAL):
        raise BadInput(f"Nothing is proved for {made.record['title']} with these parameters, so choosing among its runs has no price that holds.")


def _drawn(values: Interval | tuple[Value, ...], rng: np.random.Generator) -> Value:
    if isinstance(values, tuple):
        return values[int(rng.integers(len(values)))]
    low, high = float(values.low), float(values.high)
    whole = isinstance(values.low, int) and isinstance(values.high, int)
    if whole and not values.log:
        return int(rng.integers(int(low), int(high) + 1))
    at = float(np.exp(rng.uniform(np.log(low), np.log(high)))) if values.log else float(rng.uniform(low, high))
    return int(min(max(round(at), low), high)) if whole else at


def _test_rmse(made: Run) -> float:
    """The very model on the test ratings; training it again would be another release."""
    parts = open_split(made.spec.model_copy(update={"split": made.spec.split.model_copy(update={"judged": "test"})}))
    told = made.model.predict(made.model.personal(parts.history), parts.test.users, parts.test.items)
    return float(np.sqrt(np.mean((told - parts.test.values) ** 2, dtype=np.float64)))
