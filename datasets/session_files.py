"""Files that a person brings to a served page: kept apart from the catalogue under a name that
nobody can guess, until removed or a day old.

They lie in a folder of the server's process: it goes when the server ends, and what a crash left
goes when the next one starts.
"""

import contextlib
import gzip
import io
import secrets
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import pyarrow as pa
import pyarrow.parquet

from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.errors import BadInput
from dpmf_core.paths import claim_folder, clear, data_folder, usable
from dpmf_datasets import fingerprint, sample_paths
from dpmf_datasets.readers.archives import members_of
from dpmf_datasets.readers.arrow_tables import is_packed_table
from dpmf_datasets.readers.columns import PAGE, detect_columns, names_of
from dpmf_datasets.readers.dates import Order
from dpmf_datasets.readers.item_tables import ITEM_TABLE, cells_of, read_item_table
from dpmf_datasets.readers.ratings_detection import ratings_tables
from dpmf_datasets.readers.ratings_tables import read_labelled
from dpmf_datasets.readers.report import Outside, Report
from dpmf_datasets.readers.tables import NOTES_KEY, PREVIEW, file_name, open_table, report_damage

if TYPE_CHECKING:  # where it is needed it is loaded: nobody's own files are read elsewhere
    import pandas as pd

FOLDER = "uploads"
LIFETIME = 24 * 3600  # seconds
MOST = 200 << 20  # bytes of a table in a zip
TABLES = (
    *(".csv", ".tsv", ".txt", ".dat", ".data", ".inter", ".jsonl"),
    *(".parquet", ".feather", ".xlsx", ".ods", ".npz"),
)
FEATURES_NAMED = 3  # columns of an item table, beside its data set
# what the catalogue says of every file that somebody brought
OWN: dict[str, Any] = {
    "kind": "file",
    "words": "Yours, in this session only.",
    "licence": "Yours.",
    "citation": "",
    "home": "",
    "public": False,
}
COMMAND_FILE = "asked"  # a file beside the table: how a command names what was brought


@dataclass(frozen=True)
class Upload:
    """What was made of a file: its entry, whose id is a path that this session alone knows, and
    what was found in it.
    """

    entry: Entry | SampleEntry
    report: Report
    data: Ratings | Samples


def home() -> Path:
    return usable(data_folder()).absolute() / FOLDER


def is_own(data_id: str) -> bool:
    """Whether a data set's id is the path of a file that somebody brought."""
    path = data_id.rpartition("?")[0] or data_id
    return FOLDER in path and Path(path).resolve().is_relative_to(home().resolve())


def preview(content: bytes, name: str) -> "tuple[tuple[str, ...], dict[str, str], pd.DataFrame]":
    """Columns of a table, which of them play which role as far as their names tell, and its
    first rows as text. Raises BadInput.
    """
    import pandas as pd

    content = unpacked(content, name)
    with report_damage(name):
        table = open_table(content, name)
        names = names_of(table)
        first = next(iter(table.batches(range(len(names)))), [])
        rows = {
            column: part.slice(0, PREVIEW).to_pylist()
            for column, part in zip(names, first, strict=False)
        }
    return names, detect_columns(table), pd.DataFrame(rows)


def layout(content: bytes, name: str) -> str:
    """How a table's columns and header were found, in a sentence. Raises BadInput."""
    content = unpacked(content, name)
    with report_damage(name):
        return open_table(content, name).layout


def unpacked(content: bytes, name: str) -> bytes:
    """The one table in a zip, or what a gzip holds; anything else as it is. Raises BadInput."""
    if content[:2] == b"\x1f\x8b":
        with report_damage(name), gzip.open(io.BytesIO(content)) as stream:
            return _whole(stream.read(MOST + 1), name)
    if content[:4] != b"PK\x03\x04" or is_packed_table(content):
        return content
    with _aside(content, "upload.zip") as path, _errors_of(path, name), members_of(path) as members:
        inside = [
            member
            for member in members.names
            if member.lower().endswith(TABLES) and not Path(member).name.startswith((".", "__"))
        ]
        if len(inside) != 1:
            raise BadInput(
                f"{name} should hold one table ({', '.join(TABLES)}). Found:"
                f" {', '.join(map(file_name, inside[:5])) or 'none'}."
            )
        with members.open(inside[0]) as stream:
            return _whole(stream.read(MOST + 1), name)


