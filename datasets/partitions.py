"""Ratings in partitions: a manifest and a Parquet file for each partition.

They are in a folder of the data folder under a name, or at an address of fsspec such as
`s3://bucket/own`, which the command line and Python accept and pages do not. The manifest holds the
public facts and a hash of each file; the fingerprint of the ratings is the hash of these. A folder
without a manifest is unfinished.
"""

import contextlib
import functools
import hashlib
import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.paths import data_folder
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import LazyParts, Members, Part, PartitionedRatings
from dpmf_core.data.ratings import Ratings

FORMAT: Literal[3] = 3  # since it, users' keys follow from canonical ids
MANIFEST = "manifest.json"
WORDS = "Ratings in partitions, loaded one at a time."  # of every set
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
ADDRESS = re.compile(r"[a-z][a-z0-9]*(::[a-z][a-z0-9]*)*://", re.I)


class Manifest(Frozen):
    """The facts about a set before any partition is read.

    The other facts are those of `Ratings`. The item table is stored as names of columns and values
    (n_items, columns).

    Attributes
    ----------
    parts : tuple of str
        The sha256 of each file.
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
    format: Literal[2, 3] = FORMAT

    @property
    def fingerprint(self) -> str:
        """The hash of all facts and partitions."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def text(self) -> str:
        return json.dumps(self.model_dump(), sort_keys=True)

    @property
    def item_features(self) -> ItemFeatures | None:
        if self.feature_names is None:
            return None
        return ItemFeatures(self.feature_names, np.array(self.features, np.float32))


def root() -> Path:
    """The folder of all sets with a name."""
    return data_folder() / "parts"


def folder_of(name: str) -> Path:
    return root() / name


def _stamp_of(name: str) -> int:
    """The modification time of a set's manifest."""
    return (folder_of(name) / MANIFEST).stat().st_mtime_ns


def is_there(name: str) -> bool:
    """Whether a finished set of this name is on this machine."""
    return bool(NAME.fullmatch(name)) and (folder_of(name) / MANIFEST).is_file()


# ---- writing -------------------------------------------------------------------------------------


def file_of(folder: Path, partition: int) -> Path:
    return folder / f"{partition:05}.parquet"


def write_partition(file: Path, users: Array, rows: Ratings) -> str:
    """Write the ratings of some users, completely or not at all.

    Parameters
    ----------
    file : Path
        The file of the partition.
    users : int (n_ratings,)
        The users' numbers in the whole set.
    rows : Ratings
        The ratings.

    Returns
    -------
    str
        The sha256 of the file.
    """
    import pyarrow as pa
    from pyarrow import parquet

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
    parquet.write_table(pa.table(columns), aside, compression="lz4")
    with aside.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    aside.replace(file)
    return digest


# ---- reading -------------------------------------------------------------------------------------


def read(name: str) -> PartitionedRatings:
    """The ratings of a finished set; a partition is checked when it is first read.

    Raises BadInput if the manifest is damaged.
    """
    return of_folder(folder_of(name), _manifest_of(name))


def read_address(address: str) -> PartitionedRatings:
    """The ratings at an address.

    Raises BadInput if it cannot be read or holds no manifest.
    """
    content = _fetched(address, MANIFEST).decode(errors="replace")
    return of_folder(address, _manifest_in(content, without_query(address)))


def of_folder(folder: Path | str, manifest: Manifest) -> PartitionedRatings:
    """The ratings in a folder or at an address."""
    return PartitionedRatings(
        ParquetPartitions(folder, manifest),
        n_users=manifest.n_users,
        n_items=manifest.n_items,
        bounds=manifest.bounds,
        fingerprint=manifest.fingerprint,
        titles=manifest.titles,
        name=manifest.name,
        public=manifest.public,
        assumptions=manifest.assumptions,
        origin=manifest.origin,
        labels=manifest.labels,
        item_features=manifest.item_features,
    )


def _manifest_of(name: str) -> Manifest:
    return _manifest(folder_of(name) / MANIFEST, _stamp_of(name))


@functools.lru_cache(8)
def _manifest(file: Path, stamp: int) -> Manifest:
    return _manifest_in(file.read_text("utf-8", errors="replace"), file.parent.name)


def _manifest_in(text: str, name: str) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(text)
    except ValueError as error:
        raise BadInput(
            f"The manifest of {name} is damaged ({type(error).__name__}). Import it again with"
            " --replace."
        ) from error
    if manifest.format < FORMAT and not manifest.public:
        raise BadInput(
            f"An earlier version of dpmf stored {name}, with other keys of its users. Import it"
            " again with --replace; the account of the file stays."
        )
    return manifest


