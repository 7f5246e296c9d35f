"""Import tables of ratings of any size into partitions on disk.

Memory holds some rows, the ids of users and items, and one partition. There are three stages:
tables are read file by file and their usable rows spilled; rows are gathered by their users'
partition; each partition is sorted and written.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.feather

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder, held_alone
from dpmf_core.data.partitioned import Members, usual_parts
from dpmf_core.data.ratings import Ratings
from dpmf_datasets import partitions
from dpmf_datasets.partitions import Manifest, file_of, write_partition
from dpmf_datasets.path_facts import ITEM_TABLE, RATING_FACTS, facts_in, path_of, split_path, ways
from dpmf_datasets.readers import dates
from dpmf_datasets.readers.archives import fingerprint_of, fingerprint_of_bytes
from dpmf_datasets.readers.cells import Ids, Numbers, spelling_notes
from dpmf_datasets.readers.cleaning import Batch, CleanRows
from dpmf_datasets.readers.columns import after_path, chosen_columns
from dpmf_datasets.readers.item_tables import read_item_table
from dpmf_datasets.readers.ratings_tables import (
    assumed_sizes,
    column_facts,
    declared_size,
    empty_users,
    item_labels,
    require_bounds,
    require_several,
    require_usable,
    user_keys,
)
from dpmf_datasets.readers.report import Kind, Order, Problem, Report
from dpmf_datasets.readers.table import file_name, report_damage
from dpmf_datasets.readers.tables import open_table

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
    times: frozenset[str] | None  # how they were read; None if they make no order


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
        advice = after_path(str(files[0]), facts)
        self._bounds = require_bounds(self._ways["bounds"], file_name(files[0]), advice)
        self._users, self._items, self._n_batches = Ids(), Ids(), 0

    def run(self) -> Report:
        files = [self._read(file) for file in self._files]
        ways_of_times = frozenset[str]().union(*(it.times or () for it in files))
        has_order = all(it.times is not None for it in files) and len(ways_of_times) == 1
        users, items = self._users.labels(), self._items.labels()
        n_users, n_items = (
            declared_size(self._ways[f"n_{what}"], len(labels), what, self._name)
            for what, labels in (("users", users), ("items", items))
        )
        n_partitions = self._n_partitions or usual_parts(n_users)
        self._gather((users, items), Members(n_users, n_partitions), has_order)
        written = self._write(user_keys(users, n_users), n_items, n_partitions, has_order)
        require_several(written.raters, self._name)
        sentences = self._finish(files, item_labels(items, n_items), n_users, written)
        return replace(
            files[0].report,
            name=self._name,
            read=sum(it.report.read for it in files),
            kept=written.n_ratings,
            n_users=n_users,
            n_items=n_items,
            problems=(
                *(problem for it in files for problem in it.report.problems),
                *([Problem(Kind.DUPLICATE, written.merged)] if written.merged else []),
                *empty_users(len(users) - written.raters),
            ),
            assumed=(
                *dict.fromkeys(words for it in files for words in it.report.assumed),
                *spelling_notes(users, "users"),
                *spelling_notes(items, "items"),
                *([SEVERAL_TIMES] if len(ways_of_times) > 1 else []),
                *sentences,
            ),
        )

    def _read(self, file: Path) -> _FileRead:
        """Spill the usable rows of a file."""
        name, advice = file_name(file), after_path(str(file), self._facts)
        with report_damage(name), file.open("rb") as stream:
            table = open_table(stream, name, self._ways["encoding"])
            places = chosen_columns(table, dict(self._ways["columns"]), name, advice)
            rows = CleanRows(table, places, self._bounds, self._ways["outside"])
            size, usable, words, are_read = max(file.stat().st_size, 1), 0, set[str](), True
            for batch in rows:
                times = _times_of(batch, self._ways["dates"], name)
                rows.tally.add(Kind.NO_TIME, batch.rows[times.unread], times.example)
                words |= {times.words} - {""}
                are_read &= times.order is not None or not len(batch.values)
                self._spill(batch, times.order)
                usable += len(batch.values)
                self._progress(f"reading {name}", min(stream.tell(), size), size)
        require_usable(rows, name, advice)
        report = Report(
            name=name,
            read=rows.read,
            kept=usable,
            n_users=0,
            n_items=0,
            problems=rows.problems,
            assumed=(*rows.reading_notes, *sorted(words)),
            **column_facts(rows),
        )
        return _FileRead(
            report,
            (*table.assumptions, *([dates.READING_IS_PUBLIC] if "time" in places else [])),
            rows.titles,
            frozenset(words) if "time" in places and are_read else None,
        )

    def _spill(self, batch: Batch, order: npt.NDArray[np.int64] | None) -> None:
        """Write a batch with its times to the folder. Raises BadInput if the disk is full."""
        order = np.zeros(len(batch.values), np.int64) if order is None else order
        columns = [batch.users, batch.items, pa.array(batch.values), pa.array(order)]
        rows = pa.table(columns, names=["user", "item", "value", "order"])
        self._users.add(batch.users.dictionary)
        self._items.add(batch.items.dictionary)
        try:
            pyarrow.feather.write_feather(rows, self._batch(self._n_batches), "uncompressed")
        except OSError as error:
            raise BadInput(
                f"The data folder has no room for the ratings ({error}). An import needs about 50"
                " bytes per rating: free some space, or set DPMF_DATA to another folder."
            ) from error
        self._n_batches += 1

    def _batch(self, at: int) -> Path:
        return self._folder / f"batch-{at}.arrow"

    def _gather(self, labels: tuple[pa.Array, pa.Array], members: Members, has_order: bool) -> None:
        """Gather all rows, with numbers for ids, by their users' partition, in their order."""
        users, items = (Numbers(each) for each in labels)
        chunks = list[npt.NDArray[Any]]()
        for at in range(self._n_batches):
            table = pyarrow.feather.read_table(self._batch(at), memory_map=False)
            self._batch(at).unlink()
            rows = np.empty(len(table), ROW_TYPE)
            rows["user"] = users.of(table["user"].combine_chunks())
            rows["item"] = items.of(table["item"].combine_chunks())
            rows["value"] = table["value"].to_numpy()
            rows["order"] = table["order"].to_numpy() if has_order else 0
            chunks.append(rows)
            if sum(map(len, chunks)) > AT_ONCE or at == self._n_batches - 1:
                self._put(np.concatenate(chunks), members)
                chunks.clear()
            self._progress("gathering", at + 1, self._n_batches)

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
        self, files: list[_FileRead], labels: tuple[str, ...], n_users: int, written: "_Written"
    ) -> tuple[str, ...]:
        """Write the manifest and move the set into place; returns the item table's sentences."""
        titles: dict[str, str] = {}
        for it in files:
            titles = {**it.titles, **titles}
        assumptions = assumed_sizes(self._ways["n_users"])
        assumptions += tuple(words for it in files for words in it.assumptions)
        features, sentences = None, tuple[str, ...]()
        if ITEM_TABLE in self._facts:
            path = path_of(self._facts[ITEM_TABLE])
            item_table = read_item_table(path, labels)
            features, sentences = item_table.features, item_table.sentences(file_name(path))
        manifest = Manifest(
            name=self._name,
            n_users=n_users,
            n_items=len(labels),
            n_ratings=written.n_ratings,
            bounds=self._bounds,
            public=False,
            assumptions=tuple(dict.fromkeys(assumptions)),
            origin=_origin(self._files),
            titles=tuple(titles.get(label) or label for label in labels),
            labels=labels,
            parts=tuple(written.hashes),
            feature_names=None if features is None else features.names,
            features=None if features is None else tuple(features.values.tolist()),
        )
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


def _times_of(batch: Batch, declared: Order | None, name: str) -> dates.ColumnTimes:
    """The times of a batch. Raises BadInput on dates whose order it would have to assume."""
    column = dates.Column(declared)
    if batch.times is not None:
        column.take(batch.times)
    times = column.result()
    if dates.FORMAT_IS_PUBLIC in times.assumptions:
        raise BadInput(
            f"Dates of {name} such as 03/04/2021 can be read in two ways. Declare the order after"
            " the path: dates=dmy or dates=mdy."
        )
    return times


def _origin(files: list[Path]) -> str:
    """The fingerprint of one file, or of several."""
    if len(files) == 1:
        return fingerprint_of(files[0])
    return fingerprint_of_bytes(
        "\n".join(f"{file.name} {fingerprint_of(file)}" for file in files).encode()
    )
