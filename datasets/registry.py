"""Every data set with a name: how it is made, read and downloaded; catalogue.toml has its facts."""

import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data import Data, Ratings
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.rating_bounds import Bounds
from dpmf_core.data.report import Report
from dpmf_core.data.samples import Samples
from dpmf_datasets import declared_worlds, sample_sets
from dpmf_datasets.declared_worlds import DeclaredWorld
from dpmf_datasets.npz_folder import with_tuples
from dpmf_datasets.simulated.cinema import BOUNDS, cinema
from dpmf_datasets.simulated.faces import faces
from dpmf_datasets.simulated.low_rank import lowrank, rankone
from dpmf_datasets.simulated.news import news

FILE = Path(__file__).with_name("catalogue.toml")
CATALOGUE: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))
MAKERS: dict[str, Callable[..., Data]] = {
    "cinema": lambda entry, seed: cinema(entry.n_users, entry.n_items, seed=seed),
    "cinema-small": lambda entry, seed: cinema(
        entry.n_users,
        entry.n_items,
        density=0.2,
        seed=seed,
    ),
    "lowrank": lambda entry, seed: lowrank(entry.n_users, entry.n_items, seed=seed),
    "rankone": lambda entry, seed: rankone(  # about 80 ratings of each user
        entry.n_users,
        entry.n_items,
        p=80 / entry.n_items,
        seed=seed,
    ),
    "news": lambda entry, seed: news(seed),
    "faces": lambda entry, seed: faces(seed),
    "digits": lambda entry, seed: sample_sets.digits(),
}
ReadFile = Callable[[Any, Path], tuple[Data, Report]]


def _published(module: str, entry: Entry, path: Path) -> tuple[Data, Report]:
    """Published ratings, by a module that is loaded with the readers of tables."""
    with extra("files"):
        reader = importlib.import_module(f"dpmf_datasets.published.{module}")
    ratings: tuple[Data, Report] = reader.read(entry, path)
    return ratings


READERS: dict[str, ReadFile] = {
    "movielens": partial(_published, "movielens"),
    "jester": partial(_published, "jester"),
    "netflix": partial(_published, "netflix"),
    **sample_sets.READERS,
}


@dataclass(frozen=True)
class NamedData:
    """A data set with a name.

    Attributes
    ----------
    entry : Entry or SampleEntry
        Its entry in the catalogue.
    make : callable or None
        Makes a simulated set from (entry, seed).
    read : callable or None
        Reads the official files, from (entry, path).
    fetch : callable or None
        Downloads samples, from the path of a temporary folder.
    url : str
        The address of the official archive, which `read` reads.
    md5 : str
        The checksum of that archive, as its authors publish it.
    """

    entry: Entry | SampleEntry
    make: Callable[..., Data] | None = None
    read: ReadFile | None = None
    fetch: Callable[[str], Samples] | None = None
    url: str = ""
    md5: str = ""


def entry_from(facts: Mapping[str, Any], kind: type[Any] = Entry) -> Any:
    """The entry with these facts, and the facts of the entry that they are `like`."""
    whole = {**CATALOGUE["like"].get(facts.get("like", ""), {}), **facts}
    names = {field.name for field in fields(kind)} & set(whole)
    return kind(**with_tuples({name: whole[name] for name in names}))


def _source(facts: dict[str, Any]) -> NamedData:
    return NamedData(
        entry_from(facts, Entry if "n_users" in facts else SampleEntry),
        make=MAKERS.get(facts.get("make", "")),
        read=READERS.get(facts.get("read", "")),
        fetch=sample_sets.FETCHERS.get(facts.get("fetch", "")),
        url=facts.get("url", ""),
        md5=facts.get("md5", ""),
    )


SOURCES = {
    facts["id"]: _source(facts)
    for facts in (*CATALOGUE["ratings"], *CATALOGUE["samples"])
}
# ratings that are made partition by partition, for commands and Python
LARGE: dict[str, Entry] = {
    facts["id"]: entry_from(facts) for facts in CATALOGUE["partitioned"]
}


