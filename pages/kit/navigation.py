"""The script of every page: login, navigation, lessons, sidebar, and the page itself."""

import gc
from pathlib import Path

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import asking
from dpmf_core.base.settings import settings
from pages.kit import sidebar
from pages.kit.base import data_sets, drawing, lesson, links, page_table, safe_text
from pages.kit.lessons import lesson_heading, lesson_maker, room
from pages.kit.running.runs import following
from pages.server import sessions, visitor
from pages.server.doors import login_described
from pages.server.page_addresses import UNKNOWN_PAGE

PRODUCT = "dpmf: what privacy costs"
# the title of refused pages
st.set_page_config(
    page_title=PRODUCT,
    page_icon="⚖️",
    layout="wide",
)
for style in ("print.css", "phone.css", "look.css"):
    st.html(Path(__file__).with_name(style))


@st.cache_resource
def _freeze_startup_objects() -> None:
    """Exclude the libraries' objects from garbage collection, once."""
    gc.collect()
    gc.freeze()


def _view(section: page_table.AppSection) -> page_table.Page | None:
    """The view of a section in the address, or None if this visitor may not open it."""
    page = page_table.page_of(section.id, st.query_params.get(section.parameter, ""))
    if page is not None and page.for_operator and not who.operator:
        return None
    return page


def _open(visible: bool) -> page_table.Page:
    """Declare the sections to Streamlit; return the opened view."""
    views = {}
    for section in page_table.SECTIONS.values():
        views[section.id] = _view(section) or page_table.first_page(section.id)
        streamlit_pages[section.id] = st.Page(
            views[section.id].script,
            title=section.title,
            icon=section.material_icon,
            url_path=section.id,
            default=section.id == page_table.HOME,
        )
    page = st.navigation(
        list(streamlit_pages.values()), position="top" if visible else "hidden"
    )
    # Streamlit gives the default page an empty address
    return views[page.url_path or page_table.HOME]


def _draw_views(page: page_table.Page) -> None:
    parent = page.under or page.id
    titles = {}
    tabs = {}
    for view in page_table.PAGES:
        if view.section != page.section or (view.for_operator and not who.operator):
            continue
        if not view.under:
            titles[view.id] = view.title
        if parent in (view.id, view.under):
            tabs[view.id] = view.tab or view.title
    with st.container(
        horizontal=True,
        gap="small",
        key="navigation.row",
    ):
        _draw_switch("View", titles, parent)
        _draw_switch("Tab", tabs, page.id)


def _draw_switch(label: str, titles: dict[str, str], current: str) -> None:
    if len(titles) < 2:
        return
    key = f"navigation.{label}.{current}"  # a new widget for each view: the server never sets one
    st.segmented_control(
        label,
        titles,
        default=current,
        key=key,
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        required=True,
        on_change=_show_view,
        args=(key, current),
    )


def _show_view(key: str, current: str) -> None:
    """Open the chosen view. A browser may report the view of a page that was just left."""
    page_id = st.session_state[key]
    if page_id != current:
        st.query_params.from_dict(page_table.BY_ID[page_id].query)


def _draw_unknown(page: page_table.Page) -> None:
    section = page_table.SECTIONS[page.section]
    name = st.query_params.get(UNKNOWN_PAGE, "")
    if not name and _view(section) is None:
        name = st.query_params[section.parameter]
    if not name:
        return
    known = page_table.page_of(section.id, name)
    words = f"There is no page '{name[:40]}' here. Choose one of these."
    if known is not None and known.for_operator:
        words = (
            f"Only operators of this server can open '{known.title}'. Log in as one of those listed"
            " in DPMF_OPERATORS, or choose one of these."
        )
    st.warning(safe_text.escape(words))
    with st.container(horizontal=True, gap="xsmall"):
        for other in page_table.SECTIONS.values():
            st.page_link(
                streamlit_pages[other.id], label=other.title, icon=other.material_icon
            )


def _draw(page: page_table.Page) -> None:
    if page.data_kind is not None:
        unused = list(page.unused)
        source = st.session_state.get(
            "accountant.source", st.query_params.get("from", "hand")
        )
        if page.id == "ledger" and source == "hand":
            unused.append("epsilon")
        sidebar.draw(page.data_kind, unused)
    if page.section != page_table.HOME:
        section = page_table.SECTIONS[page.section].title
        # a section may be named as its view
        names = dict.fromkeys((page.title, section, PRODUCT))
        st.set_page_config(page_title=" · ".join(names))
    if lesson_link is None:
        _draw_unknown(page)
        _draw_views(page)
        if room.was_refused() and page.id not in room.PAGES:
            room.draw()
    lesson_heading.draw()
    with following():
        words = data_sets.why_unsuited(page)
        if words:
            st.title(page.title, anchor=False)
            st.warning(safe_text.escape(words))
        else:
            streamlit_pages[page.section].run()
    if page.data_kind is not None and page.has_dial:
        sidebar.draw_bar(page.unused)
    _freeze_startup_objects()
    if lesson_link is None and page.in_lessons and page.id != "lessons":
        if page.data_kind is None:
            button = st.container()
        else:
            button = st.sidebar
        lesson_maker.draw(page, button)


if login_described() and not visitor.logged_in():
    st.title("What privacy costs", anchor=False)
    st.button("Log in", type="primary", on_click=st.login)
    st.stop()
who = visitor.asker()
room.take_code_from_address()
try:
    lesson_link = lesson.current(who.owner)
except BadInput as error:
    lesson_heading.draw_unread(error)
    st.stop()
streamlit_pages: dict[str, st.Page] = {}
st.session_state[links.DECLARED] = streamlit_pages
opened_page = _open(visible=lesson_link is None)
# a lesson shows only its page
if lesson_link is not None and opened_page.id != lesson_link.page:
    section = page_table.BY_ID[lesson_link.page].section
    st.switch_page(streamlit_pages[section], query_params=lesson.address())
sessions.note(opened_page.id)
free = settings().pages_without_lesson
is_free = free is None or not {opened_page.id, opened_page.section}.isdisjoint(free)
if not is_free and lesson_link is None and not who.operator:
    st.title("Open a lesson link", anchor=False)
    st.write(
        "On this server this page opens only with a lesson link or a room code. Ask your teacher"
        " for one."
    )
    room.draw()
    st.stop()
with asking(who), drawing.in_turn():
    _draw(opened_page)
