"""Every claim can be borne out and contradicted, and what it refers to and quotes exists."""

import os
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import pytest

from dpmf_core.data.catalogue import catalogue
from dpmf_core.papers import figures, recorded_results
from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.compared_figures import Less, MeasuredFigure
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS, PAPERS
from dpmf_core.runs.measurements import Measured
from pages.kit.figures import sweep_charts
from tests.papers.planted import with_truths
from tests.support.made_up import made_up

every = pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())


def start_of(claim):
    """Recorded results; where nothing is recorded, those of made-up runs."""
    result = recorded_results.recorded_result(claim.id)
    if result is not None:
        return list(result.measured)
    points = claim.points()
    runs = {point.key: made_up(point.spec) for point in points}
    return claim.results(points, runs)


def not_judged(claim):
    if claim.can_be_judged:
        return Outcome.CANNOT_BE_JUDGED
    return Outcome.NEVER


# whose planted results are found by a search of seconds
COSTLY = {"balu-fig1", "balu-fig2", "balu-fig4", "vallet-fig3"}


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(
            claim,
            marks=pytest.mark.slow if claim.id in COSTLY else (),
            id=claim.id,
        )
        for claim in CLAIMS.values()
    ],
)
def test_each_clause_alone_turns_the_verdict(claim):
    start = start_of(claim)
    holding = with_truths(claim, start, [True] * len(claim.clauses))
    assert claim.judge(holding).outcome is Outcome.REPRODUCED
    for place, clause in enumerate(claim.clauses):
        wishes = [other != place for other in range(len(claim.clauses))]
        start_without = with_truths(claim, holding, wishes)
        verdict = claim.judge(start_without)
        # where the source leaves a setting open, a failure with ours contradicts nothing
        if claim.left_open:
            failed = not_judged(claim)
        else:
            failed = Outcome.DIFFERS
        assert verdict.outcome is failed
        assert [failed.words for failed in verdict.clauses if not failed.holds] == [
            clause.words
        ]


@every
def test_other_data_give_no_verdict_on_the_source(claim):
    verdict = claim.judge(start_of(claim), "Measured on other data.")
    assert verdict.outcome is not_judged(claim)
    assert len(verdict.clauses) == len(claim.clauses)


@every
def test_recorded_results_hold_what_every_clause_needs(claim):
    result = recorded_results.recorded_result(claim.id)
    if result is not None:
        assert result.verdict(claim).outcome is not Outcome.NOT_MEASURED


@every
def test_every_clause_has_its_words_and_place(claim):
    for clause in claim.clauses:
        assert clause.place
        assert clause.quote


def test_every_recorded_result_is_of_a_claim():
    names = {path.stem for path in recorded_results.RECORDED_FOLDER.glob("*.json")}
    assert names <= set(CLAIMS)


def place(label, value, epsilon=None):
    return Measured(label, "dpals", epsilon, {}, (value,))


def less(smaller, larger, **more):
    """The clause of a row that compares two methods."""
    first = MeasuredFigure(label=smaller, **more)
    figures = (first, MeasuredFigure(label=larger))
    row = Less(place="Fig. 1", quote="", words="one is smaller", less=figures)
    return row.clause()


def test_a_result_that_is_missing_gives_no_verdict():
    clause = less("A", "B", epsilon=1.0)
    smaller = [place("A", 0.1, 1.0), place("B", 0.2)]
    holds = clause.verdict(smaller).holds
    assert holds
    equal = [place("A", 0.2, 1.0), place("B", 0.2)]
    assert not clause.verdict(equal).holds
    with pytest.raises(MissingResult, match="0 results"):
        clause.verdict([place("A", 0.1, 2.0), place("B", 0.2)])
    with pytest.raises(MissingResult):
        clause.verdict([place("A", float("nan"), 1.0), place("B", 0.2)])
    claim = Claim(id="x", title="", source="S, Fig. 1", words="", clauses=(clause,))
    assert claim.judge([]).outcome is Outcome.NOT_MEASURED


