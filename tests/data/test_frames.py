"""Data frames and sparse matrices as data."""

import warnings
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from dpmf_core.base.errors import BadInput, RowsChanged
from dpmf_core.data import frames
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC
from dpmf_core.data.report import Kind

FRAME = pd.DataFrame(
    {
        "user": ["ann", "bob", "bob", "cy", "ann"],
        "item": [30, 10, 20, 20, 10],
        "rating": [4, 5.0, 1, 3, 2],
        "time": pd.to_datetime(
            ["2024-01-05", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-01"]
        ),
        "comment": "x",
    }
)
BOUNDS = (1, 5)


def triples(ratings):
    columns = (ratings.users, ratings.items, ratings.values)
    lists = [column.tolist() for column in columns]
    return list(zip(*lists, strict=True))


def test_a_frame_is_read_by_its_columns_names():
    ratings = frames.ratings_of(FRAME, BOUNDS)
    assert triples(ratings) == [
        (0, 0, 2.0),
        (0, 2, 4.0),
        (1, 0, 5.0),
        (1, 1, 1.0),
        (2, 1, 3.0),
    ]
    assert ratings.bounds == (1.0, 5.0)
    assert ratings.titles == ("10", "20", "30")
    assert not ratings.public
    assert ratings.assumptions == (
        USERS_ARE_PUBLIC,
        ITEMS_ARE_PUBLIC,
    )
    # the days of the rows above
    assert ratings.order.argsort().tolist() == [
        0,
        2,
        3,
        4,
        1,
    ]


@pytest.mark.parametrize("kind", [coo_array, csr_array, csr_matrix])
def test_a_matrix_is_the_frame_with_the_same_ratings(kind):
    users = [0, 1, 1, 2, 0]
    items = [2, 0, 1, 1, 0]
    matrix = kind((FRAME["rating"].to_numpy(), (users, items)), shape=(3, 3))
    of_matrix = frames.ratings_of(matrix, BOUNDS)
    of_frame = frames.ratings_of(FRAME, BOUNDS)
    assert triples(of_matrix) == triples(of_frame)
    assert of_matrix.account == of_frame.account
    assert of_matrix.shape == of_frame.shape


def test_a_stored_zero_is_a_rating_and_the_matrix_stays_as_it_was():
    matrix = csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    matrix.data[0] = 0.0
    ratings = frames.ratings_of(matrix, (0, 5))
    assert triples(ratings) == [(0, 1, 0.0), (1, 0, 1.0)]
    assert matrix.nnz == 2


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (FRAME.rename(columns={"user": "whom"}), "'whom'"),
        (FRAME[["user", "item", "comment"]], "'comment'"),
        (pd.concat([FRAME, FRAME[["item"]]], axis=1), "'item'"),
        (
            FRAME.assign(rating="good"),
            "5 of the 5 rows .* more than half.* row 1: 'good'",
        ),
        (
            FRAME.assign(rating=[4, np.inf, np.inf, np.inf, 2]),
            "3 of the 5 rows .*'inf'",
        ),
        (FRAME.assign(item=[30, None, None, None, 10]), "no user or no item"),
        (
            FRAME.assign(rating=[4, 9, 1, 3, 0]),
            "2 of the 5 ratings, more than a tenth.* 1 to 5",
        ),
        (FRAME.assign(time=1.5), "'time'"),
        (FRAME.assign(time="yesterday"), "'time'"),
        (FRAME.assign(user="ann"), "users"),
        (FRAME.iloc[:0], "users"),
    ],
)
def test_a_frame_that_cannot_be_read_is_one_sentence(frame, words):
    with pytest.raises(BadInput, match=words):
        frames.ratings_of(frame, BOUNDS)


MANY = pd.concat(
    [FRAME.assign(item=FRAME["item"] + 100 * n) for n in range(4)], ignore_index=True
)
ODD = pd.DataFrame(
    {
        "user": ["ghost", "bob", "bob", None, " ", "cy", None],
        "item": [10, 500, 510, 10, 10, None, None],
        "rating": [9, np.inf, None, 3, 3, 3, None],
        "time": pd.Timestamp("2024-02-01"),
        "comment": "y",
    }
)


def counts_of(ratings):
    return {problem.kind: problem.count for problem in ratings.report.problems}


