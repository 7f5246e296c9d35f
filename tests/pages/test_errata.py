"""The Errata page: a list that can be scanned, one correction opened, both figures computed."""

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.papers.erratum import Comparison, Erratum, Reading
from tests.pages.driving import ROOT, settled

PAGE = ROOT / "pages" / "errata" / "page.py"


def page(erratum: str = "") -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    if erratum:
        app.query_params["erratum"] = erratum
    return settled(app)


def page_with_figures(name: str) -> AppTest:
    app = page(name)
    app.button(key=f"errata.compute.{name}").click()
    return settled(app)


def test_the_page_computes_and_does_not_recite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A computation that finds another figure shows it."""
    other = Comparison(Reading("as stated", 1.0), Reading("something else", 7.0))
    monkeypatch.setattr(Erratum, "compare", lambda self: other)
    assert "ε = 7.00" in list(page_with_figures("saha-scaling").dataframe[1].value["figure"])
