"""Import tables of ratings of any size into partitions on disk.

Memory holds some rows, the ids of users and items, and one partition. There are three stages:
tables are read file by file and their usable rows spilled; rows are gathered by their users'
partition; each partition is sorted and written.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keys_of_ids
from dpmf_core.base.paths import create_folder, held_alone
from dpmf_core.data.partitioned import Members, usual_parts
from dpmf_core.data.ratings import Ratings
from dpmf_datasets import fingerprint, partitions
from dpmf_datasets.partitions import Manifest, file_of, write_partition
from dpmf_datasets.path_facts import ITEM_TABLE, RATING_FACTS, facts_in, path_of, split_path, ways
from dpmf_datasets.readers import dates
from dpmf_datasets.readers.cells import spelling_notes
from dpmf_datasets.readers.cleaning import Batch, CleanRows
from dpmf_datasets.readers.columns import chosen_columns, in_path
from dpmf_datasets.readers.dates import FORMAT_IS_PUBLIC, READING_IS_PUBLIC
from dpmf_datasets.readers.item_tables import read_item_table
from dpmf_datasets.readers.ratings_tables import (
    assumed_sizes,
    column_facts,
    declared_size,
    require_bounds,
    require_usable,
    require_within,
)
from dpmf_datasets.readers.report import Kind, Order, Problem, Report, Tally
from dpmf_datasets.readers.table import file_name, report_damage
from dpmf_datasets.readers.tables import open_table
from dpmf_datasets.spilled_rows import Numbers, SpilledRows

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet", ".gz")
ROW_TYPE = np.dtype([("user", "i4"), ("item", "i4"), ("value", "f4"), ("order", "i8")])
AT_ONCE = 4_000_000  # rows that are gathered together, at most
MOST_PARTITIONS = 10_000
SEVERAL_TIMES = "Times were read in several ways, so the order of the ratings is not used."
Progress = Callable[[str, int, int], None]  # stage, done, in all


def import_partitions(
    name: str,
    path_and_facts: str,
    *,
    n_partitions: int | None = None,
    replace: bool = False,
    progress: Progress = lambda stage, count, total: None,
) -> Report:
    """Store the ratings of tables in partitions under a name.

    Parameters
    ----------
    name : str
        The new set's name.
    path_and_facts : str
        A table, a folder of tables, or a pattern such as ``days/*.csv``, with the facts of `load`
        after the path: ``big.csv?bounds=1,5``.
    n_partitions : int, optional
        By default one per 32,768 users.
    replace : bool
        Whether to replace a set of this name.
    progress : callable
        Of the stage, the amount done, and the total.

    Raises
    ------
    BadInput
        If the tables cannot be read, or the name is taken.
    """
    partitions.require_name(name)
    files, facts = _files(path_and_facts)
    if n_partitions is not None and not 1 <= n_partitions <= MOST_PARTITIONS:
        raise BadInput(
            f"--partitions must be a whole number from 1 to {MOST_PARTITIONS:,}. Got"
            f" {n_partitions}."
        )
    if partitions.is_there(name) and not replace:
        raise BadInput(
            f"Ratings called {name} already exist on this machine. Use another name, or repeat with"
            " --replace."
        )
    folder = create_folder(partitions.root()) / f".{name}.unfinished"
    with held_alone(folder.with_suffix(".lock"), f"the import of {name}"):
        shutil.rmtree(folder, ignore_errors=True)  # left by an import that was killed
        create_folder(folder)
        try:
            return _Import(name, files, facts, n_partitions, progress, folder).run()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _files(path_and_facts: str) -> tuple[list[Path], dict[str, str]]:
    """The tables that a path, a folder or a pattern names, and the facts after it."""
    path, query = split_path(path_and_facts)
    facts = facts_in(query, {**RATING_FACTS, "encoding": None})
    if path.is_dir():
        paths = sorted(it for it in path.iterdir() if it.suffix.lower() in SUFFIXES)
    elif "*" in path.name and path.parent.is_dir():
        paths = sorted(it for it in path.parent.glob(path.name) if it.is_file())
    else:
        paths = [path] if path.is_file() else []
    if not paths:
        raise BadInput(
            f"There is no table {file_name(path)}. Give the path of a table of ratings (CSV, TSV or"
            " Parquet, also .gz), of a folder with such tables, or a pattern such as 'days/*.csv'."
        )
    return paths, facts


@dataclass(frozen=True)
class _FileRead:
    """What one file held, in addition to its rows."""

    report: Report
    assumptions: tuple[str, ...]
    titles: dict[str, str]
    has_order: bool


class _Import:
    def __init__(
        self,
        name: str,
        files: list[Path],
        facts: dict[str, str],
        n_partitions: int | None,
        progress: Progress,
        folder: Path,
    ) -> None:
        self._name, self._files, self._facts = name, files, facts
        self._n_partitions, self._progress, self._folder = n_partitions, progress, folder
        self._ways = ways(facts)
        way = in_path(str(files[0]), facts)
        self._bounds = require_bounds(self._ways["bounds"], file_name(files[0]), way)
        self._rows = SpilledRows(folder)

    def run(self) -> Report:
        files = [self._read(file) for file in self._files]
        has_order = all(it.has_order for it in files) and not _differing_times(files)
        users, items = self._rows.users.labels(), self._rows.items.labels()
        n_users, n_items = (
            declared_size(self._ways[f"n_{what}"], len(labels), what, self._name)
            for what, labels in (("users", users), ("items", items))
        )
        n_partitions = self._n_partitions or usual_parts(n_users)
        self._gather((users, items), Members(n_users, n_partitions), has_order)
        keys = np.append(keys_of_ids(users), np.zeros(n_users - len(users), np.uint64))
        written = self._write(keys, n_items, n_partitions, has_order)
        if written.raters < 2:
            raise BadInput(
                f"{self._name} would hold usable ratings by one user only. At least 2 users are"
                " needed."
            )
        n_empty = len(users) - written.raters
        problems = (
            *(problem for it in files for problem in it.report.problems),
            *((Problem(Kind.DUPLICATE, written.merged),) if written.merged else ()),
            *((Problem(Kind.EMPTY_USER, n_empty),) if n_empty else ()),
        )
        sentences = self._finish(files, items, (n_users, n_items), written)
        return replace(
            files[0].report,
            name=self._name,
            read=sum(it.report.read for it in files),
            kept=written.n_ratings,
            n_users=n_users,
            n_items=n_items,
            problems=problems,
            assumed=(
                *dict.fromkeys(words for it in files for words in it.report.assumed),
                *_spelling_notes(users, "users"),
                *_spelling_notes(items, "items"),
                *([SEVERAL_TIMES] if _differing_times(files) else []),
                *sentences,
            ),
        )

    def _read(self, file: Path) -> _FileRead:
        """Spill the usable rows of a file."""
        name, way = file_name(file), in_path(str(file), self._facts)
        with report_damage(name), file.open("rb") as stream:
            table = open_table(stream, name, self._ways["encoding"])
            places = chosen_columns(table, dict(self._ways["columns"]), name, way)
            rows = CleanRows(table, places, self._bounds, self._ways["outside"])
            size, usable, ways_of_times = max(file.stat().st_size, 1), 0, _TimesRead()
            for batch in rows:
                order = ways_of_times.order(batch, self._ways["dates"], rows.tally)
                self._rows.add(batch, order)
                usable += len(batch.values)
                self._progress(f"reading {name}", min(stream.tell(), size), size)
        require_usable(rows.read, rows.problems, table, places, name)
        require_within(usable, rows.problems, table, places, self._bounds, name, way)
        if ways_of_times.are_ambiguous:
            raise BadInput(
                f"Dates of {name} such as 03/04/2021 can be read in two ways. Declare the order"
                " after the path: dates=dmy or dates=mdy."
            )
        report = Report(
            name=name,
            read=rows.read,
            kept=usable,
            n_users=0,
            n_items=0,
            problems=rows.problems,
            assumed=(*rows.reading_notes, *sorted(ways_of_times.words)),
            **column_facts(table, places),
        )
        return _FileRead(
            report,
            (*table.assumptions, *([READING_IS_PUBLIC] if "time" in places else [])),
            rows.titles,
            "time" in places and ways_of_times.are_read,
        )

    def _gather(self, labels: tuple[pa.Array, pa.Array], members: Members, has_order: bool) -> None:
        """Gather all rows, with numbers for ids, by their users' partition, in their order."""
        users, items = (Numbers(each) for each in labels)
        chunks = list[npt.NDArray[Any]]()
        for at, table in enumerate(self._rows, 1):
            rows = np.empty(len(table), ROW_TYPE)
            rows["user"], rows["item"] = users.of(table["user"]), items.of(table["item"])
            rows["value"] = table["value"].to_numpy()
            rows["order"] = table["order"].to_numpy() if has_order else 0
            chunks.append(rows)
            if sum(map(len, chunks)) > AT_ONCE or at == self._rows.count:
                self._put(np.concatenate(chunks), members)
                chunks.clear()
            self._progress("gathering", at, self._rows.count)

    def _put(self, rows: npt.NDArray[Any], members: Members) -> None:
        partition_of = members.part_of[rows["user"]]
        order = np.argsort(partition_of, kind="stable")
        rows, numbers = rows[order], partition_of[order]
        some, first = np.unique(numbers, return_index=True)
        for partition, part in zip(some, np.split(rows, first[1:]), strict=True):
            with (self._folder / f"rows-{partition}").open("ab") as file:
                part.tofile(file)

    def _write(
        self, keys: npt.NDArray[np.uint64], n_items: int, n_partitions: int, has_order: bool
    ) -> "_Written":
        """Sort and write each partition. keys: (n_users,) of each user's random draws."""
        written = _Written()
        for partition in range(n_partitions):
            rows_file = self._folder / f"rows-{partition}"
            rows_file.touch()
            rows = np.fromfile(rows_file, ROW_TYPE)
            rows_file.unlink()
            ratings = Ratings.of(
                rows["user"].copy(),
                rows["item"].copy(),
                rows["value"].copy(),
                n_users=len(keys),
                n_items=n_items,
                bounds=self._bounds,
                order=rows["order"].copy() if has_order else None,
                user_keys=keys,
            )
            file = file_of(self._folder, partition)
            written.hashes.append(write_partition(file, ratings.users, ratings))
            written.n_ratings += len(ratings)
            written.merged += len(rows) - len(ratings)
            written.raters += len(np.unique(ratings.users))
            self._progress("writing partitions", partition + 1, n_partitions)
        return written

    def _finish(
        self, files: list[_FileRead], items: pa.Array, size: tuple[int, int], written: "_Written"
    ) -> tuple[str, ...]:
        """Write the manifest and move the set into place; returns the item table's sentences."""
        names = items.cast(pa.string()).to_pylist()
        more = tuple(f"item {at}" for at in range(len(names), size[1]))
        titles: dict[str, str] = {}
        for it in files:
            titles = {**it.titles, **titles}
        assumptions = assumed_sizes(self._ways["n_users"])
        assumptions += tuple(words for it in files for words in it.assumptions)
        features, sentences = None, tuple[str, ...]()
        if ITEM_TABLE in self._facts:
            path = path_of(self._facts[ITEM_TABLE])
            item_table = read_item_table(path, (*names, *more))
            features, sentences = item_table.features, item_table.sentences(file_name(path))
        manifest = Manifest(
            name=self._name,
            n_users=size[0],
            n_items=size[1],
            n_ratings=written.n_ratings,
            bounds=self._bounds,
            public=False,
            assumptions=tuple(dict.fromkeys(assumptions)),
            origin=_origin(self._files),
            titles=(*(titles.get(name) or name for name in names), *more),
            labels=(*names, *more),
            parts=tuple(written.hashes),
            feature_names=None if features is None else features.names,
            features=None if features is None else tuple(features.values.tolist()),
        )
        self._rows.forget()
        partitions.finish(self._folder, manifest)
        target = partitions.folder_of(self._name)
        aside = target.with_name(f".{self._name}.old")
        shutil.rmtree(aside, ignore_errors=True)
        if target.exists():
            target.replace(aside)
        self._folder.replace(target)
        shutil.rmtree(aside, ignore_errors=True)
        return sentences


@dataclass
class _Written:
    """Totals of the partitions.

    merged: repeated ratings of a pair; raters: users with ratings.
    """

    hashes: list[str] = field(default_factory=list)
    n_ratings: int = 0
    merged: int = 0
    raters: int = 0


@dataclass
class _TimesRead:
    """How the times of a file were read, batch by batch."""

    words: set[str] = field(default_factory=set)
    are_ambiguous: bool = False
    are_read: bool = True

    def order(
        self, batch: Batch, declared: Order | None, tally: Tally
    ) -> npt.NDArray[np.int64] | None:
        """Return the times of a batch; an unreadable one ends the use of all."""
        if batch.times is None:
            return None
        column = dates.Column(declared)
        column.take(batch.times)
        times = column.result()
        tally.add(Kind.NO_TIME, batch.rows[times.unread], times.example)
        self.words |= {times.words} - {""}
        self.are_ambiguous |= times.ambiguous or FORMAT_IS_PUBLIC in times.assumptions
        self.are_read &= times.order is not None or not len(batch.values)
        return times.order


def _origin(files: list[Path]) -> str:
    """The fingerprint of one file, or of several."""
    if len(files) == 1:
        return fingerprint.of(files[0])
    return fingerprint.of_bytes(
        "\n".join(f"{file.name} {fingerprint.of(file)}" for file in files).encode()
    )


def _differing_times(files: Sequence[_FileRead]) -> bool:
    """Whether times were read in different ways, so that they have no common order."""
    words = {
        words for it in files for words in it.report.assumed if words.startswith(("Times", "Dates"))
    }
    return len(words) > 1


def _spelling_notes(labels: pa.Array, what: str) -> list[str]:
    """`spelling_notes`; whole numbers have only one spelling."""
    return [] if pa.types.is_integer(labels.type) else spelling_notes(labels.to_pylist(), what)
