"""The little programs of docs/PROGRAMS.md: each is short, runs, and prints what it should."""

import re

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.privacy.accounts import LEDGER
from tests.docs.markdown import ROOT, blocks
from tests.support.gaussian import epsilon_of, mu_of

PAGE = ROOT / "docs" / "PROGRAMS.md"
PROGRAMS = blocks(PAGE, "python")
MOST_LINES = 12
MU = mu_of(2.0, 1e-5)
MONTHLY = epsilon_of([12**0.5 / mu_of(4.0, 1e-6)], 1e-6)
WEEKLY = mu_of(1.0, 1e-6) / 12**0.5
# what each prints, as a pattern; figures are computed here by Balle & Wang 2018
OUTPUTS = (
    r"PROVEN\n(CONDITIONAL\n){4}",
    r".*rank.*\n(\d +me +[1-5] .*\n){5}\[[1-5]\.?\d*\]\n",
    r"precision 0\.\d\d\nrecall 0\.\d\d\n",
    rf"{epsilon_of([1 / MU] * 7, 1e-5):.2f} for .*\n.*{epsilon_of([1 / MU] * 7, 1e-5):.2f}\n",
    r"Drawn from these data so far: epsilon = 4\.00 \(delta = 1e-6, .* budget is epsilon = 4\.\n"
    rf"(.*\n)*Private biases +12 +{MONTHLY:.2f} +4\.00 +finished .*\n(.*\n)*",
    rf"noise multiplier {1 / WEEKLY:.3f}, epsilon 1\.000\n"
    rf".*: {epsilon_of([1 / WEEKLY / 4] * 12, 1e-6):.2f}\n(.*\n)*",
    r"Use Spectral at ε = 2: it keeps \d\d% .*\n(.+\n)+PROVEN: .*\n",
    r"trial .*\n(.*\n)*PROVEN: .*\nThe cost of choosing: nothing.*\n",
    r"Private biases: epsilon is at least .*\n(.*\n)*.* the guarantee is violated\.\n",
    r"PROVEN: .*\n",
    r"\['MODEL_CARD\.md', .*\]\nTrue .*cosine\n(\d .*\n){2}",
    r"",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in; algorithms that a program registers are gone afterwards."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    monkeypatch.delenv(LEDGER, raising=False)
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    monkeypatch.setattr(REGISTRY, "_external", dict(REGISTRY._from_packages()))
    monkeypatch.setattr(REGISTRY, "_added_ids", set())
    monkeypatch.chdir(tmp_path)


def test_there_are_twelve_documents_and_each_is_short():
    assert len(PROGRAMS) == 12
    lines = [[line for line in code.splitlines() if line.strip()] for code in PROGRAMS]
    assert [len(one) for one in lines if len(one) > MOST_LINES] == []


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.HoldsPrivateRatings")
@pytest.mark.parametrize("number", range(1, 13))
def test_every_program_prints_what_it_should(number, folder, capsys):
    exec(
        compile(PROGRAMS[number - 1], f"program {number}", "exec"),
        {"__name__": "__main__"},
    )
    assert re.fullmatch(OUTPUTS[number - 1], capsys.readouterr().out)
