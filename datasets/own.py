"""Files that a person brings to a served page: kept apart from the catalogue under a name that nobody can guess, until removed or a day old.

They lie in a folder of the server's process: it goes when the server ends, and what a crash left goes when the next one starts.
"""

import contextlib
import gzip
import io
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from datasets import origin, sample_sets, shelf
from datasets.archives import opened
from datasets.columns import PAGE, detected, names_of
from datasets.dates import Order
from datasets.entry import Entry, SampleEntry
from datasets.ratings_in import ratings_tables
from datasets.report import Report
from datasets.tables import NOTED, called, damage_told, open_table
from datasets.upload import read_labelled
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.home import claimed, clear
from dpmf_core.samples import Samples

FOLDER = "uploads"
KEPT = 24 * 3600  # seconds
MOST = 200 << 20  # bytes of a table in a zip
TABLES = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet")
PREVIEWED = 6  # rows
YOURS = "Yours, in this session only."


@dataclass(frozen=True)
class Brought:
    """What was made of a file: its entry, whose id is a path that this session alone knows, and what was found in it."""

    entry: Entry | SampleEntry
    report: Report
    data: Ratings | Samples


def home() -> Path:
    return shelf.writable_home().absolute() / FOLDER


def is_own(data_id: str) -> bool:
    """Whether a data set's id is the path of a file that somebody brought."""
    path = data_id.rpartition("?")[0] or data_id
    return FOLDER in path and Path(path).resolve().is_relative_to(home().resolve())


def preview(content: bytes, name: str) -> tuple[tuple[str, ...], dict[str, str], pd.DataFrame]:
    """Columns of a table, which of them play which role as far as their names tell, and its first rows as text. Raises BadInput."""
    content = unpacked(content, name)
    with damage_told(name):
        table = open_table(content, name)
        names = names_of(table)
        first = next(iter(table.batches(range(len(names)))), [])
        rows = {column: part.slice(0, PREVIEWED).to_pylist() for column, part in zip(names, first, strict=False)}
    return names, detected(table), pd.DataFrame(rows)


def unpacked(content: bytes, name: str) -> bytes:
    """The one table in a zip, or what a gzip holds; anything else as it is. Raises BadInput."""
    if content[:2] == b"\x1f\x8b":
        with damage_told(name), gzip.open(io.BytesIO(content)) as stream:
            return _whole(stream.read(MOST + 1), name)
    if content[:4] != b"PK\x03\x04":
        return content
    with _aside(content, "upload.zip") as path, _named(path, name), opened(path) as members:
        inside = [member for member in members.names if member.lower().endswith(TABLES) and not Path(member).name.startswith((".", "__"))]
        if len(inside) != 1:
            raise BadInput(f"{name} should hold one table ({', '.join(TABLES)}). Found: {', '.join(map(called, inside[:5])) or 'none'}.")
        with members.open(inside[0]) as stream:
            return _whole(stream.read(MOST + 1), name)