def test_rows_that_are_left_out_are_reported_and_make_no_users_and_items():
    with pytest.warns(
        RowsChanged,
        match=r"6 left out .*1 rating outside the bounds.*load\(...\).report",
    ):
        ratings = frames.ratings_of(pd.concat([MANY, ODD]), BOUNDS)
    expected = frames.ratings_of(MANY, BOUNDS)
    assert triples(ratings) == triples(expected)
    assert ratings.labels == expected.labels
    assert ratings.n_users == 3
    assert (ratings.user_keys == expected.user_keys).all()
    assert counts_of(ratings) == {Kind.MISSING: 4, Kind.INFINITE: 1, Kind.OUTSIDE: 1}
    report = ratings.report
    assert report.read == 26
    assert report.kept == 20
    assert report.ignored == ("comment",)
    (outside,) = [
        problem for problem in report.problems if problem.kind == Kind.OUTSIDE
    ]
    assert outside.place == "row 21"
    assert outside.examples == "9 (1 x)"


def test_a_frame_without_problems_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problems = frames.ratings_of(FRAME, BOUNDS).report.problems
        assert problems == ()


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
def test_a_rating_outside_the_bounds_is_left_out_clamped_or_refused():
    high = FRAME.assign(rating=[4, 9, 1, 3, 0])
    left_out = frames.ratings_of(high, BOUNDS, outside="leave-out")
    assert triples(left_out) == [(0, 1, 4.0), (1, 0, 1.0), (2, 0, 3.0)]
    assert counts_of(left_out) == {Kind.OUTSIDE: 2}
    clamped = frames.ratings_of(high, BOUNDS, outside="clamp")
    assert clamped.values.tolist() == [1.0, 4.0, 5.0, 1.0, 3.0]
    assert counts_of(clamped) == {Kind.CLAMPED_VALUE: 2}
    with pytest.raises(
        BadInput, match="2 of the 5 ratings of the data frame lie outside"
    ):
        frames.ratings_of(high, BOUNDS, outside="refuse")
    with pytest.raises(BadInput, match="'leave-out', 'clamp' or 'refuse'"):
        frames.ratings_of(high, BOUNDS, outside="drop")


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
def test_values_declared_as_not_rated_are_no_ratings():
    some = FRAME.assign(rating=[4, 0, 1, 99, 2])
    ratings = frames.ratings_of(some, BOUNDS, missing=(0, 99))
    assert triples(ratings) == [(0, 0, 2.0), (0, 2, 4.0), (1, 1, 1.0)]
    assert counts_of(ratings) == {Kind.NOT_RATED: 2}
    with pytest.raises(BadInput, match="1 of the 3 ratings, more than a tenth"):
        beyond = FRAME.assign(rating=[4, 0, 9, 99, 2])
        frames.ratings_of(beyond, BOUNDS, missing=(0, 99))
    with_ones = FRAME.assign(rating=[4, 3, 1, 1, 2])
    one = frames.ratings_of(with_ones, BOUNDS, missing=1)
    assert sorted(one.values.tolist()) == [2.0, 3.0, 4.0]


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
def test_a_matrix_has_the_same_rules():
    rated = np.tile([4.0, 5.0, 1.0, 3.0], (5, 1))
    rated[0] = [9.0, np.nan, 4.0, 2.0]
    ratings = frames.ratings_of(csr_array(rated), BOUNDS, missing=2)
    assert ratings.n_users == 5
    assert ratings.n_items == 4
    assert len(ratings) == 17
    assert counts_of(ratings) == {
        Kind.NOT_A_NUMBER: 1,
        Kind.NOT_RATED: 1,
        Kind.OUTSIDE: 1,
    }


def test_a_pair_that_is_rated_twice_is_reported():
    with pytest.warns(
        RowsChanged, match="1 changed .same user and item again: averaged"
    ):
        again = FRAME.iloc[:1].assign(rating=2)
        ratings = frames.ratings_of(pd.concat([FRAME, again]), BOUNDS)
    assert triples(ratings)[1] == (0, 2, 3.0)


@pytest.mark.parametrize(
    "kind", ["int", "Int64", "datetime", "object", "too large", "uint"]
)
def test_a_time_that_is_empty_is_the_earliest_and_moves_no_other(kind):
    times = pd.Series([50, 20, 30, None, 10], dtype="Int64")
    column = {
        "int": times.astype(float),
        "Int64": times,
        "datetime": pd.to_datetime(times.astype(float), unit="D"),
        "object": times.astype(object).where(times.notna(), None),
        "too large": pd.Series([50, 20, 30, 2**70, 10], dtype=object),
        "uint": pd.Series([50, 20, 30, 2**64 - 1, 10], dtype="uint64"),
    }[kind]
    with pytest.warns(RowsChanged, match="time cannot be read"):
        ratings = frames.ratings_of(FRAME.assign(time=column), BOUNDS)
    order = ratings.order.argsort()
    assert order.tolist() == [4, 0, 2, 3, 1]


