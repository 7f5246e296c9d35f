"""What do the source papers claim, and does it hold?

Every claim with its last verdict; one of them is measured again on request.
"""

from collections import Counter

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS
from pages.kit import page_controls, published_figures, safe_text
from pages.kit.session_widgets import bind

EVERY = "every paper"
MARKS = {
    Outcome.REPRODUCED: "✓ reproduced",
    Outcome.DIFFERS: "✗ differs",
    Outcome.CANNOT_BE_JUDGED: "cannot be judged here",
    Outcome.NOT_MEASURED: "not measured",
}


def headline() -> None:
    """How many claims were measured, and how many hold."""
    outcomes = Counter(
        last.verdict(claim).outcome for claim in CLAIMS.values() if (last := results.last(claim))
    )
    reproduced, count = outcomes[Outcome.REPRODUCED], sum(outcomes.values())
    title = "What do the source papers claim, and does it hold?"
    if count:
        judged = reproduced + outcomes[Outcome.DIFFERS]
        title = f"{count} claims measured again: {reproduced} of {judged} that can be judged hold"
    st.title(title, anchor=False)
    st.write(
        f"The source papers make {len(CLAIMS)} claims that a run can contradict: an order of"
        " methods, a figure, the shape of a curve. Each claim is a list of statements. It is"
        " reproduced if all of them hold. A claim that differs here may still hold on the source's"
        " data: each verdict says which data and which size it is from."
    )


def row(claim: Claim) -> dict[str, str]:
    """A claim with its last verdict."""
    last = results.last(claim)
    measured = ("-", "-", "-")
    outcome = Outcome.NOT_MEASURED
    if last is not None:
        data = "other" if last.obstacle else "the source's"
        measured = (data, "full" if last.size == "full" else "page", last.created[:10])
        outcome = last.verdict(claim).outcome
    return {
        "source": claim.source,
        "claim": claim.title,
        "data": measured[0],
        "verdict": MARKS[outcome],
        "size": measured[1],
        "statements": str(len(claim.clauses)),
        "measured": measured[2],
    }


def one_claim(claim: Claim) -> None:
    """A claim: what the source says, what was measured, and the toggle that measures it here."""
    st.subheader(published_figures.name(claim), anchor=False)
    last = results.last(claim)
    if last is None:
        st.write("The source says that:")
        st.markdown("\n".join(f"- {clause.words}" for clause in claim.clauses))
    else:
        st.markdown(f"**Last measured** {last.created[:10]}, version {last.version}:")
        published_figures.show_verdict(claim, last.verdict(claim))
    if st.toggle("Measure it here, at page size", key=f"papers.measure.{claim.id}"):
        published_figures.draw("papers", claim)


def main() -> None:
    headline()
    papers = [EVERY, *dict.fromkeys(claim.paper for claim in CLAIMS.values())]
    paper = st.selectbox("Paper", papers, key="papers.paper")
    claims = {name: it for name, it in CLAIMS.items() if paper in (EVERY, it.paper)}
    safe_text.table(pd.DataFrame(row(claim) for claim in claims.values()))
    st.caption(
        "All of it from the command line: `python -m dpmf_core papers run --all`. Finished runs are"
        " not repeated."
    )
    ids, key = list(claims), "papers.claim"
    page_controls.start(key, "claim", ids[0], page_controls.one_of(CLAIMS))
    if st.session_state[key] not in claims:
        st.session_state[key] = ids[0]
    names = {name: published_figures.name(claim) for name, claim in claims.items()}
    claim_id = st.selectbox("One claim", ids, **bind(key, ids), format_func=names.__getitem__)
    one_claim(CLAIMS[claim_id])


try:
    main()
except BadInput as error:
    safe_text.error(error)
