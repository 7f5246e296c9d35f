"""The catalogue of data sets, ratings, documents and images: what there is, on which terms, and how
to get it.

`load("cinema")` and `load("lowrank")` need nothing; `fetch` or `import_` bring a published set to
this machine (`npz_folder.place`), from where `load("ml-1m")` takes it;
`load("ratings.csv?bounds=0.5,5")` reads any ratings table, with its bounds declared.
"""

import dataclasses
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.base.paths import cache_folder, data_folder, usable, workplace
from dpmf_core.base.program import program
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import DatasetFacts, Entry, SampleEntry
from dpmf_datasets import download, fingerprint, npz_folder, partitions
from dpmf_datasets.path_facts import files_of, is_own
from dpmf_datasets.readers.report import Problem, Report
from dpmf_datasets.readers.table import file_name
from dpmf_datasets.registry import LARGE, SOURCES, Source, source_of
from dpmf_datasets.simulated import stand_ins
from dpmf_datasets.simulated.large_cinema import large_cinema
from dpmf_datasets.simulated.stand_ins import stand_in_id

__all__ = [
    "DatasetFacts",
    "Entry",
    "Problem",
    "Report",
    "SampleEntry",
    "catalogue",
    "entry_of",
    "fetch",
    "import_",
    "import_partitions",
    "in_parts",
    "is_in_parts",
    "is_own",
    "load",
    "present",
    "stamp",
    "stand_in_id",
]


def catalogue() -> tuple[DatasetFacts, ...]:
    """Every data set that has a name, and fits in one memory."""
    return tuple(source.entry for source in SOURCES.values())


def in_parts() -> tuple[Entry, ...]:
    """Return every set of ratings in partitions: simulated, and kept under a name of its owner's.

    One whose manifest is damaged is not listed; loading it says so.
    """
    return (*LARGE.values(), *partitions.entries())


def is_in_parts(id_or_path: str) -> bool:
    """Whether it is a set of ratings in partitions: simulated, of its owner's, or at an address."""
    return (
        id_or_path in LARGE
        or _is_partitioned(id_or_path)
        or (id_or_path not in SOURCES and partitions.is_address(id_or_path))
    )


def ratings() -> tuple[Entry, ...]:
    """Every set of ratings that has a name."""
    return tuple(
        current
        for entry in catalogue()
        if isinstance(entry, Entry)
        and isinstance(current := npz_folder.current_entry(entry), Entry)
    )


def samples(holds: str) -> tuple[SampleEntry, ...]:
    """Every set of `documents` or `images` that has a name."""
    return tuple(
        current
        for entry in catalogue()
        if isinstance(entry, SampleEntry)
        and entry.holds == holds
        and isinstance(current := npz_folder.current_entry(entry), SampleEntry)
    )


def entry_of(id: str) -> Entry | SampleEntry:  # noqa: A002
    """What is said of one set of the catalogue, or of a simulated shape. Raises BadInput."""
    if stand_ins.is_stand_in(id):
        return stand_ins.entry_of(id)
    if id in LARGE:
        return LARGE[id]
    if _is_partitioned(id):
        return partitions.entry_of(id)
    return npz_folder.current_entry(source_of(id).entry)


def present(id: str) -> bool:  # noqa: A002
    """Whether `load` can give the data set without a download."""
    if stand_ins.is_stand_in(id) or id in LARGE or _is_partitioned(id):
        return True
    return source_of(id).entry.kind == "simulated" or npz_folder.place(id).is_file()


def _is_partitioned(id: str) -> bool:  # noqa: A002
    return id not in SOURCES and id not in LARGE and partitions.is_there(id)


def stamp(id_or_path: str) -> Hashable:
    """Changes when a file behind a data set does: name, size and time of change of each; the same
    for all that have no file.
    """
    if stand_ins.is_stand_in(id_or_path) or id_or_path in LARGE:
        return ()
    if partitions.is_address(id_or_path) or _is_partitioned(id_or_path):
        return partitions.stamp(id_or_path)
    files = (npz_folder.place(id_or_path),) if id_or_path in SOURCES else files_of(id_or_path)
    facts = ((str(file), file.stat()) for file in files if file.exists())
    return tuple((name, it.st_size, it.st_mtime_ns) for name, it in facts)


