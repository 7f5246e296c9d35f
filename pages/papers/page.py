"""Is it true? All source papers, and for each its claims, methods, bounds and corrections."""

from collections import Counter
from collections.abc import Callable

import pandas as pd
import streamlit as st

from dpmf_core.base.program import program
from dpmf_core.papers import results
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.registry import PAPERS
from pages.kit import lesson, links, safe_text
from pages.papers import address, bounds, claims, corrections, deviations, methods

COLUMNS = {outcome: mark.lstrip("✓✗ ") for outcome, mark in claims.MARKS.items()}
COLUMNS[Outcome.DIFFERS] = "with another result"
SECTIONS: dict[str, tuple[str, Callable[[Paper], None], Callable[[Paper], object]]] = {
    "claims": ("What it claims", claims.draw, lambda paper: paper.claims),
    "method": ("Try its method", methods.draw, methods.of),
    "deviations": ("Where ours departs", deviations.draw, deviations.of),
    "bounds": ("Its bounds and tables", bounds.draw, lambda paper: paper.bounds or paper.tables),
    "corrections": ("What we corrected", corrections.draw, lambda paper: paper.errata),
}


def outcomes(paper: Paper) -> Counter[Outcome]:
    """Return the number of a paper's claims with each outcome, by their last results."""
    last_results = ((claim, results.last(claim)) for claim in paper.claims)
    return Counter(
        Outcome.NOT_MEASURED if last is None else last.verdict(claim).outcome
        for claim, last in last_results
    )


def counts_text(total: Counter[Outcome]) -> str:
    """Return the number of claims by outcome, in words."""
    return ", ".join(f"{total[it]} {name}" for it, name in COLUMNS.items() if total[it])


def navigation(current: str) -> None:
    """Draw links to the overview and the papers; a lesson shows only one paper."""
    if lesson.page_values() is not None:
        return
    with st.container(horizontal=True, gap="xsmall"):
        if current:
            links.to("papers", "All papers", {})
        for paper in PAPERS.values():
            if paper.id != current:
                links.to("papers", paper.short, {"paper": paper.id}, ":material/description:")


def overview(unknown: str = "") -> None:
    """Draw all papers, a row each. unknown: an unknown paper in the address."""
    total = sum((outcomes(paper) for paper in PAPERS.values()), Counter())
    title = f"{total.total()} claims of {len(PAPERS)} papers: {counts_text(total)}"
    st.title(title, anchor=False)
    if unknown:
        st.warning(safe_text.escape(f"There is no paper '{unknown[:40]}' here. Choose one below."))
    st.write(
        "A claim is something that a run can contradict: an order of methods, a figure, the shape"
        " of a curve. It consists of statements and is reproduced if all of them hold. A result on"
        " data other than the paper's, or outside a statement's conditions, cannot test the paper."
        " Where the paper leaves a condition open or its data cannot be had, no result ever can."
    )
    rows = (
        {"paper": f"**{paper.short}**: {paper.about}", "claims": counts_text(outcomes(paper))}
        | {"corrections": str(len(paper.errata))}
        for paper in PAPERS.values()
    )
    safe_text.words_table(pd.DataFrame(rows), is_markdown=True)
    navigation("")
    st.caption(
        "These are recorded results. Measure them again from the command line:"
        f" `{program()} papers run --all`. Finished runs are not repeated."
    )


def one_paper(paper: Paper) -> None:
    """Draw what a paper proposes, how its claims fare, and the chosen section."""
    navigation(paper.id)
    counts = counts_text(outcomes(paper))
    st.title(f"{paper.short}, {len(paper.claims)} claims: {counts}", anchor=False)
    st.write(f"{paper.about} {paper.citation}, [the paper]({paper.url}).")
    titles = {name: title for name, (title, _, content) in SECTIONS.items() if content(paper)}
    key = address.start("section", list(titles), address.section())
    name = st.segmented_control(
        "Section",
        list(titles),
        default=st.session_state[key],
        required=True,
        key=key,
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        persist_state="session",
    )
    _, draw, _ = SECTIONS[address.write("section", name or next(iter(titles)))]
    draw(paper)


def main() -> None:
    name = address.paper_id()
    if name not in PAPERS:
        overview(name or "")
        return
    links.put_in_address({"paper": name})
    one_paper(PAPERS[name])


main()
