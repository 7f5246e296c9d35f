"""The claims of the source papers as a section of docs/RESULTS.md, from the recorded results."""

from itertools import groupby

from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.papers.results import ClaimResult


def claims() -> str:
    """Every claim by paper: its verdict, and each statement with the numbers that decide it."""
    outcomes = [result.outcome for claim in CLAIMS.values() if (result := recorded_result(claim))]
    first = (
        f"{len(CLAIMS)} claims, {len(outcomes)} of them measured:"
        f" {outcomes.count(Outcome.REPRODUCED)} reproduced,"
        f" {outcomes.count(Outcome.DIFFERS)} differ."
    )
    papers = [
        f"### {paper}\n\n" + "\n\n".join(_claim(claim) for claim in of_paper)
        for paper, of_paper in groupby(CLAIMS.values(), key=lambda claim: claim.paper)
    ]
    return "\n\n".join([first, *papers])


def recorded_result(claim: Claim) -> ClaimResult | None:
    """The recorded result of the larger size."""
    return results.recorded_result(claim.id, "full") or results.recorded_result(claim.id, "page")


def _claim(claim: Claim) -> str:
    place = claim.source.removeprefix(f"{claim.paper}, ")
    result = recorded_result(claim)
    if result is None:
        return f"**{place}: {claim.title}.** Not measured here."
    lines = [f"**{place}: {claim.title}.** {result.outcome}. {result.on}".rstrip(), ""]
    for clause in result.clauses:
        mark = "holds" if clause.holds else "does not hold"
        lines.append(f"- *{mark}*: {clause.words}: {clause.figures}")
    return "\n".join(lines)
