"""Search over an algorithm's parameters on validation ratings, and the cost of choosing.

A search asks a sampler (Optuna's) for parameters and the engine for runs, and reports results to
the sampler while runs continue. Its journal is next to the store, and every run is in the store, so
an interrupted search continues. A trial is some draws of split and noise; its score is their mean.
The best is compared with the recommended parameters over fresh draws, judged by test ratings. No
trial was trained or judged with those seeds.
"""

import itertools
import math
import statistics
import threading
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.base.paths import create_folder, data_folder
from dpmf_core.data.catalogue import is_own
from dpmf_core.privacy import Budget, Event, Repeat, sequence
from dpmf_core.privacy.selection import Price, price_of_choosing
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.noisy_errors import score_event
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import ParameterValues
from dpmf_core.runs.tuning.search_space import MOST_TRIALS, TuneSpec

STATES: dict[str, Literal["running", "done", "stopped"]] = {
    "COMPLETE": "done",
    "PRUNED": "stopped",
    "RUNNING": "running",
}


@dataclass(frozen=True)
class Trial:
    """One point that was tried.

    Attributes
    ----------
    measured
        The point and its score in each draw. It has no draws while the trial runs, or if the trial
        was stopped.
    """

    number: int
    state: Literal["running", "done", "stopped"]
    measured: Measured

    @property
    def place(self) -> ParameterValues:
        """The values of the parameters that vary."""
        return dict(self.measured.grid)

    @property
    def score(self) -> float | None:
        """The mean over draws, smaller is better; None without draws."""
        if self.measured.draws:
            return self.measured.mean
        return None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Student's 95% interval of the score; None for one draw or none."""
        if len(self.measured.draws) > 1:
            return self.measured.interval
        return None


