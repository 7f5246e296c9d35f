"""The catalogue of data sets, ratings, documents and images: what there is, on which terms, and how to get it.

`load("cinema")` and `load("lowrank")` need nothing; `fetch` or `import_` bring a published set to the data directory (DPMF_DATA, else the user's
cache folder), from where `load("ml-1m")` takes it; `load("ratings.csv?bounds=0.5,5")` reads any ratings table, with its bounds declared.
"""

import dataclasses
import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from urllib.parse import parse_qsl

from datasets import download, eachmovie, jester, movielens, netflix, origin, own, sample_sets, shelf
from datasets.archives import opened
from datasets.cinema import BOUNDS as STARS
from datasets.cinema import cinema
from datasets.columns import KNOWN, in_path
from datasets.dates import declared
from datasets.entry import Entry, Listed, SampleEntry
from datasets.own import is_own
from datasets.ratings_in import ratings_tables
from datasets.report import Problem, Report
from datasets.synthetic import BOUNDS, lowrank, rankone
from datasets.tables import called
from datasets.upload import read_labelled, read_table
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.samples import Samples

__all__ = [
    "Entry",
    "Listed",
    "Problem",
    "Report",
    "SampleEntry",
    "catalogue",
    "described",
    "fetch",
    "import_",
    "is_own",
    "load",
    "present",
    "read_table",
    "stamp",
]


def _simulated(id: str, title: str, counts: tuple[int, int, int], bounds: tuple[float, float], words: str, source: str) -> Entry:  # noqa: A002
    users, items, ratings = counts
    return Entry(
        id=id, title=title, kind="simulated", words=words, licence="Simulated: free of rights.", citation=source, size_mb=0, n_users=users,
        n_items=items, n_ratings=ratings, bounds=bounds, home="",
    )  # fmt: skip


def _cinema(id: str, counts: tuple[int, int, int], words: str) -> Entry:  # noqa: A002
    return _simulated(id, f"Cinema, {counts[0]:,} people", counts, STARS, words, "Simulated here, after the skews and biases of MovieLens 1M.")


def _lowrank(id: str, users: int, ratings: int) -> Entry:  # noqa: A002
    words = f"A random matrix of rank 5 with {users:,} rows, seen in part: what factorisation is made for."
    return _simulated(
        id, f"Low rank, {users:,} users", (users, 1_000, ratings), BOUNDS, words, "Chien et al., Private Alternating Least Squares, ICML 2021, section 6.1."
    )


def _rankone(id: str, users: int, ratings: int) -> Entry:  # noqa: A002
    words = f"One taste: a matrix of rank 1 with {users:,} rows and entries from -1 to 1, about 80 of 400 seen in each."
    return _simulated(id, f"Rank one, {users:,} users", (users, 400, ratings), (-1.0, 1.0), words, "Jain, Thakkar & Thakurta, ICML 2018, section 5.")


RATED = ("bounds", "users", "items", *KNOWN, "dates")  # what may be said of ratings after a path
FACTS = (*RATED, *sample_sets.FACTS)  # and of anything
OF_SAMPLES = set(sample_sets.FACTS) - {"encoding"}  # of documents and images alone
_GENERATORS: dict[str, Callable[..., Ratings]] = {"cinema": cinema, "lowrank": lowrank, "rankone": rankone}  # by what stands before the first dash of an id
_READERS: dict[str, Callable[[Entry, Path], tuple[Ratings, Report]]] = {
    **{entry.id: movielens.read for entry in movielens.ENTRIES},
    "jester": jester.read,
    "netflix": netflix.read,
    "eachmovie": eachmovie.read,
}


def checked(*entries: Listed) -> tuple[Listed, ...]:
    """Entries of a catalogue. Raises ValueError where one could not be made, read or fetched, as its kind says."""
    for entry in entries:
        if [other.id for other in entries].count(entry.id) > 1:
            raise ValueError(f"The data set '{entry.id}' is listed twice.")
        if missing := sample_sets.missing(entry) if isinstance(entry, SampleEntry) else _missing(entry):
            raise ValueError(f"The data set '{entry.id}' of kind '{entry.kind}' has no {missing}.")
    return entries


def _missing(entry: Listed) -> str:
    """What a set of ratings needs beside its entry, and has not."""
    if entry.kind == "simulated":
        return "" if entry.id.partition("-")[0] in _GENERATORS else "generator in datasets._GENERATORS"
    if entry.id not in _READERS:
        return "reader in datasets._READERS"
    return "checksum in datasets.movielens.MD5" if entry.kind == "download" and entry.id not in movielens.MD5 else ""


