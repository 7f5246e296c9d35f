"""Sentences and tables of a sweep, from runs whose figures are made up."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpmf_core.papers.figures import Figure, Mark
from dpmf_core.papers.registry import FIGURES
from dpmf_core.runs.gain import KeptGain
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Point
from pages.kit import (
    colours,
    comparison,
    kept_gain,
    sweep_charts,
    sweep_frames,
    time_estimate,
)
from pages.tradeoff import findings, kept_shares, references, tables
from tests.support.records import altered, run_of

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


def test_the_best_is_named_with_what_it_keeps_and_what_the_other_needs() -> None:
    title, sentence = findings.finding(*points_and_runs(*LINES, *ENDS), "rmse")
    assert title == "At ε = 1, B is best: RMSE 0.900"
    # A falls by .1 over one power of ten; half of that is at the square root of ten
    assert (
        sentence
        == "**50% of the gain over guessing** is kept (ALS 0.800, Global mean 1.000); A gets there"
        " at about ε = 3.2."
    )


def test_draws_that_overlap_are_told() -> None:
    both = (
        ("A", "dpals", 1.0, 0.90),
        ("A", "dpals", 1.0, 0.94),
        ("B", "spectral", 1.0, 0.89),
        ("B", "spectral", 1.0, 0.91),
    )
    assert findings.finding(*points_and_runs(*both), "rmse")[1].startswith(
        "Draws of A overlap with its own, so that their order may be chance"
    )
    apart = (*both[2:], ("A", "dpals", 1.0, 0.92), ("A", "dpals", 1.0, 0.94))
    assert "overlap" not in findings.finding(*points_and_runs(*apart), "rmse")[1]


def test_recall_is_better_when_larger() -> None:
    title, sentence = findings.finding(
        *points_and_runs(
            *LINES,
            ("ALS", "als", None, 0.99),
            ("Popularity", "popularity", None, 0.91),
            metric="recall_at_20",
        ),
        "recall_at_20",
    )
    assert title == "At ε = 1, A is best: Recall@20 0.950"
    assert sentence.startswith("**50% of the gain over guessing** is kept")
    assert "B does not get there up to ε = 10" in sentence


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.79, "No worse than ALS without privacy"),
        (0.8002, "over 99% of the gain"),
        (1.01, "no better than guessing"),
    ],
)
def test_the_ends_of_the_scale_are_words(value: float, words: str) -> None:
    assert words in findings.finding(*points_and_runs(("A", "dpals", 1.0, value), *ENDS), "rmse")[1]


def test_at_one_epsilon_the_others_are_said_by_their_figures() -> None:
    assert findings.finding(*points_and_runs(LINES[0], LINES[2]), "rmse") == (
        "At ε = 1, B is best: RMSE 0.900",
        "A has 0.950.",
    )


def test_nobody_is_called_best_before_all_rivals_have_finished() -> None:
    points, runs = points_and_runs(*LINES, *ENDS)
    whole = dict(runs)
    del runs[points[0].key]  # of A, at the epsilon that the sentence is about
    assert findings.finding(points, runs, "rmse") == (
        "At ε = 1, 1 of 2 runs have finished",
        "Which method is best is said when all have.",
    )
    # of A, elsewhere: where A would get there is not known yet
    runs = {key: run for key, run in whole.items() if key != points[1].key}
    assert findings.finding(points, runs, "rmse") == (
        "At ε = 1, B is best: RMSE 0.900",
        "**50% of the gain over guessing** is kept (ALS 0.800, Global mean 1.000).",
    )
    # without the twin nothing is kept of its gain
    runs = {key: run for key, run in whole.items() if key != points[4].key}
    assert "kept" not in findings.finding(points, runs, "rmse")[1]
    assert findings.finding(points, {}, "rmse") == (
        "Which method, at which ε?",
        "Runs appear here as they finish.",
    )


def test_a_method_with_missing_draws_is_spoken_of_by_nobody() -> None:
    points, runs = points_and_runs(*LINES, ("C", "dpfw", 1.0, 1.2), ("C", "dpfw", 1.0, 1.3), *ENDS)
    del runs[points[5].key]
    assert findings.worse_than_guessing(points, runs, "rmse") == []
    assert {point.label for point in tables.complete_points(points, runs)} == {
        "A",
        "B",
        "ALS",
        "Global mean",
    }
    assert set(tables.which_epsilon(points, runs, "rmse", 0.9)["method"]) == {"A", "B"}


def test_the_value_that_is_seen_is_the_value_that_is_compared() -> None:
    points, runs = points_and_runs(("A", "dpals", 1.0, 0.95), ("A", "dpals", 5.0, 0.9434))
    assert findings.finding(points[1:], runs, "rmse")[0] == "At ε = 5, A has RMSE 0.943"
    assert (
        findings.needed_epsilons(tables.which_epsilon(points, runs, "rmse", 0.943), "rmse", 0.943)
        == "RMSE 0.943 takes ε = 5.00 with A."
    )
    assert "does not reach" in findings.needed_epsilons(
        tables.which_epsilon(points, runs, "rmse", 0.942), "rmse", 0.942
    )


def test_an_epsilon_that_protects_a_rating_is_not_ranked_among_those_that_protect_a_person() -> (
    None
):
    points, runs = points_and_runs(*LINES, ("Other", "dp-sgd", 1.0, 0.5), *ENDS, unit="rating")
    title, sentence = findings.finding(points, runs, "rmse")
    assert title == "At ε = 1, B is best: RMSE 0.900"
    assert "Other is not ranked: its ε protects one rating" in sentence
    assert "Other (protects one rating)" in set(sweep_frames.frame(points, runs, "rmse")["name"])


def test_what_has_no_proof_has_no_epsilon() -> None:
    points, runs = points_and_runs(*LINES, ("Other", "dp-sgd", 1.0, 0.5), *ENDS, status="UNPROVEN")
    assert "Other is not ranked: no proof" in findings.finding(points, runs, "rmse")[1]
    assert set(tables.which_epsilon(points, runs, "rmse", 0.9)["method"]) == {"A", "B"}
    table = tables.methods_table(points, runs).set_index("method")
    assert table.loc["Other", "true ε"] == "-"
    assert table.loc["A"].tolist() == ["PROVEN, one user", "10.00 at nominal 10", "1.00 (2 runs)"]


def test_worse_than_guessing_is_said_with_where_and_how_much() -> None:
    assert findings.worse_than_guessing(
        *points_and_runs(*LINES, ("C", "dpfw", 1.0, 1.2), ("C", "dpfw", 10.0, 0.99), *ENDS), "rmse"
    ) == ["**C does worse than Global mean** (1.000) at ε = 1 (1.200)."]


def test_a_twin_that_loses_to_a_trivial_predictor_is_named() -> None:
    assert findings.weak_references(*points_and_runs(*LINES, *ENDS), "rmse") == []
    sentences = findings.weak_references(
        *points_and_runs(
            *LINES, ("ALS", "als", None, 1.02), ("User mean", "user-mean", None, 1.01), ENDS[1]
        ),
        "rmse",
    )
    assert len(sentences) == 1
    assert sentences[0].startswith(
        "ALS, which is not private, does no better than Global mean here (RMSE 1.020 against 1.000)"
    )


def test_one_runs_twin_is_held_against_both_trivial_predictors() -> None:
    points, runs = points_and_runs(
        ("a", "als", None, 0.97), ("b", "global-mean", None, 1.0), ("c", "user-mean", None, 0.96)
    )
    for point in points:
        runs[point.key] = altered(runs[point.key], title=point.label)
    by_name = {
        name: runs[point.key]
        for name, point in zip(("twin", "trivial", "user-mean"), points, strict=True)
    }
    assert "c here (RMSE 0.970 against 0.960)" in comparison.weak_twin(by_name)
    assert comparison.weak_twin({name: by_name[name] for name in ("twin", "trivial")}) == ""


def test_the_part_of_a_gap_that_is_the_rule_alone() -> None:
    points, runs = points_and_runs(
        ("A", "dpals", 5.0, 0.90), ("A, source's noise", "dpals", 5.0, 0.95), *ENDS
    )
    assert findings.both_rules(points) == ["A"]
    # .05 of .15
    assert findings.rule_alone(points, runs, "rmse", "A").endswith(
        "**33% of its distance to ALS is the rule alone.**"
    )


def test_which_epsilon_reaches_a_value_in_a_sentence() -> None:
    points, runs = points_and_runs(*LINES, *ENDS)
    table = tables.which_epsilon(points, runs, "rmse", 0.9)
    assert (
        findings.needed_epsilons(table, "rmse", 0.9)
        == "RMSE 0.900 takes ε = 3.16 with A, ε = 1.00 or less with B."
    )
    table = tables.which_epsilon(points, runs, "rmse", 0.82)
    assert (
        findings.needed_epsilons(table, "rmse", 0.82)
        == "RMSE 0.820 takes ε = 6.31 with B; A does not reach it up to ε = 10."
    )
    assert (
        findings.needed_epsilons(tables.which_epsilon(points, runs, "rmse", 0.5), "rmse", 0.5)
        == "A, B do not reach RMSE 0.500 up to ε = 10."
    )


def test_of_a_grid_its_best_place_stands_and_of_sizes_the_largest() -> None:
    rows = (("A", "dpals", 1.0, 0.9), ("A", "dpals", 1.0, 0.8), ("A", "dpals", 1.0, 0.7))
    points, runs = points_and_runs(*rows, grids={0: {"rank": 2}, 1: {"rank": 4}, 2: {"rank": 8}})
    assert [point.grid["rank"] for point in tables.best_points(points, runs, "rmse")] == [8]
    points, runs = points_and_runs(
        *rows, grids={0: {"users": 5000}, 1: {"users": 10000}, 2: {"users": 2000}}
    )
    assert [point.grid["users"] for point in tables.best_points(points, runs, "rmse")] == [10000]


def test_against_the_first_parameter_stands_the_best_of_the_second() -> None:
    grids = {
        0: {"rank": 2, "steps": 1},
        1: {"rank": 2, "steps": 5},
        2: {"rank": 4, "steps": 1},
        3: {"rank": 4, "steps": 5},
    }
    points, runs = points_and_runs(
        *(("A", "dpals", 1.0, value) for value in (0.9, 0.8, 0.6, 0.7)), *ENDS, grids=grids
    )
    table = tables.best_of_second(sweep_frames.frame(points, runs, "rmse"), "rank", "rmse")
    assert table.groupby("rank")["value"].first().to_dict() == {2.0: 0.8, 4.0: 0.6}
    assert set(table["name"]) == {"A", "ALS", "Global mean"}
    assert findings.best_places(sweep_frames.frame(points, runs, "rmse"), ["rank", "steps"]) == [
        "**A** does best at ε = 1 with rank r 4, steps T 1 (0.600)."
    ]


def test_the_best_place_of_a_grid_is_said_when_the_whole_grid_has_finished() -> None:
    points, runs = points_and_runs(
        ("A", "dpals", 1.0, 0.9),
        ("A", "dpals", 1.0, 0.8),
        *ENDS,
        grids={0: {"sampling": "uniform"}, 1: {"sampling": "adaptive"}},
    )
    sentences = findings.best_places(tables.whole_frame(points, runs, "rmse"), ["sampling"])
    assert len(sentences) == 1 and "sampling adaptive (0.800)" in sentences[0]
    del runs[points[0].key]
    assert findings.best_places(tables.whole_frame(points, runs, "rmse"), ["sampling"]) == []
    assert findings.best_places(tables.whole_frame(points, {}, "rmse"), ["sampling"]) == []


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
    assert (
        "for users who rate least (0 to 1 ratings) **+0.100**, for those who rate most (3 to 4)"
        " **+0.250**" in text
    )
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


@pytest.mark.parametrize(
    ("x", "values", "kind"),
    [
        ("epsilon", [1.0, 2.0], "log"),
        ("rank", [2, 64], "log"),
        ("rank", [2, 4], None),
        ("steps", [0, 9], None),
        ("sampling", ["a", "b"], "category"),
        ("psd", [True, False], "category"),
    ],
)
def test_an_axis_is_what_its_values_are(x: str, values: list[Any], kind: str | None) -> None:
    assert sweep_charts.against(lines(x, values), x, "RMSE", x).layout.xaxis.type == kind


def test_lines_of_one_algorithm_are_told_apart_and_colours_stay() -> None:
    table = pd.concat(
        [
            lines("epsilon", [1.0, 5.0]).assign(name=name, source=name == "S")
            for name in ("A", "B", "S")
        ]
    )
    strokes = {
        trace.name: trace.line
        for trace in sweep_charts.against(table, "epsilon", "RMSE", "ε").data
        if trace.name
    }
    assert {name: line.dash for name, line in strokes.items()} == {
        "A": "solid",
        "B": "dash",
        "S": "dot",
    }
    assert len({line.color for line in strokes.values()}) == 1


def test_published_marks_take_the_colour_of_their_line() -> None:
    fig = sweep_charts.against(lines("epsilon", [1.0, 5.0]), "epsilon", "RMSE", "ε")
    sweep_charts.add_published(
        fig, [Mark("A", 1.0, 0.8, "somewhere"), Mark("ALS", None, 0.7, "elsewhere")]
    )
    assert fig.data[-1].marker.color == colours.PALETTE["blue"][0]
    assert fig.data[-1].marker.symbol == "x"
    # a level, at no epsilon
    assert [(line.y0, line.x0, line.x1, line.xref) for line in fig.layout.shapes] == [
        (0.7, 0, 1, "x domain")
    ]


@pytest.mark.parametrize(
    "preset",
    [it for it in FIGURES.values() if it.axis == "epsilon" and it.marks],
    ids=lambda it: it.id,
)
def test_what_is_published_without_privacy_stands_at_no_epsilon(preset: Figure) -> None:
    points = preset.points()
    private = {point.label for point in points if point.epsilon is not None}
    open_ones = {point.label for point in points} - private
    assert all(mark.x is None for mark in preset.marks if mark.label in open_ones)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2.0, "5 s"),
        (7.0, "5 s"),
        (44.0, "40 s"),
        (200.0, "3 min"),
        (4000.0, "67 min"),
        (9000.0, "2 h"),
    ],
)
def test_times_are_said_roughly(seconds: float, words: str) -> None:
    assert time_estimate.words(seconds) == words


def test_times_follow_the_same_method_and_the_size_of_the_data() -> None:
    took, sizes = {("dpals", "small"): 2.0}, {"small": 100, "large": 1000}
    small, large = (
        RunSpec.parse(data={"id": name}, algorithm="dpals", budget={"epsilon": 1.0, "delta": 1e-6})
        for name in ("small", "large")
    )
    assert time_estimate._training(small, took, sizes) == 2.0
    assert time_estimate._training(large, took, sizes) == 20.0
    assert (
        time_estimate._training(small.model_copy(update={"algorithm": "als"}), took, sizes)
        == time_estimate.UNKNOWN
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
    assert kept_gain.answer(gain.lines["B"], 50) == (
        "ε = 1 does",
        ", the smallest that was measured",
    )
    assert kept_gain.answer(gain.lines["B"], 70) == (
        "no ε up to 10 does",
        "; the most is 60%, at ε = 10",
    )
    del runs[points[1].key]
    gain = kept_shares.gain(points, runs, "rmse")
    assert gain is not None and set(gain.lines) == {"B"}
    del runs[points[4].key]
    assert kept_shares.gain(points, runs, "rmse") is None


def test_what_does_better_than_the_reference_is_said_to_be_another_method(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests: list[RunSpec] = []

    def summaries(specs: list[RunSpec]) -> list[dict[str, Any] | None]:
        requests.extend(specs)
        return [{"metrics": {"rmse": 0.9}} if it.seed == 1 else None for it in specs]

    monkeypatch.setattr(references.epsilon_grid, "run_summaries", summaries)
    sample = points_and_runs(
        ("A", "spectral", 1.0, 0.78),
        ("B", "private-bias", 1.0, 0.79),
        ("C", "dpals", 1.0, 0.8001),  # reads as 0.800, which is no better
        *ENDS,
    )
    first, second = references.better_than_reference(*sample, "rmse")
    assert first == (
        "**A does better than ALS without privacy** (RMSE 0.780 at ε = 1 against 0.800). That is"
        " the method, not the privacy: the two differ in more than noise. A itself was not run"
        " without noise."
    )
    assert second.endswith("Its own twin, Damped biases, has 0.900 without privacy.")
    assert [(it.algorithm, it.seed, it.budget) for it in requests] == [("bias", 1, None)]
    points, runs = sample
    other = [replace(points[1], spec=points[1].spec.model_copy(update={"seed": 7}))]
    other_runs = {other[0].key: runs[points[1].key], points[3].key: runs[points[3].key]}
    (text,) = references.better_than_reference([*other, points[3]], other_runs, "rmse")
    assert text.endswith("Its own twin, Damped biases, has not been run on these splits.")


def test_the_range_over_draws_is_said_with_what_no_draw_reaches() -> None:
    line = [KeptGain(1.0, (0.2, 0.3, 0.4)), KeptGain(4.0, (0.5, 0.7, 0.9))]
    assert kept_gain.answer(line, 70) == ("ε = 4", ", 2.3 to more than 4 over draws")
    assert kept_gain.answer(line, 50) == ("ε ≈ 2", ", 1.3 to 4 over draws")
