"""From a specification to a finished run. What caches are keyed by, and everything a run reports."""

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_serializer

from dpmf_core import __version__, accounts, algorithms, coherence, judging, kernels, partition_selection
from dpmf_core.accounts import Paid
from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.data import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings, Shape, Split, SplitSpec, split
from dpmf_core.errors import BadInput, Cancelled, explain
from dpmf_core.partition_selection import PublicShape
from dpmf_core.privacy import NOTHING, VALUE, Budget, Gaussian, Guarantee, PlanViolation, Relation, Status, calibrate, noise_words, normal_form, sequence
from dpmf_core.privacy.accounting import Calibration, NoiseKind, every_epsilon, rule_of
from dpmf_core.privacy.events import Event, Ledger, ledger_rows
from dpmf_core.privacy.odometer import Charge
from dpmf_core.samples import NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC, Preparation, Samples, SampleShape, prepared

usable_threads = kernels.usable_threads
SHAPE_STREAM = 1 << 20  # of a seeded privacy stream: apart from those that releases of the algorithm take in turn


class DataSpec(Preparation):
    """Which ratings or samples, and what is done to them before they are split or factorised."""

    id: str = Field(description="a catalogue id or a path")
    top_items: int | None = Field(None, ge=1, description="keep the most rated items only")
    min_user_count: int = Field(0, ge=0, description="empty the rows of users with fewer ratings")
    min_item_count: int = Field(0, ge=0, description="keep items with at least so many ratings")
    most_per_user: int | None = Field(None, ge=1, description="keep at most so many ratings of a user, drawn by a hash")
    positives_above: float | None = Field(None, allow_inf_nan=False, description="recall task: ratings above this become 1, others go")
    item_choice: Literal["exact", "private"] = Field(
        "exact", description="which items or words there are: by exact counts, then taken as public, or private: by noisy counts above a threshold, a release"
    )
    row_count: Literal["given", "private"] = Field("given", description="number of users or samples: given, then taken as public, or private: a noisy release")

    @model_serializer(mode="wrap")
    def _said(self, whole: Any) -> dict[str, Any]:
        """What was left as it is of samples' preparation and of releases is not said: a ratings run is the same run whatever samples know."""
        said: dict[str, Any] = whole(self)
        unsaid = {name: type(self).model_fields[name].default for name in (*Preparation.model_fields, "item_choice", "row_count")}
        return {name: value for name, value in said.items() if name not in unsaid or value != unsaid[name]}

    @property
    def releases_shape(self) -> bool:
        """Whether items, words or the number of rows are a release of the run."""
        return self.item_choice == "private" or self.row_count == "private"

    def set_for(self, kind: str) -> list[str]:
        """The fields that were changed and are for `kind` ("ratings" or "samples") alone."""
        chosen = self.model_dump(exclude_defaults=True, exclude={"id", "item_choice", "row_count"})
        return [name for name in chosen if (name in Preparation.model_fields) == (kind == "samples")]


Data = Ratings | Samples


