"""What a specification leaves of the data, before they are split or factorised."""

from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dpmf_core.data import AnyData, Data, PartitionedRatings
from dpmf_core.data.partitioned import Part
from dpmf_core.data.preparation import prepared
from dpmf_core.data.ratings import (
    Ratings,
    assuming_the_item_set,
    most_rated,
    often_rated,
)
from dpmf_core.data.samples import Samples
from dpmf_core.errors import BadInput
from dpmf_core.runs.public_shape import PublicShape, part_in_slots, reshaped
from dpmf_core.runs.specification import DataSpec

Whole = TypeVar("Whole", bound=AnyData)
COUNTS_KEPT = 4  # data sets in parts whose items stay counted
_known_counts: dict[str, tuple[bool, Any]] = {}  # by fingerprint: whether public, and the counts


def filtered(data: Data, spec: DataSpec, shape: PublicShape | None = None) -> Data:
    """What a specification leaves of the data; where it releases their shape, the data as they are
    until there is one. shape: what was released.

    Raises BadInput when that is nothing, or where it asks for what the data have not.
    """
    wrong = spec.set_for("samples" if isinstance(data, Ratings) else "ratings")
    if wrong:
        what = ("samples", "ratings") if isinstance(data, Ratings) else ("ratings", f"{data.unit}s")
        raise BadInput(f"'{wrong[0]}' is for {what[0]}; {spec.id} holds {what[1]}. Leave it out.")
    if spec.item_features == "public" and getattr(data, "item_features", None) is None:
        raise BadInput(
            f"{spec.id} has no public item table here, so item_features=public does not go with it."
            " Leave it out, name a table after a path (?item_table=FILE), or import a MovieLens set"
            " again, whose older copies have none."
        )
    account = data.account
    if spec.releases_shape:
        if shape is None:
            return _releasable(data, spec)
        data = reshaped(data, shape)
        if shape.kept is not None:  # what noisy counts have done
            spec = by_exact_counts(spec, data).model_copy(
                update={"top_items": None, "most_words": None}
            )
    result: Data = _fewer(data, spec) if isinstance(data, Ratings) else prepared(data, spec)
    return result if data.public else replace(result, origin=account)


def filtered_anywhere(data: AnyData, spec: DataSpec, shape: PublicShape | None = None) -> AnyData:
    """As `filtered`, of data in memory or in parts."""
    if isinstance(data, PartitionedRatings):
        return filtered_parts(data, spec, shape)
    return filtered(data, spec, shape)


def filtered_parts(
    data: PartitionedRatings, spec: DataSpec, shape: PublicShape | None = None
) -> PartitionedRatings:
    """As `filtered`, of ratings in parts: each is filtered as it is read. Raises BadInput."""
    if wrong := spec.set_for("samples"):
        raise BadInput(f"'{wrong[0]}' is for samples; {spec.id} holds ratings. Leave it out.")
    if spec.item_features == "public" and data.item_features is None:
        raise BadInput(
            f"{spec.id} has no public item table here, so item_features=public does not go with it."
            " Leave it out, or import it with a table (?item_table=FILE)."
        )
    if spec.releases_shape:
        if shape is None:
            return _releasable(data, spec)
        data = _reshaped_parts(data, shape)
        if shape.kept is not None:  # what noisy counts have done
            spec = spec.model_copy(update={"top_items": None, "item_choice": "exact"})
    if spec.item_features == "none":
        data = data.with_change(_without_item_table, item_features=None)
    if spec.top_items or spec.min_item_count:
        data = _of_items(data, spec)
    return _of_fewer_rows(data, spec)


def _of_fewer_rows(data: PartitionedRatings, spec: DataSpec) -> PartitionedRatings:
    """What is left of each user's row."""
    if least := spec.min_user_count:
        data = data.with_change(partial(_of_busy_users, least=least))
    if most := spec.most_per_user:
        data = data.with_change(partial(_at_most_per_user, most=most))
    if (above := spec.positives_above) is not None:
        data = data.with_change(partial(_positives, above=above), bounds=(0.0, 1.0))
    return data


# changes of a part; they travel to where it is read


def _without_item_table(part: Part) -> Part:
    return replace(part, rows=replace(part.rows, item_features=None))


def _of_busy_users(part: Part, least: int) -> Part:
    return replace(part, rows=part.rows.min_user_count(least))


def _at_most_per_user(part: Part, most: int) -> Part:
    return replace(part, rows=part.rows.most_per_user(most, part.ids))


