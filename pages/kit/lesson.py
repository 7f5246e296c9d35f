"""A teacher's link in use: what it fixes is enforced here, whatever the address says."""

from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.errors import BadInput
from dpmf_core.lesson_links import CONTROLS, LessonLink, keep, opened
from pages.kit import said, visitor
from pages.kit.said import plain

NAME = "class"  # of the parameter in the address


def active() -> LessonLink | None:
    """The lesson that this session was opened with; a session that has one keeps it."""
    state = st.session_state
    if "lesson.link" in state:
        if "lesson.id" in state:
            st.query_params[NAME] = state["lesson.id"]
        return state["lesson.link"]  # type: ignore[no-any-return]
    ident = st.query_params.get(NAME)
    if ident is None or "lesson.complaint" in state:
        return None
    try:
        state["lesson.link"], state["lesson.id"] = opened(ident), ident
    except BadInput as error:
        state["lesson.complaint"] = str(error)
        del st.query_params[NAME]
        return None
    st.query_params.from_dict({NAME: ident} | state["lesson.link"].query)
    return state["lesson.link"]  # type: ignore[no-any-return]


def fixed(name: str) -> str | None:
    """What the lesson fixes a control to, as the link says it; None where it is free. '' where it is fixed to its default."""
    link: LessonLink | None = st.session_state.get("lesson.link")
    return link.query.get(name, "") if link is not None and name in link.fixed else None


def given() -> dict[str, str]:
    """What the lesson's link says, by name; nothing without a lesson."""
    link: LessonLink | None = st.session_state.get("lesson.link")
    return dict(link.query) if link is not None else {}


def page_says() -> dict[str, str] | None:
    """The link, where the lesson fixes the page's own controls by it."""
    link: LessonLink | None = st.session_state.get("lesson.link")
    return dict(link.query) if link is not None and "page" in link.fixed else None


def hidden(name: str) -> bool:
    link: LessonLink | None = st.session_state.get("lesson.link")
    return link is not None and name in link.hidden


def heading() -> None:
    """Title and question, above the page; or why there is none."""
    if complaint := st.session_state.get("lesson.complaint"):
        st.warning(said.harmless(complaint))
    link: LessonLink | None = st.session_state.get("lesson.link")
    if link is not None and (link.title or link.question):
        st.info(f"**{plain(link.title) or 'Lesson'}**  \n{plain(link.question)}", icon=":material/school:")


def maker(page: str, place: DeltaGenerator) -> None:
    """For teachers: a link that fixes what is shown now."""
    with place.popover("Make a lesson link"):
        st.caption("Whoever opens it sees this page with the values of now; locked controls cannot be moved, hidden ones are not shown.")
        title = st.text_input("Title", key="lesson.title", max_chars=120)
        question = st.text_area("Question", key="lesson.question", max_chars=600)
        locked = st.multiselect("Locked", list(CONTROLS), ["data", "algo", "seed"], key="lesson.locked", format_func=CONTROLS.__getitem__)
        unseen = st.multiselect("Hidden", list(CONTROLS), key="lesson.hidden", format_func=CONTROLS.__getitem__)
        if st.button("Make it", key="lesson.make", type="primary"):
            try:
                link = LessonLink.parse(
                    page=page,
                    query=dict(st.query_params),
                    locked=tuple(locked),
                    hidden=tuple(unseen),
                    title=title,
                    question=question,
                    pinned=visitor.asker().operator,
                )
                base = (st.context.url or "").split("?")[0].rstrip("/")
                st.code(f"{base}?{urlencode({NAME: keep(link)})}", language=None, wrap_lines=True)
            except BadInput as error:
                said.error(error, "")
