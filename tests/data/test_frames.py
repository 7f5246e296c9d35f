"""Data frames and sparse matrices as data."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from dpmf_core.data import frames
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Ratings
from dpmf_core.errors import BadInput

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


def triples(ratings: Ratings) -> list[tuple[int, int, float]]:
    columns = (ratings.users, ratings.items, ratings.values)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_frame_is_read_by_its_columns_names() -> None:
    found = frames.ratings_of(FRAME, BOUNDS)
    assert triples(found) == [(0, 0, 2.0), (0, 2, 4.0), (1, 0, 5.0), (1, 1, 1.0), (2, 1, 3.0)]
    assert found.bounds == (1.0, 5.0) and found.titles == ("10", "20", "30")
    assert not found.public and found.assumptions == (USERS_ARE_PUBLIC, ITEMS_ARE_PUBLIC)
    assert found.order is not None
    assert found.order.argsort().tolist() == [0, 2, 3, 4, 1]  # the days of the rows above


def test_the_order_of_rows_and_columns_is_nothing() -> None:
    shuffled = FRAME.sample(frac=1, random_state=3)[["rating", "time", "item", "user"]]
    first, second = (frames.ratings_of(frame, BOUNDS) for frame in (FRAME, shuffled))
    assert first.fingerprint == second.fingerprint and first.account == second.account


def test_a_pair_that_is_rated_twice_has_the_mean() -> None:
    twice = pd.DataFrame({"user": [1, 1, 2], "item": [7, 7, 7], "rating": [1, 4, 5]})
    assert triples(frames.ratings_of(twice, BOUNDS)) == [(0, 0, 2.5), (1, 0, 5.0)]


@pytest.mark.parametrize("kind", [coo_array, csr_array, csr_matrix])
def test_a_matrix_is_the_frame_with_the_same_ratings(kind: Any) -> None:
    users, items = [0, 1, 1, 2, 0], [2, 0, 1, 1, 0]
    matrix = kind((FRAME["rating"].to_numpy(), (users, items)), shape=(3, 3))
    found, framed = (frames.ratings_of(data, BOUNDS) for data in (matrix, FRAME))
    assert triples(found) == triples(framed) and found.account == framed.account
    assert found.shape == framed.shape


def test_a_stored_zero_is_a_rating_and_the_matrix_stays_as_it_was() -> None:
    matrix = csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    matrix.data[0] = 0.0
    found = frames.ratings_of(matrix, (0, 5))
    assert triples(found) == [(0, 1, 0.0), (1, 0, 1.0)] and matrix.nnz == 2


def test_counts_are_documents() -> None:
    counts = coo_array(([1, 2, 3], ([0, 1, 1], [4, 0, 0])), shape=(2, 5))
    found = frames.documents_of(counts)
    assert found.unit == "document" and not found.public
    np.testing.assert_array_equal(found.X.toarray(), [[0, 0, 0, 0, 1], [5, 0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (
            FRAME.rename(columns={"user": "userId"}),
            "'user' is not there once; the columns are userId",
        ),
        (FRAME.assign(rating="good"), r"holds a finite number. Got 'good' in row 1 \(5 of 5"),
        (FRAME.assign(rating=[4, np.inf, 1, 3, 2]), "Got 'inf' in row 2"),
        (FRAME.assign(item=[30, 10, None, 20, 10]), "'item' holds a value. Got 'nan' in row 3"),
        (FRAME.assign(rating=[4, 9, 1, 3, 0]), r"1 and 5. Got 9 \(2 of 5 do not"),
        (FRAME.assign(time=1.5), "'time' holds whole numbers or dates. Got float64"),
        (FRAME.assign(user="ann"), "two users at least. Got 5 rows of 1"),
        (FRAME.iloc[:0], "two users at least. Got 0 rows"),
    ],
)
def test_a_frame_that_cannot_be_read_is_one_sentence(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        frames.ratings_of(frame, BOUNDS)


@pytest.mark.parametrize("bounds", [(5, 1), (1, float("nan")), (1,), "15x", 3])
def test_bounds_are_two_numbers(bounds: Any) -> None:
    with pytest.raises(BadInput, match="two finite numbers, lowest first"):
        frames.ratings_of(FRAME, bounds)


def test_bounds_are_declared_and_a_matrix_holds_numbers() -> None:
    with pytest.raises(BadInput, match="are not declared"):
        frames.ratings_of(FRAME, None)
    with pytest.raises(BadInput, match="Got none in"):
        frames.ratings_of(csr_array((3, 4)), BOUNDS)
    with pytest.raises(BadInput, match="Got complex128 of the shape"):
        frames.documents_of(csr_array(np.eye(2) * 1j))
    with pytest.raises(BadInput, match="0 or more"):
        frames.documents_of(csr_array(-np.eye(2)))
