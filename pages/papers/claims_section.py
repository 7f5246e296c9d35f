"""A paper's claims with their last verdicts, and one claim with its figure and statements."""

import pandas as pd
import streamlit as st

from dpmf_core.papers import recorded_results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.paper import Paper
from pages.kit.base import safe_text
from pages.papers import address, claim_figure

MARKS = {
    Outcome.REPRODUCED: "✓ reproduced",
    Outcome.DIFFERS: "✗ differs",
    Outcome.CANNOT_BE_JUDGED: "cannot be judged here",
    Outcome.NEVER: "can never be judged here",
    Outcome.NOT_MEASURED: "not measured",
}
WIDTHS = {
    "place": 150,
    "claim": 330,
    "verdict": 160,
    "statements": 110,
    "measured": 100,
}


def row(claim: Claim) -> dict[str, str]:
    """A claim with its last verdict as a row."""
    last = recorded_results.last(claim)
    common = {"place": claim_figure.place(claim), "claim": claim.title}
    if last is None:
        count = f"{len(claim.clauses)} stated"
        return common | {"verdict": MARKS[Outcome.NOT_MEASURED], "statements": count}
    verdict = last.verdict(claim)
    true_count = sum(clause.holds for clause in verdict.clauses)
    return common | {
        "verdict": MARKS[verdict.outcome],
        "statements": f"{true_count} of {len(claim.clauses)} hold",
        "measured": last.created[:10],
        "data": last.on or "-",
    }


def draw(paper: Paper) -> None:
    table = pd.DataFrame(row(claim) for claim in paper.claims).fillna("-")
    columns = {
        name: st.column_config.TextColumn(width=wide) for name, wide in WIDTHS.items()
    }
    safe_text.table(table, column_config=columns, height="content")
    claim = address.pick("claim", "One claim", paper.claims, _title)
    one_claim(claim)


def _title(claim: Claim) -> str:
    return f"{claim_figure.place(claim)}: {claim.title}"


def one_claim(claim: Claim) -> None:
    """Draw a claim's figure, its statements, and the command that measures it again."""
    last = recorded_results.last(claim)
    if last is None:
        st.write("Not measured yet. The paper states:")
        claim_figure.show_statements(claim.clauses)
    else:
        left, right = st.columns([3, 2], gap="large")
        with left:
            claim_figure.draw_recorded(claim, last)
        with right:
            claim_figure.show_verdict(claim, last.verdict(claim))
    st.caption(f"Measure it again: `{claim_figure.command(claim)}`.")
