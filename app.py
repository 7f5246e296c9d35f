"""The dashboard: navigation, and the sidebar that every page shares."""

import streamlit as st

from pages.kit import sidebar

st.set_page_config(page_title="dpmf: what privacy costs", page_icon="⚖️", layout="wide")

page = st.navigation(
    {
        "Recommend": [st.Page("pages/recommend/explore.py", title="Explore", icon=":material/explore:", url_path="explore", default=True)],
        "Privacy": [st.Page("pages/privacy/accountant.py", title="Accountant", icon=":material/calculate:", url_path="accountant")],
    }
)
sidebar.draw()
page.run()
