"""What the catalogue says of a data set, known before anything is read."""

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["simulated", "download", "file"]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """What is said of every data set. public: published or simulated. assumptions: what was read off private data, and is taken as public."""

    id: str
    title: str
    kind: Kind
    words: str
    licence: str
    citation: str
    size_mb: float
    home: str
    public: bool = True
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"The kind of the data set '{self.id}' must be one of {', '.join(get_args(Kind))}. Got '{self.kind}'.")


@dataclass(frozen=True, kw_only=True)
class Entry(Listed):
    """Ratings. Counts and bounds are declared: published by its authors, or chosen by the generator (its number of ratings is then approximate)."""

    n_users: int
    n_items: int
    n_ratings: int
    bounds: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class SampleEntry(Listed):
    """Documents or images: declared counts, (height, width) of images, and how many parts its papers look for.

    n_people: where each row is known to be somebody's, and the person is the privacy unit. each: rows of one person at most, as far as is published.
    """

    holds: Literal["documents", "images"]
    n_samples: int
    n_features: int
    image: tuple[int, int] | None = None
    n_components: int = 8
    n_people: int | None = None
    each: int | None = None

    @property
    def unit(self) -> str:
        """What is protected: one document or image, or a person with all of hers."""
        return self.holds.removesuffix("s") if self.n_people is None else "person"
