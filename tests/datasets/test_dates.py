"""Times of ratings in every form, against datetime; what could be read in two ways is public."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from dpmf_datasets.readers.dates import (
    FORMAT_IS_PUBLIC,
    UNREAD,
    column_times,
    parse_dates,
    read_times,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENTS = [
    datetime(2019, 11, 27, 13, 5, 9, tzinfo=UTC) + timedelta(days=step * 17, hours=step % 5)
    for step in range(40)
]
DAY_OR_MONTH = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%m-%d-%Y", "%d/%m/%y")
PLAIN = (
    "%d %b %Y", "%B %d, %Y", "%d-%b-%Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S GMT",
    "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S +0000 %Y", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%SZ",
)  # fmt: skip


def times_of(*batches, order=None):
    return column_times([read_times(pa.array(batch)) for batch in batches], order)


@pytest.mark.parametrize("form", [*DAY_OR_MONTH, "%m/%d/%Y %I:%M:%S %p", *PLAIN])
def test_dates_are_read(form):
    texts = [moment.strftime(form) for moment in MOMENTS]
    truth = [datetime.strptime(text, form).replace(tzinfo=UTC) for text in texts]
    times = times_of(texts)
    expected = [int((moment - EPOCH).total_seconds()) * 1_000_000 for moment in truth]
    assert times.order.tolist() == expected
    assert (FORMAT_IS_PUBLIC in times.assumptions) == (form not in PLAIN)


@pytest.mark.parametrize("tail", ["", ".0"])
@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
def test_numbers_since_1970_keep_their_order(scale, tail):
    times = times_of([f"{int(moment.timestamp()) * scale}{tail}" for moment in MOMENTS])
    assert (np.diff(times.order) > 0).all()


@pytest.mark.parametrize(
    ("batches", "order"),
    [
        ([["3", "1", "2"]], [1, 2, 0]),  # without a unit
        ([["20210304", "20191231"]], [1, 0]),
        ([["978300000", "978300002"], ["978300000.5", "978300001"]], [0, 2, 3, 1]),
        ([["01/02/2021", "03/04/2021"], ["25/12/2021"]], [0, 1, 2]),
        ([["01/05/2021", "02/04/2021"], ["25/03/2021"]], [2, 1, 0]),  # the last date decides
        ([["01/05/2021", "02/04/2021"], ["12/25/2021"]], [0, 1, 2]),
    ],
)
def test_the_whole_column_decides(batches, order):
    times = times_of(*batches)
    assert np.argsort(times.order).tolist() == order


@pytest.mark.parametrize(
    ("batches", "unread"),
    [
        ([["1574859909"] * 30, ["1574859909000"] * 10], 10),  # seconds and milliseconds
        ([["01/02/2021", "03/04/2021"], ["25/12/2021"], ["12/25/2021"]], 1),
    ],
)
def test_two_forms_in_one_column_give_no_order(batches, unread):
    times = times_of(*batches)
    assert times.order is None
    assert times.unread.sum() == unread


def test_what_no_date_tells_is_assumed_unless_it_is_declared():
    texts = ["01/02/2021", "02/01/2021"]
    for sign, first in (("/", [0, 1]), (".", [1, 0])):  # the month first, the day first
        times = times_of([text.replace("/", sign) for text in texts])
        assert np.argsort(times.order).tolist() == first
        assert FORMAT_IS_PUBLIC in times.assumptions
    times = times_of(texts, order="dmy")
    assert np.argsort(times.order).tolist() == [1, 0]
    assert FORMAT_IS_PUBLIC not in times.assumptions
    assert times_of(["25/12/2021"], order="mdy").order is None


@pytest.mark.parametrize(
    "text",
    ["yesterday", "5", "1/2", "13/13/2020", "31/04/2021", "3 Foo 2021", "Mar", "2021", "10:30", ""],
)
def test_what_is_no_date_is_none(text):
    dates = parse_dates([text])
    assert [*dates.day_first, *dates.month_first] == [UNREAD, UNREAD]