class RunSpec(BaseModel):
    """One run, complete: the same specification gives the same result, bit for bit, on public data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: DataSpec
    algorithm: str
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict)
    budget: Budget | None = None
    split: SplitSpec = SplitSpec()
    seed: int = Field(0, ge=0, lt=2**63)

    @classmethod
    def parse(cls, **parts: Any) -> "RunSpec":
        """A checked specification. Raises BadInput with the first thing that is wrong."""
        try:
            return cls(**parts)
        except ValidationError as error:
            raise _explained(error, parts) from None

    def canonical(self) -> "RunSpec":
        """The same run in its one spelling: no budget where nothing is released."""
        kind = algorithms.find(self.algorithm)
        return self.model_copy(update={"budget": None}) if kind.plan is Algorithm.plan else self


def _explained(error: ValidationError, parts: dict[str, Any]) -> BadInput:
    where = error.errors()[0]["loc"]
    models: dict[str, type[BaseModel]] = {"data": DataSpec, "budget": Budget, "split": SplitSpec}
    model = models.get(str(where[0]), RunSpec)
    owner = {"data": "the data set", "budget": "the budget", "split": "the split"}.get(str(where[0]), "the run")
    return explain(error, owner, model.model_json_schema().get("properties", {}), depth=1 if model is not RunSpec else 0)


def catalogue() -> Any:
    """The module that knows data sets by id: the top-level `datasets`, or the one that DPMF_CATALOGUE names.

    It stands above the core, so the core reaches it by name only: `load(id) -> Ratings` is all that is asked of it here.
    """
    return importlib.import_module(os.environ.get("DPMF_CATALOGUE", "datasets"))


@functools.lru_cache(2)
def _raw(data_id: str, stamp: float) -> Data:
    data: Data = catalogue().load(data_id)
    return data


@functools.lru_cache(3)
def _prepared(spec: DataSpec, stamp: float) -> Data:
    return filtered(_raw(spec.id, stamp), spec)


def filtered(data: Data, spec: DataSpec, released: PublicShape | None = None) -> Data:
    """What a specification leaves of the data; where it releases their shape, the data as they are until that was `released`.

    Raises BadInput when that is nothing, or where it asks for what the data have not.
    """
    wrong = spec.set_for("samples" if isinstance(data, Ratings) else "ratings")
    if wrong:
        what = ("samples", "ratings") if isinstance(data, Ratings) else ("ratings", f"{data.unit}s")
        raise BadInput(f"'{wrong[0]}' is for {what[0]}; {spec.id} holds {what[1]}. Leave it out.")
    account = data.account
    if spec.releases_shape:
        if released is None:
            return _releasable(data, spec)
        data = partition_selection.reshaped(data, released)
        if released.kept is not None:  # what noisy counts have done
            spec = _by_exact_counts(spec, data).model_copy(update={"top_items": None, "most_words": None})
    left: Data = _fewer(data, spec) if isinstance(data, Ratings) else prepared(data, spec)
    return left if data.public else replace(left, origin=account)


def _by_exact_counts(spec: DataSpec, data: Data) -> DataSpec:
    """The same without releases of the shape. Weights that look at all documents are not chosen by default where words are private."""
    weighting = spec.weighting or ("tf" if spec.item_choice == "private" and isinstance(data, Samples) else None)
    return spec.model_copy(update={"item_choice": "exact", "row_count": "given", "weighting": weighting})


def _releasable(data: Data, spec: DataSpec) -> Data:
    """The data, if their shape can be released. Raises BadInput where another choice rests on exact counts."""
    if spec.item_choice == "private":
        wrong = [name for name in ("min_item_count", "min_df", "max_df", "hashed", "drawn_words") if getattr(spec, name) != DataSpec.model_fields[name].default]
        if wrong:
            raise BadInput(f"'{wrong[0]}' chooses by exact counts or needs no choice, so it does not go with item_choice=private. Leave one of them out.")
        if isinstance(data, Samples) and (data.vocabulary is None or data.unit == "user"):
            raise BadInput(f"{data.name} holds no documents, so there are no words to choose: item_choice=private is for ratings and documents.")
    return data


def _fewer(ratings: Ratings, spec: DataSpec) -> Ratings:
    if spec.top_items:
        ratings = ratings.top_items(spec.top_items)
    if spec.min_item_count:
        ratings = ratings.min_item_count(spec.min_item_count)
    if spec.min_user_count:
        ratings = ratings.min_user_count(spec.min_user_count)
    if spec.most_per_user:
        ratings = ratings.most_per_user(spec.most_per_user)
    if spec.positives_above is not None:
        ratings = ratings.positives(spec.positives_above)
    if not len(ratings):
        raise BadInput(f"No rating of {spec.id} is left after the filters. Loosen them.")
    return ratings


def open_data(spec: DataSpec) -> Data:
    """The ratings or samples of a data specification, kept in memory while they are in use and while their file does not change."""
    return _prepared(spec, catalogue().stamp(spec.id))


def forget() -> None:
    """Nothing that was read stays in this process's memory; what is still in use is read again."""
    for kept in (_raw, _prepared, _split):
        kept.cache_clear()
    coherence.forget()


def open_ratings(spec: DataSpec) -> Ratings:
    """As `open_data`. Raises BadInput where the data are no ratings."""
    return _ratings(open_data(spec))


@functools.lru_cache(2)
def _split(spec: DataSpec, how: SplitSpec, seed: int, stamp: float) -> Split:
    return _parts(_ratings(_prepared(spec, stamp)), how, seed)


