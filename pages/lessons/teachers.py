"""For teachers: a sequence of pages with its links, a handout, and a check of codes.

The address holds the sequence, so a reload loses nothing.
"""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
    sequence_of,
)
from dpmf_core.teaching.lessons import LESSONS, Lesson, handout, question_only
from pages.kit.base import links, safe_text
from pages.kit.base.page_table import BY_ID
from pages.kit.base.safe_text import button_label, count_text, escape_letters
from pages.kit.controls.session_widgets import bind
from pages.kit.lessons import lesson_maker
from pages.lessons.codes import draw_codes

SEQUENCE = "sequence"  # parameter of the address that holds the unfinished sequence
MOVES = (
    ("Earlier", "Move {} earlier", "arrow_upward", -1),
    ("Later", "Move {} later", "arrow_downward", 1),
    ("Remove", "Remove {}", "delete", 0),
)


def draw() -> None:
    st.title("For teachers", anchor=False)
    st.write(
        "Put lessons and pages of the app in an order, and give your class one link, or the room"
        " code of its class view. Students cannot alter it."
    )
    _restore(st.query_params.get(SEQUENCE))
    left, right = st.columns([3, 2], gap="large")
    with left:
        sequence = _draw_sequence()
    with right:
        _draw_handout(sequence.title if sequence is not None else "")
        st.header("Check codes", anchor=False)
        draw_codes(sequence)


def _restore(token: str | None) -> None:
    """Take the sequence from the address if the session has none. Raises BadInput."""
    if token is None or lesson_maker.pages():
        return
    sequence = sequence_of(token, TEACHER)
    lesson_maker.pages().extend(sequence.steps)
    lesson_maker.keep_class(sequence)
    st.session_state["teach.title"] = sequence.title
    st.session_state["teach.gathers"] = sequence.gathers


def page_of(link: LessonLink) -> tuple[str, Lesson]:
    """The name of a page of a sequence, and its lesson: without parts on other pages."""
    if link.page == "lessons":
        taught = LESSONS.get(link.query.get("lesson", ""))
    else:
        taught = None
    title = link.title or (taught.title if taught else "")
    if link.page in BY_ID:
        where = BY_ID[link.page].title
    else:
        where = link.page
    name = f"{where}: {title}" if title else where
    return name, taught or question_only(name, link.question, link.choices)


# ---- a sequence ----------------------------------------------------------------------------------


def _draw_sequence() -> LessonSequence | None:
    """Draw the sequence and its links; return None while it has no page."""
    st.header("A sequence", anchor=False)
    names = st.multiselect(
        "Lessons to add, in this order",
        LESSONS,
        key="teach.lessons",
        format_func=lambda name: LESSONS[name].title,
        placeholder="Choose lessons",
    )
    rest = _not_in_sequence()
    with st.container(horizontal=True):
        st.button(
            "Add lessons",
            key="teach.add",
            on_click=_add_lessons,
            args=(names,),
            disabled=not names,
        )
        st.button(
            "Add the whole course",
            key="teach.add_course",
            on_click=_add_lessons,
            args=(rest,),
            disabled=not rest,
        )
    st.caption(
        "To add any other page, or a private question, open a page and press “Make a lesson link”"
        " there."
    )
    pages = lesson_maker.pages()
    if not pages:
        links.put_in_address({SEQUENCE: None})
        return None
    names = [page_of(link)[0] for link in pages]
    for place, differences in enumerate(lesson_maker.differences(names, pages)):
        _draw_page(place, names[place], pages[place].question, differences)
    st.session_state.setdefault("teach.title", "")
    st.session_state.setdefault("teach.gathers", True)
    title = st.text_input("Title of the sequence", **bind("teach.title"), max_chars=120)
    gathers = st.toggle("Collect answers for a class view", **bind("teach.gathers"))
    try:
        sequence = lesson_maker.class_of(pages, title, gathers)
        links.put_in_address({SEQUENCE: link_token(sequence, TEACHER)})
        lesson_maker.show_links(sequence)
    except BadInput as error:
        safe_text.error(error)
        return None
    if gathers:
        st.button(
            "Start another class",
            key="teach.another",
            on_click=lesson_maker.another_class,
            args=(pages,),
        )
        st.caption(
            "The links stay the same until the pages change, or you start another class."
        )
    return sequence


def _not_in_sequence() -> list[str]:
    """The lessons of the course that the sequence does not have, in their order."""
    names = {
        link.query.get("lesson")
        for link in lesson_maker.pages()
        if link.page == "lessons"
    }
    return [name for name in LESSONS if name not in names]


def _add_lessons(names: list[str]) -> None:
    for name in names:
        link = LessonLink.parse(
            page="lessons",
            query={"lesson": name},
            locked=("page",),
        )
        lesson_maker.pages().append(link)
    st.session_state["teach.lessons"] = []


def _draw_page(place: int, name: str, question: str, differences: str) -> None:
    """Draw one page of the sequence, with its differences from pages of the same name.

    Buttons move the page or remove it.
    """
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        border=True,
        wrap=False,
    ):
        lines = [f"{place + 1}\\. {escape_letters(name)}"]
        lines += [
            f":small[{escape_letters(text)}]"
            for text in (question, differences)
            if text
        ]
        st.markdown("  \n".join(lines), width="stretch")
        for tip, action, icon, change in MOVES:
            st.button(
                button_label("", action.format(f"page {place + 1}, {name}")),
                f"teach.{icon}.{place}",
                help=tip,
                icon=f":material/{icon}:",
                on_click=_move,
                args=(place, change),
            )


def _move(place: int, change: int) -> None:
    pages = lesson_maker.pages()
    if place < len(pages):
        link = pages.pop(place)
        if change:
            pages.insert(max(0, place + change), link)


def _draw_handout(title: str) -> None:
    st.header("Handout", anchor=False)
    with_answers = st.toggle("With the answers", False, key="teach.solved")
    lessons = [page for _, page in map(page_of, lesson_maker.pages()) if page.own_words]
    lessons = lessons or list(LESSONS.values())
    st.download_button(
        "Download the handout (HTML, to print)",
        handout(lessons, with_answers, title),
        "dpmf-handout.html",
        "text/html",
        key="teach.handout",
    )
    if lesson_maker.pages():
        words = "the lessons and questions of the sequence"
    else:
        words = "all lessons"
    st.caption(f"{count_text(len(lessons), 'section')}: {words}.")
