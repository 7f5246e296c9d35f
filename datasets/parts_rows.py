"""The rows of large tables, read once and put aside on disk, some at a time."""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from dpmf_core.errors import BadInput
from dpmf_datasets.readers.cells import by_label
from dpmf_datasets.readers.cleaning import Batch, Batches
from dpmf_datasets.readers.columns import chosen_columns, in_path
from dpmf_datasets.readers.dates import READING_IS_PUBLIC
from dpmf_datasets.readers.ratings_tables import (
    first_values,
    require_bounds,
    require_usable,
    require_within,
)
from dpmf_datasets.readers.report import Problem
from dpmf_datasets.readers.table import PREVIEW, file_name, report_damage
from dpmf_datasets.readers.tables import open_table
from dpmf_datasets.table_paths import ways

MOST_WAITING = 4_000_000  # ids, before those that are there twice are left out

Progress = Callable[[str, int, int], None]  # stage, done, in all


@dataclass(frozen=True)
class FileRead:
    """What one file held, beside its rows."""

    batches: int
    read: int
    kept: int
    problems: tuple[Problem, ...]
    columns: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    assumed: tuple[str, ...]
    assumptions: tuple[str, ...]
    titles: dict[str, str]
    has_order: bool

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "FileRead":
        lists = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in facts.items()
        }
        problems = tuple(
            Problem(**{key: tuples(value) for key, value in it.items()}) for it in facts["problems"]
        )
        return cls(**{**lists, "problems": problems, "columns": tuples(facts["columns"])})


def tuples(value: Any) -> Any:
    """Lists of JSON as tuples."""
    return tuple(tuples(each) for each in value) if isinstance(value, list) else value


class TableRows:
    """The usable rows of some tables, in a folder of one's own. facts: said after their path.

    Raises BadInput on facts that are none.
    """

    def __init__(
        self, files: Sequence[Path], facts: dict[str, str], folder: Path, progress: Progress
    ) -> None:
        self._files, self._facts, self._folder = files, facts, folder
        self._progress, self.ways = progress, ways(facts)
        self.bounds = require_bounds(
            self.ways["bounds"], file_name(files[0]), in_path(str(files[0]), facts)
        )

    def read(self, place: int) -> FileRead:
        """Reads one of the files, unless that was done before. Raises BadInput."""
        file = self._files[place]
        record = self._folder / f"read-{place}.json"
        if record.exists():
            return FileRead.of(json.loads(record.read_text("utf-8")))
        name, way = file_name(file), in_path(str(file), self._facts)
        with report_damage(name), file.open("rb") as stream:
            table = open_table(stream, name, self.ways["encoding"])
            places = chosen_columns(table, dict(self.ways["columns"]), name, way)
            batches = Batches(table, places, self.bounds, self.ways["dates"], self.ways["outside"])
            size, count, usable, has_order = max(file.stat().st_size, 1), 0, 0, "time" in places
            for count, batch in enumerate(batches, 1):
                _spill(self._folder / f"rows-{place}-{count - 1}.arrow", batch)
                usable += len(batch.values)
                has_order &= batch.order is not None or not len(batch.values)
                self._progress(f"reading {name}", min(stream.tell(), size), size)
        require_usable(batches.read, batches.problems, table, places, name)
        require_within(usable, batches.problems, table, places, self.bounds, name, way)
        if batches.dates_are_ambiguous:
            raise BadInput(
                f"Dates of {name} such as 03/04/2021 can be read in two ways. Say after the path"
                " which number is the day: dates=dmy or dates=mdy."
            )
        facts = FileRead(
            batches=count,
            read=batches.read,
            kept=usable,
            problems=batches.problems,
            columns=tuple((role, table.shown_names[at]) for role, at in places.items()),
            ignored=tuple(
                column for at, column in enumerate(table.shown_names) if at not in places.values()
            ),
            assumed=batches.reading_notes,
            assumptions=(*table.assumptions, *([READING_IS_PUBLIC] if "time" in places else [])),
            titles=batches.titles,
            has_order=has_order,
        )
        write_text(record, json.dumps(dataclasses.asdict(facts)))
        return facts

    def first_values(self, first: FileRead) -> tuple[tuple[str, ...], ...]:
        """Some values of each chosen column, for the eyes of whoever has the file."""
        file = self._files[0]
        with file.open("rb") as stream:
            table = open_table(stream, file_name(file), self.ways["encoding"])
            names = table.shown_names
            return tuple(
                first_values(table.sample(names.index(column), PREVIEW))
                for _, column in first.columns
            )

    def batches(self, files: Sequence[FileRead]) -> Iterator[pa.Table]:
        """All usable rows, in the order of the files: user and item (ids, dictionaries), value,
        order.
        """
        for place, read in enumerate(files):
            for batch in range(read.batches):
                with pa.ipc.open_file(self._folder / f"rows-{place}-{batch}.arrow") as file:
                    yield file.read_all()

    def forget_rows(self) -> None:
        """Where they are kept elsewhere."""
        for file in self._folder.glob("rows-*.arrow"):
            file.unlink()

    def labels(self, role: str) -> pa.Array:
        """All ids of users or items, in order."""
        stored_table = self._folder / f"ids-{role}.table"
        if not stored_table.exists():
            labels = self._found_labels(role)
            pyarrow.parquet.write_table(
                pa.table({role: labels}), aside := stored_table.with_suffix(".new")
            )
            aside.replace(stored_table)
        return pyarrow.parquet.read_table(stored_table)[role].combine_chunks()

    def _found_labels(self, role: str) -> pa.Array:
        id_arrays: list[pa.Array] = []
        waiting, kinds = 0, set()
        for rows in sorted(self._folder.glob("rows-*.arrow")):
            with pa.ipc.open_file(rows) as file:
                distinct_ids = file.get_batch(0).column(role).dictionary
            if len(distinct_ids):
                id_arrays.append(distinct_ids)
                kinds.add(distinct_ids.type)
                waiting += len(distinct_ids)
            if waiting > MOST_WAITING:
                id_arrays, waiting = [_distinct(id_arrays, kinds)], 0
        labels = _distinct(id_arrays, kinds) if id_arrays else pa.array([], pa.string())
        return labels.take(pa.array(by_label(labels)))


