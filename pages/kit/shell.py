"""What runs for every page: navigation, and the sidebar that all pages share."""

import gc
from pathlib import Path
from typing import Any

import streamlit as st

from datasets import own
from dpmf_core import accounts
from dpmf_core.lesson_links import PAGES as PAGES_OF_LESSONS
from pages.kit import asked, lesson, runs, sidebar

PAGES = Path(__file__).parents[1]

st.set_page_config(page_title="dpmf: what privacy costs", page_icon="⚖️", layout="wide")  # pages that are refused keep this title

PLACES: dict[str, list[Any]] = {
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
}

IDLE = {  # controls of the sidebar that play no part on a page
    "trade-off": ("algo", "eps", "rule", "noise_kind", "shape"),
    "sketch": ("algo", "rule", "noise_kind", "shape"),
    "retention": ("algo", "eps", "delta", "rule", "noise_kind", "shape"),
    "audit": ("shape",),
    "tune": ("shape",),
}


def _let_in() -> None:
    """Where the server's secrets describe a login, nothing but its button is shown to whoever has not used it."""
    if st.secrets.load_if_toml_exists() and "auth" in st.secrets and not st.user.is_logged_in:
        st.title("What privacy costs", anchor=False)
        st.button("Log in", type="primary", on_click=st.login)
        st.stop()


@st.cache_resource
def _settle_in() -> None:
    """Once: what the libraries have brought stays, so that collections of garbage need not look at it again and again."""
    gc.collect()
    gc.freeze()


@st.cache_resource(ttl=3600)
def _tidied() -> None:
    """Once an hour, whichever page is open: uploads older than a day go, and the accounts of those that are gone."""
    own.sweep()
    accounts.sweep(own.origins())


_let_in()
_tidied()
given = lesson.active()
page = st.navigation(PLACES, position="top" if given is None else "hidden")
if given is not None and (page.url_path or "explore") != given.page:  # a lesson shows its page alone
    st.switch_page(next(it for section in PLACES.values() for it in section if (it.url_path or "explore") == given.page))
holds: dict[str, sidebar.Holds] = {"topics": "documents", "faces": "images"}
name = page.url_path or "explore"
apart = name in ("audit", "runs", "lessons", "glossary", "data")  # what these show does not hang on the sidebar
if not apart:
    if given is None:
        st.sidebar.caption(next(f"{section} › {page.title}" for section, pages in PLACES.items() if page in pages))
    sidebar.draw(holds.get(name, "ratings"), IDLE.get(name, ()), asked.instead() if name == "trade-off" else "")
st.set_page_config(page_title=f"{page.title} · dpmf: what privacy costs")
lesson.heading()
runs.begin()
page.run()
runs.leave()
_settle_in()
if given is None and name in PAGES_OF_LESSONS:
    lesson.maker(name, st.container() if apart else st.sidebar)
