"""Splits of ratings into train, history, validation and test.

A user's row is split without looking at other users, except as `SplitSpec.assumptions` says.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, model_serializer

from dpmf_core.base.arrays import Array, Doubles
from dpmf_core.base.errors import BadInput
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings, rank_within_user

WINDOWS_ARE_PUBLIC = "where each time window begins is public"
JUDGED_ITEMS_ARE_PUBLIC = "which items have enough ratings to be judged is public"
# An order of at least this is a time, in seconds since 1970 or days since the year 1. A smaller one
# is a place in the user's own row.
STAMPS = 100_000
UserNumbers = Array | None  # users' numbers in the whole set


def moments(ratings: Ratings, seed: int) -> Doubles:
    """The moment of each rating: its rank in time, scaled to [0, 1).

    Ranks are among all ratings if their times are known. If only their order within each user's row
    is known, ranks are within that row.

    Parameters
    ----------
    ratings : Ratings
    seed : int
        Breaks ties.

    Raises
    ------
    BadInput
        If no order is known.
    """
    if ratings.order is None:
        raise BadInput(
            f"{ratings.name} has no times, so its ratings have no order in time. Use a random"
            " order."
        )
    key = keyed_uniform(seed, ratings.draw_keys()[ratings.users], ratings.items)
    if len(ratings) and ratings.order.max() >= STAMPS:
        earliest_first = np.lexsort((key, ratings.order))
        rank = np.empty(len(ratings))
        rank[earliest_first] = np.arange(len(ratings))
        return rank / len(ratings)
    count = ratings.user_counts[ratings.users]
    rank_in_row = rank_within_user(ratings, ratings.order.astype(np.float64))
    return np.asarray((rank_in_row + key) / np.maximum(count, 1))


@dataclass(frozen=True, eq=False)
class Split:
    """Ratings split by their use.

    Attributes
    ----------
    train
        The ratings that an algorithm learns from.
    history
        The ratings that a user's predictions are made from. Held-out users have a row here, but
        none in `train`.
    validation, test
        The ratings that predictions are evaluated on.
    words
        The split in words.
    """

    train: Ratings
    history: Ratings
    validation: Ratings
    test: Ratings
    words: str


class SplitSpec(Frozen):
    """The choice of held-out ratings: a function of (seed, user, the user's row)."""

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)

    kind: Literal["random", "per-user", "time", "users", "window", "none"] = Field(
        "random",
        description=(
            "held-out ratings. random: each rating with the same probability; per-user: the same"
            " share of each user's; time: each user's latest; users: whole users, with part of"
            " their ratings folded in; window: a time window, after training on everything before"
            " it; none: train on all ratings, with no held-out error"
        ),
    )
    test_fraction: float = Field(
        0.1,
        gt=0,
        lt=0.9,
        title="test fraction",
    )
    validation_fraction: float = Field(
        0.0,
        ge=0,
        lt=0.9,
        title="validation fraction",
    )
    fold_in: float = Field(
        0.8,
        gt=0,
        lt=1,
        title="fold-in share",
    )
    """users: the share of a held-out user's ratings that the model sees"""
    windows: int = Field(
        12,
        ge=2,
        le=1000,
        title="windows",
    )
    """window: number of time windows, with equally many ratings in each"""
    window: int = Field(
        6,
        ge=1,
        le=999,
        title="window",
    )
    """window: the held-out window, counted from 0; at least 1"""
    least_judged: int = Field(
        0,
        ge=0,
        title="minimum ratings for evaluation",
        description=(
            "held-out ratings of users and items with fewer ratings than this are excluded from"
            " training and evaluation"
        ),
    )
    judged: Literal["test", "validation"] = "test"
    """ratings used for evaluation; validation: the test ratings are not used at all"""

    @property
    def holds_out(self) -> bool:
        """Whether any ratings are held out."""
        return self.kind != "none"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Facts about private rows that the split treats as public.

        The beginnings of windows and the numbers of ratings of items depend on all users.
        """
        premises = []
        if self.kind == "window":
            premises.append(WINDOWS_ARE_PUBLIC)
        if self.least_judged:
            premises.append(JUDGED_ITEMS_ARE_PUBLIC)
        return tuple(premises)

    @model_serializer(mode="wrap")
    def _serialise(self, whole: Any) -> dict[str, Any]:
        """The fields as runs store them: without unused windows, and without two defaults."""
        fields: dict[str, Any] = whole(self)
        omitted = set()
        if self.kind != "window":
            omitted |= {"windows", "window"}
        if self.judged == "test":
            omitted.add("judged")
        if self.least_judged == 0:
            omitted.add("least_judged")
        return {name: value for name, value in fields.items() if name not in omitted}


def split(
    ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers = None
) -> Split:
    """Split ratings into train, history, validation and test.

    Parameters
    ----------
    ratings
        All ratings, or those of some users.
    spec
        How to split.
    seed
        The seed of all random choices.
    ids
        (n_users,) the users' numbers in the whole set, if `ratings` are those of some users.
        Windows and `least_judged` need the ratings of all users.

    Raises
    ------
    BadInput
        If the fractions leave nothing, or the ratings have no times and the kind needs them.
    """
    if spec.judged == "validation":
        if not spec.validation_fraction or spec.kind == "window":
            raise BadInput(
                "There are no validation ratings: give a validation fraction above 0 (and no"
                " windows)."
            )
        test_spec = spec.model_copy(update={"judged": "test"})
        return _by_validation(split(ratings, test_spec, seed, ids))
    if spec.test_fraction + spec.validation_fraction >= 1:
        raise BadInput(
            "The test and validation fractions must leave ratings to train on: their sum must be"
            " below 1. Lower one of them."
        )
    by_kind = {"users": _by_users, "window": _by_window, "none": _undivided}
    split_by_kind = by_kind.get(spec.kind, _by_rating)
    parts = split_by_kind(ratings, spec, seed, ids)
    if spec.least_judged:
        return _without_rare(parts, ratings, spec.least_judged)
    return parts


def _without_rare(parts: Split, ratings: Ratings, least: int) -> Split:
    """Leave out held-out ratings of users and items with fewer than `least` ratings."""
    is_frequent_user = ratings.user_counts >= least
    is_frequent_item = ratings.item_counts >= least

    def frequent(part: Ratings) -> Ratings:
        return part.only(is_frequent_user[part.users] & is_frequent_item[part.items])

    return replace(
        parts,
        validation=frequent(parts.validation),
        test=frequent(parts.test),
        words=f"{parts.words}, of users and items with at least {least} ratings",
    )


def _undivided(ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers) -> Split:
    nothing = _none_of(ratings)
    return Split(ratings, ratings, nothing, nothing, "no rating held out")


def _none_of(ratings: Ratings) -> Ratings:
    return ratings.only(np.zeros(len(ratings), bool))


def _by_rating(ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers) -> Split:
    place = _place(ratings, spec.kind, seed, ids)
    test = place < spec.test_fraction
    validation = ~test & (place < spec.test_fraction + spec.validation_fraction)
    train = ratings.only(~test & ~validation)
    words = {
        "random": "each rating held out with probability",
        "per-user": "of each user's ratings, held out",
        "time": "of each user's latest ratings, held out",
    }
    how = f"{words[spec.kind]} {spec.test_fraction:.0%}"
    return Split(train, train, ratings.only(validation), ratings.only(test), how)


def _by_validation(parts: Split) -> Split:
    """Use the validation ratings as test ratings; the test ratings are not used at all."""
    return replace(
        parts,
        validation=_none_of(parts.validation),
        test=parts.validation,
        words=f"evaluated on validation ratings; {parts.words}, not used",
    )


def _place(ratings: Ratings, kind: str, seed: int, ids: UserNumbers) -> Doubles:
    """A number in [0, 1) for every rating. The ratings with the lowest numbers are held out."""
    key = keyed_uniform(seed, ratings.draw_keys(ids)[ratings.users], ratings.items)
    if kind == "random":
        return key
    if kind == "time":
        if ratings.order is None:
            raise BadInput(
                f"{ratings.name} has no times, so it cannot be split by time. Use --split random or"
                " per-user."
            )
        key = -ratings.order.astype(np.float64)  # the latest have the lowest numbers
    count = ratings.user_counts[ratings.users]
    return np.asarray((rank_within_user(ratings, key) + 0.5) / count)


def _by_window(ratings: Ratings, spec: SplitSpec, seed: int, _: UserNumbers) -> Split:
    if not spec.window < spec.windows:
        raise BadInput(
            f"The window must be one of the {spec.windows}, counted from 0: at most"
            f" {spec.windows - 1}. Got {spec.window}."
        )
    window = np.floor(moments(ratings, seed) * spec.windows)
    before = ratings.only(window < spec.window)
    test = ratings.only(window == spec.window)
    words = f"held out: time window {spec.window + 1} of {spec.windows}"
    return Split(before, before, _none_of(ratings), test, words)


def _by_users(ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers) -> Split:
    keys = ratings.draw_keys(ids)
    draw = keyed_uniform(seed, keys)[ratings.users]
    test_user = draw < spec.test_fraction
    validation_user = ~test_user & (
        draw < spec.test_fraction + spec.validation_fraction
    )
    count = ratings.user_counts[ratings.users]
    # another seed, so that this draw is independent of the draw of users
    key = keyed_uniform(seed + 1, keys[ratings.users], ratings.items)
    place = rank_within_user(ratings, key)
    is_judged = place >= spec.fold_in * count
    is_held_out = test_user | validation_user
    return Split(
        train=ratings.only(~is_held_out),
        history=ratings.only(~is_held_out | ~is_judged),
        validation=ratings.only(validation_user & is_judged),
        test=ratings.only(test_user & is_judged),
        words=f"{spec.test_fraction:.0%} of the users held out, {spec.fold_in:.0%} of their ratings"
        " folded in",
    )
