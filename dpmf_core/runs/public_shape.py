"""Data in a released public shape: units in random rows, only the kept items or words."""

import functools
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from dpmf_core.base.arrays import Ints
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.partitioned import Part, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, Texts, is_sparse

Rated = TypeVar("Rated", Ratings, PartitionedRatings)


@dataclass(frozen=True)
class PublicShape:
    """The released shape.

    Attributes
    ----------
    units
        The number of rows from then on; None if the number is given.
    slots
        The key that draws the row of each unit at random, so that the row does not depend on other
        units. It is secret on private data.
    kept
        The places of the kept items or words in the original data, in their new order; None if all
        are kept.
    """

    units: int | None = None
    slots: int = 0
    kept: tuple[int, ...] | None = None


def reshaped(data: Any, shape: PublicShape) -> Any:
    """The data in the released shape.

    Units are in their rows, unfilled rows are empty, and only the kept items or words remain, in
    their new order.
    """
    if isinstance(data, Samples):
        if shape.units is not None:
            data = _samples_in_slots(data, shape)
        if shape.kept is None:
            return data
        return data.features(np.array(shape.kept))
    if isinstance(data, PartitionedRatings) and shape.units is not None:
        change = functools.partial(part_in_slots, shape=shape, count=data.n_users)
        data = replace(data.with_change(change), n_users=shape.units)
    elif shape.units is not None:
        everybody = Part(np.arange(data.n_users), data)
        data = part_in_slots(everybody, shape, data.n_users).rows
    if shape.kept is None:
        return data
    result = keeping(data, np.array(shape.kept))
    # a title is some user's row, an id is what was counted
    is_named = result.public or result.labels is None
    if is_named:
        return result
    return replace(result, titles=result.labels)


def keeping(data: Rated, items: Ints) -> Rated:
    """Some items of ratings, in this order."""
    if isinstance(data, Ratings):
        return data.keeping(items)
    titles, labels = (
        None if names is None else tuple(names[j] for j in items)
        for names in (data.titles, data.labels)
    )
    features = data.item_features
    return replace(
        data.with_change(functools.partial(_of_items, items=items)),
        n_items=len(items),
        titles=titles,
        labels=labels,
        item_features=None if features is None else features.keeping(items),
    )


def _of_items(part: Part, items: Ints) -> Part:
    return replace(part, rows=part.rows.keeping(items))


def slots(shape: PublicShape, count: int) -> Ints:
    """The row of each of `count` units: places of the smallest of `units` hashed numbers."""
    if shape.units is None:
        return np.arange(count)
    return np.argsort(
        keyed_uniform(shape.slots, np.arange(shape.units)), kind="stable"
    )[:count]


def part_in_slots(part: Part, shape: PublicShape, count: int) -> Part:
    """`reshaped` for the users of one partition.

    Each unfilled row belongs to some user of the `count`, so that one partition has it.
    """
    user_rows, free = _rows_for(shape, count)
    shares = np.arange(-(-len(free) // count)) * count
    spare = (part.ids[:, None] + shares).ravel()
    rows = np.concatenate([user_rows[part.ids], free[spare[spare < len(free)]]])
    by_row = np.argsort(rows)
    place = np.empty(len(rows), np.int32)
    place[by_row] = np.arange(len(rows))
    users = place[part.rows.users]
    order = np.argsort(users, kind="stable")  # a user's items stay sorted
    times = part.rows.order
    ratings = replace(
        part.rows,
        users=users[order],
        items=part.rows.items[order],
        values=part.rows.values[order],
        order=None if times is None else times[order],
        n_users=len(rows),
        user_keys=None,
    )
    return Part(rows[by_row], ratings)


@functools.lru_cache(1)
def _rows_for(shape: PublicShape, count: int) -> tuple[Ints, Ints]:
    """The row of each of `count` users, and the unfilled rows."""
    user_rows = slots(shape, count)
    is_free = np.ones(shape.units or count, bool)
    is_free[user_rows] = False
    return user_rows, np.flatnonzero(is_free)


def _samples_in_slots(samples: Samples, shape: PublicShape) -> Samples:
    """Add empty rows, then move every row to its place."""
    count = len(samples)
    extra = (shape.units or len(samples)) - len(samples)
    row = np.full(count + extra, count, np.int64)
    row[slots(shape, count)] = np.arange(count)
    row[row == count] = np.arange(count, count + extra)

    def longer(matrix: Any) -> Any:
        if not is_sparse(matrix):
            return np.pad(matrix, ((0, extra), (0, 0)))
        padded = matrix.copy()
        padded.resize(count + extra, matrix.shape[1])
        return padded

    texts = samples.texts
    titles = samples.titles
    if texts is not None:
        starts = np.append(texts.starts, np.full(extra, texts.starts[-1]))
        texts = Texts(texts.words, texts.ids, starts)
    padded_samples = replace(
        samples,
        X=longer(samples.X),
        clean=None if samples.clean is None else longer(samples.clean),
        titles=None if titles is None else (*titles, *("(empty)",) * extra),
        texts=texts,
    )
    return padded_samples.rows(row)
