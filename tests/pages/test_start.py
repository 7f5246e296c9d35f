"""The start page stands on an empty store, by figures of real runs that come with the package."""

import re

import pytest

from dpmf_core.runs import conclusions
from dpmf_core.runs.store import Store
from pages.start import price
from tests.pages.driving import app_of, component, words


def stop_at(app, epsilon):
    (stop,) = [
        stop
        for stop in component(app, "price_curve")["stops"]
        if stop["epsilon"] == epsilon
    ]
    return stop


@pytest.fixture
def app():
    app = app_of("start/page.py").run()
    assert not app.exception
    return app


def test_the_page_stands_on_an_empty_store_and_asks_for_no_run(app, data_folder):
    assert price.caption() in words(app)
    assert not Store(data_folder).rows()


def test_the_first_line_says_that_the_people_are_synthetic(app):
    assert "the ratings of 20,000 synthetic people" in app.markdown[0].value


def test_the_first_screen_has_three_numbers_each_with_one_sentence(app):
    facts = stop_at(app, 2.0)["facts"]
    assert [fact["number"] for fact in facts][::2] == ["ε = 2", "88.1%"]
    assert re.fullmatch(r"\d+% kept", facts[1]["number"])
    for fact in facts:
        assert not re.search(r"[.] [A-Z]", fact["words"])
        assert fact["words"].endswith(".")
        assert "δ" not in fact["words"]
        assert "RMSE" not in fact["words"]


def test_at_every_measured_epsilon_the_best_proven_method_is_named_with_its_share(app):
    judgement = price.judgement()
    assert len(judgement.epsilons) > 10
    for best in judgement.best_line:
        kept = stop_at(app, best.epsilon)["facts"][1]
        share = conclusions.share_text(judgement.share(best))
        assert kept["number"] == f"{share} kept"
        assert (
            kept["words"]
            == f"{best.label} keeps {share} of what sharing ratings is worth."
        )


def test_between_measured_epsilons_the_share_is_about_so_much(app):
    low, high = price.judgement().epsilons[:2]
    stops = component(app, "price_curve")["stops"]
    (between,) = [stop for stop in stops if low < stop["epsilon"] < high][:1]
    kept = between["facts"][1]
    assert kept["number"].startswith("about ")
    assert " keeps about " in kept["words"]
    assert not between["measured"]


def test_what_exactly_has_the_terms_the_scale_the_costs_and_the_draws(app):
    judgement = price.judgement()
    shown = words(app)
    best = judgement.best(2.0)
    assert "ε = 2.00 (δ = 5e-6, per user, add/remove, exact)" in shown
    assert conclusions.scale_words(judgement) in shown
    assert conclusions.cost_words(judgement, judgement.cost(best)) in shown
    assert conclusions.kept_words(judgement, best) in shown
    assert price.certainty_here(2.0).words() in shown
    assert "medians of 3 draws" in shown


def test_no_number_is_written_as_a_power_of_ten(app):
    for stop in component(app, "price_curve")["stops"]:
        assert not re.search(
            r"\de[+]\d", " ".join(fact["words"] for fact in stop["facts"])
        )


def test_the_papers_methods_are_one_click_away(app):
    assert component(app, "price_curve")["others"] == []
    app.toggle(key="start.papers").set_value(True).run()
    assert not app.exception
    names = [line["name"] for line in component(app, "price_curve")["others"]]
    assert {"DPALS", "Ada-DPALS", "DPFW with Oja", "Private SVD"} <= set(names)
    assert "Spectral" not in names
    assert "Private biases" not in names
    labels = [link.proto.label for link in app.get("page_link")]
    assert "DPALS (Chien et al.)" in labels
    (table,) = [table.value for table in app.dataframe]
    assert set(names) < set(table["method"])


def test_the_handle_stands_at_the_session_s_epsilon_although_no_stop_has_it():
    app = app_of("start/page.py", {"sidebar.epsilon": 3.0}).run()
    data = component(app, "price_curve")
    assert data["stops"][data["now"]]["epsilon"] == 3.0
    outside = component(
        app_of("start/page.py", {"sidebar.epsilon": 100.0}).run(), "price_curve"
    )
    assert outside["now"] == len(outside["stops"]) - 1