@contextlib.contextmanager
def _errors_of(file: Path, name: str) -> Iterator[None]:
    """What is wrong with a file is told under the name that it was brought by."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error).replace(file.name, file_name(name))) from error


def _whole(content: bytes, name: str) -> bytes:
    if len(content) > MOST:
        raise BadInput(
            f"{name} unpacks to more than {MOST >> 20} MB. Use `python -m dpmf_core` for large"
            " files."
        )
    return content


@contextlib.contextmanager
def _aside(content: bytes, name: str) -> Iterator[Path]:
    """A file that exists inside a `with` alone."""
    path = _new_folder() / name
    try:
        path.write_bytes(content)
        yield path
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def _new_folder() -> Path:
    folder = claim_folder(home()) / secrets.token_urlsafe(24)
    folder.mkdir(mode=0o700)
    return folder


def ratings(
    content: bytes,
    name: str,
    columns: dict[str, str],
    bounds: tuple[float, float],
    dates: Order | None = None,
    outside: Outside = "clamp",
) -> Upload:
    """A ratings table. columns: role to column ("": none), where its header does not tell;
    dates, outside: as in `read_table`. Raises BadInput.
    """
    content = unpacked(content, name)
    with report_damage(name):
        found_columns = detect_columns(open_table(content, name))
    roles = {**found_columns, **columns}
    data, report, labels = read_labelled(
        content, name=name, bounds=bounds, columns=roles, dates=dates, outside=outside, way=PAGE
    )
    file = _new_folder() / "ratings.parquet"
    _keep(data, labels, file)
    (file.parent / fingerprint.FILE).write_text(fingerprint.of_bytes(content))
    by_role = {role: column for role, column in roles.items() if column or role in found_columns}
    facts = {
        "bounds": f"{bounds[0]:g},{bounds[1]:g}",
        **by_role,
        **({"dates": dates} if dates else {}),
        **({"outside": outside} if outside != "clamp" else {}),
    }
    (file.parent / COMMAND_FILE).write_text(f"{name}?{urlencode(facts, safe=',')}", "utf-8")
    return Upload(_entry(data, file, name, bounds), report, data)


def _keep(data: Ratings, labels: Sequence[str], file: Path) -> None:
    """Write the ratings to a Parquet file, and what is assumed of them."""
    keys, items = data.draw_keys()[data.users], [labels[j] for j in data.items]
    columns = {"user": keys, "item": items, "rating": data.values}
    if data.titles:
        columns["title"] = [data.titles[j] for j in data.items]
    if data.order is not None:
        columns["timestamp"] = data.order
    table = pa.Table.from_pydict(columns)
    pa.parquet.write_table(
        table.replace_schema_metadata({NOTES_KEY: "\n".join(data.assumptions).encode()}), file
    )


def _entry(data: Ratings, file: Path, name: str, bounds: tuple[float, float]) -> Entry:
    """The catalogue's words of ratings that lie in a file."""
    return Entry(
        id=f"{file}?{urlencode({'bounds': f'{bounds[0]:g},{bounds[1]:g}'}, safe=',')}",
        title=_title_of(name),
        **OWN,
        size_mb=file.stat().st_size / 1e6,
        n_users=data.n_users,
        n_items=data.n_items,
        n_ratings=len(data),
        bounds=bounds,
        assumptions=data.assumptions,
    )


def preview_items(content: bytes, name: str) -> "pd.DataFrame":
    """The first rows of an item table as text. Raises BadInput."""
    cells = cells_of(io.BytesIO(unpacked(content, name)), name)
    import pandas as pd

    return pd.DataFrame(cells.rows[:PREVIEW], columns=list(cells.names))


def with_item_table(entry: Entry, content: bytes, name: str) -> tuple[Entry, tuple[str, ...]]:
    """The entry of ratings that were brought, with a public table of their items in place of any
    before, and sentences about what of the table is not used.

    Raises BadInput where it is no table of these items; the entry then is as it was.
    """
    content = unpacked(content, name)
    path, _, query = entry.id.rpartition("?")
    facts = dict(parse_qsl(query))
    before = facts.pop(ITEM_TABLE, "")
    file = Path(path).with_name(f"items-{secrets.token_hex(4)}")
    items = pa.parquet.read_table(path, columns=["item"]).column(0).unique().to_pylist()
    file.write_bytes(content)
    try:
        with _errors_of(file, name):
            item_table = read_item_table(file, items)
    except BaseException:
        file.unlink()
        raise
    if before:
        Path(before).unlink(missing_ok=True)
    new_entry = replace(
        entry,
        id=f"{path}?{urlencode({**facts, ITEM_TABLE: str(file)}, safe=',')}",
        item_features=_features_named(item_table.features.columns),
        assumptions=tuple(dict.fromkeys((*entry.assumptions, ITEMS_ARE_PUBLIC))),
    )
    return new_entry, item_table.sentences(file_name(name))


def _features_named(columns: Sequence[str]) -> str:
    """What a table says of items, in plain letters."""
    more = len(columns) - FEATURES_NAMED
    names = ", ".join(map(_plain, columns[:FEATURES_NAMED]))
    return f"features ({names}{f' and {more} more' if more > 0 else ''})"


