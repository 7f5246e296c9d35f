"""The data directory: one compressed npz a data set, written aside and renamed, never a pickle."""

import functools
import json
import os
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, Texts, is_sparse
from dpmf_core.errors import BadInput
from dpmf_core.paths import cache_folder, data_folder, usable, workplace

FORMAT = 2
FactsAndArrays = tuple[dict[str, Any], dict[str, Any]]  # facts and arrays


def place(id: str) -> Path:  # noqa: A002  # the word of the catalogue
    """The file of a data set: what the user imported, or else what was downloaded."""
    imported = data_folder() / f"{id}.npz"
    return imported if imported.is_file() else cache_folder() / imported.name


def save(id: str, data: Ratings | Samples, folder: Path) -> None:  # noqa: A002
    """Keep a data set under an id in the data folder or the cache, in place of any other.

    A process that reads meanwhile finds the old file or the new one.
    """
    target = usable(folder) / f"{id}.npz"
    handle, aside = tempfile.mkstemp(dir=workplace(folder), prefix=f"{id}-", suffix=".npz")
    os.close(handle)
    try:
        write(data, Path(aside))
        Path(aside).replace(target)
        if (other := place(id)) != target:
            other.unlink()
    finally:
        Path(aside).unlink(missing_ok=True)


def write(data: Ratings | Samples, file: Path) -> None:
    """Write a data set as a file that `read_file` reads."""
    facts, arrays = _of_ratings(data) if isinstance(data, Ratings) else _of_samples(data)
    content = json.dumps({"format": FORMAT, **facts}).encode()
    with file.open("wb") as stream:
        np.savez_compressed(stream, facts=np.frombuffer(content, np.uint8), **arrays)
        stream.flush()
        os.fsync(stream.fileno())


def _of_ratings(ratings: Ratings) -> FactsAndArrays:
    facts = {
        "n_users": ratings.n_users,
        "n_items": ratings.n_items,
        "bounds": ratings.bounds,
        "name": ratings.name,
        "public": ratings.public,
        "assumptions": ratings.assumptions,
        "titles": ratings.titles,
        "origin": ratings.origin,
        "labels": ratings.labels,
    }
    arrays: dict[str, Any] = {
        "per_user": np.diff(ratings.by_user).astype(np.int32),
        "items": _small(ratings.items),
        "values": ratings.values,
    }
    if ratings.order is not None:
        arrays |= {"order": _small(ratings.order)}
    if ratings.user_keys is not None:
        arrays |= {"user_keys": ratings.user_keys}
    if ratings.item_features is not None:
        facts |= {"features": ratings.item_features.names}
        arrays |= {"features": ratings.item_features.values}
    return facts, arrays


def _of_samples(samples: Samples) -> FactsAndArrays:
    facts = {
        "samples": samples.unit,
        "name": samples.name,
        "public": samples.public,
        "assumptions": samples.assumptions,
        "titles": samples.titles,
        "vocabulary": samples.vocabulary,
        "image": samples.image,
        "shape": samples.X.shape,
        "words": None if samples.texts is None else samples.texts.words,
        "origin": samples.origin,
    }
    X = samples.X
    arrays = (
        {"data": X.data, "indices": _small(X.indices), "indptr": X.indptr.astype(np.int64)}
        if is_sparse(X)
        else {"dense": X}
    )
    if samples.texts is not None:
        arrays |= {"ids": _small(samples.texts.ids), "starts": samples.texts.starts}
    if samples.people is not None:
        facts, arrays = facts | {"n_people": samples.n_people}, arrays | {"people": samples.people}
    return facts, arrays


