"""A published figure in words: its name, its verdict, and the command that makes it."""

from collections.abc import Iterable

import streamlit as st

from dpmf_core.base.program import program
from dpmf_core.papers.clauses import Clause
from dpmf_core.papers.figures import Claim, Figure, Outcome, Verdict
from pages.kit import safe_text

BOXES = {Outcome.REPRODUCED: st.success, Outcome.DIFFERS: st.warning}


def name(figure: Figure) -> str:
    """Whose figure it is, and of what."""
    return f"{figure.source}: {figure.title}"


def place(figure: Figure) -> str:
    """Where in its paper it is."""
    return figure.source.partition(", ")[2]


def command(figure: Figure) -> str:
    """The command that makes it at full size."""
    what = "papers run" if isinstance(figure, Claim) else "sweep --preset"
    return f"{program()} {what} {figure.id}"


def show_verdict(figure: Figure, verdict: Verdict) -> None:
    """The verdict, and each statement with the numbers that decide it."""
    if verdict.outcome is Outcome.NOTHING_CLAIMED:
        st.info(f"{verdict.remark} {verdict.size}")
        return
    if verdict.outcome is Outcome.NOT_MEASURED:
        st.info(f"**{figure.source}.** {verdict.remark}")
        return
    count = sum(clause.holds for clause in verdict.clauses)
    hold = f"{count} of {len(verdict.clauses)} statements hold"
    box = BOXES.get(verdict.outcome, st.info)
    if verdict.outcome is Outcome.CANNOT_BE_JUDGED:
        box(f"**{verdict.outcome}.** {verdict.obstacle} On these data {hold}. {verdict.size}")
    else:
        box(f"**{verdict.outcome}: {hold}.** {verdict.size}")
    for clause in verdict.clauses:
        icon = ":material/check: holds" if clause.holds else ":material/close: does not hold"
        st.markdown(f"- {icon}: {clause.words}. *{clause.figures}.*")
        show_quote(clause.place, clause.quote)
    if verdict.remark:
        st.write(verdict.remark)


def show_statements(clauses: Iterable[Clause]) -> None:
    """What the source says, before anything is measured."""
    for clause in clauses:
        st.markdown(f"- {clause.words}.")
        show_quote(clause.place, clause.quote)


def show_quote(where: str, quote: str) -> None:
    """The words of a source with their place; formulas between dollar signs are drawn."""
    if quote:
        st.caption(f"{where}: “{quote if '$' in quote else safe_text.escape(quote)}”")
