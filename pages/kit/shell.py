"""What runs for every page: navigation, and the sidebar that all pages share."""

from pathlib import Path

import streamlit as st

from pages.kit import sidebar

PAGES = Path(__file__).parents[1]

st.set_page_config(page_title="dpmf: what privacy costs", page_icon="⚖️", layout="wide")

page = st.navigation(
    {
        "Recommend": [
            st.Page(PAGES / "recommend/explore.py", title="Explore", icon=":material/explore:", url_path="explore", default=True),
            st.Page(PAGES / "recommend/tradeoff.py", title="Trade-off", icon=":material/query_stats:", url_path="trade-off"),
            st.Page(PAGES / "recommend/sketch.py", title="Sketch", icon=":material/grid_on:", url_path="sketch"),
            st.Page(PAGES / "recommend/retention.py", title="Retention", icon=":material/delete_sweep:", url_path="retention"),
        ],
        "Factorise": [
            st.Page(PAGES / "factorise/topics.py", title="Topics", icon=":material/article:", url_path="topics"),
            st.Page(PAGES / "factorise/faces.py", title="Faces", icon=":material/face:", url_path="faces"),
        ],
        "Privacy": [
            st.Page(PAGES / "privacy/accountant.py", title="Accountant", icon=":material/calculate:", url_path="accountant"),
            st.Page(PAGES / "privacy/audit.py", title="Audit", icon=":material/policy:", url_path="audit"),
        ],
        "Work": [
            st.Page(PAGES / "work/tune.py", title="Tune", icon=":material/tune:", url_path="tune"),
            st.Page(PAGES / "work/data.py", title="Data", icon=":material/upload_file:", url_path="data"),
            st.Page(PAGES / "work/runs.py", title="Runs", icon=":material/history:", url_path="runs"),
        ],
        "Learn": [
            st.Page(PAGES / "learn/lessons.py", title="Lessons", icon=":material/school:", url_path="lessons"),
            st.Page(PAGES / "learn/glossary.py", title="Glossary", icon=":material/menu_book:", url_path="glossary"),
        ],
    },
    expanded=True,
)
holds: dict[str, sidebar.Holds] = {"topics": "documents", "faces": "images"}
APART = {
    "audit": "This page trains on a small world of its own. Its controls are beside its figure.", "runs": "This page is about every run that is stored.",
    "lessons": "Each lesson has its own control.", "glossary": "Every term of the app.",
    "data": "What you bring appears here as a data set, on the other pages.",
}  # fmt: skip
if page.url_path in APART:
    st.sidebar.caption(APART[page.url_path])
else:
    sidebar.draw(holds.get(page.url_path, "ratings"))
page.run()
