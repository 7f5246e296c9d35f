"""The catalogue of data sets (ratings, documents, images): the sets, and how to get them.

`load("cinema")` and `load("lowrank")` need nothing. `fetch` or `import_` bring a published set to
this machine (`npz_folder.place`), where `load("ml-1m")` finds it.
`load("ratings.csv?bounds=0.5,5")` reads any ratings table, with its bounds declared.
"""

import dataclasses
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.base.paths import cache_folder, data_folder, usable, workplace
from dpmf_core.base.program import program
from dpmf_core.data import AnyData
from dpmf_core.data.addresses import is_database, path_of, split
from dpmf_core.data.catalogue import DatasetFacts, Entry, SampleEntry
from dpmf_core.data.facts import ITEM_TABLE, STOP_WORDS
from dpmf_core.data.report import Report
from dpmf_datasets import download, npz_folder, partitions, registry
from dpmf_datasets.declared_worlds import world_ids
from dpmf_datasets.npz_folder import is_own
from dpmf_datasets.readers import databases
from dpmf_datasets.readers.archives import fingerprint_of
from dpmf_datasets.readers.table import file_name
from dpmf_datasets.registry import (
    LARGE,
    SOURCES,
    NamedData,
    is_stand_in,
    source_of,
    stand_in_id,
)
from dpmf_datasets.simulated.large_cinema import large_cinema

__all__ = [
    "DatasetFacts",
    "are_tables",
    "catalogue",
    "check_tables",
    "entry_of",
    "fetch",
    "import_",
    "import_partitions",
    "in_parts",
    "is_in_parts",
    "is_own",
    "is_stand_in",
    "load",
    "present",
    "stamp",
    "stand_in_id",
    "world_ids",
]


def catalogue() -> tuple[Entry | SampleEntry, ...]:
    """Every data set with a name that fits in memory, as it is stored on this machine."""
    return tuple(npz_folder.current_entry(source.entry) for source in SOURCES.values())


def in_parts() -> tuple[Entry, ...]:
    """Every set of ratings in partitions: simulated sets, and sets of this machine's user.

    A set with a damaged manifest is not listed; loading it reports the damage.
    """
    return (*LARGE.values(), *partitions.entries())


def is_in_parts(id_or_path: str) -> bool:
    """Whether it is a set of ratings in partitions: simulated, imported, or at an address."""
    return (
        id_or_path in LARGE
        or partitions.is_there(id_or_path)
        or partitions.is_address(id_or_path)
    )


def entry_of(id: str) -> Entry | SampleEntry:  # noqa: A002
    """The catalogue entry of a set or of a simulated shape. Raises BadInput."""
    if is_stand_in(id):
        return registry.stand_in_entry(id)
    if id in LARGE:
        return LARGE[id]
    if partitions.is_there(id):
        return partitions.entry_of(id)
    return npz_folder.current_entry(source_of(id).entry)


def present(id: str) -> bool:  # noqa: A002
    """Whether `load` can return the data set without a download."""
    if is_stand_in(id) or id in LARGE or partitions.is_there(id):
        return True
    return source_of(id).entry.kind == "simulated" or npz_folder.place(id).is_file()


def stamp(id_or_path: str) -> Hashable:
    """A value that changes with the files behind a data set: name, size and modification time.

    All data sets without a file have the same value.
    """
    if is_stand_in(id_or_path) or id_or_path in LARGE:
        return ()
    if partitions.is_address(id_or_path) or partitions.is_there(id_or_path):
        return partitions.stamp(id_or_path)
    files: tuple[Path, ...]
    if id_or_path in SOURCES:
        files = (npz_folder.place(id_or_path),)
    else:
        files = _files_of(id_or_path)
    facts = ((str(file), file.stat()) for file in files if file.exists())
    return tuple((name, status.st_size, status.st_mtime_ns) for name, status in facts)


def _files_of(address: str) -> tuple[Path, ...]:
    """The files that a path and its facts name; a language of stop words is not a file."""
    place, facts = split(address)
    if is_database(place):
        file = databases.file_of(place)
        return () if file is None else (file,)
    others = [
        path_of(facts[name]) for name in (ITEM_TABLE, STOP_WORDS) if name in facts
    ]
    return (path_of(place), *others)


def load(id_or_path: str, seed: int = 0) -> AnyData:  # noqa: PLR0911
    """Load the ratings or samples of a catalogue id, or at a path.

    Parameters
    ----------
    id_or_path
        An id; a path with facts after it (`facts.FACTS`), such as
        `ratings.csv?bounds=0.5,5&users=1000`; the name of a set in partitions
        (`import_partitions`), or its folder's copy at an address of fsspec (`s3://bucket/own`); or
        the simulated cinema in a declared shape,
        `cinema?users=2000&items=200&density=0.05&bounds=1,5`.
    seed
        The draw of a simulated set, at least 0; other sets have only one.

    Raises
    ------
    BadInput
        If the set is unknown, not on this machine, or cannot be read.
    """
    if not seed >= 0:
        raise BadInput(
            f"The seed of a data set must be a whole number of at least 0. Got {seed}."
        )
    if is_own(id_or_path):
        from dpmf_datasets import session_files  # needed for a page's files only

        return session_files.load(id_or_path)
    if is_stand_in(id_or_path):
        return registry.stand_in(id_or_path, seed)
    if id_or_path in LARGE:
        return large_cinema(LARGE[id_or_path], seed)
    if partitions.is_there(id_or_path):
        return partitions.read(id_or_path)
    if partitions.is_address(id_or_path):
        return partitions.read_address(id_or_path)
    if id_or_path not in SOURCES:
        with extra("files"):
            # loads everything that reads tables
            from dpmf_datasets.table_paths import (
                from_a_file,
            )

        return from_a_file(id_or_path)
    source = SOURCES[id_or_path]
    if source.make is not None:
        return dataclasses.replace(source.make(source.entry, seed), name=id_or_path)
    if not present(id_or_path):
        raise BadInput(
            f"{id_or_path} is not on this machine. Run `{program()} datasets fetch {id_or_path}` or"
            f" `{program()} datasets import {id_or_path} PATH`."
        )
    return npz_folder.read_file(npz_folder.place(id_or_path), id_or_path)


