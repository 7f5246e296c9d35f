"""The store keeps finished runs whole, whatever happens to the process that writes them."""

import itertools
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.run_file import SCHEMA
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import FILE, DamagedRun, Store
from tests.support.records import altered

ROOT = Path(__file__).parents[2]
SPEC = {
    "data": {"id": "small"},
    "algorithm": "dpals",
    "parameters": {"rank": 4},
    "budget": {"epsilon": 2.0, "delta": 1e-6},
    "seed": 3,
}


def small_run(key, *, fill=1.5, rmse=0.9):
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


def three(folder):
    """A store of runs a, b and c, of which b has a note."""
    store = Store(folder)
    for fill, key in enumerate("abc"):
        store.put(small_run(key, fill=fill))
    store.annotate("b", "look here", "mine, old")
    return store


def test_a_run_comes_back_as_it_was_put(tmp_path):
    store = Store(tmp_path)
    store.put(small_run("a"))
    assert store.path.stat().st_mode & 0o077 == 0  # it holds models of private data
    store.close()
    store = Store(tmp_path)
    back = store.get("a")
    assert back.record == altered(small_run("a"), cached=True).record
    for name, array in small_run("a").arrays.items():
        assert back.arrays[name].dtype == array.dtype
        assert_array_equal(back.arrays[name], array)


def test_an_unknown_run_is_none(tmp_path):
    store = Store(tmp_path)
    assert store.get("a") is None
    assert not store.has("a")
    assert store.rows() == []
    assert store.summaries(["a"]) == {}
    for ask in (
        store.delete,
        store.owner,
        store.pin,
        lambda key: store.annotate(key, "", ""),
    ):
        with pytest.raises(BadInput):
            ask("a")


