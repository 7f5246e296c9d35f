"""For teachers: a link to the current page, alone or in a sequence."""

from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlencode, urljoin

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import signing
from dpmf_core.teaching.lesson_links import (
    CONTROLS,
    MOST_STEPS,
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
)
from pages.kit.base import lesson, links, safe_text
from pages.kit.base.page_table import BY_ID, Page
from pages.kit.base.safe_text import escape_letters
from pages.kit.controls import sidebar_values

PAGES = "lesson.pages"  # in the session: the pages of the unfinished sequence
OPEN = "lesson.maker"  # in the session: the page with the open form
CLASSES = "lesson.classes"  # in the session: ids of classes by their pages
LAST_SEQUENCE = "lesson.made"  # in the session: the sequence made last
PRESSED_BUTTON = "lesson.pressed"  # in the session: the form's pressed button
ONLY_EPSILON = "only ε"
EVERYTHING = "everything"
NOTHING = "nothing"
AS_CHOSEN = "as I choose"
ANSWERS = {
    "in their own words": (),
    "yes or no, privately": ("yes", "no"),
    "1 to 5, privately": ("1", "2", "3", "4", "5"),
}
NOT_IN_LINK = {"runs": " It does not contain the ticked runs."}  # by page
MAY_CHANGE = (ONLY_EPSILON, EVERYTHING, NOTHING, AS_CHOSEN)


def draw(page: Page, button: DeltaGenerator) -> None:
    """Draw the button and its form. Call it after the page, when the address is complete."""
    button.button(
        "Make a lesson link",
        key="lesson.open",
        icon=":material/school:",
        on_click=st.session_state.update,
        args=({OPEN: page.id},),
    )
    if st.session_state.get(OPEN) == page.id:
        _draw_form(page)


def _close() -> None:
    st.session_state.pop(OPEN, None)
    st.session_state.pop(LAST_SEQUENCE, None)


@st.dialog("Make a lesson link", width="large", on_dismiss=_close)
def _draw_form(page: Page) -> None:
    if page.data_kind is not None and datasets.is_own(sidebar_values.value("dataset")):
        st.warning(
            "This page shows your own data, and a link cannot carry a file. Choose one of the"
            " server's data sets in the sidebar, then make the link. Your data stay where they are."
        )
        return
    st.caption(
        "The link opens this page with its current values. Locked controls cannot be changed;"
        f" hidden ones are not shown.{NOT_IN_LINK.get(page.id, '')}"
    )
    parse_link, gathers = _ask(page)
    with st.container(horizontal=True):
        for key, words in {
            "lesson.make": "Make it",
            "lesson.add": "Add to a sequence",
        }.items():
            # a callback survives a rerun that starts above the button
            st.button(
                words,
                key=key,
                on_click=st.session_state.update,
                args=({PRESSED_BUTTON: key},),
            )
    pressed = st.session_state.pop(PRESSED_BUTTON, None)
    try:
        link = parse_link()
        if pressed == "lesson.make":
            st.session_state[LAST_SEQUENCE] = class_of([link], "", gathers)
        elif pressed == "lesson.add":
            add(link)
        last: LessonSequence | None = st.session_state.get(LAST_SEQUENCE)
        if last is not None and (last.steps, last.gathers) == ((link,), gathers):
            show_links(last)  # while they match the form
    except BadInput as error:
        safe_text.error(error)
    if pages():
        count = safe_text.count_text(len(pages()), "page")
        links.to("teachers", f"The sequence has {count}: arrange it")


def _ask(page: Page) -> tuple[Callable[[], LessonLink], bool]:
    """Ask for the parts of a link; return what parses them, and whether answers are collected."""
    left, right = st.columns(2, gap="large")
    with left:
        title = st.text_input(
            "Title",
            key="lesson.title",
            max_chars=120,
            persist_state="session",
        )
        question = st.text_area(
            "Question",
            key="lesson.question",
            max_chars=600,
            persist_state="session",
        )
        answers = st.radio(
            "Students answer",
            ANSWERS,
            key="lesson.choices",
            horizontal=True,
            help="Yes/no and 1 to 5 stay private: class and teacher see counts with noise.",
        )
    with right:
        locked_controls, hidden_controls = _ask_locks(page)
        gathers = st.toggle(
            "Collect answers for a class view",
            True,
            key="lesson.gathers",
            persist_state="session",
        )
    parse_link = partial(
        LessonLink.parse,
        page=page.id,
        query=dict(st.query_params),
        locked=locked_controls,
        hidden=hidden_controls,
        title=title,
        question=question,
        choices=ANSWERS[answers] if question else (),
    )
    return parse_link, gathers


