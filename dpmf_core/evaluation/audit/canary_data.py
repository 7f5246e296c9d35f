"""Small simulated data sets for audits, in pairs that differ by a canary.

An adversary may choose all data and knows everything except the noise, including public starts. One
data set is ordinary, with one unusual unit. The others exhaust the sensitivities: everyone rates
along one pattern or against it. Every step of a factorisation then keeps that pattern as its
direction, and the canary lies along it. Replays choose the pair that is attacked
(`canaries.AttackTarget.choose`).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpmf_core.algorithms import Algorithm
from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.privacy import VALUE, normal_form

Unit = Literal["user", "rating", "value"]
Others = tuple[Array, Array, Array]  # users, items and values
CanaryRow = tuple[Array, Array]  # items and values
UNITS_IN_ORDER = ("value", "rating", "user")  # each contains the ones before it
UNITS = 300
COLUMNS = 40
BOUNDS = (1.0, 5.0)
# middle and quarter of the range of ratings
MIDDLE = 3.0
QUARTER = 1.0


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets, `absent` without the canary and `present` with it."""

    words: str
    absent: Any
    present: Any

    def __getitem__(self, inside: bool) -> Any:
        if inside:
            return self.present
        return self.absent


def protected_unit(algorithm: Algorithm) -> Unit:
    """The unit of an algorithm's guarantee or claim; samples count as users."""
    guarantee = algorithm.guarantee()
    if guarantee.unit == VALUE:
        return "value"
    if guarantee.unit == "rating":
        return "rating"
    return "user"


def shape(kind: type[Algorithm]) -> Any:
    """The public shape of every data set in which an algorithm of this kind is attacked."""
    return (
        _two_kinds() if kind.task == "samples" else _one_rating("rating")
    ).absent.shape


def check(algorithm: Algorithm, unit: Unit) -> None:
    """Raise BadInput if samples are asked to differ by a rating."""
    if algorithm.task == "samples" and unit != "user":
        raise BadInput(
            f"{algorithm.title} factorises samples and protects a whole sample. Leave the unit out."
        )


