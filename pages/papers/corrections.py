"""Corrections of a paper: statement, truth, status, and figures computed on request."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_core.papers.erratum import Attack, Erratum, Reading, Status
from dpmf_core.papers.paper import Paper
from pages.kit import links, safe_text
from pages.kit.runs import ask
from pages.papers import address
from pages.papers.figures import show_quote

COLOURS = {
    Status.ERROR: "orange",
    Status.AMBIGUOUS: "blue",
    Status.LOOSE: "green",
    Status.CONCEDED: "gray",
}


def draw(paper: Paper) -> None:
    st.write(
        "What the paper states and what holds instead. Each figure is computed from the paper's"
        " formula or measured with its method. Only an *error with proof* is called an error."
        " *Ambiguous* statements have two readings, *loose* ones are true but could be tighter, and"
        " the authors point out *conceded* ones themselves."
    )
    rows = [
        {"correction": it.title, "as stated": it.figures[0], "what holds": it.figures[1]}
        | {"status": str(it.status)}
        for it in paper.errata
    ]
    safe_text.words_table(pd.DataFrame(rows))
    titles = {it.id: f"{it.place}: {it.title}" for it in paper.errata}
    erratum_id = address.select("erratum", "One correction", titles)
    one_erratum(next(it for it in paper.errata if it.id == erratum_id))


def one_erratum(erratum: Erratum) -> None:
    """Draw a correction with both statements and figures, and the button that computes them."""
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
    compute(erratum)
    st.caption(f'Derivation: docs/PRIVACY.md, "Corrections of the sources", "{erratum.section}".')
    if isinstance(erratum.means, Attack):
        spec = erratum.means.spec
        settings = {"attack": spec.algorithm, "fault": spec.fault}
        links.to("audit", "Attack it with other settings", settings)
    elif "ε" in erratum.figures[0]:
        links.to("ledger", "Account for the sources' noise at another ε", {"from": "claim"})


def compute(erratum: Erratum) -> None:
    """Draw the button and its result."""
    label = "Run the attack" if isinstance(erratum.means, Attack) else "Compute both"
    key = f"papers.compute.{erratum.id}"
    if st.button(label, type="primary", key=key, icon=":material/calculate:"):
        st.session_state["papers.computed"] = erratum.id
    st.caption(erratum.settings)
    if st.session_state.get("papers.computed") != erratum.id:
        return
    if isinstance(erratum.means, Attack):
        audits = ask("papers.attack", {"audit": erratum.means.spec}, by_button=True)
        if "audit" in audits:
            readings(erratum.read(erratum.means.read(audits["audit"])))
        return
    with st.spinner("Computing both"):
        readings(erratum.compare())


def readings(figures: Sequence[Reading]) -> None:
    """Draw every figure of a correction with its name."""
    rows = [(it.text, it.name) for it in figures]
    safe_text.words_table(pd.DataFrame(rows, columns=["figure", "meaning"]))
