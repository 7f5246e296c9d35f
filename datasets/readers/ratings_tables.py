"""Ratings from any table: recognise its columns, leave out bad rows, and count everything."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from dpmf_core.base.arrays import Hashes, Numbers
from dpmf_core.base.errors import BadInput, brief, listing
from dpmf_core.data.addresses import join
from dpmf_core.data.column_names import (
    REQUIRED_ROLES,
    ROLES,
    Advice,
    by_name,
    chosen_columns,
    title_note,
)
from dpmf_core.data.facts import Facts
from dpmf_core.data.ids import keys_of_ids, spelling_note
from dpmf_core.data.rating_bounds import Bounds, checked_bounds, interaction_bounds
from dpmf_core.data.ratings import (
    ITEMS_ARE_PUBLIC,
    LAYOUT_IS_PUBLIC,
    USERS_ARE_PUBLIC,
    Ratings,
)
from dpmf_core.data.report import BY_NAME, BY_PLACE, DECLARED, Kind, Problem, Report
from dpmf_core.data.row_rules import RowRules
from dpmf_datasets import sandbox
from dpmf_datasets.readers.cleaning import Batch, CleanRows, Ids, numbered
from dpmf_datasets.readers.dates import AmbiguousDates, Clock, looks_like_times
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.table import (
    PREVIEW,
    SAMPLE_ROWS,
    Table,
    is_number,
    report_damage,
)

# names of roles and facts on a page
LABELS = {
    "user": "Who",
    "item": "What",
    "rating": "Rating",
    "time": "When",
    "title": "Item's name",
}
ON_PAGE = {
    **LABELS,
    "bounds": "Rating scale",
    "missing": "Means 'not rated'",
    "leave": "Columns without ratings",
}
VALUES_SHOWN = 3  # values of each chosen column in a report
LONGEST_VALUE = 40  # characters
# the largest sizes that may be declared: each user and item takes memory, and an item has a name
MOST = {"users": 20_000_000, "items": 1_000_000}


def after_path(path: str, facts: Facts) -> Advice:
    """Advice to someone who gave a path: give it again, with more facts after it."""

    def advice(more: Facts) -> str:
        short = {name: brief(text) for name, text in more.items()}
        return f"Declare it after the path, e.g. '{join(path, {**facts, **short})}'."

    return advice


def on_page(facts: Facts) -> str:
    labels = [ON_PAGE.get(fact, fact) for fact in facts]
    return f"Change it above, under {' and '.join(labels)}."


def in_header(facts: Facts) -> str:
    if "bounds" in facts:
        return f"Use the file by its path, e.g. --dataset 'ratings.csv?bounds={facts['bounds']}'."
    return f"Rename the column to {' and '.join(facts)} in the file's header."


def read_table(
    table: Table, *, name: str, declared: Declared, advice: Advice
) -> tuple[Ratings, Report]:
    """Read ratings from a table, and report what was repaired or left out.

    Each row is read by itself, with the declared facts and the layout of the file. The layout is
    recognised from the first rows, so the ratings assume that it is public.

    Parameters
    ----------
    table
        The table, which is read once.
    name
        The name of the table in messages.
    declared
        The bounds, and other public facts about the ratings.
    advice
        How to declare more facts, for messages.

    Returns
    -------
    Ratings
        The ratings that can be used.
    Report
        What was repaired or left out.

    Raises
    ------
    BadInput
        If the table is not one of ratings or holds only one user; if more than half of its rows
        cannot be used; or if more than a tenth of its ratings lie outside the bounds, unless
        `declared` says what to do with them.
    """
    with report_damage(name):
        rows = open_rows(table, name, declared, advice)
        batches = list(_within_limits(rows, name))
    require_usable(rows, name, advice, rows.read, rows.problems)
    users, user_ids = numbered([batch.users for batch in batches])
    items, item_ids = numbered([batch.items for batch in batches])
    values = np.concatenate([batch.values for batch in batches])
    row_numbers = np.concatenate([batch.rows for batch in batches])
    orders = [batch.order for batch in batches if batch.order is not None]
    order = np.concatenate(orders) if orders else None
    batches.clear()
    orders.clear()
    shape = shape_of(users, items, declared, name)
    ratings = Ratings.of(
        user_ids,
        item_ids,
        values,
        n_users=shape.n_users,
        n_items=len(shape.labels),
        bounds=rows.rules.bounds,
        order=order,
        titles=tuple(rows.titles.get(label) or label for label in shape.labels),
        labels=shape.labels,
        user_keys=shape.user_keys,
        name=name,
        assumptions=assumptions_of(declared, rows.table),
    )
    # `Ratings.of` keeps one rating for each pair of user and item
    if len(ratings) < len(values):
        pairs = pd.DataFrame({"user": user_ids, "item": item_ids})
        repeated = np.flatnonzero(pairs.duplicated())
        user, item = pairs.iloc[repeated[0]]
        example = f"{users.labels[int(user)]},{shape.labels[item]}"
        rows.tally.add(Kind.DUPLICATE, row_numbers[repeated], example)
    notes = (*merged_rows(rows, row_numbers, len(users)), *shape.notes)
    report = replace(
        report_of(rows, name, declared, notes),
        kept=len(ratings),
        n_users=shape.n_users,
        n_items=len(shape.labels),
    )
    return ratings, report


def _within_limits(rows: CleanRows, name: str) -> Iterator[Batch]:
    """The rows of a table. Raises BadInput at the first row beyond this process's limit."""
    n_rows = 0
    for batch in rows:
        n_rows += len(batch.values)
        sandbox.require_at_most("ratings", n_rows, name)
        yield batch