_CATALOGUE = checked(
    _cinema("cinema", (20_000, 400, 850_000), "Invented films, half stars, popular and obscure titles, busy and rare visitors: ready at once."),
    _cinema("cinema-small", (2_000, 200, 80_000), "The invented cinema at a tenth of its size, for quick trials and classes."),
    _lowrank("lowrank", 20_000, 3_961_000),
    _lowrank("lowrank-5k", 5_000, 852_000),
    _lowrank("lowrank-10k", 10_000, 1_842_000),
    _lowrank("lowrank-50k", 50_000, 10_820_000),
    _rankone("rankone", 500_000, 40_000_000),
    _rankone("rankone-20k", 20_000, 1_600_000),
    *movielens.ENTRIES,
    jester.ENTRY,
    netflix.ENTRY,
    eachmovie.ENTRY,
    *sample_sets.ENTRIES,
)


def catalogue() -> tuple[Listed, ...]:
    """Every data set that has a name."""
    return _CATALOGUE


def ratings() -> tuple[Entry, ...]:
    """Every set of ratings that has a name."""
    return tuple(known for entry in _CATALOGUE if isinstance(entry, Entry) and isinstance(known := shelf.known(entry), Entry))


def samples(holds: str) -> tuple[SampleEntry, ...]:
    """Every set of `documents` or `images` that has a name."""
    return tuple(
        known for entry in _CATALOGUE if isinstance(entry, SampleEntry) and entry.holds == holds and isinstance(known := shelf.known(entry), SampleEntry)
    )


def described(id: str) -> Entry | SampleEntry:  # noqa: A002
    """What is said of one set of the catalogue. Raises BadInput."""
    return shelf.known(_entry(id))


def present(id: str) -> bool:  # noqa: A002
    """Whether `load` can give the data set without a download."""
    return _entry(id).kind == "simulated" or shelf.place(id).is_file()


def stamp(id_or_path: str) -> float:
    """Changes when the file behind a data set does: its time of change, 0 where there is no file."""
    file = shelf.place(id_or_path) if any(entry.id == id_or_path for entry in _CATALOGUE) else _path(id_or_path.partition("?")[0])
    return file.stat().st_mtime if file.exists() else 0.0


def _path(text: str) -> Path:
    """A path that can be looked at. Raises BadInput on text that no system takes for one."""
    path = Path(text)
    try:
        path = path.expanduser()
        path.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(f"'{text[:60]}' is no path of a file ({error.args[-1]}). Give the path of a ratings table, or an id of the catalogue.") from None
    return path


def load(id_or_path: str, seed: int = 0) -> Ratings | Samples:
    """The ratings or samples of a catalogue id, or at a path: `ratings.csv?bounds=0.5,5&users=1000&items=200` (users, items: optional), or `sample_sets.at`.

    Columns that are called otherwise are named after the path as well (`user=who&rating=points`; `time=` for none), and how dates such as 03/04/2021
    are written (`dates=dmy` or `dates=mdy`), and the encoding of a text that is not UTF-8 (`encoding=koi8-r`), where they are not to be found in the file.
    seed: which draw of a simulated set; others have one only. Raises BadInput when the set is unknown or not on this machine.
    """
    entry = next((entry for entry in _CATALOGUE if entry.id == id_or_path), None)
    if entry is None:
        return _from_a_file(id_or_path)
    if entry.kind == "simulated":
        return _draw(entry, seed) if isinstance(entry, Entry) else sample_sets.make(entry.id, seed)
    if not present(entry.id):
        raise BadInput(
            f"{entry.id} is not on this machine. Run `python -m dpmf_core fetch {entry.id}` or `python -m dpmf_core import {entry.id} PATH`."
        )  # fmt: skip
    return shelf.read(entry.id)


def fetch(id: str, *, accept_licence: bool, progress: Callable[[int, int], None] | bool = False) -> None:  # noqa: A002
    """Downloads the official archive, checks it and keeps its ratings. progress: a bar on the terminal, or a function of (bytes done, bytes in all)."""
    entry = _entry(id)
    if isinstance(entry, SampleEntry) and entry.kind == "download":
        shelf.save(id, sample_sets.fetched(entry, accept_licence))
        return
    if entry.kind == "file":
        raise BadInput(f"{entry.title} has no checksum to download it by. Get it from {entry.home} and run `python -m dpmf_core import {id} PATH`.")
    if entry.kind != "download":
        raise BadInput(f"{id} is made on this machine: there is nothing to download. Use it as it is.")
    with download.downloaded(entry, movielens.url(id), movielens.MD5[id], accept_licence=accept_licence, progress=progress) as archive:
        import_(id, archive)


def import_(id: str, path: str | Path, *, replace: bool = False) -> Report:  # noqa: A002
    """Keeps the ratings of a file or folder the user has under a catalogue id: official archive, official folder, or a table with a header.

    replace: even where another set would take the place of the published one. Raises BadInput.
    """
    entry = _entry(id)
    if entry.kind == "simulated":
        raise BadInput(f"{id} is made on this machine: nothing can be imported as {id}. Use the file itself, e.g. --dataset 'ratings.csv?bounds=1,5'.")
    data: Ratings | Samples
    if isinstance(entry, Entry):
        data, report = _READERS[id](entry, Path(path).expanduser())
    else:
        data, report = sample_sets.read(entry, Path(path).expanduser())
    if not (replace or data.public) and shelf.is_published(id):
        raise BadInput(
            f"{id} is on this machine as published, and {called(path)} is not the whole of it: private data would take its place. "
            "Nothing was changed. Name the file itself as the data set, or repeat with --replace (from Python: replace=True)."
        )
    shelf.save(id, data if data.public else dataclasses.replace(data, origin=origin.of(Path(path).expanduser())))
    return report


