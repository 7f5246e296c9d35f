"""What a child process that reads a file may do, and how it ends."""

import json
import linecache
import math
import operator
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest

from dpmf_core.base import isolation
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_datasets import load, npz_folder, sandbox, session_files
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import on_page, read_table
from dpmf_datasets.readers.table import Table
from dpmf_datasets.sandbox import SandboxLimits
from pages.data import session_data

ROOT = Path(__file__).parents[2]
WAIT = 60
LIMITS = SandboxLimits(memory=200 << 20, seconds=30)
TABLE = b"user,item,rating\n" + b"".join(
    b"u%d,i%d,%d\n" % (user, item, 1 + (user + item) % 5)
    for user in range(30)
    for item in range(8)
)
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="the system has no such limits"
)


def has_landlock():
    libc = isolation._libc()
    return libc is not None and libc.syscall(isolation.CREATE_RULESET, None, 0, 1) > 0


needs_landlock = pytest.mark.skipif(
    not has_landlock(), reason="the kernel has no Landlock"
)


@pytest.fixture(autouse=True)
def _children(in_process, monkeypatch):
    monkeypatch.setattr(sandbox, "is_inside", False)


def refusal(task, *arguments, limits=LIMITS, folder=None):
    with pytest.raises(BadInput) as caught:
        sandbox.read(
            task,
            "a.csv",
            *arguments,
            limits=limits,
            folder=folder,
        )
    return str(caught.value)


class TestItsLimits:
    def test_memory(self):
        words = refusal(operator.mul, "x", 10**9)
        assert "200 MB" in words
        assert "memory_per_upload" in words

    def test_processor_time(self):
        words = refusal(
            math.factorial, 10**8, limits=SandboxLimits(200 << 20, seconds=1)
        )
        assert "1 s" in words
        assert "seconds_per_upload" in words

    def test_the_answer(self):
        assert "damaged" in refusal(operator.mul, "x", sandbox.LONGEST_ANSWER)
        assert (
            sandbox.read(operator.mul, "a.csv", "x", 1_000, limits=LIMITS)
            == "x" * 1_000
        )

    def test_one_own_machine_only_memory_limits_a_file(self):
        words = sandbox._why("a.csv", sandbox.OUT_OF_MEMORY, "", sandbox.OWN_MACHINE)
        assert sandbox.OWN_MACHINE.seconds is None
        assert "--partitioned" in words

    @pytest.mark.parametrize(
        ("what", "most"), [("users", 29), ("items", 7), ("ratings", 239)]
    )
    def test_users_items_and_ratings(self, what, most):
        limits = replace(session_files.UPLOAD, **{what: most})
        with pytest.raises(BadInput) as caught:
            session_files.read(TABLE, "a.csv", {"bounds": "1,5"}, limits=limits)
        words = str(caught.value)
        assert f"a.csv has more than {most:,} {what}" in words
        assert f"{what}_per_upload" in words

    def test_reading_ends_at_the_limit_of_ratings(self, monkeypatch):
        n_batches = 0

        def batches(columns):
            nonlocal n_batches
            column = pa.array([str(row % 9) for row in range(1_000)])
            while True:
                n_batches += 1
                yield [column] * len(columns)

        table = Table(("user", "item", "rating"), [("1", "1", "1")], batches)
        few = replace(session_files.UPLOAD, ratings=2_500)
        monkeypatch.setattr(sandbox, "limits_here", few)
        declared = Declared((0, 9))
        with pytest.raises(BadInput, match="more than 2,500 ratings"):
            read_table(
                table,
                name="a.csv",
                declared=declared,
                advice=on_page,
            )
        assert n_batches == 3

    def test_they_are_settings(self):
        assert session_data.limits() == session_files.UPLOAD


@pytest.mark.parametrize("error", [MemoryError, pa.ArrowMemoryError])
def test_a_table_that_does_not_fit_in_memory_is_refused_in_words(
    error, tmp_path, monkeypatch
):
    def fail(*_, **__):
        raise error("malloc of size 480000000 failed")

    monkeypatch.setattr(Ratings, "of", fail)
    (tmp_path / "a.csv").write_bytes(TABLE)
    with pytest.raises(BadInput) as caught:
        load(f"{tmp_path / 'a.csv'}?bounds=1,5")
    words = str(caught.value)
    assert "does not fit in memory" in words
    assert "--partitioned" in words
    assert "bug" not in words