def open_rows(
    table: Table,
    name: str,
    declared: Declared,
    advice: Advice,
    first: CleanRows | None = None,
) -> CleanRows:
    """The usable rows of a table.

    Parameters
    ----------
    table : Table
        The table.
    name : str
        What messages call it.
    declared : Declared
        The declared facts.
    advice : Advice
        How to declare more, for messages.
    first : CleanRows or None
        The rows of the first file, if the table is in several files. Its layout holds for all.

    Returns
    -------
    CleanRows
        The rows, still to be read.

    Raises
    ------
    BadInput
        If the table is not a table of ratings.
    """
    bounds = declared.bounds
    # an empty name declares that no column holds ratings
    if declared.columns.get("rating") == "":
        bounds = interaction_bounds(bounds)
    low, high = checked_bounds(bounds, name, advice({"bounds": "1,5"}))
    if first is not None and table.shown_names == first.table.shown_names:
        places = first.places
    else:
        places = _places(table, name, declared, advice, (low, high))
    if "time" not in places:
        clock = None
    elif first is not None:
        clock = first.clock
    else:
        clock = _clock_of(table.sample(places["time"], PREVIEW), name, declared, advice)
    rules = RowRules((low, high), declared.outside, declared.missing)
    rows = CleanRows(table, places, rules, clock)
    if first is not None and table.decimal_comma == first.table.decimal_comma:
        rows.number_format = first.number_format
    return rows


def _places(
    table: Table,
    name: str,
    declared: Declared,
    advice: Advice,
    bounds: Bounds,
) -> Mapping[str, int]:
    """The column of each role. Raises BadInput."""
    has_header = bool(table.names)
    names = table.shown_names
    if (
        not has_header
        and len(names) < len(REQUIRED_ROLES)
        and "rating" not in declared.columns
    ):
        raise BadInput(
            f"{name} has no header, and its rows have {len(names)} of the columns user, item and"
            " rating. Add the missing ones, and a header: user,item,rating."
        )
    places = chosen_columns(
        names, declared.columns, name, advice, has_header=has_header
    )
    if "rating" not in declared.columns:
        _require_rating(table, places, bounds, name, advice)
    return places


