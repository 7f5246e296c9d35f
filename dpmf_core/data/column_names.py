"""The roles of a ratings table's columns, by their names."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dpmf_core.base.errors import BadInput, closest, listing, quoted

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ROLE_NAMES: dict[str, str] = WORDS["roles"]
# how to declare facts such as {"rating": "points"} or {"bounds": "0,10"}, in a sentence
Advice = Callable[[Mapping[str, str]], str]
ROLES = ("user", "item", "rating", "time")
REQUIRED_ROLES = ROLES[:3]
UNCLEAR_TITLES = WORDS["titles"]["unclear"].split()
WHEN = WORDS["times"]["when"]
PAST_VERBS = WORDS["times"]["past_verbs"]
OF_RATING = WORDS["times"]["of_rating"]
NOT_OF_RATING = set(WORDS["times"]["not_of_rating"].split())
NO_RATING = f"{WHEN} {WORDS['ratings']['not_last']}"


def _any(words: str) -> str:
    return f"({words.replace(' ', '|')})"


IS_WHEN = re.compile(rf"\b({_any(WHEN)}|{_any(PAST_VERBS)} (at|on|am))$")
IS_COMPOUND = re.compile(
    rf"(unix)?{_any(f'{OF_RATING} {PAST_VERBS}')}({_any(WHEN)}|at|on)"
)


def split_name(name: str) -> list[str]:
    """The words of a column's name in lower case: `ReviewDate`, `rating_time`, `user-id`."""
    return [
        word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    ]


def is_when(name: str) -> bool:
    """Whether a column holds times, by its name."""
    words = split_name(name)
    return bool(
        IS_WHEN.search(" ".join(words)) or IS_COMPOUND.fullmatch("".join(words))
    )


def by_name(names: Sequence[str], *, loosely: bool) -> dict[str, int]:
    """The place of each role's column by its whole name.

    A name that several columns have gives none of them a role. A column called title or name is the
    item only if each other column is the user, the rating or the time.

    Parameters
    ----------
    names : sequence of str
    loosely : bool
        Whether columns are also recognised by how their names begin, for a person to check.
    """
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    places: dict[str, int] = {}

    def take_first(role: str, candidates: Iterable[int]) -> None:
        free = (place for place in candidates if place not in places.values())
        if role not in places and (place := next(free, None)) is not None:
            places[role] = place

    for role, role_names in ROLE_NAMES.items():
        unique = (word for word in role_names.split() if plain.count(word) == 1)
        take_first(role, map(plain.index, unique))
    take_first("time", _times(names))
    for role in ROLE_NAMES if loosely else ():
        take_first(role, _likely(role, names, plain))
    known = {places.get(role) for role in ROLES}
    others = [name for place, name in enumerate(plain) if place not in known]
    has_others = any(name and not name.startswith("unnamed") for name in others)
    if has_others and "item" in places and plain[places["item"]] in UNCLEAR_TITLES:
        del places["item"]  # perhaps a person's name or the title of a review
    if "title" in places:
        places.setdefault("item", places["title"])  # a title may identify an item
    return places


def chosen_columns(
    names: Sequence[str],
    columns: Mapping[str, str],
    source: str,
    advice: Advice,
    *,
    has_header: bool = True,
) -> dict[str, int]:
    """The place of each role's column: as given, by its name, or by place.

    Parameters
    ----------
    names : sequence of str
        The names of the columns: `column 1` and so on without a header.
    columns : mapping
        The given column of each role; "" for none. Without a header, 4 is `column 4`.
    source : str
        The name of the table in messages.
    advice : callable
        How to declare a column, for messages.
    has_header : bool

    Raises
    ------
    BadInput
        If a role is unknown, a given column does not exist, or a required role has no column.
    """
    places = _given_places(names, columns, source, advice, has_header)
    required: tuple[str, ...] = REQUIRED_ROLES
    if columns.get("rating") == "":
        required = REQUIRED_ROLES[:2]
    roles = ROLES if "rating" in required else required
    by_place_or_name = dict(zip(roles, range(len(names)), strict=False))
    if has_header:
        others = [
            "" if at in places.values() else name for at, name in enumerate(names)
        ]
        by_place_or_name = by_name(others, loosely=False)
    for role, place in by_place_or_name.items():
        if role not in columns and (has_header or place not in places.values()):
            places[role] = place
    if missing := [role for role in required if role not in places]:
        spare = [
            name for at, name in enumerate(names) if name and at not in places.values()
        ]
        remedy = "Add a column for each of them."
        if len(spare) >= len(missing):
            remedy = advice(dict(zip(missing, spare, strict=False)))
        raise BadInput(
            f"No column of {source} is recognised as the {' or the '.join(missing)}. Its columns:"
            f" {listing(names)}. {remedy}"
        )
    return {role: places[role] for role in ROLE_NAMES if role in places}


