"""Is it true? An overview of the source papers, and one page for each: what it claims, its method
to try, its bounds, and what we corrected.
"""

from collections import Counter
from collections.abc import Callable

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.program import program
from dpmf_core.papers import results
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.registry import PAPERS
from pages.kit import lesson, links, safe_text
from pages.papers import address, bounds, claims, corrections, methods

COLUMNS = {
    Outcome.REPRODUCED: "reproduced",
    Outcome.DIFFERS: "differs",
    Outcome.CANNOT_BE_JUDGED: "cannot be judged here",
    Outcome.NOT_MEASURED: "not measured",
}
SECTIONS: dict[str, tuple[str, Callable[[Paper], None], Callable[[Paper], object]]] = {
    "claims": ("What it claims", claims.draw, lambda paper: paper.claims),
    "method": ("Its method to try", methods.draw, methods.of),
    "bounds": ("Its bounds and tables", bounds.draw, lambda paper: paper.bounds or paper.tables),
    "corrections": ("What we corrected", corrections.draw, lambda paper: paper.errata),
}


def outcomes(paper: Paper) -> Counter[Outcome]:
    """How many of its claims have which outcome, by their last results."""
    last_results = ((claim, results.last(claim)) for claim in paper.claims)
    return Counter(
        Outcome.NOT_MEASURED if last is None else last.verdict(claim).outcome
        for claim, last in last_results
    )


def headline(total: Counter[Outcome]) -> str:
    judged = total[Outcome.REPRODUCED] + total[Outcome.DIFFERS]
    are = f"{total[Outcome.REPRODUCED]} of the {judged} claims that can be judged here are"
    return f"{are} reproduced" if judged else "no claim can be judged here"


def counts(paper: Paper) -> dict[str, int]:
    """The same by column; none that are not measured need no column."""
    by_outcome = outcomes(paper)
    return {
        name: by_outcome[outcome]
        for outcome, name in COLUMNS.items()
        if by_outcome[outcome] or outcome is not Outcome.NOT_MEASURED
    }


def navigation(current: str) -> None:
    """Links to the overview and the papers; a lesson shows one paper alone."""
    if lesson.page_values() is not None:
        return
    with st.container(horizontal=True, gap="xsmall"):
        if current:
            links.to("papers", "All papers", {})
        for paper in PAPERS.values():
            if paper.id != current:
                links.to("papers", paper.short, {"paper": paper.id}, ":material/description:")


def overview(unknown: str = "") -> None:
    """All papers, a row each. unknown: what the address asked for."""
    total = sum((outcomes(paper) for paper in PAPERS.values()), Counter())
    st.title(f"{len(PAPERS)} papers: {headline(total)}", anchor=False)
    if unknown:
        st.warning(safe_text.escape(f"There is no paper '{unknown[:40]}' here. Choose one below."))
    st.write(
        "A claim is something that a run can contradict: an order of methods, a figure, the shape"
        " of a curve. It is a list of statements, and it is reproduced if all of them hold. On"
        " other data than the paper's, or outside the conditions of the statement, a result cannot"
        " judge the paper: those claims are counted apart."
    )
    rows = (
        {"paper": f"**{paper.short}**: {paper.about}", "corrections": str(len(paper.errata))}
        | {name: str(count) for name, count in counts(paper).items()}
        for paper in PAPERS.values()
    )
    safe_text.words_table(pd.DataFrame(rows).fillna("0"), is_markdown=True)
    navigation("")
    st.caption(
        f"All of it from the command line: `{program()} papers run --all`. Finished runs are"
        " not repeated."
    )


def one_paper(paper: Paper) -> None:
    """A paper: what it proposes, how its claims fare, and the section that is chosen."""
    navigation(paper.id)
    st.title(f"{paper.short}: {headline(outcomes(paper))}", anchor=False)
    numbers = ", ".join(f"{count} {name}" for name, count in counts(paper).items())
    st.write(
        f"{paper.about} Of {len(paper.claims)} claims: {numbers}. {paper.citation},"
        f" [the paper]({paper.url})."
    )
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


try:
    main()
except BadInput as error:
    safe_text.error(error)
