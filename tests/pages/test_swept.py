"""Sentences and tables of a sweep, from runs whose figures are made up."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Point
from pages.kit import (
    kept_gain,
)
from pages.tradeoff import findings, kept_shares, tables
from tests.support.records import run_of

PointsAndRuns = tuple[list[Point], dict[str, Run]]


def points_and_runs(
    *rows: tuple[str, str, float | None, float],
    metric: str = "rmse",
    grids: Mapping[int, dict[str, Any]] | None = None,
    **guarantee: str,
) -> PointsAndRuns:
    """Finished runs from (label, algorithm, epsilon, value); what is promised may differ from
    one user's proven privacy.
    """
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


def test_an_epsilon_that_protects_a_rating_is_not_ranked_among_those_that_protect_a_person() -> (
    None
):
    points, runs = points_and_runs(*LINES, ("Other", "dp-sgd", 1.0, 0.5), *ENDS, unit="rating")
    title, _sentence = findings.finding(points, runs, "rmse")
    assert "0.900" in title


def test_what_has_no_proof_has_no_epsilon() -> None:
    points, runs = points_and_runs(*LINES, ("Other", "dp-sgd", 1.0, 0.5), *ENDS, status="UNPROVEN")
    assert set(tables.which_epsilon(points, runs, "rmse", 0.9)["method"]) == {"A", "B"}
    table = tables.methods_table(points, runs).set_index("method")
    assert table.loc["Other", "true ε"] == "-"
    assert table.loc["A"].tolist() == ["PROVEN, one user", "10.00 at nominal 10", "1.00 (2 runs)"]


def test_the_part_of_a_gap_that_is_the_rule_alone() -> None:
    points, runs = points_and_runs(
        ("A", "dpals", 5.0, 0.90), ("A, source's noise", "dpals", 5.0, 0.95), *ENDS
    )
    assert findings.both_rules(points) == ["A"]
    # .05 of .15
    assert "33%" in findings.rule_alone(points, runs, "rmse", "A")


def test_privacy_costs_are_differences_to_the_twin() -> None:
    rows = [
        {
            "by": by,
            "place": place,
            "group": f"{place} to {place + 1}",
            "name": name,
            "rmse": base + place * step,
        }
        for by in ("activity", "popularity")
        for name, base, step in (("A", 1.0, 0.1), ("ALS", 0.9, 0.05))
        for place in range(4)
    ]
    text = findings.who_pays(pd.DataFrame(rows), "A", "ALS", 1.0)
    assert all(it in text for it in ("0.100", "0.250"))
    assert findings.who_pays(pd.DataFrame(rows), "A", "Nobody", 1.0) == ""


def lines(x: str, values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "name": "A",
                "id": "dpals",
                "source": False,
                "epsilon": 1.0,
                "seed": 0,
                "value": 0.9,
                x: value,
            }
            for value in values
        ]
    )


def test_which_epsilon_keeps_a_share_of_the_gain_of_each_method_that_has_finished() -> None:
    points, runs = points_and_runs(
        ("A", "dpals", 1.0, 0.95),
        ("A", "dpals", 10.0, 0.85),
        ("B", "spectral", 1.0, 0.90),
        ("B", "spectral", 10.0, 0.88),
        ("ALS", "als", None, 0.80),
        ("Global mean", "global-mean", None, 1.0),
    )
    points = [replace(it, spec=it.spec.model_copy(update={"seed": 0})) for it in points]
    runs = dict(zip([it.key for it in points], runs.values(), strict=True))
    gain = kept_shares.gain(points, runs, "rmse")
    assert gain is not None
    assert (gain.twin.label, gain.trivial.label) == ("ALS", "Global mean")
    assert [(it.epsilon, round(it.median, 9)) for it in gain.lines["A"]] == [
        (1.0, 0.25),
        (10.0, 0.75),
    ]
    assert kept_gain.answer(gain.lines["A"], 50) == ("ε ≈ 3.2", "")  # the root of 10
    del runs[points[1].key]
    gain = kept_shares.gain(points, runs, "rmse")
    assert gain is not None and set(gain.lines) == {"B"}
    del runs[points[4].key]
    assert kept_shares.gain(points, runs, "rmse") is None
