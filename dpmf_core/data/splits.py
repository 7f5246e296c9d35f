"""Splits of ratings into train, history, validation and test, each user by their own row alone."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_serializer

from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings, rank_within_user

WINDOWS_ARE_PUBLIC = "where each time window begins is public"
JUDGED_ITEMS_ARE_PUBLIC = "which items have enough ratings to be judged is public"
# orders beyond this are times (seconds since 1970, days since year 1), below it places in a
# user's own row
STAMPS = 100_000
UserNumbers = npt.NDArray[Any] | None  # users' numbers in the whole set


def moments(ratings: Ratings, seed: int) -> npt.NDArray[np.float64]:
    """When each rating was given, in [0, 1), evenly spread.

    By the clock, or by the share of the user's row if only places in it are known. Raises BadInput
    if neither is known. seed: breaks ties.
    """
    if ratings.order is None:
        raise BadInput(
            f"{ratings.name} has no times, so its ratings have no order in time. Use a random"
            " order."
        )
    key = keyed_uniform(seed, ratings.draw_keys()[ratings.users], ratings.items)
    if len(ratings) and ratings.order.max() >= STAMPS:
        place = np.empty(len(ratings))
        place[np.lexsort((key, ratings.order))] = np.arange(len(ratings))
        return place / len(ratings)
    count = np.diff(ratings.by_user)[ratings.users]
    return np.asarray(
        (rank_within_user(ratings, ratings.order.astype(np.float64)) + key)
        / np.maximum(count, 1)
    )


@dataclass(frozen=True, eq=False)
class Split:
    """Ratings split by their use.

    train: what an algorithm learns from. history: what each user knows when predictions are made.
    validation, test: what predictions are judged on. A held-out user has no row in train, but one
    in history.
    """

    train: Ratings
    history: Ratings
    validation: Ratings
    test: Ratings
    words: str


class SplitSpec(BaseModel):
    """The choice of held-out ratings: a function of (seed, user, the user's row)."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True
    )

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
        0.1, gt=0, lt=0.9, allow_inf_nan=False, title="test fraction"
    )
    validation_fraction: float = Field(
        0.0, ge=0, lt=0.9, allow_inf_nan=False, title="validation fraction"
    )
    fold_in: float = Field(0.8, gt=0, lt=1, allow_inf_nan=False, title="fold-in share")
    """users: the share of a held-out user's ratings that the model sees"""
    windows: int = Field(12, ge=2, le=1000, title="windows")
    """window: number of time windows, with equally many ratings in each"""
    window: int = Field(6, ge=1, le=999, title="window")
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
        """Whether it holds ratings out."""
        return self.kind != "none"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Facts about private rows that the choice treats as public.

        Windows with equally many ratings begin where all users' ratings put them, and items are
        counted over all users.
        """
        premises = []
        if self.kind == "window":
            premises.append(WINDOWS_ARE_PUBLIC)
        if self.least_judged:
            premises.append(JUDGED_ITEMS_ARE_PUBLIC)
        return tuple(premises)

    @model_serializer(mode="wrap")
    def _serialise(self, whole: Any) -> dict[str, Any]:
        """Leave out windows and the judged items at their defaults, as stored runs do."""
        fields: dict[str, Any] = whole(self)
        if self.kind != "window":
            unsaid = {"windows", "window"}
        else:
            unsaid = set()
        return {
            name: value
            for name, value in fields.items()
            if name not in unsaid
            and (name, value) not in (("judged", "test"), ("least_judged", 0))
        }


def split(
    ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers = None
) -> Split:
    """Split ratings into train, history, validation and test.

    ids: (n_users,) the users' numbers in the whole set, if these are a part of it (not for windows,
    nor if rare items are left out: both look at all users). Raises BadInput if the data lack what a
    kind needs.
    """
    if spec.judged == "validation":
        if not spec.validation_fraction or spec.kind == "window":
            raise BadInput(
                "There are no validation ratings: give a validation fraction above 0 (and no"
                " windows)."
            )
        return _by_validation(
            split(ratings, spec.model_copy(update={"judged": "test"}), seed, ids)
        )
    if spec.test_fraction + spec.validation_fraction >= 1:
        raise BadInput(
            "The test and validation fractions must leave ratings to train on: their sum must be"
            " below 1. Lower one of them."
        )
    how = {"users": _by_users, "window": _by_window, "none": _undivided}.get(
        spec.kind, _by_rating
    )
    parts = how(ratings, spec, seed, ids)
    if spec.least_judged:
        return _without_rare(parts, ratings, spec.least_judged)
    return parts


def _without_rare(parts: Split, ratings: Ratings, least: int) -> Split:
    """Leave out held-out ratings of users and items with fewer than `least` ratings."""
    users = np.diff(ratings.by_user) >= least
    items = ratings.item_counts >= least

    def often(part: Ratings) -> Ratings:
        return part.only(users[part.users] & items[part.items])

    words = f"{parts.words}, of users and items with at least {least} ratings"
    return replace(
        parts, validation=often(parts.validation), test=often(parts.test), words=words
    )


def _undivided(ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers) -> Split:
    nothing = ratings.only(np.zeros(len(ratings), bool))
    return Split(ratings, ratings, nothing, nothing, "no rating held out")


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
    none = parts.validation.only(np.zeros(len(parts.validation), bool))
    words = f"evaluated on validation ratings; {parts.words}, not used"
    return replace(parts, validation=none, test=parts.validation, words=words)


def _place(
    ratings: Ratings, kind: str, seed: int, ids: UserNumbers
) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for every rating; the lowest are held out."""
    key = keyed_uniform(seed, ratings.draw_keys(ids)[ratings.users], ratings.items)
    if kind == "random":
        return key
    if kind == "time":
        if ratings.order is None:
            raise BadInput(
                f"{ratings.name} has no times, so it cannot be split by time. Use --split random or"
                " per-user."
            )
        key = -ratings.order.astype(np.float64)
    count = np.diff(ratings.by_user)[ratings.users]
    return np.asarray((rank_within_user(ratings, key) + 0.5) / count, np.float64)


