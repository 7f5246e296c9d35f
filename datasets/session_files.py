"""Files that a person uploads to a served page.

A child process reads each file once, within limits (`sandbox`). The result is stored apart from the
catalogue, under an unguessable name, until it is removed or a day old. It is in a temporary folder
of the server's process, which is removed when the server ends; after a crash, when the next one
starts.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import OWNED_BY
from dpmf_core.base.paths import claim_folder, clear, data_folder
from dpmf_core.data.addresses import join
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import Order, Outside, Report
from dpmf_core.data.samples import Samples
from dpmf_datasets import npz_folder, sandbox, upload_conversion
from dpmf_datasets.path_facts import UPLOADS, is_own
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import detect_columns, on_page, read_table
from dpmf_datasets.readers.tables import OwnTable

TEMPORARY = tempfile.gettempdir()
LIFETIME = 24 * 3600  # seconds
ENDINGS = (".txt", ".zip", ".mat", ".csv", ".tsv", ".tgz", ".tar")  # of documents and images
ORIGIN, COMMAND = "origin", "command"  # files next to the data: a fingerprint, a command's path
FEATURES_NAMED = 3  # columns of an item table that the data set's description names


@dataclass(frozen=True)
class Upload:
    """A stored file: its entry, whose id is a path that only this session knows, and its report."""

    entry: Entry | SampleEntry
    report: Report
    data: Ratings | Samples


def home() -> Path:
    """The folder of uploads for this user and this data folder.

    It is in systemd's runtime directory or the system's temporary one.
    """
    where = hashlib.sha256(str(data_folder().absolute()).encode()).hexdigest()[:12]
    user = getattr(os, "getuid", int)()
    places = os.environ.get("RUNTIME_DIRECTORY", TEMPORARY).split(":")  # systemd may name several
    return Path(places[0]) / f"{UPLOADS}{user}-{where}"


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"This server cannot store the file now ({error.strerror or error}). Try again later,"
            " or tell the operator."
        ) from error


def _new_folder() -> Path:
    root = home()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if root.is_symlink() or (hasattr(os, "getuid") and root.stat().st_uid != os.getuid()):
        raise BadInput(
            f"{root} belongs to another user: uploads cannot be stored there. "
            "Ask the operator to remove it."
        )
    folder = claim_folder(root) / secrets.token_urlsafe(24)
    folder.mkdir(mode=0o700)
    return folder


@contextlib.contextmanager
def _read_apart(
    task: Callable[..., Any], content: bytes, name: str, *arguments: Any, ending: str = ""
) -> Iterator[tuple[Any, Path]]:
    """The result of a task of `upload_conversion`, and the file that it wrote, inside the block."""
    folder = _new_folder()
    try:
        file, target = folder / f"upload{ending}", folder / "converted.npy"
        file.write_bytes(content)
        limits = sandbox.UPLOAD.for_size(len(content))
        yield (
            sandbox.read(task, name, str(file), name, *arguments, str(target), limits=limits),
            target,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- ratings -------------------------------------------------------------------------------------


@_disk_errors()
def table(content: bytes, name: str) -> OwnTable:
    """Read a table, also from a gzip or a zip. Raises BadInput."""
    with _read_apart(upload_conversion.write_table, content, name) as (origin, file):
        return OwnTable(name, file.read_bytes(), origin)


@_disk_errors()
def ratings(
    source: OwnTable,
    columns: dict[str, str],
    bounds: tuple[float, float],
    dates: Order | None = None,
    outside: Outside = "clamp",
    owner: str = "",
) -> Upload:
    """Read the ratings of a table and store them.

    columns: role to column ("": none), where its header does not tell. bounds, dates, outside: see
    `read_table`. owner: the uploading session or login, which has an account of its own; if it is
    "", all who upload the same file share an account. Raises BadInput if the table is no ratings
    table.
    """
    name, detected_roles = source.name, detect_columns(source.table)
    roles = {**detected_roles, **columns}
    declared = Declared(bounds, roles, dates=dates, outside=outside)
    data, report = read_table(source.table, name=name, declared=declared, advice=on_page)
    data = replace(data, origin=_origin(source.fingerprint, owner))
    file = _keep(data)
    by_role = {role: column for role, column in roles.items() if column or role in detected_roles}
    facts = {
        "bounds": f"{bounds[0]:g},{bounds[1]:g}",
        **by_role,
        **({"dates": dates} if dates else {}),
        **({"outside": outside} if outside != "clamp" else {}),
    }
    (file.parent / COMMAND).write_text(join(name, facts), "utf-8")
    sizes: Any = {"n_users": data.n_users, "n_items": data.n_items, "n_ratings": len(data)}
    entry = Entry(**_facts(data, file, name), **sizes, bounds=data.bounds)
    return Upload(entry, report, data)


def _facts(data: Ratings | Samples, file: Path, name: str) -> dict[str, Any]:
    """The facts of the catalogue about an uploaded file."""
    facts = {"id": str(file), "title": _title_of(name), "size_mb": file.stat().st_size / 1e6}
    facts |= {"kind": "file", "public": False, "assumptions": data.assumptions}
    words = {"words": "Yours, in this session only.", "licence": "Yours."}
    return facts | words | {"citation": "", "home": ""}


def _origin(fingerprint: str, owner: str) -> str:
    """The key of an account, which other users' work on the same file does not change."""
    return f"{fingerprint}{OWNED_BY}{owner}" if owner else fingerprint


