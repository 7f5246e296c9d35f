"""A person's own table of items becomes features that follow from it alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.base.errors import BadInput
from dpmf_core.data.item_features import MOST_WORDS, encode

IDS = ("a", "b", "7", "z")
COLUMNS = {
    "year": ("1990", "2000", "", "2010"),
    "genre": ("Drama|War", "Drama", "War | Comedy", "Comedy"),
    "colour": ("1", "0", "1", "0"),
    "plot": ("A plot", "B plot", "C plot", "D plot"),
}
# years 1990, 2000, 2010: mean 2000, deviation 10 sqrt(2/3)
YEAR = 0.5 / np.sqrt(2 / 3)


def encoded(ids, columns, items, name):
    rows = list(zip(ids, *columns.values(), strict=True))
    return encode(["id", *columns], rows, items, name)


def test_numbers_categories_and_several_words():
    encoded_table = encoded(IDS, COLUMNS, ("7.0", "b", "unknown", "a"), "films.csv")
    assert encoded_table.features.names == (
        "year",
        "genre: Comedy",
        "genre: Drama",
        "genre: War",
        "colour",
    )
    expected = [[0, 1, 0, 1, 1], [0, 0, 1, 0, 0], [0] * 5, [-YEAR, 0, 1, 1, 1]]
    assert_allclose(encoded_table.features.values, expected, rtol=1e-6)
    assert encoded_table.features.is_category.tolist() == [
        False,
        True,
        True,
        True,
        True,
    ]
    assert encoded_table.features.columns == ("year", "genre", "colour")
    assert encoded_table.missing == 1
    assert len(encoded_table.left_out) == 1
    assert "'plot'" in encoded_table.left_out[0]


def test_an_items_features_do_not_depend_on_which_others_are_rated():
    """Under a private choice of items only the table may tell what an item's features are."""
    every = encoded(IDS, COLUMNS, IDS, "films.csv").features
    few = encoded(IDS, COLUMNS, ("z", "a"), "films.csv").features
    places = [every.names.index(name) for name in few.names]
    assert np.array_equal(few.values, every.values[[3, 0]][:, places])
    assert set(every.names) - set(few.names) == set()


@pytest.mark.parametrize(
    ("ids", "columns", "words"),
    [
        (("a", "a"), {"x": ("1", "2")}, "'a'"),
        (("q", "r"), {"x": ("1", "2")}, "rated"),
        (("a", "b"), {"x": ("5", "5")}, "numbers"),
        (("a", "b"), {"x": ("1e300", "2")}, "number"),
        (("a", "b"), {"x": ("", "NA")}, "it is empty"),
        (("a", "b"), {"x": ("A", "B")}, "items"),
        (
            ("a", "b"),
            {"x": ("|".join(map(str, range(MOST_WORDS))) + "|w", "w")},
            f"{MOST_WORDS + 1} different words",
        ),
        (
            ("a", "b"),
            {f"x{j}": ("1", "2") for j in range(401)},
            "more than 400 features",
        ),
    ],
)
def test_what_is_wrong_is_said(ids, columns, words):
    with pytest.raises(BadInput, match=words):
        encoded(ids, columns, ("a", "b"), "films.csv")
