"""What is this? Seven lessons of five minutes on the real app."""

import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.glossary import linked
from pages.kit import links, said
from pages.kit.teaching import LESSONS


def main() -> None:
    asked = st.query_params.get("lesson", "neighbours")
    st.session_state.setdefault("learn.lesson", asked if asked in LESSONS else "neighbours")
    names = list(LESSONS)
    titles = {name: f"{place + 1}. {lesson.title}" for place, (name, lesson) in enumerate(LESSONS.items())}
    chosen = st.selectbox("Lesson", names, key="learn.lesson", format_func=titles.__getitem__, persist_state="session")
    links.tell({"lesson": chosen})
    lesson = LESSONS[chosen]
    st.title(lesson.title, anchor=False)
    st.write(linked(lesson.idea))
    lesson.draw()
    st.header("A question", anchor=False)
    picked = st.radio(lesson.question, range(len(lesson.answers)), index=None, key=f"learn.answer.{chosen}", format_func=lambda place: lesson.answers[place])
    if picked is not None:
        (st.success if picked == lesson.right else st.warning)(f"{'Yes.' if picked == lesson.right else 'Not quite.'} {lesson.because}")
    place = names.index(chosen)
    if place + 1 < len(names):
        st.button(f"Next: {LESSONS[names[place + 1]].title}", key=f"learn.next.{chosen}", on_click=_go, args=(names[place + 1],))


def _go(name: str) -> None:
    st.session_state["learn.lesson"] = name


try:
    main()
except BadInput as error:
    said.error(error)
