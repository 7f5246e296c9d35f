"""Import tables of ratings of any size into partitions on disk.

Memory holds some rows, the ids of users and items, and one partition. There are three stages:
tables are read file by file and their usable rows spilled; rows are gathered by their users'
partition; each partition is sorted and written.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder, held_alone, write_whole
from dpmf_core.data.addresses import path_of, require_known, split
from dpmf_core.data.column_names import Advice
from dpmf_core.data.facts import ITEM_TABLE, RATING_FACTS, Facts
from dpmf_core.data.partitioned import Members, usual_parts
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import VALUES_NAMED, Kind, Problem, Report, place_in_report
from dpmf_datasets import partitions
from dpmf_datasets.partitions import Manifest, file_of, write_partition
from dpmf_datasets.readers.archives import fingerprint_of, fingerprint_of_all
from dpmf_datasets.readers.cleaning import Batch, CleanRows, Ids
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import (
    TableSize,
    after_path,
    assumptions_of,
    open_rows,
    report_of,
    require_usable,
    shape_of,
)
from dpmf_datasets.readers.table import EmptyTable, file_name, report_damage
from dpmf_datasets.readers.tables import read_item_table, table_in

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet", ".gz")
ROW_TYPE = np.dtype([("user", "i4"), ("item", "i4"), ("value", "f4"), ("order", "i8")])
AT_ONCE = 4_000_000  # rows that are gathered together, at most
MOST_PARTITIONS = 10_000
TellStage = Callable[[str, int, int], None]  # stage, done, in all


def unwatched(stage: str, count: int, total: int) -> None:
    """Do nothing about the progress of an import."""


def import_partitions(
    name: str,
    path_and_facts: str,
    *,
    n_partitions: int | None = None,
    replace: bool = False,
    progress: TellStage = unwatched,
) -> Report:
    """Store the ratings of tables in partitions under a name.

    Parameters
    ----------
    name : str
        Up to 64 lower-case letters, digits, dashes and underscores.
    path_and_facts : str
        A table, a folder of tables, or a pattern such as ``days/*.csv``. The facts of `load` may
        follow the path: ``big.csv?bounds=1,5``.
    n_partitions : int or None
        By default one partition per 32,768 users.
    replace : bool
        Whether to replace a set that has this name.
    progress : callable
        A function of the stage, the amount done, and the total.

    Returns
    -------
    Report
        The report of the reading.

    Raises
    ------
    BadInput
        If the tables cannot be read, or if the name is taken.
    """
    if not partitions.NAME.fullmatch(name):
        raise BadInput(
            "The name of ratings in partitions may have up to 64 lower-case letters, digits,"
            f" dashes and underscores, and must begin with a letter or digit. Got '{name[:80]}'."
        )
    files, facts, advice = _files(path_and_facts)
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
            tables = _Import(name, files, facts, advice, folder, n_partitions, progress)
            report, manifest = tables.run()
            tables.store(manifest)
            return report
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def check_tables(path_and_facts: str) -> tuple[Report, tuple[str, ...]]:
    """The report of an import, and what it leaves conditional; nothing is stored."""
    files, facts, advice = _files(path_and_facts)
    with tempfile.TemporaryDirectory(
        dir=create_folder(partitions.root()), prefix="."
    ) as folder:
        tables = _Import(file_name(files[0].parent), files, facts, advice, Path(folder))
        report, manifest = tables.run()
    return report, manifest.assumptions


def _files(path_and_facts: str) -> tuple[list[Path], Facts, Advice]:
    """The tables that a path, a folder or a pattern names, the facts after it, and advice on it."""
    place, facts = split(path_and_facts)
    require_known(facts, (*RATING_FACTS, "encoding", "header", "multiline"))
    path = path_of(place)
    if path.is_dir():
        paths = sorted(
            file for file in path.iterdir() if file.suffix.lower() in SUFFIXES
        )
    elif "*" in path.name and path.parent.is_dir():
        paths = sorted(file for file in path.parent.glob(path.name) if file.is_file())
    else:
        paths = [path] if path.is_file() else []
    if not paths:
        raise BadInput(
            f"There is no table {file_name(path)}. Give the path of a table of ratings (CSV, TSV or"
            " Parquet, also .gz), of a folder with such tables, or a pattern such as 'days/*.csv'."
        )
    return paths, facts, after_path(place, facts)


@dataclass
class _Import:
    """An import under way, which keeps its files in `folder` until it is finished."""

    name: str
    files: list[Path]
    facts: Facts
    advice: Advice
    folder: Path
    n_partitions: int | None = None
    progress: TellStage = unwatched
    users: Ids = field(default_factory=Ids)
    items: Ids = field(default_factory=Ids)
    titles: dict[str, str] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    first: CleanRows | None = None  # of the first file; its layout holds for all
    has_order: bool = True  # whether all files have times that can be read
    n_batches: int = 0
    bounds: tuple[float, float] = (0.0, 1.0)  # of all files

    def run(self) -> tuple[Report, Manifest]:
        reports = self._read_all()
        read = sum(report.read for report in reports)
        problems = _together(reports)
        assert self.first is not None
        require_usable(self.first, self.name, self.advice, read, problems)
        shape = shape_of(self.users, self.items, self._declared, self.name)
        members = Members(
            shape.n_users, self.n_partitions or usual_parts(shape.n_users)
        )
        self._gather(members)
        written = [self._write(part, members, shape) for part in range(members.n_parts)]
        hashes, n_ratings, n_rows = zip(*written, strict=True)
        n_kept = sum(n_ratings)
        n_merged = sum(n_rows) - n_kept
        manifest, sentences = self._manifest(shape, hashes, n_kept)
        if n_merged:
            problems.append(Problem(Kind.DUPLICATE, n_merged))
        assumed = dict.fromkeys(words for report in reports for words in report.assumed)
        report = replace(
            reports[0],
            name=self.name,
            read=read,
            kept=n_kept,
            n_users=shape.n_users,
            n_items=len(shape.labels),
            problems=tuple(problems),
            assumed=(*assumed, *shape.notes, *sentences),
        )
        return report, manifest

    @cached_property
    def _declared(self) -> Declared:
        return Declared.of(self.facts)

    def _read_all(self) -> list[Report]:
        """Spill the usable rows of all files. Raises BadInput if all are empty."""
        reports = []
        empty = None
        for file in self.files:
            try:
                reports.append(self._read(file))
            except EmptyTable as error:
                empty = error
        if empty is not None and not reports:
            raise empty
        return reports

    def _read(self, file: Path) -> Report:
        """Spill the usable rows of a file."""
        name = file_name(file)
        facts = self.facts
        if (
            self.first is not None
            and not self.first.table.names
            and not self.first.table.above
        ):
            facts = {**facts, "header": "0"}
        size = max(file.stat().st_size, 1)
        with report_damage(name), file.open("rb") as stream:
            table = table_in(stream, name, facts)
            rows = open_rows(table, name, self._declared, self.advice, self.first)
            self.bounds = rows.rules.bounds
            for batch in rows:
                self._spill(batch)
                self.progress(f"reading {name}", min(stream.tell(), size), size)
        self.first = self.first or rows
        self.has_order &= rows.clock is not None
        self.titles = {**rows.titles, **self.titles}
        self.assumptions += assumptions_of(self._declared, rows.table)
        return report_of(rows, name, self._declared, ())

    def _spill(self, batch: Batch) -> None:
        """Write a batch to the folder. Raises BadInput if the disk is full."""
        if batch.order is None:
            order = np.zeros(len(batch.values), np.int64)
        else:
            order = batch.order
        columns = [batch.users, batch.items, pa.array(batch.values), pa.array(order)]
        rows = pa.table(columns, names=list(ROW_TYPE.names or ()))
        self.users.add(batch.users)
        self.items.add(batch.items)
        try:
            pyarrow.feather.write_feather(
                rows, self._batch(self.n_batches), "uncompressed"
            )
        except OSError as error:
            raise BadInput(
                f"The data folder has no room for the ratings ({error}). An import needs about 50"
                " bytes per rating: free some space, or set DPMF_DATA to another folder."
            ) from error
        self.n_batches += 1

    def _batch(self, at: int) -> Path:
        return self.folder / f"batch-{at}.arrow"

    def _gather(self, members: Members) -> None:
        """Gather all rows, with numbers for ids, by their users' partition, in their order."""
        chunks = list[Array]()
        for at in range(self.n_batches):
            table = pyarrow.feather.read_table(self._batch(at), memory_map=False)
            self._batch(at).unlink()
            rows = np.empty(len(table), ROW_TYPE)
            rows["user"] = self.users.numbers(table["user"].combine_chunks())
            rows["item"] = self.items.numbers(table["item"].combine_chunks())
            rows["value"] = table["value"].to_numpy()
            rows["order"] = table["order"].to_numpy()
            chunks.append(rows)
            if sum(map(len, chunks)) > AT_ONCE or at == self.n_batches - 1:
                self._put(np.concatenate(chunks), members)
                chunks.clear()
            self.progress("gathering", at + 1, self.n_batches)

    def _put(self, rows: Array, members: Members) -> None:
        partition_of = members.part_of[rows["user"]]
        order = np.argsort(partition_of, kind="stable")
        some, first = np.unique(partition_of[order], return_index=True)
        for partition, part in zip(some, np.split(rows[order], first[1:]), strict=True):
            with (self.folder / f"rows-{partition}").open("ab") as file:
                part.tofile(file)

    def _write(
        self, partition: int, members: Members, shape: TableSize
    ) -> tuple[str, int, int]:
        """Sort and write a partition.

        Returns the file's hash, and the numbers of ratings and of rows.
        """
        rows_file = self.folder / f"rows-{partition}"
        rows_file.touch()
        rows = np.fromfile(rows_file, ROW_TYPE)
        rows_file.unlink()
        ratings = Ratings.of(
            rows["user"],
            rows["item"],
            rows["value"],
            n_users=shape.n_users,
            n_items=len(shape.labels),
            bounds=self.bounds,
            order=rows["order"] if self.has_order else None,
            user_keys=shape.user_keys,
        )
        digest = write_partition(
            file_of(self.folder, partition), ratings.users, ratings
        )
        self.progress("writing partitions", partition + 1, members.n_parts)
        return digest, len(ratings), len(rows)

    def _manifest(
        self, shape: TableSize, hashes: tuple[str, ...], n_ratings: int
    ) -> tuple[Manifest, tuple[str, ...]]:
        """The manifest of the set, and the item table's sentences."""
        features = None
        sentences: tuple[str, ...] = ()
        labels = shape.labels
        titles = tuple(self.titles.get(label) or label for label in labels)
        if ITEM_TABLE in self.facts:
            path = path_of(self.facts[ITEM_TABLE])
            item_table = read_item_table(
                path, labels, encoding=self.facts.get("item_encoding")
            )
            features = item_table.features
            sentences = item_table.sentences(file_name(path))
            titles = item_table.titles_over(titles, labels)
        if len(self.files) == 1:
            origin = fingerprint_of(self.files[0])
        else:
            origin = fingerprint_of_all({file.name: file for file in self.files})
        manifest = Manifest(
            name=self.name,
            n_users=shape.n_users,
            n_items=len(labels),
            n_ratings=n_ratings,
            bounds=self.bounds,
            public=False,
            assumptions=tuple(dict.fromkeys(self.assumptions)),
            origin=origin,
            titles=titles,
            labels=labels,
            parts=hashes,
            feature_names=None if features is None else features.names,
            features=None if features is None else tuple(features.values.tolist()),
        )
        return manifest, sentences

    def store(self, manifest: Manifest) -> None:
        """Write the manifest and move the set into place."""
        write_whole(self.folder / partitions.MANIFEST, manifest.text)
        target = partitions.folder_of(self.name)
        aside = target.with_name(f".{self.name}.old")
        shutil.rmtree(aside, ignore_errors=True)
        if target.exists():
            target.replace(aside)
        self.folder.replace(target)
        shutil.rmtree(aside, ignore_errors=True)


def _together(reports: Sequence[Report]) -> list[Problem]:
    """The problems of all files, each kind once with its first place."""
    by_kind = dict[str, Problem]()
    for report in reports:
        for problem in report.problems:
            if len(reports) == 1:
                where = problem.where
            else:
                where = f"{report.name}, {problem.where}"
            earlier = by_kind.get(problem.kind)
            if earlier is None:
                by_kind[problem.kind] = replace(problem, where=where)
            else:
                times = Counter(dict(earlier.commonest)) + Counter(
                    dict(problem.commonest)
                )
                by_kind[problem.kind] = replace(
                    earlier,
                    count=earlier.count + problem.count,
                    commonest=tuple(times.most_common(VALUES_NAMED)),
                )
    return sorted(by_kind.values(), key=place_in_report)
