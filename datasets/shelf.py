"""The data directory: one compressed npz a data set, written aside and renamed, never a pickle."""

import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pooch

from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput

FORMAT = 1


def home() -> Path:
    """Where data sets are kept: DPMF_DATA, or the user's cache folder."""
    return Path(os.environ.get("DPMF_DATA") or pooch.os_cache("dpmf")).expanduser()


def writable_home() -> Path:
    """The data directory, made if need be. Raises BadInput when nothing can be written there."""
    try:
        home().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"The data directory {home()} cannot be made ({error.strerror}). Set DPMF_DATA to a folder that can be written.") from error
    if not os.access(home(), os.W_OK):
        raise BadInput(f"The data directory {home()} cannot be written. Set DPMF_DATA to a folder that can.")
    return home()


def place(id: str) -> Path:  # noqa: A002  # the word of the catalogue
    return home() / f"{id}.npz"


def save(id: str, ratings: Ratings) -> None:  # noqa: A002
    """Keeps ratings under an id; whoever reads meanwhile sees the old file or the new one."""
    folder = writable_home()
    facts = {
        "format": FORMAT, "n_users": ratings.n_users, "n_items": ratings.n_items, "bounds": ratings.bounds, "name": ratings.name,
        "public": ratings.public, "assumptions": ratings.assumptions, "titles": ratings.titles,
    }  # fmt: skip
    arrays: dict[str, Any] = {"per_user": np.diff(ratings.by_user).astype(np.int32), "items": _small(ratings.items), "values": ratings.values}
    if ratings.order is not None:
        arrays |= {"order": _small(ratings.order)}
    handle, aside = tempfile.mkstemp(dir=folder, prefix=f".{id}-", suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(place(id))
    finally:
        Path(aside).unlink(missing_ok=True)


def read(id: str) -> Ratings:  # noqa: A002
    """The ratings kept under an id. Raises BadInput when the file is damaged."""
    try:
        with np.load(place(id), allow_pickle=False) as kept:
            facts = json.loads(kept["facts"].tobytes())
            users = np.repeat(np.arange(facts["n_users"], dtype=np.int32), kept["per_user"])
            order = kept["order"].astype(np.int64) if "order" in kept else None
            items, values = kept["items"].astype(np.int32), kept["values"].astype(np.float32)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, OSError) as error:
        raise BadInput(f"The copy of {id} in {place(id)} is damaged. Fetch or import it again.") from error
    low, high = facts["bounds"]
    titles = None if facts["titles"] is None else tuple(facts["titles"])
    return Ratings(
        users, items, values, facts["n_users"], facts["n_items"], (low, high), order, titles, facts["name"], facts["public"], tuple(facts["assumptions"])
    )  # fmt: skip


def _small(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same whole numbers in the smallest type that holds them: the file is read in half the time."""
    return array.astype(np.min_scalar_type(int(array.max()))) if len(array) and array.min() >= 0 else array