def _clock_of(
    sample: Sequence[str], name: str, declared: Declared, advice: Advice
) -> Clock | None:
    """How to read times, judged by the first cells of their column. Raises BadInput."""
    try:
        return Clock.of(sample, declared.dates)
    except AmbiguousDates:
        raise BadInput(
            f"Dates of {name} such as 03/04/2021 can be read in two ways, and none of its first"
            f" rows tells which. {advice({'dates': 'dmy'})} dmy is the day first, mdy the month"
            " first."
        ) from None


def _require_rating(
    table: Table,
    places: Mapping[str, int],
    bounds: Bounds,
    name: str,
    advice: Advice,
) -> None:
    """Raise BadInput if another column than the recognised one may hold the ratings."""
    column = table.shown_names[places["rating"]]
    sample = table.sample(places["rating"])
    used_places = {places["user"], places["item"], places["rating"]}
    others = other_ratings(table, used_places, bounds)
    if looks_like_times(sample):
        candidates = others or other_ratings(table, used_places)
        # an empty name declares that no column holds ratings
        rating = candidates[0] if candidates else ""
        remedy = advice({"rating": rating})
        if not rating:
            remedy += " Each row then counts as 1."
        raise BadInput(
            f"The column '{column[:40]}' of {name} would be the rating, but it holds times"
            f" ({sample[0][:40]}). Its columns: {listing(table.shown_names)}. {remedy}"
        )
    if table.names:
        return
    if not is_number(sample[0] if sample else ""):
        raise BadInput(
            f"{name} has no header and its first row is not user, item, rating:"
            f" {', '.join(table.first)[:80]}. Add a header: user,item,rating."
        )
    if others:
        raise BadInput(
            f"{name} has no header, and the first rows of both {column} and {others[0]} lie within"
            f" {bounds[0]:g} to {bounds[1]:g}. Which of them is the rating?"
            f" {advice({'rating': others[0]})}"
        )


def report_of(
    rows: CleanRows,
    name: str,
    declared: Declared,
    notes: tuple[str, ...],
) -> Report:
    """The report on a table that was read, with the first values of each chosen column.

    What was kept is not counted yet.

    Parameters
    ----------
    rows : CleanRows
        The rows that were read.
    name : str
        The name of the data.
    declared : Declared
        The declared facts.
    notes : tuple of str
        Further notes, in sentences.

    Returns
    -------
    Report
        The report.
    """
    table = rows.table
    names = table.shown_names
    columns = {role: names[place] for role, place in rows.places.items()}
    if table.names:
        recognised_by = BY_NAME
        about_header = ""
    else:
        recognised_by = BY_PLACE
        roles = ", ".join(f"{column} as the {role}" for role, column in columns.items())
        about_header = (
            f"{name} has no header. These columns were read by their place: {roles}."
        )
    about_title = title_note(table.names, rows.places)
    assumed = (table.layout, about_header, *rows.reading_notes, about_title, *notes)
    return Report(
        name=name,
        read=rows.read,
        kept=0,
        n_users=0,
        n_items=0,
        problems=rows.problems,
        columns=tuple(columns.items()),
        recognised=tuple(
            (role, DECLARED if role in declared.columns else recognised_by)
            for role in columns
        ),
        values=tuple(_first_values(table, place) for place in rows.places.values()),
        ignored=tuple(column for column in names if column not in columns.values()),
        assumed=tuple(filter(None, assumed)),
    )


def _first_values(table: Table, place: int) -> tuple[str, ...]:
    """Some distinct values of a column."""
    cells = [cell.strip()[:LONGEST_VALUE] for cell in table.sample(place, PREVIEW)]
    return tuple(dict.fromkeys(filter(None, cells)))[:VALUES_SHOWN]


