"""The data folder: one compressed npz per data set, written aside and renamed, without pickles."""

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

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import cache_folder, data_folder, usable, workplace
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, Texts, is_sparse

UPLOADS = "dpmf-uploads-"  # the first part of the name of the uploads' folder
FORMAT = 3
# the format since which users' keys follow from canonical ids
KEYS_BY_CANONICAL_IDS = 3
LEAST_OF_SAMPLES = 2  # the oldest format of private samples that is read
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    OSError,
)
COMMON = ("name", "public", "assumptions", "titles", "origin")  # fields stored as JSON
RATING_FACTS = (*COMMON, "n_users", "n_items", "bounds", "labels")
SAMPLE_FACTS = (*COMMON, "vocabulary", "image", "n_people")


def place(id: str) -> Path:  # noqa: A002  # the catalogue's word
    """The file of a data set: the imported one, or else the downloaded one."""
    imported = data_folder() / f"{id}.npz"
    if imported.is_file():
        return imported
    return cache_folder() / imported.name


def is_own(data_id: str) -> bool:
    """Whether a data set's id is the path of an uploaded file."""
    return UPLOADS in data_id and any(
        part.startswith(UPLOADS) for part in Path(os.path.normpath(data_id)).parts[:-3]
    )


def save(id: str, data: Ratings | Samples, folder: Path) -> None:  # noqa: A002
    """Store a data set under an id in the data folder or the cache, replacing any other.

    A process that reads meanwhile finds the old file or the new one.
    """
    target = usable(folder) / f"{id}.npz"
    handle, aside = tempfile.mkstemp(
        dir=workplace(folder),
        prefix=f"{id}-",
        suffix=".npz",
    )
    os.close(handle)
    try:
        write(data, Path(aside))
        Path(aside).replace(target)
        if (other := place(id)) != target:
            other.unlink()
    finally:
        Path(aside).unlink(missing_ok=True)


def write(data: Ratings | Samples, file: Path) -> None:
    """Write a data set to a file for `read_file`."""
    if isinstance(data, Ratings):
        facts, arrays = _of_ratings(data)
        names: tuple[str, ...] = RATING_FACTS
    else:
        facts, arrays = _of_samples(data)
        names = SAMPLE_FACTS
    facts |= {"format": FORMAT, **{name: getattr(data, name) for name in names}}
    content = json.dumps(facts).encode()
    with file.open("wb") as stream:
        np.savez_compressed(
            stream,
            facts=np.frombuffer(content, np.uint8),
            **{name: array for name, array in arrays.items() if array is not None},
        )
        stream.flush()
        os.fsync(stream.fileno())


def _of_ratings(ratings: Ratings) -> tuple[dict[str, Any], dict[str, Any]]:
    features = ratings.item_features
    arrays = {
        "per_user": ratings.user_counts.astype(np.int32),
        "items": _small(ratings.items),
        "values": ratings.values,
        "order": None if ratings.order is None else _small(ratings.order),
        "user_keys": ratings.user_keys,
        "features": None if features is None else features.values,
    }
    return ({} if features is None else {"features": features.names}), arrays


def _of_samples(samples: Samples) -> tuple[dict[str, Any], dict[str, Any]]:
    X: Any = samples.X
    texts = samples.texts
    facts = {
        "samples": samples.unit,
        "shape": X.shape,
        "words": None if texts is None else texts.words,
    }
    arrays: dict[str, Any] = {"people": samples.people}
    if is_sparse(X):
        arrays |= {"data": X.data, "indices": _small(X.indices)}
        arrays["indptr"] = X.indptr.astype(np.int64)
    else:
        arrays["dense"] = X
    if texts is not None:
        arrays |= {"ids": _small(texts.ids), "starts": texts.starts}
    return facts, arrays


def _small(array: Array) -> Array:
    """Whole numbers in the smallest type that holds them, which halves the time to read."""
    fits = len(array) and array.min() >= 0
    if fits:
        return array.astype(np.min_scalar_type(int(array.max())))
    return array