def _ratings(data: Data) -> Ratings:
    if not isinstance(data, Ratings):
        raise BadInput(f"Only ratings are split; {data.name} holds {data.unit}s.")
    return data


def _parts(ratings: Ratings, how: SplitSpec, seed: int) -> Split:
    parts = split(ratings, how, seed)
    if not len(parts.train) or not len(parts.test):
        raise BadInput("The split leaves no rating to train on, or none to test on. Change the test fraction.")
    return parts


def open_split(spec: RunSpec) -> Split:
    """The train, history, validation and test ratings of a run."""
    return _split(spec.data, spec.split, _seeds(spec.seed)[0], catalogue().stamp(spec.data.id))


def _judge(spec: RunSpec, data: Data, given: bool) -> judging.Judge:
    """What the run is judged by. Split ratings of the catalogue are kept in memory."""
    kind = algorithms.find(spec.algorithm)
    if not isinstance(data, Ratings):
        judging.suits(kind, data, spec.data.id)
        return judging.BySamples(data)
    seed = _seeds(spec.seed)[0]
    parts = _parts(data, spec.split, seed) if given else open_split(spec)
    return judging.ByRatings(parts, seed) if kind.task == "ratings" else judging.ByTable(parts)


def _seeds(seed: int) -> tuple[int, np.random.SeedSequence, int, np.random.SeedSequence]:
    """The named streams of a run: split, init, sampling, privacy."""
    splitting, init, sampling, privacy = np.random.SeedSequence(seed).spawn(4)
    return int(splitting.generate_state(1, np.uint64)[0] >> 1), init, int(sampling.generate_state(1, np.uint64)[0] >> 1), privacy


class Fingerprinted(Protocol):
    """Data, or what is known of them."""

    @property
    def fingerprint(self) -> str: ...


def run_key(spec: RunSpec, data: Fingerprinted) -> str:
    """The one key of every cache: canonical specification, data fingerprint, algorithm version."""
    canonical = spec.canonical()
    parts = [canonical.model_dump(mode="json"), data.fingerprint, algorithms.find(spec.algorithm).version]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Prepared:
    """What can be said of a run before it is made: its algorithm, its level, its plan, what it will cost.

    first: the part of the plan that releases the shape of the data; `rest` is the algorithm's.
    """

    algorithm: Algorithm
    level: float
    plan: Event
    guarantee: Guarantee
    first: Event = NOTHING
    rest: Event = NOTHING


def prepare(spec: RunSpec, shape: Any, assumptions: tuple[str, ...] = (), unit: str = "sample") -> Prepared:
    """The plan of a run from public facts alone; unit: what a sample is. Raises BadInput on parameters or a budget that do not fit."""
    canonical = spec.canonical()
    if isinstance(shape, Shape) and algorithms.find(spec.algorithm).task == "samples":
        shape = SampleShape(shape.n_users, shape.n_items)  # ratings, taken as samples
    algorithm = algorithms.build(canonical.algorithm, dict(canonical.parameters), shape, canonical.budget)
    first = _first(spec, canonical.budget, algorithm.guarantee())
    if spec.data.row_count == "private" and getattr(shape, "n_people", None) is not None:
        raise BadInput(partition_selection.ROWS_OF_PEOPLE)
    level = 1.0
    planned = algorithms.planned(algorithm, shape, canonical.budget.noise if canonical.budget else NoiseKind.CONTINUOUS)
    if canonical.budget is not None:
        exact = canonical.budget.calibration is Calibration.EXACT
        level = calibrate(lambda at: sequence(first, planned(at)), canonical.budget) if exact else algorithm.source_level(shape, canonical.budget)
    rest = planned(level)
    if canonical.budget is None and normal_form(rest):
        raise BadInput(f"{algorithm.title} is private, so it needs a budget: give an epsilon and a delta.")
    known = _released_facts(spec.data) if normal_form(first) else set()
    guarantee = algorithm.guarantee_of_run(shape, level).given(*(it for it in assumptions if it not in known), *spec.split.assumptions)
    guarantee = replace(guarantee, taken_as_public=tuple(it for it in guarantee.taken_as_public if it not in known))
    guarantee = guarantee.of(unit) if guarantee.unit == "sample" else guarantee
    return Prepared(algorithm, level, sequence(first, rest), guarantee, first, rest)


