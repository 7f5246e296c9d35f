"""The file of one finished run: its arrays and its record in one npz, named by the hash of its
bytes.

Each file holds everything that the store keeps of its run, so that the index can be built again
from the files alone.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import re
import zipfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # a list of runs is read from the index alone, and waits for none of these
    import numpy.typing as npt

    from dpmf_core.runs.record import Run, RunRecord

RECORD = "run.json"  # the member beside the arrays
NAME = re.compile(r"[0-9a-f]{64}")  # an artefact's name: the SHA-256 of its bytes
ENDING = ".npz"


class Unreadable(ValueError):
    """A file holds no run, or not the one that was written; the text says why."""


@dataclass(frozen=True)
class Label:
    """What people and the store say of a run.

    created: when the run was kept, changed: when this file was written (ISO 8601, UTC);
    tags: separated by commas; owner: whose run it is, '' where nobody is named; pinned: it is
    never removed to make room.
    """

    created: str
    note: str = ""
    tags: str = ""
    owner: str = ""
    pinned: bool = False
    changed: str = ""


@dataclass(frozen=True)
class StoredRun:
    """A stored run with its label."""

    run: "Run"
    label: Label


def to_json(value: Any, indent: int | None = None) -> str:
    """JSON as the standard has it: what is not finite becomes null, numpy numbers plain ones."""
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):  # numpy's
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summarise(record: "RunRecord") -> dict[str, Any]:
    """One line of a list of runs. `epsilon` is the exact one, null where nothing is proved."""
    spec = record.spec
    return {
        "key": record.key,
        "title": record.title,
        "dataset": spec.data.id,
        "algorithm": spec.algorithm,
        "parameters": spec.parameters,
        "epsilon": record.epsilon.exact,
        "nominal_epsilon": spec.budget.epsilon if spec.budget else None,
        "delta": record.delta,
        "unit": record.guarantee.unit,
        "relation": str(record.relation),
        "seed": spec.seed,
        "guarantee": str(record.guarantee.status),
        "public": record.public,
        "rmse": record.metrics.get("rmse"),
        "metrics": record.metrics,
        "fit_seconds": record.seconds.get("fit"),
    }


# of a line, what is computed from raw rows; the key is a hash of them
RAW_FIGURES = ("key", "rmse", "metrics", "fit_seconds")
SUMMARY = {
    "key",
    "title",
    "dataset",
    "algorithm",
    "parameters",
    "epsilon",
    "nominal_epsilon",
    "delta",
    "unit",
    "relation",
    "seed",
    "guarantee",
    "public",
    "rmse",
    "metrics",
    "fit_seconds",
}


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def pack(run: "Run", label: Label) -> bytes:
    """The bytes of a run's file. Raises TypeError on arrays of Python objects."""
    import numpy as np

    arrays: dict[str, Any] = dict(sorted(run.arrays.items()))
    if objects := [name for name, array in arrays.items() if array.dtype.hasobject]:
        raise TypeError(f"Arrays of Python objects are not stored: {', '.join(objects)}.")
    out = io.BytesIO()
    np.savez(out, **arrays)
    record = run.record.model_copy(update={"cached": False})
    document = {"record": record.to_dict(), "label": asdict(label)}
    with zipfile.ZipFile(out, "a") as file:
        file.writestr(zipfile.ZipInfo(RECORD), to_json(document))
    return out.getvalue()


def unpack(content: bytes) -> StoredRun:
    """The run of a file, its record marked as cached. Raises Unreadable."""
    from dpmf_core.runs.record import Run

    record, label = _record(content)
    return StoredRun(Run(record, arrays_of(content)), label)


def arrays_of(content: bytes) -> "dict[str, npt.NDArray[Any]]":
    """The arrays alone, of files without a record too. Raises Unreadable."""
    import numpy as np

    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return {name: file[name] for name in file.files if name != RECORD}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise Unreadable(f"its arrays cannot be read ({error})") from error


def record_of(path: Path) -> "RunRecord":
    """The record of a file, marked as cached, without reading its arrays.

    Raises Unreadable, OSError.
    """
    with path.open("rb") as file:
        return _record(file)[0]


def _record(content: bytes | IO[bytes]) -> "tuple[RunRecord, Label]":
    """The record, marked as cached, and the label. Raises Unreadable."""
    from pydantic import ValidationError

    from dpmf_core.runs.record import RunRecord

    try:
        with zipfile.ZipFile(
            io.BytesIO(content) if isinstance(content, bytes) else content
        ) as file:
            document = json.loads(file.read(RECORD))
        record, label = document["record"], _label(document["label"])
    except KeyError as error:
        raise Unreadable("it holds no record") from error
    except (OSError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise Unreadable(f"its record cannot be read ({error})") from error
    try:
        return RunRecord.model_validate({**record, "cached": True}), label
    except TypeError as error:
        raise Unreadable("its record is incomplete") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Unreadable(f"its record is incomplete, at {place!a}: {first['msg']}") from error


def _label(record: dict[str, Any]) -> Label:
    """What is known of a label that this or another version wrote."""
    texts = {
        field.name: str(record.get(field.name, ""))
        for field in fields(Label)
        if field.name != "pinned"
    }
    return Label(**texts, pinned=bool(record.get("pinned", False)))


def read(path: Path) -> bytes:
    """The bytes of a file, which are those that its name promises. Raises Unreadable, OSError."""
    content = path.read_bytes()
    if name_of(content) != path.stem:
        raise Unreadable("its bytes are not those that were written")
    return content


def write(path: Path, content: bytes, mode: int = 0o666) -> None:
    """The whole file or none of it: written aside, flushed to disk, renamed.

    mode: of the file, less the umask. Raises OSError.
    """
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
            flush(file)
        aside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):  # the first error is the one to report
            aside.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush(file: IO[bytes]) -> None:
    """All that was written is on disk. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Names in it are on disk. Raises OSError."""
    if os.name != "posix":  # a folder cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def index_row(content: bytes) -> tuple[str | int, ...]:
    """What the index says of a run's file, in the order of its columns. Raises Unreadable."""
    record, label = _record(content)
    summary = to_json(summarise(record))
    columns = (record.key, label.created, summary, name_of(content))
    return (*columns, label.note, label.tags, label.owner, int(label.pinned))
