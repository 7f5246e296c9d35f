"""The Netflix Prize ratings (Bennett and Lanning 2007), streamed from a user's
`combined_data_*.txt`.

A line `MOVIE:` starts a film, then come lines `user,rating,date`. Read in chunks; 9 bytes a rating
are held while reading, about 40 at the highest point, while they are sorted by user: 4 GB for the
whole 100 million.
"""

import datetime
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpmf_core.data.catalogue import Entry
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_datasets.published.movielens import published_or_private
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.report import (
    CLAMPED_VALUE,
    DUPLICATE,
    MISSING,
    NO_FILM,
    NOT_A_NUMBER,
    Report,
    Tally,
)
from dpmf_datasets.readers.table import file_name

if TYPE_CHECKING:  # where it is needed it is loaded: most data sets do without
    import pandas as pd

CHUNK = 2_000_000  # lines
MOST_FILM = 17_770
EPOCH = datetime.date(1999, 1, 1).toordinal()
LAYOUT = re.compile(r"combined_data_\d+\.txt(\.gz)?$")


class _Compact:
    """Ratings read so far, 9 bytes each: user int32, film int16 (numbered from 0), stars int8,
    day int16.
    """

    def __init__(self) -> None:
        self.parts: list[tuple[npt.NDArray[Any], ...]] = []
        self.tally, self.lines, self.read = Tally(), 0, 0
        self.film: float = float("nan")
        self.dates: dict[str, int] = {}

    def take(self, chunk: "pd.DataFrame") -> None:
        import pandas as pd

        rows = np.arange(self.lines, self.lines + len(chunk))
        self.lines += len(chunk)
        heads = chunk["user"].str.endswith(":").fillna(False).to_numpy(bool)
        films = pd.to_numeric(chunk["user"].str.rstrip(":").where(heads), errors="coerce").to_numpy(
            np.float64, copy=True
        )
        films[heads & np.isnan(films)] = -1
        if not heads[0]:
            films[0] = self.film
        films = pd.Series(films).ffill().to_numpy()
        self.film = float(films[-1])
        is_rating = ~heads
        self.read += int(is_rating.sum())
        users = pd.to_numeric(chunk["user"], errors="coerce").to_numpy(np.float64)
        stars = pd.to_numeric(chunk["rating"], errors="coerce").to_numpy(np.float64)
        missing = is_rating & chunk["rating"].isna().to_numpy()
        no_film = is_rating & ~((films >= 1) & (films <= MOST_FILM) & (films == np.floor(films)))
        no_user = ~((users >= 1) & (users <= 2**31 - 1) & (users == np.floor(users)))
        text = is_rating & ~missing & ~no_film & (no_user | ~np.isfinite(stars))
        for kind, where in (
            (MISSING, missing),
            (NO_FILM, no_film & ~missing),
            (NOT_A_NUMBER, text),
        ):
            self.tally.add(
                kind,
                rows[where],
                ",".join(map(str, chunk.iloc[int(where.argmax())])) if where.any() else "",
            )
        good = is_rating & ~missing & ~no_film & ~text
        outside = good & ((stars < 1) | (stars > 5))
        self.tally.add(CLAMPED_VALUE, rows[outside], stars[outside][0] if outside.any() else "")
        columns = (
            users[good].astype(np.int32),
            (films[good] - 1).astype(np.int16),
            np.rint(stars[good].clip(1, 5)).astype(np.int8),
        )
        self.parts.append((*columns, self._days(chunk["date"][good])))

    def _days(self, dates: "pd.Series") -> npt.NDArray[np.int16]:
        """Days since EPOCH; 0 where the date cannot be read. Few dates, each read once."""
        import pandas as pd

        codes, distinct = pd.factorize(dates)
        for date in distinct:
            if date not in self.dates:
                day = pd.to_datetime(date, errors="coerce", format="%Y-%m-%d")
                self.dates[date] = (
                    0
                    if pd.isna(day)
                    else int(np.clip((day - pd.Timestamp(1999, 1, 1)).days, 0, 32_000))
                )
        # the last is for what is missing, code -1
        days = np.array([self.dates[date] for date in distinct] + [0], np.int16)
        return days[codes]