def _entry(id: str) -> Entry | SampleEntry:  # noqa: A002
    for entry in _CATALOGUE:
        if entry.id == id and isinstance(entry, Entry | SampleEntry):
            return entry
    raise BadInput(f"There is no data set '{id}'. Known: {', '.join(entry.id for entry in _CATALOGUE)}; or give the path of a ratings table.")


def _draw(entry: Entry, seed: int) -> Ratings:
    if not seed >= 0:
        raise BadInput(f"The seed of a simulated data set must be a whole number from 0. Got {seed}.")
    family = entry.id.partition("-")[0]
    size = {"density": 0.2} if entry.id == "cinema-small" else {}
    return _GENERATORS[family](entry.n_users, entry.n_items, seed=seed, name=entry.id, **size)


def _from_a_file(path_and_facts: str) -> Ratings | Samples:
    """Private data at a path, which know what they were read from."""
    data = _table(path_and_facts)
    path = _path(path_and_facts if _path(path_and_facts).is_file() else path_and_facts.partition("?")[0])
    return dataclasses.replace(data, origin=own.origin_of(path) if is_own(str(path)) else origin.of(path))


def _table(path_and_facts: str) -> Ratings | Samples:
    """Reads `path?bounds=low,high&users=n&items=m`, or documents or images; a file whose own name has a question mark is taken as it is."""
    path, _, query = (path_and_facts, "", "") if _path(path_and_facts).is_file() else path_and_facts.partition("?")
    file = _path(path)
    if not (file.suffix or "/" in path or file.is_file()):
        _entry(path)  # neither a path nor an id: says which ids there are
    if not file.exists():
        raise BadInput(f"There is no file {called(path)}. Give the path of a ratings table, or one of {', '.join(entry.id for entry in _CATALOGUE)}.")
    facts = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := set(facts) - set(FACTS):
        raise BadInput(f"After the '?' of a path {', '.join(FACTS)} are known. Got {', '.join(sorted(unknown))}.")
    told = (lambda report: None) if is_own(path) else _tell  # what is wrong with a file of one's own is said on the page, and to nobody else
    data, report = _ratings_within(file, facts) or sample_sets.at(file, facts) or _ratings(file, facts)
    told(report)
    return data


def _ratings_within(path: Path, facts: dict[str, str]) -> tuple[Ratings, Report] | None:
    """The one table of ratings in a folder, an archive or a text file, which would else be taken for documents. Raises BadInput where it takes a choice."""
    if not (path.is_dir() or path.suffix.lower() in (".txt", ".zip", ".tar", ".tgz")) or set(facts) & OF_SAMPLES:
        return None
    if path.is_file() and path.suffix.lower() == ".txt":
        return _ratings(path, facts) if set(facts) & set(RATED) or ratings_tables(path) else None
    tables = ratings_tables(path)
    if not tables:
        return None
    if len(tables) > 1:
        raise BadInput(f"{called(path)} holds {len(tables)} tables of ratings: {', '.join(map(called, tables[:5]))}. Name one of them itself, with its bounds.")
    if "bounds" not in facts:
        raise BadInput(
            f"{called(path)} holds a table of ratings, {called(tables[0])}. Declare its bounds, e.g. '{called(path)}?bounds=1,5'; "
            "of documents give a folder of their own."
        )
    with opened(path) as members, members.open(tables[0]) as stream:
        return _ratings(path, facts, io.BytesIO(stream.read()))


def _ratings(path: Path, facts: dict[str, str], source: BinaryIO | None = None) -> tuple[Ratings, Report]:
    """The ratings table at a path, with what is said of it after that; source: the table within."""
    columns = {role: facts[role] for role in KNOWN if role in facts}
    ratings, report, _ = read_labelled(
        source or path, name=path.name, bounds=_pair(facts.get("bounds")), columns=columns, n_users=_count(facts, "users"), n_items=_count(facts, "items"),
        dates=declared(facts.get("dates")), encoding=facts.get("encoding"), way=in_path(str(path), facts),
    )  # fmt: skip
    return ratings, report


def _tell(report: Report) -> None:
    if report.problems or report.note or report.assumed:
        logging.getLogger(__name__).warning("%s", report.words)


def _pair(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise BadInput(f"bounds are two numbers with a comma between them, lowest first, e.g. bounds=0.5,5. Got '{text}'.") from None
    return low, high


def _count(facts: dict[str, str], name: str) -> int | None:
    if name not in facts:
        return None
    if not (facts[name].isdecimal() and len(facts[name]) <= 15 and int(facts[name]) > 0):
        raise BadInput(f"{name} must be a whole number from 1, of at most 15 digits. Got '{facts[name][:50]}'.")
    return int(facts[name])
