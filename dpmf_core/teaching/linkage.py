"""Linking simulated viewers of two sites: rows without names, and reviews with names.

The attack is the simplest of those of Narayanan & Shmatikov, Robust De-anonymization of Large
Sparse Datasets, S&P 2008: keep the rows that agree with everything known.
"""

import functools

import numpy as np
import numpy.typing as npt

VIEWERS = 2_000
FILMS = 300
DAYS = 730
FILMS_SEEN = 40
TARGETS = 400  # viewers who write on the other site
NEVER = -10_000  # the day of a film that was not seen
NAMES = ("Ada", "Bela", "Cem", "Dana", "Emil", "Finn", "Gita", "Hugo", "Ines", "Jan")


@functools.cache
def published_days() -> npt.NDArray[np.int32]:
    """(VIEWERS, FILMS) days on which viewers saw films; `NEVER` for films not seen.

    Films differ in popularity as 1 / (rank + 10).
    """
    rng = np.random.default_rng(0)
    popularity = 1 / (np.arange(FILMS) + 10.0)
    days = np.full((VIEWERS, FILMS), NEVER, np.int32)
    for row in days:
        films = rng.choice(
            FILMS, FILMS_SEEN, replace=False, p=popularity / popularity.sum()
        )
        row[films] = rng.integers(0, DAYS, FILMS_SEEN)
    return days


@functools.cache
def reviews_of_targets(most: int, off: int) -> npt.NDArray[np.int32]:
    """(TARGETS, most, 2): reviewed films, and days that are wrong by at most `off`."""
    rng = np.random.default_rng(1)
    days = published_days()
    reviews = np.empty((TARGETS, most, 2), np.int32)
    for target in range(TARGETS):
        films = rng.choice(np.flatnonzero(days[target] != NEVER), most, replace=False)
        reviews[target, :, 0] = films
        reviews[target, :, 1] = days[target, films] + rng.integers(-off, off + 1, most)
    return reviews


@functools.cache
def candidates(most: int, off: int | None) -> npt.NDArray[np.int64]:
    """How many published rows agree with the first 1, 2, ... reviews.

    Parameters
    ----------
    most
        The largest number of reviews.
    off
        The days by which a review's date may be wrong; None if only the films are known.

    Returns
    -------
    int (TARGETS, most)
        The number of rows that agree.
    """
    days = published_days()
    reviews = reviews_of_targets(most, off or 0)
    counts = np.empty((TARGETS, most), np.int64)
    for target in range(TARGETS):
        agree = np.ones(VIEWERS, bool)
        for place, (film, day) in enumerate(reviews[target]):
            has_seen = days[:, film] != NEVER
            agree &= (
                has_seen
                if off is None
                else has_seen & (np.abs(days[:, film] - day) <= off)
            )
            counts[target, place] = agree.sum()
    return counts


def share_named(most: int, off: int | None) -> list[float]:
    """The share of people with exactly one matching row, by the number of known films."""
    return [float(share) for share in (candidates(most, off) == 1).mean(axis=0)]


def first_found(n_known: int, off: int) -> tuple[str, int]:
    """The first named reviewer with first reviews that agree with exactly one row, and that row."""
    is_found = candidates(n_known, off)[: len(NAMES), n_known - 1] == 1
    return NAMES[is_found.argmax()], int(is_found.argmax())
