"""A teacher's link in use: its fixed values win over the address, and answers are kept.

The server keeps each session's steps and answers under the session's seat, with or without a link.
"""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import class_records
from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence, sequence_of
from pages.kit.base import links
from pages.kit.base.page_table import BY_ID, page_meant, view_meant

# parameters in the address
NAME = "class"
SEAT = "seat"
PLACE = "at"
# in the address: the teacher looks at the class as a student, who counts from the first answer on
PREVIEW = "preview"
# in the session: why the server does not have the last answers
UNSENT = "lesson.unsent"
# prefixes of the session's keys that survive a change of the lesson's page
STAYS = ("lesson.", "visitor.", "data.", "runs.")


def current(owner: str = "") -> LessonLink | None:
    """The current page of the session's lesson.

    Parameters
    ----------
    owner
        The visitor's name in the store.

    Raises
    ------
    BadInput
        If the server cannot open the answers of this seat.
    """
    state = st.session_state
    if "lesson.link" in state:
        if links.came_back() and (page := _place_in_address()) not in (None, place()):
            go(page)
        links.put_in_address({PREVIEW: None, **_own()})
        return opened()
    token = st.query_params.get(NAME)
    if token is None or "lesson.complaint" in state:
        return None
    try:
        sequence = sequence_of(token)
        steps = tuple(map(_check_page, sequence.steps))
    except BadInput as error:
        state["lesson.complaint"] = error.args[0]
        del st.query_params[NAME]
        return None
    _begin(sequence.model_copy(update={"steps": steps}), token, owner)
    return opened()


def opened() -> LessonLink | None:
    """The page of the lesson that this session has opened, if any."""
    link: LessonLink | None = st.session_state.get("lesson.link")
    return link


def _check_page(link: LessonLink) -> LessonLink:
    page = page_meant(link.page)
    if page is None or not page.in_lessons:
        raise BadInput(
            f"This lesson link leads to a page that does not exist here: '{link.page}'. You see the"
            " page without the lesson."
        )
    return link.model_copy(update={"page": view_meant(page, link.query).id})


def _begin(sequence: LessonSequence, token: str, owner: str) -> None:
    """Open the page in the address, otherwise the last page that this seat opened."""
    state = st.session_state
    last = len(sequence.steps) - 1
    _take_seat(
        sequence.id, sequence.id if sequence.gathers else class_records.NO_CLASS, owner
    )
    state["lesson.sequence"] = sequence
    state["lesson.token"] = token
    state["lesson.preview"] = PREVIEW in st.query_params and not any(
        state["lesson.answers"].values()
    )
    opened_pages = [
        step for step in range(last + 1) if f"{step}.opened" in state["lesson.answers"]
    ]
    page = _place_in_address()
    _open(max(opened_pages, default=0) if page is None else page)


def _place_in_address() -> int | None:
    """The page of the sequence in the address, from 0; None for none."""
    text = st.query_params.get(PLACE, "")[:4]
    steps = st.session_state["lesson.sequence"].steps
    if text.isdecimal() and 1 <= int(text) <= len(steps):
        return int(text) - 1
    return None


def take_own_seat(owner: str) -> None:
    """Take the seat of a learner without a teacher's link, once. Raises BadInput as `current`."""
    if "lesson.seat" not in st.session_state:
        _take_seat(class_records.NO_CLASS, class_records.NO_CLASS, owner)


def _take_seat(course: str, class_id: str, owner: str) -> None:
    """Take the seat of the login or of the address with its answers, otherwise a new seat."""
    state = st.session_state
    by_login = state["lesson.by_login"] = owner.startswith("login:")
    seat = st.query_params.get(SEAT, "")
    if by_login:
        seat = class_records.seat_of_login(course, owner)
    if seat:
        answers = class_records.answers_of(class_id, seat)
    else:
        answers = None
    if by_login or answers is not None:
        state["lesson.seat"] = seat
    else:
        state["lesson.seat"] = class_records.new_seat()
    state["lesson.answers"] = answers or {}


def seat() -> str | None:
    """The session's seat for the address once there are answers to keep."""
    if not st.session_state.get("lesson.answers"):
        return None
    own_seat: str = st.session_state["lesson.seat"]
    return own_seat


