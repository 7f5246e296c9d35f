"""Sentences and tables of a sweep, from runs whose figures are made up."""

import re
from dataclasses import replace

import pytest

from dpmf_core.runs.needed_epsilon import kept_at
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.draws import Point
from pages.compare import findings
from pages.compare.findings import CompareResults
from pages.kit import payers
from tests.support.records import run_of


def points_and_runs(*rows, metric="rmse", grids=None, **guarantee):
    """Finished runs from (label, algorithm, epsilon, value); `guarantee` is that of "Other"."""
    points, runs = [], {}
    for place, (label, algorithm, epsilon, value) in enumerate(rows):
        budget = {"epsilon": epsilon, "delta": 1e-6} if epsilon else None
        spec = RunSpec.parse(
            data={"id": "cinema-small"}, algorithm=algorithm, budget=budget, seed=place
        )
        point = Point(spec, label, epsilon, (grids or {}).get(place, {}))
        promise = {"status": "PROVEN", "unit": "user", "words": "Proved."} | (
            guarantee if label == "Other" else {}
        )
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


LINES = (
    ("A", "dpals", 1.0, 0.95),
    ("A", "dpals", 10.0, 0.85),
    ("B", "spectral", 1.0, 0.90),
    ("B", "spectral", 10.0, 0.80),
)
ENDS = (("ALS", "als", None, 0.80), ("Global mean", "global-mean", None, 1.00))


def test_an_epsilon_that_protects_a_rating_is_not_ranked_among_those_that_protect_a_person():
    points, runs = points_and_runs(*LINES, ("Other", "dp-sgd", 1.0, 0.5), *ENDS, unit="rating")
    title, _sentence = findings.headline(CompareResults(points, runs, "rmse"))
    assert "0.900" in title


def test_lists_are_compared_with_the_best_that_ran_even_if_another_is_best_known():
    ends = [("EASE", "ease", None, 0.07), ("Bayesian MF", "bmf", None, 0.10)]
    points, runs = points_and_runs(("A", "dpals", 1.0, 0.09), *ends, metric="ndcg_at_20")
    results = CompareResults(points, runs, "ndcg_at_20")
    assert results.reference.label == "Bayesian MF" and results.has_best_known
    points, runs = points_and_runs(("A", "dpals", 1.0, 0.09), ends[1], metric="ndcg_at_20")
    assert not CompareResults(points, runs, "ndcg_at_20").has_best_known


def test_what_has_no_proof_has_no_epsilon():
    points, runs = points_and_runs(*LINES, ("Other", "dp-sgd", 1.0, 0.5), *ENDS, status="UNPROVEN")
    table = findings.methods_table(CompareResults(points, runs, "rmse")).set_index("method")
    assert table.loc["Other", "true ε"] == "-"
    assert table.loc["A"].tolist() == ["PROVEN, one user", "10.00 at nominal 10", "1.00 (2 runs)"]


def test_privacy_costs_are_differences_to_the_reference_in_each_quarter():
    def of(base, step):
        quarters = [{"rmse": base + place * step} for place in range(4)]
        buckets = dict.fromkeys(payers.GROUPS, quarters)
        return [run_of(spec=RunSpec.parse(data={"id": "x"}, algorithm="als"), buckets=buckets)]

    runs = {"A": of(1.0, 0.1), "ALS": of(0.9, 0.05)}
    assert payers.costs(runs, "A", "ALS", "activity") == pytest.approx([0.1, 0.15, 0.2, 0.25])
    errors = payers.errors_by_quarter(runs, "activity")["rmse"].tolist()
    assert errors[:4] == pytest.approx([1.0, 1.1, 1.2, 1.3])
    heading, text = payers.finding(runs, "A", "ALS")
    assert text.count("+0.100") == 2 and text.count("+0.250") == 2
    nobody, equal = payers.finding({"A": of(0.9, 0), "ALS": of(0.9, 0)}, "A", "ALS")
    unknown, nothing = payers.finding({"A": of(0.9, 0)}, "A", "ALS")
    assert len({heading, nobody, unknown}) == 3 and "pay" not in equal and not nothing
    _, fewest = payers.finding({"A": of(1.0, -0.1), "ALS": of(0.9, 0)}, "A", "ALS")
    for words, most in ((text, "most"), (fewest, "fewest")):
        assert re.search(r"\*\*(.*?)\*\*", words)[1].endswith(f"the {most} ratings")


def test_what_each_method_keeps_is_read_off_shared_draws():
    points, runs = points_and_runs(
        *LINES[:2], ("B", "spectral", 1.0, 0.90), ("B", "spectral", 10.0, 0.88), *ENDS
    )
    points = [replace(it, spec=it.spec.model_copy(update={"seed": 0})) for it in points]
    runs = dict(zip([it.key for it in points], runs.values(), strict=True))
    results = CompareResults(points, runs, "rmse")
    assert results.reference is not None and results.trivial is not None
    assert (results.reference.label, results.trivial.label) == ("ALS", "Global mean")
    shares = [round(sum(kept_at(1.0, results.draws(it)).values), 9) for it in results.private]
    assert shares == [0.25, 0.75, 0.5, 0.6]
    del runs[points[4].key]
    assert CompareResults(points, runs, "rmse").reference is None
