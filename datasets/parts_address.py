"""Ratings in parts at an address of fsspec, `s3://bucket/own`: for the command line and Python,
never for pages. There lies what `import --partitioned` made: the manifest and a file for each part.

Whoever is given the address reads the parts there: this process, or each worker its own.
"""

import functools
import hashlib
import io
import re
from typing import Any
from urllib.parse import urlsplit

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.errors import BadInput
from dpmf_datasets import parts_folder
from dpmf_datasets.parts_folder import MANIFEST, Manifest, file_of

ADDRESS = re.compile(r"[a-z][a-z0-9]*(::[a-z][a-z0-9]*)*://", re.I)


def is_address(text: str) -> bool:
    """Whether it is an address of fsspec, which databases have not."""
    if not ADDRESS.match(text):
        return False
    try:
        from fsspec.registry import (  # type: ignore[import-untyped]  # for addresses alone
            known_implementations,
        )
    except ImportError:
        return False
    return text.partition(":")[0].lower() in known_implementations


def stamp(address: str) -> float:
    """Changes when the manifest does."""
    digest = hashlib.sha256(_content(address, MANIFEST)).hexdigest()
    return float(int(digest[:12], 16))


def read(address: str) -> PartitionedRatings:
    """The ratings at an address. Raises BadInput where it cannot be read or holds no manifest; each
    part is checked when it is read.
    """
    content = _content(address, MANIFEST)
    manifest = parts_folder.manifest_in(content.decode(errors="replace"), without_query(address))
    return parts_folder.of_parts(_PartsThere(address, manifest), manifest)


def without_query(address: str) -> str:
    """Without what stands after a question mark, which may be a key to it."""
    return address.partition("?")[0][:120]


class _PartsThere(parts_folder.ParquetParts):
    """Parts that are fetched when asked for and not kept."""

    def __init__(self, address: str, manifest: Manifest) -> None:
        super().__init__(parts_folder.root(), manifest)
        self._address = address

    def _columns(self, part: int) -> dict[str, npt.NDArray[Any]]:
        content = _content(self._address, file_of(self._folder, part).name)
        if hashlib.sha256(content).hexdigest() != self._manifest.parts[part]:
            raise BadInput(
                f"A part at {without_query(self._address)} is not the one that its manifest names."
                " Copy the whole folder there again."
            )
        try:
            table = pyarrow.parquet.read_table(io.BytesIO(content))
        except pa.ArrowException as error:
            raise BadInput(
                f"A part at {without_query(self._address)} cannot be read ({type(error).__name__})."
                " Copy the whole folder there again."
            ) from error
        return {name: table[name].to_numpy() for name in table.column_names}


def _content(address: str, name: str) -> bytes:
    """A file at an address. Raises BadInput."""
    files, folder = _file_system(address)
    try:
        return bytes(files.cat_file(f"{folder.rstrip('/')}/{name}"))
    except FileNotFoundError as error:
        raise BadInput(
            f"There is no {name} at {without_query(address)}. Copy there what `import NAME PATH"
            " --partitioned` made in the data folder (parts/NAME), and name that folder."
        ) from error
    except Exception as error:  # each kind of place has errors of its own
        raise BadInput(
            f"{without_query(address)} cannot be read: {type(error).__name__}. See that this"
            " machine, and each worker, may read it."
        ) from error


@functools.lru_cache(4)
def _file_system(address: str) -> tuple[Any, str]:
    """Where it is, and the path there. Raises BadInput."""
    import fsspec  # type: ignore[import-untyped]

    if urlsplit(address).password is not None:
        raise BadInput(
            "An address with a password would be kept with every run. Leave it out of the address"
            " and give it to the driver, e.g. in its environment variables."
        )
    try:
        files, folder = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise BadInput(
            f"{without_query(address)} needs a library that is not installed here: {error}."
        ) from error
    except Exception as error:  # each kind of place has errors of its own
        raise BadInput(f"{without_query(address)} is no address of a folder: {error}.") from error
    return files, folder
