"""Times of ratings in every form, against datetime; which form it was is said, and what could
be read in two ways is taken as public.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import dpmf_datasets as datasets
from dpmf_core.errors import BadInput
from dpmf_datasets import session_files
from dpmf_datasets.readers.dates import (
    FORMAT_IS_PUBLIC,
    UNREAD,
    Column,
    ColumnTimes,
    looks_like_times,
    parse_date,
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


@pytest.mark.parametrize(
    ("unit", "scale", "tail"),
    [
        ("seconds", 1, ""),
        ("milliseconds", 10**3, ""),
        ("microseconds", 10**6, ""),
        ("nanoseconds", 10**9, ""),
        ("seconds", 1, ".0"),
        ("milliseconds", 10**3, ".0"),
    ],
)
def test_the_unit_of_numbers_is_said(unit: str, scale: int, tail: str) -> None:
    got = times_of([f"{int(moment.timestamp()) * scale}{tail}" for moment in MOMENTS])
    assert got.words == f"Times were read as {unit} since 1970."
    assert got.order is not None and (np.diff(got.order) > 0).all()


def test_numbers_without_a_unit_give_an_order_and_say_so() -> None:
    assert "only their order" in times_of(["3", "1", "2"]).words
    assert "eight digits" in times_of(["20210304", "20191231"]).words


def test_two_units_in_one_column_give_no_order() -> None:
    """Else every time in milliseconds would come after every time in seconds."""
    got = times_of(
        [str(int(moment.timestamp())) for moment in MOMENTS[:30]],
        [str(int(moment.timestamp()) * 1000) for moment in MOMENTS[30:]],
    )
    assert (
        got.order is None and got.unread.sum() == 10 and "seconds and milliseconds" in got.example
    )


def test_whole_seconds_and_fractions_of_them_are_one_order() -> None:
    got = times_of(["978300000", "978300002"], ["978300000.5", "978300001"])
    assert got.order is not None and np.argsort(got.order).tolist() == [0, 2, 3, 1]


def test_the_whole_column_decides_not_its_beginning() -> None:
    early, late = ["01/02/2021", "03/04/2021"], ["25/12/2021"]
    assert "with the day first: some first number is above 12" in times_of(early, late).words
    assert (
        "with the month first: some second number is above 12"
        in times_of(early, ["12/25/2021"]).words
    )
    both = times_of(early, late, ["12/25/2021"])
    assert both.order is None and both.unread.sum() == 1


def test_what_no_date_tells_is_assumed_and_can_be_declared() -> None:
    assert (
        "with the month first: no date of the column tells, so this was assumed"
        in times_of(["01/02/2021"]).words
    )
    assert (
        "with the day first: no date of the column tells, so this was assumed"
        in times_of(["01.02.2021"]).words
    )
    got = times_of(["01/02/2021"], order="dmy")
    assert "with the day first: so it was declared" in got.words and got.assumption == ""
    assert times_of(["25/12/2021"], order="mdy").order is None


@pytest.mark.parametrize(
    "text",
    ["yesterday", "5", "1/2", "13/13/2020", "31/04/2021", "3 Foo 2021", "Mar", "2021", "10:30", ""],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_date(text)[:2] == (UNREAD, UNREAD)


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


def test_a_table_says_how_its_dates_were_read_and_what_that_rests_on() -> None:
    ratings, report = read_table(
        table("25/12/2020", "01/02/2021", "03/01/2021"), name="a.csv", bounds=(1, 5)
    )
    assert ratings.order is not None and np.argsort(ratings.order[::2]).tolist() == [0, 2, 1]
    assert (
        "Dates such as 03/04/2021 were read with the day first" in report.words
        and FORMAT_IS_PUBLIC in ratings.assumptions
    )
    with_order, _ = read_table(
        table("25/12/2020", "01/02/2021", "03/01/2021"), name="a.csv", bounds=(1, 5), dates="dmy"
    )
    assert FORMAT_IS_PUBLIC not in with_order.assumptions


def test_every_time_that_cannot_be_read_is_counted() -> None:
    _, report = read_table(
        table("25/12/2020", "12/25/2020", "24/12/2020"), name="a.csv", bounds=(1, 5)
    )
    assert {
        problem.kind: (problem.count, problem.lines, problem.example) for problem in report.problems
    } == {NO_TIME: (2, (3, 6), "12/25/2020")}


def test_a_path_declares_dates(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(table("01/02/2021", "02/01/2021"))
    orders = {
        how: datasets.load(f"{tmp_path / 'a.csv'}?bounds=1,5{how}").order
        for how in ("", "&dates=dmy", "&dates=mdy")
    }  # type: ignore[union-attr]
    assert np.array_equal(orders[""], orders["&dates=mdy"]) and not np.array_equal(
        orders[""], orders["&dates=dmy"]
    )
    with pytest.raises(BadInput, match=r"dmy .*mdy"):
        datasets.load(f"{tmp_path / 'a.csv'}?bounds=1,5&dates=us")


def test_what_was_brought_keeps_what_its_dates_rest_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    upload = session_files.ratings(table("25/12/2020", "01/02/2021"), "a.csv", {}, (1.0, 5.0))
    assert (
        FORMAT_IS_PUBLIC in upload.entry.assumptions
        and FORMAT_IS_PUBLIC in datasets.load(upload.entry.id).assumptions
    )
    plain = session_files.ratings(
        table("25/12/2020", "01/02/2021"), "a.csv", {}, (1.0, 5.0), dates="dmy"
    )
    assert FORMAT_IS_PUBLIC not in datasets.load(plain.entry.id).assumptions
