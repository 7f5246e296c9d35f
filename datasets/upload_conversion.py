"""The child process's conversion of an uploaded file.

It unpacks and reads the file, and leaves one file within bounds and some facts in JSON.
"""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from dpmf_core.base.errors import BadInput
from dpmf_core.base.program import program
from dpmf_core.data.report import Report
from dpmf_datasets import npz_folder, sample_paths
from dpmf_datasets.readers.archives import GZIP, ZIP, fingerprint_of, members_of
from dpmf_datasets.readers.table import file_name, report_damage
from dpmf_datasets.readers.tables import (
    is_packed_table,
    ratings_tables,
    read_item_table,
    write_parquet,
)

LARGEST = 200 << 20  # bytes of an unpacked file
TABLES = (
    *(".csv", ".tsv", ".txt", ".dat", ".data", ".inter", ".jsonl", ".json"),
    *(".parquet", ".feather", ".xlsx", ".xls", ".ods", ".npz"),
)
REPORT: TypeAdapter[Report] = TypeAdapter(Report)


def write_table(path: str, name: str, target: str) -> str:
    """Write a table as Parquet, also from a gzip or from a zip with one table.

    Returns the fingerprint of the unpacked file.
    """
    file = _unpacked(Path(path), name)
    write_parquet(str(file), name, None, target)
    return fingerprint_of(file)


def write_item_features(path: str, name: str, items: list[str], target: str) -> dict[str, Any]:
    """Write the features of `items` from a table of them, float32 (n_items, n_features), as .npy.

    Returns their names, and sentences on what of the table is not used.
    """
    table = read_item_table(_unpacked(Path(path), name), items, name)
    np.save(target, table.features.values)
    return {"names": table.features.names, "sentences": table.sentences(file_name(name))}


def write_samples(path: str, name: str, facts: dict[str, str], target: str) -> dict[str, Any]:
    """Write documents or images as .npz. Returns the report."""
    file = Path(path)
    with _under_name(file, name), report_damage(name):
        _check_size(file, name)
        if "text" not in facts and (tables := ratings_tables(file)):
            alone = len(tables) == 1 and file.suffix == ".txt"
            table = "" if alone else f", {file_name(tables[0])}"
            raise BadInput(f"{name} holds a table of ratings{table}. Choose Ratings above.")
        result = sample_paths.samples_at(file, facts)
    if result is None:
        raise BadInput(
            f"{name} holds neither text (.txt, .zip, a table with a text column) nor images (.zip,"
            f" .mat). Got {file.suffix or 'no ending'}."
        )
    samples, report = result
    npz_folder.write(samples, Path(target))
    facts_read: dict[str, Any] = REPORT.dump_python(report, mode="json")
    return facts_read


def _unpacked(file: Path, name: str) -> Path:
    """The file, or the one table in a gzip or zip, unpacked next to it. Raises BadInput."""
    with file.open("rb") as stream:
        magic = stream.read(4)
    if magic[:2] == GZIP:
        with report_damage(name), gzip.open(file) as packed:
            return _copy(packed, file.with_name("unpacked"), name)
    if magic != ZIP or is_packed_table(file):
        return file
    with _under_name(file, name), members_of(file) as members:
        inside = [it for it in members.names if it.lower().endswith(TABLES)]
        if len(inside) != 1:
            raise BadInput(
                f"{name} should hold one table ({', '.join(TABLES)}). Found:"
                f" {', '.join(map(file_name, inside[:5])) or members.some}. If it holds documents"
                " or images, choose 'Documents or images' above the file."
            )
        with members.open(inside[0]) as packed:
            return _copy(packed, file.with_name("unpacked"), name)


def _copy(packed: Any, target: Path, name: str) -> Path:
    """Write the bytes of a stream to a file. Raises BadInput if there are too many."""
    size = 0
    with target.open("wb") as file:
        while some := packed.read(1 << 20):
            size += len(some)
            _check_bytes(size, name)
            file.write(some)
    return target


def _check_size(file: Path, name: str) -> None:
    """Raise BadInput if an archive unpacks to more than a page can hold."""
    if file.suffix in (".zip", ".tgz", ".tar"):
        with members_of(file) as members:
            _check_bytes(members.size, name)


def _check_bytes(size: int, name: str) -> None:
    if size > LARGEST:
        raise BadInput(
            f"{name} unpacks to more than {LARGEST >> 20} MB. Use `{program()}` for large files."
        )


@contextmanager
def _under_name(file: Path, name: str) -> Iterator[None]:
    """Report errors under the name of the uploaded file."""
    try:
        yield
    except BadInput as error:
        raise BadInput(str(error).replace(file.name, file_name(name))) from error
