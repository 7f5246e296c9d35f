"""`papers`: the claims of the source papers, and `papers run`, which measures them again."""

from pathlib import Path
from typing import Any

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.base.registry import find
from dpmf_core.cli import output
from dpmf_core.cli.run_commands import finish
from dpmf_core.papers import recorded_results
from dpmf_core.papers.figures import Claim, Outcome, Verdict
from dpmf_core.papers.recorded_results import ClaimResult
from dpmf_core.papers.registry import CLAIMS, TABLES


@click.group(invoke_without_command=True)
@output.json_option
@click.pass_context
def papers(context: click.Context, as_json: bool) -> None:
    """List the claims of the source papers and their verdicts. `papers run ID` measures one."""
    if context.invoked_subcommand is not None:
        return
    rows = [claim_row(claim) for claim in CLAIMS.values()]
    columns = ("id", "source", "title", "verdict", "data", "figure")
    body = [[row[column] for column in columns] for row in rows]
    table = output.table(
        ["id", "source", "claim", "last verdict", "data", "figures"], body
    )
    words = (
        f"{table}\nTables of our own, made by `sweep --preset ID`: {', '.join(TABLES)}."
    )
    output.show(as_json, rows, words)


def claim_row(claim: Claim) -> dict[str, Any]:
    """A claim as a row of the list: the data and obstacles of its last run, if there was one."""
    last = recorded_results.last(claim)
    stands_in = claim.stands_in()
    obstacle = claim.obstacle()
    if last is not None:
        stands_in = last.stands_in
        obstacle = last.obstacle(claim)
    row = {
        "id": claim.id,
        "source": claim.source,
        "title": claim.title,
        "statements": [clause.words for clause in claim.clauses],
        "data": "other" if stands_in else "the source's",
        "obstacle": obstacle,
    }
    if last is None:
        return row | {"verdict": "not measured", "figure": "-", "measured": None}
    verdict = last.verdict(claim)
    return row | {
        "verdict": verdict.outcome.lower(),
        "figure": _decisive(verdict),
        "measured": last.created,
    }


def _decisive(verdict: Verdict) -> str:
    """The numbers of the first statement that fails, or else of the first."""
    clauses = [clause for clause in verdict.clauses if not clause.holds] or list(
        verdict.clauses
    )
    if clauses:
        return clauses[0].figures
    return verdict.remark


@papers.command()
@click.argument("claim_id", metavar="ID", required=False)
@click.option(
    "--all", "everything", is_flag=True, help="Every claim, one after the other."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Store the results in this folder instead of the data folder.",
)
@output.json_option
def run(
    claim_id: str | None, everything: bool, out: Path | None, as_json: bool
) -> None:
    """Measure claims again and store the verdicts.

    Stored runs are not computed again, so an interrupted command continues.
    """
    if (claim_id is None) != everything:
        raise BadInput(
            "papers run needs either the id of a claim (see `papers`) or --all."
        )
    if claim_id is None:
        claims = list(CLAIMS.values())
    else:
        claims = [find(CLAIMS, claim_id, "claim")]
    claim_results = []
    for claim in claims:
        if (result := _measure(claim)) is not None:
            claim_results.append(result.model_dump(mode="json"))
            verdict = result.verdict(claim)
            if verdict.outcome is not Outcome.NOT_MEASURED:
                recorded_results.save(result, out)
            if not as_json:
                click.echo(f"{claim.id}: {verdict.words}")
    if as_json:
        output.show(as_json, claim_results, "")
    if n_failures := len(claims) - len(claim_results):
        output.note(f"{n_failures} of {len(claims)} claims could not be measured.")
        click.get_current_context().exit(1)


def _measure(claim: Claim) -> ClaimResult | None:
    """Measure a claim; None if runs of it failed."""
    points = claim.points()
    runs, failures = finish(points)
    if failures:
        return None
    seconds = sum(run.record.seconds.get("fit") or 0.0 for run in runs.values())
    return recorded_results.result(claim, claim.results(points, runs), seconds)
