"""Tables of ratings, however large, into parts on disk: memory holds some rows, the ids of users
and items, and one part.

Three stages, each kept on disk, so that an import that was stopped goes on: the tables are read,
file by file; their rows are put where their users' part is gathered; each part is sorted and
written.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpmf_core.data.hashing import keys_of_ids
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import Members, usual_parts
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder, held_alone
from dpmf_datasets import fingerprint, parts_folder
from dpmf_datasets.parts_folder import Manifest, file_of, write_part
from dpmf_datasets.parts_rows import FileRead, Numbers, Progress, TableRows, tuples, write_text
from dpmf_datasets.readers.cells import spelling_notes
from dpmf_datasets.readers.item_tables import ITEM_TABLE, read_item_table
from dpmf_datasets.readers.ratings_tables import assumed_sizes, declared_size
from dpmf_datasets.readers.report import DUPLICATE, EMPTY_USER, Problem, Report
from dpmf_datasets.readers.table import file_name
from dpmf_datasets.table_paths import RATING_FACTS, facts_in, path_of

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet", ".gz")
ROW_TYPE = np.dtype([("user", "i4"), ("item", "i4"), ("value", "f4"), ("order", "i8")])
AT_ONCE = 4_000_000  # rows that are put in their parts together, at most
MOST_PARTS = 10_000
SEVERAL_TIMES = "Times were read in several ways, so the order of the ratings is not used."


def import_parts(
    name: str,
    path_and_facts: str,
    *,
    parts: int | None = None,
    replace: bool = False,
    progress: Progress = lambda stage, count, total: None,
) -> Report:
    """Keeps the ratings of a table, of all tables in a folder, or of all that fit a pattern such as
    `days/*.csv`, in parts under a name: `big.csv?bounds=1,5`, with what `load` knows after a path.

    parts: how many; one for every 32,768 users unless given. replace: even where there is a set of
    this name. An import that was stopped goes on where it is asked for again. Raises BadInput.
    """
    parts_folder.require_name(name)
    files, facts = _files(path_and_facts)
    if parts is not None and not 1 <= parts <= MOST_PARTS:
        raise BadInput(f"--parts is a whole number from 1 to {MOST_PARTS:,}. Got {parts}.")
    if parts_folder.is_there(name) and not replace:
        raise BadInput(
            f"There are ratings called {name} on this machine. Take another name, or repeat with"
            " --replace."
        )
    folder = create_folder(parts_folder.root() / f".{name}.unfinished")
    with held_alone(folder.with_suffix(".lock"), f"the import of {name}"):
        try:
            return _Import(name, files, facts, parts, progress, folder).run()
        except BadInput:
            shutil.rmtree(folder, ignore_errors=True)  # it would end so again
            raise


def _files(path_and_facts: str) -> tuple[list[Path], dict[str, str]]:
    """The tables that a path, a folder or a pattern names, and what is said after it."""
    whole = path_of(path_and_facts)
    text, _, query = (path_and_facts, "", "") if whole.is_file() else path_and_facts.partition("?")
    facts, path = facts_in(query, RATING_FACTS), path_of(text)
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


class _Import:
    def __init__(
        self,
        name: str,
        files: list[Path],
        facts: dict[str, str],
        parts: int | None,
        progress: Progress,
        folder: Path,
    ) -> None:
        self._name, self._files, self._facts, self._parts = name, files, facts, parts
        self._progress, self._folder = progress, folder
        self._rows = TableRows(files, facts, folder, progress)

    def run(self) -> Report:
        self._begin()
        files = [self._rows.read(place) for place in range(len(self._files))]
        has_order = all(it.has_order for it in files) and not _differing_times(files)
        users, items = (self._rows.labels(role) for role in ("user", "item"))
        n_users, n_items = (
            declared_size(self._rows.ways[f"n_{what}"], len(labels), what, self._name)
            for what, labels in (("users", users), ("items", items))
        )
        n_parts = self._parts or usual_parts(n_users)
        self._gather(files, (users, items), Members(n_users, n_parts), has_order)
        keys = np.append(keys_of_ids(users), np.zeros(n_users - len(users), np.uint64))
        hashes, n_ratings, duplicates, raters = self._write(keys, n_items, n_parts, has_order)
        if raters < 2:
            raise BadInput(
                f"{self._name} would hold usable ratings of one user only. What one user shares"
                " with others cannot be learned from one: at least 2 are needed."
            )
        problems = (
            *(problem for it in files for problem in it.problems),
            *((Problem(DUPLICATE, duplicates),) if duplicates else ()),
            *((Problem(EMPTY_USER, len(users) - raters),) if len(users) > raters else ()),
        )
        manifest, sentences = self._manifest(files, items, (n_users, n_items, n_ratings), hashes)
        self._finish(manifest)
        return Report(
            name=self._name,
            read=sum(it.read for it in files),
            kept=n_ratings,
            n_users=n_users,
            n_items=n_items,
            problems=problems,
            columns=files[0].columns,
            values=self._rows.first_values(files[0]),
            ignored=files[0].ignored,
            assumed=(
                *dict.fromkeys(words for it in files for words in it.assumed),
                *_spelling_notes(users, "users"),
                *_spelling_notes(items, "items"),
                *([SEVERAL_TIMES] if _differing_times(files) else []),
                *sentences,
            ),
        )

    # -- what was begun before ---------------------------------------------------------------------

    def _begin(self) -> None:
        """Forgets what was begun of other files, or in another way."""
        request = json.dumps(
            [
                [
                    [str(it.absolute()), it.stat().st_size, it.stat().st_mtime_ns]
                    for it in self._files
                ],
                {key: value for key, value in self._facts.items() if key != ITEM_TABLE},
                self._parts,
            ]
        )
        request_file = self._folder / "begun.json"
        if not request_file.exists() or request_file.read_text("utf-8") != request:
            shutil.rmtree(self._folder)
            create_folder(self._folder)
            write_text(request_file, request)

    # -- parts -------------------------------------------------------------------------------------

    def _gather(
        self,
        files: list[FileRead],
        labels: tuple[pa.Array, pa.Array],
        members: Members,
        has_order: bool,
    ) -> None:
        """Puts all rows, numbered, where their users' part is gathered, in the files' order."""
        marker = self._folder / "gathered"
        if marker.exists():
            return
        for old in self._folder.glob("part-*"):
            old.unlink()
        users, items = (Numbers(each) for each in labels)
        total, chunks = sum(it.batches for it in files), list[npt.NDArray[Any]]()
        for at, table in enumerate(self._rows.batches(files), 1):
            rows = np.empty(len(table), ROW_TYPE)
            rows["user"], rows["item"] = users.of(table["user"]), items.of(table["item"])
            rows["value"] = table["value"].to_numpy()
            rows["order"] = table["order"].to_numpy() if has_order else 0
            chunks.append(rows)
            if sum(map(len, chunks)) > AT_ONCE or at == total:
                self._put(np.concatenate(chunks), members)
                chunks.clear()
            self._progress("gathering", at, total)
        marker.touch()
        self._rows.forget_rows()

    def _put(self, rows: npt.NDArray[Any], members: Members) -> None:
        part_of = members.part_of[rows["user"]]
        order = np.argsort(part_of, kind="stable")
        rows, part_numbers = rows[order], part_of[order]
        parts, first = np.unique(part_numbers, return_index=True)
        for part, some in zip(parts, np.split(rows, first[1:]), strict=True):
            with (self._folder / f"part-{part}").open("ab") as file:
                some.tofile(file)

    def _write(
        self, keys: npt.NDArray[np.uint64], n_items: int, n_parts: int, has_order: bool
    ) -> tuple[list[str], int, int, int]:
        """Each part's hash; and how many ratings were kept, merged with another of the same user
        and item, and by how many users. keys: (n_users,) what draws of each are keyed by.
        """
        hashes, n_ratings, duplicates, raters = [], 0, 0, 0
        for part in range(n_parts):
            file, rows_file = file_of(self._folder, part), self._folder / f"part-{part}"
            counts_file = self._folder / f"written-{part}.json"
            if not counts_file.exists():
                rows_file.touch()
                rows = np.fromfile(rows_file, ROW_TYPE)
                ratings = Ratings.of(
                    rows["user"].copy(),
                    rows["item"].copy(),
                    rows["value"].copy(),
                    n_users=len(keys),
                    n_items=n_items,
                    bounds=self._rows.bounds,
                    order=rows["order"].copy() if has_order else None,
                    user_keys=keys,
                )
                digest = write_part(file, ratings.users, ratings)
                own = [
                    len(ratings),
                    len(rows) - len(ratings),
                    len(np.unique(ratings.users)),
                    digest,
                ]
                write_text(counts_file, json.dumps(own))
                rows_file.unlink()
            more = json.loads(counts_file.read_text("utf-8"))
            n_ratings, duplicates, raters = (
                n_ratings + more[0],
                duplicates + more[1],
                raters + more[2],
            )
            hashes.append(more[3])
            self._progress("writing parts", part + 1, n_parts)
        return hashes, n_ratings, duplicates, raters

    # -- the finished set --------------------------------------------------------------------------

    def _manifest(
        self,
        files: list[FileRead],
        items: pa.Array,
        counts: tuple[int, int, int],
        hashes: list[str],
    ) -> tuple[Manifest, tuple[str, ...]]:
        """The manifest, and what was read of the item table."""
        n_users, n_items, n_ratings = counts
        names = items.cast(pa.string()).to_pylist()
        titles: dict[str, str] = {}
        for it in files:
            titles = {**it.titles, **titles}
        more = tuple(f"item {at}" for at in range(len(names), n_items))
        assumptions = assumed_sizes(self._rows.ways["n_users"])
        assumptions += tuple(words for it in files for words in it.assumptions)
        features, sentences = self._features((*names, *more))
        return Manifest(
            name=self._name,
            n_users=n_users,
            n_items=n_items,
            n_ratings=n_ratings,
            bounds=self._rows.bounds,
            public=False,
            assumptions=tuple(dict.fromkeys(assumptions)),
            origin=_origin(self._files),
            titles=(*(titles.get(name) or name for name in names), *more),
            labels=(*names, *more),
            parts=tuple(hashes),
            feature_names=None if features is None else features.names,
            features=None if features is None else tuples(features.values.tolist()),
        ), sentences

    def _features(self, labels: tuple[str, ...]) -> tuple[ItemFeatures | None, tuple[str, ...]]:
        if ITEM_TABLE not in self._facts:
            return None, ()
        table = path_of(self._facts[ITEM_TABLE])
        item_table = read_item_table(table, labels)
        return item_table.features, tuple(item_table.sentences(file_name(table)))

    def _finish(self, manifest: Manifest) -> None:
        """Only parts and manifest stay; the set takes the place of an older one."""
        for path in self._folder.iterdir():
            if path.suffix != ".parquet":
                path.unlink()
        parts_folder.finish(self._folder, manifest)
        target = parts_folder.folder_of(self._name)
        aside = target.with_name(f".{self._name}.old")
        shutil.rmtree(aside, ignore_errors=True)
        if target.exists():
            target.replace(aside)
        self._folder.replace(target)
        shutil.rmtree(aside, ignore_errors=True)


def _origin(files: list[Path]) -> str:
    """The fingerprint of one file, or of several."""
    if len(files) == 1:
        return fingerprint.of(files[0])
    return fingerprint.of_bytes(
        "\n".join(f"{file.name} {fingerprint.of(file)}" for file in files).encode()
    )


def _differing_times(files: Sequence[FileRead]) -> bool:
    """Whether times were read in more ways than one, so that they make no order."""
    words = {words for it in files for words in it.assumed if words.startswith(("Times", "Dates"))}
    return len(words) > 1


def _spelling_notes(labels: pa.Array, what: str) -> list[str]:
    """As `spelling_notes`; whole numbers are written in one way."""
    if pa.types.is_integer(labels.type):
        return []
    return spelling_notes(labels.to_pylist(), what)
