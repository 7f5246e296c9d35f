"""Small files in the shape of real ones are read as the right ratings, by path and by upload."""

import dataclasses
import json
import os
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ids import keys_of_ids
from dpmf_datasets import load, session_files
from tests.support.cases import COPIES

FOLDER = Path(
    os.environ.get("DPMF_CASES", Path(__file__).parents[3] / "shared" / "cases")
)
# ids of 17 digits that the sheet itself holds as three numbers
LOST_IN_THE_FILE = {"steamids.xlsx"}
# what is said of tables that are no ratings as they are, or that may be read with a note
SAID = {
    "ciaodvd.txt": "column 3 and column 5",
    "wide-99.csv": "missing=99",
    "html.xls": "web page",
    "dup.csv": "rating (column 3), rating (column 4)",
    "f.h5": "HDF5",
    "wide-count.csv": "names the person",
    "wide-age2.csv": "leave=age",
    "nfc.csv": "40 users may be others written differently",
    "steamids.xlsx": "Save the ids as text",
}


def entries():
    file = FOLDER / "expected.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else []


def place_of(case, folder):
    """The file of a case: in the folder of cases, or written to a new folder from its copy."""
    if "content" not in case:
        return FOLDER / case["file"]
    file = folder / case["file"]
    file.write_bytes(case["content"])
    return file


def by_path(file, facts):
    return load(f"{file}?{facts}")


def by_upload(file, facts):
    if file.is_dir():
        pytest.skip("a folder cannot be uploaded as one file")
    declared = dict(parse_qsl(facts))
    upload = session_files.read(file.read_bytes(), file.name, declared)
    ratings = load(upload.entry.id)
    session_files.remove(upload.entry)
    return dataclasses.replace(ratings, report=upload.report)


def rows_of(ratings):
    """(key of the user's id, item, value) of each rating."""
    keys = ratings.user_keys[ratings.users].tolist()
    items = [ratings.labels[item] for item in ratings.items]
    return sorted(zip(keys, items, ratings.values.round(4).tolist(), strict=True))


def expected_rows(case):
    users, items, values = zip(*case["expected"], strict=True)
    keys = keys_of_ids(list(users)).tolist()
    return sorted(zip(keys, items, np.float32(values).round(4).tolist(), strict=True))


def named(case):
    return f"{case['file']}?{case['facts']}"


READABLE = [case for case in entries() if case["expected"]]


@pytest.mark.parametrize("read", [by_path, by_upload])
@pytest.mark.parametrize(
    "case",
    [case for case in READABLE if case["file"] not in LOST_IN_THE_FILE] + COPIES,
    ids=named,
)
def test_a_file_is_read_as_the_right_ratings(case, read, tmp_path):
    ratings = read(place_of(case, tmp_path), case["facts"])
    assert rows_of(ratings) == expected_rows(case)
    assert ratings.n_users == len({user for user, _, _ in case["expected"]})


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in entries()
        if not case["expected"] or case["file"] in LOST_IN_THE_FILE
    ],
    ids=named,
)
def test_what_cannot_be_read_alone_is_refused_with_the_remedy_or_noted(case):
    try:
        ratings = by_path(FOLDER / case["file"], case["facts"])
    except BadInput as refusal:
        words = str(refusal)
    else:
        words = ratings.report.words
    assert SAID[case["file"]] in words