UNREADABLE = {
    "user": [
        10**400,
        10**5000,
        Decimal("1e99999999"),
        Decimal("sNaN"),
        "\ud800",
        [1],
    ],
    "item": [10**400, Decimal("sNaN"), "\ud800"],
    "rating": [
        10**400,
        Decimal("sNaN"),
        Decimal("1e400"),
        "\ud800",
        [1],
    ],
    "time": [
        "x",
        1.5,
        True,
        "5",
        10**400,
        Decimal("sNaN"),
        [1],
        pd.Timestamp("2020-01-01"),
    ],
}
CELLS = [(role, cell) for role, cells in UNREADABLE.items() for cell in cells]


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
@pytest.mark.parametrize(("role", "cell"), CELLS, ids=range(len(CELLS)))
def test_a_cell_that_cannot_be_read_concerns_its_row_alone(role, cell):
    frame = FRAME.assign(time=[50, 20, 30, 40, 10])
    frame = frame[["user", "item", "rating", "time"]]
    before = frames.ratings_of(frame, BOUNDS)
    row = {"user": "zed", "item": 10, "rating": 3, "time": 60, role: cell}
    rows = pd.DataFrame([row], dtype=object)
    with_cell = pd.concat([frame.astype(object), rows])
    after = frames.ratings_of(with_cell, BOUNDS)
    kept = np.isin(after.user_keys[after.users], before.user_keys)
    assert np.array_equal(after.order[kept], before.order)
    assert np.array_equal(after.values[kept], before.values)


def test_dates_among_which_one_is_no_date_keep_their_order():
    days = FRAME["time"].astype(object)
    days.iloc[0] = "yesterday"
    with pytest.warns(RowsChanged, match="time cannot be read"):
        ratings = frames.ratings_of(FRAME.assign(time=days), BOUNDS)
    order = ratings.order.argsort()
    assert order.tolist() == [1, 0, 2, 3, 4]


TYPES = {
    "int": lambda ids: ids.astype(int),
    "int8": lambda ids: ids.astype("int8"),
    "uint": lambda ids: ids.astype("uint64"),
    "float": lambda ids: ids.astype(float),
    "float32": lambda ids: ids.astype("float32"),
    "nullable": lambda ids: ids.astype("Int64"),
    "text": lambda ids: ids.astype(str),
    "text of floats": lambda ids: ids.astype(float).astype(str),
    "objects": lambda ids: ids.astype(object),
    "mixed objects": lambda ids: pd.Series(
        [str(one) if n % 2 else float(one) for n, one in enumerate(ids)], dtype=object
    ),
    "category": lambda ids: ids.astype("category"),
    "category of text": lambda ids: ids.astype(str).astype("category"),
}
NUMBERS = pd.DataFrame(
    {
        "user": [10, 9, 10, 100, 9, -2],
        "item": [3, 20, 20, 3, 100, 3],
        "rating": [1.0, 2.0, 3.0, 4.0, 5.0, 2.0],
    }
)


@pytest.mark.parametrize("to_type", TYPES.values(), ids=TYPES)
def test_ids_of_all_types_are_the_same_users_and_items(to_type):
    expected = frames.ratings_of(NUMBERS, BOUNDS)
    assert expected.labels == ("3", "20", "100")
    users = to_type(NUMBERS["user"].abs())
    items = to_type(NUMBERS["item"])
    frame = NUMBERS.assign(user=users, item=items)
    ratings = frames.ratings_of(frame, BOUNDS)
    positive = NUMBERS.assign(user=NUMBERS["user"].abs())
    expected = frames.ratings_of(positive, BOUNDS)
    assert triples(ratings) == triples(expected)
    assert ratings.labels == expected.labels
    assert ratings.account == expected.account
    assert (ratings.user_keys == expected.user_keys).all()
    users, items = ratings.own_ids
    assert list(map(float, users)) == [2, 9, 10, 100]
    assert list(map(float, items)) == [
        3,
        20,
        100,
    ]


def test_an_empty_cell_does_not_round_the_long_ids_of_an_arrow_table():
    long = [2**60 + 1, 2**60 + 2, None, 2**60 + 1]
    columns = {"user": long, "item": [1, 1, 1, 2], "rating": [1, 2, 3, 4]}
    table = pyarrow.table(columns)
    with pytest.warns(RowsChanged):
        ratings = frames.ratings_of(table, BOUNDS)
    assert ratings.n_users == 2
    assert ratings.own_ids[0].tolist() == [
        2**60 + 1,
        2**60 + 2,
    ]


