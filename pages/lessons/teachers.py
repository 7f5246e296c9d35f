"""For teachers: a sequence of lessons and pages, its links, a handout, and a check of codes."""

import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.serving.lesson_links import LessonLink, LessonSequence
from dpmf_core.teaching import handout
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import lesson_maker, safe_text
from pages.kit.page_table import BY_ID
from pages.kit.safe_text import escape_letters
from pages.lessons import codes


def draw() -> None:
    st.title("For teachers", anchor=False)
    st.write(
        "Put lessons and pages of the app in an order, and give your class one link. It holds"
        " everything itself, signed, so that nothing in it can be changed."
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_sequence()
    with right:
        _draw_handout()
        st.header("Check codes", anchor=False)
        codes.draw()


def _draw_sequence() -> None:
    st.header("A sequence", anchor=False)
    names = st.multiselect(
        "Lessons to add, in this order",
        list(LESSONS),
        key="teach.lessons",
        format_func=lambda name: LESSONS[name].title,
        placeholder="Choose lessons",
    )
    st.button(
        "Add lessons",
        key="teach.add",
        on_click=_add_lessons,
        args=(names,),
        disabled=not names,
    )
    st.caption(
        "Any other page is added on that page, by “Make a lesson link”, with its values of now."
    )
    pages = lesson_maker.pages()
    if not pages:
        return
    for place, link in enumerate(pages):
        _draw_page(place, link)
    _draw_making(pages)


def _add_lessons(names: list[str]) -> None:
    for name in names:
        link = LessonLink.parse(page="lessons", query={"lesson": name}, locked=("page",))
        lesson_maker.pages().append(link)
    st.session_state["teach.lessons"] = []


def _draw_page(place: int, link: LessonLink) -> None:
    """One page of the sequence, and buttons that move it."""
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"{place + 1}\\. {escape_letters(name_of(link))}", width="stretch")
        for name, icon, change in (
            ("Earlier", "arrow_upward", -1),
            ("Later", "arrow_downward", 1),
            ("Remove", "delete", 0),
        ):
            st.button(
                "",
                icon=f":material/{icon}:",
                help=name,
                key=f"teach.{icon}.{place}",
                on_click=_move,
                args=(place, change),
            )


def name_of(link: LessonLink) -> str:
    """A page of a sequence in words."""
    course_lesson = LESSONS.get(link.query.get("lesson", "")) if link.page == "lessons" else None
    title = link.title or (course_lesson.title if course_lesson else "")
    where = BY_ID[link.page].title if link.page in BY_ID else link.page
    return f"{where}: {title}" if title else where


def _move(place: int, change: int) -> None:
    pages = lesson_maker.pages()
    if not place < len(pages):
        return
    link = pages.pop(place)
    if change:
        pages.insert(max(0, place + change), link)


def _draw_making(pages: list[LessonLink]) -> None:
    title = st.text_input("Title of the sequence", key="teach.title", max_chars=120)
    gathers = st.toggle("Gather answers for a class view", True, key="teach.gathers")
    if st.button("Make the links", key="teach.make", type="primary"):
        try:
            lesson_maker.show_links(
                LessonSequence.parse(steps=tuple(pages), title=title, gathers=gathers)
            )
        except BadInput as error:
            safe_text.error(error, "")


def _draw_handout() -> None:
    st.header("Handout", anchor=False)
    names = [
        link.query["lesson"]
        for link in lesson_maker.pages()
        if link.page == "lessons" and link.query.get("lesson") in LESSONS
    ]
    with_answers = st.toggle("With the answers", False, key="teach.solved")
    lessons = [LESSONS[name] for name in names] or list(LESSONS.values())
    st.download_button(
        "Download the handout (HTML, to print)",
        lambda: handout.handout_page(lessons, with_answers),
        "dpmf-handout.html",
        "text/html",
        key="teach.handout",
    )
    st.caption(f"{len(lessons)} lessons: those of the sequence, or all where it has none.")