def _by_window(ratings: Ratings, spec: SplitSpec, seed: int, _: UserNumbers) -> Split:
    if not spec.window < spec.windows:
        raise BadInput(
            f"The window must be one of the {spec.windows}, counted from 0: at most"
            f" {spec.windows - 1}. Got {spec.window}."
        )
    window = np.floor(moments(ratings, seed) * spec.windows)
    before = ratings.only(window < spec.window)
    none = ratings.only(np.zeros(len(ratings), bool))
    words = f"held out: time window {spec.window + 1} of {spec.windows}"
    return Split(before, before, none, ratings.only(window == spec.window), words)


def _by_users(ratings: Ratings, spec: SplitSpec, seed: int, ids: UserNumbers) -> Split:
    keys = ratings.draw_keys(ids)
    draw = keyed_uniform(seed, keys)[ratings.users]
    test_user = draw < spec.test_fraction
    validation_user = ~test_user & (
        draw < spec.test_fraction + spec.validation_fraction
    )
    count = np.diff(ratings.by_user)[ratings.users]
    key = keyed_uniform(seed + 1, keys[ratings.users], ratings.items)
    place = rank_within_user(ratings, key)
    is_judged = place >= spec.fold_in * count
    is_held_out = test_user | validation_user
    words = f"{spec.test_fraction:.0%} of the users held out, {spec.fold_in:.0%} of their ratings"
    train = ratings.only(~is_held_out)
    history = ratings.only(~is_held_out | ~is_judged)
    validation = validation_user & is_judged
    test = test_user & is_judged
    parts = train, history, ratings.only(validation), ratings.only(test)
    return Split(*parts, f"{words} folded in")