@linux
class TestItsRights:
    @pytest.mark.parametrize(
        ("task", "arguments"),
        [
            (os.fork, ()),
            (os.system, ("true",)),
            (os.kill, (os.getpid(), 0)),
            (socket.create_connection, (("127.0.0.1", 1),)),
        ],
        ids=["a process", "a program", "a signal", "a connection"],
    )
    def test_it_makes_no_other_process_and_reaches_none(self, task, arguments, caplog):
        if task is os.system:
            assert sandbox.read(task, "a.csv", *arguments, limits=LIMITS) != 0
            return
        assert "damaged" in refusal(task, *arguments)
        assert "PermissionError" in caplog.text

    @needs_landlock
    def test_it_opens_nothing_outside_its_folder(self, tmp_path, caplog):
        inside = tmp_path / "inside"
        outside = tmp_path / "outside"
        for folder in (inside, outside):
            folder.mkdir()
            (folder / "file").write_text("x")
        places = (
            outside,
            outside / "file",
            Path(f"/proc/{os.getpid()}/environ"),
            Path("/etc"),
        )
        for place in places:
            caplog.clear()
            assert "damaged" in refusal(os.open, str(place), os.O_RDONLY, folder=inside)
            assert "PermissionError" in caplog.text
        assert sandbox.read(
            os.listdir,
            "a",
            str(inside),
            limits=LIMITS,
            folder=inside,
        ) == ["file"]

    def test_it_gains_no_privileges(self):
        lines = sandbox.read(
            linecache.getlines, "a", "/proc/self/status", limits=LIMITS
        )
        assert {"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} <= set(lines)

    def test_nobody_attaches_to_the_server(self):
        program = (
            "import ctypes, runpy; runpy.run_path('app.py', run_name='app')\n"
            "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"  # PR_GET_DUMPABLE
        )
        command = [sys.executable, "-c", program]
        answer = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        assert answer.stdout == b"0\n"


class TestItsEnd:
    def test_it_ends_when_its_answer_is_not_wanted(self):
        others = psutil.Process().children()  # of other tests in this process
        children = []

        def watch():
            children.extend(set(psutil.Process().children()) - set(others))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            sandbox.read(
                time.sleep,
                "a.csv",
                600,
                limits=LIMITS,
                watch=watch,
            )
        assert children
        for child in children:
            assert not child.is_running()

    @linux
    def test_it_ends_with_its_parent(self):
        program = (
            "import time, psutil; from dpmf_datasets import sandbox\n"
            "def watch(): print(psutil.Process().children()[0].pid, flush=True)\n"
            "limits = sandbox.SandboxLimits(1 << 28, 600)\n"
            "sandbox.read(time.sleep, 'a', 600, limits=limits, watch=watch)"
        )
        command = [sys.executable, "-c", program]
        parent = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        child = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        child.wait(WAIT)
        parent.stdout.close()

    @linux
    def test_all_processes_of_its_group_end_with_it(self):
        process = subprocess.Popen(
            ["sh", "-c", "sleep 600 & echo $!; wait"],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        grandchild = psutil.Process(int(process.stdout.readline()))
        sandbox.end_process(process)
        process.stdout.close()
        gone, alive = psutil.wait_procs([grandchild], WAIT)
        assert gone
        assert not alive


class TestWhatItLeaves:
    """The child may have been taken over; the server opens arrays alone, and checks them."""

    @pytest.fixture
    def file(self, tmp_path, in_process):
        upload = session_files.read(TABLE, "a.csv", {"bounds": "1,5"})
        return Path(upload.entry.id)

    def changed(self, file, **changes):
        with np.load(file) as archive:
            arrays = dict(archive)
        facts = json.loads(arrays.pop("facts").tobytes())
        for name, value in changes.items():
            (facts if name in facts else arrays)[name] = value
        content = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        with file.open("wb") as stream:
            np.savez_compressed(stream, facts=content, **arrays)

    @pytest.mark.parametrize(
        "changes",
        [
            {"items": np.full(240, 9)},
            {"values": np.full(240, 99, np.float32)},
            {"values": np.ones(7, np.float32)},
            {"n_users": 10**12},
            {"n_items": "x"},
            {"labels": ["one"]},
        ],
        ids="-".join,
    )
    def test_arrays_that_do_not_fit_are_refused(self, file, changes):
        self.changed(file, **changes)
        with pytest.raises(BadInput, match="damaged"):
            session_files.load(str(file))

    def test_arrays_that_unpack_to_more_than_the_child_may_hold_are_refused(self, file):
        size = npz_folder.unpacked_size(file)
        with pytest.raises(BadInput, match="not read"):
            session_files.keep_file(file, "0" * 64, size - 1)
        assert session_files.keep_file(file, "0" * 64, size).is_file()

    def test_a_link_to_a_file_of_others_is_not_taken(self, file, tmp_path):
        for make in (os.symlink, os.link):
            link = tmp_path / make.__name__
            make(file, link)
            with pytest.raises(BadInput):
                session_files.keep_file(link, "0" * 64, 1 << 30)

    def test_only_arrays_stay(self, file):
        names = {path.name for path in file.parent.iterdir()}
        assert names == {"data.npz", session_files.ORIGIN, session_files.COMMAND}
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                assert name.endswith(".npy")
        assert len(npz_folder.read_file(file, "x")) == 240
