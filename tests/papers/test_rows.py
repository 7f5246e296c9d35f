"""The vocabulary of `paper.toml` for statements that compare, bound or order figures, by hand."""

import pytest
from pydantic import ValidationError

from dpmf_core.papers.clauses import Clause, MissingResult
from dpmf_core.papers.compared_figures import MeasuredFigure, clauses_of
from dpmf_core.runs.measurements import Measured


def place(label, *draws, epsilon=None, **grid):
    return Measured(label, "dpals", epsilon, grid, draws)


def clause_of(**row):
    """The clause of one row."""
    texts = {"place": "Fig. 1", "quote": "as printed", "words": "it is so"}
    row = texts | row
    (clause,) = clauses_of([row], ())
    return clause


LINE = [
    place("A", 1.0, 2.0, 6.0, share=0.0),
    place("A", 4.0, share=0.5),
    place("A", -5.0, share=1.0),
]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"grid": {"share": 0.5}}, 4.0),
        ({"nearest": {"share": 0.6}}, 4.0),
        ({"along": "share", "at": "first"}, 2.0),
        ({"along": "share", "at": "first", "draws": "mean"}, 3.0),
        ({"along": "share"}, -5.0),
        ({"over": "lowest"}, -5.0),
        ({"over": "highest"}, 4.0),
        ({"over": "mean"}, 1 / 3),
        ({"over": "range"}, 9.0),
        ({"over": "size"}, 5.0),
        ({"over": "size", "within": {"share": (0.0, 0.5)}}, 4.0),
    ],
)
def test_a_figure_is_taken_at_a_place_or_over_places(choice, expected):
    assert MeasuredFigure(label="A", **choice)(LINE) == pytest.approx(expected)


def test_a_figure_ignores_results_of_other_methods():
    others = [
        place("ABC", 9.0, share=0.5),
        place("AB", 9.0),
        place("BC", 9.0, share=0.5),
    ]
    results = [*LINE, *others]
    highest = MeasuredFigure(label="A", over="highest")
    assert highest(results) == 4.0
    within = {"share": (0.0, 0.5)}
    highest = MeasuredFigure(label="A", over="highest", within=within)
    assert highest(results) == 4.0
    assert MeasuredFigure(label="ABC")(results) == 9.0
    assert MeasuredFigure(label=("A", "BC"), over="highest")([*LINE, others[2]]) == 9.0


def test_a_figure_of_no_place_or_of_several_is_missing():
    for choice in ({}, {"grid": {"share": 0.7}}, {"over": "mean", "label": ("A", "B")}):
        with pytest.raises(MissingResult):
            MeasuredFigure(**{"label": "A", **choice})(LINE)


def test_a_method_without_releases_has_every_epsilon():
    results = [
        place("ALS", 0.8),
        place("DPALS", 0.9, epsilon=1.0),
        place("DPALS", 0.85, epsilon=2.0),
    ]
    assert MeasuredFigure(label="ALS", epsilon=2.0)(results) == 0.8
    assert MeasuredFigure(label="DPALS", epsilon=2.0)(results) == 0.85


def two(smaller, larger):
    return [place("S", smaller), place("L", larger)]


S = {"label": "S"}
L = {"label": "L"}


@pytest.mark.parametrize(
    ("row", "results", "holds"),
    [
        ({"less": [S, L]}, two(1.0, 1.1), True),
        ({"less": [S, L]}, two(1.1, 1.1), False),
        ({"less": [S, L], "by": 0.1}, two(1.0, 1.09), False),
        ({"less": [S, L], "by": -0.1}, two(1.0, 0.95), True),
        ({"between": S, "above": 0.5, "below": 1.0}, two(1.0, 0.0), False),
        ({"between": S, "below": 1.0}, two(0.9, 0.0), True),
        (
            {"between": {"ratio": [S, L], "less": 1.0}, "below": 0.1},
            two(1.05, 1.0),
            True,
        ),
        ({"between": {"ratio": [S, L]}, "below": 0.1}, two(1.05, 1.0), False),
        ({"between": {"apart": [S, L]}, "below": 0.2}, two(1.0, 1.1), True),
        ({"near": S, "published": -2.0, "within": 0.1}, two(-2.19, 0.0), True),
        ({"near": S, "published": -2.0, "within": 0.1}, two(-2.21, 0.0), False),
        ({"close": [S, S], "to": L, "within": 0.1}, two(0.95, 1.0), True),
        ({"close": [S, S], "to": L, "within": 0.1}, two(0.85, 1.0), False),
    ],
)
def test_figures_are_compared(row, results, holds):
    assert clause_of(**row).verdict(results).holds is holds