@functools.lru_cache(64)
def _facts(path: Path, stamp: float) -> dict[str, Any]:
    """What is said of a data set that is kept; stamp: of its file."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts: dict[str, Any] = json.loads(arrays["facts"].tobytes())
            return (
                facts
                if facts["public"]
                else facts | {"n_ratings": len(arrays["values"]) if "values" in arrays else 0}
            )
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, OSError):
        return {}  # whoever reads it is told


def is_published(id: str) -> bool:  # noqa: A002
    """Whether the whole published set is kept under an id."""
    path = place(id)
    return path.is_file() and bool(_facts(path, path.stat().st_mtime).get("public"))


def current_entry(entry: Entry | SampleEntry) -> Entry | SampleEntry:
    """The entry as what is kept under its id has it: private data may lie under a published
    name.
    """
    path = place(entry.id)
    if entry.kind == "simulated" or not path.is_file():
        return entry
    facts = _facts(path, path.stat().st_mtime)
    if facts.get("public", True):
        return entry
    common: dict[str, Any] = {"public": False, "assumptions": tuple(facts["assumptions"])}
    if isinstance(entry, Entry):
        counts = {name: facts[name] for name in ("n_users", "n_items", "n_ratings")}
        return replace(entry, **common, **counts, bounds=tuple(facts["bounds"]))
    n, d = facts["shape"]
    return replace(
        entry,
        **common,
        n_samples=n,
        n_features=d,
        image=tuple(facts["image"]) if facts["image"] else None,
        n_people=facts.get("n_people"),
    )


def read(id: str) -> Ratings | Samples:  # noqa: A002
    """The data set kept under an id. Raises BadInput when the file is damaged."""
    return read_file(place(id), id)


def read_file(file: Path, name: str) -> Ratings | Samples:
    """Read the data set in a file. Raises BadInput where it is gone or damaged. No pickles."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            if not facts["public"] and facts["format"] < FORMAT:
                raise ValueError("private ratings without keys of their users")
            if "samples" in facts:
                return _samples(facts, {name: arrays[name] for name in arrays.files})
            users = np.repeat(np.arange(facts["n_users"], dtype=np.int32), arrays["per_user"])
            order = arrays["order"].astype(np.int64) if "order" in arrays else None
            items, values = arrays["items"].astype(np.int32), arrays["values"].astype(np.float32)
            keys = arrays.get("user_keys")
            features = (
                ItemFeatures(tuple(facts["features"]), arrays["features"].astype(np.float32))
                if "features" in facts
                else None
            )
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, OSError) as error:
        raise BadInput(
            f"The copy of {name} is gone or damaged. Fetch, import or upload it again."
        ) from error
    low, high = facts["bounds"]
    titles = None if facts["titles"] is None else tuple(facts["titles"])
    return Ratings(
        users,
        items,
        values,
        facts["n_users"],
        facts["n_items"],
        (low, high),
        order,
        titles,
        facts["name"],
        facts["public"],
        tuple(facts["assumptions"]),
        facts.get("origin", ""),
        None if facts.get("labels") is None else tuple(facts["labels"]),
        features,
        keys,
    )


def _samples(facts: dict[str, Any], arrays: dict[str, Any]) -> Samples:
    X: Any = arrays.get("dense")
    if X is None:
        from scipy.sparse import csr_array  # loaded for documents alone

        X = csr_array(
            (arrays["data"], arrays["indices"].astype(np.int32), arrays["indptr"]),
            shape=tuple(facts["shape"]),
        )
    texts = (
        None
        if facts["words"] is None
        else Texts(tuple(facts["words"]), arrays["ids"].astype(np.int32), arrays["starts"])
    )
    lists: dict[str, Any] = {
        name: None if facts[name] is None else tuple(facts[name])
        for name in ("titles", "vocabulary", "image")
    }
    rest: dict[str, Any] = {**lists, "texts": texts, "origin": facts.get("origin", "")}
    samples = Samples(
        X,
        unit=facts["samples"],
        name=facts["name"],
        public=facts["public"],
        assumptions=tuple(facts["assumptions"]),
        **rest,
    )
    return samples.of_people(arrays["people"], facts["n_people"]) if "people" in arrays else samples


def _small(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same whole numbers in the smallest type that holds them: the file is read in half the
    time.
    """
    return (
        array.astype(np.min_scalar_type(int(array.max())))
        if len(array) and array.min() >= 0
        else array
    )
