"""What do the source papers claim, and does it hold?

Every claim with its last verdict; one of them is measured again on request.
"""

from collections import Counter

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS, find_claim
from pages.kit import published_figures, safe_text

EVERY = "every paper"
DATA = {False: "the source's", True: "stand-in"}
MARKS = {
    Outcome.REPRODUCED: "✓ reproduced",
    Outcome.DIFFERS: "✗ differs",
    Outcome.NOT_MEASURED: "not measured",
}


def headline() -> None:
    """How many claims were measured, and how many hold."""
    outcomes = Counter(last.outcome for claim in CLAIMS.values() if (last := results.last(claim)))
    count = sum(outcomes.values())
    st.title(
        f"{outcomes[Outcome.REPRODUCED]} of {count} measured claims hold here"
        if count
        else "What do the source papers claim, and does it hold?",
        anchor=False,
    )
    st.write(
        f"The source papers make {len(CLAIMS)} claims that runs can contradict: an order of"
        " methods, a figure, a shape of a curve. Each is a list of statements; it is reproduced"
        " where all of them hold. A claim that differs here may still hold on the source's data:"
        " the verdict says which data and which size it comes from."
    )


def table(paper: str) -> None:
    """The claims of one paper or all, with their last verdicts."""
    claims = [claim for claim in CLAIMS.values() if paper in (EVERY, claim.paper)]
    safe_text.table(pd.DataFrame(_row(claim) for claim in claims))


def _row(claim: Claim) -> dict[str, str]:
    last = results.last(claim)
    size = {"full": "full", "page": "page", None: "-"}[last.size if last else None]
    return {
        "source": claim.source,
        "claim": claim.title,
        "data": DATA[last.stand_in] if last else "-",
        "verdict": MARKS[last.outcome if last else Outcome.NOT_MEASURED],
        "size": size,
        "statements": str(len(claim.clauses)),
        "measured": last.created[:10] if last else "-",
    }


def one_claim(claim: Claim) -> None:
    """A claim: what the source says, what was measured, and the button that measures it here."""
    st.subheader(f"{claim.source}: {claim.title}", anchor=False)
    last = results.last(claim)
    if last is None:
        st.write("The source says that:")
        st.markdown("\n".join(f"- {clause.words}" for clause in claim.clauses))
    else:
        st.markdown(f"**Last measured** {last.created[:10]}, version {last.version}:")
        published_figures.show_verdict(claim, last.verdict)
    if st.toggle("Measure it here, at page size", key=f"papers.measure.{claim.id}"):
        published_figures.draw("papers", claim)


def main() -> None:
    headline()
    papers = [EVERY, *dict.fromkeys(claim.paper for claim in CLAIMS.values())]
    paper = st.selectbox("Paper", papers, key="papers.paper")
    table(paper)
    st.caption(
        "All of it from the command line: `python -m dpmf_core papers run --all`; what was run"
        " before is not run again."
    )
    ids = [claim.id for claim in CLAIMS.values() if paper in (EVERY, claim.paper)]
    claim_id = st.selectbox(
        "One claim",
        ids,
        key="papers.claim",
        format_func=lambda name: f"{CLAIMS[name].source}: {CLAIMS[name].title}",
    )
    if claim_id:
        one_claim(find_claim(claim_id))


try:
    main()
except BadInput as error:
    safe_text.error(error)