class Search:
    """A running search: call `advance` until it returns false.

    Only one at a time may use a specification; several threads may use it.
    """

    def __init__(
        self,
        spec: TuneSpec,
        trials: int,
        engine: Any,
        width: int = 2,
        folder: Path | None = None,
        *,
        in_hand: bool = False,
    ) -> None:
        """Open the search.

        Parameters
        ----------
        spec
            The search.
        trials
            The number of trials, from 1 to `MOST_TRIALS`.
        engine
            The engine to which the runs are submitted.
        width
            The number of trials at a time.
        folder
            The folder of the journal; by default a folder with the other data.
        in_hand
            Whether no id finds the data again. The journal then stays in memory.

        Raises
        ------
        BadInput
            If the number of trials is outside its range, or larger than the server allows.
        """
        if not 1 <= trials <= MOST_TRIALS:
            raise BadInput(
                f"The number of trials must be from 1 to {MOST_TRIALS:,}. Got {trials}."
            )
        self.spec = spec
        self.trials_asked = trials
        self.engine = engine
        self._width = width
        journal_folder: Path | None = folder or data_folder() / "tune"
        if in_hand or is_own(spec.data.id):  # uploads leave no trace
            journal_folder = None
        self._study = _study(spec, journal_folder)
        # by number: Optuna's trial, and a job for each draw
        self._running: dict[int, tuple[Any, list[Any]]] = {}
        # by number: points of the curve that the pruner has seen
        self._reported_points: dict[int, int] = {}
        self._lock = threading.RLock()
        self.failure: str | None = None
        self.cancelled = False  # cancelled and not resumed since
        limits.at_most("largest_search", self.n_trials, "trials of a search")
        self._left_over()

    def _left_over(self) -> None:
        """Ask again for trials that an interrupted search left; a new one starts as recommended."""
        for old in self._study.get_trials(deepcopy=False):
            if old.state.name == "RUNNING":
                self._put_back(old)
        if self._study.trials:
            return
        if self.spec.sampler == "grid":
            places = _grid(self.spec)
        else:
            places = [_recommendation(self.spec)]
        for place in filter(None, places):
            self._study.enqueue_trial(place)

    def _put_back(self, trial: Any) -> None:
        """Ask again for the point of an interrupted trial, which has no result."""
        self._tell(trial, "FAIL")
        self._study.enqueue_trial(trial.params, skip_if_exists=False)

    def _tell(self, trial: Any, state: str) -> None:
        from optuna.trial import TrialState

        self._study.tell(trial.number, state=TrialState[state])

    def advance(self) -> bool:
        """Take finished results, stop poor trials, ask for more; also resumes a cancelled search.

        Returns whether the search goes on. Raises BadInput if no trial can start.
        """
        with self._lock:
            self.cancelled = False
            for number, (trial, jobs) in list(self._running.items()):
                if any(job.state in ("failed", "cancelled") for job in jobs):
                    _stop(jobs)
                if any(job.state in ("waiting", "running") for job in jobs):
                    self._watch(trial, jobs)
                else:
                    del self._running[number]
                    self._take(trial, jobs)
            while self.failure is None and self._may_ask():
                trial = self._study.ask()
                place = _suggestion(trial, self.spec)
                specs = [
                    self.spec.trial(place, draw) for draw in range(self.spec.draws)
                ]
                jobs = [self.engine.submit(spec, priority=-5) for spec in specs]
                self._running[trial.number] = (trial, jobs)
            return self.busy

    def _may_ask(self) -> bool:
        n_running = len(self._running)
        return n_running < self._width and self.n_settled + n_running < self.n_trials

    def _watch(self, trial: Any, jobs: Sequence[Any]) -> None:
        """Report the first draw's curve so far, and stop the trial if the pruner says so.

        It is compared with the first draws of other trials.
        """
        progress = jobs[0].progress
        # curves that share a budget among other steps are not comparable
        if not self.spec.prune or progress is None or "steps" in self.spec.search:
            return
        new = progress.curves[self._reported_points.get(trial.number, 0) :]
        self._reported_points[trial.number] = len(progress.curves)
        for point in new:
            value = point.get("test_rmse", point.get("objective"))
            if value is not None and math.isfinite(value):
                trial.report(value, int(point["step"]))
        if new and trial.should_prune():
            _stop(jobs)

    def _take(self, trial: Any, jobs: Sequence[Any]) -> None:
        failed_job = next((job for job in jobs if job.state == "failed"), None)
        if failed_job is not None:
            self._tell(trial, "FAIL")
            if not failed_job.bad_input or self.best is None:
                self.failure = failed_job.error
        elif any(job.state == "cancelled" for job in jobs):
            self._tell(trial, "PRUNED")
        else:
            finished_runs: list[Run] = [job.result(0) for job in jobs]
            scores = [run.record.metric(self.spec.metric) for run in finished_runs]
            trial.set_user_attr("run", finished_runs[0].key)
            trial.set_user_attr("draws", scores)
            self._study.tell(trial, statistics.fmean(scores))

    @property
    def busy(self) -> bool:
        """Whether trials are running."""
        return bool(self._running)

    @property
    def n_trials(self) -> int:
        """The planned number of trials."""
        if self.spec.sampler == "grid":
            return len(_grid(self.spec))
        return self.trials_asked

    @property
    def n_settled(self) -> int:
        """The number of trials with a score or stopped early."""
        return sum(trial.state in ("done", "stopped") for trial in self.trials)

    @property
    def trials(self) -> list[Trial]:
        """Every trial so far, in the order of asking, without interrupted ones."""
        return [
            Trial(trial.number, STATES[trial.state.name], self._measured(trial))
            for trial in self._study.get_trials(deepcopy=False)
            if trial.state.name in STATES
        ]

    def _measured(self, trial: Any) -> Measured:
        """Optuna's trial as draws of the point."""
        spec = self.spec
        draws: tuple[float, ...] = ()
        if trial.state.name == "COMPLETE":
            draws = tuple(trial.user_attrs.get("draws", (trial.value,)))
        return Measured(
            label=spec.kind.title,
            algorithm=spec.algorithm,
            epsilon=None if spec.budget is None else spec.budget.epsilon,
            grid=dict(trial.params),
            draws=draws,
            seeds=tuple(spec.seed + draw for draw in range(len(draws))),
        )

    @property
    def best(self) -> Trial | None:
        """The finished trial with the smallest score."""
        return next(iter(by_score(self.trials)), None)

    def importance(self) -> dict[str, float]:
        """The share of the scores' variance that each parameter explains.

        Hutter, Hoos & Leyton-Brown 2014. Empty before there are enough trials.
        """
        scores = [trial.score for trial in self.trials if trial.score is not None]
        if len(scores) < 4 or len(set(scores)) < 2:
            return {}
        from optuna.importance import get_param_importances

        return {
            name: float(share)
            for name, share in get_param_importances(self._study).items()
        }

    def cancel(self) -> None:
        """Stop running trials; finished ones are kept, and the rest can be asked for again."""
        with self._lock:
            for trial, jobs in self._running.values():
                _stop(jobs)
                self._put_back(trial)
            self._running.clear()
            self.cancelled = True


