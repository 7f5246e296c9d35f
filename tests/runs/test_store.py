"""The store keeps finished runs whole, whatever happens to the process that writes them."""

import hashlib
import io
import itertools
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core.errors import BadInput
from dpmf_core.runs.artefacts import Label, pack
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.store import DamagedRun, Store, summarise, to_json
from tests.support.records import altered

ROOT = Path(__file__).parents[2]
SPEC: dict[str, Any] = {
    "data": {"id": "small"},
    "algorithm": "dpals",
    "parameters": {"rank": 4},
    "budget": {"epsilon": 2.0, "delta": 1e-6},
    "seed": 3,
}


def small_run(key: str, *, fill: float = 1.5, rmse: float = 0.9) -> Run:
    record = {
        "key": key, "spec": SPEC, "title": "DPALS", "epsilon": {"exact": 2.0, "naive": None},
        "delta": 1e-6, "public": True, "cached": False,
        "guarantee": {"status": "PROVEN", "words": "Proved."}, "metrics": {"rmse": rmse},
        "seconds": {"fit": 0.1},
    }  # fmt: skip
    return Run(
        RunRecord.model_validate(record),
        {
            "item_offsets": np.full(7, fill, np.float32),
            "item_factors": np.arange(21.0).reshape(7, 3),
        },
    )


def artefacts(store: Store) -> list[Path]:
    return sorted((store.folder / "artefacts").iterdir())


