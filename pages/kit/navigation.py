"""What runs for every page: navigation, and the sidebar that all pages share."""

import gc
from pathlib import Path

import streamlit as st

from dpmf_core.serving.requesters import asking
from dpmf_core.serving.settings import settings
from pages.kit import (
    data_sets,
    drawing,
    lesson,
    lesson_heading,
    lesson_maker,
    page_table,
    safe_text,
    sidebar,
)
from pages.kit.runs import following
from pages.server import sessions, visitor

PRODUCT = "dpmf: what privacy costs"
# pages that are refused keep this title
st.set_page_config(page_title=PRODUCT, page_icon="⚖️", layout="wide")
for style in ("print.css", "phone.css"):
    st.html(Path(__file__).with_name(style))


def _require_login() -> None:
    """Where the server's secrets describe a login, nothing but its button is shown to whoever
    has not used it.
    """
    if visitor.login_needed() and not visitor.logged_in():
        st.title("What privacy costs", anchor=False)
        st.button("Log in", type="primary", on_click=st.login)
        st.stop()


@st.cache_resource
def _freeze_startup_objects() -> None:
    """Once: what the libraries have brought stays, so that collections of garbage need not look
    at it again and again.
    """
    gc.collect()
    gc.freeze()


def _needs_lesson(name: str) -> bool:
    """Whether a page opens by a lesson link alone, and this session has none."""
    free = settings().pages_without_lesson
    return free is not None and name not in free and lesson_link is None and not who.operator


def _pages(for_operator: bool) -> dict[str, page_table.Page]:
    """The pages that this visitor may open, by their ids."""
    return {it.id: it for it in page_table.PAGES if for_operator or not it.for_operator}


def _navigate(open_to: dict[str, page_table.Page], front: dict[str, str], visible: bool) -> str:
    """Declare the pages to Streamlit; the id of the one that is opened.

    front: the page that stands for each section in the header; the others are not shown there,
    for Streamlit would fold them into menus.
    """
    for it in open_to.values():
        inside = it.section in page_table.SECTIONS
        streamlit_pages[it.id] = st.Page(
            it.script,
            title=it.section if inside else it.title,
            icon=page_table.SECTIONS[it.section].material_icon if inside else it.material_icon,
            url_path=it.id,
            default=it.id == page_table.HOME,
            visibility="visible" if front[it.section] == it.id else "hidden",
        )
    page = st.navigation(list(streamlit_pages.values()), position="top" if visible else "hidden")
    # Streamlit gives the default page an empty address
    return page.url_path or page_table.HOME


def _open(open_to: dict[str, page_table.Page], visible: bool) -> str:
    """The id of the opened page; where the header is shown, it stands there for its section."""
    front = {it.section: it.id for it in reversed(open_to.values())}
    name = _navigate(open_to, front, visible)
    if visible and front[open_to[name].section] != name:
        _navigate(open_to, front | {open_to[name].section: name}, visible)
    return name


def _draw_row(open_to: dict[str, page_table.Page], page: page_table.Page) -> None:
    """The pages of the opened one's section, side by side."""
    together = [it for it in open_to.values() if it.section == page.section]
    if len(together) == 1:
        return
    with st.container(horizontal=True, gap="xsmall", key="navigation.row"):
        for it in together:
            st.page_link(streamlit_pages[it.id], label=it.title, icon=it.material_icon)


def _tab_title(page: page_table.Page) -> str:
    if page.id == page_table.HOME:
        return PRODUCT
    return f"{page.title} · {PRODUCT}"


def _draw(page: page_table.Page) -> None:
    """The sidebar, where the page has one, and the page."""
    if page.data_kind is not None:
        sidebar.draw(page.data_kind, page.unused)
    st.set_page_config(page_title=_tab_title(page))
    if lesson_link is None:
        _draw_row(pages, page)
    lesson_heading.draw()
    with following():
        if words := data_sets.why_unsuited(page):
            st.title(page.title, anchor=False)
            st.warning(safe_text.escape(words))
        else:
            streamlit_pages[page.id].run()
        if page.data_kind is not None and page.has_dial:
            sidebar.draw_bar(page.unused)
    _freeze_startup_objects()
    if lesson_link is None and page.in_lessons and page.id != "lessons":
        button = st.container() if page.data_kind is None else st.sidebar
        lesson_maker.draw(page, button)


_require_login()
who = visitor.asker()
lesson_link = lesson.current(who.owner)
pages = _pages(who.operator)
streamlit_pages: dict[str, st.Page] = {}
name = _open(pages, visible=lesson_link is None)
# a lesson shows its page alone
if lesson_link is not None and name != lesson_link.page:
    st.switch_page(streamlit_pages[lesson_link.page], query_params=lesson.address())
sessions.note(name)
if _needs_lesson(name):
    st.title("Open a lesson link", anchor=False)
    st.write("On this server this page opens only with a lesson link. Ask your teacher for one.")
    st.stop()
with asking(who), drawing.in_turn():
    _draw(page_table.BY_ID[name])
