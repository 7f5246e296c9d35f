"""The page of the papers: every claim with its last verdict."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS
from tests.pages.driving import page_at
from tests.pages.made_up import made_up


@pytest.fixture
def measured_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Claim:
    """A claim that was measured on this machine, in runs whose figures are made up."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    claim = CLAIMS["chien-fig4"]
    points = claim.points()
    summaries = claim.results(points, {point.key: made_up(point.spec) for point in points})
    results.save(results.result(claim, summaries, full=True))
    return claim


def page() -> AppTest:
    return AppTest.from_file(str(page_at("papers/page.py").script), default_timeout=60).run()


def test_every_claim_is_listed_and_counted(measured_claim: Claim) -> None:
    app = page()
    assert not app.exception
    (table,) = [it.value for it in app.dataframe]
    assert len(table) == len(CLAIMS)
    last = [result for claim in CLAIMS.values() if (result := results.last(claim)) is not None]
    count = sum(result.outcome is Outcome.REPRODUCED for result in last)
    assert all(it in app.title[0].value for it in (f"{count}", f"{len(last)}"))


def test_one_paper_alone_is_shown() -> None:
    app = page()
    app.selectbox(key="papers.paper").set_value("Vallet et al. 2014").run()
    (table,) = [it.value for it in app.dataframe]
    assert set(table["source"].str.split(",").str[0]) == {"Vallet et al. 2014"}
    assert app.selectbox(key="papers.claim").value in CLAIMS
