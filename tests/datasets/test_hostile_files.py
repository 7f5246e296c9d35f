"""Files that are damaged or made to hurt: a data set, or a sentence; never a traceback, a
crash, a hang of 5 s or a gigabyte of memory.
"""

import os
from pathlib import Path

import pytest

from dpmf_core.errors import BadInput
from dpmf_core.paths import LOCK
from dpmf_datasets import session_files
from dpmf_datasets.readers import matlab
from tests.support import hostile
from tests.support.hostile import BOMBS, BYTES, SOUND, harms

EACH = 200
HARMFUL_FILES = sorted((Path(__file__).parents[1] / "hostile_files").iterdir())
HEAVY = (
    "a zip of 3 GB",
    "a zip of 3 GB called a table",
    "a gzip of 3 GB",
    "a matrix of 3 GB",
    "ten million lines",
    "ten million columns",
    "ten million columns, named",
)
forks = pytest.mark.skipif(
    not hasattr(os, "fork"),
    reason="this system cannot fork, so thousands of MATLAB files would take hours",
)


@forks
@pytest.mark.slow
@pytest.mark.parametrize("kind", SOUND)
def test_damaged_files(kind: str, tmp_path: Path) -> None:
    harmful, peak = harms(kind, EACH, tmp_path, fork=True)
    assert not harmful, harmful[0]
    assert peak < BYTES


@pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=pytest.mark.slow if name in HEAVY else ()) for name in BOMBS]
)
def test_what_is_made_to_hurt(kind: str, tmp_path: Path) -> None:
    harmful, _ = harms(kind, 1, tmp_path)
    assert not harmful, harmful[0]
    assert not Path("/tmp/evil.csv").exists()
    assert not Path("/tmp/dpmf-pwned").exists()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != LOCK]


@pytest.mark.parametrize("file", HARMFUL_FILES, ids=lambda file: file.name)
def test_every_file_that_ever_did_harm(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    *_, number, name = file.name.split("-")
    own = (hostile.facts(int(number)),) if number.isdigit() else hostile.FACTS
    for facts in own if {} in own else ({}, *own):
        hostile.read(name, file.read_bytes(), facts)


def test_a_reader_that_crashes_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """scipy's reader follows a damaged file out of its memory: that process ends, ours goes on."""
    file = tmp_path / "a.mat"
    file.write_bytes(
        next(path for path in HARMFUL_FILES if path.name.startswith("reader-crash")).read_bytes()
    )
    code, _ = matlab._apart(file, "", tmp_path / "out.npz")
    assert code < 0
    with pytest.raises(BadInput, match="damaged so badly"):
        matlab.table(file)


def test_the_reading_process_imports_nothing_of_a_script_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs isolated, so that neither the folder it is started from nor the environment can
    put code in its way.
    """
    (tmp_path / "numpy.py").write_text("raise SystemExit(77)")
    file = tmp_path / "a.mat"
    file.write_bytes(next(iter(SOUND["mat"]()))[1])
    monkeypatch.chdir(tmp_path)
    code, output = matlab._apart(file, "", tmp_path / "out.npz")
    assert (code, output) == (0, "")


def test_harm_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else than a refusal a reader does is told, file by file."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.setattr(hostile.resource, "setrlimit", lambda what, limits: None)
    monkeypatch.setattr(
        session_files, "preview", lambda content, name: {}[name] if name != "warm.csv" else None
    )
    messages: list[object] = []
    hostile._all(
        "csv",
        3,
        0,
        str(tmp_path),
        type("Queue", (), {"put": staticmethod(messages.append)})(),
        fork=False,
    )
    assert [type(one) for one in messages] == [hostile.Harm] * 3 + [int]
    assert "KeyError" in messages[0].what  # type: ignore[attr-defined]
