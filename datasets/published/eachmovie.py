"""EachMovie (DEC Systems Research Center 1997), from a user's own copy: `vote.txt`, and `movie.txt`
for the titles.

A vote is person, film, score, weight, time; scores are 0, .2, ... 1 and become 1 to 6, as in Balu &
Furon 2016. Votes of every weight count.
"""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_datasets.published.movielens import published_or_private
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.columns import IMPORT
from dpmf_datasets.readers.ratings_tables import read_labelled
from dpmf_datasets.readers.report import Report
from dpmf_datasets.readers.table import file_name
from dpmf_datasets.source import Source

if TYPE_CHECKING:  # where it is needed it is loaded: most data sets do without
    import pandas as pd

COLUMNS = ("person", "movie", "score", "weight", "modified")
STEPS = 5  # above the lowest score

ENTRY = Entry(
    id="eachmovie",
    title="EachMovie",
    kind="file",
    words="Six grades of 1,623 films by 61,265 people, 1995 to 1997; from your own copy.",
    licence=(
        "Given out by DEC, then Compaq, for research; withdrawn in 2004 over concerns about"
        " privacy, and no longer distributed. Not to be passed on."
    ),
    citation=(
        "P. McJones, EachMovie collaborative filtering data set, DEC Systems Research Center, 1997"
    ),
    size_mb=70,
    n_users=61_265,
    n_items=1_623,
    n_ratings=2_811_718,
    bounds=(1.0, 6.0),
    home="https://grouplens.org/datasets/eachmovie/",
)


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """The votes of a folder, archive or file. Raises BadInput where they are not in that layout."""
    with members_of(path) as members:
        member = _member(members, "vote") or (
            members.names[0] if path.is_file() and len(members.names) == 1 else None
        )
        if member is None:
            raise BadInput(
                f"{file_name(path)} has no vote.txt. Found:"
                f" {', '.join(map(file_name, members.names[:5])) or 'nothing'}."
            )
        votes = _table(members, member)
        titles = _titles(members)
    ratings, report, labels = read_labelled(
        io.BytesIO(_grades_csv(votes, member)), name=entry.id, bounds=entry.bounds, way=IMPORT
    )
    return published_or_private(
        entry,
        replace(ratings, titles=tuple(titles.get(label, f"Film {label}") for label in labels)),
        report,
    )


def _member(members: Members, stem: str) -> str | None:
    return next(
        (
            name
            for name in sorted(members.names)
            if re.fullmatch(rf"{stem}s?\.(txt|tsv|csv|dat)", Path(name).name, re.IGNORECASE)
        ),
        None,
    )


def _table(members: Members, member: str) -> "pd.DataFrame":
    """Columns of text by name; a header, where there is one, is dropped."""
    import pandas as pd

    with members.open(member) as stream:
        head = stream.read(4096).decode("latin-1").partition("\n")[0]
    separator = max("\t,;", key=head.count)
    with members.open(member) as stream:
        try:
            table = pd.read_csv(
                stream,
                sep=separator,
                header=None,
                names=COLUMNS,
                dtype=str,
                encoding="latin-1",
                on_bad_lines="skip",
                usecols=range(5),
            )
        except (ValueError, pd.errors.ParserError) as error:
            raise BadInput(
                f"{member} cannot be read as person, film, score, weight and time in five columns:"
                f" {error}."
            ) from error
    return table[pd.to_numeric(table["person"].head(1), errors="coerce").isna().sum() :]


def _grades_csv(votes: "pd.DataFrame", member: str) -> bytes:
    """A table with a header; scores from 0 to 1 as grades from 1 to 6."""
    import pandas as pd

    score = pd.to_numeric(votes["score"], errors="coerce")
    if not len(score) or not score.notna().any():
        raise BadInput(f"{member} holds no score: its third column should be numbers from 0 to 1.")
    if score.max() > 1 or score.min() < 0:
        raise BadInput(
            f"The scores of {member} should lie from 0 to 1. Got {score.min():g} to"
            f" {score.max():g}."
        )
    dates = pd.to_datetime(votes["modified"], errors="coerce", format="mixed")
    seconds = (dates - pd.Timestamp(0)) // pd.Timedelta("1s")
    out = pd.DataFrame(
        {
            "user": votes["person"],
            "item": votes["movie"],
            "rating": (1 + STEPS * score).round().where(score.notna(), votes["score"]),
        }
    )
    if dates.notna().all():
        out["timestamp"] = seconds
    return out.to_csv(index=False).encode()


def _titles(members: Members) -> dict[str, str]:
    member = _member(members, "movie")
    if member is None:
        return {}
    with members.open(member) as stream:
        rows = (re.split(r"\t", line) for line in stream.read().decode("latin-1").splitlines())
        return {row[0].strip(): row[1].strip() for row in rows if len(row) > 1}


SOURCES = (Source(ENTRY, read=read),)