def test_a_claim_whose_data_cannot_be_had_is_never_judged():
    clause = less("A", "B")
    results_of_ours = [place("A", 0.1), place("B", 0.2)]
    fields = {"title": "", "source": "S, Fig. 1", "words": "", "clauses": (clause,)}
    for more, outcome in (
        ({}, Outcome.CANNOT_BE_JUDGED),
        ({"source_data": "theirs", "source_ids": ("ml-1m",)}, Outcome.CANNOT_BE_JUDGED),
        ({"source_data": "theirs"}, Outcome.NEVER),
        ({"limits": "Theirs is another machine."}, Outcome.NEVER),
    ):
        claim = Claim(id="x", **fields, **more)
        assert (
            claim.judge(results_of_ours, "Measured on other data.").outcome is outcome
        )


def test_points_that_a_reader_digitised_are_marked_as_such(monkeypatch):
    content = dict(figures.texts("dpmf_core.papers.vallet_2014"))
    point = {
        "label": "Rated",
        "x": 0.3,
        "y": 1.5,
        "source": "Fig. 1a, digitised by somebody",
    }
    texts = {**content["figures"]["vallet-fig1a"], "digitised": [point]}
    monkeypatch.setattr(
        figures, "texts", lambda _: {**content, "figures": {"vallet-fig1a": texts}}
    )
    clauses = CLAIMS["vallet-fig1a"].clauses[-1:]  # the computed one
    claim = Claim.of("dpmf_core.papers.vallet_2014", "vallet-fig1a", clauses=clauses)
    (mark,) = claim.marks
    assert mark.is_digitised
    assert mark.label == "Rated"
    assert mark.x == 0.3
    assert mark.y == 1.5
    fig = go.Figure()
    sweep_charts.add_published(fig, [mark, replace(mark, is_digitised=False)])
    symbols = [trace.marker.symbol for trace in fig.data]
    assert symbols == ["circle-open", "x"]


def test_a_claim_without_a_clause_is_refused():
    with pytest.raises(ValueError, match="no clause"):
        Claim(id="x", title="", source="S", words="")


# published of methods that are not run here
PUBLISHED_ONLY = {
    "chien-fig3c": {"Auto-encoder"},
}


def unknown_sources(claim):
    known = {entry.id for entry in catalogue().catalogue()}
    return set(claim.source_ids) - known


def labels(claim):
    """Of all that is run or was measured of it."""
    run = set()
    for sweep in claim.sweeps():
        for method in sweep.methods:
            run.add(method.name)
    result = recorded_results.recorded_result(claim.id)
    if result:
        run |= {measured.label for measured in result.measured}
    return run


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_what_a_claim_refers_to_exists(claim):
    assert bool(claim.source_ids) <= bool(claim.source_data)
    assert not unknown_sources(claim), "the catalogue has no such data"
    named = {mark.label for mark in claim.marks}
    strange = named - labels(claim)
    assert strange == PUBLISHED_ONLY.get(claim.id, set()), (
        "no method of the claim has this label"
    )


@every
def test_with_the_source_s_data_a_claim_is_judged_or_it_says_never(claim, monkeypatch):
    """No claim waits for data that would not change its obstacle."""
    monkeypatch.setattr(
        catalogue(), "present", lambda data_id: data_id in claim.source_ids
    )
    assert bool(claim.obstacle()) is not claim.can_be_judged


FOLDER = os.environ.get("DPMF_PAPERS", "")


def plain(text):
    """Letters and digits alone, without line breaks, hyphens, ligatures and fonts."""
    letters = unicodedata.normalize("NFKC", text)
    return "".join(re.findall(r"[A-Za-z0-9]+", letters))


@pytest.mark.skipif(
    not FOLDER, reason="DPMF_PAPERS does not name a folder with the papers' text"
)
@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS.keys())
def test_every_quote_is_in_the_text(paper):
    text = plain(
        (Path(FOLDER) / f"{paper.id.replace('-', '_')}.txt").read_text(encoding="utf-8")
    )
    clauses = []
    for claim in paper.claims:
        clauses.extend(claim.clauses)
    quotes = [source.quote for source in (*clauses, *paper.errata)]
    missing = []
    for quote in quotes:
        for piece in quote.split("[...]"):
            if plain(piece) not in text:
                missing.append(piece)
    assert not missing
