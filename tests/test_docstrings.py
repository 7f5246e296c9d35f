"""Docstrings of what the package offers: their sections, and examples that run."""

import doctest
import inspect

import pytest
from pydantic import BaseModel

import dpmf
from dpmf_core.privacy.accounts import LEDGER

# for those who write a method: worked through in docs/CONTRIBUTING.md
FOR_AUTHORS = {"Contract", "Curator", "PrivateAlgorithm", "Statistic"}
PUBLIC = {
    name: getattr(dpmf, name)
    for name in dpmf.__all__
    if name not in {"BadInput", "privacy", *FOR_AUTHORS}
}
EVENTS = {"DiscreteGaussian", "Gaussian", "Laplace", "UnsupportedEvent"}
PUBLIC |= {
    f"privacy.{name}": getattr(dpmf.privacy, name)
    for name in dpmf.privacy.__all__
    if name not in EVENTS
}
RESULTS = {"Audit"}  # which functions return, with examples there


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - RESULTS))
def test_docstrings_have_their_sections(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing) or ""
    wanted = ["Examples"]
    if not inspect.isclass(thing):
        wanted += ["Parameters", "Returns", "Raises"]
    elif issubclass(thing, BaseModel):  # its signature is made of its fields
        wanted.append("Attributes")
    else:
        wanted.append("Parameters")
    assert [
        heading
        for heading in wanted
        if f"\n{heading}\n{'-' * len(heading)}\n" not in text
    ] == []


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - RESULTS))
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.delenv(LEDGER, raising=False)
    monkeypatch.chdir(tmp_path)
    tests = [
        example
        for example in doctest.DocTestFinder().find(PUBLIC[name], name)
        if example.examples
    ]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        runner.run(test)
    assert tests
    assert not runner.failures
