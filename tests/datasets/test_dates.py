"""Times of ratings in every form, against datetime; what could be read in two ways is public."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from dpmf_datasets.readers.dates import (
    UNREAD,
    AmbiguousDates,
    Clock,
    parse_dates,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENTS = [
    datetime(2019, 11, 27, 13, 5, 9, tzinfo=UTC)
    + timedelta(days=step * 17, hours=step % 5)
    for step in range(40)
]
DAY_OR_MONTH = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%m-%d-%Y", "%d/%m/%y")
PLAIN = (
    "%d %b %Y", "%B %d, %Y", "%d-%b-%Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S GMT",
    "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S +0000 %Y", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%SZ",
)  # fmt: skip


def clock_of(texts, order=None):
    return Clock.of(texts, order)


def order_of(texts, clock=None):
    """The times of cells by a clock, by default that of these cells."""
    order, _ = (clock or clock_of(texts)).order_of(pa.array(texts))
    return order.tolist()


@pytest.mark.parametrize("form", [*DAY_OR_MONTH, "%m/%d/%Y %I:%M:%S %p", *PLAIN])
def test_dates_are_read(form):
    texts = [moment.strftime(form) for moment in MOMENTS]
    truth = [datetime.strptime(text, form).replace(tzinfo=UTC) for text in texts]
    expected = [int((moment - EPOCH).total_seconds()) * 1_000_000 for moment in truth]
    assert order_of(texts) == expected


@pytest.mark.parametrize("tail", ["", ".0"])
@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
def test_numbers_since_1970_keep_their_order(scale, tail):
    texts = [f"{int(moment.timestamp()) * scale}{tail}" for moment in MOMENTS]
    assert (np.diff(order_of(texts)) > 0).all()


@pytest.mark.parametrize(
    ("texts", "places"),
    [
        (["3", "1", "2"], [1, 2, 0]),  # without a unit
        (["20210304", "20191231"], [1, 0]),
        (["978300000", "978300002", "978300000.5", "978300001"], [0, 2, 3, 1]),
        (["01/02/2021", "03/04/2021", "25/12/2021"], [0, 1, 2]),
        (["01/05/2021", "02/04/2021", "25/03/2021"], [2, 1, 0]),  # one date tells
        (["01/05/2021", "02/04/2021", "12/25/2021"], [0, 1, 2]),
    ],
)
def test_the_first_cells_tell_how_a_column_is_read(texts, places):
    assert np.argsort(order_of(texts)).tolist() == places


@pytest.mark.parametrize(
    ("first", "cell"),
    [
        (["1574859909"] * 30, "1574859909000"),  # seconds, then milliseconds
        (["1574859909.5"] * 30, "1574859909000"),
        (["25/12/2021"], "12/25/2021"),
        (["1574859909"], "yesterday"),
        (["1574859909"], ""),
        (["2019-11-27"], "1574859909"),
    ],
)
def test_a_cell_of_another_form_counts_as_0_and_moves_no_other(first, cell):
    clock = clock_of(first)
    alone = order_of(first, clock)
    assert order_of([*first, cell], clock) == [*alone, 0]
    _, is_unread = clock.order_of(pa.array([*first, cell]))
    assert np.flatnonzero(is_unread).tolist() == [len(first)]


@pytest.mark.parametrize("sign", "/.-")
def test_dates_of_which_none_tells_day_from_month_must_be_declared(sign):
    texts = [f"01{sign}02{sign}2021", f"02{sign}01{sign}2021"]
    with pytest.raises(AmbiguousDates):
        clock_of(texts)
    assert np.argsort(order_of(texts, clock_of(texts, "dmy"))).tolist() == [1, 0]
    assert np.argsort(order_of(texts, clock_of(texts, "mdy"))).tolist() == [0, 1]


def test_a_column_without_times_has_no_clock():
    assert clock_of(["yesterday", "a while ago", "2021-03-04"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "5",
        "1/2",
        "13/13/2020",
        "31/04/2021",
        "3 Foo 2021",
        "Mar",
        "2021",
        "10:30",
        "",
    ],
)
def test_what_is_no_date_is_none(text):
    dates = parse_dates([text])
    assert [*dates.day_first, *dates.month_first] == [UNREAD, UNREAD]
