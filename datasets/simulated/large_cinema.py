"""Large cinemas: the simulated cinema with any number of people, made in partitions when read.

They take no disk space. People are made in blocks. A block's stream follows from the seed and its
number alone, so a person's ratings do not depend on other blocks. What a person sees is drawn by
genre, then by popularity, so films of a favourite genre come up more often.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmf_core.base.arrays import Doubles, Floats, Numbers
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import (
    USERS_OF_A_PART,
    LazyParts,
    Part,
    PartitionedRatings,
    usual_parts,
)
from dpmf_core.data.ratings import Ratings
from dpmf_datasets.simulated.cinema import BOUNDS, GENRES, KINSHIP, films_of, rounded

VERSION = 1  # of the generator: part of every fingerprint
N_ITEMS = 10_000
AT_ONCE = 4_096  # people of a block
SLOTS = 1 << 16  # of a genre's popularity: each film has as many as its share
# films that a person sees: mean and bounds
MEAN_FILMS = 108.0
LEAST = 5
MOST = 1_000
SPREAD = 0.95  # of the logarithm of activity, as in the small cinema


@dataclass(frozen=True)
class Films:
    """The facts about films that all people of a cinema share.

    Attributes
    ----------
    character : float32 (n_items, tastes)
        The character of each film.
    level : float32 (n_items,)
        The rating of each film without taste.
    titles : tuple of str
        The titles of the films.
    features : ItemFeatures
        The genres of the films.
    slots : int16 (genres, SLOTS)
        Films, each in proportion to its share of a genre's visits.
    shares : float64 (genres,)
        The share of each genre in all visits.
    """

    character: Floats
    level: Floats
    titles: tuple[str, ...]
    features: ItemFeatures
    slots: npt.NDArray[np.int16]
    shares: Doubles

    @classmethod
    def of(cls, seed: int) -> "Films":
        random = np.random.default_rng(np.random.SeedSequence([seed, 1896, 1]))
        character, titles, genres = films_of(N_ITEMS, random)
        quality = random.normal(0, 1, N_ITEMS)
        popularity = np.exp(0.16 * quality + random.normal(0, 0.9, N_ITEMS))
        main = character[:, : len(GENRES)].argmax(axis=1)
        slots = np.empty((len(GENRES), SLOTS), np.int16)
        for genre in range(len(GENRES)):
            inside = np.flatnonzero(main == genre)
            ends = np.cumsum(popularity[inside]) / popularity[inside].sum()
            places = np.searchsorted(ends, (np.arange(SLOTS) + 0.5) / SLOTS)
            slots[genre] = inside[np.minimum(places, len(inside) - 1)]
        return cls(
            character.astype(np.float32),
            (3.42 + 0.4 * quality).astype(np.float32),
            titles,
            ItemFeatures(tuple(GENRES), genres),
            slots,
            np.bincount(main, popularity, len(GENRES)) / popularity.sum(),
        )


def ratings_of(
    block: int, n_users: int, films: Films, seed: int
) -> tuple[Numbers, Numbers, Floats]:
    """Users from 0, items and values (n_ratings,) of a block's first `n_users` people.

    They are sorted by user and item.
    """
    random = np.random.Generator(
        # a fast generator
        np.random.SFC64(np.random.SeedSequence([seed, 1896, 2, block]))
    )
    taste = (
        random.standard_normal((AT_ONCE, films.character.shape[1]), np.float32) * 0.9
    )
    kin = random.standard_normal((AT_ONCE, 2), np.float32) * 0.5
    taste[:, : len(GENRES)] += kin @ KINSHIP.T.astype(np.float32)
    active = np.exp(SPREAD * random.standard_normal(AT_ONCE) - SPREAD**2 / 2)
    n_films = np.clip(np.rint(MEAN_FILMS * active), LEAST, MOST).astype(np.int64)
    weights = films.shares * np.exp(0.3 * taste[:, : len(GENRES)])
    mood = random.normal(0, 0.38, AT_ONCE).astype(np.float32)
    whole = random.random(AT_ONCE) < 0.6
    of_genre = random.multinomial(n_films, weights / weights.sum(axis=1, keepdims=True))
    users = np.repeat(np.arange(AT_ONCE, dtype=np.int32), n_films)
    genres = np.repeat(np.tile(np.arange(len(GENRES)), AT_ONCE), of_genre.ravel())
    items = films.slots[
        genres, random.integers(SLOTS, size=len(users), dtype=np.uint16)
    ]
    luck = random.standard_normal(len(users), np.float32) * np.float32(0.77)
    pairs = np.sort(users * np.int32(N_ITEMS) + items)
    first = np.append(True, pairs[1:] != pairs[:-1])  # each film is rated once
    users, film_ids = np.divmod(pairs[first], np.int32(N_ITEMS))
    liking = np.einsum("ij,ij->i", taste[users], films.character[film_ids])
    score = mood[users] + films.level[film_ids] + liking + luck[: len(users)]
    values = rounded(score, users, whole).astype(np.float32)
    selection = slice(0, int(np.searchsorted(users, n_users)))
    return users[selection], film_ids[selection], values[selection]


@dataclass(frozen=True)
class CinemaParts(LazyParts):
    """Partitions of consecutive people, made when used and not kept."""

    n_users: int
    seed: int
    name: str
    films: Films

    def __len__(self) -> int:
        return usual_parts(self.n_users)

    def place_of(self, user: int) -> int:
        return user // USERS_OF_A_PART

    def part(self, place: int) -> Part:
        first = place * USERS_OF_A_PART
        last = min(first + USERS_OF_A_PART, self.n_users)
        blocks = []
        for start in range(first, last, AT_ONCE):
            some = min(AT_ONCE, last - start)
            users, items, values = ratings_of(
                start // AT_ONCE, some, self.films, self.seed
            )
            blocks.append((users + np.int32(start - first), items, values))
        users, items, values = (
            np.concatenate(column) for column in zip(*blocks, strict=True)
        )
        rows = Ratings(
            users,
            items,
            values,
            last - first,
            N_ITEMS,
            BOUNDS,
            name=self.name,
            public=True,
            item_features=self.films.features,
        )
        return Part(np.arange(first, last), rows)


def large_cinema(entry: Entry, seed: int) -> PartitionedRatings:
    """The cinema of an entry, drawn from a seed of at least 0."""
    films = Films.of(seed)
    facts = (entry.id, entry.n_users, N_ITEMS, seed, VERSION)
    return PartitionedRatings(
        CinemaParts(entry.n_users, seed, entry.id, films),
        entry.n_users,
        N_ITEMS,
        BOUNDS,
        hashlib.sha256(repr(facts).encode()).hexdigest(),
        films.titles,
        entry.id,
        public=True,
        item_features=films.features,
    )
