"""Ratings from any table: columns are recognised, bad rows left out, and everything counted."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dpmf_core.base.errors import BadInput, listing
from dpmf_core.data.addresses import join
from dpmf_core.data.column_names import REQUIRED_ROLES, ROLES, by_name, chosen_columns
from dpmf_core.data.ids import keys_of_ids
from dpmf_core.data.ratings import (
    ITEMS_ARE_PUBLIC,
    USERS_ARE_PUBLIC,
    Ratings,
    checked_bounds,
    interaction_bounds,
)
from dpmf_core.data.report import UNUSABLE, Kind, Order, Outside, Problem, Report, outside_of
from dpmf_datasets.readers.cleaning import CleanRows, Ids, numbered
from dpmf_datasets.readers.dates import column_times, looks_like_times
from dpmf_datasets.readers.table import PREVIEW, Table, is_number, report_damage
from dpmf_datasets.readers.tables import Source, open_table

# how to declare facts such as {"rating": "points"} or {"bounds": "0,10"}, in a sentence
Advice = Callable[[Mapping[str, str]], str]
# their names on a page
LABELS = {"user": "Who", "item": "What", "rating": "Rating", "time": "When", "title": "Item's name"}
VALUES_SHOWN = 3  # values of each chosen column
MOST_OUTSIDE = 10  # at most one rating in this many may lie outside the declared bounds
# sizes that may be declared: each takes memory, an item also for its name
MOST = {"users": 20_000_000, "items": 1_000_000}


def after_path(path: str, facts: Mapping[str, str]) -> Advice:
    """Advice for a path with facts after it: that path with further facts."""
    return lambda more: f"Declare it after the path, e.g. '{join(path, {**facts, **more})}'."


def in_python(facts: Mapping[str, str]) -> str:
    if "bounds" in facts:
        return "Declare them, e.g. bounds=(1, 5)."
    return f"Declare it, e.g. columns={dict(facts)}."


def on_page(facts: Mapping[str, str]) -> str:
    return f"Change it above, under {' and '.join(LABELS.get(it, 'Rating scale') for it in facts)}."


def in_header(facts: Mapping[str, str]) -> str:
    if "bounds" in facts:
        return f"Use the file by its path, e.g. --dataset 'ratings.csv?bounds={facts['bounds']}'."
    return f"Rename the column to {' and '.join(facts)} in the file's header."


def read_table(
    source: Source,
    *,
    name: str,
    bounds: tuple[float, float] | None = None,
    columns: Mapping[str, str] | None = None,
    n_users: int | None = None,
    n_items: int | None = None,
    dates: Order | None = None,
    encoding: str | None = None,
    outside: Outside = "clamp",
    advice: Advice = in_python,
) -> tuple[Ratings, Report]:
    """Read ratings from a table, and report what was repaired or left out.

    bounds: the lowest and highest possible rating: declared and public, not read from the data.
    columns: by role, if the detection would choose others. n_users, n_items: declared sizes; by
    default the file's own counts, which the ratings then assume public. dates: whether dates such
    as 03/04/2021 have the day or the month first; by default the column tells, and the ratings
    assume it public. encoding: the declared one of a text. outside: whether a rating outside the
    bounds is set to the nearest one, or its row is left out; either looks at that row and the
    bounds alone, so proved sensitivities hold. advice: how to declare more, for messages.

    Raises BadInput if the table is no ratings table, holds one user only, more than half of its
    rows cannot be used, or more than a tenth of its ratings lie outside the bounds.
    """
    with report_damage(name):
        rows = open_rows(source, name, bounds, columns or {}, outside, advice, encoding)
        batches = list(rows)
    require_usable(rows, name, advice)
    users, user_ids = numbered([it.users for it in batches])
    items, item_ids = numbered([it.items for it in batches])
    values, row = (np.concatenate([getattr(it, of) for it in batches]) for of in ("values", "rows"))
    clock = column_times([it.times for it in batches if it.times is not None], dates)
    batches.clear()
    rows.tally.add(Kind.NO_TIME, row[clock.unread])
    sizes = {
        "n_users": declared_size(n_users, len(users.labels), "users", name),
        "n_items": declared_size(n_items, len(items.labels), "items", name),
    }
    labels = item_labels(items, sizes["n_items"])
    ratings = Ratings.of(
        user_ids,
        item_ids,
        values,
        **sizes,
        bounds=rows.bounds,
        order=clock.order,
        titles=tuple(rows.titles.get(label) or label for label in labels),
        labels=labels,
        user_keys=user_keys(users, sizes["n_users"]),
        name=name,
        assumptions=(*assumed_sizes(n_users), *rows.table.assumptions, *clock.assumptions),
    )
    raters = int(np.count_nonzero(np.diff(ratings.by_user)))
    require_several(raters, name)
    if len(ratings) < len(values):
        pairs = pd.DataFrame({"user": user_ids, "item": item_ids})
        again = np.flatnonzero(pairs.duplicated())
        user, item = pairs.iloc[again[0]]
        rows.tally.add(Kind.DUPLICATE, row[again], f"{users.labels[int(user)]},{labels[item]}")
    report = report_of(
        rows,
        name,
        len(users.labels) - raters,
        (*filter(None, [clock.words]), *spelling_notes(users, items)),
        kept=len(ratings),
        **sizes,
    )
    return ratings, report


def open_rows(
    source: Source,
    name: str,
    bounds: tuple[float, float] | None,
    columns: Mapping[str, str],
    outside: Outside,
    advice: Advice,
    encoding: str | None,
) -> CleanRows:
    """Open a table whose usable rows are read. For the arguments see `read_table`."""
    if columns.get("rating") == "":
        bounds = interaction_bounds(bounds)
    low, high = checked_bounds(bounds, name, advice({"bounds": "1,5"}))
    table = open_table(source, name, {"encoding": encoding} if encoding else {})
    places = columns_of(table, columns, name, advice)
    return CleanRows(table, places, (low, high), outside)


def report_of(
    rows: CleanRows, name: str, empty_users: int, assumed: tuple[str, ...], **facts: Any
) -> Report:
    """The report on a table that was read, with some values of each column.

    empty_users: users without a usable row.
    """
    names, places = rows.table.shown_names, rows.places
    samples = [[it.strip()[:40] for it in rows.table.sample(j, PREVIEW)] for j in places.values()]
    empty = [Problem(Kind.EMPTY_USER, empty_users)] if empty_users else []
    return Report(
        name=name,
        read=rows.read,
        problems=(*rows.problems, *empty),
        columns=tuple((role, names[j]) for role, j in places.items()),
        values=tuple(tuple(dict.fromkeys(filter(None, it)))[:VALUES_SHOWN] for it in samples),
        ignored=tuple(it for j, it in enumerate(names) if j not in places.values()),
        assumed=(*rows.reading_notes, *assumed),
        **facts,
    )


def spelling_notes(users: Ids, items: Ids) -> tuple[str, ...]:
    """Notes on ids that are one number written in several ways."""
    return (*users.spelling_notes("users"), *items.spelling_notes("items"))


def item_labels(items: Ids, n_items: int) -> tuple[str, ...]:
    """The items' ids as text; declared items that are not in the file get names too."""
    names = items.labels.cast(pa.string()).to_pylist()
    return (*names, *(f"item {j}" for j in range(len(names), n_items)))


