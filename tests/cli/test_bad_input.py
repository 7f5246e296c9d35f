"""Bad input to a command is one sentence, and exit code 2."""

import pytest

from dpmf_core.runs.store import Store
from tests.cli.test_cli import DPALS, SMALL

BUDGET = ("--epsilon", "1")


BAD = {
    **{
        f"epsilon {e}": ((*DPALS, "--epsilon", e), f"[0.0001, 1000]. Got {float(e)}")
        for e in ("NaN", "1e9")
    },
    "delta alone": ((*DPALS, "--delta", "1e-5"), "add epsilon"),
    "no algorithm": (SMALL, "--algorithm"),
    "option without a value": ((*DPALS, "--min-user-count"), "--min-user-count"),
    "no budget": (DPALS, "needs a budget"),
    "unknown algorithm": ((*SMALL, "--algorithm", "dplas"), "'dpals'"),
    "unknown command": (("fti",), "'fit'"),
    "unknown option": ((*DPALS, "--epsilom", "1"), "--epsilon"),
    "sweep of bad seeds": (
        ("sweep", "--dataset", "small", "--algorithms", "als", "--seeds", "4-x"),
        "--seeds",
    ),
    "sweep into nowhere": (
        ("sweep", "--dataset", "small", "--algorithms", "als", "--out", "no/where.csv"),
        "folder",
    ),
    "release of a kind unknown": (
        ("account", "--release", "cauchy:1:1", "--delta", "1e-5"),
        "gaussian, laplace",
    ),
    "plan without a shape": (("account", "--algorithm", "dpals", "--epsilon", "1"), "--n-users"),
    "plan with bounds reversed": (
        (
            "account", "--algorithm", "dpals", "--epsilon", "1", "--n-users", "9", "--n-items",
            "9", "--bounds", "5,1",
        ),
        "--bounds",
    ),
    "no such run": (("runs", "show", "abc"), "stored"),
    "fetch of an unknown": (("datasets", "fetch", "ml-1n"), "'ml-1m'"),
    "import of nothing": (("datasets", "import", "ml-1m", "/no/where"), "folder"),
    "a table of one audit": (
        ["audit", "--algorithm", "private-bias", "--epsilon", "1", "--out", "table.csv"],
        "--out",
    ),
    "an answer in no folder": (
        ["choose", "--dataset", "small", "--spend", "1", "--report", "/missing/page.html"],
        "folder",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input_prints_a_sentence_and_exits_with_2(say, arguments, words):
    output = say(*arguments)
    assert output.code == 2
    assert words in output.err
    assert output.out == ""
    assert "Traceback" not in output.err
    assert Store().rows() == []


def test_an_unusable_store_is_bad_input(say, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "file"))
    output = say("runs")
    assert output.code == 2
    assert "DPMF_DATA" in output.err


def test_an_unexpected_error_exits_with_1(say, monkeypatch):
    def fails(*_):
        raise ZeroDivisionError("seventh")

    monkeypatch.setattr("dpmf_core.runs.data_access.open_anywhere", fails)
    output = say(*DPALS, *BUDGET)
    assert output.code == 1
    assert "seventh" in output.err
    assert "Traceback" not in output.err
