"""The Papers page: addresses, recorded figures, corrections, and links to runs."""

import re

import pytest

from dpmf_core.papers import recorded_results
from dpmf_core.papers.registry import CLAIMS, ERRATA, PAPERS, PRESETS
from pages.kit.base import data_sets
from pages.kit.controls import sidebar_values
from pages.kit.first_views import factorisation
from pages.kit.running import runs
from pages.papers import claim_figure, methods_section
from pages.papers.claim_figure import place
from tests.pages.driving import app_of, behind_sidebar, frames, settled, words


def page(**address):
    return settled(app_of("papers/page.py", **address))


def said(app, name):
    """What the address says; AppTest holds a list where the page has written it."""
    text = app.query_params[name]
    if isinstance(text, str):
        return text
    return str(text[0])


def section_of(app):
    return str(app.segmented_control(key="papers.section").value)


def numbers_in(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def test_the_overview_has_a_row_a_paper_and_counts_its_claims():
    app = page()
    claims = app.table[0].value["claims"]
    counted = [sum(numbers_in(text)) for text in claims]
    assert counted == [len(paper.claims) for paper in PAPERS.values()]
    in_all, _, *by_verdict = numbers_in(app.title[0].value)
    assert in_all == len(CLAIMS)
    assert sum(by_verdict) == len(CLAIMS)
    reasons = re.search(
        r"Of the (\d+) .*?, (\d+) .* and (\d+) .*?the (\d+) .*?, (\d+) .* (\d+)",
        words(app),
    )
    not_judged, on_other_data, of_open_settings, never, outside, no_data = map(
        int, reasons.groups()
    )
    assert not_judged == on_other_data + of_open_settings
    assert never == outside + no_data


def test_an_unknown_paper_leads_to_the_overview():
    app = page(paper="nobody-2000")
    assert len(app.warning) == 1
    assert app.table[0].value.equals(page().table[0].value)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_address_opens_a_paper_whose_claims_are_listed(paper):
    app = page(paper=paper)
    places = [place(claim) for claim in PAPERS[paper].claims]
    assert list(app.dataframe[0].value["place"]) == places
    assert section_of(app) == "claims"
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.parametrize(
    ("address", "paper", "section"),
    [
        ({"claim": "jain-fig2a"}, "jain-2018", "claims"),
        ({"section": "bounds", "bound": "dpfw"}, "jain-2018", "bounds"),
        ({"section": "bounds"}, "chien-2021", "bounds"),
        (
            {"section": "corrections", "erratum": "balu-gradient"},
            "balu-2016",
            "corrections",
        ),
        ({"erratum": "balu-gradient"}, "balu-2016", "corrections"),
        ({"section": "method", "paper": "vallet-2014"}, "vallet-2014", "method"),
    ],
)
def test_what_an_address_opens_says_which_paper_it_is_of(address, paper, section):
    app = page(**address)
    assert said(app, "paper") == paper
    assert section_of(app) == section
    for name in address.keys() - {"section", "paper"}:
        assert said(app, name) == address[name]
        assert app.selectbox[0].value == address[name]


def test_a_new_address_leads_and_then_the_widget():
    app = page(claim="chien-fig4")
    app.query_params["claim"] = "chien-fig7"
    assert settled(app).selectbox[0].value == "chien-fig7"
    app.selectbox[0].set_value("chien-fig3a")
    settled(app)
    assert said(app, "claim") == "chien-fig3a"


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_recorded_results_and_published_numbers_are_drawn(claim):
    last = recorded_results.last(claim)
    assert last is not None, "nothing is recorded"
    chart = claim_figure.chart(claim, last.measured)
    assert len(chart.layout.shapes) + len(chart.data) > 0
    drawn = [y for trace in chart.data if trace.mode == "markers" for y in trace.y]
    for mark in claim.marks:
        if mark.x is not None:
            assert mark.y in drawn
    table = claim_figure.numbers(last.measured, claim.marks)
    assert len(table) == len(last.measured) + len(claim.marks)


@pytest.mark.parametrize("name", ERRATA)
def test_a_correction_shows_all_its_figures(name):
    shown = set()
    for frame in frames(page(erratum=name)):
        shown.update(map(str, frame.iloc[:, -1]))
    assert {reading.text for reading in ERRATA[name].readings} <= shown


OPENED = {
    name: preset.run for name, preset in PRESETS.items() if preset.run is not None
}


@pytest.mark.parametrize("name", OPENED)
def test_a_preset_s_link_carries_every_setting_of_its_run(name, monkeypatch):
    """The page behind the link asks for the very run that the preset names."""
    run = OPENED[name]
    asked = {}

    def ask(_place, specs, **_options):
        asked.update(specs)
        return {}

    for module in (runs, factorisation):
        monkeypatch.setattr(module, "ask", ask)
    page_name = methods_section.PAGES[data_sets.find(run.data.id).holds]
    app = app_of(behind_sidebar(f"{page_name}/page.py"), **sidebar_values.link_of(run))
    settled(app)
    assert asked["main"] == run


def test_a_link_s_settings_replace_those_of_the_session():
    """A parameter that was set before, and that the preset does not set, is as recommended."""
    app = page(preset="jain-preset-svd")
    app.session_state["explore.private-svd.prediction_ridge"] = 0.5
    app.session_state["sidebar.top_items"] = 40
    app.button(key="papers.open").click()
    app.run()
    assert "explore.private-svd.prediction_ridge" not in app.session_state
    assert "sidebar.top_items" not in app.session_state


@pytest.mark.parametrize("name", [name for name in PRESETS if name not in OPENED])
def test_a_method_that_no_page_runs_shows_its_command(name):
    app = page(preset=name)
    assert "papers.open" not in [button.key for button in app.button]
    assert "No page opens this method" in words(app)
    assert f"sweep --preset {name}" in words(app)
