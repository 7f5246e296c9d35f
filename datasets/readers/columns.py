"""Which column of a ratings table plays which role: as asked for, by its name, or by its place;
never a column of times as the rating.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from dpmf_core.errors import BadInput, closest
from dpmf_datasets.readers.dates import looks_like_times
from dpmf_datasets.readers.tables import Table
from dpmf_datasets.readers.text_layout import is_number

# Names of columns, without case and punctuation, as ratings files use them in English and German;
# the earlier the surer.
KNOWN = {
    "user": (
        "user userid uid users username customer customerid member memberid reviewer reviewerid"
        " viewer viewerid person personid student account accountid profile profileid u nutzer"
        " nutzerid benutzer benutzerid kunde kundenid kundennummer kundennr mitglied mitgliedid"
    ),
    "item": (
        "item itemid iid movie movieid film filmid product productid asin book bookid isbn song"
        " songid track trackid artist artistid anime animeid game gameid business businessid joke"
        " jokeid article articleid title movietitle name i artikel artikelid artikelnummer"
        " artikelnr produkt produktid buch buchid spiel lied titel filmtitel"
    ),
    "rating": (
        "rating ratings score scores stars star value overall grade vote rate bookrating r"
        " bewertung bewertungen wertung note sterne punkte"
    ),
    "time": (
        "timestamp time unixtime unixreviewtime datetime date rank order position ts zeitstempel"
        " datum zeitpunkt zeit bewertungsdatum"
    ),
    "title": (
        "title movietitle filmtitle booktitle itemtitle itemname productname name titel filmtitel"
        " buchtitel artikelname produktname"
    ),
}
ROLES = ("user", "item", "rating", "time")
NEEDED = ROLES[:3]
# what a page calls them
LABELS = {"user": "Who", "item": "What", "rating": "Rating", "time": "When", "title": "Item's name"}
BEGINNINGS: dict[str, tuple[str, ...]] = {
    "user": (
        "client",
        "buyer",
        "subject",
        "visitor",
        "guest",
        "patron",
        "subscriber",
        "participant",
        "listener",
        "rater",
    ),
    "item": ("programme", "show", "series", "course", "recipe", "restaurant", "hotel"),
    "rating": ("points", "mark"),
    "time": ("when",),
    "title": (),
}
# how the name of a column of times ends
WHEN = ("time", "timestamp", "date", "datetime", "day", "ts", "epoch")
# before one of BEFORE_WHEN
DONE = (
    "rated",
    "reviewed",
    "created",
    "watched",
    "added",
    "submitted",
    "posted",
    "voted",
    "listened",
    "seen",
    "read",
    "viewed",
    "played",
    "visited",
    "bought",
    "ordered",
    "purchased",
    "updated",
    "bewertet",
    "gesehen",
    "gekauft",
    "erstellt",
)
BEFORE_WHEN = ("at", "on", "am")
OF_RATING = ("rating", "rated", "review", "reviewed", "vote", "voted", "unix")
NOT_OF_RATING = (
    "release",
    "released",
    "birth",
    "born",
    "publication",
    "published",
    "join",
    "joined",
    "signup",
    "member",
    "registration",
    "registered",
)
# as the last word
NO_RATING = (
    *WHEN,
    "at",
    "on",
    "id",
    "ids",
    "count",
    "counts",
    "number",
    "num",
    "no",
    "name",
    "text",
    "title",
    "type",
    "user",
    "item",
)


@dataclass(frozen=True)
class Way:
    """How whoever reads a table here can say more of it: sentences. columns: from a role and a
    column for each that is wrong or missing.
    """

    columns: Callable[[Mapping[str, str]], str]
    bounds: str
    other_bounds: str = "Declare other bounds."
    dates: str = ""  # where dates that can be read in two ways are asked about, not assumed


def _renamed(roles: Mapping[str, str]) -> str:
    names = list(roles)
    return (
        f"rename the column{'s' * (len(names) > 1)} to"
        f" {' and '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}"
    )


def in_path(path: str, facts: Mapping[str, str]) -> Way:
    """For a path with something said after it; the advice is that path, with more."""

    def saying(**more: str) -> str:
        return f"'{path}?{urlencode({**facts, **more}, safe=',/')}'"

    return Way(
        lambda roles: f"Name it after the path, e.g. {saying(**roles)}, or {_renamed(roles)}.",
        f"Declare them after the path, e.g. {saying(bounds='1,5')}.",
    )


PYTHON = Way(
    lambda roles: f"Name it, e.g. columns={dict(roles)}, or {_renamed(roles)}.",
    "Declare them, e.g. bounds=(1, 5).",
)
PAGE = Way(
    lambda roles: (
        f"Choose another column above, under {' and '.join(LABELS[role] for role in roles)}."
    ),
    "Fill in both bounds above.",
    "Change the bounds above.",
    "Say above whether the day or the month comes first.",
)
IMPORT = Way(
    lambda roles: f"In the file's header, {_renamed(roles)}.",
    "",
    "Take the file by its path, e.g. --dataset 'ratings.csv?bounds=0,10'.",
)


def split_name(name: str) -> list[str]:
    """The words of a column's name, in lower case: `ReviewDate`, `rating_time`, `user-id`."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_when(name: str) -> bool:
    """Whether a column's name says that it holds times."""
    words = split_name(name)
    if not words:
        return False
    return (
        words[-1] in WHEN
        or (len(words) > 1 and words[-1] in BEFORE_WHEN and words[-2] in DONE)
        or bool(re.fullmatch(_JOINED, "".join(words)))
    )


