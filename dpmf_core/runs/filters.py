"""The data after a specification's filters, before they are split or factorised.

A run may release the shape of its data; then they are filtered in that shape: units in random rows,
only the kept items or words.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from dpmf_core.base.arrays import Ints
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data import AnyData, PartitionedRatings
from dpmf_core.data.partitioned import Part
from dpmf_core.data.preparation import prepared
from dpmf_core.data.ratings import (
    Ratings,
    assuming_the_item_set,
    most_rated,
    often_rated,
)
from dpmf_core.data.samples import Samples, Texts, is_sparse
from dpmf_core.runs.specification import DataSpec

Whole = TypeVar("Whole", bound=AnyData)
Rated = TypeVar("Rated", Ratings, PartitionedRatings)
COUNTS_KEPT = 4  # data sets in partitions with cached item counts
# by fingerprint: whether public, and the counts
_known_counts: dict[str, tuple[bool, Any]] = {}


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


def filtered(data: Whole, spec: DataSpec, shape: PublicShape | None = None) -> Whole:
    """Apply a specification's filters to the data; partitions are filtered as they are read.

    Parameters
    ----------
    data
        The data.
    spec
        The specification of the data.
    shape
        The released shape, if the specification releases the shape. Before the release it is None,
        and the data stay unchanged.

    Returns
    -------
    data
        The filtered data.

    Raises
    ------
    BadInput
        If nothing is left, or if a filter does not fit the data.
    """
    _check(data, spec)
    result: Any = data
    if spec.releases_shape:
        if shape is None:
            return data
        result = reshaped(data, shape)
        if shape.kept is not None:  # noisy counts chose the items
            without: dict[str, Any] = {"top_items": None, "most_words": None}
            spec = by_exact_counts(spec, data).model_copy(update=without)
    if isinstance(result, Samples):
        result = prepared(result, spec)
    else:
        result = _fewer(result, spec)
    if not data.public:
        result = replace(result, origin=data.account)
    if not data.public and not isinstance(result, PartitionedRatings):
        result = replace(result, rows_origin=data.row_digest)
    whole: Whole = result
    return whole


def _check(data: AnyData, spec: DataSpec) -> None:
    """Raise BadInput if a specification does not fit the data."""
    if isinstance(data, Samples):
        holds = f"{data.unit}s"
        others = "ratings"
    else:
        holds = "ratings"
        others = "samples"
    if wrong := spec.set_for(others):
        raise BadInput(
            f"'{wrong[0]}' is for {others}; {spec.id} holds {holds}. Leave it out."
        )
    if spec.item_features == "public" and getattr(data, "item_features", None) is None:
        raise BadInput(
            f"{spec.id} has no public item table, so item_features=public cannot be used. Leave it"
            " out or name a table after a path (?item_table=FILE). Older copies of MovieLens sets"
            " have no item table: import them again."
        )
    if spec.item_choice == "private":
        _check_private_choice(data, spec)


def _fewer(data: Rated, spec: DataSpec) -> Rated:
    """Filter ratings: first the items, then each user's row."""
    if spec.top_items or spec.min_item_count:
        data = _of_items(data, spec)
    change = partial(_with_fewer_rows, spec=spec)
    if isinstance(data, PartitionedRatings):
        if spec.item_features == "none":
            data = replace(data, item_features=None)
        if spec.positives_above is not None:
            data = replace(data, bounds=(0.0, 1.0))
        return data.with_change(change)
    data = change(Part(np.arange(data.n_users), data)).rows
    if not len(data):
        raise BadInput(
            f"No rating of {spec.id} is left after the filters. Loosen them."
        )
    return data


def _with_fewer_rows(part: Part, spec: DataSpec) -> Part:
    """The filters of users' rows; it travels to where a partition is read."""
    rows = part.rows
    if spec.item_features == "none":
        rows = replace(rows, item_features=None)
    if spec.min_user_count:
        rows = rows.min_user_count(spec.min_user_count)
    if spec.most_per_user:
        rows = rows.most_per_user(spec.most_per_user, part.ids)
    if spec.positives_above is not None:
        rows = rows.positives(spec.positives_above)
    return replace(part, rows=rows)


def _counts(data: Ratings | PartitionedRatings) -> Any:
    """The number of ratings of each item (n_items,).

    Counting reads every partition, so it is done once: no earlier filter changes the counts.
    """
    if isinstance(data, Ratings):
        return data.item_counts
    if data.fingerprint not in _known_counts:
        if len(_known_counts) >= COUNTS_KEPT:
            _known_counts.clear()
        _known_counts[data.fingerprint] = data.public, data.item_counts()
    return _known_counts[data.fingerprint][1]


def forget() -> None:
    """Drop the counts of private sets in partitions."""
    for fingerprint, (public, _) in list(_known_counts.items()):
        if not public:
            _known_counts.pop(fingerprint, None)


def _of_items(data: Rated, spec: DataSpec) -> Rated:
    """Only the items that exact counts over all partitions choose."""
    counts = _counts(data)
    items = np.arange(data.n_items)
    if spec.top_items and spec.top_items < data.n_items:
        items = most_rated(counts, spec.top_items)
    elif not spec.min_item_count:
        return data  # it has no more items
    if spec.min_item_count:
        items = items[often_rated(counts[items], spec.min_item_count)]
    return replace(
        keeping(data, items), assumptions=assuming_the_item_set(data.assumptions)
    )


def by_exact_counts(spec: DataSpec, data: AnyData) -> DataSpec:
    """The specification without releases of the shape.

    If words are private, weights that look at all documents are not chosen by default.
    """
    weighting = spec.weighting or (
        "tf" if spec.item_choice == "private" and isinstance(data, Samples) else None
    )
    return spec.model_copy(
        update={"item_choice": "exact", "row_count": "given", "weighting": weighting}
    )


def _check_private_choice(data: AnyData, spec: DataSpec) -> None:
    """Raise BadInput if another choice uses exact counts, or there is nothing to choose."""
    wrong = [
        name
        for name in ("min_item_count", "min_df", "max_df", "hashed", "drawn_words")
        if getattr(spec, name) != DataSpec.model_fields[name].default
    ]
    if wrong:
        raise BadInput(
            f"'{wrong[0]}' uses exact counts or needs no choice of items, so it cannot be combined"
            " with item_choice=private. Leave one of them out."
        )
    if isinstance(data, Samples) and (data.vocabulary is None or data.unit == "user"):
        raise BadInput(
            f"{data.name} holds no documents, so it has no words to choose: item_choice=private is"
            " for ratings and documents. Leave it out."
        )


# ---- in a released shape -------------------------------------------------------------------------


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
        change = partial(part_in_slots, shape=shape, count=data.n_users)
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
        data.with_change(partial(_part_of_items, items=items)),
        n_items=len(items),
        titles=titles,
        labels=labels,
        item_features=None if features is None else features.keeping(items),
    )


def _part_of_items(part: Part, items: Ints) -> Part:
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


@lru_cache(1)
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
