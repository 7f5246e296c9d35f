"""Sentences and tables of a comparison, from runs whose figures are made up."""

import re

import pytest

from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.specification import RunSpec
from pages.compare import findings
from pages.kit.figures import payers, sweep_charts
from tests.support.records import run_of
from tests.support.tables import table

REFERENCES = {
    ("global-mean", None): (1.1, 1.1, 1.1),
    ("user-mean", None): (1.0, 1.0, 1.0),
    ("bmf", None): (0.8, 0.8, 0.8),
}
RIVALS = {
    ("dpals", 1.0): (0.95, 0.95, 0.95),
    ("spectral", 1.0): (0.90, 0.91, 0.89),
    ("dpals", 10.0): (0.85, 0.85, 0.85),
    ("spectral", 10.0): (0.82, 0.82, 0.82),
}


def headline(figures, known=None, metric="rmse", **summary):
    judgement = table({**REFERENCES, **figures}, metric, **summary).by(metric)
    return findings.title_and_text(judgement, lambda _: known or Draws(()))


def points_and_runs(*rows, metric="rmse", grids=None, **guarantee):
    """Finished runs from (label, algorithm, epsilon, value); `guarantee` is that of "Other"."""
    points = []
    runs = {}
    for place, (label, algorithm, epsilon, value) in enumerate(rows):
        budget = None
        if epsilon:
            budget = {"epsilon": epsilon, "delta": 1e-6}
        spec = RunSpec.parse(
            data={"id": "cinema-small"},
            algorithm=algorithm,
            budget=budget,
            seed=place,
        )
        point = Point(spec, label, epsilon, (grids or {}).get(place, {}))
        promise = {
            "status": "PROVEN",
            "unit": "user",
            "words": "Proved.",
        }
        if label == "Other":
            promise |= guarantee
        points.append(point)
        runs[point.key] = run_of(
            metrics={metric: value},
            guarantee=promise,
            spec=spec,
            calibration="exact",
            epsilon={"exact": epsilon},
            seconds={"fit": 1.0},
        )
    return points, runs


def test_the_best_method_at_the_middle_epsilon_is_named_with_the_share_that_it_keeps():
    title, sentences = headline(RIVALS)
    assert title == "At ε = 1, Spectral is the best of 2 methods by RMSE"
    assert sentences.startswith(
        "It **keeps 50% of what sharing ratings is worth (45% to 55% over 3 draws)**."
    )
    assert "0% is each person's own mean (RMSE 1.000); 100% is Bayesian MF" in sentences


def test_where_no_difference_is_found_no_method_is_called_best():
    title, sentences = headline(
        {
            **RIVALS,
            ("dpals", 1.0): (0.89, 0.90, 0.89),
        }
    )
    assert title == "At ε = 1, none of 2 methods is clearly better than DPALS by RMSE"
    assert "No difference from Spectral was found in 3 draws." in sentences


def test_no_method_is_best_before_all_have_finished_at_the_middle_epsilon():
    title, sentences = headline(
        {
            **RIVALS,
            ("dpals", 1.0): (0.95, 0.95, None),
        }
    )
    assert title == "Which method is best at ε = 1?"
    assert "Spectral" not in sentences
    others = {place: draws for place, draws in RIVALS.items() if place[1] != 10.0}
    title, _ = headline(
        {
            **others,
            ("dpals", 10.0): (0.85, None, None),
        }
    )
    assert "Spectral" in title


def test_a_better_method_that_is_known_but_not_compared_is_named_with_the_difference():
    only = {("dpals", 1.0): RIVALS["dpals", 1.0]}
    known = table({**REFERENCES, **RIVALS})
    title, sentences = headline(only, known)
    assert title == "At ε = 1, DPALS has RMSE 0.950"
    assert (
        "A better proven method is known at this ε: Spectral keeps 50%, 25 points more."
        in (sentences)
    )
    assert "is known" not in headline(RIVALS, known)[1]
    other_epsilon = table(
        {
            **REFERENCES,
            ("spectral", 2.0): (0.8, 0.8, 0.8),
        }
    )
    assert "is known" not in headline(only, other_epsilon)[1]