def test_floats_too_large_for_whole_numbers_are_noted():
    large = NUMBERS.assign(user=NUMBERS["user"].abs() * 1e16)
    (note,) = frames.ratings_of(large, BOUNDS).report.assumed
    assert note.startswith("6 ids in the column 'user' are floats of 2^53 or more")
    assumed = frames.ratings_of(
        NUMBERS.assign(user=NUMBERS["user"] * 1.0), BOUNDS
    ).report.assumed
    assert assumed == ()


PLAIN = FRAME.drop(columns="comment")
FOREIGN = {
    "pyarrow": pyarrow.Table.from_pandas(FRAME),
    "a stream of Arrow": SimpleNamespace(__arrow_c_stream__=PLAIN.__arrow_c_stream__),
    "the interchange protocol": SimpleNamespace(__dataframe__=PLAIN.__dataframe__),
    "a lazy frame": SimpleNamespace(collect_schema=None, collect=lambda: PLAIN),
}


@pytest.mark.filterwarnings("ignore:The Dataframe Interchange Protocol is deprecated")
@pytest.mark.parametrize("table", FOREIGN.values(), ids=FOREIGN)
def test_a_table_of_another_library_is_the_same_ratings(table):
    assert frames.is_table(table)
    ratings = frames.ratings_of(table, BOUNDS)
    assert ratings.account == frames.ratings_of(FRAME, BOUNDS).account


def test_columns_are_found_by_what_they_are_often_called():
    names = {
        "user": "userId",
        "item": "movie_id",
        "rating": "stars",
        "time": "timestamp",
    }
    expected = frames.ratings_of(FRAME, BOUNDS)
    other_names = FRAME.rename(columns=names)
    ratings = frames.ratings_of(other_names, BOUNDS)
    assert ratings.account == expected.account
    assert ratings.order is not None
    names = {"user": "a", "item": "b", "rating": "c", "time": "d"}
    odd = FRAME.rename(columns=names)
    columns = dict(zip(names, "abcd", strict=True))
    by_name = frames.ratings_of(odd, BOUNDS, columns=columns)
    assert by_name.account == expected.account
    assert by_name.order is not None
    order = frames.ratings_of(FRAME, BOUNDS, columns={"time": ""}).order
    assert order is None
    with pytest.raises(BadInput):
        frames.ratings_of(FRAME, BOUNDS, columns={"item": "item_id"})


def test_interactions_count_as_one():
    ratings = frames.ratings_of(FRAME, columns={"rating": ""})
    assert ratings.bounds == (0.0, 1.0)
    assert set(ratings.values.tolist()) == {1.0}
    assert len(ratings) == 5
    with pytest.raises(BadInput, match="leave bounds out"):
        frames.ratings_of(FRAME, BOUNDS, columns={"rating": ""})


def test_arrays_are_a_frame():
    expected = frames.ratings_of(FRAME, BOUNDS)
    users = pd.factorize(FRAME["user"], sort=True)[0]
    items = FRAME["item"].to_numpy()
    ratings = FRAME["rating"].to_numpy()
    both = np.column_stack([users, items, ratings])
    records = np.rec.fromarrays(
        [users, items, ratings], names=["user", "item", "rating"]
    )
    for data in ((users, items, ratings), both, records):
        of_arrays = frames.ratings_of(data, BOUNDS)
        assert of_arrays.account == expected.account
        assert of_arrays.labels == expected.labels
    times = np.arange(5)
    with_times = frames.ratings_of((users, items, ratings, times), BOUNDS)
    assert sorted(with_times.order.tolist()) == [0, 1, 2, 3, 4]
    wrong = (np.eye(7), (users, items), (users, items, ratings[:3]), np.ones(3))
    for data in wrong:
        with pytest.raises(BadInput):
            frames.ratings_of(data, BOUNDS)


def test_bounds_are_declared_and_a_matrix_holds_numbers():
    with pytest.raises(BadInput, match="are not declared"):
        frames.ratings_of(FRAME, None)
    with pytest.raises(BadInput, match="Got none in"):
        frames.ratings_of(csr_array((3, 4)), BOUNDS)
    with pytest.raises(BadInput, match="shape"):
        frames.documents_of(csr_array(np.eye(2) * 1j))
    with pytest.raises(BadInput, match="0 or more"):
        frames.documents_of(csr_array(-np.eye(2)))
