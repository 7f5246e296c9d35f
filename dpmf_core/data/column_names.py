"""The roles of a ratings table's columns, by their names."""

import re
from collections.abc import Mapping, Sequence

# Names of columns, without case and punctuation, in English and German ratings files; the most
# certain first.
ROLE_NAMES = {
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
REQUIRED_ROLES = ROLES[:3]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


BEGINNINGS: dict[str, tuple[str, ...]] = {
    "user": _words(
        "client buyer subject visitor guest patron subscriber participant listener rater"
    ),
    "item": _words("programme show series course recipe restaurant hotel"),
    "rating": ("points", "mark"),
    "time": ("when",),
    "title": (),
}
WHEN = _words("time timestamp date datetime day ts epoch")  # how a column of times ends
BEFORE_WHEN = ("at", "on", "am")  # after one of PAST_VERBS
PAST_VERBS = _words(
    "rated reviewed created watched added submitted posted voted listened seen read viewed played"
    " visited bought ordered purchased updated bewertet gesehen gekauft erstellt"
)
OF_RATING = _words("rating rated review reviewed vote voted unix")
NOT_OF_RATING = _words(
    "release released birth born publication published join joined signup member registration"
    " registered"
)
# words that may come last
NO_RATING = (
    *WHEN,
    *_words("at on id ids count counts number num no name text title type user item"),
)


def split_name(name: str) -> list[str]:
    """The words of a column's name in lower case: `ReviewDate`, `rating_time`, `user-id`."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_when(name: str) -> bool:
    """Whether a column holds times, by its name."""
    words = split_name(name)
    if not words:
        return False
    return (
        words[-1] in WHEN
        or (len(words) > 1 and words[-1] in BEFORE_WHEN and words[-2] in PAST_VERBS)
        or bool(re.fullmatch(_COMPOUND, "".join(words)))
    )


_COMPOUND = rf"(unix)?({'|'.join((*OF_RATING, *PAST_VERBS))})({'|'.join(WHEN)}|at|on)"


def by_name(names: Sequence[str], *, loosely: bool) -> dict[str, int]:
    """The place of each role's column by its whole name.

    loosely: also by how the name begins, for a person to check.
    """
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    places: dict[str, int] = {}
    for role, role_names in ROLE_NAMES.items():
        found_places = (plain.index(word) for word in role_names.split() if word in plain)
        if free := [place for place in found_places if place not in places.values()]:
            places[role] = free[0]
    if "time" not in places and (times := _times(names, places)):
        places["time"] = times[0]
    for role in (role for role in ROLE_NAMES if loosely and role not in places):
        known_words = [
            word for word in (*ROLE_NAMES[role].split(), *BEGINNINGS[role]) if len(word) > 3
        ]
        fits = [
            place
            for word in known_words
            for place, text in enumerate(plain)
            if _begins(role, word, text, names[place])
        ]
        if free := [place for place in fits if place not in places.values()]:
            places[role] = free[0]
    if "title" in places:
        places.setdefault("item", places["title"])  # a title may identify an item
    return places


def _begins(role: str, word: str, plain: str, name: str) -> bool:
    """Whether a column's name begins with a word of a role; for ratings, also ends."""
    return (
        plain.startswith(word) or (role == "rating" and split_name(name)[-1:] == [word])
    ) and _may_be(role, name)


def _times(names: Sequence[str], places: Mapping[str, int]) -> list[int]:
    """Columns of times, the likeliest first; dates of releases and births are left out."""
    candidates = [
        (not set(words) & set(OF_RATING), place)
        for place, words in enumerate(map(split_name, names))
        if place not in places.values()
        and is_when(names[place])
        and not set(words) & set(NOT_OF_RATING)
    ]
    return [place for _, place in sorted(candidates)]


def _may_be(role: str, name: str) -> bool:
    """Whether a column whose name begins like a role's may have the role.

    Names that end in time, count or id are no ratings; names that end in rating are no items.
    """
    if role == "time":
        return not set(split_name(name)) & set(NOT_OF_RATING)
    last = (split_name(name) or [""])[-1]
    if role == "rating":
        return not is_when(name) and last not in NO_RATING
    return not is_when(name) and last not in ROLE_NAMES["rating"].split()