@functools.lru_cache(64)
def _facts(path: Path, stamp: float) -> dict[str, Any]:
    """The facts about a stored data set, from its file with this stamp."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts: dict[str, Any] = json.loads(arrays["facts"].tobytes())
            if facts["public"]:
                return facts
            return facts | {
                "n_ratings": len(arrays["values"]) if "values" in arrays else 0
            }
    except DAMAGE:
        return {}  # loading reports the damage


def _facts_of(id: str) -> dict[str, Any]:  # noqa: A002
    path = place(id)
    if path.is_file():
        return _facts(path, path.stat().st_mtime)
    return {}


def is_published(id: str) -> bool:  # noqa: A002
    """Whether the whole published set is stored under an id."""
    return bool(_facts_of(id).get("public"))


def current_entry(entry: Entry | SampleEntry) -> Entry | SampleEntry:
    """The entry as what is stored under its id: private data may have a published name."""
    if entry.kind == "simulated":
        facts = {}
    else:
        facts = with_tuples(_facts_of(entry.id))
    if facts.get("public", True):
        return entry
    names = ["public", "assumptions"]
    if isinstance(entry, Entry):
        names += ["n_users", "n_items", "n_ratings", "bounds"]
    else:
        names += ["n_samples", "n_features", "image", "n_people"]
        facts["n_samples"], facts["n_features"] = facts["shape"]
    changes: dict[str, Any] = {name: facts.get(name) for name in names}
    return replace(entry, **changes)


def read_file(file: Path, name: str) -> Ratings | Samples:
    """Read the data set in a file, refusing pickles.

    Raises BadInput if it is missing, damaged, or private and from a version with other keys.
    """
    try:
        with np.load(file, allow_pickle=False) as archive:
            facts = with_tuples(json.loads(archive["facts"].tobytes()))
            if not facts["public"]:
                _refuse_older(facts, name)
            arrays = {name: archive[name] for name in archive.files}
            if "samples" in facts:
                return _samples(facts, arrays)
            return _ratings(facts, arrays)
    except BadInput:
        raise
    except DAMAGE as error:
        raise BadInput(
            f"The copy of {name} is missing or damaged. Fetch, import or upload it again."
        ) from error


def _refuse_older(facts: dict[str, Any], name: str) -> None:
    """Raise BadInput on private data with older keys of the users, which draw other samples."""
    if "samples" in facts:
        least = LEAST_OF_SAMPLES
    else:
        least = KEYS_BY_CANONICAL_IDS
    if facts["format"] < least:
        raise BadInput(
            f"An earlier version of dpmf stored {name}, with other keys of its users. Import or"
            " upload the file again; the account of the file stays."
        )


def unpacked_size(file: Path) -> int:
    """The bytes of all arrays in a file. Raises BadInput."""
    try:
        with zipfile.ZipFile(file) as archive:
            return sum(member.file_size for member in archive.infolist())
    except DAMAGE as error:
        raise BadInput("The arrays are damaged. Upload the file again.") from error


def read_untrusted(file: Path, name: str) -> Ratings | Samples:
    """Read a data set that a child process wrote. Raises BadInput.

    The child may have been taken over by the file that it read, so the arrays must fit together:
    compiled kernels check no index.
    """
    try:
        data = read_file(file, name)
        is_sound = _fits_together(data)
    except (*DAMAGE, IndexError, MemoryError) as error:
        raise BadInput(
            f"The copy of {name} is missing or damaged. Upload it again."
        ) from error
    if not is_sound:
        raise BadInput(f"The copy of {name} is damaged. Upload it again.")
    return data


def _fits_together(data: Ratings | Samples) -> bool:
    data.check_domain()
    if isinstance(data, Ratings):
        names = (data.labels or (), data.titles or ())
        has_times = data.order is None or len(data.order) == len(data)
        return has_times and all(len(texts) in (0, data.n_items) for texts in names)
    people = data.people
    if people is not None and not (
        people.shape == (len(data),) and _lie_below(people, data.n_people or 0)
    ):
        return False
    texts = data.texts
    return texts is None or (
        _lie_below(texts.ids, len(texts.words))
        and bool(np.all(np.diff(texts.starts) >= 0))
    )


def _lie_below(indices: npt.NDArray[np.integer[Any]], size: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < size)


def with_tuples(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts of JSON or TOML, with tuples instead of lists."""
    lists = {
        name: tuple(fact) for name, fact in facts.items() if isinstance(fact, list)
    }
    return facts | lists


def _ratings(facts: dict[str, Any], arrays: dict[str, Any]) -> Ratings:
    features = None
    if "features" in facts:
        features = ItemFeatures(
            facts["features"], arrays["features"].astype(np.float32)
        )
    return Ratings(
        np.repeat(np.arange(facts["n_users"], dtype=np.int32), arrays["per_user"]),
        arrays["items"].astype(np.int32),
        arrays["values"].astype(np.float32),
        order=arrays["order"].astype(np.int64) if "order" in arrays else None,
        item_features=features,
        user_keys=arrays.get("user_keys"),
        **{name: facts[name] for name in RATING_FACTS if name in facts},
    )


def _samples(facts: dict[str, Any], arrays: dict[str, Any]) -> Samples:
    X: Any = arrays.get("dense")
    if X is None:
        from scipy.sparse import csr_array  # needed for documents only

        rows = arrays["data"], arrays["indices"].astype(np.int32), arrays["indptr"]
        X = csr_array(rows, shape=facts["shape"])
    texts = None
    if facts["words"] is not None:
        texts = Texts(facts["words"], arrays["ids"].astype(np.int32), arrays["starts"])
    return Samples(
        X,
        unit=facts["samples"],
        texts=texts,
        people=arrays.get("people"),
        **{name: facts[name] for name in SAMPLE_FACTS if name in facts},
    )