def _open(place: int) -> None:
    state = st.session_state
    sequence: LessonSequence = state["lesson.sequence"]
    state["lesson.place"] = place
    state["lesson.link"] = sequence.steps[place]
    st.query_params.from_dict(address())
    note("opened", "")


def go(place: int) -> None:
    """Open another page of the sequence and forget the settings of this one."""
    forget_settings()
    _open(place)


def forget_settings() -> None:
    """Forget the settings of the current page, which the next one would take over."""
    for key in list(st.session_state):
        name = str(key)
        # the browser may still report old widgets, so their numbers must continue
        if not name.startswith(STAYS) and not name.endswith(".turns"):
            del st.session_state[key]


def address() -> dict[str, str]:
    """The address parameters of the current page of the lesson."""
    state = st.session_state
    link: LessonLink = state["lesson.link"]
    return _own() | BY_ID[link.page].query | link.query


def _own() -> dict[str, str]:
    """The address parameters of a teacher's link: link, seat, page, preview."""
    state = st.session_state
    if "lesson.token" not in state:
        return {}
    own = {
        NAME: state["lesson.token"],
        SEAT: state["lesson.seat"],
        PLACE: str(state["lesson.place"] + 1),
    }
    if is_preview():
        return own | {PREVIEW: "1"}
    return own


def fixed_value(name: str) -> str | None:
    """The text to which the lesson fixes a control; '' for its default, None if free."""
    link = opened()
    if link is not None and name in link.fixed:
        return link.query.get(name, "")
    return None


def link_values() -> dict[str, str]:
    link = opened()
    if link is None:
        return {}
    return link.query


def page_values() -> dict[str, str] | None:
    """The link's values if the lesson fixes the page's own controls."""
    link = opened()
    if link is None or "page" not in link.fixed:
        return None
    return link.query


def is_hidden(name: str) -> bool:
    link = opened()
    return link is not None and name in link.hidden


def sequence() -> LessonSequence | None:
    teacher_link: LessonSequence | None = st.session_state.get("lesson.sequence")
    return teacher_link


def is_preview() -> bool:
    """Whether a teacher looks at the class as a student and has answered nothing yet."""
    return bool(st.session_state.get("lesson.preview"))


def place() -> int:
    """The current page of the sequence, from 0."""
    return int(st.session_state.get("lesson.place", 0))


def answers(of: str = "") -> dict[str, str]:
    """The answers by step, of this page of the sequence or of the lesson `of`."""
    answer_texts: dict[str, str] = st.session_state.setdefault("lesson.answers", {})
    start = _start(of)
    return {
        step.removeprefix(start): text
        for step, text in answer_texts.items()
        if step.startswith(start)
    }


def note(step: str, text: str, of: str = "", *, again: bool = False) -> None:
    """Record a step with its answer, if any. The first answer stands.

    Parameters
    ----------
    step
        The name of the step.
    text
        The answer; '' without one.
    of
        The id of the lesson, if there is no teacher's link.
    again
        Whether the answer replaces an earlier one.
    """
    state = st.session_state
    answer_texts: dict[str, str] = state.setdefault("lesson.answers", {})
    name = _start(of) + step
    if name in answer_texts and not again:
        return
    answer_texts[name] = text
    if text:
        state["lesson.preview"] = False
    # only teachers see which pages were opened
    is_watched = _class_id() != class_records.NO_CLASS and not is_preview()
    if text or UNSENT in state or is_watched:
        send()


def send() -> None:
    """Send all answers to the server; if it cannot keep them, `UNSENT` says why until it can."""
    state = st.session_state
    try:
        class_records.record(
            _class_id(),
            state["lesson.seat"],
            state["lesson.answers"],
            state["lesson.by_login"],
        )
    except BadInput as error:
        state[UNSENT] = error.args[0]
        return
    state.pop(UNSENT, None)


def _class_id() -> str:
    teacher_link = sequence()
    if teacher_link is not None and teacher_link.gathers:
        return teacher_link.id
    return class_records.NO_CLASS


def _start(of: str) -> str:
    if sequence() is not None:
        return f"{place()}."
    return f"{of}."
