"""The Errata page: a list that can be scanned, one correction opened, both figures computed."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.papers.errata.erratum import Attack, Comparison, Erratum, Reading
from dpmf_core.papers.errata.registry import ERRATA
from tests.pages.driving import ROOT, settled, words

PAGE = ROOT / "pages" / "errata" / "page.py"
WITHOUT_ATTACK = [name for name, it in ERRATA.items() if not isinstance(it.means, Attack)]


def page(erratum: str = "") -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    if erratum:
        app.query_params["erratum"] = erratum
    return settled(app)


def page_with_figures(name: str) -> AppTest:
    app = page(name)
    app.button(key=f"errata.compute.{name}").click()
    return settled(app)


def test_the_list_names_source_correction_and_size() -> None:
    app = page()
    assert app.title[0].value == f"{len(ERRATA)} corrections to 6 sources"
    table = app.dataframe[0].value
    assert list(table["correction"]) == [it.title for it in ERRATA.values()]
    first = table.iloc[0]
    assert (first["as stated"], first["what holds"]) == ("ε = 1", "ε = 1.0602")
    assert len(app.dataframe) == 1  # nothing is computed before it is asked for


def test_one_source_has_its_own_list() -> None:
    app = page()
    app.selectbox(key="errata.source").select("Jain et al. 2018")
    settled(app)
    assert set(app.dataframe[0].value["source"]) == {"Jain et al. 2018"}
    assert app.header[0].value == ERRATA["jain-slack"].title


@pytest.mark.parametrize("name", ERRATA)
def test_a_link_opens_a_correction(name: str) -> None:
    app, it = page(name), ERRATA[name]
    assert app.header[0].value == it.title and app.query_params["erratum"] in (name, [name])
    assert [metric.value for metric in app.metric] == list(it.figures)
    text = words(app).replace("\\", "")
    assert it.statement in text and it.holds in text and it.section in text


def test_an_unknown_link_opens_the_first() -> None:
    assert page("<b>no such</b>").header[0].value == next(iter(ERRATA.values())).title


@pytest.mark.parametrize("name", WITHOUT_ATTACK)
def test_the_button_computes_both(name: str) -> None:
    table = page_with_figures(name).dataframe[1].value
    assert list(table["figure"])[:2] == list(ERRATA[name].figures)
    assert len(set(table["what it is"])) == len(table) >= 2


def test_another_correction_starts_without_figures() -> None:
    app = page_with_figures("jain-slack")
    app.selectbox(key="errata.one.every source").select("jain-relation")
    settled(app)
    assert len(app.dataframe) == 1


def test_the_button_runs_an_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer trainings; `tests/papers/test_errata.py` measures the whole one."""
    it = ERRATA["saha-start"]
    assert isinstance(it.means, Attack)
    fewer = Attack(it.means.spec.model_copy(update={"runs": 40}), it.means.read)
    monkeypatch.setitem(ERRATA, "saha-start", replace(it, means=fewer))
    app = page_with_figures("saha-start")
    assert app.button(key="errata.compute.saha-start").label == "Run the attack"
    comparison = ERRATA["saha-start"].compare()
    assert list(app.dataframe[1].value["figure"]) == [it.text for it in comparison.readings]


def test_the_page_computes_and_does_not_recite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A computation that finds another figure shows it."""
    other = Comparison(Reading("as stated", 1.0), Reading("something else", 7.0))
    monkeypatch.setattr(Erratum, "compare", lambda self: other)
    assert "ε = 7.00" in list(page_with_figures("saha-scaling").dataframe[1].value["figure"])
