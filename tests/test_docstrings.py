"""Docstrings of what the package offers: their sections, and examples that run."""

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpmf
from dpmf_core.privacy.accounts import LEDGER

PUBLIC = {name: getattr(dpmf, name) for name in dpmf.__all__ if name != "BadInput"}


def parts() -> Iterator[tuple[str, Any]]:
    """Public objects, and the methods that the package gives to public classes."""
    for name, thing in PUBLIC.items():
        yield name, thing
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if function.__module__.startswith("dpmf_core") and not method.startswith("_"):
                    yield f"{name}.{method}", function


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_are_there(name: str) -> None:
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    wanted = ["Parameters", "Examples"]
    wanted += [] if inspect.isclass(thing) else ["Returns", "Raises"]
    assert [it for it in wanted if f"\n{it}\n{'-' * len(it)}\n" not in text] == []


@pytest.mark.parametrize("name", [name for name, _ in parts()])
def test_every_public_method_says_what_it_does(name: str) -> None:
    assert inspect.getdoc(dict(parts())[name])


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.delenv(LEDGER, raising=False)
    monkeypatch.chdir(tmp_path)
    tests = [it for it in doctest.DocTestFinder().find(PUBLIC[name], name) if it.examples]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        runner.run(test)
    assert tests and not runner.failures
