"""What the catalogue says of a data set, known before anything is read."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Listed:
    """What is said of every data set. public: published or simulated. assumptions: what was read off private data, and is taken as public."""

    id: str
    title: str
    kind: Literal["simulated", "download", "file"]
    words: str
    licence: str
    citation: str
    size_mb: float
    home: str
    public: bool = True
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry(Listed):
    """Ratings. Counts and bounds are declared: published by its authors, or chosen by the generator (its number of ratings is then approximate)."""

    n_users: int
    n_items: int
    n_ratings: int
    bounds: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class SampleEntry(Listed):
    """Documents or images: declared counts, (height, width) of images, and how many parts its papers look for."""

    holds: Literal["documents", "images"]
    n_samples: int
    n_features: int
    image: tuple[int, int] | None = None
    n_components: int = 8
