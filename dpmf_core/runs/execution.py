"""One run, from its specification to its record."""

import contextlib
import secrets
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm, Streams, curator_for, curator_of
from dpmf_core.base.errors import Cancelled
from dpmf_core.base.paths import workplace
from dpmf_core.base.progress import Progress, Stopped, Tell, ignore
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import Curator, in_parts
from dpmf_core.data import AnyData, PartitionedRatings
from dpmf_core.data.catalogue import is_own
from dpmf_core.data.partitioned import PartitionedTable
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.evaluation import judges
from dpmf_core.evaluation.blocks import require_splittable
from dpmf_core.evaluation.registry import TaskKind
from dpmf_core.privacy import (
    Calibration,
    Noise,
    PlanViolation,
    accounts,
    noise_words,
    normal_form,
)
from dpmf_core.privacy.accounts import LedgerFile, NoisePermit
from dpmf_core.privacy.events import Ledger
from dpmf_core.privacy.receipts import Receipt
from dpmf_core.runs import partition_selection
from dpmf_core.runs.data_access import open_split, open_watched, split_ratings
from dpmf_core.runs.filters import PublicShape, by_exact_counts, filtered
from dpmf_core.runs.memory import peak_mb
from dpmf_core.runs.planning import (
    PreparedRun,
    charge_before,
    first_release,
    prepared_for,
)
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.record import ItemNames, Run, RunRecord, provenance
from dpmf_core.runs.specification import RunSpec, run_key, seeds

AnyJudge = judges.Judge | judges.NoJudge


REPORTS = 40  # progress reports of a run with many steps


class _Watcher:
    """Judges the model after the first step, the last and some between.

    Time for judging does not count as fitting.
    """

    def __init__(
        self,
        judge: AnyJudge,
        steps: int,
        points: int,
        report: Tell,
        stopped: Stopped,
    ) -> None:
        self.judge = judge
        self.steps = steps
        self.report = report
        self.stopped = stopped
        self.judge_steps = spread_out(steps, points)
        self.report_steps = spread_out(steps, REPORTS)
        self.curves: list[dict[str, float]] = []
        self.measuring = 0.0
        self.start = time.perf_counter()
        self.end = self.start

    def last(self, models: Iterator[Any]) -> Any:
        """The last of the models that a fit yields. Raises Cancelled."""
        step = 0
        last_judged = 0
        model = None
        for step, model in enumerate(models, 1):
            if self.stopped():
                raise Cancelled
            if step in self.judge_steps:
                self._judge(step, model)
                last_judged = step
            if step in self.judge_steps | self.report_steps:
                self._tell(step)
        if last_judged < min(step, self.steps):  # the fit ended before its last step
            self._judge(self.steps, model)
            self._tell(self.steps)
        self.end = time.perf_counter()
        return model

    def seconds(self, began: float) -> dict[str, float]:
        """Seconds since `began`, by phase."""
        return {
            "load": self.start - began,
            "fit": self.end - self.start - self.measuring,
            "evaluate": time.perf_counter() - self.end + self.measuring,
        }

    def _judge(self, step: int, model: Any) -> None:
        began = time.perf_counter()
        if point := self.judge.point(model):
            self.curves.append({"step": float(step)} | point)
        self.measuring += time.perf_counter() - began

    def _tell(self, step: int) -> None:
        began = time.perf_counter()
        self.report(Progress(step, self.steps, began - self.start, tuple(self.curves)))
        self.measuring += time.perf_counter() - began
        if self.stopped():
            raise Cancelled


class _ReadingWatcher:
    """Called before each partition is read: cancels the run there, and reports which it is."""

    def __init__(self, report: Tell, stopped: Stopped) -> None:
        self._report = report
        self._stopped = stopped
        self._last = Progress(0, 0, 0.0, ())

    def report(self, progress: Progress) -> None:
        """Report a step; the report is repeated with the partitions that are read next."""
        self._last = progress
        self._report(progress)

    def __call__(self, place: int, count: int) -> None:
        if self._stopped():
            raise Cancelled
        self._report(replace(self._last, part=(place + 1, count)))


