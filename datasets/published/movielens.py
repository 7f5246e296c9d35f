"""The MovieLens ratings of the GroupLens group (Harper and Konstan 2015), in official layouts."""

import csv
import io
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.columns import in_header
from dpmf_datasets.readers.ratings_tables import MOST_OUTSIDE, read_table
from dpmf_datasets.readers.report import Kind, Report
from dpmf_datasets.readers.table import file_name


@dataclass(frozen=True)
class Film:
    """A film in the file of films: its title, with the year in brackets, and its genres."""

    title: str
    genres: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The file of ratings, the optional file of films, and how that is read."""

    ratings: str
    films: str
    read_films: Callable[[str], dict[str, Film]]


def _from_dat(text: str) -> dict[str, Film]:
    rows = (line.split("::") for line in text.splitlines())
    return {row[0]: Film(row[1], _genres("".join(row[2:3]))) for row in rows if len(row) > 1}


def _from_flags(text: str) -> dict[str, Film]:
    """The title comes second, then dates and an address, and from the sixth field genre flags."""
    rows = (line.split("|") for line in text.splitlines())
    return {
        row[0]: Film(
            row[1], tuple(itertools.compress(GENRES_OF_100K, (flag == "1" for flag in row[5:])))
        )
        for row in rows
        if len(row) > 1
    }


def _from_csv(text: str) -> dict[str, Film]:
    return {
        row["movieId"]: Film(row["title"], _genres(row.get("genres") or ""))
        for row in csv.DictReader(io.StringIO(text))
        if row.get("movieId") and row.get("title")
    }


def _genres(text: str) -> tuple[str, ...]:
    return tuple(genre for genre in text.split("|") if genre and not genre.startswith("("))


# the flags in the file of films, in order (its README)
GENRES_OF_100K = (
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)
LAYOUTS = (
    Layout("ratings.dat", "movies.dat", _from_dat),  # 1M and 10M
    Layout("u.data", "u.item", _from_flags),  # 100K
    Layout("ratings.csv", "movies.csv", _from_csv),  # 20M and 32M
    # 1M without its times: position in the user's own order instead
    Layout("ratings.csv.gz", "movies.dat", _from_dat),
)


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """A release from its official archive or folder, or from a table with a header.

    Ratings that are not the whole release are not public.
    """
    with members_of(path) as members:
        layout = next((layout for layout in LAYOUTS if members.find(layout.ratings)), None)
        name = (
            layout.ratings
            if layout
            else members.names[0]
            if path.is_file() and len(members.names) == 1
            else ""
        )
        member = members.find(name)
        if member is None:
            file_names = ", ".join(layout.ratings for layout in LAYOUTS)
            raise BadInput(
                f"{file_name(path)} has no file of ratings. {entry.title} is read from"
                f" {file_names}, or from a table with a header. Found: {_some(members)}."
            )
        with members.open(member) as stream:
            ratings, report = read_table(
                stream, name=entry.id, bounds=entry.bounds, advice=in_header
            )
        films = _films(members, layout) if layout else {}
    labels = ratings.labels or ()
    titles = ratings.titles or labels
    rated_films = [
        films.get(label, Film(title)) for label, title in zip(labels, titles, strict=True)
    ]
    ratings = replace(
        ratings,
        titles=tuple(film.title for film in rated_films),
        item_features=item_features(rated_films) if films else None,
    )
    return published_or_private(entry, ratings, report)


def item_features(films: Sequence[Film]) -> ItemFeatures | None:
    """A column of 0 and 1 for each genre and for each decade of a title's year.

    None if the films have neither.
    """
    by_film = [(*sorted(film.genres), *_decade(film.title)) for film in films]
    names = sorted({name for names in by_film for name in names})
    place = {name: column for column, name in enumerate(names)}
    values = np.zeros((len(films), len(names)), np.float32)
    for row, film_names in enumerate(by_film):
        values[row, [place[name] for name in film_names]] = 1
    return ItemFeatures(tuple(names), values) if names else None


def _decade(title: str) -> tuple[str, ...]:
    year = re.search(r"\((\d{3})\d\)\s*$", title)
    return (f"{year[1]}0s",) if year else ()


def _films(members: Members, layout: Layout) -> dict[str, Film]:
    member = members.find(layout.films)
    if member is None:
        return {}
    with members.open(member) as stream:
        raw = stream.read()
    try:
        return layout.read_films(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:  # the files of 100K and 1M
        return layout.read_films(raw.decode("latin-1"))


def published_or_private(entry: Entry, ratings: Ratings, report: Report) -> tuple[Ratings, Report]:
    """Ratings with the published counts are the published set; others are private.

    Raises BadInput if they are on another scale.
    """
    n_clamped = next(
        (problem.count for problem in report.problems if problem.kind == Kind.CLAMPED_VALUE), 0
    )
    if MOST_OUTSIDE * n_clamped > len(ratings):
        scale = f"{entry.bounds[0]:g} to {entry.bounds[1]:g}, the bounds of {entry.title}"
        raise BadInput(
            f"{n_clamped:,} of the {len(ratings):,} ratings, more than a tenth, lie outside"
            f" {scale}. {in_header({'bounds': '0,10'})}"
        )
    counts, official = (
        (ratings.n_users, ratings.n_items, len(ratings)),
        (entry.n_users, entry.n_items, entry.n_ratings),
    )
    if counts == official and not report.problems:
        return replace(ratings, public=True, assumptions=(), user_keys=None), report
    whole = f"{official[2]:,} ratings by {official[0]:,} users of {official[1]:,} items"
    note = f"This is not all of {entry.title}, which has {whole}, so it is treated as private data."
    assumptions = tuple(dict.fromkeys((USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC, *ratings.assumptions)))
    return replace(ratings, public=False, assumptions=assumptions), replace(report, note=note)


def _some(members: Members) -> str:
    names = [name for name in members.names if not re.match(r"__MACOSX|\.", name)]
    return ", ".join(map(file_name, names[:5])) + (", ..." if len(names) > 5 else "") or "nothing"
