"""Data frames and sparse matrices as data."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from dpmf_core.base.errors import BadInput
from dpmf_core.data import frames
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC

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
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_frame_is_read_by_its_columns_names():
    ratings = frames.ratings_of(FRAME, BOUNDS)
    assert triples(ratings) == [(0, 0, 2.0), (0, 2, 4.0), (1, 0, 5.0), (1, 1, 1.0), (2, 1, 3.0)]
    assert ratings.bounds == (1.0, 5.0) and ratings.titles == ("10", "20", "30")
    assert not ratings.public and ratings.assumptions == (USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC)
    assert ratings.order.argsort().tolist() == [0, 2, 3, 4, 1]  # the days of the rows above


@pytest.mark.parametrize("kind", [coo_array, csr_array, csr_matrix])
def test_a_matrix_is_the_frame_with_the_same_ratings(kind):
    users, items = [0, 1, 1, 2, 0], [2, 0, 1, 1, 0]
    matrix = kind((FRAME["rating"].to_numpy(), (users, items)), shape=(3, 3))
    of_matrix, of_frame = (frames.ratings_of(data, BOUNDS) for data in (matrix, FRAME))
    assert triples(of_matrix) == triples(of_frame) and of_matrix.account == of_frame.account
    assert of_matrix.shape == of_frame.shape


def test_a_stored_zero_is_a_rating_and_the_matrix_stays_as_it_was():
    matrix = csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    matrix.data[0] = 0.0
    ratings = frames.ratings_of(matrix, (0, 5))
    assert triples(ratings) == [(0, 1, 0.0), (1, 0, 1.0)] and matrix.nnz == 2


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (FRAME.rename(columns={"user": "whom"}), "'whom'"),
        (FRAME[["user", "item", "comment"]], "'comment'"),
        (pd.concat([FRAME, FRAME[["item"]]], axis=1), "'item'"),
        (FRAME.assign(rating="good"), "'good'"),
        (FRAME.assign(rating=[4, np.inf, 1, 3, 2]), "'inf'"),
        (FRAME.assign(item=[30, 10, None, 20, 10]), "'item'"),
        (FRAME.assign(rating=[4, 9, 1, 3, 0]), r"1 and 5. Got 9 \(2 of 5 do not"),
        (FRAME.assign(time=1.5), "'time'"),
        (FRAME.assign(user="ann"), "users"),
        (FRAME.iloc[:0], "users"),
    ],
)
def test_a_frame_that_cannot_be_read_is_one_sentence(frame, words):
    with pytest.raises(BadInput, match=words):
        frames.ratings_of(frame, BOUNDS)


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
    names = {"user": "userId", "item": "movie_id", "rating": "stars", "time": "timestamp"}
    expected = frames.ratings_of(FRAME, BOUNDS)
    other_names = FRAME.rename(columns=names)
    ratings = frames.ratings_of(other_names, BOUNDS)
    assert ratings.account == expected.account and ratings.order is not None
    odd = FRAME.rename(columns={"user": "a", "item": "b", "rating": "c", "time": "d"})
    columns = dict(zip(names, "abcd", strict=True))
    by_name = frames.ratings_of(odd, BOUNDS, columns=columns)
    assert by_name.account == expected.account and by_name.order is not None
    assert frames.ratings_of(FRAME, BOUNDS, columns={"time": ""}).order is None
    with pytest.raises(BadInput):
        frames.ratings_of(FRAME, BOUNDS, columns={"item": "item_id"})


def test_interactions_count_as_one():
    ratings = frames.ratings_of(FRAME, columns={"rating": ""})
    assert (
        ratings.bounds == (0.0, 1.0) and set(ratings.values.tolist()) == {1.0} and len(ratings) == 5
    )
    with pytest.raises(BadInput, match="leave bounds out"):
        frames.ratings_of(FRAME, BOUNDS, columns={"rating": ""})


def test_arrays_are_a_frame():
    expected = frames.ratings_of(FRAME, BOUNDS)
    users, items = pd.factorize(FRAME["user"], sort=True)[0], FRAME["item"].to_numpy()
    ratings = FRAME["rating"].to_numpy()
    both = np.column_stack([users, items, ratings])
    records = np.rec.fromarrays([users, items, ratings], names=["user", "item", "rating"])
    for data in ((users, items, ratings), both, records):
        of_arrays = frames.ratings_of(data, BOUNDS)
        assert of_arrays.account == expected.account and of_arrays.labels == expected.labels
    with_times = frames.ratings_of((users, items, ratings, np.arange(5)), BOUNDS)
    assert sorted(with_times.order.tolist()) == [0, 1, 2, 3, 4]
    for data in (np.eye(7), (users, items), (users, items, ratings[:3]), np.ones(3)):
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