def _keep(data: Ratings | Samples) -> Path:
    """Write the data and the fingerprint of their origin to a new folder; returns their file."""
    folder = _new_folder()
    file = folder / f"{'ratings' if isinstance(data, Ratings) else 'samples'}.npz"
    try:
        npz_folder.write(data, file)
        (folder / ORIGIN).write_text(data.origin)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return file


def load(data_id: str) -> Ratings | Samples:
    """Return a stored upload. Raises BadInput if it is gone."""
    return npz_folder.read_file(Path(data_id), "your file")


@_disk_errors()
def with_item_table(entry: Entry, content: bytes, name: str) -> tuple[Entry, tuple[str, ...]]:
    """Add a public table of their items to uploaded ratings, replacing an earlier one.

    Returns the entry, and what of the table is not used, in sentences. Raises BadInput if it is not
    a table of these items; the entry is then unchanged.
    """
    data = load(entry.id)
    assert isinstance(data, Ratings)
    labels = list(data.labels or ())
    task = upload_conversion.write_item_features
    with _read_apart(task, content, name, labels) as (facts, file):
        features = ItemFeatures(tuple(facts["names"]), np.load(file, allow_pickle=False))
    assumptions = tuple(dict.fromkeys((*entry.assumptions, ITEMS_ARE_PUBLIC)))
    new_file = _keep(replace(data, item_features=features, assumptions=assumptions))
    shutil.copy(Path(entry.id).parent / COMMAND, new_file.parent)
    remove(entry)
    new_entry = replace(
        entry,
        id=str(new_file),
        item_features=_features_named(features.columns),
        assumptions=assumptions,
    )
    return new_entry, tuple(facts["sentences"])


def _features_named(columns: Sequence[str]) -> str:
    """The feature columns of an item table, in plain letters."""
    more = len(columns) - FEATURES_NAMED
    names = ", ".join(map(_plain, columns[:FEATURES_NAMED]))
    return f"features ({names}{f' and {more} more' if more > 0 else ''})"


# ---- documents and images ------------------------------------------------------------------------


@_disk_errors()
def samples(content: bytes, name: str, facts: dict[str, str], owner: str = "") -> Upload:
    """Read documents or images and store them.

    They may be a text file with one per line, a column of a table (fact `text`), a zip of files or
    a MATLAB matrix. owner: see `ratings`. Raises BadInput.
    """
    ending = Path(name).suffix.lower()
    ending = ending if ending in ENDINGS else ".bin"
    task = upload_conversion.write_samples
    with _read_apart(task, content, name, facts, ending=ending) as (report, converted):
        data = npz_folder.read_file(converted, name)
    assert isinstance(data, Samples)
    data = replace(data, name=name, origin=_origin(hashlib.sha256(content).hexdigest(), owner))
    file = _keep(data)
    entry = SampleEntry(
        **_facts(data, file, name),
        holds="documents" if data.unit == "document" else "images",
        n_samples=data.shape.n_samples,
        n_features=data.shape.n_features,
        image=data.image,
        n_components=max(1, min(8, data.shape.n_samples, data.shape.n_features)),
        n_people=data.n_people,
    )
    full_report = replace(upload_conversion.REPORT.validate_python(report), name=name)
    return Upload(entry, full_report, data)


# ---- what is kept --------------------------------------------------------------------------------


def _title_of(name: str) -> str:
    """A file's name without folder or ending, shortened and safe to show anywhere."""
    return (_plain(Path(name).stem)[:40] or "Your file") + " (yours)"


def _plain(text: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in " -.,()" else " " for letter in text)
    return " ".join(plain.split())


def command_path(data_id: str) -> str:
    """The own name of uploaded ratings, with bounds, columns and dates, as a command names them."""
    return (Path(data_id).parent / COMMAND).read_text("utf-8")


def remove(entry: Entry | SampleEntry) -> None:
    """Remove an uploaded file."""
    if is_own(entry.id):
        shutil.rmtree(Path(entry.id).parent, ignore_errors=True)


def size(data_ids: Collection[str] | None = None) -> int:
    """Return the bytes on disk of these data sets, or of all uploads."""
    folders = (
        home().glob("*/*/")
        if data_ids is None
        else [Path(data_id).parent for data_id in data_ids if is_own(data_id)]
    )
    total = 0
    for file in (file for folder in folders for file in folder.glob("*")):
        with contextlib.suppress(FileNotFoundError):  # just removed by its owner
            total += file.stat().st_size
    return total


def origins() -> frozenset[str]:
    """Return the fingerprints of all uploads."""
    present = set()
    for file in home().glob(f"*/*/{ORIGIN}"):
        with contextlib.suppress(FileNotFoundError):  # just removed by its owner
            present.add(file.read_text("utf-8"))
    return frozenset(present)


def sweep(now: float | None = None) -> None:
    """Remove uploads older than a day, and those of servers that have ended."""
    uploads = home()
    if not uploads.is_dir():
        return
    clear(uploads)
    for folder in uploads.glob("*/*/"):
        with contextlib.suppress(FileNotFoundError):  # just removed by its owner
            if folder.stat().st_mtime < (now or time.time()) - LIFETIME:
                shutil.rmtree(folder, ignore_errors=True)
