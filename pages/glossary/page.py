"""What do the words mean? A dense index of terms and algorithms, with formulas folded."""

from collections.abc import Sequence

import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.teaching.glossary import TERMS, Term, matching_terms, nearness
from pages.kit.base import safe_text

COLUMNS = 2  # of a wide page
FORMULA = "Formula and source"


def main() -> None:
    st.title("What the words mean", anchor=False)
    term_id = st.query_params.get("term", "")
    text = st.text_input(
        "Look for",
        term_id if term_id in TERMS else "",
        max_chars=60,
        placeholder="clipping, delta, Rényi, DPALS ...",
    )
    terms = list(matching_terms(text))
    if not text.strip():
        terms.sort(key=lambda term: term.name.lower())
    methods = [
        name
        for name, kind in REGISTRY.items()
        if nearness(text, (name, kind.title), kind.words) is not None
    ]
    if not terms and not methods:
        st.info("No term or algorithm matches. Try part of the word.")
    if terms:
        st.header(safe_text.count_text(len(terms), "term"), anchor=False)
        _draw_terms(terms, unfolded=term_id if text == term_id else "")
    if methods:
        st.header(safe_text.count_text(len(methods), "algorithm"), anchor=False)
        _draw_methods(methods)


def _draw_terms(terms: Sequence[Term], unfolded: str) -> None:
    """Draw terms column by column. The formula of the term `unfolded` is shown at once."""
    height = -(-len(terms) // COLUMNS)
    for place, column in enumerate(st.columns(COLUMNS, gap="large")):
        with column, st.container(gap="xxsmall"):
            for term in terms[place * height : (place + 1) * height]:
                _draw_term(term, unfolded == term.name)


def _draw_term(term: Term, is_unfolded: bool) -> None:
    if term.also:
        also = f" :small[({', '.join(term.also)})]"
    else:
        also = ""
    st.markdown(f"**{term.name}**{also} :small[{term.words}]")
    label = safe_text.button_label(FORMULA, f"of {term.name}")
    with st.expander(label, expanded=is_unfolded, type="compact"):
        if term.formula:
            st.latex(term.formula)
        st.caption(term.source)


def _draw_methods(names: Sequence[str]) -> None:
    height = -(-len(names) // COLUMNS)
    for place, column in enumerate(st.columns(COLUMNS, gap="large")):
        entries = [
            f"- **{REGISTRY[name].title}** (`{name}`) :small[{REGISTRY[name].words}."
            f" {safe_text.escape(REGISTRY[name].source)}]"
            for name in names[place * height : (place + 1) * height]
        ]
        column.markdown("\n".join(entries))


main()