def read(entry: Entry, path: Path) -> tuple[Ratings, Report]:
    """The combined files of a folder or zip, or any one file in their layout; titles from
    movie_titles beside them.
    """
    got = _Compact()
    with members_of(path) as members:
        names = sorted(name for name in members.names if LAYOUT.search(name)) or (
            [members.names[0]] if path.is_file() and len(members.names) == 1 else []
        )
        if not names:
            raise BadInput(
                f"{file_name(path)} has no combined_data_1.txt to _4.txt. Found:"
                f" {', '.join(map(file_name, members.names[:5])) or 'nothing'}."
            )
        for name in names:
            for chunk in _chunks(members, name):
                if len(chunk):
                    got.take(chunk)
        titles = _titles(members)
    if not sum(len(part[0]) for part in got.parts):
        raise BadInput(
            f"{file_name(path)} holds no rating. The layout is a line `MOVIE:`, then lines"
            " `user,rating,date`."
        )
    return _ratings(entry, got, titles)


def _chunks(members: Members, name: str) -> "Iterator[pd.DataFrame]":
    import pandas as pd

    with members.open(name) as raw:
        stream: Any = gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else raw
        try:
            yield from pd.read_csv(
                stream,
                header=None,
                names=["user", "rating", "date"],
                dtype=str,
                chunksize=CHUNK,
                encoding="latin-1",
                on_bad_lines="skip",
                quoting=3,
            )
        except pd.errors.EmptyDataError:
            return
        except (pd.errors.ParserError, gzip.BadGzipFile, EOFError) as error:
            raise BadInput(
                f"{name} cannot be read as lines of `MOVIE:` and `user,rating,date`: {error}."
            ) from error


def _titles(members: Members) -> dict[int, str]:
    """Titles may hold commas: only the first two separate columns."""
    member = members.find("movie_titles.csv") or members.find("movie_titles.txt")
    if member is None:
        return {}
    with members.open(member) as stream:
        rows = (line.split(",", 2) for line in stream.read().decode("latin-1").splitlines())
        return {
            int(row[0]) - 1: f"{row[2]} ({row[1]})"
            for row in rows
            if len(row) == 3 and row[0].isdecimal()
        }


def _ratings(entry: Entry, got: _Compact, titles: dict[int, str]) -> tuple[Ratings, Report]:
    """Users renumbered without gaps and sorted; one rating a (user, film), the later one.

    Films keep the catalogue's numbers.
    """
    ids, films, stars, days = (np.concatenate(part) for part in zip(*got.parts, strict=True))
    got.parts.clear()
    occurs = np.zeros(int(ids.max(initial=0)) + 1, bool)
    occurs[ids] = True
    users = (np.cumsum(occurs, dtype=np.int32) - 1)[ids]
    n_users, n_items = int(occurs.sum()), entry.n_items
    del ids
    order = (
        np.lexsort((days, films, users))
        if not _ascending(films)
        else np.argsort(users, kind="stable")
    )
    users, films, stars, days = users[order], films[order], stars[order], days[order]
    del order
    again = np.zeros(len(users), bool)
    again[:-1] = (users[1:] == users[:-1]) & (films[1:] == films[:-1])
    got.tally.add(DUPLICATE, np.flatnonzero(again), "")
    if again.any():
        users, films, stars, days = users[~again], films[~again], stars[~again], days[~again]
    when = days.astype(np.int64) + EPOCH
    all_titles = tuple(titles.get(j, f"Film {j + 1}") for j in range(n_items))
    ratings = Ratings(
        users,
        films.astype(np.int32),
        stars.astype(np.float32),
        n_users,
        n_items,
        entry.bounds,
        when,
        all_titles,
        name=entry.id,
        user_keys=np.flatnonzero(occurs).astype(np.uint64),
    )
    report = Report(
        name=entry.id,
        read=got.read,
        kept=len(ratings),
        n_users=n_users,
        n_items=n_items,
        problems=tuple(got.tally.problems(lambda row: row + 1)),
    )
    return published_or_private(entry, ratings, report)


def _ascending(films: npt.NDArray[np.int16]) -> bool:
    return bool((np.diff(films) >= 0).all())