def user_keys(users: Ids, n_users: int) -> npt.NDArray[np.uint64]:
    """The keys (n_users,) of users' random draws, by their ids; 0 for those not in the file."""
    keys = keys_of_ids(users.labels)
    return np.append(keys, np.zeros(n_users - len(keys), np.uint64))


def require_several(raters: int, name: str) -> None:
    """Raise BadInput on ratings of one person."""
    if raters < 2:
        raise BadInput(
            f"{name} holds usable ratings by one user only. At least 2 users are needed."
        )


def require_usable(rows: CleanRows, name: str, advice: Advice) -> None:
    """Raise BadInput if too few rows can be used, or too many ratings lie outside the bounds."""
    read, table, problems = rows.read, rows.table, rows.problems
    rating = table.shown_names[rows.places.get("rating", 0)]
    if not read:
        raise BadInput(
            f"{name} has no rows below its header. A ratings table has one row per rating: user,"
            " item, rating."
        )
    unusable = [problem for problem in problems if problem.kind in UNUSABLE]
    count = sum(problem.count for problem in unusable)
    if 2 * count > read:
        worst = max(unusable, key=lambda problem: problem.count)
        raise BadInput(
            f"{count:,} of the {read:,} rows of {name} cannot be used, more than half. The"
            f" first with '{worst.kind.partition(',')[0]}' is {table.unit} {worst.lines[0]:,}:"
            f" '{worst.example}' (the rating is read from the column '{rating}'). Every row needs"
            " a user, an item and a number."
        )
    beyond = outside_of(problems)
    total = read - count
    if beyond is None or MOST_OUTSIDE * beyond.count <= total:
        return
    low, high = rows.bounds
    times_words = " They look like times." if looks_like_times((beyond.example,)) else ""
    another = advice({"rating": other_columns(table, rows.places["rating"])[-1]})
    raise BadInput(
        f"{beyond.count:,} of the {total:,} ratings of {name}, more than a tenth, lie outside the"
        f" declared bounds {low:g} to {high:g}. The first is {table.unit} {beyond.lines[0]:,}:"
        f" '{beyond.example[:40]}', in the column '{rating}'.{times_words} Does another column hold"
        f" the rating? {another} Are the bounds others? {advice({'bounds': '0,10'})}"
    )


