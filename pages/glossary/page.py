"""What do the words mean? Terms with formulas and sources, and the algorithms."""

import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.teaching.glossary import TERMS, matching_terms, nearness

st.title("What the words mean", anchor=False)
term_id = st.query_params.get("term", "")
text = st.text_input(
    "Look for",
    term_id if term_id in TERMS else "",
    max_chars=60,
    placeholder="clipping, delta, Rényi, DPALS ...",
)
terms = matching_terms(text)
methods = [
    (name, kind)
    for name, kind in REGISTRY.items()
    if nearness(text, (name, kind.title), kind.words) is not None
]
if not terms and not methods:
    st.info("No term or algorithm matches. Try part of the word.")
for term in terms:
    with st.container(border=True):
        st.header(term.name, anchor=False)
        st.write(term.words)
        if term.formula:
            st.latex(term.formula)
        st.caption(term.source)
for name, kind in methods:
    with st.container(border=True):
        st.header(f"{kind.title} (`{name}`)", anchor=False)
        st.write(kind.words)
        st.caption(kind.source)
