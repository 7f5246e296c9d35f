"""The MovieLens ratings of the GroupLens group (Harper and Konstan 2015), in official layouts."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import Entry
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import Report, outside_of
from dpmf_core.data.row_rules import MOST_OUTSIDE
from dpmf_datasets.readers.archives import ArchiveMembers, members_of
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import in_header, read_table
from dpmf_datasets.readers.table import file_name
from dpmf_datasets.readers.tables import table_in

# title, with the year in brackets, and genres, by id
TitledFilms = dict[str, tuple[str, str]]
# the flags in the file of films of 100K, in order (its README)
GENRES_OF_100K = (
    "unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy Film-Noir"
    " Horror Musical Mystery Romance Sci-Fi Thriller War Western"
)


# the file of ratings; the optional file of films, and what separates its cells
LAYOUTS = {
    "ratings.dat": ("movies.dat", "::"),  # 1M and 10M
    "u.data": ("u.item", "|"),  # 100K
    "ratings.csv": ("movies.csv", ","),  # 20M and 32M
    # 1M without its times: position in the user's own order instead
    "ratings.csv.gz": ("movies.dat", "::"),
}


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """A release from its official archive or folder, or from a table with a header.

    Ratings that are not the whole release are not public.
    """
    with members_of(path) as members:
        alone = ""
        if path.is_file() and len(members.names) == 1:
            alone = members.names[0]
        name = next(filter(members.find, LAYOUTS), alone)
        member = members.find(name)
        if member is None:
            raise BadInput(
                f"{file_name(path)} has no file of ratings. {entry.title} is read from"
                f" {', '.join(LAYOUTS)}, or from a table with a header. Found: {members.some}."
            )
        with members.open(member) as stream:
            table = table_in(stream, entry.id)
            ratings, report = read_table(
                table,
                name=entry.id,
                declared=Declared(entry.bounds),
                advice=in_header,
            )
        if name in LAYOUTS:
            films = _films(members, *LAYOUTS[name])
        else:
            films = {}
    labels = ratings.labels or ()
    titles = ratings.titles or labels
    rated = [
        films.get(label, (title, ""))
        for label, title in zip(labels, titles, strict=True)
    ]
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
    # (no genres listed)
    names = [str(name) for name in flags if not str(name).startswith("(")]
    if names:
        return ItemFeatures(tuple(names), flags[names].to_numpy(np.float32))
    return None


def _films(members: ArchiveMembers, name: str, separator: str) -> TitledFilms:
    """Titles and genres, which 100K has as flags from the sixth field."""
    member = members.find(name)
    if member is None:
        return {}
    with members.open(member) as stream:
        raw = stream.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:  # the files of 100K and 1M
        text = raw.decode("latin-1")
    rows: Iterable[list[str]] = (line.split(separator) for line in text.splitlines())
    if separator == ",":
        rows = csv.reader(io.StringIO(text))
    films = {}
    for row in (row for row in rows if len(row) > 1):
        flags = "|".join(
            compress(GENRES_OF_100K.split(), (flag == "1" for flag in row[5:]))
        )
        films[row[0]] = (row[1], flags if separator == "|" else "".join(row[2:3]))
    return films


def published_or_private(
    entry: Entry, ratings: Ratings, report: Report
) -> tuple[Ratings, Report]:
    """Ratings with the published counts are the published set; others are private.

    Raises BadInput if they are on another scale.
    """
    outside = outside_of(report.problems)
    if outside is not None and MOST_OUTSIDE * outside.count > len(ratings):
        scale = (
            f"{entry.bounds[0]:g} to {entry.bounds[1]:g}, the bounds of {entry.title}"
        )
        raise BadInput(
            f"{outside.count:,} of the {len(ratings):,} ratings, more than a tenth, lie outside"
            f" {scale}. {in_header({'bounds': '0,10'})}"
        )
    counts = (ratings.n_users, ratings.n_items, len(ratings))
    official = (entry.n_users, entry.n_items, entry.n_ratings)
    if counts == official and not report.problems:
        return replace(
            ratings,
            public=True,
            assumptions=(),
            user_keys=None,
        ), report
    whole = f"{official[2]:,} ratings by {official[0]:,} users of {official[1]:,} items"
    note = f"This is not all of {entry.title}, which has {whole}, so it is treated as private data."
    assumptions = tuple(
        dict.fromkeys((USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC, *ratings.assumptions))
    )
    return replace(ratings, public=False, assumptions=assumptions), replace(
        report, assumed=(*report.assumed, note)
    )