def declared_size(size: int | None, count: int, what: str, name: str) -> int:
    """The declared number of users or items, or the count. Raises BadInput."""
    most = max(count, MOST[what])
    if size is not None and not count <= size <= most:
        raise BadInput(
            f"{name} was declared to have {size:,} {what}. It has {count:,} {what}: declare at"
            f" least as many, and at most {most:,}."
        )
    return count if size is None else size


def assumed_sizes(n_users: int | None) -> tuple[str, ...]:
    """What is taken as public: the set of items, and the number of users if not declared."""
    return (USERS_ARE_PUBLIC,) * (n_users is None) + (ITEMS_ARE_PUBLIC,)


# ---- the column of each role: as given, by its name, or by its place -----------------------------


def detect_columns(table: Table) -> dict[str, str]:
    """The column of each role by names or places, for a person to check.

    Roles that are not recognised are left out.
    """
    names = table.shown_names
    places = dict(zip(ROLES, range(len(names)), strict=False))
    if table.names:
        places = by_name(table.names, loosely=True)
    rating = places.get("rating")
    if rating is not None and looks_like_times(table.sample(rating)):
        places.pop("rating")
        if not table.names and len(names) > 3 and not looks_like_times(table.sample(3)):
            places |= {"rating": 3, "time": rating}
    return {role: names[place] for role, place in places.items()}


def columns_of(
    table: Table, columns: Mapping[str, str], name: str, advice: Advice
) -> dict[str, int]:
    """The column of each role: as given ("": none), by its name, or by place without a header.

    Raises BadInput with advice, also on a rating column that was not asked for and is none.
    """
    names, has_header = table.shown_names, bool(table.names)
    if not has_header and len(names) < len(REQUIRED_ROLES) and "rating" not in columns:
        raise BadInput(
            f"{name} has no header and {len(names)} column{'s' * (len(names) != 1)}: user, item and"
            " rating are needed. Add a header: user,item,rating."
        )
    places = chosen_columns(names, columns, name, advice, has_header=has_header)
    if "rating" in columns:
        return places
    sample, column = table.sample(places["rating"]), names[places["rating"]]
    if looks_like_times(sample):
        others = other_columns(table, places["rating"])
        raise BadInput(
            f"The column '{column}' of {name} would be the rating, but it holds times"
            f" ({sample[0][:40]}). Its columns: {listing(names)}."
            f" {advice({'rating': (others or names)[-1]})}"
        )
    if not has_header and not is_number(sample[0] if sample else ""):
        raise BadInput(
            f"{name} has no header and its first row is not user, item, rating:"
            f" {', '.join(table.first)[:80]}. Add a header: user,item,rating."
        )
    return places


def other_columns(table: Table, rating: int) -> list[str]:
    """The columns that may hold the rating instead of this one."""
    return [
        column
        for place, column in enumerate(table.shown_names)
        if place != rating and not looks_like_times(table.sample(place))
    ]