def _given_places(
    names: Sequence[str],
    columns: Mapping[str, str],
    source: str,
    advice: Advice,
    has_header: bool,
) -> dict[str, int]:
    """The places of the given columns. Raises BadInput."""
    if unknown := set(columns) - set(ROLE_NAMES):
        raise BadInput(
            f"Columns can be named for {', '.join(ROLE_NAMES)}. Got {', '.join(sorted(unknown))}."
        )
    places = {}
    for role, column in columns.items():
        if not has_header and column.isdecimal():
            label = f"column {column}"
        else:
            label = column
        if column and label not in names:
            usual = {
                place: other for other, place in by_name(names, loosely=False).items()
            }
            spare = [
                name
                for place, name in enumerate(names)
                if usual.get(place, role) == role and name not in columns.values()
            ]
            if spare:
                remedy = advice({role: spare[0]})
            else:
                remedy = "Add this column."
            raise BadInput(
                f"There is no column {quoted(column, 40)} for the {role} in {source}."
                f"{closest(label, names)} Its columns: {listing(names)}. {remedy}"
            )
        if column:
            places[role] = names.index(label)
    roles: dict[int, str] = {}
    for role, place in places.items():
        # a title may be the item
        if role != "title" and roles.setdefault(place, role) != role:
            raise BadInput(
                f"The column {quoted(names[place])} was chosen for both the {roles[place]} and the"
                f" {role}. Choose a different column for each."
            )
    return places


def title_note(names: Sequence[str], places: Mapping[str, int]) -> str:
    """A sentence on a column that may name the items and has no role; "" without one."""
    if "title" in places:
        return ""
    for place, name in enumerate(names):
        if name.strip().lower() in UNCLEAR_TITLES and place not in places.values():
            return (
                f"The column {quoted(name, 40)} was not used: it may hold people's own words. If it"
                f" names the items, declare title={name.strip()}."
            )
    return ""


def _times(names: Sequence[str]) -> list[int]:
    """Columns of times, the likeliest first; dates of releases and births are left out."""
    words = [set(split_name(name)) for name in names]
    times = [place for place, name in enumerate(names) if is_when(name)]
    candidates = [place for place in times if not words[place] & NOT_OF_RATING]
    return sorted(
        candidates, key=lambda place: not words[place] & set(OF_RATING.split())
    )


def _likely(role: str, names: Sequence[str], plain: Sequence[str]) -> Iterator[int]:
    """The columns with names that begin with a word of a role; for ratings, also end with one."""
    for word in f"{ROLE_NAMES[role]} {WORDS['beginnings'][role]}".split():
        for place, name in enumerate(names):
            ends = role == "rating" and split_name(name)[-1:] == [word]
            if (
                len(word) > 3
                and (plain[place].startswith(word) or ends)
                and _may_be(role, name)
            ):
                yield place


def _may_be(role: str, name: str) -> bool:
    """Whether a column whose name begins like a role's may have the role.

    A name that ends in time, count or id is not a rating's. A name that ends in rating is not an
    item's.
    """
    words = split_name(name)
    if role == "time":
        return not set(words) & NOT_OF_RATING
    if role == "rating":
        others = NO_RATING
    else:
        others = ROLE_NAMES["rating"]
    return not is_when(name) and words[-1:] not in [[word] for word in others.split()]
