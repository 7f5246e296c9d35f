"""Search over an algorithm's parameters on validation ratings, and what choosing costs.

A search asks a sampler (Optuna's) for parameters, the engine for runs, and tells the sampler what came out, while runs go on. Its journal lies beside the
store, and every run is in the store, so that a search that was cut goes on. A trial is some draws of split and noise, its score their mean. The winner is
compared with the recommended parameters over fresh draws, judged by test ratings: no trial was trained or judged with those seeds.
"""

import hashlib
import itertools
import json
import math
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dpmf_core import algorithms, limits
from dpmf_core.algorithms import Algorithm
from dpmf_core.data import SplitSpec
from dpmf_core.errors import BadInput, closest, explain
from dpmf_core.experiment import DataSpec, Run, RunSpec, is_own, open_data, prepare
from dpmf_core.fresh import FRESH
from dpmf_core.home import data_folder, made
from dpmf_core.noisy_errors import score_event
from dpmf_core.paired import Paired
from dpmf_core.privacy import Budget, Event, Repeat, sequence
from dpmf_core.privacy.selection import Price, price_of_choosing

Value = bool | int | float | str
MOST_TRIALS, MOST_DRAWS = 2000, 20
SPREAD = 4.0  # a range that is not given reaches from a quarter of the recommended value to four times that


class Interval(BaseModel):
    """Numbers from low to high; whole ones where both ends are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: int | float
    high: int | float
    log: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high:
            raise ValueError("a range must be two numbers, the lower first")
        if self.log and self.low <= 0:
            raise ValueError("a logarithmic range must lie above 0")
        return self


class TuneSpec(BaseModel):
    """One search, complete but for how long it goes on. search: for each parameter that may move, a range or a list of choices."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: DataSpec
    algorithm: str
    search: dict[str, Interval | tuple[Value, ...]]
    fixed: dict[str, Value] = Field(default_factory=dict)
    budget: Budget | None = None
    split: SplitSpec = SplitSpec(validation_fraction=0.1)
    seed: int = Field(0, ge=0, lt=2**62, description="of the first draw and of the sampler")
    draws: int = Field(3, ge=1, le=MOST_DRAWS, description="of split and noise, in each trial")
    sampler: Literal["tpe", "random", "grid"] = Field("tpe", description="tpe: tree-structured Parzen estimator (Bergstra et al. 2011)")
    prune: bool = Field(True, description="stop a trial whose curve lies above the median of those before it; not where steps move")

    @classmethod
    def parse(cls, **parts: Any) -> "TuneSpec":
        """A checked specification. Raises BadInput with the first thing that is wrong."""
        try:
            made = cls(**parts)
        except ValidationError as error:
            raise explain(error, "the search", cls.model_json_schema().get("properties", {})) from None
        made.check()
        return made

    @property
    def kind(self) -> type[Algorithm]:
        return algorithms.find(self.algorithm)

    @property
    def key(self) -> str:
        said = self.model_dump(mode="json", exclude={"draws"} if self.draws == 1 else None)  # journals of searches with one draw name none
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]

    @property
    def metric(self) -> str:
        """What is made small."""
        return "rmse" if self.kind.task == "ratings" else "objective"

    def check(self) -> None:
        """Raises BadInput where nothing may move, or what does not exist, or where a grid would be endless."""
        if not self.search:
            raise BadInput("No parameter may move: name at least one to search over.")
        known = self.kind.model_fields
        for name in (*self.search, *self.fixed):
            if name not in known:
                raise BadInput(f"{self.kind.title} has no parameter '{name}'.{closest(name, known)} It has: {', '.join(known)}.")
        if self.sampler == "grid":
            if ranged := [name for name, values in self.search.items() if isinstance(values, Interval)]:
                raise BadInput(f"A grid needs a list of values for '{ranged[0]}', e.g. {ranged[0]}=1,2,4. Ranges are for the samplers.")
            if (count := math.prod(len(values) for values in self.search.values() if isinstance(values, tuple))) > MOST_TRIALS:
                raise BadInput(f"The grid has {count:,} places, at most {MOST_TRIALS:,} are searched. Take fewer values, or a sampler.")
        if self.kind.task == "ratings" and not self.split.validation_fraction:
            raise BadInput("A search is judged by validation ratings: give a validation fraction above 0.")

    def trial(self, moved: Mapping[str, Value], draw: int = 0) -> RunSpec:
        """The run of one draw of a trial, which sees no test rating of its split."""
        judged = "validation" if self.kind.task == "ratings" else "test"
        return self._run(moved, self.split.model_copy(update={"judged": judged}), self.seed + draw)

    def final(self, moved: Mapping[str, Value], draw: int = 0) -> RunSpec:
        """A fresh draw, of no trial's seed: trained on what would be validation too, judged by the test ratings."""
        return self._run(moved, self.split.model_copy(update={"validation_fraction": 0.0}), self.seed + self.draws + draw)

    def fresh(self, moved: Mapping[str, Value]) -> dict[str, RunSpec]:
        """The winner and the recommended parameters over the same fresh draws: winner 0, default 0, winner 1, ..."""
        both: tuple[tuple[str, Mapping[str, Value]], ...] = (("winner", moved), ("default", {}))
        return {f"{who} {draw}": self.final(place, draw) for draw in range(FRESH) for who, place in both}

    def _run(self, moved: Mapping[str, Value], split: SplitSpec, seed: int) -> RunSpec:
        parameters = {**self.fixed, **moved}
        return RunSpec.parse(data=self.data, algorithm=self.algorithm, parameters=parameters, budget=self.budget, split=split, seed=seed).canonical()


