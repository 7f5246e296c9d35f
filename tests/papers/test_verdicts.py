"""Every claim can be borne out and contradicted: each of its clauses alone turns the verdict."""

import pytest

from dpmf_core.papers import results
from dpmf_core.papers.clauses import Median, MissingResult, falls, less
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.runs.sweep import Summary
from tests.papers.planted import with_truths
from tests.support.made_up import made_up

every = pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())


def start_of(claim: Claim) -> list[Summary]:
    """Recorded results; where nothing is recorded, those of made-up runs."""
    result = results.recorded_result(claim.id, "page") or results.recorded_result(claim.id, "full")
    if result is not None:
        return result.summaries
    points = claim.points()
    return claim.results(points, {point.key: made_up(point.spec) for point in points})


@every
def test_each_clause_alone_turns_the_verdict(claim: Claim) -> None:
    start = start_of(claim)
    holding = with_truths(claim, start, [True] * len(claim.clauses))
    assert claim.judge(holding).outcome is Outcome.REPRODUCED
    for place, clause in enumerate(claim.clauses):
        wishes = [other != place for other in range(len(claim.clauses))]
        start_without = with_truths(claim, holding, wishes)
        verdict = claim.judge(start_without)
        # where the source leaves a setting open, a failure with ours contradicts nothing
        failed = Outcome.CANNOT_BE_JUDGED if claim.left_open else Outcome.DIFFERS
        assert verdict.outcome is failed
        assert [it.words for it in verdict.clauses if not it.holds] == [clause.words]


@every
def test_other_data_give_no_verdict_on_the_source(claim: Claim) -> None:
    verdict = claim.judge(start_of(claim), "Measured on other data.")
    assert verdict.outcome is Outcome.CANNOT_BE_JUDGED
    assert len(verdict.clauses) == len(claim.clauses)


@every
def test_recorded_results_hold_what_every_clause_needs(claim: Claim) -> None:
    for size in results.SIZES:
        result = results.recorded_result(claim.id, size)
        if result is not None:
            assert result.verdict(claim).outcome is not Outcome.NOT_MEASURED


@every
def test_every_clause_has_its_words_and_place(claim: Claim) -> None:
    assert all(clause.place and clause.quote for clause in claim.clauses)


def test_every_recorded_result_is_of_a_claim() -> None:
    names = {path.name.split(".")[0] for path in results.RECORDED_FOLDER.glob("*.json")}
    assert names <= set(CLAIMS)


def place(label: str, value: float, epsilon: float | None = None) -> Summary:
    return Summary(label, "dpals", epsilon, {}, (value,))


def test_a_result_that_is_missing_gives_no_verdict() -> None:
    clause = less(Median("A", 1.0), Median("B"))
    assert clause.verdict([place("A", 0.1, 1.0), place("B", 0.2)]).holds
    assert not clause.verdict([place("A", 0.2, 1.0), place("B", 0.2)]).holds
    with pytest.raises(MissingResult, match="0 results"):
        clause.verdict([place("A", 0.1, 2.0), place("B", 0.2)])
    with pytest.raises(MissingResult, match="not a number"):
        clause.verdict([place("A", float("nan"), 1.0), place("B", 0.2)])
    claim = Claim(id="x", title="", source="S, Fig. 1", words="", clauses=(clause,))
    assert claim.judge([]).outcome is Outcome.NOT_MEASURED


def test_a_line_falls_where_it_ends_lower_and_never_rises() -> None:
    clause = falls("it falls", "A", "epsilon", level=0.01)
    at = [place("A", value, epsilon) for epsilon, value in ((1.0, 0.5), (2.0, 0.505), (3.0, 0.4))]
    assert clause.verdict(at).holds
    assert not clause.verdict([*at[:1], place("A", 0.52, 2.0), *at[2:]]).holds
    assert not clause.verdict(at[:2]).holds


def test_a_claim_without_a_clause_is_refused() -> None:
    with pytest.raises(ValueError, match="no clause"):
        Claim(id="x", title="", source="S", words="")