def _stop(jobs: Sequence[Any]) -> None:
    for job in jobs:
        if job.state in ("waiting", "running"):
            job.cancel()


def _study(spec: TuneSpec, folder: Path | None) -> Any:
    """Optuna's study, with a journal in the folder or in memory."""
    with extra("tune"):
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    seed = spec.seed % 2**32
    with warnings.catch_warnings():
        # joint densities, and trials that run side by side
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        tpe = optuna.samplers.TPESampler(
            seed=seed,
            multivariate=True,
            constant_liar=True,
        )
    # points of a grid are queued beforehand
    sampler: optuna.samplers.BaseSampler = tpe
    if spec.sampler != "tpe":
        sampler = optuna.samplers.RandomSampler(seed=seed)
    storage: Any = None
    if folder is not None:
        create_folder(folder)
        journal: Any = JournalFileBackend(str(folder / f"{spec.key}.log"))
        storage = JournalStorage(journal)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5)
    return optuna.create_study(
        storage=storage,
        study_name=spec.key,
        sampler=sampler,
        pruner=pruner,
        load_if_exists=storage is not None,
    )


def _suggestion(trial: Any, spec: TuneSpec) -> ParameterValues:
    """The sampler's next point."""
    out: ParameterValues = {}
    for name, values in spec.search.items():
        if isinstance(values, tuple):
            out[name] = trial.suggest_categorical(name, list(values))
        elif isinstance(values.low, int) and isinstance(values.high, int):
            out[name] = int(
                trial.suggest_int(name, values.low, values.high, log=values.log)
            )
        else:
            out[name] = float(
                trial.suggest_float(name, values.low, values.high, log=values.log)
            )
    return out


def _grid(spec: TuneSpec) -> list[ParameterValues]:
    lists = {
        name: values
        for name, values in spec.search.items()
        if isinstance(values, tuple)
    }
    return [
        dict(zip(lists, values, strict=True))
        for values in itertools.product(*lists.values())
    ]


def _recommendation(spec: TuneSpec) -> ParameterValues:
    """The algorithm's own recommendation, if it lies inside the search."""
    run = spec.trial({})
    algorithm = prepare(run, open_anywhere(spec.data).shape).algorithm
    place = {name: getattr(algorithm, name) for name in spec.search}
    inside = all(
        place[name] in values
        if isinstance(values, tuple)
        else values.low <= place[name] <= values.high
        for name, values in spec.search.items()
    )
    if inside:
        return place
    return {}


def price(
    plan: Event, score_noise: float | None, mean: float, budget: Budget, draws: int = 1
) -> Price:
    """The cost of choosing the best of about `mean` trials.

    In each of its draws a trial releases `plan` and, if its score is computed from private ratings,
    a noisy score.
    """
    once = plan
    if score_noise is not None:
        once = sequence(plan, score_event(score_noise))
    return price_of_choosing(Repeat(once, draws), mean, budget.delta, budget.relation)


def by_score(trials: Iterable[Trial]) -> list[Trial]:
    """The finished trials, the smallest score first."""
    finished = [trial for trial in trials if trial.score is not None]
    return sorted(finished, key=lambda trial: (trial.score, trial.number))


def table(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """One row per trial: number, state, score with interval and draws, varied parameters."""
    return [
        {
            "trial": trial.number,
            "state": trial.state,
            "score": trial.score,
            "interval": trial.interval,
            "draws": trial.measured.draws,
            **trial.place,
        }
        for trial in trials
    ]
