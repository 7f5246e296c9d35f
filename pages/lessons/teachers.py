"""For teachers: a sequence of pages with its links, a handout, code checks and the class view.

The address holds the sequence, so a reload loses nothing.
"""

from collections import Counter
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import class_records, completion
from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
    sequence_of,
)
from dpmf_core.teaching.lessons import ANSWER, LESSONS, Lesson, handout, question_only
from dpmf_core.teaching.signing import ForgedToken
from pages.kit import charts, colours, lesson_maker, links, safe_text
from pages.kit.lesson_heading import steps_of
from pages.kit.page_table import BY_ID
from pages.kit.safe_text import escape_letters
from pages.kit.session_widgets import bind
from pages.lessons import private_question

NAME = "teach"  # parameter of the class view in the address
SEQUENCE = "sequence"  # parameter that holds the unfinished sequence
EVERY = 5.0  # seconds between looks at the class
MOST_CODES = 500


def draw() -> None:
    st.title("For teachers", anchor=False)
    st.write(
        "Put lessons and pages of the app in an order, and give your class one link. Students"
        " cannot alter it."
    )
    _restore(st.query_params.get(SEQUENCE))
    left, right = st.columns([3, 2], gap="large")
    with left:
        sequence = _draw_sequence()
    with right:
        _draw_handout(sequence.title if sequence is not None else "")
        st.header("Check codes", anchor=False)
        _draw_codes({sequence.id: _title(sequence)} if sequence is not None else {})


def _restore(token: str | None) -> None:
    """Take the sequence from the address if the session has none; raise BadInput."""
    if token is None or lesson_maker.pages():
        return
    sequence = sequence_of(token, TEACHER)
    lesson_maker.pages().extend(sequence.steps)
    lesson_maker.keep_class(sequence)
    st.session_state["teach.title"] = sequence.title
    st.session_state["teach.gathers"] = sequence.gathers


def _title(sequence: LessonSequence) -> str:
    return sequence.title or "this sequence"


# ---- a sequence ----------------------------------------------------------------------------------


def _draw_sequence() -> LessonSequence | None:
    """Draw the sequence and its links; return None while it has no page."""
    st.header("A sequence", anchor=False)
    names = st.multiselect(
        "Lessons to add, in this order",
        list(LESSONS),
        key="teach.lessons",
        format_func=lambda name: LESSONS[name].title,
        placeholder="Choose lessons",
    )
    add: dict[str, Any] = {
        "key": "teach.add",
        "on_click": _add_lessons,
        "args": (names,),
        "disabled": not names,
    }
    st.button("Add lessons", **add)
    st.caption(
        "To add any other page, or a private question, open a page and press “Make a lesson link”"
        " there."
    )
    pages = lesson_maker.pages()
    if not pages:
        links.put_in_address({SEQUENCE: None})
        return None
    for place, link in enumerate(pages):
        _draw_page(place, link)
    st.session_state.setdefault("teach.title", "")
    st.session_state.setdefault("teach.gathers", True)
    title = st.text_input("Title of the sequence", **bind("teach.title"), max_chars=120)
    gathers = st.toggle("Collect answers for a class view", **bind("teach.gathers"))
    try:
        sequence = lesson_maker.class_of(pages, title, gathers)
        links.put_in_address({SEQUENCE: link_token(sequence, TEACHER)})
        lesson_maker.show_links(sequence)
    except BadInput as error:
        safe_text.error(error, "")
        return None
    if gathers:
        words = "Start another class"
        st.button(words, key="teach.another", on_click=lesson_maker.another_class, args=(pages,))
        st.caption("The links stay the same until the pages change, or you start another class.")
    return sequence


def _add_lessons(names: list[str]) -> None:
    for name in names:
        link = LessonLink.parse(page="lessons", query={"lesson": name}, locked=("page",))
        lesson_maker.pages().append(link)
    st.session_state["teach.lessons"] = []


def _draw_page(place: int, link: LessonLink) -> None:
    """Draw one page of the sequence with buttons that move it."""
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


def _move(place: int, change: int) -> None:
    pages = lesson_maker.pages()
    if place < len(pages):
        link = pages.pop(place)
        if change:
            pages.insert(max(0, place + change), link)


def lesson_of(link: LessonLink) -> Lesson | None:
    """Return the lesson on a page of a sequence, if any."""
    return LESSONS.get(link.query.get("lesson", "")) if link.page == "lessons" else None


def name_of(link: LessonLink) -> str:
    """Return the name of a page of a sequence."""
    course_lesson = lesson_of(link)
    title = link.title or (course_lesson.title if course_lesson else "")
    where = BY_ID[link.page].title if link.page in BY_ID else link.page
    return f"{where}: {title}" if title else where


def _draw_handout(title: str) -> None:
    st.header("Handout", anchor=False)
    with_answers = st.toggle("With the answers", False, key="teach.solved")
    lessons = [it for link in lesson_maker.pages() if (it := _to_print(link))]
    lessons = lessons or list(LESSONS.values())
    st.download_button(
        "Download the handout (HTML, to print)",
        handout(lessons, with_answers, title),
        "dpmf-handout.html",
        "text/html",
        key="teach.handout",
    )
    words = "the lessons and questions of the sequence" if lesson_maker.pages() else "all lessons"
    st.caption(f"{len(lessons)} sections: {words}.")


