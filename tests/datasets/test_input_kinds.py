"""The same ratings from every kind of file, written by the library that usually writes it."""

import contextlib
import sqlite3

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from dpmf_core.base.errors import BadInput
from dpmf_datasets import load, stamp
from dpmf_datasets.readers import tables

USERS = range(12)


EACH = range(4)


FRAME = pd.DataFrame(
    {
        "user_id": [f"u{user}" for user in USERS for _ in EACH],
        "item_id": [(user + 3 * k) % 9 for user in USERS for k in EACH],
        "rating": [1 + (user * k) % 9 / 2 for user in USERS for k in EACH],
        "timestamp": [
            1_600_000_000 + (37 * user + k) % 48 for user in USERS for k in EACH
        ],
    }
)
RECBOLE = ["user_id:token", "item_id:token", "rating:float", "timestamp:float"]


def _sqlite(file, frame):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        frame.to_sql("seen", connection, index=False)
        connection.execute("create table other (x integer)")


def _ods(file, frame):
    pytest.importorskip("odf")
    with pd.ExcelWriter(file) as book:
        pd.DataFrame({"about": ["this"]}).to_excel(
            book,
            sheet_name="notes",
            index=False,
        )
        frame.to_excel(
            book,
            sheet_name="seen",
            index=False,
        )


def _npz(file, frame):
    np.savez(file, **{name: np.array(frame[name].tolist()) for name in frame})


def _lines(file, frame):
    frame.to_json(file, orient="records", lines=True)


def _lines_with_tags(file, frame):
    _lines(file, frame.assign(tags=[["a"]] * len(frame)))


def _recbole(file, frame):
    frame.to_csv(
        file,
        sep="\t",
        index=False,
        header=RECBOLE,
    )


# by what is said of a file: how it is written
# by what is said of a file: how it is written
WRITERS = {
    "r.csv": lambda file, frame: frame.to_csv(file, index=False),
    "r.jsonl": _lines_with_tags,
    "r.json": lambda file, frame: frame.to_json(file, orient="records"),
    "r.jsonl.gz": _lines,
    "r.feather": lambda file, frame: frame.to_feather(file),
    "r.inter": _recbole,
    "r.npz": _npz,
    "r.db?table=seen": _sqlite,
    "sqlite:///r.db?table=seen": _sqlite,
    "r.xlsx": lambda file, frame: frame.to_excel(file, index=False),
    "r.ods?sheet=seen": _ods,
}


def written(folder, place):
    """The place, with the folder in an address, of the table as a file there."""
    file = place.partition("?")[0].removeprefix("sqlite:///")
    WRITERS[place](folder / file, FRAME)
    return place.replace("sqlite:///", f"sqlite:///{folder}/")


def load_from(folder, place, bounds="1,5", **facts):
    """The ratings at a place in the folder, with more said after it."""
    path, _, query = place.partition("?")
    if "://" not in path:
        path = folder / path
    declared = [f"{name}={value}" for name, value in facts.items()]
    if query:
        declared.append(query)
    return load(f"{path}?{'&'.join(declared)}&bounds={bounds}")


def assert_same_ratings(ratings, expected):
    assert ratings.labels == expected.labels
    for part in ("users", "items", "values"):
        assert_array_equal(getattr(ratings, part), getattr(expected, part))


@pytest.mark.parametrize("place", WRITERS)
def test_every_kind_holds_the_same_ratings(tmp_path, place):
    first = tmp_path / "first"
    first.mkdir()
    expected = load_from(first, written(first, "r.csv"))
    ratings = load_from(tmp_path, written(tmp_path, place))
    assert_same_ratings(ratings, expected)
    assert ratings.labels == tuple(map(str, range(9)))
    assert ratings.n_users == 12
    assert_array_equal(ratings.order.argsort(), expected.order.argsort())
    assert not ratings.public


def test_a_wide_table_is_a_row_for_each_user(tmp_path):
    wide = FRAME.pivot_table("rating", "user_id", "item_id").reset_index()
    wide.columns = wide.columns.map(str)
    expected = load_from(tmp_path, written(tmp_path, "r.csv"))
    assert len(expected) < 12 * 9
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.to_parquet(tmp_path / "wide.parquet")
    for name in ("wide.csv", "wide.parquet"):
        assert_same_ratings(load_from(tmp_path, name, layout="wide"), expected)
    with pytest.raises(BadInput, match="'tall'"):
        load_from(tmp_path, "wide.csv", layout="tall")

    user_last = [*wide.columns[1:], "user_id"]
    wide[user_last].to_csv(tmp_path / "last.csv", index=False)
    last = load_from(
        tmp_path,
        "last.csv",
        layout="wide",
        user="user_id",
    )
    assert_array_equal(last.values, expected.values)


def test_pickles_are_not_read(tmp_path):
    users = np.array([{"a": 1}], object)
    np.savez(
        tmp_path / "p.npz",
        user=users,
        item=[1],
        rating=[1],
    )
    with pytest.raises(BadInput, match="allow_pickle"):
        load_from(tmp_path, "p.npz")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"user": [\n1]}', "lines of JSON"),
        ("a.json", b"[{]", "a list in JSON"),
        ("a.feather", b"ARROW1\0\0" + b"x" * 50, "cannot be read as Feather|damaged"),
        ("a.npz", b"PK\x03\x04" + b"x" * 50, "damaged"),
        ("a.jsonl", b'{"user": 1, "film": 2}', "recognised"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words):
        load_from(tmp_path, name)


def test_what_is_wrong_with_an_address_is_said(tmp_path):
    place = written(tmp_path, "sqlite:///r.db?table=seen")
    for address, words in (
        (place.replace("seen", "sean"), "'sean'"),
        (place.partition("?")[0], "several"),
        (f"sqlite:///{tmp_path}/none.db", "database"),
        ("postgresql://me:secret@localhost/films?table=r", "every"),
        ("nosuch://localhost/films", "database"),
    ):
        with pytest.raises(BadInput, match=words) as error:
            load(address)
        assert "secret" not in str(error.value)


def test_a_database_is_read_and_not_written(tmp_path):
    place = written(tmp_path, "sqlite:///r.db?table=seen")
    file = tmp_path / "r.db"
    before = file.read_bytes()
    load_from(tmp_path, place)
    assert file.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"r.db"}
    state = file.stat()
    expected = (str(file), state.st_size, state.st_mtime_ns)
    assert stamp(f"{place}&bounds=1,5") == (expected,)


def test_a_sheet_is_named_and_a_damaged_book_refused(tmp_path):
    name = written(tmp_path, "r.ods?sheet=seen").partition("?")[0]
    with pytest.raises(BadInput, match="'saen'"):
        load_from(tmp_path, name, sheet="saen")
    with pytest.raises(BadInput, match="recognised"):
        load_from(tmp_path, name)
    (tmp_path / "bad.xls").write_bytes(tables.OLE + b"x" * 600)
    with pytest.raises(BadInput, match=r"cannot be read as a spreadsheet|damaged"):
        load_from(tmp_path, "bad.xls", sheet="seen")