_JOINED = rf"(unix)?({'|'.join((*OF_RATING, *DONE))})({'|'.join(WHEN)}|at|on)"


def by_name(names: Sequence[str], *, loosely: bool) -> dict[str, int]:
    """The place of each role's column as far as its whole name tells; loosely: or how it
    begins, for somebody to look at.
    """
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    chosen: dict[str, int] = {}
    for role, known in KNOWN.items():
        free = [
            plain.index(word)
            for word in known.split()
            if word in plain and plain.index(word) not in chosen.values()
        ]
        if free:
            chosen[role] = free[0]
    if "time" not in chosen and (times := _times(names, chosen)):
        chosen["time"] = times[0]
    for role in (role for role in KNOWN if loosely and role not in chosen):
        known_words = [word for word in (*KNOWN[role].split(), *BEGINNINGS[role]) if len(word) > 3]
        fits = [
            place
            for word in known_words
            for place, text in enumerate(plain)
            if _begins(role, word, text, names[place])
        ]
        if free := [place for place in fits if place not in chosen.values()]:
            chosen[role] = free[0]
    if "title" in chosen:
        chosen.setdefault("item", chosen["title"])  # an item may be called by its own name
    return chosen


def _begins(role: str, word: str, plain: str, name: str) -> bool:
    """Whether a column's name begins with a word of a role; a rating's may end with it."""
    return (
        plain.startswith(word) or (role == "rating" and split_name(name)[-1:] == [word])
    ) and _may_be(role, name)


def _times(names: Sequence[str], chosen: Mapping[str, int]) -> list[int]:
    """Columns of times, the likeliest first; when something was released or somebody was born
    is no time of a rating.
    """
    found = [
        (not set(words) & set(OF_RATING), place)
        for place, words in enumerate(map(split_name, names))
        if place not in chosen.values()
        and is_when(names[place])
        and not set(words) & set(NOT_OF_RATING)
    ]
    return [place for _, place in sorted(found)]


def _may_be(role: str, name: str) -> bool:
    """Whether a column whose name begins like a role's may play it: what ends in time, count or
    id is no rating; what ends in rating is no item.
    """
    if role == "time":
        return not set(split_name(name)) & set(NOT_OF_RATING)
    last = (split_name(name) or [""])[-1]
    if role == "rating":
        return not is_when(name) and last not in NO_RATING
    return not is_when(name) and last not in KNOWN["rating"].split()


def names_of(table: Table) -> tuple[str, ...]:
    """The names of a table's columns, or what they are called where it has no header."""
    return table.names or tuple(f"column {j + 1}" for j in range(len(table.first)))


