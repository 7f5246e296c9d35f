"""The record of a finished run: typed, frozen, and the same in the store, in files and on screen.

Fields that older versions did not write have defaults. Figures that could not be computed are None
in a file.
"""

import functools
import hashlib
import importlib.metadata
import inspect
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt
from pydantic import SerializerFunctionWrapHandler, model_serializer

from dpmf_core import __version__, algorithms
from dpmf_core.base.plain_tables import number, table
from dpmf_core.data.addresses import file_of
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy.receipts import Receipt
from dpmf_core.runs.fall_record import FallRecord
from dpmf_core.runs.filters import PublicShape
from dpmf_core.runs.privacy_record import (
    Count,
    Highlight,
    NotNegative,
    PrivacyRecord,
    in_words,
)
from dpmf_core.runs.specification import ParameterValues, RunSpec, Value

Figures = dict[str, int | float | None]
# computed from raw rows, so these stay on the machine if the data are private
RAW = (
    "metrics",
    "buckets",
    "curves",
    "seconds",
    "peak_mb",
    "key",
    "released_shape",
    "receipt",
)
Summary = dict[str, Any]
# the parts of a summary that come from raw rows; the key is a hash of them
RAW_FIGURES = ("key", "rmse", "metrics", "fit_seconds")


def value_of(figures: Mapping[str, int | float | None], name: str) -> float:
    """A figure; nan if it could not be computed. Raises KeyError if there is none."""
    value = figures[name]
    if value is None:
        return math.nan
    return float(value)


WITHOUT_RAW = (
    "Errors are left out: they are computed on private data without noise "
    "(record.metrics)."
)