def _ask_locks(page: Page) -> tuple[tuple[str, ...], tuple[str, ...]]:
    has_epsilon = page.data_kind is not None and "epsilon" not in page.unused
    choices = [name for name in MAY_CHANGE if name != ONLY_EPSILON or has_epsilon]
    choice = st.radio(
        "What the class may change", choices, key="lesson.may_change", horizontal=True
    )
    if choice == AS_CHOSEN:
        selections = (
            st.multiselect(
                label, CONTROLS, first, format_func=CONTROLS.__getitem__, key=key
            )
            for label, key, first in (
                ("Locked", "lesson.locked", ["dataset", "algorithm", "seed"]),
                ("Hidden", "lesson.hidden", []),
            )
        )
        locked_controls, hidden_controls = map(tuple, selections)
        return locked_controls, hidden_controls
    if choice == EVERYTHING:
        return (), ()
    controls = tuple(
        control
        for control in CONTROLS
        if control != "epsilon" or choice != ONLY_EPSILON
    )
    out_of_sight = st.toggle("Hide what is locked", key="lesson.hide")
    if out_of_sight:
        return ((), controls)
    return (controls, ())


# ---- the unfinished sequence ---------------------------------------------------------------------


def pages() -> list[LessonLink]:
    steps: list[LessonLink] = st.session_state.setdefault(PAGES, [])
    return steps


def add(link: LessonLink) -> None:
    if len(pages()) >= MOST_STEPS:
        raise BadInput(f"A sequence has at most {MOST_STEPS} pages.")
    pages().append(link)
    if link.question:
        question = f" Its question: {escape_letters(link.question)}"
    else:
        question = ""
    st.success(f"Added as page {len(pages())}.{question}")


def differences(names: Sequence[str], steps: Sequence[LessonLink]) -> list[str]:
    """The words that tell each page of a sequence from the others of its name; '' for only one.

    Parameters
    ----------
    names
        The names of the pages.
    steps
        The pages.
    """
    texts = []
    for place, (name, link) in enumerate(zip(names, steps, strict=True)):
        alike = [
            step for step, other in zip(steps, names, strict=True) if other == name
        ]
        if len(alike) == 1:
            texts.append("")
            continue
        parameters = dict.fromkeys(key for one in alike for key in one.query)
        differing = [
            key for key in parameters if len({one.query.get(key) for one in alike}) > 1
        ]
        parts = [
            f"{CONTROLS.get(key, key)}: {link.query.get(key, 'default')}"
            for key in differing
        ]
        if len({one.choices for one in alike}) > 1:
            parts.append(f"answers: {', '.join(link.choices) or 'in their own words'}")
        if len({one.fixed for one in alike}) > 1:
            noun = "control" if len(link.fixed) == 1 else "controls"
            parts.append(f"{len(link.fixed) or 'no'} {noun} locked")
        first = steps.index(link)
        if first < place:
            parts.append(f"the same as page {first + 1}")
        texts.append("; ".join(parts))
    return texts


def class_of(steps: Sequence[LessonLink], title: str, gathers: bool) -> LessonSequence:
    """The sequence of these pages; equal pages are one class. Raise BadInput."""
    sequence = LessonSequence.parse(
        steps=tuple(steps),
        title=title,
        gathers=gathers,
    )
    return sequence.model_copy(
        update={"id": _classes().setdefault(_pages_key(steps), sequence.id)}
    )


def keep_class(sequence: LessonSequence) -> None:
    _classes()[_pages_key(sequence.steps)] = sequence.id


def another_class(steps: Sequence[LessonLink]) -> None:
    _classes().pop(_pages_key(steps), None)


def _classes() -> dict[str, str]:
    classes: dict[str, str] = st.session_state.setdefault(CLASSES, {})
    return classes


def _pages_key(steps: Sequence[LessonLink]) -> str:
    return "\n".join(link.model_dump_json() for link in steps)


def address(token: str, name: str = lesson.NAME, **more: str) -> str:
    base = (st.context.url or "").split("?")[0].rstrip("/")
    return f"{base}?{urlencode({name: token, **more})}"


def show_links(sequence: LessonSequence) -> None:
    """Draw the links of a sequence for the class, for a course site and for the teacher."""
    token = link_token(sequence)
    st.markdown("**For the class**")
    links.draw_to_copy(address(token))
    with st.expander("QR code"):
        links.draw_qr_code(address(token))
    st.link_button("Open as a student", address(token, **{lesson.PREVIEW: "1"}))
    if sequence.gathers:
        st.markdown("**For you alone: the class view**")
        path, _, query = address(link_token(sequence, TEACHER), "teach").partition("?")
        # the address of the class view, made from any page's address
        lessons = urljoin(path, BY_ID["lessons"].section)
        st.code(f"{lessons}?{query}", language=None, wrap_lines=True)
        st.link_button("Open the class view", f"{lessons}?{query}", type="primary")
        st.caption("It shows a room code of six letters, which opens the class too.")
    with st.expander("Embed in a course site"):
        whole = (
            address(token, embed="true").replace("&", "&amp;").replace('"', "&quot;")
        )
        frame = (
            f'<iframe src="{whole}" width="100%" height="800" title="dpmf"></iframe>'
        )
        st.code(frame, language="html", wrap_lines=True)
        st.caption(
            "The server's operator must first name the course site in DPMF_EMBED_IN."
        )
    if not signing.key_is_lasting():
        st.warning(escape_letters(signing.WARNING))
