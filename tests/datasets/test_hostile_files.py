"""Damaged and harmful files end as a data set or a refusal, within the child's limits."""

import contextlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import LOCK
from dpmf_datasets import sandbox, session_files
from tests.support import hostile
from tests.support.hostile import BOMBS, SOUND

EACH = 200
SMALL = b"user,item,rating\n1,2,3\n2,2,4\n2,3,5\n"
HARMFUL_FILES = sorted((Path(__file__).parents[1] / "hostile_files").iterdir())
# of uploads, read as tables within seconds; the rest takes longer to make or to read
QUICK = ("a cell far away", "sixty million cells", "zips in zips", "a name above")


def in_a_child(file):
    """A harmful file as a parameter of a test, which is slow where it is of MATLAB."""
    if file.suffix == ".mat":
        return pytest.param(
            file,
            marks=pytest.mark.slow,
            id=file.name,
        )
    return pytest.param(file, id=file.name)


# MATLAB files, which make scipy crash, are read in a child each; the others in this process
IN_A_CHILD = [in_a_child(file) for file in HARMFUL_FILES]


@pytest.fixture(autouse=True)
def _children(tmp_path, monkeypatch, in_process):
    monkeypatch.setattr(sandbox, "is_inside", False)
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    # what takes long is refused soon
    monkeypatch.setattr(
        session_files, "UPLOAD", replace(session_files.UPLOAD, seconds=5)
    )


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="thousands of new processes would take hours"
)
@pytest.mark.slow
@pytest.mark.parametrize("kind", SOUND)
def test_damaged_files_do_no_harm(kind, tmp_path):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        harms = pool.submit(hostile.read_damaged, kind, EACH, str(tmp_path)).result()
    assert not harms, harms[0]


@pytest.mark.parametrize("kind", QUICK)
def test_a_bomb_is_refused_and_this_process_unharmed(kind):
    name = BOMBS[kind][0]
    content = BOMBS[kind][1]()
    before = psutil.Process().memory_info().rss
    with contextlib.suppress(BadInput):
        session_files.look(content, name, {})
    with pytest.raises(BadInput):
        session_files.read(content, name, {"bounds": "1,5"})
    assert psutil.Process().memory_info().rss - before < 100e6
    assert left_behind() == []


def left_behind():
    files = session_files.home().rglob("*")
    return [path for path in files if path.is_file() and path.name != LOCK]


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOMBS)
def test_files_made_to_hurt_do_no_harm(kind):
    hostile.read(BOMBS[kind][0], BOMBS[kind][1](), {})
    assert not Path("/tmp/evil.csv").exists()
    assert not Path("/tmp/dpmf-pwned").exists()
    assert left_behind() == []


@pytest.mark.parametrize("file", IN_A_CHILD)
def test_files_that_once_did_harm_do_none_now(file, monkeypatch):
    *_, number, name = file.name.split("-")
    facts = {}
    if number.isdigit():
        facts = hostile.facts(int(number))
    if name.endswith(".mat"):
        with contextlib.suppress(BadInput):
            session_files.read(file.read_bytes(), name, facts)
        return
    monkeypatch.setattr(sandbox, "is_inside", True)
    hostile.read(name, file.read_bytes(), facts)


class TestTheChild:
    def test_a_crash_is_a_refusal(self):
        """scipy's reader follows this file out of its memory."""
        file = next(
            path for path in HARMFUL_FILES if path.name.startswith("reader-crash")
        )
        with pytest.raises(BadInput, match="damaged so badly"):
            session_files.read(file.read_bytes(), "a.mat", {})

    def test_it_imports_nothing_of_the_folder_it_is_started_in(
        self, tmp_path, monkeypatch
    ):
        (tmp_path / "numpy.py").write_text("raise SystemExit(77)")
        monkeypatch.chdir(tmp_path)
        assert session_files.look(SMALL, "a.csv", {}).columns[0] == "user"

    def test_it_has_no_secrets(self, monkeypatch):
        monkeypatch.setenv("DPMF_SECRET", "x")
        assert "DPMF_SECRET" not in sandbox.child_environment()

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (sandbox.OUT_OF_MEMORY, "memory"),
            (-6, "memory"),
            (-9, "longer"),
            (sandbox.TOO_SLOW, "longer"),
            (sandbox.FAILED, "damaged"),
            (-11, "damaged"),
        ],
    )
    def test_how_it_ended_is_told(self, code, words, monkeypatch):
        monkeypatch.setattr(sandbox, "_run", lambda *_: (code, b"", b""))
        with pytest.raises(BadInput, match=words):
            session_files.look(b"x", "a.csv", {})

    @pytest.mark.parametrize(
        ("error", "code"),
        [(MemoryError(), sandbox.OUT_OF_MEMORY), (KeyError("x"), sandbox.FAILED)],
    )
    def test_errors_have_exit_codes(self, error, code):
        def task():
            raise error

        assert sandbox.called(task, []) == (code, None)
        assert sandbox.called(lambda x: x + 1, [1]) == (0, 2)