class ParquetPartitions(LazyParts):
    """Partitions in files of a folder or at an address, read when used and not kept."""

    def __init__(self, folder: Path | str, manifest: Manifest) -> None:
        self._folder = folder
        self._manifest = manifest
        self._features = manifest.item_features
        # partition, and modification time of its file
        self._checked: set[tuple[int, int]] = set()

    def __len__(self) -> int:
        return len(self._manifest.parts)

    def place_of(self, user: int) -> int:
        return int(self._who.part_of[user])

    @functools.cached_property
    def _who(self) -> Members:
        return Members(self._manifest.n_users, len(self))

    def part(self, place: int) -> Part:
        ids = self._who.of_part(place)
        columns = self._columns(place)
        users = self._who.place_of[columns["user"]]
        keys = None
        if "key" in columns:
            # any key does for users without ratings
            keys = np.zeros(len(ids), np.uint64)
            keys[users] = columns["key"]
        manifest = self._manifest
        rows = Ratings(
            users,
            columns["item"],
            columns["value"],
            len(ids),
            n_items=manifest.n_items,
            bounds=manifest.bounds,
            name=manifest.name,
            public=manifest.public,
            origin=manifest.origin,
            order=columns.get("order"),
            item_features=self._features,
            user_keys=keys,
        )
        return Part(ids, rows)

    def _columns(self, place: int) -> dict[str, Array]:
        with extra("files"):
            import pyarrow as pa
            from pyarrow import parquet
        try:
            content, stamp = self._content(place)
            if (place, stamp) not in self._checked:
                if hashlib.sha256(content).hexdigest() != self._manifest.parts[place]:
                    raise ValueError("it was changed")
                self._checked.add((place, stamp))
            table = parquet.read_table(BytesIO(content))
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadInput(
                f"Partition {place} of {self._manifest.name} does not match its manifest"
                f" ({type(error).__name__}). Import it again with --replace, or copy it again."
            ) from error
        return {name: table[name].to_numpy() for name in table.column_names}

    def _content(self, place: int) -> tuple[bytes, int]:
        """A file's bytes, and a number that changes when the file does."""
        if isinstance(self._folder, str):
            content = _fetched(self._folder, file_of(Path(), place).name)
            return content, hash(content)
        file = file_of(self._folder, place)
        return file.read_bytes(), file.stat().st_mtime_ns


def entries() -> list[Entry]:
    """The entry of every finished set with a readable manifest."""
    names = sorted(path.parent.name for path in root().glob(f"*/{MANIFEST}"))
    readable_sets = []
    for name in filter(NAME.fullmatch, names):
        # damaged, or just removed
        with contextlib.suppress(BadInput, FileNotFoundError):
            readable_sets.append(entry_of(name))
    return readable_sets


def entry_of(name: str) -> Entry:
    """The catalogue entry of a finished set. Raises BadInput if its manifest is damaged."""
    manifest = _manifest_of(name)
    size = sum(file.stat().st_size for file in folder_of(name).glob("*.parquet"))
    return Entry(
        id=name,
        title=manifest.name,
        kind="file",
        words=WORDS,
        size_mb=round(size / 1e6, 1),
        licence="Your own.",
        public=manifest.public,
        assumptions=manifest.assumptions,
        n_users=manifest.n_users,
        n_items=manifest.n_items,
        n_ratings=manifest.n_ratings,
        bounds=manifest.bounds,
        item_features=", ".join((manifest.feature_names or ())[:8]),
    )


# ---- at an address -------------------------------------------------------------------------------


def is_address(text: str) -> bool:
    """Whether it is an address of fsspec, not of a database."""
    if not ADDRESS.match(text):
        return False
    try:
        from fsspec.registry import known_implementations  # type: ignore[import-untyped]  # for addresses alone
    except ImportError:
        return False
    return text.partition(":")[0].lower() in known_implementations


def stamp(id_or_address: str) -> int:
    """A number that changes when the manifest does."""
    if not is_address(id_or_address):
        return _stamp_of(id_or_address)
    return int(hashlib.sha256(_fetched(id_or_address, MANIFEST)).hexdigest()[:12], 16)


def without_query(address: str) -> str:
    """An address without the part after a question mark, which may be a key."""
    return address.partition("?")[0][:120]


def _fetched(address: str, name: str) -> bytes:
    """The content of a file at an address. Raises BadInput."""
    if urlsplit(address).password is not None:
        raise BadInput(
            "A password in the address would be stored with every run. Leave it out of the address"
            " and give it to the driver, e.g. in its environment variables."
        )
    try:
        files, folder = _file_system(address)
        return bytes(files.cat_file(f"{folder.rstrip('/')}/{name}"))
    except FileNotFoundError as error:
        raise BadInput(
            f"There is no {name} at {without_query(address)}. Copy there the folder parts/NAME that"
            " `datasets import NAME PATH --partitioned` made in the data folder, and name that"
            " copy."
        ) from error
    except Exception as error:  # each file system has errors of its own
        raise BadInput(
            f"{without_query(address)} cannot be read ({type(error).__name__}). Check the address,"
            " that its library is installed, and that this machine and each worker may read it."
        ) from error


@functools.lru_cache(4)
def _file_system(address: str) -> tuple[Any, str]:
    """The file system, and the path in it."""
    import fsspec  # type: ignore[import-untyped]

    files, folder = fsspec.core.url_to_fs(address)
    return files, folder
