"""Find the column of each role in a ratings table: as given, by its name, or by its place.

A column of times is never taken as the rating.
"""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from dpmf_core.base.errors import BadInput, closest
from dpmf_core.data.column_names import REQUIRED_ROLES, ROLE_NAMES, ROLES, by_name
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
    names, places = table.shown_names, _places_of(table, (), loosely=True)
    rating = places.get("rating")
    if rating is not None and looks_like_times(table.sample(rating)):
        places.pop("rating")
        if not table.names and len(names) > 3 and not looks_like_times(table.sample(3)):
            places |= {"rating": 3, "time": rating}
    return {role: names[place] for role, place in places.items()}


def _places_of(table: Table, excluded: Sequence[int], *, loosely: bool) -> dict[str, int]:
    """The place of each role's column among those not excluded, by name, or by place."""
    if not table.names:
        places = zip(ROLES, range(len(table.shown_names)), strict=False)
        return {role: place for role, place in places if place not in excluded}
    names = ["" if place in excluded else name for place, name in enumerate(table.names)]
    return by_name(names, loosely=loosely)


def chosen_columns(
    table: Table, columns: Mapping[str, str], name: str, advice: Advice
) -> dict[str, int]:
    """The column of each role: as given ("": none), by its name, or by place without a header.

    Raises BadInput with advice.
    """
    if unknown := set(columns) - set(ROLE_NAMES):
        raise BadInput(
            f"Columns can be named for {', '.join(ROLE_NAMES)}. Got {', '.join(sorted(unknown))}."
        )
    names = table.shown_names
    places = {
        role: _place(names, column, name, role, advice, has_header=bool(table.names))
        for role, column in columns.items()
        if column
    }
    _no_two(names, places)
    rest = _places_of(table, tuple(places.values()), loosely=False)
    places = {
        role: places.get(role, rest.get(role, -1))
        for role in ROLE_NAMES
        if role in places or (role in rest and role not in columns)
    }
    if missing := [role for role in REQUIRED_ROLES if role not in places]:
        if not table.names:
            raise BadInput(
                f"{name} has no header and {len(names)} column{'s' * (len(names) != 1)}: user, item"
                " and rating are needed. Add a header: user,item,rating."
            )
        spare = [column for place, column in enumerate(names) if place not in places.values()]
        example = {
            role: spare[place] if place < len(spare) else names[-1]
            for place, role in enumerate(missing)
        }
        raise BadInput(
            f"No column of {name} is recognised as the {' or the '.join(missing)}. Its columns:"
            f" {_few(names)}. {advice(example)}"
        )
    if "rating" not in columns:
        _no_times(table, names, places["rating"], name, advice)
    return places


def _no_two(names: Sequence[str], places: Mapping[str, int]) -> None:
    """Refuse one column for two roles, except that a title may identify an item."""
    roles: dict[int, str] = {}
    for role, place in places.items():
        if role != "title" and roles.setdefault(place, role) != role:
            raise BadInput(
                f"The column '{names[place]}' was chosen for both the {roles[place]} and the"
                f" {role}. Choose a different column for each."
            )


def _place(
    names: Sequence[str], column: str, name: str, role: str, advice: Advice, *, has_header: bool
) -> int:
    """The place of a column; without a header, 4 is `column 4`."""
    label = f"column {column}" if not has_header and column.isdecimal() else column
    if label not in names:
        raise BadInput(
            f"{name} has no column '{column[:40]}'.{closest(label, names)} Its columns:"
            f" {_few(names)}. {advice({role: names[0]})}"
        )
    return names.index(label)


def _no_times(table: Table, names: Sequence[str], rating: int, name: str, advice: Advice) -> None:
    """Refuse a rating column that was not asked for and is none."""
    sample = table.sample(rating)
    if looks_like_times(sample):
        others = other_columns(table, rating)
        raise BadInput(
            f"The column '{names[rating]}' of {name} would be the rating, but it holds times"
            f" ({sample[0][:40]}). Its columns: {_few(names)}."
            f" {advice({'rating': (others or names)[-1]})}"
        )
    if not table.names and not is_number(sample[0] if sample else ""):
        raise BadInput(
            f"{name} has no header and its first row is not user, item, rating:"
            f" {', '.join(table.first)[:80]}. Add a header: user,item,rating."
        )


def other_columns(table: Table, rating: int) -> list[str]:
    """The columns that may hold the rating instead of this one."""
    return [
        column
        for place, column in enumerate(table.shown_names)
        if place != rating and not looks_like_times(table.sample(place))
    ]


def _few(names: Sequence[str]) -> str:
    """The first names of a header, shortened, without unprintable characters."""
    plain = ["".join(letter for letter in name if letter.isprintable())[:40] for name in names[:20]]
    return ", ".join(plain) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
