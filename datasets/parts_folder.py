"""Ratings in parts on disk: a folder with a manifest and a Parquet file for each part.

The manifest holds the public facts, and a hash of each file; the fingerprint of the ratings is the
hash of these. A folder that has no manifest yet is unfinished.
"""

import contextlib
import functools
import hashlib
import json
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from dpmf_core.data.catalogue import Entry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import LazyParts, Members, Part, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.paths import data_folder

FORMAT = 2
MANIFEST = "manifest.json"
WORDS = "Ratings in parts, of which one is in memory at a time."  # of every set
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Manifest:
    """What is known of a folder before any part is read. parts: sha256 of each file. The others are
    those of `Ratings`; the item table as names of columns and values (n_items, columns).
    """

    name: str
    n_users: int
    n_items: int
    n_ratings: int
    bounds: tuple[float, float]
    public: bool
    assumptions: tuple[str, ...]
    origin: str
    titles: tuple[str, ...] | None
    labels: tuple[str, ...] | None
    parts: tuple[str, ...]
    feature_names: tuple[str, ...] | None = None
    features: tuple[tuple[float, ...], ...] | None = None
    format: int = FORMAT

    @property
    def fingerprint(self) -> str:
        """Of all facts and parts."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def text(self) -> str:
        return json.dumps({it.name: getattr(self, it.name) for it in fields(self)}, sort_keys=True)

    @property
    def item_features(self) -> ItemFeatures | None:
        if self.feature_names is None:
            return None
        return ItemFeatures(self.feature_names, np.array(self.features, np.float32))


def root() -> Path:
    """Where all folders of ratings in parts lie."""
    return data_folder() / "parts"


def folder_of(name: str) -> Path:
    return root() / name


def is_there(name: str) -> bool:
    """Whether a finished set of this name is on this machine."""
    return bool(NAME.fullmatch(name)) and (folder_of(name) / MANIFEST).is_file()


def names() -> list[str]:
    """Of every finished set."""
    folder_names = (path.parent.name for path in root().glob(f"*/{MANIFEST}"))
    return sorted(name for name in folder_names if NAME.fullmatch(name))


def require_name(name: str) -> None:
    """Raises BadInput on a name that cannot be a folder's."""
    if not NAME.fullmatch(name):
        raise BadInput(
            "The name of ratings in parts has up to 64 small letters, digits, dashes and"
            f" underscores, and begins with a letter or digit. Got '{name[:80]}'."
        )


def file_of(folder: Path, part: int) -> Path:
    return folder / f"{part:05}.parquet"


def write_part(file: Path, users: npt.NDArray[Any], rows: Ratings) -> str:
    """Writes the ratings of some users, numbered among all by `users` (n_ratings,). The file is
    there in whole or not at all. Returns its sha256.
    """
    columns: dict[str, Any] = {
        "user": users.astype(np.int32),
        "item": rows.items,
        "value": rows.values,
    }
    if rows.order is not None:
        columns["order"] = rows.order
    if rows.user_keys is not None:
        columns["key"] = rows.user_keys[rows.users]
    aside = file.with_suffix(".new")
    pyarrow.parquet.write_table(pa.table(columns), aside, compression="lz4")
    digest = hash_of(aside)
    aside.replace(file)
    return digest


def hash_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def finish(folder: Path, manifest: Manifest) -> None:
    """Makes the folder a finished set."""
    aside = folder / f"{MANIFEST}.new"
    aside.write_text(manifest.text, "utf-8")
    aside.replace(folder / MANIFEST)


def manifest_of(name: str) -> Manifest:
    """Raises BadInput where it is not there or damaged."""
    file = folder_of(name) / MANIFEST
    return _manifest(file, file.stat().st_mtime_ns)


@functools.lru_cache(8)
def _manifest(file: Path, stamp: int) -> Manifest:
    try:
        return manifest_in(file.read_text("utf-8"), file.parent.name)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(_damage_message(file.parent.name, error)) from error


def manifest_in(text: str, name: str) -> Manifest:
    """The manifest in a text. Raises BadInput."""
    try:
        facts = json.loads(text)
        if facts.get("format") != FORMAT:
            raise ValueError("another format")
        return Manifest(**{name: _tuples(value) for name, value in facts.items()})
    except (AttributeError, ValueError, TypeError) as error:
        raise BadInput(_damage_message(name, error)) from error