@contextlib.contextmanager
def _named(file: Path, name: str) -> Iterator[None]:
    """What is wrong with a file is told under the name that it was brought by."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error).replace(file.name, called(name))) from error


def _whole(content: bytes, name: str) -> bytes:
    if len(content) > MOST:
        raise BadInput(f"{name} unpacks to more than {MOST >> 20} MB. Use `python -m dpmf_core` for large files.")
    return content


class _aside:  # noqa: N801  # reads like the function it stands for
    """A file that exists inside a `with` alone."""

    def __init__(self, content: bytes, name: str) -> None:
        self._folder = _new_folder()
        self._path = self._folder / name
        self._path.write_bytes(content)

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _new_folder() -> Path:
    folder = claimed(home()) / secrets.token_urlsafe(24)
    folder.mkdir(mode=0o700)
    return folder


def ratings(content: bytes, name: str, columns: dict[str, str], bounds: tuple[float, float], dates: Order | None = None) -> Brought:
    """A ratings table. columns: role to column ("": none), where its header does not tell; dates: as in `read_table`. Raises BadInput."""
    content = unpacked(content, name)
    with damage_told(name):
        chosen = {**detected(open_table(content, name)), **columns}
    found, report, labels = read_labelled(content, name=name, bounds=bounds, columns=chosen, dates=dates, way=PAGE)
    file = _new_folder() / "ratings.parquet"
    kept = {"user": found.users, "item": [labels[j] for j in found.items], "rating": found.values}
    if found.titles:
        kept["title"] = [found.titles[j] for j in found.items]
    if found.order is not None:
        kept["timestamp"] = found.order
    table = pa.Table.from_pydict(kept)
    pa.parquet.write_table(table.replace_schema_metadata({NOTED: "\n".join(found.assumptions).encode()}), file)
    (file.parent / origin.FILE).write_text(origin.of_bytes(content))
    low, high = bounds
    entry = Entry(
        id=f"{file}?{urlencode({'bounds': f'{low:g},{high:g}'}, safe=',')}", title=_titled(name), kind="file", words=YOURS, licence="Yours.", citation="",
        size_mb=file.stat().st_size / 1e6, n_users=found.n_users, n_items=found.n_items, n_ratings=len(found), bounds=bounds, home="",
        public=False, assumptions=found.assumptions,
    )  # fmt: skip
    return Brought(entry, report, found)


def samples(content: bytes, name: str, facts: dict[str, str]) -> Brought:
    """Documents or images: a text file with one a line, a column of a table (fact `text`), a zip of files, a MATLAB matrix. Raises BadInput."""
    ending = Path(name).suffix.lower()
    file = _new_folder() / f"samples{ending if ending in ('.txt', '.zip', '.mat', '.csv', '.tsv', '.tgz', '.tar') else '.bin'}"
    try:
        file.write_bytes(content)
        (file.parent / origin.FILE).write_text(origin.of_bytes(content))
        _bounded(file, name)
        with _named(file, name), damage_told(name):
            if "text" not in facts and (tables := ratings_tables(file)):
                table = "" if len(tables) == 1 and file.suffix == ".txt" else f", {called(tables[0])}"
                raise BadInput(f"{name} holds a table of ratings{table}. Choose Ratings above.")
            made = sample_sets.at(file, facts)
        if made is None:
            raise BadInput(f"{name} is neither text (.txt, .zip, a table with a text column) nor images (.zip, .mat). Got {ending or 'no ending'}.")
        found, report = made
    except BaseException:
        shutil.rmtree(file.parent, ignore_errors=True)
        raise
    documents = found.unit == "document"
    entry = SampleEntry(
        id=f"{file}?{urlencode(facts, safe=',')}" if facts else str(file), title=_titled(name), kind="file", words=YOURS, licence="Yours.", citation="",
        size_mb=len(content) / 1e6, home="", holds="documents" if documents else "images", n_samples=found.shape.n_samples, n_features=found.shape.n_features,
        image=found.image, n_components=max(1, min(8, found.shape.n_samples, found.shape.n_features)), public=False, assumptions=found.assumptions,
        n_people=found.n_people,
    )  # fmt: skip
    return Brought(entry, report, found)


def _bounded(file: Path, name: str) -> None:
    """Raises BadInput where an archive unpacks to more than a page can hold."""
    if file.suffix in (".zip", ".tgz", ".tar"):
        with _named(file, name), opened(file) as members:
            if members.size > MOST:
                raise BadInput(f"{name} unpacks to more than {MOST >> 20} MB. Use `python -m dpmf_core` for large files.")


def _titled(name: str) -> str:
    """A file's name without folder or ending, as text of a reasonable length that reads as it is wherever it is shown."""
    plain = "".join(letter if letter.isalnum() or letter in " -.,()" else " " for letter in Path(name).stem)
    return (" ".join(plain.split())[:40] or "Your file") + " (yours)"


def remove(entry: Entry | SampleEntry) -> None:
    """Forget a file that was brought."""
    if is_own(entry.id):
        shutil.rmtree(_folder(entry.id), ignore_errors=True)


def _folder(data_id: str) -> Path:
    return Path(data_id.rpartition("?")[0] or data_id).parent


def size(data_ids: Collection[str] | None = None) -> int:
    """Bytes on disk of these data sets, or of all that was brought and is still here."""
    everything = (shelf.home().absolute() / FOLDER).glob("*/*/")
    folders = everything if data_ids is None else [_folder(data_id) for data_id in data_ids if is_own(data_id)]
    return sum(_bytes(file) for folder in folders for file in folder.glob("*"))


def _bytes(file: Path) -> int:
    """0 where the file has just been removed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def origin_of(path: Path) -> str:
    """The fingerprint of the content that was brought; of the file itself where that is not known."""
    beside = path.parent / origin.FILE
    return beside.read_text() if beside.is_file() else origin.of(path)


def origins() -> frozenset[str]:
    """The fingerprints of all that was brought and is still here."""
    folder = shelf.home().absolute() / FOLDER
    return frozenset(file.read_text() for file in folder.glob(f"*/*/{origin.FILE}"))


def sweep(now: float | None = None) -> None:
    """Remove what is older than a day, and what servers brought here that are no more."""
    kept = shelf.home().absolute() / FOLDER
    if not kept.is_dir():
        return
    clear(kept)
    for folder in kept.glob("*/*/"):
        with contextlib.suppress(FileNotFoundError):  # removed by its owner meanwhile
            if folder.stat().st_mtime < (now or time.time()) - KEPT:
                shutil.rmtree(folder, ignore_errors=True)


__all__ = ["Brought", "is_own", "origin_of", "origins", "preview", "ratings", "remove", "samples", "size", "sweep"]