def test_rows_are_light_and_newest_first(tmp_path):
    store = three(tmp_path)
    assert [row["key"] for row in store.rows()] == ["c", "b", "a"]
    row = store.rows()[1]
    expected = {
        "dataset": "small", "algorithm": "dpals", "epsilon": 2.0, "delta": 1e-6, "seed": 3,
        "rmse": 0.9, "title": "DPALS", "guarantee": "PROVEN", "note": "look here",
        "tags": "mine, old",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert store.epsilons("small", "dpals") == [2.0]
    assert store.epsilons("small", "als") == []


def test_what_is_not_finite_is_null(tmp_path):
    store = Store(tmp_path)
    store.put(small_run("a", rmse=float("nan")))
    back = store.get("a")
    assert back.record.metrics == {"rmse": None}
    assert (
        to_json({"a": [float("inf"), np.float32(0.5), np.int64(3)]})
        == '{"a": [null, 0.5, 3]}'
    )


def test_deleted_and_replaced_runs_give_their_room_back(tmp_path):
    store = Store(tmp_path)
    store.put(small_run("a", fill=1.0))
    store.put(small_run("a", fill=2.0))
    back = store.get("a")
    assert back.arrays["item_offsets"][0] == 2.0
    store.close()
    before = store.path.stat().st_size
    store = Store(tmp_path)
    large = Run(small_run("b").record, {"item_factors": np.ones(10**6)})
    store.put(large)
    store.delete("b")
    store.close()
    assert store.path.stat().st_size == before


def test_objects_are_refused_before_anything_is_written(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(TypeError, match="item_titles"):
        store.put(
            Run(
                small_run("a").record,
                {"item_titles": np.array(["x", None], dtype=object)},
            )
        )
    assert store.rows() == []


def test_owner_and_pin_stay_with_a_run(tmp_path):
    store = Store(tmp_path)
    for key in "abcd":
        store.put(small_run(key), owner=f"of {key}")
    store.pin("a")
    store.annotate("b", "a note", "one, two , one")
    store.put(small_run("b", fill=3.0), owner="another")
    assert [store.owner(key) for key in "ab"] == ["of a", "of b"]
    assert store.keep_at_most(3, besides="c") == 1
    assert store.keep_at_most(3) == 0
    assert sorted(store.run_keys()) == ["a", "b", "c"]
    assert store.count() == 3
    with pytest.raises(BadInput):
        store.annotate("b", "x" * 2001, "")
    rows = {
        row["key"]: (row["pinned"], row["note"], row["tags"]) for row in store.rows()
    }
    assert rows == {
        "a": (True, "", ""),
        "b": (False, "a note", "one, two"),
        "c": (False, "", ""),
    }
    assert store.sizes().keys() == rows.keys()
    assert min(store.sizes().values()) > 500


def test_a_run_is_found_by_its_specification(tmp_path):
    """Of data that were opened in this process; in the package of any."""
    from dpmf_core.runs import data_access, execution, first_views

    spec = RunSpec.parse(data={"id": "cinema-small"}, algorithm="bias")
    shipped = first_views.usual_run("ratings")
    store = Store(tmp_path)
    store.put(run := execution.run(spec))
    data_access.forget("cinema-small")
    assert store.find_runs([spec]) == [None]
    assert store.find_all([spec]) == [None]
    whole = store.whole(spec)  # which opens the data
    assert whole.key == run.key
    found, other = store.find_runs([spec, shipped])
    assert found.record == whole.record
    assert found.arrays.keys()
    assert other.record.cached
    assert not other.arrays
    assert other.spec == shipped.canonical()
    assert [
        summary and summary["key"] for summary in store.find_all([shipped, spec])
    ] == [
        other.key,
        run.key,
    ]


DAMAGE = {
    "a bit of the model": "UPDATE runs SET model = substr(model, 1, 99) || x'00' WHERE key = 'a'",
    "the record": "UPDATE runs SET record = replace(record, '0.9', '0.8') WHERE key = 'a'",
    "another run's model": "UPDATE runs SET model = (SELECT model FROM runs WHERE key = 'b')"
    " WHERE key = 'a'",
    "a summary that is no JSON": "UPDATE runs SET summary = substr(summary, 9) WHERE key = 'a'",
    "a summary that is no text": "UPDATE runs SET summary = x'fffe00' WHERE key = 'a'",
}


@pytest.mark.parametrize("harm", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_run_is_named_never_served_and_can_be_deleted(tmp_path, harm):
    store = three(tmp_path)
    with sqlite3.connect(store.path) as db:
        db.execute(harm)
    (problem,) = store.check()
    assert "run a " in problem
    with pytest.raises(DamagedRun):
        store.get("a")
    assert store.get("b") is not None
    assert store.count() == 3
    assert len(store.rows()) >= 2
    store.put(small_run("a"))
    assert store.check() == []
    with sqlite3.connect(store.path) as db:
        db.execute(harm)
    store.delete("a")
    assert store.check() == []
    assert store.run_keys() == ["b", "c"]


def test_a_file_that_is_no_store_is_named(tmp_path):
    (tmp_path / FILE).write_text(
        "not a database, and long enough to be seen as none" * 50
    )
    with pytest.raises(BadInput, match=str(tmp_path)):
        Store(tmp_path)


def test_pages_of_the_file_that_are_damaged_are_an_error(tmp_path):
    store = three(tmp_path)
    store.close()
    content = bytearray(store.path.read_bytes())
    for start in range(2 * 4096, len(content)):
        content[start] ^= 0x5A
    store.path.write_bytes(content)
    store = Store(tmp_path)
    assert store.check() != []
    with pytest.raises(BadInput):
        store.get("a")


def test_a_newer_store_is_left_alone(tmp_path):
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(BadInput, match="newer version"):
        Store(tmp_path)


def in_a_child(act):
    """How a function ends in a process of its own, which may give up rights or limits."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            answer = str(act())
        except BaseException as error:  # whatever it is, it is told
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def test_a_full_disk_is_an_error_and_the_store_goes_on(tmp_path):
    """For real: the system refuses every byte after the first few thousand of a file."""
    store = Store(tmp_path)
    store.put(small_run("a"))

    def fill():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        full = Store(tmp_path)
        with pytest.raises(BadInput):
            full.annotate("a", "n" * 2000, "")
        return full.put(Run(small_run("b").record, {"item_factors": np.ones(10**4)}))

    answer = in_a_child(fill)
    assert answer.startswith("BadInput: ")
    assert str(store.path) in answer
    assert store.check() == []
    assert store.run_keys() == ["a"]
    store.put(small_run("b"))
    assert store.check() == []
    assert store.run_keys() == ["a", "b"]


def test_a_read_only_store_is_refused_in_a_sentence(tmp_path):
    folder = tmp_path / "store"
    store = three(folder)
    store.close()
    store.path.chmod(0o444)
    folder.chmod(0o555)
    for above in (tmp_path, *tmp_path.parents[:2]):
        above.chmod(0o755)  # pytest's own folders are for their owner alone

    def act():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        return Store(folder)

    answer = in_a_child(act)
    assert answer.startswith("BadInput: ")
    assert str(folder) in answer
    folder.chmod(0o755)
    store.path.chmod(0o644)
    assert Store(folder).count() == 3


OPEN = """
import sys
from pathlib import Path
from dpmf_core.runs.store import Store
from tests.runs.test_store import small_run

print("ready", flush=True)
sys.stdin.readline()  # all begin at the same moment
store = Store(Path(sys.argv[1]))
store.put(small_run(sys.argv[2]))
"""
PUT_AND_DIE = """
import os, signal, sys
from pathlib import Path
from dpmf_core.runs.store import Store
from tests.runs.test_store import small_run

store = Store(Path(sys.argv[1]))
insert = Store._insert
def die(*arguments):
    insert(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "before":
    Store._insert = die
store.put(small_run("cut", fill=9.0))
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


def spawn(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_several_processes_open_a_new_store_at_the_same_moment(tmp_path):
    processes = [spawn(OPEN, str(tmp_path), str(number)) for number in range(3)]
    assert all(process.stdout and process.stdout.readline() for process in processes)
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.wait() for process in processes] == [0] * 3
    store = Store(tmp_path)
    assert store.check() == []
    assert sorted(store.run_keys()) == list("012")


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_stays_if_its_writer_is_killed_after_the_commit_and_not_before(
    tmp_path, moment
):
    store = Store(tmp_path)
    store.put(small_run("early"))
    assert spawn(PUT_AND_DIE, str(tmp_path), moment).wait() == -signal.SIGKILL
    assert store.check() == []
    assert store.has("early")
    assert store.has("cut") is (moment == "after")
    store.put(small_run("later"))  # the lock went with its process
    assert store.has("later")


def test_killed_at_any_moment_two_writers_lose_nothing_that_was_confirmed(tmp_path):
    writers = [spawn(PUT_FOR_EVER, str(tmp_path), name) for name in "xy"]
    for writer, number in itertools.product(writers, range(20)):
        assert writer.stdout
        assert writer.stdout.readline() == f"{number}\n"
    reports = []
    for writer in writers:
        writer.kill()
        lines = writer.communicate()[0].split()
        reports.append(int(lines[-1]) if lines else 19)
    store = Store(tmp_path)
    assert store.check() == []
    keys = set(store.run_keys())
    for name, last in zip("xy", reports, strict=True):
        assert {f"{name}-{i}" for i in range(last + 1)} <= keys


def test_a_copy_of_the_one_file_is_whole_after_a_checkpoint(tmp_path):
    """Also next to another process that has the store open."""
    store = three(tmp_path / "store")
    other = Store(tmp_path / "store")
    store.checkpoint()
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / FILE).write_bytes(store.path.read_bytes())
    assert Store(copy).run_keys() == ["a", "b", "c"]
    assert other.run_keys() == ["a", "b", "c"]
    store.put(small_run("d"))  # it goes on
    assert other.run_keys() == ["a", "b", "c", "d"]
