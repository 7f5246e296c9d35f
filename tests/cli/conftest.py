"""Commands, said in this process on the two small simulated sets."""

import json
from dataclasses import dataclass

import pytest

from dpmf_core.cli import main
from tests.support.engines import CATALOGUE


@dataclass(frozen=True)
class Output:
    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one JSON value; fails on NaN, Infinity and anything besides it."""
        return json.loads(self.out, parse_constant=pytest.fail)


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_CATALOGUE", CATALOGUE)
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "home"))


@pytest.fixture
def say(capsys):
    def run(*arguments):
        code = main(arguments)
        return Output(code, *capsys.readouterr())

    return run
