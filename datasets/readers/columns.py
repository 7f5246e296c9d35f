"""Find the column of each role in a ratings table: as given, by its name, or by its place.

A column of times is never taken as the rating.
"""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import REQUIRED_ROLES, ROLES, by_name, chosen_columns, listing
from dpmf_datasets.readers.dates import looks_like_times
from dpmf_datasets.readers.table import Table, is_number

# their names on a page
LABELS = {"user": "Who", "item": "What", "rating": "Rating", "time": "When", "title": "Item's name"}


# how to declare facts such as {"rating": "points"} or {"bounds": "0,10"}, in a sentence
Advice = Callable[[Mapping[str, str]], str]


def after_path(path: str, facts: Mapping[str, str]) -> Advice:
    """Advice for a path with facts after it: that path with further facts."""
    return lambda more: (
        f"Declare it after the path, e.g. '{path}?{urlencode({**facts, **more}, safe=',/')}'."
    )


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
    if not has_header and len(names) < len(REQUIRED_ROLES):
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