def detected(table: Table) -> dict[str, str]:
    """The column of each role as far as names or places tell, for somebody to look at; a role
    that is not recognised is left out.
    """
    names = names_of(table)
    places = (
        by_name(names, loosely=True)
        if table.names
        else dict(zip(ROLES, range(len(names)), strict=False))
    )
    rating = places.get("rating")
    if rating is not None and looks_like_times(table.sample(rating)):
        places.pop("rating")
        if not table.names and len(names) > 3 and not looks_like_times(table.sample(3)):
            places |= {"rating": 3, "time": rating}
    return {role: names[place] for role, place in places.items()}


def chosen_columns(table: Table, asked: Mapping[str, str], name: str, way: Way) -> dict[str, int]:
    """Which column plays which role: as asked for ("": none), by its name, or by place where
    there is no header. Raises BadInput with advice for the way.
    """
    if unknown := set(asked) - set(KNOWN):
        raise BadInput(
            f"Columns can be named for {', '.join(KNOWN)}. Got {', '.join(sorted(unknown))}."
        )
    names = names_of(table)
    chosen = {
        role: _place(names, column, name, role, way, headed=bool(table.names))
        for role, column in asked.items()
        if column
    }
    _no_two(names, chosen)
    if table.names:
        rest = by_name(
            [column if place not in chosen.values() else "" for place, column in enumerate(names)],
            loosely=False,
        )
    else:
        rest = {
            role: place
            for role, place in zip(ROLES, range(len(names)), strict=False)
            if place not in chosen.values()
        }
    chosen = {
        role: chosen.get(role, rest.get(role, -1))
        for role in KNOWN
        if role in chosen or (role in rest and role not in asked)
    }
    if missing := [role for role in NEEDED if role not in chosen]:
        if not table.names:
            raise BadInput(
                f"{name} has no header and {len(names)} column{'s' * (len(names) != 1)}: user, item"
                " and rating are needed. Add a header: user,item,rating."
            )
        spare = [column for place, column in enumerate(names) if place not in chosen.values()]
        example = {
            role: spare[place] if place < len(spare) else names[-1]
            for place, role in enumerate(missing)
        }
        raise BadInput(
            f"No column of {name} is recognised as the {' or the '.join(missing)}. Its columns:"
            f" {_few(names)}. {way.columns(example)}"
        )
    if "rating" not in asked:
        _no_times(table, names, chosen["rating"], name, way)
    return chosen


def _no_two(names: Sequence[str], chosen: Mapping[str, int]) -> None:
    """Refuses one column for two roles; an item may be called by its own name."""
    roles: dict[int, str] = {}
    for role, place in chosen.items():
        if role != "title" and roles.setdefault(place, role) != role:
            raise BadInput(
                f"The column '{names[place]}' was chosen for the {roles[place]} and for the {role}."
                " Each has a column of its own."
            )


def _place(
    names: Sequence[str], column: str, name: str, role: str, way: Way, *, headed: bool
) -> int:
    """Where a column stands; without a header 4 is `column 4`."""
    called = f"column {column}" if not headed and column.isdecimal() else column
    if called not in names:
        raise BadInput(
            f"{name} has no column '{column[:40]}'.{closest(called, names)} Its columns:"
            f" {_few(names)}. {way.columns({role: names[0]})}"
        )
    return names.index(called)


def _no_times(table: Table, names: Sequence[str], rating: int, name: str, way: Way) -> None:
    """Refuses what was taken for the rating without being asked for, and is none."""
    sample = table.sample(rating)
    if looks_like_times(sample):
        others = [
            column
            for place, column in enumerate(names)
            if place != rating and not looks_like_times(table.sample(place))
        ]
        raise BadInput(
            f"The column '{names[rating]}' of {name} would be the rating, and holds times"
            f" ({sample[0][:40]}). Its columns: {_few(names)}."
            f" {way.columns({'rating': (others or names)[-1]})}"
        )
    if not table.names and not is_number(sample[0] if sample else ""):
        raise BadInput(
            f"{name} has no header and its first row is not user, item, rating:"
            f" {', '.join(table.first)[:80]}. Add a header: user,item,rating."
        )


def _few(names: Sequence[str]) -> str:
    """The first names of a header, shortened, without what cannot be printed."""
    plain = ["".join(letter for letter in name if letter.isprintable())[:40] for name in names[:20]]
    return ", ".join(plain) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