def source_of(id: str) -> NamedData:  # noqa: A002
    """A data set by its name. Raises BadInput."""
    if id not in SOURCES:
        raise BadInput(
            f"There is no data set '{id}'. Choose one of {', '.join(SOURCES)}, or give the path of"
            " a ratings table."
        )
    return SOURCES[id]


# ---- the simulated cinema in any shape: cinema?users=2000&items=200&density=0.05&bounds=1,5 ------
# A stand-in for private data has their public shape, and nothing of their rows.

HEAD = "cinema?"
MOST_CELLS = 200_000_000  # users x items
LEAST = 10
DENSEST = 0.9


def is_stand_in(data_id: str) -> bool:
    """Whether an id names a simulated set of a declared shape."""
    return data_id.startswith((HEAD, declared_worlds.HEAD))


def stand_in_id(n_users: int, n_items: int, density: float, bounds: Bounds) -> str:
    """The id of the stand-in for data of a shape.

    For a large catalogue the stand-in has as many items as can be simulated.

    Parameters
    ----------
    n_users, n_items : int
        The numbers of users and items.
    density : float
        The share of (user, item) pairs that are rated.
    bounds : tuple of float
        The lowest and the highest rating.

    Returns
    -------
    str
        The id.
    """
    items = max(LEAST, min(n_items, MOST_CELLS // max(n_users, 1)))
    low, high = bounds
    return (
        f"{HEAD}users={max(n_users, LEAST)}&items={items}"
        f"&density={min(max(density, 1e-4), DENSEST):.4g}&bounds={low:.12g},{high:.12g}"
    )


def stand_in_entry(data_id: str) -> Entry:
    """The catalogue entry of a simulated set of a declared shape. Raises BadInput."""
    name = "Synthetic data"
    if data_id.startswith(declared_worlds.HEAD):
        world = DeclaredWorld.parse(data_id)
        users = world.n_users
        items = world.n_items
        bounds = world.bounds
        density = world.each / items
        name = f"Simulated world {world.number}"
    else:
        users, items, density, bounds = _shape_in(data_id)
    facts = {
        "like": "cinema",
        "id": data_id,
        "title": f"{name} ({users:,} people, {items:,} items)",
        "words": "Synthetic ratings of a declared shape.",
        "n_users": users,
        "n_items": items,
        "n_ratings": round(users * items * density),
        "bounds": bounds,
    }
    entry: Entry = entry_from(facts)
    return entry


def stand_in(data_id: str, seed: int) -> Ratings:
    """A world's ratings, or the cinema's, stretched to the declared bounds. Raises BadInput."""
    if data_id.startswith(declared_worlds.HEAD):
        return DeclaredWorld.parse(data_id).ratings
    users, items, density, (low, high) = _shape_in(data_id)
    data = cinema(
        users,
        items,
        density=density,
        seed=seed,
    )
    first, last = BOUNDS
    values = low + (data.values - first) * ((high - low) / (last - first))
    return replace(
        data,
        values=values.astype("float32").clip(low, high),
        bounds=(low, high),
        name=data_id,
    )


def _shape_in(data_id: str) -> tuple[int, int, float, Bounds]:
    """Users, items, density and bounds. Raises BadInput."""
    facts = dict(parse_qsl(data_id.removeprefix(HEAD)))
    try:
        users = int(facts["users"])
        items = int(facts["items"])
        density = float(facts["density"])
        low, high = map(float, facts["bounds"].split(","))
    except (KeyError, ValueError):
        raise _unknown_shape(data_id) from None
    is_size = min(users, items) >= LEAST and users * items <= MOST_CELLS
    is_scale = -1e9 <= low < high <= 1e9
    if len(facts) != 4 or not (is_size and is_scale and 0 < density <= DENSEST):
        raise _unknown_shape(data_id)
    return users, items, density, (low, high)


def _unknown_shape(data_id: str) -> BadInput:
    return BadInput(
        f"A simulated shape must be written {HEAD}users=2000&items=200&density=0.05&bounds=1,5:"
        f" from {LEAST} users and items, at most {MOST_CELLS:,} pairs of them, a density above 0"
        f" and at most {DENSEST}, and bounds with the lower first. Got '{data_id[:100]}'."
    )