def default_range(kind: type[Algorithm], name: str, recommended: Value) -> Interval | tuple[Value, ...]:
    """From a quarter of the recommended value to four times that, within what the parameter allows; every choice where it is one of several."""
    field = kind.model_json_schema()["properties"][name]
    if field.get("type") == "boolean":
        return (False, True)
    if "enum" in field:
        return tuple(field["enum"])
    whole = field.get("type") == "integer"
    value = float(recommended)
    inside = {end: bound + 0.02 * (value - bound) for end in ("exclusiveMinimum", "exclusiveMaximum") if (bound := field.get(end)) is not None}
    low = max(value / SPREAD, field.get("minimum", inside.get("exclusiveMinimum", -math.inf)))
    high = min(value * SPREAD, field.get("maximum", inside.get("exclusiveMaximum", math.inf)))
    if whole:
        low, high = max(1, math.floor(low)), max(2, math.ceil(high))
        return Interval(low=int(low), high=int(high), log=low > 0 and high > 8 * low)
    if not low < high:
        return Interval(low=0.0, high=min(1.0, field.get("maximum", 1.0)))
    return Interval(low=low, high=high, log=low > 0)


@dataclass(frozen=True)
class Trial:
    """One place that was tried. score: mean over draws, smaller is better, None while it runs or where it was stopped; draws: each one's score."""

    number: int
    moved: dict[str, Value]
    state: Literal["running", "done", "stopped", "failed"]
    score: float | None
    step: int = 0
    draws: tuple[float, ...] = ()

    @property
    def interval(self) -> tuple[float, float] | None:
        """Student's 95% interval of the score over draws; None of one draw, or where there is no score."""
        return Paired(self.draws).interval if len(self.draws) > 1 else None


class Jobs(Protocol):
    """What a search asks of the engine."""

    def submit(self, spec: RunSpec, priority: int = 0, asker: str = "", cost: float = 0.0) -> Any: ...