def test_on_private_data_no_method_is_best_by_its_errors():
    title, sentences = headline(RIVALS, public=False)
    assert "Spectral" not in title + sentences
    assert "%" not in sentences
    assert "Choose selects a method privately" in sentences


def test_what_is_not_ranked_is_named_with_the_reason():
    unproven = headline({("svd-cleansing", 1.0): (0.5, 0.5, 0.5)}, guarantee="UNPROVEN")
    assert "no proof" in unproven[1]
    assert "best" not in unproven[0]
    _, of_ratings = headline({("spectral", 1.0): (0.5,)}, unit="rating")
    assert of_ratings == "Spectral is not ranked: its ε protects one rating."


def test_the_figure_shows_shares_or_the_metric():
    judgement = table({**REFERENCES, **RIVALS}).by("rmse")
    shares = sweep_charts.frame(judgement, of_shares=True).set_index(
        ["name", "epsilon", "seed"]
    )
    assert shares["value"]["Spectral", 1.0, 1] == pytest.approx(0.45)
    errors = sweep_charts.frame(judgement).set_index(["name", "epsilon", "seed"])
    assert errors["value"]["Spectral", 1.0, 1] == 0.91


def test_what_learns_no_more_than_no_model_is_warned_about():
    judgement = table(
        {
            **REFERENCES,
            ("als", None): (1.01, 1.01, 1.01),
        }
    ).by("rmse")
    (warning,) = findings.weak_references(judgement)
    assert warning.startswith("ALS")
    assert "each person's own mean" in warning


def test_what_has_no_proof_has_no_epsilon():
    lines = (
        ("A", "dpals", 1.0, 0.95),
        ("A", "dpals", 10.0, 0.85),
        ("Other", "dp-sgd", 1.0, 0.5),
    )
    points, runs = points_and_runs(*lines, status="UNPROVEN")
    methods = findings.methods_table(points, runs).set_index("method")
    assert methods.loc["Other", "true ε"] == "-"
    assert methods.loc["A"].tolist() == [
        "PROVEN, one user",
        "10.00 at nominal 10",
        "1.00 (2 runs)",
    ]


def test_privacy_costs_are_differences_to_the_reference_in_each_quarter():
    def of(base, step):
        quarters = [{"rmse": base + place * step} for place in range(4)]
        buckets = dict.fromkeys(payers.GROUPS, quarters)
        return [
            run_of(
                spec=RunSpec.parse(data={"id": "x"}, algorithm="als"), buckets=buckets
            )
        ]

    runs = {"A": of(1.0, 0.1), "ALS": of(0.9, 0.05)}
    assert payers.costs(runs, "A", "ALS", "activity") == pytest.approx(
        [0.1, 0.15, 0.2, 0.25]
    )
    errors = payers.errors_by_quarter(runs, "activity")["rmse"].tolist()
    assert errors[:4] == pytest.approx([1.0, 1.1, 1.2, 1.3])
    heading, text = payers.finding(runs, "A", "ALS")
    assert text.count("+0.100") == 2
    assert text.count("+0.250") == 2
    nobody, equal = payers.finding({"A": of(0.9, 0), "ALS": of(0.9, 0)}, "A", "ALS")
    unknown, nothing = payers.finding({"A": of(0.9, 0)}, "A", "ALS")
    assert len({heading, nobody, unknown}) == 3
    assert "pay" not in equal
    assert not nothing
    _, fewest = payers.finding({"A": of(1.0, -0.1), "ALS": of(0.9, 0)}, "A", "ALS")
    for words, most in ((text, "most"), (fewest, "fewest")):
        assert re.search(r"\*\*(.*?)\*\*", words)[1].endswith(f"the {most} ratings")