def _first(spec: RunSpec, budget: Budget | None, guarantee: Guarantee) -> Event:
    """What is released before the algorithm begins: nothing where it has no noise at all. Raises BadInput where its proof has no place for that."""
    if budget is None or not spec.data.releases_shape:
        return NOTHING
    if guarantee.unit not in ("user", "sample") or not guarantee.has_epsilon or budget.calibration is not Calibration.EXACT:
        raise BadInput("item_choice=private and row_count=private need exact calibration and an algorithm with a proof for a whole user or sample.")
    if budget.noise is NoiseKind.DISCRETE:
        raise BadInput("item_choice=private and row_count=private add floating-point noise to their counts. Take continuous noise, or declare the shape.")
    return partition_selection.plan(budget, items=spec.data.item_choice == "private", units=spec.data.row_count == "private")


def _released_facts(spec: DataSpec) -> set[str]:
    """What need not be assumed or taken as public, as the run releases it."""
    items = {ITEMS_ARE_PUBLIC, WORDS_ARE_PUBLIC, "the item set", "the features"} if spec.item_choice == "private" else set()
    return items | ({NUMBER_IS_PUBLIC, USERS_ARE_PUBLIC, "the number of users", "the number of samples"} if spec.row_count == "private" else set())


def is_own(data_id: str) -> bool:
    """Whether a data set is a file that somebody brought to the page."""
    return bool(getattr(catalogue(), "is_own", lambda _: False)(data_id))


def first_release(spec: RunSpec) -> Event:
    """What a run releases of its data's shape, before its algorithm begins: a function of the specification alone. Raises BadInput."""
    canonical = spec.canonical()
    return _first(spec, canonical.budget, algorithms.declared(canonical.algorithm, dict(canonical.parameters)).guarantee())


def _charge_before(spec: RunSpec, data: Data) -> Charge:
    """What a run enters before anything is drawn. Where it releases the shape, nothing may follow from the true one: the shape's releases, and one that
    takes all that is left of the budget."""
    budget = spec.canonical().budget
    if budget is None or not spec.data.releases_shape:
        return charge_of(spec, prepared_for(spec, data))
    first, kind = first_release(spec), algorithms.find(spec.algorithm)
    level = calibrate(lambda at: sequence(first, Gaussian(at, "everything after the shape", 1.0, 1.0)), budget)
    ledger = normal_form(sequence(first, Gaussian(level, "everything after the shape", 1.0, 1.0)))
    return Charge(kind.title, ledger, Status.PROVEN, "user" if isinstance(data, Ratings) else data.protected, budget.delta, budget.relation)


def charge_of(spec: RunSpec, ready: Prepared) -> Charge:
    """What a run enters in the account of private data, before it is made."""
    made, budget = Charge(ready.algorithm.title, normal_form(ready.plan), ready.guarantee.status, ready.guarantee.unit), spec.canonical().budget
    return made if budget is None else replace(made, delta=budget.delta, relation=budget.relation)


def prepared_for(spec: RunSpec, data: Data) -> Prepared:
    """As `prepare`, for data that are open."""
    return prepare(spec, data.shape, data.assumptions, "user" if isinstance(data, Ratings) else data.protected)


def file_of(data_id: str) -> str:
    """A private data set's id as it may be told: without the folder that the file lies in."""
    path, mark, facts = data_id.rpartition("?")
    return f"{Path(path).name}{mark}{facts}" if mark else Path(data_id).name


@dataclass(frozen=True)
class Run:
    """A finished run: `record` is all that JSON can hold, `arrays` the shared model."""

    record: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return str(self.record["key"])

    @property
    def spec(self) -> RunSpec:
        return RunSpec.model_validate(self.record["spec"])

    @property
    def model(self) -> Any:
        """The fitted shared side (`Recommender` or `Parts`), from which a unit finds its own."""
        settings: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in self.record["model"].items()}
        return algorithms.find(self.spec.algorithm).fitted(**settings | self.arrays)

    @property
    def name(self) -> str:
        """Of a file that holds it. A key tells apart private data sets, so theirs have none."""
        return f"run-{self.key[:8]}" if self.record["public"] else "run"

    def export(self) -> dict[str, Any]:
        """The record as it may leave the machine: on private data without anything computed from raw rows (privacy.md, 4, 8)."""
        if self.record["public"]:
            return self.record
        raw = {"metrics", "buckets", "curves", "seconds", "peak_mb", "key", "released_shape"}
        if self.record["guarantee"]["status"] not in ("PROVEN", "CONDITIONAL"):
            raw |= {"model"}  # a mean without noise, say
        spec = self.record["spec"]
        told = {"spec": {**spec, "data": {**spec["data"], "id": file_of(spec["data"]["id"])}}}
        return {name: value for name, value in self.record.items() if name not in raw} | told


