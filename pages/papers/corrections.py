"""Corrections of a paper: statement, truth, status and figures."""

import streamlit as st

from dpmf_core.papers.erratum import Erratum, ErratumStatus
from dpmf_core.papers.paper import Paper
from pages.kit.base import links, safe_text
from pages.papers import address
from pages.papers.claim_figure import show_quote

COLOURS = {
    ErratumStatus.ERROR: "orange",
    ErratumStatus.AMBIGUOUS: "blue",
    ErratumStatus.LOOSE: "green",
    ErratumStatus.CONCEDED: "gray",
}


def draw(paper: Paper) -> None:
    st.write(
        "What the paper states and what holds instead. Each figure was computed from the paper's"
        " formula or measured with its method. Only an *error with proof* is called an error."
        " *Ambiguous* statements have two readings, *loose* ones are true but could be tighter, and"
        " the authors point out *conceded* ones themselves."
    )
    rows = [
        {
            "correction": erratum.title,
            "as stated": erratum.figures[0],
            "what holds": erratum.figures[1],
            "status": str(erratum.status),
        }
        for erratum in paper.errata
    ]
    safe_text.words_table(rows)
    erratum = address.pick(
        "erratum",
        "One correction",
        paper.errata,
        lambda erratum: f"{erratum.place}: {erratum.title}",
    )
    one_erratum(erratum)


def one_erratum(erratum: Erratum) -> None:
    """Draw a correction with both statements and all its figures."""
    badge = f":{COLOURS[erratum.status]}-badge[{erratum.status}]"
    st.markdown(f"**{safe_text.escape(erratum.title)}** &nbsp; {badge}")
    show_quote(erratum.place, erratum.quote)
    for column, name, text, figure in zip(
        st.columns(2, gap="large"),
        ("As stated", "What holds"),
        (erratum.statement, erratum.holds),
        erratum.figures,
        strict=True,
    ):
        with column, st.container(border=True):
            st.metric(name, figure)
            st.write(safe_text.escape(text))
    safe_text.words_table(erratum.readings, ["meaning", "figure"])
    st.caption(safe_text.escape(erratum.settings))
    st.caption(
        f'Derivation: docs/PRIVACY.md, "Corrections of the sources", "{erratum.section}".'
    )
    if erratum.attack is not None:
        links.to(
            "audit",
            "Attack it with other settings",
            {"attack": erratum.attack.algorithm, "fault": erratum.attack.fault},
        )
    elif "ε" in erratum.figures[0]:
        links.to(
            "ledger", "Account for the sources' noise at another ε", {"from": "claim"}
        )
