"""What Explore's first view says of a table of measured draws, without a page."""

import re

import pytest

from dpmf_core.runs.comparison import EPSILONS
from dpmf_core.runs.conclusions import better_words, needed_words, share_text
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.first_views import shipped_draws, usual_run
from dpmf_core.runs.measurements import Draw
from dpmf_core.runs.references import RECOMMENDED
from pages.explore import story
from pages.kit.base import data_sets
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.running import epsilon_grid
from tests.support.tables import point as planned_point
from tests.support.tables import table

CINEMAS = ["cinema", "cinema-small"]
FIGURES = {
    ("global-mean", None): (1.10, 1.10, 1.10),
    ("user-mean", None): (1.00, 1.00, 1.00),
    ("bmf", None): (0.80, 0.80, 0.80),
    ("spectral", 1.0): (0.95, 0.95, 0.96),
    ("spectral", 4.0): (0.88, 0.88, 0.88),
    ("dpals", 1.0): (0.92, 0.92, 0.92),
    ("dpals", 4.0): (0.90, 0.90, 0.91),
}


def chosen(data="cinema-small", epsilon=1.0, algorithm=RECOMMENDED["ratings"], **more):
    delta = usual_run("ratings", data).budget.delta
    return SidebarChoice(
        dataset=data, epsilon=epsilon, delta=delta, algorithm=algorithm, **more
    )


def told(judgement, label, **choice):
    return story.of_table(chosen(**choice), judgement, label)


def planted():
    return table(FIGURES).by("rmse")


def at(told_story, epsilon):
    (point,) = [one for one in told_story["points"] if one["epsilon"] == epsilon]
    return point


# ---- which method --------------------------------------------------------------------------------


@pytest.mark.parametrize("data", CINEMAS)
def test_explore_names_the_method_that_compare_names_at_every_stored_epsilon(data):
    judgement = shipped_draws("ratings", data).by("rmse")
    assert judgement.epsilons == EPSILONS
    for epsilon in EPSILONS:
        best = judgement.best(epsilon)
        choice = chosen(data, epsilon, is_best=True)
        assert epsilon_grid.best_method(choice) == best.algorithm
        read = epsilon_grid.read_for(choice, choice.spec()).by("rmse")
        own = story.of_table(choice, read, best.label)
        point = at(own, epsilon)
        assert point["title"].startswith(f"At ε = {epsilon:g}, {best.label} keeps ")
        assert f" {share_text(judgement.share(best))} " in point["title"]


@pytest.mark.parametrize("data", CINEMAS)
def test_the_first_paragraph_has_at_most_three_numbers(data):
    judgement = shipped_draws("ratings", data).by("rmse")
    for point in told(
        judgement,
        "Spectral",
        data=data,
        is_best=True,
    )["points"]:
        paragraph = f"{point['title']}. {point['sentence']}"
        assert len(re.findall(r"\d[\d.,]*", paragraph)) <= 3, paragraph


def test_a_line_of_the_best_changes_its_method_along_epsilon():
    best = told(planted(), "Spectral", is_best=True)
    assert [point["method"] for point in best["points"]] == ["DPALS", "Spectral"]
    assert best["method"]["name"] == story.BEST_LINE
    own = told(planted(), "DPALS", algorithm="dpals")
    assert [point["method"] for point in own["points"]] == ["DPALS", "DPALS"]
    assert [line["name"] for line in own["others"]] == [story.BEST_LINE]
    assert [line["name"] for line in best["others"]] == ["DPALS"]


def test_where_other_methods_are_missing_the_chosen_one_is_shown_and_not_called_the_best():
    judgement = table(FIGURES | {("sgld", 4.0): (None, None, None)}).by("rmse")
    points = told(judgement, "Spectral", is_best=True)["points"]
    assert [point["method"] for point in points] == ["DPALS", "Spectral"]
    assert points[1]["sentence"] == ""


def test_the_second_sentence_names_a_better_proven_method_and_by_how_much():
    judgement = planted()
    point = at(told(judgement, "DPALS", algorithm="dpals"), 4.0)
    (own,) = [one for one in judgement.line("DPALS") if one.epsilon == 4.0]
    assert point["sentence"] == better_words(judgement, own)
    assert point["sentence"].endswith("Spectral keeps 60%, 10 points more.")
    best = at(told(judgement, "DPALS", algorithm="dpals"), 1.0)
    assert best["sentence"] == "No better proven method is known at this ε."


def test_the_second_sentence_says_where_no_difference_was_found():
    figures = FIGURES | {("dpals", 4.0): (0.87, 0.90, 0.88)}
    point = at(told(table(figures).by("rmse"), "Spectral", is_best=True), 4.0)
    assert point["sentence"].startswith("No difference from ")


