"""The MovieLens ratings of the GroupLens group (Harper and Konstan 2015), in the layouts they are published in."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from datasets.archives import Members, opened
from datasets.columns import IMPORT
from datasets.entry import Entry
from datasets.report import CLAMPED, Report
from datasets.tables import called
from datasets.upload import MOST_CLAMPED, read_labelled
from dpmf_core.data import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_core.errors import BadInput

LICENCE = (
    "Free for research. Not to be redistributed without separate permission, nor used for commercial or revenue-bearing purposes without permission "
    "from the GroupLens Research Project; no endorsement by the University of Minnesota or GroupLens may be implied; acknowledge the data in publications."
)
CITATION = "F. M. Harper and J. A. Konstan, The MovieLens Datasets: History and Context, ACM TiiS 5(4):19, 2015, doi:10.1145/2827872"


def _entry(id: str, size: str, mb: float, counts: tuple[int, int, int], bounds: tuple[float, float], words: str) -> Entry:  # noqa: A002
    users, items, ratings = counts
    return Entry(
        id=id, title=f"MovieLens {size.upper()}", kind="download", words=words, licence=LICENCE, citation=CITATION, size_mb=mb, n_users=users,
        n_items=items, n_ratings=ratings, bounds=bounds, home=f"https://grouplens.org/datasets/movielens/{size}/",
    )  # fmt: skip


# Counts as published; items are those with a rating.
ENTRIES = (
    _entry("ml-100k", "100k", 4.9, (943, 1_682, 100_000), (1, 5), "Whole stars from 943 people, 1997 and 1998; the smallest real set."),
    _entry("ml-1m", "1m", 5.9, (6_040, 3_706, 1_000_209), (1, 5), "Whole stars from 6,040 people who joined in 2000, at least 20 each."),
    _entry("ml-10m", "10m", 65.6, (69_878, 10_677, 10_000_054), (0.5, 5), "Half stars from 69,878 people, 1995 to 2009."),
    _entry("ml-20m", "20m", 198.7, (138_493, 26_744, 20_000_263), (0.5, 5), "Half stars from 138,493 people, 1995 to 2015."),
    _entry("ml-32m", "32m", 239.0, (200_948, 84_432, 32_000_204), (0.5, 5), "Half stars from 200,948 people, 1995 to 2023."),
)

# The checksums that GroupLens publishes beside its archives.
MD5 = {
    "ml-100k": "0e33842e24a9c977be4e0107933c0723",
    "ml-1m": "c4d9eecfca2ab87c1945afe126590906",
    "ml-10m": "ce571fd55effeba0271552578f2648bd",
    "ml-20m": "cd245b17a1ae2cc31bb14903e1204af3",
    "ml-32m": "d472be332d4daa821edc399621853b57",
}


def url(id: str) -> str:  # noqa: A002
    return f"https://files.grouplens.org/datasets/movielens/{id}.zip"


@dataclass(frozen=True)
class Layout:
    """The file of ratings, the file of titles that may lie beside it, and how that is read."""

    ratings: str
    films: str
    titles: Callable[[str], dict[str, str]]


def _by_separator(separator: str) -> Callable[[str], dict[str, str]]:
    def titles(text: str) -> dict[str, str]:
        rows = (line.split(separator) for line in text.splitlines())
        return {row[0]: row[1] for row in rows if len(row) > 1}

    return titles


def _from_csv(text: str) -> dict[str, str]:
    return {row["movieId"]: row["title"] for row in csv.DictReader(io.StringIO(text)) if row.get("movieId") and row.get("title")}


LAYOUTS = (
    Layout("ratings.dat", "movies.dat", _by_separator("::")),  # 1M and 10M
    Layout("u.data", "u.item", _by_separator("|")),  # 100K
    Layout("ratings.csv", "movies.csv", _from_csv),  # 20M and 32M
    Layout("ratings.csv.gz", "movies.dat", _by_separator("::")),  # 1M without its times: position in the user's own order instead
)


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """A release from its official archive or folder, or from a table with a header. Ratings that are not the whole release are not public."""
    with opened(path) as members:
        layout = next((layout for layout in LAYOUTS if members.find(layout.ratings)), None)
        name = layout.ratings if layout else members.names[0] if path.is_file() and len(members.names) == 1 else ""
        member = members.find(name)
        if member is None:
            wanted = ", ".join(layout.ratings for layout in LAYOUTS)
            raise BadInput(
                f"{called(path)} has no file of ratings. {entry.title} is read from {wanted}, or from a table with a header. Found: {_some(members)}."
            )
        with members.open(member) as stream:
            ratings, report, labels = read_labelled(stream, name=entry.id, bounds=entry.bounds, way=IMPORT)
        titles = _titles(members, layout) if layout else {}
    ratings = replace(ratings, titles=tuple(titles.get(label, title) for label, title in zip(labels, ratings.titles or labels, strict=True)))
    return judged(entry, ratings, report)


def _titles(members: Members, layout: Layout) -> dict[str, str]:
    found = members.find(layout.films)
    if found is None:
        return {}
    with members.open(found) as stream:
        raw = stream.read()
    try:
        return layout.titles(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:  # the files of 100K and 1M
        return layout.titles(raw.decode("latin-1"))


def judged(entry: Entry, ratings: Ratings, report: Report) -> tuple[Ratings, Report]:
    """Ratings with the published counts are the published set; others are taken, as private ones. Raises BadInput where they are on another scale."""
    clamped = next((problem.count for problem in report.problems if problem.kind == CLAMPED), 0)
    if MOST_CLAMPED * clamped > len(ratings):
        scale = f"{entry.bounds[0]:g} to {entry.bounds[1]:g}, the bounds of {entry.title}"
        raise BadInput(f"{clamped:,} of the {len(ratings):,} ratings, more than a tenth, lie outside {scale}. {IMPORT.other_bounds}")
    found, official = (ratings.n_users, ratings.n_items, len(ratings)), (entry.n_users, entry.n_items, entry.n_ratings)
    if found == official and not report.problems:
        return replace(ratings, public=True, assumptions=()), report
    whole = f"{official[2]:,} ratings by {official[0]:,} users of {official[1]:,} items"
    note = f"This is not the whole of {entry.title}, which has {whole}: it is treated as private data."
    assumptions = tuple(dict.fromkeys((USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC, *ratings.assumptions)))
    return replace(ratings, public=False, assumptions=assumptions), replace(report, note=note)


def _some(members: Members) -> str:
    names = [name for name in members.names if not re.match(r"__MACOSX|\.", name)]
    return ", ".join(map(called, names[:5])) + (", ..." if len(names) > 5 else "") or "nothing"
