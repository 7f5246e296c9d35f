"""What runs for every page: navigation, and the sidebar that all pages share."""

import gc
from pathlib import Path
from typing import Any

import streamlit as st

from dpmf_core.askers import asking
from dpmf_core.lesson_links import PAGES as PAGES_OF_LESSONS
from dpmf_core.settings import WHOSE, settings
from pages.kit import asked, lesson, runs, sessions, sidebar, visitor

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

HOLDS: dict[str, sidebar.Holds] = {"topics": "documents", "faces": "images"}
IDLE = {  # controls of the sidebar that play no part on a page
    "trade-off": ("algo", "eps", "rule", "noise_kind", "shape"),
    "sketch": ("algo", "rule", "noise_kind", "shape"),
    "retention": ("algo", "eps", "delta", "rule", "noise_kind", "shape"),
    "audit": ("shape",),
    "tune": ("shape",),
}


def _let_in() -> None:
    """Where the server's secrets describe a login, nothing but its button is shown to whoever has not used it."""
    if visitor.login_needed() and not visitor.logged_in():
        st.title("What privacy costs", anchor=False)
        st.button("Log in", type="primary", on_click=st.login)
        st.stop()


@st.cache_resource
def _settle_in() -> None:
    """Once: what the libraries have brought stays, so that collections of garbage need not look at it again and again."""
    gc.collect()
    gc.freeze()


def _hidden(name: str) -> bool:
    """Whether a page opens by a lesson link alone, and this session has none."""
    free = settings().pages_without_lesson
    return free is not None and name not in free and given is None and not who.operator


def _draw(name: str) -> None:
    """The sidebar, where the page has a use for it, and the page."""
    apart = name in ("audit", "runs", "lessons", "glossary", "data", "operator")  # what these show does not hang on the sidebar
    if not apart:
        if given is None:
            st.sidebar.caption(next(f"{section} › {page.title}" for section, pages in PLACES.items() if page in pages))
        sidebar.draw(HOLDS.get(name, "ratings"), IDLE.get(name, ()), asked.instead() if name == "trade-off" else "")
    st.set_page_config(page_title=f"{page.title} · dpmf: what privacy costs")
    lesson.heading()
    runs.begin()
    page.run()
    runs.leave()
    _settle_in()
    if given is None and name in PAGES_OF_LESSONS:
        lesson.maker(name, st.container() if apart else st.sidebar)


_let_in()
given = lesson.active()
who = visitor.asker()
if who.operator:
    PLACES["Work"].append(st.Page(PAGES / "work/operator.py", title="Operator", icon=":material/monitoring:", url_path="operator"))
page = st.navigation(PLACES, position="top" if given is None else "hidden")
if given is not None and (page.url_path or "explore") != given.page:  # a lesson shows its page alone
    st.switch_page(next(it for section in PLACES.values() for it in section if (it.url_path or "explore") == given.page))
opened = page.url_path or "explore"
sessions.note(opened)
if _hidden(opened):
    st.title("Open a lesson link", anchor=False)
    st.write(f"On this server this page is opened by a lesson link. {WHOSE} Ask whoever teaches here for one.")
    st.stop()
with asking(who):
    _draw(opened)
