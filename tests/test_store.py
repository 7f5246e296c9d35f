"""The store keeps finished runs whole, whatever happens to the process that writes them."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run
from dpmf_core.store import Damaged, Store, to_json

ROOT = Path(__file__).parents[1]
SPEC: dict[str, Any] = {"data": {"id": "small"}, "algorithm": "dpals", "parameters": {"rank": 4}, "budget": {"epsilon": 2.0, "delta": 1e-6}, "seed": 3}


def made(key: str, *, fill: float = 1.5, rmse: float = 0.9) -> Run:
    record = {
        "key": key, "spec": SPEC, "title": "DPALS", "epsilon": {"exact": 2.0, "naive": None}, "delta": 1e-6, "public": True, "cached": False,
        "guarantee": {"status": "PROVEN"}, "metrics": {"rmse": rmse}, "seconds": {"fit": 0.1},
    }  # fmt: skip
    return Run(record, {"item_offsets": np.full(7, fill, np.float32), "item_factors": np.arange(21.0).reshape(7, 3)})


def artefacts(store: Store) -> list[Path]:
    return sorted((store.folder / "artefacts").iterdir())


def test_a_run_comes_back_as_it_was_put(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(made("a"))
    store.close()
    back = Store(tmp_path).get("a")
    assert back is not None
    assert back.record == {**made("a").record, "cached": True}
    for name, array in made("a").arrays.items():
        assert back.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(back.arrays[name], array)


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.get("a") is None
    assert not store.has("a")
    assert store.rows() == []
    with pytest.raises(BadInput, match="no stored run 'a'"):
        store.delete("a")


def test_rows_are_light_and_newest_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key in "abc":
        store.put(made(key))
    assert [row["key"] for row in store.rows()] == ["c", "b", "a"]
    row = store.rows()[0]
    expected = {"dataset": "small", "algorithm": "dpals", "epsilon": 2.0, "delta": 1e-6, "seed": 3, "rmse": 0.9, "title": "DPALS", "guarantee": "PROVEN"}
    assert {name: row[name] for name in expected} == expected


def test_what_is_not_finite_is_null(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(made("a", rmse=float("nan")))
    back = store.get("a")
    assert back is not None and back.record["metrics"] == {"rmse": None}
    assert to_json({"a": [float("inf"), np.float32(0.5), np.int64(3)]}) == '{"a": [null, 0.5, 3]}'


def test_a_key_is_replaced_and_its_old_arrays_go_at_the_next_start(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(made("a", fill=1.0))
    store.put(made("a", fill=2.0))
    back = store.get("a")
    assert back is not None and back.arrays["item_offsets"][0] == 2.0
    store.close()
    assert len(artefacts(Store(tmp_path))) == 1


def test_runs_that_share_arrays_keep_them_until_the_last_is_deleted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(made("a"))
    store.put(made("b"))
    assert len(artefacts(store)) == 1
    store.delete("a")
    assert store.check() == [] and store.has("b")
    store.delete("b")
    assert artefacts(store) == []


def test_objects_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(TypeError, match="item_titles"):
        store.put(Run(made("a").record, {"item_titles": np.array(["x", None], dtype=object)}))
    assert store.rows() == [] and artefacts(store) == []


# ---- damage -----------------------------------------------------------------------------------------------------------


def tamper(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [tamper, Path.unlink, lambda path: os.truncate(path, 40)], ids=["one bit", "removed", "truncated"])
def test_a_changed_artefact_is_found_and_never_served(tmp_path: Path, harm: Any) -> None:
    store = Store(tmp_path)
    store.put(made("a", fill=1.0))
    (first,) = artefacts(store)
    store.put(made("b", fill=2.0))
    harm(first)
    (problem,) = store.check()
    assert "run a " in problem
    with pytest.raises(Damaged, match="run a "):
        store.get("a")
    assert store.get("b") is not None
    store.put(made("a", fill=1.0))
    assert store.check() == []


def test_a_record_that_is_no_json_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(made("a"))
    with sqlite3.connect(tmp_path / "index.sqlite") as db:
        db.execute("UPDATE runs SET record = substr(record, 1, 20)")
    (problem,) = store.check()
    assert "run a " in problem


def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "index.sqlite") as db:
        db.execute("PRAGMA user_version = 7")
    with pytest.raises(BadInput, match="newer version"):
        Store(tmp_path)


def test_a_file_that_is_no_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_text("not a database, and long enough to be seen as none" * 50)
    with pytest.raises(BadInput, match=str(tmp_path)):
        Store(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="DPMF_DATA"):
        Store(tmp_path / "file" / "runs")


# ---- kill -9 ----------------------------------------------------------------------------------------------------------

PUT_AND_DIE = """
import os, signal, sys
from pathlib import Path
from dpmf_core import store as module
from tests.test_store import made

at, calls = int(sys.argv[2]), 0
def flush(descriptor):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)
kept = module.Store(Path(sys.argv[1]))
module.os.fsync = flush
kept.put(made("cut", fill=9.0))
os.kill(os.getpid(), signal.SIGKILL)
"""

PUT_FOR_EVER = """
import itertools, sys
from pathlib import Path
from dpmf_core.store import Store
from tests.test_store import made

store = Store(Path(sys.argv[1]))
for i in itertools.count():
    store.put(made(f"{sys.argv[2]}-{i}", fill=float(i)))
    print(i, flush=True)
"""


def spawn(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("at", "survives"), [(1, False), (2, False), (3, True)], ids=["written aside", "renamed, no row", "after"])
def test_killed_while_putting(tmp_path: Path, at: int, survives: bool) -> None:
    store = Store(tmp_path)
    store.put(made("early"))
    store.close()
    assert spawn(PUT_AND_DIE, str(tmp_path), str(at)).wait(60) == -signal.SIGKILL
    left = {path.name for path in (tmp_path / "artefacts").iterdir()}
    assert len(left) == 2  # the early run's, and what the killed process had written
    again = Store(tmp_path)
    assert again.check() == []
    assert again.has("early") and again.has("cut") is survives
    assert len(artefacts(again)) == 1 + survives


def test_killed_at_any_moment_two_writers_lose_nothing_that_was_confirmed(tmp_path: Path) -> None:
    writers = [spawn(PUT_FOR_EVER, str(tmp_path), name) for name in "xy"]
    for writer in writers:
        assert writer.stdout and writer.stdout.readline() == "0\n"
    time.sleep(0.3)
    confirmed = []
    for writer in writers:
        writer.kill()
        lines = writer.communicate()[0].split()
        confirmed.append(int(lines[-1]) if lines else 0)
    store = Store(tmp_path)
    assert store.check() == []
    keys = {row["key"] for row in store.rows()}
    for name, last in zip("xy", confirmed, strict=True):
        assert {f"{name}-{i}" for i in range(last + 1)} <= keys
    different = {float(run.arrays["item_offsets"][0]) for run in map(store.get, keys) if run is not None}
    assert len(artefacts(store)) == len(different)  # nothing left over, nothing twice
