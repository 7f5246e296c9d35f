"""The concentration of ratings on few items, and how sampling k per user reduces it.

Chien et al. 2021, Fig. 2. Computed on raw data, never released.
"""

from dataclasses import dataclass

import numpy as np

from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings, rank_within_user


@dataclass(frozen=True)
class Share:
    """One point of a curve: the share of ratings on the most rated `items` (a share).

    `selection` says which ratings are counted.
    """

    selection: str
    items: float
    observations: float


def shares(ratings: Ratings, k: int = 50, points: int = 50) -> list[Share]:
    """Curves for all ratings, for k uniform ones per user, and for each user's k rarest items.

    Rarity is by exact counts here.
    """
    key = keyed_uniform(0, ratings.users, ratings.items)
    counts = ratings.item_counts
    rare = counts[ratings.items] + key
    masks = {
        "all ratings": np.ones(len(ratings), bool),
        f"{k} a user, uniform": rank_within_user(ratings, key) < k,
        f"{k} a user, adaptive": rank_within_user(ratings, rare) < k,
    }
    tops = np.unique(np.linspace(0, ratings.n_items, points + 1).astype(int))
    out = []
    for name, mask in masks.items():
        sizes = np.sort(np.bincount(ratings.items[mask], minlength=ratings.n_items))[
            ::-1
        ]
        cumulative = np.concatenate([[0], np.cumsum(sizes)]) / max(int(sizes.sum()), 1)
        out += [
            Share(name, float(top / ratings.n_items), float(cumulative[top]))
            for top in tops
        ]
    return out