def spread_out(steps: int, points: int) -> frozenset[int]:
    """At most `points` (two or more) of the steps, evenly spread, with the first and the last."""
    if points >= steps:
        return frozenset(range(1, steps + 1))
    return frozenset(np.linspace(steps, 1, points).round().astype(int).tolist())


def run(
    spec: RunSpec,
    *,
    report: Tell = ignore,
    stopped: Stopped = lambda: False,
    input_data: AnyData | None = None,
    ledger: LedgerFile = None,
    paid: NoisePermit | None = None,
) -> Run:
    """Do one run, on the catalogue's data or on the given data.

    On private data it enters the account: the data folder's, or the file `ledger`.

    Parameters
    ----------
    paid
        The permit, if a charge covers the run already.

    Returns
    -------
    Run
        The finished run.

    Raises
    ------
    BadInput
        If the run cannot start, or if a budget does not allow it.
    Cancelled
        When `stopped` returns true.
    """
    began = time.perf_counter()
    original_data, report = _asked_data(spec, input_data, report, stopped)
    key = run_key(spec, original_data)
    with _paying(spec, original_data, input_data, ledger, paid) as permit:
        data, first, released_shape = _in_released_shape(spec, original_data, permit)
        judge = _judge(spec, data, input_data is not None or spec.data.releases_shape)
        ready = prepared_for(spec, data)
        if paid is None:
            permit.guarantee = ready.guarantee
        streams = seeds(spec.seed)
        noise = permit.noise(ready.rest, streams.privacy, _whole_triangle(spec))
        watcher = _Watcher(
            judge, ready.algorithm.n_steps, spec.curve_points, report, stopped
        )
        # sums in one order, whatever the number of threads; kernels share rows
        with single_threaded_blas, _curator(ready, judge, noise) as curator:
            rng = Streams(np.random.default_rng(streams.init), streams.sampling)
            model = watcher.last(ready.algorithm.fit(curator, rng))
            _must_be_as_planned(ready, first, noise.ledger)
            figures, buckets = judge.figures(model)
    releases = first + noise.ledger
    record = RunRecord(
        **dict(
            PrivacyRecord.of(
                releases, ready.plan, spec.canonical().budget, ready.guarantee
            )
        ),
        **provenance(),
        **_facts(spec, ready, judge),
        key=key,
        public=data.public,
        noise_is_reproducible=noise.is_reproducible,
        noise=noise_words(
            (leaf.mechanism for leaf, _ in releases), noise.is_reproducible
        ),
        metrics=figures,
        buckets=buckets,
        curves=tuple(watcher.curves),
        model=model.settings,
        seconds=watcher.seconds(began),
        peak_mb=peak_mb(),
        released_shape=released_shape,
        receipt=None if data.public else Receipt.of(original_data, permit.entry),
    )
    return Run(record, model.arrays, _names(input_data, judge.train))


def _facts(spec: RunSpec, ready: PreparedRun, judge: AnyJudge) -> dict[str, Any]:
    """The parts of a record that are known before the first release."""
    shape: Any = judge.train.shape
    return {
        "spec": spec.canonical(),
        "title": ready.algorithm.title,
        "version": type(ready.algorithm).version,
        "parameters": ready.algorithm.model_dump(mode="json"),
        "shape": {
            name: fact
            for name, fact in asdict(shape).items()
            if name != "item_features"
        },
        "split": judge.words,
    }


def _asked_data(
    spec: RunSpec, input_data: AnyData | None, report: Tell, stopped: Stopped
) -> tuple[AnyData, Tell]:
    """The data before their shape is released, and the report function.

    For ratings in partitions it also reports reading.
    """
    reader = _ReadingWatcher(report, stopped)
    data = open_watched(spec.data, reader, input_data)
    if isinstance(data, PartitionedRatings):
        report = reader.report
        # refuses options that partitions lack, before any charge
        prepared_for(spec, data)
        require_splittable(spec.split, data.name)
    return data, report