def pairs(
    algorithm: Algorithm, unit: Unit, start: np.random.SeedSequence
) -> tuple[Pair, ...]:
    """The ordinary pair first, then pairs for an algorithm whose public start uses `start`.

    Raises
    ------
    BadInput
        If samples are to differ by a rating.
    """
    check(algorithm, unit)
    if algorithm.task == "samples":
        return _two_kinds(), _one_kind(
            np.random.default_rng(start).uniform(
                0, 1, (getattr(algorithm, "n_components", 1), COLUMNS)
            )[0]
        )
    if unit != "user":
        return (_one_rating(unit),)
    along = np.random.default_rng(start).standard_normal(
        (COLUMNS, getattr(algorithm, "rank", 1))
    )[:, 0]
    # equally many of each, so that the mean is mid-range
    signs = np.where(np.argsort(np.argsort(along)) < COLUMNS // 2, -1.0, 1.0)
    deviations = along - along.mean()
    in_turn = np.where(np.arange(COLUMNS) % 2, 2.0, -2.0)
    if _hides_replacement(algorithm):
        return _odd_user(in_turn, "highest and lowest alternately"), _turned_user(
            in_turn
        )
    return (
        _odd_user(in_turn, "highest and lowest alternately"),
        _odd_user(
            signs,
            "a quarter of the range above the middle or below it, along the public start",
        ),
        _two_camps(signs, "by a quarter of the range"),
        _two_camps(2 * signs, "by half the range"),
        _two_camps(
            2 * deviations / np.abs(deviations).max(), "in proportion to the start"
        ),
    )


# ---- ratings -------------------------------------------------------------------------------------


def _ordinary() -> Others:
    """Users, items and values of everyone except the canary."""
    rng = np.random.default_rng(2026)
    taste = MIDDLE + 0.8 * rng.standard_normal((UNITS, 3)) @ rng.standard_normal(
        (3, COLUMNS)
    )
    users, items = np.nonzero(rng.random(taste.shape) < 0.4)
    others = users > 0
    users = users[others]
    items = items[others]
    return users, items, taste[users, items]


def _ratings(others: Others, row: CanaryRow) -> Ratings:
    """The others' ratings, and user 0 with this row."""
    mine, values = row
    users, items, theirs = others
    return Ratings.of(
        np.concatenate([np.zeros(len(mine), int), users]),
        np.concatenate([mine, items]),
        np.concatenate([values, theirs]),
        n_users=UNITS,
        n_items=COLUMNS,
        bounds=BOUNDS,
        public=True,
    )


def _pair(words: str, others: Others, absent: CanaryRow, present: CanaryRow) -> Pair:
    return Pair(words, _ratings(others, absent), _ratings(others, present))


def _everything(pattern: Array) -> CanaryRow:
    """Ratings of every item, `pattern` (n_items,) quarters of the range above the middle."""
    return np.arange(COLUMNS), MIDDLE + QUARTER * pattern


NO_RATINGS = (np.zeros(0, int), np.zeros(0))


def _odd_user(pattern: Array, how: str) -> Pair:
    """The canary rates every item by this pattern."""
    words = f"one more user in an ordinary data set, who rates everything {how}"
    return _pair(words, _ordinary(), NO_RATINGS, _everything(pattern))


def _hides_replacement(algorithm: Algorithm) -> bool:
    """Whether its epsilon also holds for replacing a user; then the canary may replace another."""
    releases = normal_form(algorithm.plan(shape(type(algorithm)), 1.0))
    return bool(releases) and all(leaf.replace_one_factor == 1 for leaf, _ in releases)


def _turned_user(pattern: Array) -> Pair:
    """The canary rates everything, or is replaced by one with the opposite ratings."""
    words = (
        "one user in an ordinary data set, replaced by one with the opposite ratings"
    )
    return _pair(words, _ordinary(), _everything(-pattern), _everything(pattern))


def _one_rating(unit: Unit) -> Pair:
    """The user's other ratings are low, and the canary is high."""
    low, high = BOUNDS
    items = np.array([0, 1, 2, COLUMNS - 1])
    values = np.array([low, low, low, high])
    words = (
        "one more rating in an ordinary data set, the highest, by a user who rates low"
    )
    absent = items[:3], values[:3]
    if unit == "value":
        words = (
            "one rating in an ordinary data set, changed from the lowest to the highest"
        )
        absent = items, np.full(4, low)
    return _pair(words, _ordinary(), absent, (items, values))


def _two_camps(pattern: Array, how: str) -> Pair:
    """Everyone rates every item `pattern` (n_items,) quarters of the range from the middle.

    The canary is one more above.
    """
    camps = np.where(np.arange(1, UNITS) % 2, 1.0, -1.0)
    users, items = (
        part.ravel()
        for part in np.meshgrid(np.arange(1, UNITS), np.arange(COLUMNS), indexing="ij")
    )
    others = users, items, MIDDLE + QUARTER * np.outer(camps, pattern).ravel()
    words = (
        "one more user in a data set of two groups that rate everything along the public start or"
        f" against it, {how}"
    )
    return _pair(words, others, NO_RATINGS, _everything(pattern))


# ---- samples -------------------------------------------------------------------------------------


def _two_kinds() -> Pair:
    """Two kinds of samples that differ only in their features.

    One unusual sample makes the first kind the stronger, the canary the second.
    """
    rng = np.random.default_rng(2026)
    half = COLUMNS // 2
    each = (UNITS - 2) // 2
    kind = rng.gamma(0.5, 1.0, (each, 4)) @ rng.gamma(0.3, 1.0, (4, half)) + 0.01
    kind /= np.linalg.norm(kind, axis=1, keepdims=True)
    typical = kind.mean(axis=0) / np.linalg.norm(kind.mean(axis=0))
    X = np.zeros((UNITS, COLUMNS))
    X[1 : each + 1, :half] = kind
    X[each + 1 : -1, half:] = kind
    X[-1, :half] = 0.5 * typical
    canary = X.copy()
    canary[0, half:] = typical
    return Pair(
        "one more sample in a data set of two kinds, one of which it makes stronger",
        Samples.of(X, public=True),
        Samples.of(canary, public=True),
    )


def _one_kind(part: Array) -> Pair:
    """All samples are one part of the public start; the canary is one more."""
    X = np.tile(part / np.linalg.norm(part), (UNITS, 1))
    absent = X.copy()
    absent[0] = 0
    return Pair(
        "one more sample, a part of the public start, in a data set of equal samples",
        Samples.of(absent, public=True),
        Samples.of(X, public=True),
    )
