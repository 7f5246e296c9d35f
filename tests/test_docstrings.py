"""Docstrings of what the package offers: their sections, and examples that run."""

import doctest
import inspect

import pytest

import dpmf
from dpmf_core.privacy.accounts import LEDGER

PUBLIC = {name: getattr(dpmf, name) for name in dpmf.__all__ if name != "BadInput"}


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_are_there(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    wanted = ["Parameters", "Examples"]
    wanted += [] if inspect.isclass(thing) else ["Returns", "Raises"]
    assert [it for it in wanted if f"\n{it}\n{'-' * len(it)}\n" not in text] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.delenv(LEDGER, raising=False)
    monkeypatch.chdir(tmp_path)
    tests = [it for it in doctest.DocTestFinder().find(PUBLIC[name], name) if it.examples]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        runner.run(test)
    assert tests and not runner.failures
