"""For teachers: a sequence of lessons and pages, its links, a handout, and a check of codes."""

import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.language import LANGUAGES
from dpmf_core.serving.lesson_links import LessonLink, LessonSequence
from dpmf_core.teaching import handout
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import language, lesson_maker, safe_text
from pages.kit.language import say
from pages.kit.page_table import BY_ID
from pages.kit.safe_text import escape_letters
from pages.lessons import codes


def draw() -> None:
    st.title(say("For teachers"), anchor=False)
    st.write(
        say(
            "Put lessons and pages of the app in an order, and give your class one link. It holds"
            " everything itself, signed, so that nothing in it can be changed."
        )
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_sequence()
    with right:
        _draw_handout()
        st.header(say("Check codes"), anchor=False)
        codes.draw()


def _draw_sequence() -> None:
    st.header(say("A sequence"), anchor=False)
    names = st.multiselect(
        say("Lessons to add, in this order"),
        list(LESSONS),
        key="teach.lessons",
        format_func=lambda name: say(LESSONS[name].title),
        placeholder=say("Choose lessons"),
    )
    st.button(
        say("Add lessons"),
        key="teach.add",
        on_click=_add_lessons,
        args=(names,),
        disabled=not names,
    )
    st.caption(
        say(
            "Any other page is added on that page, by “Make a lesson link”, with its values of now."
        )
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
            (say("Earlier"), "arrow_upward", -1),
            (say("Later"), "arrow_downward", 1),
            (say("Remove"), "delete", 0),
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
    title = link.title or (say(course_lesson.title) if course_lesson else "")
    where = say(BY_ID[link.page].title) if link.page in BY_ID else link.page
    return f"{where}: {title}" if title else where


def _move(place: int, change: int) -> None:
    pages = lesson_maker.pages()
    if not place < len(pages):
        return
    link = pages.pop(place)
    if change:
        pages.insert(max(0, place + change), link)


def _draw_making(pages: list[LessonLink]) -> None:
    title = st.text_input(say("Title of the sequence"), key="teach.title", max_chars=120)
    code = st.selectbox(
        say("Language"),
        ["", *LANGUAGES],
        key="teach.language",
        format_func=lambda it: LANGUAGES.get(it) or say("that of the browser"),
    )
    gathers = st.toggle(say("Gather answers for a class view"), True, key="teach.gathers")
    if st.button(say("Make the links"), key="teach.make", type="primary"):
        try:
            lesson_maker.show_links(
                LessonSequence.parse(
                    steps=tuple(pages), title=title, language=code, gathers=gathers
                )
            )
        except BadInput as error:
            safe_text.error(error, "")


def _draw_handout() -> None:
    st.header(say("Handout"), anchor=False)
    names = [
        link.query["lesson"]
        for link in lesson_maker.pages()
        if link.page == "lessons" and link.query.get("lesson") in LESSONS
    ]
    with_answers = st.toggle(say("With the answers"), False, key="teach.solved")
    lessons = [LESSONS[name] for name in names] or list(LESSONS.values())
    st.download_button(
        say("Download the handout (HTML, to print)"),
        lambda: handout.handout_page(lessons, language.current(), with_answers),
        "dpmf-handout.html",
        "text/html",
        key="teach.handout",
    )
    st.caption(
        say("{count} lessons: those of the sequence, or all where it has none.", count=len(lessons))
    )