def test_a_run_comes_back_as_it_was_put(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(small_run("a"))
    store.close()
    back = Store(tmp_path).get("a")
    assert back is not None
    assert back.record == altered(small_run("a"), cached=True).record
    for name, array in small_run("a").arrays.items():
        assert back.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(back.arrays[name], array)


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.get("a") is None
    assert not store.has("a")
    assert store.rows() == []
    with pytest.raises(BadInput):
        store.delete("a")


def test_rows_are_light_and_newest_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key in "abc":
        store.put(small_run(key))
    assert [row["key"] for row in store.rows()] == ["c", "b", "a"]
    row = store.rows()[0]
    expected = {
        "dataset": "small", "algorithm": "dpals", "epsilon": 2.0, "delta": 1e-6, "seed": 3,
        "rmse": 0.9, "title": "DPALS", "guarantee": "PROVEN",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_what_is_not_finite_is_null(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(small_run("a", rmse=float("nan")))
    back = store.get("a")
    assert back is not None and back.record.metrics == {"rmse": None}
    assert to_json({"a": [float("inf"), np.float32(0.5), np.int64(3)]}) == '{"a": [null, 0.5, 3]}'


def test_a_key_is_replaced_and_its_old_arrays_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(small_run("a", fill=1.0))
    store.put(small_run("a", fill=2.0))
    back = store.get("a")
    assert back is not None and back.arrays["item_offsets"][0] == 2.0
    assert len(artefacts(store)) == 1


def test_a_deleted_run_takes_its_file_along_and_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(small_run("a"))
    store.put(small_run("b"))
    store.delete("a")
    assert len(artefacts(store)) == 1
    assert store.check() == [] and store.has("b")
    store.delete("b")
    assert artefacts(store) == []


def test_objects_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(TypeError, match="item_titles"):
        store.put(Run(small_run("a").record, {"item_titles": np.array(["x", None], dtype=object)}))
    assert store.rows() == [] and artefacts(store) == []


def test_owner_and_pin_stay_with_a_run_whatever_happens_to_the_index(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key in "abcd":
        store.put(small_run(key), owner=f"of {key}")
    store.pin("a")
    store.put(small_run("b", fill=3.0), owner="another")
    assert [store.owner(key) for key in "ab"] == ["of a", "of b"]
    assert store.keep_at_most(3, besides="c") == 1 and store.keep_at_most(3) == 0
    assert (
        sorted(store.run_keys()) == ["a", "b", "c"]
        and store.count() == 3
        and len(artefacts(store)) == 3
    )
    before = store.rows()
    store.close()
    lose_index(tmp_path, b"")
    again = Store(tmp_path)
    assert again.rows() == before and {row["key"]: row["pinned"] for row in before} == {
        "a": True,
        "b": False,
        "c": False,
    }
    with pytest.raises(BadInput):
        again.owner("d")


def test_a_record_is_read_without_its_arrays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(small_run("a"))
    assert (
        store.record("a") == altered(small_run("a"), cached=True).record
        and store.record("b") is None
    )
    (path,) = artefacts(store)
    path.write_bytes(b"no run")
    with pytest.raises(DamagedRun, match="run a "):
        store.record("a")


# ---- damage --------------------------------------------------------------------------------------


def tamper(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def exchange(path: Path) -> None:
    """Another whole run of the same key."""
    path.write_bytes(pack(small_run("a", fill=3.0), Label("2030-01-01")))


@pytest.mark.parametrize(
    "harm",
    [tamper, Path.unlink, lambda path: os.truncate(path, 40), exchange],
    ids=["one bit", "removed", "truncated", "exchanged"],
)
def test_a_changed_artefact_is_found_and_never_served(tmp_path: Path, harm: Any) -> None:
    store = Store(tmp_path)
    store.put(small_run("a", fill=1.0))
    (first,) = artefacts(store)
    store.put(small_run("b", fill=2.0))
    harm(first)
    (problem,) = store.check()
    assert "run a " in problem
    with pytest.raises(DamagedRun, match="run a "):
        store.get("a")
    assert store.get("b") is not None
    store.put(small_run("a", fill=1.0))
    assert store.check() == []


def test_a_file_that_is_no_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_text(
        "not a database, and long enough to be seen as none" * 50
    )
    with pytest.raises(BadInput, match=str(tmp_path)):
        Store(tmp_path)


# ---- an index that is lost or damaged ------------------------------------------------------------


def three(folder: Path) -> Store:
    """A store of runs a, b and c, of which b has a note."""
    store = Store(folder)
    for fill, key in enumerate("abc"):
        store.put(small_run(key, fill=fill))
    store.annotate("b", "look here", "mine, old")
    return store


def lose_index(folder: Path, content: bytes | None) -> None:
    """The index as a full disk or a careless hand leaves it."""
    for path in folder.glob("index.sqlite*"):
        path.unlink()
    if content is not None:
        (folder / "index.sqlite").write_bytes(content)


@pytest.mark.parametrize("content", [b"", None], ids=["no bytes", "no file"])
def test_an_index_that_is_lost_is_built_again_from_the_files(
    tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    store = three(tmp_path)
    before = store.rows()
    store.close()
    lose_index(tmp_path, content)
    again = Store(tmp_path)
    assert again.rows() == before and again.check() == [] and again.aside() == []
    back = again.get("c")
    assert back is not None and back.arrays["item_offsets"][0] == 2
    assert "3" in caplog.text and "index" in caplog.text
    again.delete("a")
    again.close()
    assert Store(tmp_path).run_keys() == ["b", "c"]


def test_a_file_that_is_no_run_is_moved_aside_and_never_deleted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = three(tmp_path)
    store.close()
    arrays = tmp_path / "arrays.npz"
    np.savez(arrays, item_offsets=np.ones(3))
    # of an older layout: its bytes are its name's, but it has no record
    old = hashlib.sha256(arrays.read_bytes()).hexdigest()
    arrays.rename(tmp_path / "artefacts" / f"{old}.npz")
    (tmp_path / "artefacts" / "notes.txt").write_text("somebody's")
    (tmp_path / "artefacts" / f"{'0' * 64}.npz").write_bytes(b"half of someth")
    again = Store(tmp_path)
    assert again.check() == [] and len(again.run_keys()) == 3
    assert {path.name for path in again.aside()} == {f"{old}.npz", "notes.txt", f"{'0' * 64}.npz"}
    assert f"{old}.npz" in caplog.text and "no record" in caplog.text
    again.close()
    assert len(Store(tmp_path).aside()) == 3


def test_a_malformed_index_is_an_error_and_is_built_again_once_it_is_deleted(
    tmp_path: Path,
) -> None:
    store = three(tmp_path)
    before = store.rows()
    store.close()
    index = tmp_path / "index.sqlite"
    content = bytearray(index.read_bytes())
    for start in range(4096, len(content)):
        content[start] ^= 0x5A
    lose_index(tmp_path, bytes(content))
    with pytest.raises(BadInput, match=r"delete index\.sqlite"):
        Store(tmp_path)
    assert len(list((tmp_path / "artefacts").iterdir())) == 3
    for path in tmp_path.glob("index.sqlite*"):
        path.unlink()
    again = Store(tmp_path)
    assert again.rows() == before and again.check() == []


# ---- older layouts -------------------------------------------------------------------------------


def as_version_2(folder: Path, runs: dict[str, Run], layout: int = 2) -> None:
    """A store as layouts 1 and 2 had it: records in the index alone, equal arrays once."""
    (folder / "artefacts").mkdir(parents=True, exist_ok=True)
    columns = (
        ", note TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT ''" if layout == 2 else ""
    )
    db = sqlite3.connect(folder / "index.sqlite")
    db.execute(
        "CREATE TABLE runs (key TEXT PRIMARY KEY, created TEXT NOT NULL, summary TEXT NOT NULL,"
        f" record TEXT NOT NULL, artefact TEXT NOT NULL{columns})"
    )
    for key, run in runs.items():
        out = io.BytesIO()
        parts: dict[str, Any] = dict(run.arrays)
        np.savez(out, **parts)
        name = hashlib.sha256(out.getvalue()).hexdigest()
        (folder / "artefacts" / f"{name}.npz").write_bytes(out.getvalue())
        row = (
            key,
            f"2026-01-0{len(key)}",
            to_json(summarise(run.record)),
            to_json(run.record.to_dict()),
            name,
        )
        db.execute(
            "INSERT INTO runs (key, created, summary, record, artefact) VALUES (?, ?, ?, ?, ?)", row
        )
        if layout == 2:
            db.execute("UPDATE runs SET note = ?, tags = 'old' WHERE key = ?", (f"of {key}", key))
    db.execute(f"PRAGMA user_version = {layout}")
    db.commit()
    db.close()


# ---- kill -9 -------------------------------------------------------------------------------------

PUT_AND_DIE = """
import os, signal, sys
from pathlib import Path
from dpmf_core.runs import artefacts, store as module
from tests.runs.test_store import small_run

at, calls = int(sys.argv[2]), 0
def flush(descriptor):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)
run_store = module.Store(Path(sys.argv[1]))
artefacts.os.fsync = flush
run_store.put(small_run("cut", fill=9.0))
os.kill(os.getpid(), signal.SIGKILL)
"""

PUT_FOR_EVER = """
import itertools, sys
from pathlib import Path
from dpmf_core.runs.store import Store
from tests.runs.test_store import small_run

store = Store(Path(sys.argv[1]))
for i in itertools.count():
    store.put(small_run(f"{sys.argv[2]}-{i}", fill=float(i)))
    print(i, flush=True)
"""


def spawn(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    ("at", "survives"),
    [(1, False), (2, True), (3, True)],
    ids=["written aside", "renamed, no row", "after"],
)
def test_killed_while_putting(tmp_path: Path, at: int, survives: bool) -> None:
    store = Store(tmp_path)
    store.put(small_run("early"))
    store.close()
    assert spawn(PUT_AND_DIE, str(tmp_path), str(at)).wait(60) == -signal.SIGKILL
    names = {path.name for path in (tmp_path / "artefacts").iterdir()}
    assert len(names) == 2  # the early run's, and what the killed process had written
    again = Store(tmp_path)
    assert again.check() == []
    assert again.has("early") and again.has("cut") is survives
    assert len(artefacts(again)) == 1 + survives


def test_killed_at_any_moment_two_writers_lose_nothing_that_was_confirmed(tmp_path: Path) -> None:
    writers = [spawn(PUT_FOR_EVER, str(tmp_path), name) for name in "xy"]
    for writer, number in itertools.product(writers, range(20)):
        assert writer.stdout and writer.stdout.readline() == f"{number}\n"
    reports = []
    for writer in writers:
        writer.kill()
        lines = writer.communicate()[0].split()
        reports.append(int(lines[-1]) if lines else 19)
    store = Store(tmp_path)
    assert store.check() == []
    keys = {row["key"] for row in store.rows()}
    for name, last in zip("xy", reports, strict=True):
        assert {f"{name}-{i}" for i in range(last + 1)} <= keys
    assert len(artefacts(store)) == len(keys)  # nothing left over, nothing twice


def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "index.sqlite") as db:
        db.execute("PRAGMA user_version = 7")
    with pytest.raises(BadInput, match="newer version"):
        Store(tmp_path)


def test_of_two_files_of_one_run_the_later_one_counts(tmp_path: Path) -> None:
    store = three(tmp_path)
    earlier = artefacts(store)
    by_name = {path.name: path.read_bytes() for path in earlier}
    store.annotate("a", "later", "")
    store.close()
    for name, content in by_name.items():
        (tmp_path / "artefacts" / name).write_bytes(content)
    lose_index(tmp_path, b"")
    again = Store(tmp_path)
    assert len(artefacts(again)) == 3 and again.check() == []
    assert sorted(again.run_keys()) == ["a", "b", "c"]
    assert {row["key"]: row["note"] for row in again.rows()} == {
        "a": "later",
        "b": "look here",
        "c": "",
    }


BAD = {
    "summary that is no JSON": "UPDATE stored SET summary = substr(summary, 1, 20) WHERE key = 'b'",
    "summary of another kind": "UPDATE stored SET summary = '[1]' WHERE key = 'b'",
    "summary that lacks fields": "UPDATE stored SET summary = '{\"key\": \"b\"}' WHERE key = 'b'",
    "summary that is no text": "UPDATE stored SET summary = x'fffe00' WHERE key = 'b'",
    "summary that is no UTF-8": (
        "UPDATE stored SET summary = CAST(x'fffe00' AS TEXT) WHERE key = 'b'"
    ),
}


@pytest.mark.parametrize("harm", BAD.values(), ids=BAD)
def test_a_row_that_cannot_be_read_is_read_from_its_file(tmp_path: Path, harm: str) -> None:
    store = three(tmp_path)
    before = store.rows()
    with sqlite3.connect(tmp_path / "index.sqlite") as db:
        db.execute(harm)
    assert store.rows() == before and store.get("b") is not None and len(store.sizes()) == 3
    (problem,) = store.check()
    assert "run b " in problem and "index.sqlite" in problem
    store.close()
    for path in tmp_path.glob("index.sqlite*"):
        path.unlink()
    again = Store(tmp_path)
    assert again.check() == [] and sorted(again.run_keys()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "artefact", ["''", "'../../secret'", "x'00ff'", "CAST(x'fffe00' AS TEXT)", f"'{'0' * 64}'"]
)
def test_a_row_that_names_no_file_hides_no_other(tmp_path: Path, artefact: str) -> None:
    store = three(tmp_path)
    with sqlite3.connect(tmp_path / "index.sqlite") as db:
        db.execute(f"UPDATE stored SET artefact = {artefact}, summary = '' WHERE key = 'b'")
    assert [row["key"] for row in store.rows()] == ["c", "a"]
    assert store.get("a") is not None and sorted(store.sizes()) == ["a", "c"]
    with pytest.raises(DamagedRun, match="run b "):
        store.get("b")
    with pytest.raises(BadInput, match="run b "):
        store.annotate("b", "a note", "")
    assert len(store.check()) == 1
    store.close()
    again = Store(tmp_path)  # takes the file in again
    assert again.check() == [] and len(again.rows()) == 3


@pytest.mark.parametrize("layout", [1, 2])
def test_older_layouts_keep_their_runs(tmp_path: Path, layout: int) -> None:
    as_version_2(
        tmp_path,
        {key: small_run(key, fill=fill) for key, fill in (("a", 1), ("bb", 1), ("ccc", 2))},
        layout,
    )
    assert len(list((tmp_path / "artefacts").iterdir())) == 2  # a and bb have equal arrays
    store = Store(tmp_path)
    assert store.run_keys() == ["a", "bb", "ccc"] and store.check() == [] and store.aside() == []
    assert (
        store.rows()[0]["note"] == ("of ccc" if layout == 2 else "")
        and store.rows()[0]["created"] == "2026-01-03"
    )
    back = store.get("bb")
    assert (
        back is not None
        and back.record == altered(small_run("bb"), cached=True).record
        and back.arrays["item_offsets"][0] == 1
    )
    assert len(artefacts(store)) == 3
    store.close()
    lose_index(tmp_path, b"")
    assert Store(tmp_path).run_keys() == ["a", "bb", "ccc"]


def test_a_run_of_an_older_layout_that_cannot_be_read_is_moved_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    as_version_2(
        tmp_path,
        {key: small_run(key, fill=fill) for key, fill in (("a", 1), ("bb", 2), ("ccc", 3))},
    )
    name = (
        sqlite3.connect(tmp_path / "index.sqlite")
        .execute("SELECT artefact FROM runs WHERE key = 'bb'")
        .fetchone()[0]
    )
    tamper(tmp_path / "artefacts" / f"{name}.npz")
    with sqlite3.connect(tmp_path / "index.sqlite") as db:
        db.execute("UPDATE runs SET record = substr(record, 1, 30) WHERE key = 'ccc'")
    store = Store(tmp_path)
    assert store.run_keys() == ["a"] and store.check() == []
    assert len(store.aside()) == 4  # file and record of each
    assert "bb" in caplog.text and "ccc" in caplog.text
