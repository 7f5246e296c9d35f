"""The words of the app, each with a formula and a source, and its algorithms."""

import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.teaching.glossary import TERMS, matching_terms, nearness
from pages.kit.language import say

st.title(say("What the words mean"), anchor=False)
term_id = st.query_params.get("term", "")
text = st.text_input(
    say("Look for"),
    say(term_id) if term_id in TERMS else "",
    max_chars=60,
    placeholder=say("clipping, delta, Rényi, DPALS ..."),
)
terms = matching_terms(text, say)
methods = [
    (name, kind)
    for name, kind in REGISTRY.items()
    if nearness(text, (name, say(kind.title)), say(kind.words)) is not None
]
if not terms and not methods:
    st.info(
        say(
            "None of the {terms} terms and {methods} algorithms holds that. Try a part of the"
            " word.",
            terms=len(TERMS),
            methods=len(REGISTRY),
        )
    )
for term in terms:
    with st.container(border=True):
        st.header(say(term.name), anchor=False)
        st.write(say(term.words))
        if term.formula:
            st.latex(term.formula)
        st.caption(say(term.source))
for name, kind in methods:
    with st.container(border=True):
        st.header(f"{say(kind.title)} (`{name}`)", anchor=False)
        st.write(say(kind.words))
        st.caption(say(kind.source))