def test_several_figures_are_ordered():
    row = {"less": [{"label": name} for name in "ABC"]}
    for values, holds in (((1, 2, 3), True), ((1, 3, 2), False), ((2, 1, 3), False)):
        results = [
            place(name, float(value)) for name, value in zip("ABC", values, strict=True)
        ]
        assert clause_of(**row).verdict(results).holds is holds


def line(label, *values, **grid):
    return [
        place(label, value, at=float(at), **grid) for at, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ((0.5, 0.505, 0.4), True),
        ((0.5, 0.52, 0.4), False),
        ((0.5, 0.505), False),
    ],
)
def test_a_line_falls_where_it_ends_lower_and_no_step_rises_beyond_the_level(
    values, holds
):
    falls = clause_of(falls={"label": "A", "along": "at", "level": 0.01})
    assert falls.verdict(line("A", *values)).holds is holds
    rises = clause_of(rises={"label": "A", "along": "at", "level": 0.01})
    assert rises.verdict(line("A", *(-value for value in values))).holds is holds


def test_a_line_is_averaged_over_other_parameters_where_the_row_says_so():
    results = [*line("A", 1.0, 5.0, rank=8), *line("A", 5.0, 0.0, rank=16)]
    averaged = clause_of(
        falls={"label": "A", "along": "at", "averaged": True, "none": 1}
    )
    assert averaged.verdict(results).holds
    assert averaged.verdict(results).figures == "3 at 0, 2.5 at none (at)"
    with pytest.raises(MissingResult, match="several"):
        clause_of(falls={"label": "A", "along": "at"}).verdict(results)


def test_a_line_is_highest_at_one_place():
    for values, holds in (((1.0, 3.0, 2.0), True), ((1.0, 3.0, 3.0), False)):
        highest = clause_of(highest={"label": "A", "along": "at"}, where=1)
        assert highest.verdict(line("A", *values)).holds is holds
    with pytest.raises(MissingResult):
        clause_of(highest={"label": "A", "along": "at"}, where=7).verdict(
            line("A", 1.0, 2.0)
        )


def test_a_line_is_below_another_within_part_of_the_axis():
    results = [*line("U", 1.0, 1.0, 0.0), *line("D", 0.5, 0.5, 0.5)]
    for within, holds in (((0.0, 1.0), True), ((0.0, 2.0), False)):
        pair = {"upper": "U", "lower": "D", "along": "at", "within": within}
        assert clause_of(lower=pair).verdict(results).holds is holds
    with pytest.raises(MissingResult, match="same places"):
        clause_of(lower={"upper": "U", "lower": "D", "along": "at"}).verdict(
            results[:-1]
        )


def test_a_statement_holds_at_each_value():
    row = clause_of(less=[S, L], each="epsilon", figures="{0:g} and {1:g}")
    results = []
    for epsilon, values in ((1.0, (1.0, 2.0)), (5.0, (3.0, 4.0))):
        for label, value in zip("SL", values, strict=True):
            results.append(place(label, value, epsilon=epsilon))
    assert row.verdict(results).holds
    assert row.verdict(results).figures == "ε = 1: 1 and 2; ε = 5: 3 and 4"
    assert not row.verdict([*results[:3], place("L", 2.0, epsilon=5.0)]).holds


def test_a_row_that_compares_nothing_takes_the_next_computed_clause():
    own = Clause("computed", lambda results: 1.0, lambda results: "1")
    rows = [{"place": "Fig. 1", "quote": "a"}, {"place": "Fig. 2", "quote": "b"}]
    first, second = clauses_of(rows, (own, own))
    assert first.place == "Fig. 1"
    assert first.quote == "a"
    assert second.quote == "b"
    with pytest.raises(ValueError, match="more computed clauses"):
        list(clauses_of(rows, (own, own, own)))


def test_a_row_with_an_unknown_word_is_refused():
    with pytest.raises(ValidationError):
        clause_of(less=[S, L], beneath=1.0)
