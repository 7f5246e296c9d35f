"""What the catalogue says of a data set, known before anything is read."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One data set. Counts and bounds are declared: published by its authors, or chosen by the generator (its number of ratings is then approximate)."""

    id: str
    title: str
    kind: Literal["simulated", "download", "file"]
    words: str
    licence: str
    citation: str
    size_mb: float
    n_users: int
    n_items: int
    n_ratings: int
    bounds: tuple[float, float]
    home: str
