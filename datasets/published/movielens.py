"""The MovieLens ratings of the GroupLens group (Harper and Konstan 2015), in official layouts."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.ratings_tables import MOST_OUTSIDE, in_header, read_table
from dpmf_datasets.readers.report import Report, outside_of
from dpmf_datasets.readers.table import file_name

Films = dict[str, tuple[str, str]]  # title, with the year in brackets, and genres, by id
# the flags in the file of films of 100K, in order (its README)
GENRES_OF_100K = (
    "unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy Film-Noir"
    " Horror Musical Mystery Romance Sci-Fi Thriller War Western"
)


@dataclass(frozen=True)
class Layout:
    """The file of ratings, the optional file of films, and how that is read."""

    ratings: str
    films: str
    read_films: Callable[[str], Films]


def _from_dat(text: str) -> Films:
    rows = (line.split("::") for line in text.splitlines())
    return {row[0]: (row[1], "".join(row[2:3])) for row in rows if len(row) > 1}


def _from_flags(text: str) -> Films:
    """The title comes second, then dates and an address, and from the sixth field genre flags."""
    rows = (line.split("|") for line in text.splitlines())
    return {
        row[0]: (
            row[1],
            "|".join(compress(GENRES_OF_100K.split(), (flag == "1" for flag in row[5:]))),
        )
        for row in rows
        if len(row) > 1
    }


def _from_csv(text: str) -> Films:
    return {
        row["movieId"]: (row["title"], row.get("genres") or "")
        for row in csv.DictReader(io.StringIO(text))
        if row.get("movieId") and row.get("title")
    }


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
        alone = members.names[0] if path.is_file() and len(members.names) == 1 else ""
        member = members.find(layout.ratings if layout else alone)
        if member is None:
            file_names = ", ".join(layout.ratings for layout in LAYOUTS)
            raise BadInput(
                f"{file_name(path)} has no file of ratings. {entry.title} is read from"
                f" {file_names}, or from a table with a header. Found: {members.some}."
            )
        with members.open(member) as stream:
            ratings, report = read_table(
                stream, name=entry.id, bounds=entry.bounds, advice=in_header
            )
        films = _films(members, layout) if layout else {}
    labels = ratings.labels or ()
    titles = ratings.titles or labels
    rated = [films.get(label, (title, "")) for label, title in zip(labels, titles, strict=True)]
    ratings = replace(
        ratings,
        titles=tuple(title for title, _ in rated),
        item_features=_item_features(rated) if films else None,
    )
    return published_or_private(entry, ratings, report)


def _item_features(films: Sequence[tuple[str, str]]) -> ItemFeatures | None:
    """A column of 0 and 1 for each genre and for each decade of a title's year.

    None if the films have neither.
    """
    table = pd.DataFrame(films, columns=["title", "genres"], dtype=object)
    decades = table["title"].str.extract(r"\((\d{3})\d\)\s*$")[0] + "0s"
    flags = (table["genres"] + "|" + decades.fillna("")).str.get_dummies("|")
    names = [str(name) for name in flags if not str(name).startswith("(")]  # (no genres listed)
    return ItemFeatures(tuple(names), flags[names].to_numpy(np.float32)) if names else None


def _films(members: Members, layout: Layout) -> Films:
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
    outside = outside_of(report.problems)
    if outside is not None and MOST_OUTSIDE * outside.count > len(ratings):
        scale = f"{entry.bounds[0]:g} to {entry.bounds[1]:g}, the bounds of {entry.title}"
        raise BadInput(
            f"{outside.count:,} of the {len(ratings):,} ratings, more than a tenth, lie outside"
            f" {scale}. {in_header({'bounds': '0,10'})}"
        )
    counts = (ratings.n_users, ratings.n_items, len(ratings))
    official = (entry.n_users, entry.n_items, entry.n_ratings)
    if counts == official and not report.problems:
        return replace(ratings, public=True, assumptions=(), user_keys=None), report
    whole = f"{official[2]:,} ratings by {official[0]:,} users of {official[1]:,} items"
    note = f"This is not all of {entry.title}, which has {whole}, so it is treated as private data."
    assumptions = tuple(dict.fromkeys((USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC, *ratings.assumptions)))
    return replace(ratings, public=False, assumptions=assumptions), replace(
        report, assumed=(*report.assumed, note)
    )