def _damage_message(name: str, error: Exception) -> str:
    return f"The manifest of {name} is damaged ({error}). Import it again with --replace."


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def read(name: str) -> PartitionedRatings:
    """The ratings of a finished set. Raises BadInput where its manifest is damaged; each part is
    checked when it is first read.
    """
    return of_folder(folder_of(name), manifest_of(name))


def of_folder(folder: Path, manifest: Manifest) -> PartitionedRatings:
    return of_parts(ParquetParts(folder, manifest), manifest)


def of_parts(parts: LazyParts, manifest: Manifest) -> PartitionedRatings:
    low, high = manifest.bounds
    return PartitionedRatings(
        parts,
        manifest.n_users,
        manifest.n_items,
        (low, high),
        manifest.fingerprint,
        manifest.titles,
        manifest.name,
        manifest.public,
        manifest.assumptions,
        manifest.origin,
        manifest.labels,
        manifest.item_features,
    )


class ParquetParts(LazyParts):
    """Parts in files, read when asked for and not kept."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self._members: Members | None = None
        self._features = manifest.item_features
        self._checked_parts: set[tuple[int, int]] = set()  # part, and when its file was changed

    def __len__(self) -> int:
        return len(self._manifest.parts)

    def place_of(self, user: int) -> int:
        return int(self._who.part_of[user])

    @property
    def _who(self) -> Members:
        if self._members is None:
            self._members = Members(self._manifest.n_users, len(self))
        return self._members

    def part(self, place: int) -> Part:
        ids, columns = self._who.of_part(place), self._columns(place)
        users, keys = self._who.place_of[columns["user"]], None
        if "key" in columns:
            keys = np.zeros(len(ids), np.uint64)  # of users without ratings it does not matter
            keys[users] = columns["key"]
        return Part(
            ids,
            Ratings(
                users,
                columns["item"],
                columns["value"],
                len(ids),
                self._manifest.n_items,
                self._manifest.bounds,
                columns.get("order"),
                name=self._manifest.name,
                public=self._manifest.public,
                origin=self._manifest.origin,
                item_features=self._features,
                user_keys=keys,
            ),
        )

    def _columns(self, part: int) -> dict[str, npt.NDArray[Any]]:
        file = file_of(self._folder, part)
        try:
            stamp = file.stat().st_mtime_ns
            if (part, stamp) not in self._checked_parts:
                if hash_of(file) != self._manifest.parts[part]:
                    raise ValueError("it was changed")
                self._checked_parts.add((part, stamp))
            table = pyarrow.parquet.read_table(file)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadInput(
                f"A part of {self._manifest.name} cannot be read ({type(error).__name__}). Import"
                " it again with --replace."
            ) from error
        return {name: table[name].to_numpy() for name in table.column_names}


def entries() -> list[Entry]:
    """Of every finished set whose manifest can be read."""
    readable_sets = []
    for name in names():
        with contextlib.suppress(BadInput, FileNotFoundError):  # damaged, or removed just now
            readable_sets.append(entry_of(name))
    return readable_sets


def entry_of(name: str) -> Entry:
    """What the catalogue says of a finished set. Raises BadInput where its manifest is damaged."""
    file = folder_of(name) / MANIFEST
    return _entry(name, file, file.stat().st_mtime_ns)


@functools.lru_cache(64)
def _entry(name: str, file: Path, stamp: int) -> Entry:
    manifest = _manifest(file, stamp)
    files = file.parent.glob("*.parquet")
    return Entry(
        id=name,
        title=manifest.name,
        kind="file",
        words=WORDS,
        licence="Your own.",
        citation="",
        size_mb=round(sum(file.stat().st_size for file in files) / 1e6, 1),
        home="",
        public=manifest.public,
        assumptions=manifest.assumptions,
        n_users=manifest.n_users,
        n_items=manifest.n_items,
        n_ratings=manifest.n_ratings,
        bounds=manifest.bounds,
        item_features=""
        if manifest.feature_names is None
        else ", ".join(manifest.feature_names[:8]),
    )
