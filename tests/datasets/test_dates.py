"""Times of ratings in every form, against datetime; which form it was is said, and what could
be read in two ways is taken as public.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from dpmf_datasets.readers.dates import (
    FORMAT_IS_PUBLIC,
    Column,
    ColumnTimes,
    looks_like_times,
)
from dpmf_datasets.readers.ratings_tables import read_table
from dpmf_datasets.readers.report import NO_TIME

START = datetime(2019, 11, 27, 13, 5, 9, tzinfo=UTC)
MOMENTS = [START + timedelta(days=step * 17, hours=step % 5) for step in range(40)]


def times_of(texts: Sequence[str], *more: Sequence[str], order: object = None) -> ColumnTimes:
    column = Column(order)  # type: ignore[arg-type]
    for batch in (texts, *more):
        column.take(pa.array(batch))
    return column.result()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("%d/%m/%Y", "the day first"),
        ("%m/%d/%Y", "the month first"),
        ("%d.%m.%Y %H:%M", "the day first"),
        ("%m-%d-%Y", "the month first"),
        ("%d/%m/%y", "the day first"),
        ("%m/%d/%Y %I:%M:%S %p", "the month first"),
        ("%d %b %Y", "names of months"),
        ("%B %d, %Y", "names of months"),
        ("%d-%b-%Y %H:%M:%S", "names of months"),
        ("%a, %d %b %Y %H:%M:%S GMT", "names of months"),
        ("%a %b %d %H:%M:%S %Y", "names of months"),
        ("%a %b %d %H:%M:%S +0000 %Y", "names of months"),
        ("%Y/%m/%d", "year, month, day"),
        ("%Y-%m-%dT%H:%M:%SZ", "year, month, day"),
    ],
)
def test_dates_are_read_and_their_form_is_said(form: str, words: str) -> None:
    got = times_of([moment.strftime(form) for moment in MOMENTS])
    truth = [
        datetime.strptime(moment.strftime(form), form).replace(tzinfo=UTC) for moment in MOMENTS
    ]
    assert got.order is not None and words in got.words
    assert got.order.tolist() == [
        int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 1_000_000
        for moment in truth
    ]
    assert got.assumption == (FORMAT_IS_PUBLIC if "first" in words else "")


def test_two_units_in_one_column_give_no_order() -> None:
    """Else every time in milliseconds would come after every time in seconds."""
    got = times_of(
        [str(int(moment.timestamp())) for moment in MOMENTS[:30]],
        [str(int(moment.timestamp()) * 1000) for moment in MOMENTS[30:]],
    )
    assert (
        got.order is None and got.unread.sum() == 10 and "seconds and milliseconds" in got.example
    )


def test_the_whole_column_decides_not_its_beginning() -> None:
    early, late = ["01/02/2021", "03/04/2021"], ["25/12/2021"]
    both = times_of(early, late, ["12/25/2021"])
    assert both.order is None and both.unread.sum() == 1


def test_ratings_are_not_times() -> None:
    for values in (
        ["1", "5", "3.5"],
        ["100", "250"],
        ["10000000"],
        ["good"],
        [],
        [""],
        ["978300760", "4"],
    ):
        assert not looks_like_times(values)


def table(*times: str) -> bytes:
    return "\n".join(
        [
            "user,item,rating,ReviewDate",
            *(f"{user},{item},3,{time}" for item in (1, 2) for user, time in enumerate(times)),
            "",
        ]
    ).encode()


def test_every_time_that_cannot_be_read_is_counted() -> None:
    _, report = read_table(
        table("25/12/2020", "12/25/2020", "24/12/2020"), name="a.csv", bounds=(1, 5)
    )
    assert {
        problem.kind: (problem.count, problem.lines, problem.example) for problem in report.problems
    } == {NO_TIME: (2, (3, 6), "12/25/2020")}