def _positives(part: Part, above: float) -> Part:
    return replace(part, rows=part.rows.positives(above))


def _of_kept_items(part: Part, items: Any) -> Part:
    return replace(part, rows=part.rows.keeping(items))


def _counts(data: PartitionedRatings) -> Any:
    """How many ratings each item has (n_items,). To count them every part is read, so it is done
    once: no filter that comes before changes them.
    """
    entry = _known_counts.get(data.fingerprint)
    if entry is None:
        entry = data.public, data.item_counts()
        if len(_known_counts) >= COUNTS_KEPT:
            _known_counts.clear()
        _known_counts[data.fingerprint] = entry
    return entry[1]


def forget() -> None:
    """How many ratings the items of private sets in parts have."""
    for fingerprint, (public, _) in list(_known_counts.items()):
        if not public:
            _known_counts.pop(fingerprint, None)


def _of_items(data: PartitionedRatings, spec: DataSpec) -> PartitionedRatings:
    """Only the items that exact counts over all parts choose."""
    counts, items = _counts(data), np.arange(data.n_items)
    if spec.top_items and spec.top_items < data.n_items:
        items = most_rated(counts, spec.top_items)
    elif not spec.min_item_count:
        return data  # it has no more items
    if spec.min_item_count:
        items = items[often_rated(counts[items], spec.min_item_count)]
    return _keeping(data, items, assumptions=assuming_the_item_set(data.assumptions))


def _keeping(data: PartitionedRatings, items: Any, **facts: Any) -> PartitionedRatings:
    """Only some items, in this order."""
    titles, labels = (
        None if names is None else tuple(names[j] for j in items)
        for names in (data.titles, data.labels)
    )
    features = data.item_features
    return data.with_change(
        partial(_of_kept_items, items=items),
        n_items=len(items),
        titles=titles,
        labels=labels,
        item_features=None if features is None else features.keeping(items),
        **facts,
    )


def _reshaped_parts(data: PartitionedRatings, shape: PublicShape) -> PartitionedRatings:
    """As `reshaped`, of ratings in parts."""
    if shape.units is not None:
        data = data.with_change(partial(part_in_slots, shape=shape, count=data.n_users))
        data = replace(data, n_users=shape.units)
    if shape.kept is None:
        return data
    result = _keeping(data, np.array(shape.kept))
    # a title is some user's row, an id is what was counted
    return (
        result if result.public or result.labels is None else replace(result, titles=result.labels)
    )


def by_exact_counts(spec: DataSpec, data: AnyData) -> DataSpec:
    """The same without releases of the shape.

    Weights that look at all documents are not chosen by default where words are private.
    """
    weighting = spec.weighting or (
        "tf" if spec.item_choice == "private" and isinstance(data, Samples) else None
    )
    return spec.model_copy(
        update={"item_choice": "exact", "row_count": "given", "weighting": weighting}
    )


def _releasable(data: Whole, spec: DataSpec) -> Whole:
    """The data, if their shape can be released.

    Raises BadInput where another choice rests on exact counts.
    """
    if spec.item_choice == "private":
        wrong = [
            name
            for name in ("min_item_count", "min_df", "max_df", "hashed", "drawn_words")
            if getattr(spec, name) != DataSpec.model_fields[name].default
        ]
        if wrong:
            raise BadInput(
                f"'{wrong[0]}' chooses by exact counts or needs no choice, so it does not go with"
                " item_choice=private. Leave one of them out."
            )
        if isinstance(data, Samples) and (data.vocabulary is None or data.unit == "user"):
            raise BadInput(
                f"{data.name} holds no documents, so there are no words to choose:"
                " item_choice=private is for ratings and documents."
            )
    return data


def _fewer(ratings: Ratings, spec: DataSpec) -> Ratings:
    if spec.item_features == "none":
        ratings = replace(ratings, item_features=None)
    if spec.top_items:
        ratings = ratings.top_items(spec.top_items)
    if spec.min_item_count:
        ratings = ratings.min_item_count(spec.min_item_count)
    if spec.min_user_count:
        ratings = ratings.min_user_count(spec.min_user_count)
    if spec.most_per_user:
        ratings = ratings.most_per_user(spec.most_per_user)
    if spec.positives_above is not None:
        ratings = ratings.positives(spec.positives_above)
    if not len(ratings):
        raise BadInput(f"No rating of {spec.id} is left after the filters. Loosen them.")
    return ratings
