"""The right ratings of small files in real shapes, given as data frames."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from dpmf_core.data.frames import ratings_of
from dpmf_core.data.ids import canonical_texts

COMMON = Path(__file__).parents[3] / "shared" / "cases"
FOLDER = Path(os.environ.get("DPMF_CASES", COMMON))
COPIES = [  # if the folder is not there
    {
        "file": "numbers",
        "expected": [["1", "10", 4.0], ["2", "10", 3.5], ["10", "9", 5.0]],
    },
    {
        "file": "texts",
        "expected": [["007", "1e3", 1.0], ["7", "1000", 2.0], ["ann", "x", 3.0]],
    },
    {
        "file": "mixed",
        "expected": [["1", "000000003X", 10.0], ["1", "2", 8.0], ["2", "2", 2.0]],
    },
]


def cases():
    file = FOLDER / "expected.json"
    if file.is_file():
        entries = json.loads(file.read_text("utf-8"))
    else:
        entries = COPIES
    return [entry for entry in entries if entry["expected"]]


def rows_of(ratings):
    users = canonical_texts(ratings.own_ids[0])[ratings.users]
    items = [ratings.labels[item] for item in ratings.items]
    rows = []
    for user, item, value in zip(users, items, ratings.values.tolist(), strict=True):
        rows.append([user, item, pytest.approx(value)])
    return sorted(rows)


TYPES = {
    "int": lambda ids: ids.astype("int64"),
    "float": lambda ids: ids.astype("int64").astype(float),
    "text": lambda ids: ids.astype(str),
    "objects": lambda ids: ids.astype(object),
    "category": lambda ids: ids.astype("category"),
}


def can_be(ids, kind):
    """Whether ids keep their canonical texts as this type."""
    if kind not in ("int", "float"):
        return True
    is_whole = ids.str.fullmatch(r"0|[1-9][0-9]*").all()
    if kind == "int":
        most_digits = 18
    else:
        most_digits = 15
    return is_whole and ids.str.len().max() <= most_digits


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["file"])
def test_the_right_rows_of_a_case_as_a_frame(case, kind):
    expected = [[user, item, value] for user, item, value in case["expected"]]
    frame = pd.DataFrame(expected, columns=["user", "item", "rating"])
    typed = frame.assign(
        **{
            role: TYPES[kind](frame[role])
            for role in ("user", "item")
            if can_be(frame[role], kind)
        }
    )
    values = frame["rating"]
    bounds = (values.min() - 1, values.max() + 1)
    ratings = ratings_of(typed, bounds)
    texts = frame.assign(
        user=canonical_texts(frame["user"]), item=canonical_texts(frame["item"])
    )
    assert rows_of(ratings) == sorted(texts.to_numpy(object).tolist())
    as_text = ratings_of(frame, ratings.bounds)
    assert ratings.labels == as_text.labels
    assert ratings.account == as_text.account
    assert (ratings.user_keys == as_text.user_keys).all()
    assert ratings.report.problems == ()
