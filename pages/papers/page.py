"""Is it true? All source papers, and for each its claims, methods, bounds and corrections."""

from collections import Counter
from collections.abc import Callable, Mapping

import streamlit as st

from dpmf_core.base.program import program
from dpmf_core.papers import recorded_results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.registry import CLAIMS, DEVIATIONS, PAPERS
from pages.kit.base import lesson, links, safe_text
from pages.kit.controls.session_widgets import segments
from pages.papers import (
    address,
    bounds_section,
    claims_section,
    corrections,
    deviations_section,
    methods_section,
)

COLUMNS = {
    outcome: mark.lstrip("✓✗ ") for outcome, mark in claims_section.MARKS.items()
}
COLUMNS[Outcome.DIFFERS] = "with another result"
SECTIONS: dict[str, tuple[str, Callable[[Paper], None], Callable[[Paper], object]]] = {
    "claims": ("What it claims", claims_section.draw, lambda paper: paper.claims),
    "method": (
        "Try its method",
        methods_section.draw,
        lambda paper: paper.presets or paper.id in methods_section.OWN,
    ),
    "deviations": (
        "Where ours departs",
        deviations_section.draw,
        lambda paper: DEVIATIONS[paper.id],
    ),
    "bounds": (
        "Its bounds and tables",
        bounds_section.draw,
        lambda paper: paper.bounds or paper.tables,
    ),
    "corrections": ("What we corrected", corrections.draw, lambda paper: paper.errata),
}


def outcome(claim: Claim) -> Outcome:
    """The outcome of a claim's last result."""
    last = recorded_results.last(claim)
    if last is None:
        return Outcome.NOT_MEASURED
    return last.verdict(claim).outcome


def counts_text(total: Counter[Outcome]) -> str:
    """The number of claims by outcome, in words."""
    return ", ".join(
        f"{total[one]} {name}" for one, name in COLUMNS.items() if one in total
    )


def reasons(outcomes: Mapping[str, Outcome]) -> str:
    """Why claims cannot be judged here or ever, with the number of claims of each reason.

    `outcomes` are by the claims' ids.
    """
    not_judged = [
        CLAIMS[name]
        for name, verdict in outcomes.items()
        if verdict is Outcome.CANNOT_BE_JUDGED
    ]
    never = [
        CLAIMS[name] for name, verdict in outcomes.items() if verdict is Outcome.NEVER
    ]
    last_results = map(recorded_results.last, not_judged)
    n_on_other_data = sum(bool(last and last.stands_in) for last in last_results)
    n_outside = sum(bool(claim.limits) for claim in never)
    n_open = len(not_judged) - n_on_other_data
    return (
        f"Of the {len(not_judged)} that cannot be judged here, {n_on_other_data} were measured"
        f" on other data than the paper's, and {n_open} with settings that the paper does not"
        f" print. Of the {len(never)} that never can, {n_outside} are outside a statement's"
        f" conditions, and {len(never) - n_outside} are about data that cannot be had."
    )


def navigation(current: str) -> None:
    """Draw links to the overview and the papers; a lesson shows only one paper."""
    if lesson.page_values() is not None:
        return
    with st.container(horizontal=True, gap="xsmall"):
        if current:
            links.to("papers", "All papers")
        for paper in PAPERS.values():
            if paper.id != current:
                links.to(
                    "papers", paper.short, {"paper": paper.id}, ":material/description:"
                )


def overview(unknown: str = "") -> None:
    """Draw all papers, a row each, and a warning about an unknown paper in the address."""
    outcomes = {claim.id: outcome(claim) for claim in CLAIMS.values()}
    total = Counter(outcomes.values())
    total.setdefault(Outcome.DIFFERS, 0)  # that none differs is worth a word
    st.title(
        f"{len(outcomes)} claims of {len(PAPERS)} papers: {counts_text(total)}",
        anchor=False,
    )
    if unknown:
        st.warning(
            safe_text.escape(
                f"There is no paper '{unknown[:40]}' here. Choose one below."
            )
        )
    st.write(
        "A claim is something that a run can contradict: an order of methods, a figure, the shape"
        " of a curve. It consists of statements and is reproduced if all of them hold."
        f" {reasons(outcomes)}"
    )
    rows = (
        {
            "paper": f"**{paper.short}**: {paper.about}",
            "claims": counts_text(
                Counter(outcomes[claim.id] for claim in paper.claims)
            ),
            "corrections": str(len(paper.errata)),
        }
        for paper in PAPERS.values()
    )
    safe_text.words_table(rows, is_markdown=True)
    navigation("")
    st.caption(
        "These are recorded results. Measure them again from the command line:"
        f" `{program()} papers run --all`. Finished runs are not repeated."
    )


def one_paper(paper: Paper) -> None:
    """Draw what a paper proposes, how its claims fare, and the chosen section."""
    navigation(paper.id)
    counts = counts_text(Counter(map(outcome, paper.claims)))
    st.title(f"{paper.short}, {len(paper.claims)} claims: {counts}", anchor=False)
    st.write(f"{paper.about} {paper.citation}, [the paper]({paper.url}).")
    titles = {
        name: title for name, (title, _, content) in SECTIONS.items() if content(paper)
    }
    key = address.start("section", list(titles), address.section())
    name = segments("Section", titles, key)
    _, draw, _ = SECTIONS[address.write("section", name)]
    draw(paper)


def main() -> None:
    name = address.paper_id()
    if name not in PAPERS:
        overview(name or "")
        return
    links.put_in_address({"paper": name})
    one_paper(PAPERS[name])


main()
