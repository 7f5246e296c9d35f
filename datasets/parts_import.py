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

from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import Members, usual_parts
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.errors import BadInput
from dpmf_core.paths import held_alone, made
from dpmf_datasets import fingerprint, parts_folder
from dpmf_datasets.parts_folder import Manifest, file_of, write_part
from dpmf_datasets.parts_rows import FileRead, Numbers, Progress, TableRows, tuples, write_text
from dpmf_datasets.readers.ids import written_twice
from dpmf_datasets.readers.item_tables import ITEM_TABLE, read_item_table
from dpmf_datasets.readers.ratings_tables import assumed_sizes, declared_size
from dpmf_datasets.readers.report import DUPLICATE, EMPTY_USER, Problem, Report
from dpmf_datasets.readers.tables import called
from dpmf_datasets.table_paths import RATED, facts_in, path_of

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet", ".gz")
GATHERED = np.dtype([("user", "i4"), ("item", "i4"), ("value", "f4"), ("order", "i8")])
AT_ONCE = 4_000_000  # rows that are put in their parts together, at most
MOST_PARTS = 10_000
SEVERAL_TIMES = "Times were read in several ways, so the order of the ratings is not used."


def import_parts(
    name: str,
    path_and_facts: str,
    *,
    parts: int | None = None,
    replace: bool = False,
    progress: Progress = lambda stage, done, total: None,
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
    folder = made(parts_folder.root() / f".{name}.unfinished")
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
    facts, path = facts_in(query, RATED), path_of(text)
    if path.is_dir():
        found = sorted(it for it in path.iterdir() if it.suffix.lower() in SUFFIXES)
    elif "*" in path.name and path.parent.is_dir():
        found = sorted(it for it in path.parent.glob(path.name) if it.is_file())
    else:
        found = [path] if path.is_file() else []
    if not found:
        raise BadInput(
            f"There is no table {called(path)}. Give the path of a table of ratings (CSV, TSV or"
            " Parquet, also .gz), of a folder with such tables, or a pattern such as 'days/*.csv'."
        )
    return found, facts


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
        done = [self._rows.read(place) for place in range(len(self._files))]
        has_order = all(it.has_order for it in done) and not _differing_times(done)
        users, items = (self._rows.labels(role) for role in ("user", "item"))
        n_users, n_items = (
            declared_size(self._rows.ways[f"n_{what}"], len(labels), what, self._name)
            for what, labels in (("users", users), ("items", items))
        )
        n_parts = self._parts or usual_parts(n_users)
        self._gather(done, (users, items), Members(n_users, n_parts), has_order)
        hashes, kept, doubled, raters = self._write(n_users, n_items, n_parts, has_order)
        if raters < 2:
            raise BadInput(
                f"{self._name} would hold usable ratings of one user only. What one user shares"
                " with others cannot be learned from one: at least 2 are needed."
            )
        problems = (
            *(problem for it in done for problem in it.problems),
            *((Problem(DUPLICATE, doubled),) if doubled else ()),
            *((Problem(EMPTY_USER, len(users) - raters),) if len(users) > raters else ()),
        )
        manifest, told = self._manifest(done, items, (n_users, n_items, kept), hashes)
        self._finish(manifest)
        return Report(
            name=self._name,
            read=sum(it.read for it in done),
            kept=kept,
            n_users=n_users,
            n_items=n_items,
            problems=problems,
            columns=done[0].columns,
            values=self._rows.first_values(done[0]),
            ignored=done[0].ignored,
            assumed=(
                *dict.fromkeys(words for it in done for words in it.assumed),
                *_written_twice(users, "users"),
                *_written_twice(items, "items"),
                *([SEVERAL_TIMES] if _differing_times(done) else []),
                *told,
            ),
        )

    # -- what was begun before ---------------------------------------------------------------------

    def _begin(self) -> None:
        """Forgets what was begun of other files, or in another way."""
        asked = json.dumps(
            [
                [
                    [str(it.absolute()), it.stat().st_size, it.stat().st_mtime_ns]
                    for it in self._files
                ],
                {key: value for key, value in self._facts.items() if key != ITEM_TABLE},
                self._parts,
            ]
        )
        begun = self._folder / "begun.json"
        if not begun.exists() or begun.read_text("utf-8") != asked:
            shutil.rmtree(self._folder)
            made(self._folder)
            write_text(begun, asked)

    # -- parts -------------------------------------------------------------------------------------

    def _gather(
        self,
        done: list[FileRead],
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
        total, held = sum(it.batches for it in done), list[npt.NDArray[Any]]()
        for at, table in enumerate(self._rows.batches(done), 1):
            rows = np.empty(len(table), GATHERED)
            rows["user"], rows["item"] = users.of(table["user"]), items.of(table["item"])
            rows["value"] = table["value"].to_numpy()
            rows["order"] = table["order"].to_numpy() if has_order else 0
            held.append(rows)
            if sum(map(len, held)) > AT_ONCE or at == total:
                self._put(np.concatenate(held), members)
                held.clear()
            self._progress("gathering", at, total)
        marker.touch()
        self._rows.forget_rows()

    def _put(self, rows: npt.NDArray[Any], members: Members) -> None:
        part_of = members.part_of[rows["user"]]
        order = np.argsort(part_of, kind="stable")
        rows, found = rows[order], part_of[order]
        parts, first = np.unique(found, return_index=True)
        for part, some in zip(parts, np.split(rows, first[1:]), strict=True):
            with (self._folder / f"part-{part}").open("ab") as file:
                some.tofile(file)

    def _write(
        self, n_users: int, n_items: int, n_parts: int, has_order: bool
    ) -> tuple[list[str], int, int, int]:
        """Each part's hash; and how many ratings were kept, merged with another of the same user
        and item, and by how many users.
        """
        hashes, kept, doubled, raters = [], 0, 0, 0
        for part in range(n_parts):
            file, gathered = file_of(self._folder, part), self._folder / f"part-{part}"
            counted = self._folder / f"written-{part}.json"
            if not counted.exists():
                gathered.touch()
                rows = np.fromfile(gathered, GATHERED)
                made_of = Ratings.of(
                    rows["user"].copy(),
                    rows["item"].copy(),
                    rows["value"].copy(),
                    n_users=n_users,
                    n_items=n_items,
                    bounds=self._rows.bounds,
                    order=rows["order"].copy() if has_order else None,
                )
                found = write_part(file, made_of.users, made_of)
                own = [len(made_of), len(rows) - len(made_of), len(np.unique(made_of.users)), found]
                write_text(counted, json.dumps(own))
                gathered.unlink()
            more = json.loads(counted.read_text("utf-8"))
            kept, doubled, raters = kept + more[0], doubled + more[1], raters + more[2]
            hashes.append(more[3])
            self._progress("writing parts", part + 1, n_parts)
        return hashes, kept, doubled, raters

    # -- the finished set --------------------------------------------------------------------------

    def _manifest(
        self, done: list[FileRead], items: pa.Array, counts: tuple[int, int, int], hashes: list[str]
    ) -> tuple[Manifest, tuple[str, ...]]:
        """The manifest, and what was read of the item table."""
        n_users, n_items, kept = counts
        names = items.cast(pa.string()).to_pylist()
        named: dict[str, str] = {}
        for it in done:
            named = {**it.titles, **named}
        more = tuple(f"item {at}" for at in range(len(names), n_items))
        assumptions = assumed_sizes(self._rows.ways["n_users"], self._rows.ways["n_items"])
        assumptions += tuple(words for it in done for words in it.assumptions)
        features, told = self._features((*names, *more))
        if features is not None:
            assumptions = (*assumptions, ITEMS_ARE_PUBLIC)
        return Manifest(
            name=self._name,
            n_users=n_users,
            n_items=n_items,
            n_ratings=kept,
            bounds=self._rows.bounds,
            public=False,
            assumptions=tuple(dict.fromkeys(assumptions)),
            origin=_origin(self._files),
            titles=(*(named.get(name) or name for name in names), *more),
            labels=(*names, *more),
            parts=tuple(hashes),
            feature_names=None if features is None else features.names,
            features=None if features is None else tuples(features.values.tolist()),
        ), told

    def _features(self, labels: tuple[str, ...]) -> tuple[ItemFeatures | None, tuple[str, ...]]:
        if ITEM_TABLE not in self._facts:
            return None, ()
        table = path_of(self._facts[ITEM_TABLE])
        found = read_item_table(table, labels)
        return found.features, tuple(found.sentences(called(table)))

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


def _differing_times(done: Sequence[FileRead]) -> bool:
    """Whether times were read in more ways than one, so that they make no order."""
    words = {words for it in done for words in it.assumed if words.startswith(("Times", "Dates"))}
    return len(words) > 1


def _written_twice(labels: pa.Array, what: str) -> list[str]:
    """As `written_twice`; whole numbers are written in one way."""
    if pa.types.is_integer(labels.type):
        return []
    return written_twice(labels.to_pylist(), what)