def _paying(
    spec: RunSpec,
    data: AnyData,
    input_data: AnyData | None,
    ledger: LedgerFile,
    paid: NoisePermit | None,
) -> contextlib.AbstractContextManager[Any]:
    """The charge to the data's account, settled at the end; nothing if it is paid already."""
    if paid is not None:
        return contextlib.nullcontext(paid)
    in_hand = input_data is not None
    lasting = in_hand or not is_own(spec.data.id)
    charge = charge_before(spec, data)
    return accounts.charging(data, charge, ledger, lasting, in_hand=in_hand)


def _names(input_data: AnyData | None, train: Any) -> ItemNames | None:
    """The names of the items, for ratings that cannot be opened again."""
    has_items = input_data is not None and isinstance(
        train, Ratings | PartitionedRatings
    )
    if has_items:
        return ItemNames.of(train)
    return None


@contextlib.contextmanager
def _curator(ready: PreparedRun, judge: AnyJudge, noise: Noise) -> Iterator[Curator]:
    """A curator of the training data for one fit.

    For ratings in partitions its states are on disk until the fit ends.
    """
    algorithm = ready.algorithm
    data = judge.train
    if not isinstance(data, PartitionedRatings | PartitionedTable):
        yield curator_for(algorithm, data, noise)
        return
    with tempfile.TemporaryDirectory(dir=workplace()) as folder:
        people = in_parts(data.kept_in(Path(folder)), Path(folder))
        yield curator_of(algorithm, people, noise, {})


def _whole_triangle(spec: RunSpec) -> bool:
    """Whether symmetric matrices get the source's own noise, of one deviation everywhere."""
    budget = spec.canonical().budget
    kind = spec.kind
    if budget is None or not issubclass(kind, PrivateAlgorithm):
        return False
    return budget.calibration is Calibration.SOURCE and kind.whole_triangle


def _must_be_as_planned(ready: PreparedRun, first: Ledger, rest: Ledger) -> None:
    """Raise PlanViolation if the run spent something other than its plan."""
    if rest != normal_form(ready.rest) or first != normal_form(ready.first):
        raise PlanViolation(
            f"{ready.algorithm.title} planned {normal_form(ready.plan)} and spent {first + rest}."
        )


def _in_released_shape(
    spec: RunSpec, data: AnyData, paid: NoisePermit
) -> tuple[AnyData, Ledger, PublicShape | None]:
    """The data as the algorithm sees them, the releases of their shape, and that shape.

    The data are unchanged if their shape is given. A run without a budget releases nothing: exact
    counts choose its items.
    """
    if not spec.data.releases_shape:
        return data, (), None
    first = first_release(spec)
    budget = spec.canonical().budget
    if budget is None or not normal_form(first):
        return filtered(data, by_exact_counts(spec.data, data)), (), None
    streams = seeds(spec.seed)
    noise = paid.noise(first, streams.shape if data.public else None)
    shape = partition_selection.release_shape(
        data,
        noise,
        partition_selection.failure_probability(budget),
        items=spec.data.item_choice == "private",
        units=spec.data.row_count == "private",
        most=spec.data.most_words if isinstance(data, Samples) else spec.data.top_items,
        slots=streams.sampling if data.public else secrets.randbits(63),
    )
    return filtered(data, spec.data, shape), noise.ledger, shape


def _judge(spec: RunSpec, data: AnyData, split_anew: bool) -> AnyJudge:
    """The run's judge. Split ratings of the catalogue are cached in memory."""
    kind = algorithms.find(spec.algorithm)
    if spec.split.kind == "none":
        return judges.undivided(kind, data, spec.data.id)
    if kind.task == "samples":
        task: TaskKind = "table"
    else:
        task = "ratings"
    seed = seeds(spec.seed).split
    if isinstance(data, PartitionedRatings):
        return judges.by_partitions(task, data, spec.split, seed)
    if not isinstance(data, Ratings):
        judges.suits(kind, data, spec.data.id)
        return judges.by_samples(data)
    if split_anew:
        parts = split_ratings(data, spec.split, seed)
    else:
        parts = open_split(spec)
    return judges.by_split(task, parts, seed)
