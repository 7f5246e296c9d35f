"""The section on Saha & Imtiaz 2022, Table 4: two columns in two units."""

import streamlit as st

from dpmf_core.papers import results
from dpmf_core.papers.clauses import Median, Results
from dpmf_core.papers.saha_methods import PLAIN, PRIVATE
from dpmf_core.papers.saha_units import (
    DPNMF,
    EPSILONS,
    FITTED_LABEL,
    OWN_MEAN,
    PLAIN_FITTED_LABEL,
    PUBLISHED_ERRORS,
    PUBLISHED_PLAIN,
    ROWS,
    STARS,
    TABLE_4,
)
from pages.kit import parts_figures


def section() -> None:
    """What the table says, the same in one unit, and what follows."""
    st.header("One table, two units", anchor=False)
    st.write(
        "Table 4 of Saha & Imtiaz 2022 compares two private factorisations of MovieLens 1M."
        " Theirs, DP-NMF, errs by 0.064 to 0.068; the other, DPNMF, by 1.02 to 1.20. That looks"
        " like sixteen times better. But by the formula of its section 4.4 the first column is"
        " the error after each person's row of ratings was scaled to norm 1: a rating is then"
        " about 0.08, not 4. The second column is in stars."
    )
    if (last := results.last(TABLE_4)) is None:
        command = f"python -m dpmf_core papers run {TABLE_4.id}"
        st.info(f"Not measured here yet: `{command}`.")
        return
    st.write(_consequence(last.summaries))
    parts_figures.two_units("topics.section", last.summaries)
    own, fitted_text = (
        _line(last.summaries, *labels)
        for labels in ((PLAIN, PRIVATE), (PLAIN_FITTED_LABEL, FITTED_LABEL))
    )
    published_text = " / ".join(
        f"{value:.4f}" for value in (PUBLISHED_PLAIN, *PUBLISHED_ERRORS.values())
    )
    terms = (
        "The ε of DP-NMF is each of two statistics', in each of 20 steps, for one user, and its"
        " start is computed from the private data, so nothing is proved; the ε of DPNMF protects"
        " the value of one rating. With K 7 and 40 steps, chosen because they fit, it is"
        f" {fitted_text}; with K 8 and 20 steps {own}; published {published_text}."
    )
    st.caption(f"{last.on} {terms}")


def _line(summaries: Results, plain: str, private: str) -> str:
    """Errors in rows of norm 1: without privacy, and at each epsilon."""
    places = [Median(plain, grid={"unit": ROWS})]
    places += [Median(private, epsilon, {"unit": ROWS}) for epsilon in EPSILONS]
    return " / ".join(f"{place(summaries):.4f}" for place in places)


def _consequence(summaries: Results) -> str:
    """One sentence with the numbers that turn the comparison."""

    def error(label: str, unit: str, at: float | None = None) -> float:
        return Median(label, at, {"unit": unit})(summaries)

    return (
        "**Read in one unit, the order turns.** At ε = 0.5 DP-NMF errs by"
        f" {error(PRIVATE, STARS, 0.5):.2f} stars and DPNMF by {error(DPNMF, STARS, 0.5):.2f}; in"
        f" rows of norm 1, by {error(PRIVATE, ROWS, 0.5):.4f} and {error(DPNMF, ROWS, 0.5):.4f}."
        " Even without privacy, factorising a table with zeros for what was not rated"
        f" ({error(PLAIN, ROWS):.4f}) is worse than guessing everybody's own mean"
        f" ({error(OWN_MEAN, ROWS):.4f}). Before you compare two errors, ask for their units, and"
        " what a guess costs in each."
    )