def load(id_or_path: str, seed: int = 0) -> AnyData:  # noqa: PLR0911
    """The ratings or samples of a catalogue id, or at a path:
    `ratings.csv?bounds=0.5,5&users=1000&items=200` (users, items: optional), or `sample_paths.at`.

    Columns that are called otherwise are named after the path as well (`user=who&rating=points`;
    `time=` for none), and how dates such as 03/04/2021 are written (`dates=dmy` or `dates=mdy`),
    and the encoding of a text that is not UTF-8 (`encoding=koi8-r`), where they are not to be found
    in the file. `item_table=films.csv` names a public table of the items
    (`readers.item_tables`).
    What `import_partitions` keeps under a name is read partition by partition, and so is its
    folder's copy at an address of fsspec (`s3://bucket/own`).
    `cinema?users=2000&items=200&density=0.05&bounds=1,5` is the invented cinema in that shape.
    seed: which draw of a simulated set; others have one only. Raises BadInput when the set is
    unknown or not on this machine.
    """
    if is_own(id_or_path):
        from dpmf_datasets import session_files  # which a page's files alone need

        return session_files.load(id_or_path)
    if stand_ins.is_stand_in(id_or_path):
        return stand_ins.load(id_or_path, seed)
    if id_or_path in LARGE:
        return large_cinema(LARGE[id_or_path], seed)
    if _is_partitioned(id_or_path):
        return partitions.read(id_or_path)
    if partitions.is_address(id_or_path):
        return partitions.read_address(id_or_path)
    if id_or_path not in SOURCES:
        with extra("files"):
            from dpmf_datasets.table_paths import from_a_file  # and all that reads tables

        return from_a_file(id_or_path)
    source = SOURCES[id_or_path]
    if source.make is not None:
        if not seed >= 0:
            raise BadInput(
                "The seed of a simulated data set must be a whole number of at least 0. Got"
                f" {seed}."
            )
        return source.make(source.entry, seed)
    if not present(id_or_path):
        raise BadInput(
            f"{id_or_path} is not on this machine. Run `{program()} datasets fetch {id_or_path}` or"
            f" `{program()} datasets import {id_or_path} PATH`."
        )
    return npz_folder.read(id_or_path)


def fetch(
    id: str,  # noqa: A002
    *,
    accept_licence: bool,
    progress: Callable[[int, int], None] | bool = False,
) -> None:
    """Downloads the official archive, checks it and keeps its ratings. progress: a bar on the
    terminal, or a function of (bytes done, bytes in all).
    """
    source = _source_outside(id)
    entry = source.entry
    if not source.url and source.fetch is None:
        raise BadInput(
            f"{id} is simulated on this machine: there is nothing to download. Use it as it is."
            if entry.kind == "simulated"
            else (
                f"{entry.title} has no checksum, so it cannot be downloaded here. Get it from"
                f" {entry.home} and run `{program()} datasets import {id} PATH`."
            )
        )
    download.require_consent(entry, accept_licence)
    cache = usable(cache_folder())
    with tempfile.TemporaryDirectory(dir=workplace(cache), prefix="download-") as aside:
        if source.fetch is not None:
            npz_folder.save(id, download.by_fetcher(entry, source.fetch, aside), cache)
        else:
            file = download.official_archive(entry, source.url, source.md5, aside, progress)
            _keep(id, file, cache, replace=False)


def import_(id: str, path: str | Path, *, replace: bool = False) -> Report:  # noqa: A002
    """Keeps the ratings of a file or folder the user has under a catalogue id: official archive,
    official folder, or a table with a header.

    replace: even where another set would take the place of the published one. Raises BadInput.
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
    npz_folder.save(
        id,
        (
            data
            if data.public
            else dataclasses.replace(data, origin=fingerprint.of(Path(path).expanduser()))
        ),
        folder,
    )
    return report


def _source_outside(id: str) -> Source:  # noqa: A002
    """What is fetched or imported as it is. Raises BadInput on what is in parts."""
    if id in LARGE or _is_partitioned(id):
        raise BadInput(
            f"{id} is already on this machine, in partitions: use it as it is. Import your own"
            " ratings with `datasets import NAME PATH --partitioned`."
        )
    return source_of(id)


def import_partitions(
    name: str,
    path_and_facts: str,
    *,
    n_partitions: int | None = None,
    replace: bool = False,
    progress: Callable[[str, int, int], None] = lambda stage, count, total: None,
) -> Report:
    """Keep tables of ratings of any size in partitions, as
    `partition_import.import_partitions`.
    """
    if name in SOURCES or name in LARGE:
        raise BadInput(
            f"{name} is a data set of the catalogue. Choose a different name for ratings in"
            " partitions."
        )
    with extra("files"):
        from dpmf_datasets import partition_import  # reads tables in batches, by much of Arrow

    return partition_import.import_partitions(
        name, path_and_facts, n_partitions=n_partitions, replace=replace, progress=progress
    )
