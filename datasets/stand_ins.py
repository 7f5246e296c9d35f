"""The simulated cinema in any shape: `cinema?users=2000&items=200&density=0.05&bounds=1,5`.

A stand-in for private data has their public shape, and nothing of their rows.
"""

from dataclasses import replace
from urllib.parse import parse_qsl

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_datasets.registry import entry_from
from dpmf_datasets.simulated.cinema import BOUNDS, cinema

HEAD = "cinema?"
MOST_CELLS = 200_000_000  # users x items
LEAST, DENSEST = 10, 0.9


def is_stand_in(data_id: str) -> bool:
    """Whether an id names a simulated set of a declared shape."""
    return data_id.startswith(HEAD)


def stand_in_id(n_users: int, n_items: int, density: float, bounds: tuple[float, float]) -> str:
    """The id of the stand-in for data of a shape.

    density: share of (user, item) pairs that are rated. For a large catalogue the stand-in has as
    many items as can be simulated.
    """
    items = max(LEAST, min(n_items, MOST_CELLS // max(n_users, 1)))
    low, high = bounds
    return (
        f"{HEAD}users={max(n_users, LEAST)}&items={items}"
        f"&density={min(max(density, 1e-4), DENSEST):.4g}&bounds={low:.12g},{high:.12g}"
    )


def entry_of(data_id: str) -> Entry:
    """The catalogue entry of a simulated set of a declared shape. Raises BadInput."""
    users, items, density, bounds = _facts(data_id)
    entry: Entry = entry_from(
        {
            "like": "cinema",
            "id": data_id,
            "title": f"Synthetic data ({users:,} people, {items:,} items)",
            "words": "Synthetic ratings of a declared shape.",
            "n_users": users,
            "n_items": items,
            "n_ratings": round(users * items * density),
            "bounds": bounds,
        }
    )
    return entry


def load(data_id: str, seed: int = 0) -> Ratings:
    """The cinema's ratings, stretched to the declared bounds. Raises BadInput."""
    users, items, density, (low, high) = _facts(data_id)
    data = cinema(users, items, density=density, seed=seed, name=data_id)
    first, last = BOUNDS
    values = low + (data.values - first) * ((high - low) / (last - first))
    return replace(data, values=values.astype("float32").clip(low, high), bounds=(low, high))


def _facts(data_id: str) -> tuple[int, int, float, tuple[float, float]]:
    """Users, items, density and bounds. Raises BadInput."""
    facts = dict(parse_qsl(data_id.removeprefix(HEAD)))
    try:
        users, items, density = int(facts["users"]), int(facts["items"]), float(facts["density"])
        low, high = map(float, facts["bounds"].split(","))
        is_shape = min(users, items) >= LEAST and users * items <= MOST_CELLS
        if len(facts) == 4 and is_shape and 0 < density <= DENSEST and -1e9 <= low < high <= 1e9:
            return users, items, density, (low, high)
    except (KeyError, ValueError):
        pass
    raise BadInput(
        f"A simulated shape must be written {HEAD}users=2000&items=200&density=0.05&bounds=1,5:"
        f" from {LEAST} users and items, at most {MOST_CELLS:,} pairs of them, a density above 0"
        f" and at most {DENSEST}, and bounds with the lower first. Got '{data_id[:100]}'."
    )