class RunRecord(PrivacyRecord):
    """The parts of a run that JSON can hold.

    Attributes
    ----------
    spec
        The canonical specification.
    parameters : dict
        All parameters of the algorithm.
    shape : dict
        The public shape.
    metrics, buckets, curves
        Held-out figures by name, by quarter of activity and popularity, and by step.
    model : dict
        Settings of the shared model.
    seconds : dict
        Seconds of load, fit and evaluate.
    peak_mb : float
        The highest resident memory of the process, MB.
    cached : bool
        Whether the record comes from the store.
    created : str
        ISO 8601, UTC.
    receipt : Receipt or None
        The first charge to an account, if the data are private; it stays on the machine.
    fall : FallRecord or None
        What the model brought its people, if that was measured.
    """

    spec: RunSpec
    key: str = ""
    public: bool = False
    title: str
    version: Count = 0
    parameters: ParameterValues = {}
    shape: dict[str, Value | tuple[int | float, ...] | None] = {}
    split: str = ""
    noise_is_reproducible: bool = False
    noise: str = ""
    metrics: Figures = {}
    buckets: dict[str, tuple[Figures, ...]] = {}
    curves: tuple[Figures, ...] = ()
    model: dict[str, Value | tuple[int | float, ...] | None] = {}
    seconds: Figures = {}
    peak_mb: NotNegative | None = None
    cached: bool = False
    created: str = "not recorded"
    versions: dict[str, str] = {}
    released_shape: PublicShape | None = None
    receipt: Receipt | None = None
    fall: FallRecord | None = None

    @model_serializer(mode="wrap")
    def _without_absent_parts(
        self, dump: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        fields: dict[str, Any] = dump(self)
        for name in ("released_shape", "receipt", "fall"):
            if getattr(self, name) is None:
                fields.pop(name, None)
        return fields

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON has it, with floats that may be nan or infinite."""
        return self.model_dump(mode="json")

    def __str__(self) -> str:
        if self.public:
            return self.run_text()
        return f"{self.exported().run_text()}\n\n{WITHOUT_RAW}"

    @property
    def sentence(self) -> str:
        """What was done, in one sentence with numbers."""
        shape = self.shape
        figures = self.metrics
        if "n_users" in shape:
            counts = f"{shape['n_users']:,} users, {shape['n_items']:,} items"
        else:
            counts = f"{shape['n_samples']:,} x {shape['n_features']:,}"
        where = f"{self.spec.data.id} ({counts}; {self.split})"
        what = f"{self.title} on {where}, seed {self.spec.seed}"
        if "rmse" in figures:
            return f"{what}: held-out RMSE {number(figures['rmse'])}."
        if "objective" in figures:
            trivial = number(figures["trivial_objective"], 4)
            return f"{what}: objective {number(figures['objective'], 4)}, the mean row {trivial}."
        return f"{what}."

    def run_text(self, mark: Highlight = str) -> str:
        """The run in words: the sentence, figures, privacy, timings.

        It shows raw figures of private data.

        Parameters
        ----------
        mark
            Highlights the status of the guarantee.
        """
        # slow to load, needed only for texts
        from dpmf_core.evaluation.registry import (
            title_of,
        )

        parts = [self.sentence]
        if self.metrics:
            rows = [
                [title_of(name), number(figure)]
                for name, figure in self.metrics.items()
            ]
            parts.append(table(["figure", ""], rows))
        if self.fall is not None:
            parts.append(in_words("\n".join(self.fall.sentences)))
        parameters = ", ".join(
            f"{name} = {value}" for name, value in self.parameters.items()
        )
        parts.append(f"{self.privacy_text(mark=mark)}\n{self.noise}".rstrip())
        parts.append(f"parameters: {parameters or 'none'}")
        if self.seconds:
            seconds = [
                f"{phase} {value:.2f} s" for phase, value in self.seconds.items()
            ]
            origin = " (from the store)" if self.cached else ""
            peak = f"peak {self.peak_mb or 0:.0f} MB"
            parts.append(f"{', '.join(seconds)}; {peak}; key {self.key}{origin}")
        return "\n\n".join(parts)

    def metric(self, name: str) -> float:
        """A held-out figure; nan if it could not be computed. Raises KeyError if there is none."""
        return value_of(self.metrics, name)

    def exported(self) -> "RunRecord":
        """The record without anything computed from raw rows of private data.

        It may leave the machine (docs/PRIVACY.md, "Rules of a proven run").
        """
        if self.public:
            return self
        fields = type(self).model_fields
        defaults = {name: fields[name].get_default() for name in self._private_fields}
        data = self.spec.data.model_copy(update={"id": file_of(self.spec.data.id)})
        spec = self.spec.model_copy(update={"data": data})
        fall = None if self.fall is None else self.fall.exported()
        return self.model_copy(update={**defaults, "spec": spec, "fall": fall})

    @property
    def _private_fields(self) -> tuple[str, ...]:
        """The fields to leave out. If nothing is proved, the model may be a mean without noise."""
        if self.public:
            return ()
        if self.guarantee.has_epsilon:
            return RAW
        return (*RAW, "model")

    def export(self) -> dict[str, Any]:
        """`exported` as JSON has it."""
        return self.exported().model_dump(
            mode="json", exclude=set(self._private_fields)
        )


@dataclass(frozen=True)
class ItemNames:
    """The facts about items that a run knows without any rating.

    Attributes
    ----------
    ids
        Unique ids, one per item.
    titles
        The items' titles in public data, if they differ from the ids.
    features
        The items' public table, if there is one.
    """

    ids: tuple[str, ...]
    titles: tuple[str, ...] = ()
    features: ItemFeatures | None = None

    @classmethod
    def of(cls, ratings: Ratings | PartitionedRatings) -> Self:
        """Take the ids of the data; without ids, titles of public data, else numbers from 0.

        Titles in private data are left out, because each is part of one person's row.
        """
        titles = (ratings.titles or ()) if ratings.public else ()
        if ratings.labels is not None and len(set(ratings.labels)) == ratings.n_items:
            ids = ratings.labels
        elif titles and len(set(titles)) == ratings.n_items:
            ids = titles
        else:
            ids = tuple(map(str, range(ratings.n_items)))
        return cls(ids, titles if titles != ids else (), ratings.item_features)


@dataclass(frozen=True)
class Run:
    """A finished run: its record, and the arrays of the shared model.

    Attributes
    ----------
    record
        The record.
    arrays
        The arrays of the shared model, by name.
    items
        The items' names, for data that a program held. Other data are opened again by their id.
    """

    record: RunRecord
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    items: ItemNames | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<Run: {self.summary}>"

    @property
    def summary(self) -> str:
        """One line: method, data, guarantee, and the error if the data are public."""
        record = self.record.exported()
        error = record.metrics.get("rmse")
        parts = [f"{self.title} on {record.spec.data.id}", record.loss]
        return ", ".join([*parts, f"RMSE {error:.4f}"] if error is not None else parts)

    @property
    def key(self) -> str:
        """The key under which the run is stored; it depends on the data."""
        return self.record.key

    @property
    def title(self) -> str:
        """The algorithm's title."""
        return self.record.title

    @property
    def spec(self) -> RunSpec:
        """Data, algorithm, budget, split and seed."""
        return self.record.spec

    @property
    def model(self) -> Any:
        """The fitted shared side (`Recommender` or `Components`)."""
        kind = algorithms.find(self.spec.algorithm)
        return kind.model_type(**self.record.model, **self.arrays)

    @property
    def name(self) -> str:
        """A file name for the run. A key identifies private data, so their runs have none."""
        if self.record.public:
            return f"run-{self.key[:8]}"
        return "run"

    def export(self) -> dict[str, Any]:
        """The record's JSON as it may leave the machine."""
        return self.record.export()


Runs = Mapping[str, Run]  # by name, or by `Point.key`


def summarise(record: RunRecord) -> Summary:
    """Summarise a run in one line of a list.

    `epsilon` is the exact one, null if nothing is proved.
    """
    spec = record.spec
    return {
        "key": record.key,
        "title": record.title,
        "dataset": spec.data.id,
        "algorithm": spec.algorithm,
        "parameters": spec.parameters,
        "epsilon": record.epsilon.exact,
        "nominal_epsilon": spec.epsilon,
        "delta": record.delta,
        "unit": record.guarantee.unit,
        "relation": str(record.relation),
        "seed": spec.seed,
        "guarantee": str(record.guarantee.status),
        "public": record.public,
        "rmse": record.metrics.get("rmse"),
        "metrics": record.metrics,
        "fit_seconds": record.seconds.get("fit"),
    }


def provenance() -> dict[str, Any]:
    """When a result was made (ISO 8601, UTC), and by which versions; no cache key depends on it."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    own = {"dpmf": __version__, "python": platform.python_version()}
    return {"created": now, "versions": {**own, **_libraries()}}


def versions_of_sums(algorithm: str) -> dict[str, str]:
    """What decides the bits of an algorithm's sums, by name; code by its hash.

    The algorithm's file may be a plugin's. Raises BadInput on an unknown algorithm.
    """
    source = Path(inspect.getfile(algorithms.find(algorithm)))
    code = {"code of dpmf": _core_hash(), f"code of {algorithm}": _hash_of([source])}
    return {**_libraries(), **code}


@functools.cache
def _libraries() -> dict[str, str]:
    names = ("numpy", "scipy", "numba", "scikit-learn")
    return {name: importlib.metadata.version(name) for name in names}


@functools.cache
def _core_hash() -> str:
    return _hash_of(sorted(Path(__file__).parents[1].rglob("*.py")))


def _hash_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
