"""The words of the app, each with a formula and a source."""

import streamlit as st

from dpmf_core.glossary import TERMS, found

st.title("What the words mean")
linked = st.query_params.get("term", "")
text = st.text_input("Look for", linked if linked in TERMS else "", max_chars=60, placeholder="clipping, delta, Rényi ...")
terms = found(text)
if not terms:
    st.info(f"None of the {len(TERMS)} terms holds that. Try a part of the word.")
for term in terms:
    with st.container(border=True):
        st.markdown(f"**{term.name}**")
        st.write(term.words)
        if term.formula:
            st.latex(term.formula)
        st.caption(term.source)