class Numbers:
    """The place of each id among all."""

    def __init__(self, labels: pa.Array) -> None:
        import pandas as pd  # which most commands do without

        self._kind = labels.type
        self._index = pd.Index(labels.to_numpy(zero_copy_only=False))

    def of(self, ids: pa.ChunkedArray) -> npt.NDArray[np.int32]:
        """Of ids that are dictionaries (n,)."""
        chunks = []
        for chunk in ids.chunks:
            chunk_ids = chunk.dictionary.cast(self._kind).to_numpy(zero_copy_only=False)
            numbers = self._index.get_indexer(chunk_ids).astype(np.int32)
            chunks.append(numbers[chunk.indices.to_numpy(zero_copy_only=False)])
        return np.concatenate(chunks) if chunks else np.empty(0, np.int32)


def _distinct(parts: list[pa.Array], kinds: set[pa.DataType]) -> pa.Array:
    """The different ids of some batches: whole numbers where all are, else text."""
    if len(kinds) > 1:
        parts = [part.cast(pa.string()) for part in parts]
    return pc.unique(pa.concat_arrays(parts))


def _spill(file: Path, batch: Batch) -> None:
    order = np.zeros(len(batch.values), np.int64) if batch.order is None else batch.order
    columns = [batch.users, batch.items, pa.array(batch.values), pa.array(order)]
    rows = pa.record_batch(columns, names=["user", "item", "value", "order"])
    try:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_batch(rows)
    except OSError as error:
        raise BadInput(
            f"The data folder cannot take the ratings ({error}). An import needs about 50 bytes a"
            " rating there: make room, or set DPMF_DATA to a folder that has it."
        ) from error


def write_text(file: Path, text: str) -> None:
    """The file is there in whole or not at all."""
    aside = file.with_suffix(".new")
    aside.write_text(text, "utf-8")
    aside.replace(file)