def _to_print(link: LessonLink) -> Lesson | None:
    """Return a page's lesson or question for the handout; None if it has neither."""
    if course_lesson := lesson_of(link):
        return course_lesson
    return question_only(name_of(link), link.question) if link.question else None


# ---- codes ---------------------------------------------------------------------------------------


def _draw_codes(sequences: dict[str, str]) -> None:
    """Draw the check of codes. sequences: titles of classes by id."""
    text = st.text_area(
        "Codes, one per line", key="teach.codes", max_chars=100_000, placeholder="AEAB2..."
    )
    lines = [it.strip() for it in text.splitlines() if it.strip()][:MOST_CODES]
    if not lines:
        st.caption("A code shows the lesson, the date and the score, not the student's name.")
        return
    rows, valid = check_codes(lines, sequences)
    st.markdown(f"**{valid} of {len(lines)} codes are valid.**")
    safe_text.words_table(pd.DataFrame(rows))


def check_codes(lines: list[str], sequences: dict[str, str]) -> tuple[list[dict[str, str]], int]:
    """Return a row for each code, and the number of valid ones. A repeated code is not valid."""
    titles = {name: it.title for name, it in LESSONS.items()} | sequences
    marks = {completion.mark(name): title for name, title in titles.items()}
    rows, earlier = [], set()
    for line in lines:
        row = dict.fromkeys(("code", "check", "finished", "day", "predicted correctly"), "")
        row |= {"code": f"{line[:8]} ...", "check": "not valid"}
        rows.append(row)
        try:
            code = completion.read(line)
        except ForgedToken:
            continue
        row["check"] = "handed in twice" if code in earlier else "valid"
        row["finished"] = marks.get(code.what, "a sequence that is not open here")
        row["day"] = code.day.isoformat()
        row["predicted correctly"] = f"{code.right} of {code.n_questions}"
        earlier.add(code)
    return rows, len(earlier)


# ---- the class view ------------------------------------------------------------------------------


def draw_class(token: str) -> None:
    """Draw how many sessions reached each step and what they answered; raise BadInput."""
    sequence = sequence_of(token, TEACHER)
    st.title(escape_letters(sequence.title) or "Your class", anchor=False)
    st.fragment(_draw_class, run_every=EVERY)(sequence)
    with st.expander("QR code: join this class"):
        links.draw_qr_code(lesson_maker.address(link_token(sequence)))
    with st.expander("Check codes"):
        _draw_codes({sequence.id: _title(sequence)})


def _draw_class(sequence: LessonSequence) -> None:
    all_answers = class_records.class_answers(sequence.id)
    finished_count = sum("finished" in step for answers in all_answers for step in answers)
    with st.container(horizontal=True):
        st.metric("sessions", len(all_answers))
        if len(sequence.steps) > 1:
            st.metric("finished", finished_count)
    st.caption("Updated every few seconds. No names; answers are not linked to each other.")
    table = steps_table(sequence, all_answers)
    count = max(1, len(all_answers))
    fig = charts.figure("sessions", "", height=80 + 30 * len(table))
    fig.add_bar(
        x=table["sessions"],
        y=table["step"],
        orientation="h",
        text=table["sessions"],
        textposition="auto",
        marker_color=colours.of("dpals"),
    )
    fig.update_yaxes(autorange="reversed", type="category")
    fig.update_xaxes(range=[0, count], dtick=max(1, count // 5))
    alt = "How many sessions have reached each step."
    charts.show(fig, "teach.reached", alt, table, leaves=True)
    for place, link in enumerate(sequence.steps):
        _draw_answers(sequence.id, place, link, all_answers)


def steps_table(sequence: LessonSequence, all_answers: list[class_records.Answers]) -> pd.DataFrame:
    """Return step, sessions: how many sessions opened each page and did each step."""
    rows = []
    for place, link in enumerate(sequence.steps):
        course_lesson = lesson_of(link)
        names = {it.id: it.heading for it in course_lesson.parts} if course_lesson else {}
        names |= {"opened": name_of(link), ANSWER: "answered"}
        for step in ("opened", *steps_of(link)):
            count = sum(f"{place}.{step}" in answers for answers in all_answers)
            rows.append({"step": f"{place + 1}. {names[step]}", "sessions": count})
    return pd.DataFrame(rows)


def _draw_answers(
    sequence_id: str, place: int, link: LessonLink, all_answers: list[class_records.Answers]
) -> None:
    """Draw the predictions and answers of one page."""
    course_lesson = lesson_of(link)
    question = course_lesson.own_words if course_lesson else escape_letters(link.question)
    if link.choices:
        private_question.draw(sequence_id, place, link, all_answers)
        return
    if not question:
        return
    with st.expander(f"{place + 1}. {escape_letters(name_of(link))}", expanded=True):
        for part in course_lesson.parts if course_lesson else ():
            counter = Counter(answers.get(f"{place}.{part.id}") for answers in all_answers)
            st.markdown(f"**{part.question}**")
            rows = [
                (f"{answer} (right)" if number == part.right else answer, counter[str(number)])
                for number, answer in enumerate(part.answers)
            ]
            safe_text.words_table(pd.DataFrame(rows, columns=["answer", "sessions"]))
        st.markdown(f"**{question}**")
        texts = [it[key] for it in all_answers if (key := f"{place}.{ANSWER}") in it]
        for text in sorted(texts):  # in alphabetical order, which does not reveal senders
            st.markdown(f"- {escape_letters(' '.join(text.split()))}")