@dataclass(frozen=True)
class Progress:
    """Where a run is: steps done and to do, seconds so far, and the per-step curves (raw data, not released)."""

    step: int
    steps: int
    seconds: float
    curves: tuple[dict[str, float], ...]


Report = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """A report that goes nowhere."""


MOST_POINTS = 40  # of a curve


class _Watcher:
    """Judges the model after every step (of many: every k-th), outside the time that counts as fitting."""

    def __init__(self, judge: judging.Judge, report: Report, stopped: Callable[[], bool]) -> None:
        self.judge, self.report, self.stopped = judge, report, stopped
        self.curves: list[dict[str, float]] = []
        self.measuring, self.start = 0.0, time.perf_counter()

    def __call__(self, step: int, steps: int, model: Any) -> None:
        if self.stopped():
            raise Cancelled
        if step % -(-steps // MOST_POINTS) and step < steps:
            return
        began = time.perf_counter()
        self.curves.append({"step": float(step)} | self.judge.point(model))
        self.report(Progress(step, steps, time.perf_counter() - self.start, tuple(self.curves)))
        self.measuring += time.perf_counter() - began
        if self.stopped():
            raise Cancelled


def run(
    spec: RunSpec, *, report: Report = ignore, stopped: Callable[[], bool] = lambda: False, given: Data | None = None, ledger: str | Path | None = None,
    paid: Paid | None = None,
) -> Run:  # fmt: skip
    """Do one run, on the catalogue's data or on the data given. On private data it enters their account: that of the data folder, or the file `ledger`.

    paid: where it is part of what was charged already. Raises BadInput on what cannot be run or a budget does not allow, Cancelled when `stopped` turns true.
    """
    began = time.perf_counter()
    data = open_data(spec.data) if given is None else filtered(given, spec.data)
    key, unshaped, lasting = run_key(spec, data), data, given is not None or not is_own(spec.data.id)
    charge = _charge_before(spec, data)
    paying = accounts.charging(data, charge, ledger, lasting) if paid is None else contextlib.nullcontext(paid)
    with paying as leave:
        data, first, released = _in_released_shape(spec, unshaped, leave)
        judge = _judge(spec, data, given is not None or spec.data.releases_shape)
        ready = prepared_for(spec, data)
        loaded = time.perf_counter()
        _, init, sampling, privacy = _seeds(spec.seed)
        noise = leave.noise(ready.rest, privacy, usable_threads())
        watcher = _Watcher(judge, report, stopped)
        with kernels.single_threaded_blas:  # sums in the same order, whatever the number of threads; kernels share out rows
            fit = ready.algorithm.fit(judge.train, noise=noise, rng=Streams(np.random.default_rng(init), sampling), watch=watcher)
            if fit.spent != normal_form(ready.rest) or first != normal_form(ready.first):
                raise PlanViolation(f"{ready.algorithm.title} planned {normal_form(ready.plan)} and spent {first + fit.spent}.")
            fitted, measuring = time.perf_counter(), watcher.measuring
            figures, bucketed = judge.figures(fit.model)
    if not watcher.curves:
        watcher(1, 1, fit.model)
    seconds = {"load": loaded - began, "fit": fitted - loaded - measuring, "evaluate": time.perf_counter() - fitted + measuring}
    record = {
        "spec": spec.canonical().model_dump(mode="json"), "key": key, "public": data.public,
        "title": ready.algorithm.title, "version": type(ready.algorithm).version, "parameters": ready.algorithm.model_dump(mode="json"),
        "shape": asdict(judge.train.shape), "split": judge.words, "noise_is_reproducible": noise.is_reproducible,
        "noise": noise_words((leaf.mechanism for leaf, _ in first + fit.spent), noise.is_reproducible),
        "metrics": figures, "buckets": bucketed, "curves": watcher.curves,
        **privacy_record(first + fit.spent, ready.plan, spec.canonical().budget, ready.guarantee),
        "model": fit.model.settings,
        "seconds": seconds, "peak_mb": peak_mb(), "cached": False, **provenance(),
        **({} if released is None else {"released_shape": released.record}),
    }  # fmt: skip
    return Run(record, fit.model.arrays)


def provenance() -> dict[str, Any]:
    """When a result was made (UTC), and by which versions. No key of a cache depends on it."""
    return {"created": datetime.now(UTC).isoformat(timespec="seconds"), "versions": dict(_versions())}


@functools.lru_cache(1)
def _versions() -> tuple[tuple[str, str], ...]:
    libraries = ((name, importlib.metadata.version(name)) for name in ("numpy", "scipy", "numba", "scikit-learn"))
    return ("dpmf", __version__), ("python", platform.python_version()), *libraries


def _in_released_shape(spec: RunSpec, data: Data, paid: Paid) -> tuple[Data, Ledger, PublicShape | None]:
    """The data as the algorithm sees them, what was spent on their shape, and that shape; as they are where it is given.

    A run without a budget releases nothing: its items are chosen by exact counts.
    """
    if not spec.data.releases_shape:
        return data, (), None
    first = first_release(spec)
    if not normal_form(first):
        return filtered(data, _by_exact_counts(spec.data, data)), (), None
    _, _, sampling, privacy = _seeds(spec.seed)
    seed = np.random.SeedSequence(privacy.entropy, spawn_key=(*privacy.spawn_key, SHAPE_STREAM)) if data.public else None
    noise = paid.noise(first, seed)
    released = partition_selection.released(
        data, noise, items=spec.data.item_choice == "private", units=spec.data.row_count == "private",
        most=spec.data.top_items if isinstance(data, Ratings) else spec.data.most_words, slots=sampling if data.public else secrets.randbits(63),
    )  # fmt: skip
    return filtered(data, spec.data, released), noise.spent, released


def data_of(run: Run) -> Data:
    """The data of a finished run in the shape that it released."""
    data, shape = open_data(run.spec.data), run.record.get("released_shape")
    if shape is None:
        return filtered(data, _by_exact_counts(run.spec.data, data)) if run.spec.data.releases_shape else data
    return filtered(data, run.spec.data, PublicShape.of(shape))


def ratings_of(run: Run) -> Ratings:
    """As `data_of`. Raises BadInput where the data are no ratings."""
    return _ratings(data_of(run))


def rows_of(run: Run) -> npt.NDArray[np.int64]:
    """The row in `data_of(run)` of each user or sample as they are numbered in the data set."""
    shape, data = run.record.get("released_shape"), open_data(run.spec.data)
    rows = data.n_users if isinstance(data, Ratings) else len(data)
    return np.arange(rows) if shape is None else partition_selection.slots(PublicShape.of(shape), rows)


def split_of(run: Run) -> Split:
    """The train, history, validation and test ratings of a finished run."""
    if not run.spec.data.releases_shape:
        return open_split(run.spec)
    return _parts(_ratings(data_of(run)), run.spec.split, _seeds(run.spec.seed)[0])


def privacy_record(spent: Ledger, event: Event, budget: Budget | None, guarantee: Guarantee) -> dict[str, Any]:
    """The part of a record that speaks of privacy: every rule's epsilon (null where there is none), the guarantee, the ledger."""
    relation = budget.relation if budget else Relation.ADD_REMOVE
    delta = budget.delta if budget else None
    rows = every_epsilon(event, delta or 1e-9, relation)
    shown = guarantee.has_epsilon
    return {
        "epsilon": {row.rule: row.epsilon if shown else None for row in rows},
        "rule": rule_of(event), "delta": delta, "relation": "another-value" if guarantee.unit == VALUE else str(relation),
        "calibration": str(budget.calibration) if budget else None,
        "guarantee": {"status": str(guarantee.status), "words": guarantee.words, "unit": guarantee.unit, "taken_as_public": list(guarantee.taken_as_public)},
        "ledger": ledger_rows(spent),
    }  # fmt: skip


def peak_mb() -> float:
    """Highest resident memory of this process so far, MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would count the process that this one was forked from
        return round(int(re.search(r"VmHWM:\s+(\d+)", status.read_text()).group(1)) / 1024, 1)  # type: ignore[union-attr]
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10), 1)