def samples(content: bytes, name: str, facts: dict[str, str]) -> Upload:
    """Documents or images: a text file with one a line, a column of a table (fact `text`), a
    zip of files, a MATLAB matrix. Raises BadInput.
    """
    ending = Path(name).suffix.lower()
    known_ending = ending in (".txt", ".zip", ".mat", ".csv", ".tsv", ".tgz", ".tar")
    file = _new_folder() / f"samples{ending if known_ending else '.bin'}"
    try:
        file.write_bytes(content)
        (file.parent / fingerprint.FILE).write_text(fingerprint.of_bytes(content))
        _check_size(file, name)
        with _errors_of(file, name), report_damage(name):
            if "text" not in facts and (tables := ratings_tables(file)):
                alone = len(tables) == 1 and file.suffix == ".txt"
                table = "" if alone else f", {file_name(tables[0])}"
                raise BadInput(f"{name} holds a table of ratings{table}. Choose Ratings above.")
            result = sample_paths.at(file, facts)
        if result is None:
            raise BadInput(
                f"{name} is neither text (.txt, .zip, a table with a text column) nor images (.zip,"
                f" .mat). Got {ending or 'no ending'}."
            )
        data, report = result
    except BaseException:
        shutil.rmtree(file.parent, ignore_errors=True)
        raise
    documents = data.unit == "document"
    entry = SampleEntry(
        id=f"{file}?{urlencode(facts, safe=',')}" if facts else str(file),
        title=_title_of(name),
        **OWN,
        size_mb=len(content) / 1e6,
        holds="documents" if documents else "images",
        n_samples=data.shape.n_samples,
        n_features=data.shape.n_features,
        image=data.image,
        n_components=max(1, min(8, data.shape.n_samples, data.shape.n_features)),
        assumptions=data.assumptions,
        n_people=data.n_people,
    )
    return Upload(entry, report, data)


def _check_size(file: Path, name: str) -> None:
    """Raises BadInput where an archive unpacks to more than a page can hold."""
    if file.suffix in (".zip", ".tgz", ".tar"):
        with _errors_of(file, name), members_of(file) as members:
            if members.size > MOST:
                raise BadInput(
                    f"{name} unpacks to more than {MOST >> 20} MB. Use `python -m dpmf_core` for"
                    " large files."
                )


def _title_of(name: str) -> str:
    """A file's name without folder or ending, as text of a reasonable length that reads as it
    is wherever it is shown.
    """
    return (_plain(Path(name).stem)[:40] or "Your file") + " (yours)"


def _plain(text: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in " -.,()" else " " for letter in text)
    return " ".join(plain.split())


def command_path(data_id: str) -> str:
    """The file of ratings that was brought as a command names it: its own name, with its bounds,
    its columns and how its dates are written.
    """
    return (_folder(data_id) / COMMAND_FILE).read_text("utf-8")


def remove(entry: Entry | SampleEntry) -> None:
    """Forget a file that was brought."""
    if is_own(entry.id):
        shutil.rmtree(_folder(entry.id), ignore_errors=True)


def _folder(data_id: str) -> Path:
    return Path(data_id.rpartition("?")[0] or data_id).parent


def size(data_ids: Collection[str] | None = None) -> int:
    """Bytes on disk of these data sets, or of all that was brought and is still here."""
    everything = (data_folder().absolute() / FOLDER).glob("*/*/")
    folders = (
        everything
        if data_ids is None
        else [_folder(data_id) for data_id in data_ids if is_own(data_id)]
    )
    return sum(_bytes(file) for folder in folders for file in folder.glob("*"))


def _bytes(file: Path) -> int:
    """0 where the file has just been removed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def origin_of(path: Path) -> str:
    """The fingerprint of the content that was brought; of the file itself where that is not
    known.
    """
    beside = path.parent / fingerprint.FILE
    return beside.read_text() if beside.is_file() else fingerprint.of(path)


def origins() -> frozenset[str]:
    """The fingerprints of all that was brought and is still here."""
    files = (data_folder().absolute() / FOLDER).glob(f"*/*/{fingerprint.FILE}")
    present = set()
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # removed by its owner meanwhile
            present.add(file.read_text("utf-8"))
    return frozenset(present)


def sweep(now: float | None = None) -> None:
    """Remove what is older than a day, and what servers brought here that are no more."""
    uploads = data_folder().absolute() / FOLDER
    if not uploads.is_dir():
        return
    clear(uploads)
    for folder in uploads.glob("*/*/"):
        with contextlib.suppress(FileNotFoundError):  # removed by its owner meanwhile
            if folder.stat().st_mtime < (now or time.time()) - LIFETIME:
                shutil.rmtree(folder, ignore_errors=True)