def test_a_smaller_unit_is_said_instead_of_no_better_method():
    rows = list(planted().table.rows)
    own_point = planned_point("input-perturbation", 1.0, 0)
    rows.append(Draw(own_point, {"rmse": 0.85}, 1.0, "protects one value of a rating"))
    judgement = Draws(tuple(rows)).by("rmse")
    own = told(judgement, "Input perturbation", algorithm="input-perturbation")
    assert at(own, 1.0)["sentence"] == (
        "Input perturbation is not ranked: its ε protects one value of a rating."
    )


def test_on_private_data_nothing_is_named_best_and_the_price_is_stated(monkeypatch):
    entry = data_sets.find("cinema-small")
    monkeypatch.setattr(data_sets, "find", lambda _: _Private(entry))
    own_runs = {
        place: figures for place, figures in FIGURES.items() if place[0] != "dpals"
    }
    judgement = table(own_runs, public=False).by("rmse")
    own = told(judgement, "Spectral", is_best=True)
    assert [point["method"] for point in own["points"]] == ["Spectral", "Spectral"]
    assert own["others"] == []
    assert own["method"]["name"] == "Spectral"
    assert own["points"][0]["sentence"].startswith("3 draws on your data, at ε = ")
    assert "Only you see them" in own["words"]["caption"]


class _Private:
    """A data set that is private."""

    def __init__(self, entry):
        self._entry = entry

    def __getattr__(self, name):
        return False if name == "public" else getattr(self._entry, name)


# ---- the scale -----------------------------------------------------------------------------------


def test_the_figure_has_both_ends_of_the_scale_by_name_in_both_units():
    own = told(planted(), "Spectral", is_best=True)
    assert own["units"] == ["share", "error"]
    best, floor = own["levels"]
    assert best["share"] == 1.0
    assert best["error"] == 0.8
    assert (
        best["name"]["share"]
        == "100%: Bayesian MF, the best known method without privacy"
    )
    assert floor["share"] == 0.0
    assert floor["error"] == 1.0
    assert floor["name"] == {
        "share": "0%: each person's own mean",
        "error": "each person's own mean: 1.000",
    }
    point = at(own, 4.0)
    assert point["share"]["median"] == pytest.approx(0.6)
    assert point["error"]["median"] == pytest.approx(0.88)


def test_there_is_no_percentage_where_sharing_is_worth_nothing_measurable():
    figures = FIGURES | {("bmf", None): (0.995, 0.995, 0.995)}
    own = told(table(figures).by("rmse"), "Spectral", is_best=True)
    assert own["units"] == ["error"]
    for point in own["points"]:
        assert "%" not in point["title"]
        assert point["share"] is None
        assert "sharing is worth nothing measurable here" in point["title"]


def test_below_the_floor_a_method_is_worse_than_no_model():
    figures = FIGURES | {("spectral", 1.0): (1.05, 1.05, 1.05)}
    point = at(told(table(figures).by("rmse"), "Spectral"), 1.0)
    assert (
        "is worse than no model: each person's own mean alone has RMSE 1.000"
        in point["title"]
    )


def test_costs_levels_and_the_range_over_draws_stand_in_the_fold():
    point = at(told(planted(), "Spectral"), 1.0)
    assert "over 3 draws" not in point["title"]
    assert "(20% to 25% over 3 draws)" in point["details"]
    assert "0% is each person's own mean (RMSE 1.000)" in point["details"]


def test_between_points_the_browser_says_the_same_words():
    words = told(planted(), "Spectral")["words"]
    assert words["between"] == "keeps about {share} of what sharing ratings is worth"
    assert words["betweenWorse"].startswith("is worse than no model")
    assert words["betweenBetter"].startswith("does at least as well as Bayesian MF")


def test_the_epsilon_that_is_enough_follows_the_line_that_is_shown():
    judgement = planted()
    best = judgement.shares_along(
        story.line_of(chosen(is_best=True), judgement, "Spectral")
    )
    own = judgement.shares_along(story.line_of(chosen(), judgement, "Spectral"))
    assert needed_words(best, 0.4)[0] == "ε = 1"
    assert needed_words(own, 0.4)[0] != "ε = 1"


# ---- the papers' methods -------------------------------------------------------------------------


def test_the_papers_methods_are_offered_with_their_papers_and_ours_are_not():
    titles = story.papers_methods(["spectral", "private-bias", "dpals", "dpfw-oja"])
    assert titles == {
        "dpals": "DPALS (Chien et al.)",
        "dpfw-oja": "DPFW with Oja (Jain et al.)",
    }
