"""The data after a specification's filters, before they are split or factorised."""

from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData, PartitionedRatings
from dpmf_core.data.partitioned import Part
from dpmf_core.data.preparation import prepared
from dpmf_core.data.ratings import (
    Ratings,
    assuming_the_item_set,
    most_rated,
    often_rated,
)
from dpmf_core.data.samples import Samples
from dpmf_core.runs.public_shape import PublicShape, keeping, reshaped
from dpmf_core.runs.specification import DataSpec

Whole = TypeVar("Whole", bound=AnyData)
Rated = TypeVar("Rated", Ratings, PartitionedRatings)
COUNTS_KEPT = 4  # data sets in partitions with cached item counts
# by fingerprint: whether public, and the counts
_known_counts: dict[str, tuple[bool, Any]] = {}


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
