"""The same ratings from every kind of file, written by the library that usually writes it."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_datasets import load, stamp
from dpmf_datasets.readers import arrow_tables

FRAME = pd.DataFrame(
    {
        "user_id": [f"u{u}" for u in range(12) for _ in range(4)],
        "item_id": [(u + 3 * k) % 9 for u in range(12) for k in range(4)],
        "rating": [1 + (u * k) % 9 / 2 for u in range(12) for k in range(4)],
        "timestamp": [1_600_000_000 + (37 * u + k) % 48 for u in range(12) for k in range(4)],
    }
)
Write = Callable[[Path, pd.DataFrame], str]


def _csv(folder: Path, frame: pd.DataFrame) -> str:
    frame.to_csv(folder / "r.csv", index=False)
    return "r.csv"


def _json_lines(folder: Path, frame: pd.DataFrame) -> str:
    several = frame.assign(tags=[["a"]] * len(frame))
    several.to_json(folder / "r.jsonl", orient="records", lines=True)
    return "r.jsonl"


def _json_list(folder: Path, frame: pd.DataFrame) -> str:
    frame.to_json(folder / "r.json", orient="records")
    return "r.json"


def _packed_json(folder: Path, frame: pd.DataFrame) -> str:
    frame.to_json(folder / "r.jsonl.gz", orient="records", lines=True)
    return "r.jsonl.gz"


def _feather(folder: Path, frame: pd.DataFrame) -> str:
    frame.to_feather(folder / "r.feather")
    return "r.feather"


def _recbole(folder: Path, frame: pd.DataFrame) -> str:
    header = ["user_id:token", "item_id:token", "rating:float", "timestamp:float"]
    frame.to_csv(folder / "r.inter", sep="\t", index=False, header=header)
    return "r.inter"


def _npz(folder: Path, frame: pd.DataFrame) -> str:
    np.savez(folder / "r.npz", **{name: np.array(frame[name].tolist()) for name in frame})
    return "r.npz"


def _sqlite(folder: Path, frame: pd.DataFrame) -> str:
    with contextlib.closing(sqlite3.connect(folder / "r.db")) as connection:
        frame.to_sql("seen", connection, index=False)
        connection.execute("create table other (x integer)")
    return "r.db?table=seen"


def _address(folder: Path, frame: pd.DataFrame) -> str:
    return f"sqlite:///{folder}/{_sqlite(folder, frame)}"


def _excel(folder: Path, frame: pd.DataFrame) -> str:
    frame.to_excel(folder / "r.xlsx", index=False)
    return "r.xlsx"


def _ods(folder: Path, frame: pd.DataFrame) -> str:
    pytest.importorskip("odf")
    with pd.ExcelWriter(folder / "r.ods") as book:
        pd.DataFrame({"about": ["this"]}).to_excel(book, sheet_name="notes", index=False)
        frame.to_excel(book, sheet_name="seen", index=False)
    return "r.ods?sheet=seen"


WRITERS: list[Write] = [
    *(_csv, _json_lines, _json_list, _packed_json, _feather, _recbole, _npz, _sqlite, _address),
    *(_excel, _ods),
]


def load_from(folder: Path, place: str, **facts: str) -> Ratings:
    """The ratings at a place in the folder, with more said after it."""
    path, _, query = place.partition("?")
    query_facts = "&".join([*([query] if query else []), *(f"{k}={v}" for k, v in facts.items())])
    return load(f"{path if '://' in path else folder / path}?{query_facts}")


@pytest.mark.parametrize("write", WRITERS, ids=lambda it: it.__name__[1:])
def test_every_kind_holds_the_same_ratings(tmp_path, write):
    (tmp_path / "first").mkdir()
    expected = load_from(tmp_path / "first", _csv(tmp_path / "first", FRAME), bounds="1,5")
    ratings = load_from(tmp_path, write(tmp_path, FRAME), bounds="1,5")
    assert ratings.labels == expected.labels == tuple(map(str, range(9)))
    assert ratings.n_users == 12
    for name in ("users", "items", "values"):
        np.testing.assert_array_equal(getattr(ratings, name), getattr(expected, name))
    np.testing.assert_array_equal(ratings.order.argsort(), expected.order.argsort())
    assert not ratings.public


def test_a_wide_table_is_a_row_for_each_user(tmp_path):
    wide = FRAME.pivot_table("rating", "user_id", "item_id").reset_index()
    wide.columns = wide.columns.map(str)
    expected = load_from(tmp_path, _csv(tmp_path, FRAME), bounds="1,5")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.to_parquet(tmp_path / "wide.parquet")
    for name in ("wide.csv", "wide.parquet"):
        ratings = load_from(tmp_path, name, layout="wide", bounds="1,5")
        assert ratings.labels == expected.labels
        assert len(ratings) == len(expected) < 12 * 9
        for part in ("users", "items", "values"):
            np.testing.assert_array_equal(getattr(ratings, part), getattr(expected, part))
    wide[[*wide.columns[1:], "user_id"]].to_csv(tmp_path / "last.csv", index=False)
    last = load_from(tmp_path, "last.csv", layout="wide", user="user_id", bounds="1,5")
    np.testing.assert_array_equal(last.values, expected.values)
    with pytest.raises(BadInput, match="'tall'"):
        load_from(tmp_path, "wide.csv", layout="tall", bounds="1,5")


def test_pickles_are_not_read(tmp_path):
    np.savez(tmp_path / "p.npz", user=np.array([{"a": 1}], object), item=[1], rating=[1])
    with pytest.raises(BadInput, match="allow_pickle"):
        load_from(tmp_path, "p.npz", bounds="1,5")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"user": 1}\n{"user": [', "lines"),
        ("a.json", b"[{]", "lines"),
        ("a.json", b'[{"user": 1}, 3]', "lines"),
        ("a.feather", b"ARROW1\0\0" + b"x" * 50, "cannot be read as Feather|damaged"),
        ("a.npz", b"PK\x03\x04" + b"x" * 50, "damaged"),
        ("a.jsonl", b'{"user": 1, "film": 2}', "recognised"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words):
        load_from(tmp_path, name, bounds="1,5")


def test_what_is_wrong_with_an_address_is_said(tmp_path):
    place = f"sqlite:///{tmp_path}/{_sqlite(tmp_path, FRAME)}"
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
    name = _sqlite(tmp_path, FRAME)
    file = tmp_path / "r.db"
    before = file.read_bytes()
    load_from(tmp_path, f"sqlite:///{tmp_path}/{name}", bounds="1,5")
    assert file.read_bytes() == before
    assert {it.name for it in tmp_path.iterdir()} == {"r.db"}
    assert stamp(f"sqlite:///{tmp_path}/{name}&bounds=1,5") == (
        (str(file), file.stat().st_size, file.stat().st_mtime_ns),
    )


def test_a_sheet_is_named_and_a_damaged_book_refused(tmp_path):
    name = _ods(tmp_path, FRAME).partition("?")[0]
    for facts, words in (({"sheet": "saen"}, "'saen'"), ({}, "recognised")):
        with pytest.raises(BadInput, match=words):
            load_from(tmp_path, name, **facts, bounds="1,5")
    (tmp_path / "bad.xls").write_bytes(arrow_tables.OLE + b"x" * 600)
    with pytest.raises(BadInput, match=r"cannot be read as a spreadsheet|damaged"):
        load_from(tmp_path, "bad.xls", sheet="seen", bounds="1,5")