def merged_rows(rows: CleanRows, row_numbers: Numbers, n_users: int) -> tuple[str, ...]:
    """A note for a wide table in which several lines belong to one person.

    Parameters
    ----------
    rows : CleanRows
        The rows that were read.
    row_numbers : int32 (n_ratings,)
        For each rating, its row among the `n_wide` rows that each line becomes.
    n_users : int
        The number of people.

    Returns
    -------
    tuple of str
        The note; empty if each line belongs to another person.
    """
    if not rows.table.n_wide:
        return ()
    lines = np.unique(row_numbers // rows.table.n_wide)
    n_more = len(lines) - n_users
    if n_more <= 0:
        return ()
    return (
        f"{n_more:,} rows have the person of an earlier row: their ratings were merged.",
    )


@dataclass(frozen=True)
class TableSize:
    """The users and items of ratings: first those in the file, then further declared ones.

    Attributes
    ----------
    n_users
        The number of users.
    labels
        A label for each item.
    user_keys
        (n_users,) keys of the users' random draws, made from their ids; 0 for users who are not in
        the file.
    notes
        Warnings about ids that may be one id in several spellings.
    """

    n_users: int
    labels: tuple[str, ...]
    user_keys: Hashes
    notes: tuple[str, ...]


def shape_of(users: Ids, items: Ids, declared: Declared, name: str) -> TableSize:
    """The users and items, numbered. Raises BadInput on one user, or too many of either."""
    if len(users) < 2:
        raise BadInput(
            f"{name} holds usable ratings by one user only. At least 2 users are needed."
        )
    n_users = _size(declared.n_users, len(users), "users", name)
    n_items = _size(declared.n_items, len(items), "items", name)
    labels = items.labels.cast(pa.string()).to_pylist()
    labels += [f"item {place}" for place in range(len(labels), n_items)]
    keys = np.zeros(n_users, np.uint64)
    keys[: len(users)] = keys_of_ids(users.labels)
    notes = []
    for ids, what in ((users, "users"), (items, "items")):
        if pa.types.is_string(ids.labels.type):
            notes.append(spelling_note(ids.labels.to_pylist(), what))
    return TableSize(n_users, tuple(labels), keys, tuple(filter(None, notes)))


def _size(
    size: int | None, count: int, what: Literal["users", "items"], name: str
) -> int:
    """The declared number of users or items, or else the count in the file. Raises BadInput."""
    sandbox.require_at_most(what, count, name)
    most = max(count, MOST[what])
    if size is not None and not count <= size <= most:
        raise BadInput(
            f"{name} was declared to have {size:,} {what}. It has {count:,} {what}: declare at"
            f" least as many, and at most {most:,}."
        )
    if size is None:
        return count
    sandbox.require_at_most(what, size, name)
    return size


def assumptions_of(declared: Declared, table: Table) -> tuple[str, ...]:
    """The facts that reading the table treats as public."""
    premises = (ITEMS_ARE_PUBLIC, LAYOUT_IS_PUBLIC, *table.assumptions)
    if declared.n_users is not None:
        return premises
    return (USERS_ARE_PUBLIC, *premises)


def require_usable(
    rows: CleanRows, name: str, advice: Advice, read: int, problems: Sequence[Problem]
) -> None:
    """Raise BadInput if too few rows can be used, or too many ratings lie outside the bounds.

    Any number may lie outside if such ratings were declared to be left out or clamped.

    Parameters
    ----------
    rows : CleanRows
        The rows of the table, or of the first of several files.
    name : str
        What messages call the table.
    advice : Advice
        How to declare more, for messages.
    read : int
        The number of rows read in all files.
    problems : sequence of Problem
        The problems of all files.

    Raises
    ------
    BadInput
        If the ratings cannot be used.
    """
    if not read:
        raise BadInput(
            f"{name} has no rows below its header. A ratings table has one row per rating: user,"
            " item, rating."
        )
    if unusable := rows.rules.unusable(problems, read):
        count, worst = unusable
        reason = worst.kind.partition(",")[0]  # without what was done with the rows
        source = ""
        remedy = "Every row needs a user and an item."
        if "rating" in rows.places:
            column = rows.table.shown_names[rows.places["rating"]]
            source = f" (the rating is read from the column '{column[:40]}')"
            remedy = "Every row needs a user, an item and a number."
        if worst.kind == Kind.ROUNDED_ID:
            remedy = (
                "A spreadsheet keeps 15 digits of a number, so different people may have become"
                " one. Save the ids as text, or use the original file from before the spreadsheet."
            )
        raise BadInput(
            f"{count:,} of the {read:,} rows of {name} cannot be used, more than half. The"
            f" first with '{reason}' is {worst.where} {worst.lines[0]:,}:"
            f" '{worst.example[:80]}'{source}."
            f" {remedy} {' '.join(rows.table.read_as())[:300]}".rstrip()
        )
    if over := rows.rules.over_bounds(problems, read):
        outside, n_rated = over
        raise BadInput(_about_outside(rows, outside, n_rated, name, advice))


def _about_outside(
    rows: CleanRows,
    outside: Problem,
    n_rated: int,
    name: str,
    advice: Advice,
) -> str:
    """The message about ratings outside the bounds, and what to declare."""
    low, high = rows.rules.bounds
    rating = rows.table.shown_names[rows.places["rating"]]
    # "refuse" refuses even one such rating; without it more than a tenth is refused
    is_tenth = rows.rules.outside != "refuse"
    share = ", more than a tenth," if is_tenth else ""
    sentences = [
        f"{outside.count:,} of the {n_rated:,} ratings of {name}{share} lie outside the declared"
        f" bounds {low:g} to {high:g}. The first is {outside.where} {outside.lines[0]:,}:"
        f" '{outside.example[:40]}', in the column '{rating[:40]}'."
    ]
    if looks_like_times((outside.example,)):
        sentences.append("They look like times.")
    value, count = outside.commonest[0]
    if 2 * count > outside.count:
        sentences.append(f"Does {value} mean 'not rated'? {advice({'missing': value})}")
    used_places = set(rows.places.values())
    if others := other_ratings(rows.table, used_places, rows.rules.bounds):
        sentences.append(
            f"Does another column hold the rating? {advice({'rating': others[0]})}"
        )
    sentences.append(f"Are the bounds others? {advice({'bounds': '0,10'})}")
    if is_tenth:
        sentences.append(f"Are they mistakes? {advice({'outside': 'leave-out'})}")
    return " ".join(sentences)


# ---- the column of each role: as given, by its name, or by its place -----------------------------


def detect_columns(table: Table) -> dict[str, str]:
    """The name of the column of each recognised role, for a person to check."""
    names = table.shown_names
    places = dict(zip(ROLES, range(len(names)), strict=False))
    if table.names:
        places = by_name(table.names, loosely=True)
    rating = places.get("rating")
    if rating is not None and looks_like_times(table.sample(rating)):
        places.pop("rating")
        # some files without a header have the time before the rating
        if not table.names and len(names) > 3 and not looks_like_times(table.sample(3)):
            places |= {"rating": 3, "time": rating}
    return {role: names[place] for role, place in places.items()}


def other_ratings(
    table: Table,
    used_places: Collection[int],
    bounds: Bounds = (-math.inf, math.inf),
) -> list[str]:
    """The unused columns that may hold ratings.

    Their first cells are numbers within the bounds and not times.
    """
    low, high = bounds
    columns = []
    for place, column in enumerate(table.shown_names):
        cells = [
            cell.replace(",", ".") for cell in table.sample(place, PREVIEW) if cell
        ]
        if place in used_places or not cells or looks_like_times(cells[:SAMPLE_ROWS]):
            continue
        if all(is_number(cell) and low <= float(cell) <= high for cell in cells):
            columns.append(column)
    return columns
