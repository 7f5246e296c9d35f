"""Canonical texts of ids: one for each id, whatever type its column has."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpmf_core.data.ids import (
    Coded,
    arrow_numbering_order,
    canonical_arrow,
    canonical_text,
    canonical_texts,
    keys_of_ids,
    numbering_order,
)

WHOLE = [1, -3, 0, 2**53 + 1]
AS_WRITTEN = [
    "007",
    "1e3",
    ".5",
    "1.",
    "01.0",
    "+1",
    "1.0\n",
    " 1",
    "",
    "x",
    "--1",
    "1,0",
    "１",
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (np.uint8(7), "7"),
        (np.int64(-7), "-7"),
        (7.0, "7"),
        (np.float32(7), "7"),
        (-0.0, "0"),
        (1e20, "100000000000000000000"),
        (0.5, "0.5"),
        (Decimal("7.00"), "7"),
        ("7", "7"),
        ("7.0", "7"),
        ("-7.000", "-7"),
        ("-0", "0"),
        ("-0.0", "0"),
        (b"7.0", "7"),
        (True, "True"),
        (np.True_, "True"),
        (None, "None"),
        (float("nan"), "nan"),
    ],
)
def test_each_id_has_one_text(value, text):
    assert canonical_text(value) == text


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_other_text_stays_as_written(text):
    assert canonical_text(text) == text


def test_single_and_double_precision_have_the_same_text():
    assert canonical_text(np.float32(0.1)) == canonical_text(float(np.float32(0.1)))


@pytest.mark.parametrize(
    "dtype",
    [
        "int64",
        "int8",
        "uint64",
        "float64",
        "float32",
        "float16",
        "Int64",
        "Float64",
        str,
        object,
        "category",
        "string",
        "int64[pyarrow]",
        "double[pyarrow]",
    ],
)
def test_columns_of_all_types_have_the_same_texts_keys_and_numbers(dtype):
    column = pd.Series([10, 9, 10, 2]).astype(dtype)
    assert canonical_texts(column).tolist() == ["10", "9", "10", "2"]
    assert (keys_of_ids(column) == keys_of_ids(["10", "9", "10", "2"])).all()
    numbers, texts = Coded.of(column).numbered()
    assert numbers.tolist() == [2, 1, 2, 0]
    assert texts.tolist() == ["2", "9", "10"]


def test_ids_next_to_others_keep_their_texts():
    ids = [1, True, "1.0", 1.0, "x", np.int64(1), Decimal(1), 0.5]
    expected = ["1", "True", "1", "1", "x", "1", "1", "0.5"]
    assert canonical_texts(ids).tolist() == expected
    assert canonical_texts(pd.Series(ids, dtype="object")).tolist() == expected
    assert (keys_of_ids(ids)[0] == keys_of_ids([1])[0]).all()


def test_categories_that_are_not_in_the_column_get_no_number():
    column = pd.Categorical([3, 1, 3], categories=[1, 2, 3])
    assert Coded.of(column).numbered()[1].tolist() == ["1", "3"]


def test_whole_numbers_come_first_by_size_and_texts_follow_by_alphabet():
    texts = np.array(["b", "10", "007", "-3", "9", "a", "1" * 19, "É", "True"], object)
    expected = ["-3", "9", "10", "007", "1" * 19, "True", "a", "b", "É"]
    assert texts[numbering_order(texts)].tolist() == expected


def test_arrow_agrees():
    pa = pytest.importorskip("pyarrow")
    texts = [
        *AS_WRITTEN,
        "7.00",
        "-0",
        "-0.0",
        "-7.0",
        "12",
        "9",
        "1" * 18,
        "1" * 19,
        "-" + "1" * 18,
    ]
    in_arrow = canonical_arrow(pa.array(texts))
    assert in_arrow.to_pylist() == canonical_texts(texts).tolist()
    distinct = pd.unique(canonical_texts(texts))
    order = arrow_numbering_order(pa.array(distinct)).to_pylist()
    assert order == numbering_order(distinct).tolist()


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        [1.0, 0.5, 1e20],
        [True, False],
        [Decimal("7.00")],
        ["7.0", None],
        [b"7.0"],
    ],
)
def test_arrow_reads_ids_of_all_types(values):
    pa = pytest.importorskip("pyarrow")
    expected = [None if value is None else canonical_text(value) for value in values]
    assert canonical_arrow(pa.array(values)).to_pylist() == expected
    encoded = pa.array(values).dictionary_encode()
    assert canonical_arrow(encoded).to_pylist() == expected


def test_an_id_too_large_for_a_float_keeps_its_digits_as_a_whole_number():
    assert canonical_texts(np.array([2**53 + 1, 2**53 + 3])).tolist() == [
        "9007199254740993",
        "9007199254740995",
    ]
    assert canonical_texts(WHOLE).tolist() == list(map(str, WHOLE))