def are_tables(address: str) -> bool:
    """Whether a path is a pattern, or a folder of tables that only `import_partitions` reads."""
    place, facts = split(address)
    path = path_of(place)
    if not path.is_dir():
        return "*" in path.name and path.parent.is_dir()
    if "bounds" not in facts or "member" in facts:
        return False
    with extra("files"):
        from dpmf_datasets.readers.tables import ratings_tables  # loads much of Arrow

    return len(ratings_tables(path)) != 1


def fetch(
    id: str,  # noqa: A002
    *,
    accept_licence: bool,
    progress: Callable[[int, int], None] | bool = False,
) -> None:
    """Download the official archive of a published set, check it and store its data.

    Parameters
    ----------
    id : str
        The id of the set in the catalogue.
    accept_licence : bool
        Whether its licence is accepted. If not, nothing is downloaded.
    progress : bool or callable
        True shows a bar on the terminal. A function is called with the bytes done and the bytes in
        all.

    Raises
    ------
    BadInput
        If the set cannot be downloaded, or if its checksum differs.
    """
    source = _source_outside(id)
    entry = source.entry
    if not source.url and source.fetch is None:
        if entry.kind == "simulated":
            raise BadInput(
                f"{id} is simulated on this machine: there is nothing to download. Use it as it is."
            )
        raise BadInput(
            f"{entry.title} has no checksum, so it cannot be downloaded here. Get it from"
            f" {entry.home} and run `{program()} datasets import {id} PATH`."
        )
    download.require_consent(entry, accept_licence)
    cache = usable(cache_folder())
    with tempfile.TemporaryDirectory(dir=workplace(cache), prefix="download-") as aside:
        if source.fetch is not None:
            npz_folder.save(id, download.by_fetcher(entry, source.fetch, aside), cache)
        else:
            file = download.official_archive(
                entry, source.url, source.md5, aside, progress
            )
            _keep(id, file, cache, replace=False)


def import_(id: str, path: str | Path, *, replace: bool = False) -> Report:  # noqa: A002
    """Store the data of a published set from its official archive or folder, or from a table.

    Parameters
    ----------
    id : str
        The id of the set in the catalogue.
    path : str or Path
        The archive, the folder or the table.
    replace : bool
        Whether another set may replace the published one.

    Returns
    -------
    Report
        The report of the reading.

    Raises
    ------
    BadInput
        If the file cannot be read, or would replace the published set.
    """
    return _keep(id, path, data_folder(), replace)


def _keep(id: str, path: str | Path, folder: Path, replace: bool) -> Report:  # noqa: A002
    source = _source_outside(id)
    if source.read is None:
        raise BadInput(
            f"{id} is simulated on this machine: nothing can be imported as {id}. Use the file"
            " itself, e.g. --dataset 'ratings.csv?bounds=1,5'."
        )
    data, report = source.read(source.entry, Path(path).expanduser())
    if not (replace or data.public) and npz_folder.is_published(id):
        raise BadInput(
            f"{id} is on this machine as published, and {file_name(path)} is not all of it: private"
            " data would replace the public copy. Nothing was changed. Name the file itself as the"
            " data set, or repeat with --replace (from Python: replace=True)."
        )
    if not data.public:
        data = dataclasses.replace(data, origin=fingerprint_of(Path(path).expanduser()))
    npz_folder.save(id, data, folder)
    return report


def _source_outside(id: str) -> NamedData:  # noqa: A002
    """The source of a set to fetch or import. Raises BadInput on a set in partitions."""
    if id in LARGE or partitions.is_there(id):
        raise BadInput(
            f"{id} is already on this machine, in partitions: use it as it is. Import your own"
            " ratings with `datasets import NAME PATH --partitioned`."
        )
    return source_of(id)


def import_partitions(name: str, path_and_facts: str, **options: Any) -> Report:
    """Store tables of ratings in partitions; see `partition_import.import_partitions`."""
    if name in SOURCES or name in LARGE:
        raise BadInput(
            f"{name} is a data set of the catalogue. Choose a different name for ratings in"
            " partitions."
        )
    with extra("files"):
        # reads tables in batches, by much of Arrow
        from dpmf_datasets import (
            partition_import,
        )

    return partition_import.import_partitions(name, path_and_facts, **options)


def check_tables(path_and_facts: str) -> tuple[Report, tuple[str, ...]]:
    """Read tables of ratings and store nothing; see `partition_import.check_tables`."""
    with extra("files"):
        from dpmf_datasets import partition_import

    return partition_import.check_tables(path_and_facts)