class Search:
    """A search that goes on: call `advance` until it says that it has ended. Several may not share a specification at a time."""

    def __init__(self, spec: TuneSpec, trials: int, engine: Jobs, width: int = 2, folder: Path | None = None, asker: str = "", cost: float = 0.0) -> None:
        """asker, cost: the session that it is made for, and estimated seconds of a training."""
        if not 1 <= trials <= MOST_TRIALS:
            raise BadInput(f"The number of trials must lie from 1 to {MOST_TRIALS:,}. Got {trials}.")
        self.spec, self.trials_asked, self._engine, self._width = spec, trials, engine, width
        self._asking: dict[str, Any] = {"asker": asker, "cost": cost} if asker else {}
        self._study = _study(spec, folder or data_folder() / "tune")
        self._running: dict[int, tuple[Any, list[Any]]] = {}  # number: (optuna's trial, a job for each draw)
        self._told: dict[int, int] = {}  # number: points of its curve that the pruner has seen
        limits.at_most("largest_search", self.asked, "trials of a search")
        self._left_over()
        self.failure: str | None = None

    def _left_over(self) -> None:
        """Trials that a cut search left running are asked for again; a new search begins with the recommended place."""
        from optuna.trial import TrialState

        for old in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self._study.tell(old.number, state=TrialState.FAIL)
            self._study.enqueue_trial(old.params, skip_if_exists=False)
        if self._study.trials:
            return
        places = _grid(self.spec) if self.spec.sampler == "grid" else [_recommended(self.spec)]
        for place in filter(None, places):
            self._study.enqueue_trial(place)

    def advance(self) -> bool:
        """Take in what has finished, stop what looks poor, ask for more. Whether there is more to come. Raises BadInput where no trial can start."""
        for number, (trial, jobs) in list(self._running.items()):
            if any(job.state in ("failed", "cancelled") for job in jobs):
                _stop(jobs)
            if any(job.state in ("waiting", "running") for job in jobs):
                self._watch(trial, jobs)
            else:
                del self._running[number]
                self._take(trial, jobs)
        while self.failure is None and len(self._running) < self._width and self._settled + len(self._running) < self.asked:
            trial = self._study.ask()
            moved = _suggested(trial, self.spec)
            specs = [self.spec.trial(moved, draw) for draw in range(self.spec.draws)]
            self._running[trial.number] = (trial, [self._engine.submit(spec, priority=-5, **self._asking) for spec in specs])
        return bool(self._running)

    def _watch(self, trial: Any, jobs: Sequence[Any]) -> None:
        """Report the first draw's curve so far, which compares with the first draws of other trials; stop the trial where the pruner says so."""
        job = jobs[0]
        if not self.spec.prune or job.progress is None or "steps" in self.spec.search:  # curves that share a budget among other steps do not compare
            return
        new = job.progress.curves[self._told.get(trial.number, 0) :]
        self._told[trial.number] = len(job.progress.curves)
        for point in new:
            value = point.get("test_rmse", point.get("objective"))
            if value is not None and math.isfinite(value):
                trial.report(value, int(point["step"]))
        if new and trial.should_prune():
            _stop(jobs)

    def _take(self, trial: Any, jobs: Sequence[Any]) -> None:
        from optuna.trial import TrialState

        failed = next((job for job in jobs if job.state == "failed"), None)
        if failed is not None:
            self._study.tell(trial, state=TrialState.FAIL)
            if not failed.bad_input or not self._finished():
                self.failure = failed.error
        elif any(job.state == "cancelled" for job in jobs):
            self._study.tell(trial, state=TrialState.PRUNED)
        else:
            made: list[Run] = [job.result(0) for job in jobs]
            scores = [float(run.record["metrics"][self.spec.metric]) for run in made]
            trial.set_user_attr("run", made[0].key)
            trial.set_user_attr("draws", scores)
            self._study.tell(trial, statistics.fmean(scores))

    @property
    def busy(self) -> bool:
        """Whether trials are running."""
        return bool(self._running)

    @property
    def asked(self) -> int:
        """How many trials there are to be."""
        if self.spec.sampler != "grid":
            return self.trials_asked
        return math.prod(len(values) for values in self.spec.search.values() if isinstance(values, tuple))

    @property
    def _settled(self) -> int:
        from optuna.trial import TrialState

        return len(self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)))

    def _finished(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.state == "done"]

    @property
    def trials(self) -> list[Trial]:
        """Every trial so far, in the order of asking; what a cut left half done is not among them."""
        from optuna.trial import TrialState

        states: dict[Any, Literal["running", "done", "stopped"]] = {
            TrialState.COMPLETE: "done", TrialState.PRUNED: "stopped", TrialState.RUNNING: "running",
        }  # fmt: skip
        return [
            Trial(
                it.number, dict(it.params), states[it.state], it.value if it.state is TrialState.COMPLETE else None, it.last_step or 0,
                tuple(it.user_attrs.get("draws", ())),
            )
            for it in self._study.get_trials(deepcopy=False) if it.state in states
        ]  # fmt: skip

    @property
    def best(self) -> Trial | None:
        """The finished trial with the smallest score."""
        return min(self._finished(), key=lambda trial: (trial.score, trial.number), default=None)

    def importance(self) -> dict[str, float]:
        """Share of the scores' variance that each parameter explains (Hutter, Hoos & Leyton-Brown 2014); empty before there are enough trials."""
        if len(self._finished()) < 4 or len({trial.score for trial in self._finished()}) < 2:
            return {}
        from optuna.importance import get_param_importances

        return {name: float(share) for name, share in get_param_importances(self._study).items()}

    def cancel(self) -> None:
        """Stop what runs; what has finished is kept."""
        for _, jobs in self._running.values():
            _stop(jobs)


def _stop(jobs: Sequence[Any]) -> None:
    for job in jobs:
        if job.state in ("waiting", "running"):
            job.cancel()


def _study(spec: TuneSpec, folder: Path) -> Any:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    seed = spec.seed % 2**32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # joint densities, and trials that run side by side
        samplers: dict[str, Callable[[], Any]] = {
            "tpe": lambda: optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True),
            "random": lambda: optuna.samplers.RandomSampler(seed=seed),
            "grid": lambda: optuna.samplers.RandomSampler(seed=seed),  # every place is asked for beforehand
        }
        sampler = samplers[spec.sampler]()
    storage: Any = None  # a file that somebody brought leaves no trace: its search lives in memory
    if not is_own(spec.data.id):
        made(folder)
        journal: Any = JournalFileBackend(str(folder / f"{spec.key}.log"))
        storage = JournalStorage(journal)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5)
    return optuna.create_study(storage=storage, study_name=spec.key, sampler=sampler, pruner=pruner, load_if_exists=storage is not None)


def _suggested(trial: Any, spec: TuneSpec) -> dict[str, Value]:
    """The sampler's next place."""
    out: dict[str, Value] = {}
    for name, values in spec.search.items():
        if isinstance(values, tuple):
            out[name] = trial.suggest_categorical(name, list(values))
        elif isinstance(values.low, int) and isinstance(values.high, int):
            out[name] = int(trial.suggest_int(name, values.low, values.high, log=values.log))
        else:
            out[name] = float(trial.suggest_float(name, values.low, values.high, log=values.log))
    return out


def _grid(spec: TuneSpec) -> list[dict[str, Value]]:
    lists = {name: values for name, values in spec.search.items() if isinstance(values, tuple)}
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def _recommended(spec: TuneSpec) -> dict[str, Value]:
    """The algorithm's own recommendation, where it lies inside the search."""
    run = RunSpec.parse(data=spec.data, algorithm=spec.algorithm, parameters=dict(spec.fixed), budget=spec.budget, seed=spec.seed)
    made = prepare(run, open_data(spec.data).shape).algorithm
    place = {name: getattr(made, name) for name in spec.search}
    inside = all(value in values if isinstance(values, tuple) else values.low <= value <= values.high for (name, values), value in _pairs(spec, place))
    return place if inside else {}


def _pairs(spec: TuneSpec, place: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Interval | tuple[Value, ...]], Any]]:
    return ((item, place[item[0]]) for item in spec.search.items())


# ---- what choosing costs ----------------------------------------------------------------------------------------------


def price(plan: Event, score_noise: float | None, mean: float, budget: Budget, draws: int = 1) -> Price:
    """What the best of about `mean` trials costs. In each of its draws a trial releases `plan` and, where its score is computed from private ratings, a
    noisy score."""
    once = plan if score_noise is None else sequence(plan, score_event(score_noise))
    return price_of_choosing(Repeat(once, draws), mean, budget.delta, budget.relation)


def table(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """A row a trial: number, state, score with its interval and draws, and the parameters that moved."""
    return [
        {"trial": trial.number, "state": trial.state, "score": trial.score, "interval": trial.interval, "draws": trial.draws, **trial.moved} for trial in trials
    ]
