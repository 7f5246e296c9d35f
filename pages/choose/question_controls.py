"""The question of Choose: whom to protect, what it may cost, ratings or lists.

Each part has one widget, on the answer's step, and a parameter in the address of every step.
"""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.formatting import delta_text
from dpmf_core.runs.tuning.choosing.private_finding import world_runs
from dpmf_core.runs.tuning.choosing.question import (
    FEW,
    LARGEST_GROUP,
    MANY,
    SINGLE_RATING,
    Goal,
    Protect,
    Question,
    QuestionRuns,
)
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape, WorldRuns
from pages.kit import sidebar
from pages.kit.base import data_sets, links, safe_text
from pages.kit.controls import sidebar_values
from pages.kit.controls.session_widgets import (
    PageValue,
    bind,
    number_within,
    one_of,
    optional_number,
    page_values,
    segments,
    within,
)

WHOM: dict[Protect, str] = {
    "person": "a person, with all their ratings",
    "group": "a group of people together",
}
WISHES = {"spend": "at most ε", "keep": "share I need", "reach": "error I accept"}
GOALS: dict[Goal, str] = {"ratings": "Ratings", "lists": "Lists of 20"}
SPEND = 0.01, 100.0  # the range of epsilon
SMALLEST_STEP = 1e-3  # of a rating scale
LARGEST_ERROR = 0.01, 1e9  # the range of the largest error that is allowed
FILE = "file"  # in the address: "own" if the question is about an uploaded file
BUTTON_KEY = "choose.pressed"  # in the session: whether all methods were asked for
INQUIRY = "choose.asked"  # in the session: the question asked
METHOD = "choose.method"  # in the session: a data set, and the method of the last answer about it
PARTS = page_values(
    "choose",
    {
        "protect": ("person", one_of(WHOM)),
        "group": (3, within(int, 2, LARGEST_GROUP)),
        "wish": ("spend", one_of(WISHES)),
        "keep": (80, within(int, 1, 100)),
        "found": (25, within(int, 1, 100)),
        "error": (0.9, within(float, *LARGEST_ERROR)),
        "goal": ("ratings", one_of(GOALS)),
        "budget_delta": (None, within(float, 1e-15, 0.49)),
        "draws": (None, one_of(("few", "many"))),
    },
)
EPSILON = PageValue(sidebar_values.EPSILON, "epsilon", 2.0)  # of all pages


@dataclass(frozen=True)
class Inquiry:
    """A question, its data set, and the public shape on which methods are tried.

    Attributes
    ----------
    entry
        The data set. Only public rows are used.
    """

    question: Question
    entry: Any
    shape: Shape

    def runs(self) -> QuestionRuns | WorldRuns:
        """The runs of a first answer. Raises BadInput if no method suits."""
        if self.question.is_private:
            return world_runs(self.question)
        return QuestionRuns(self.question, self.shape)

    def in_full(self, full: bool = True) -> "Inquiry":
        """The question for all methods with more draws, or as it is answered first."""
        full = full and not self.question.is_private
        changes = {"draws": MANY if full else FEW, "every": full}
        return replace(self, question=self.question.model_copy(update=changes))


def press(in_full: bool) -> None:
    """Ask the current question on the next rerun, including a number typed just before."""
    st.session_state[BUTTON_KEY] = in_full


# ---- session and address -------------------------------------------------------------------------


def prepare() -> None:
    """Set data set and question of the session or the link, before anything is drawn."""
    st.session_state[data_sets.KIND] = "ratings"
    sidebar_values.prepare()
    sidebar.show_complaints()
    sidebar_values.dial(EPSILON.first)
    for part in PARTS.values():
        part.start()


def address() -> dict[str, str | None]:
    """The parameters of the address.

    For a file of this session they name a synthetic data set of its shape, because no link may open
    the file.
    """
    entry = sidebar_values.chosen_entry()
    last: Inquiry | None = st.session_state.get(INQUIRY)
    draws = None
    if last is not None and last.entry.id == entry.id:
        draws = "many" if last.question.every else "few"
    st.session_state[PARTS["draws"].key] = draws
    texts = {part.name: part.text(part.value) for part in (*PARTS.values(), EPSILON)}
    texts |= {"dataset": data_sets.stand_in(entry).id, FILE: None}
    if datasets.is_own(entry.id) or is_file_missing():
        texts[FILE] = "own"
    return texts


def is_file_missing() -> bool:
    """Whether the address is about an uploaded file that this session does not have.

    The session then has the synthetic data set of its shape, which the address names.
    """
    entry = sidebar_values.chosen_entry()
    link = st.query_params
    is_named = link.get(FILE) == "own" and link.get("dataset") == entry.id
    return is_named and bool(entry.public)


def write_to_address() -> None:
    links.put_in_address(address())


def go(page: str) -> None:
    links.go(page, links.without_none(address()))


def inquiry() -> Inquiry | None:
    """The question as it stands; None before a person has said what it needs."""
    entry = sidebar_values.chosen_entry()
    data_id = entry.id
    if not entry.public:
        each = st.session_state.get(data_sets.each_key(entry))
        if each is None:
            return None
        step = st.session_state.get(data_sets.step_key(entry))
        shape = DeclaredShape(entry.n_users, entry.n_items, each, entry.bounds, step)
        data_id = shape.id
    wish = "spend"
    if entry.public:
        wish = PARTS["wish"].value
    group = 1
    if PARTS["protect"].value == "group":
        group = PARTS["group"].value
    question = Question.parse(
        data={"id": data_id},
        protect=PARTS["protect"].value,
        goal=PARTS["goal"].value,
        delta=PARTS["budget_delta"].value or default_delta(entry.n_users),
        group=group,
        **{wish: _limit(wish)},
    )
    return Inquiry(question, entry, entry.shape())


def _limit(wish: str) -> float:
    """The number that belongs to a wish; shares are percentages in their boxes."""
    if wish == "spend":
        return float(EPSILON.value)
    if wish == "keep":
        return float(PARTS["keep"].value / 100)
    if PARTS["goal"].value == "lists":
        return float(PARTS["found"].value / 100)
    return float(PARTS["error"].value)


def current(now: Inquiry | None) -> Inquiry | None:
    """The question asked last about these data, also by the link."""
    if now is None:
        return None
    last: Inquiry | None = st.session_state.get(INQUIRY)
    draws = PARTS["draws"].value
    if last is None and draws:
        last = now.in_full(draws == "many")
        st.session_state[INQUIRY] = last
    if last is None or last.entry.id != now.entry.id:
        return None
    return last


def answered_method(entry: Any) -> str:
    """The method of the last answer about a data set; '' if there is none."""
    data_id, method = st.session_state.get(METHOD, ("", ""))
    if data_id != entry.id:
        return ""
    return str(method)


# ---- widgets -------------------------------------------------------------------------------------


def draw() -> Inquiry | None:
    """Draw the question and return it; None before a person has said what it needs."""
    entry = sidebar_values.chosen_entry()
    _draw_data(entry)
    whom, cost, goal = st.columns([4, 4, 3], gap="medium")
    with whom:
        _draw_whom()
    with goal:
        segments(
            "3. Ratings or lists?", GOALS, PARTS["goal"].key, label_visibility="visible"
        )
        st.caption(
            "Ratings: the error of predictions. Lists: how many liked items are among the top 20."
        )
    with cost:
        _draw_cost(entry.public)
    with st.expander("More: δ"):
        _number(
            "δ",
            "budget_delta",
            1e-15,
            0.49,
            format="%.1e",
            placeholder=f"{delta_text(default_delta(entry.n_users))}, 1/(10 n)",
            width=300,
        )
    return inquiry()


def draw_unread(entry: Any, remedy: str) -> None:
    """Draw a warning if an uploaded file is not in use, with the entry of the data in use."""
    name = st.session_state.get(data_sets.UNREAD)
    if name:
        file = safe_text.escape_letters(name)
        title = safe_text.escape_letters(entry.title)
        st.warning(f"**{file} is not in use.** The next steps use {title}. {remedy}")


def draw_missing_file() -> None:
    st.warning(
        "**The uploaded file is gone.** This address is about a file that was uploaded in another"
        " session, or before the page was reloaded, which deletes the file. Upload it again under"
        " Data, or use synthetic data of the same shape; their answer may differ."
    )
    with st.container(horizontal=True):
        links.to("data", "Upload it again")
        links.to("choose", "Use synthetic data")


def _draw_data(entry: Any) -> None:
    draw_unread(
        entry, "To use the file, upload it again under Data and press “Check and use”."
    )
    low, high = entry.bounds
    words, button = st.columns([4, 1], vertical_alignment="center")
    description = (
        f"**{safe_text.escape_letters(entry.title)}**: {entry.n_users:,} people,"
        f" {entry.n_items:,} items, ratings from {low:g} to {high:g}."
    )
    if entry.public:
        description += " Public or synthetic: trying methods is free."
    words.markdown(description)
    with button:
        links.to("data", "Other data")
    if entry.public:
        return
    words.caption(
        "Your data are private, and every look at them costs privacy. So the method is tried on"
        " **simulated worlds of the same shape**, which give the least and the most that it may"
        " bring."
    )
    each, step = st.columns([3, 2])
    with each:
        draw_each(entry)
    optional_number(
        step.container(),
        "Step of the scale, if known",
        data_sets.step_key(entry),
        SMALLEST_STEP,
        entry.bounds[1] - entry.bounds[0],
        placeholder="such as 0.5",
    )


def draw_each(entry: Any) -> float | None:
    """Draw the box of ratings per person of private data; return the number, None without one."""
    each: float | None = st.number_input(
        "About how many ratings per person?",
        1,
        entry.n_items,
        None,
        key=data_sets.each_key(entry),
        persist_state="session",
        placeholder="Required",
        help="Please guess: counting your ratings would leak information. MovieLens 1M has 166 per"
        " person. If half and twice your guess give the same answer, the guess is good enough.",
    )
    return each


def _number(
    label: str, name: str, low: float, high: float | None, **options: Any
) -> None:
    """Draw the box of a part, with further arguments of `st.number_input`."""
    part = PARTS[name]
    st.number_input(
        label, low, high, **bind(part.key, emptiable=part.first is None), **options
    )


def _draw_whom() -> None:
    st.radio(
        "1. Whom must it protect?",
        WHOM,
        **bind(PARTS["protect"].key, WHOM),
        format_func=WHOM.__getitem__,
    )
    if PARTS["protect"].value == "group":
        _number("People in a group, at most", "group", 2, LARGEST_GROUP)
    st.caption(SINGLE_RATING)


def _draw_cost(public: bool) -> None:
    """Ask for a limit. On private data only an epsilon is one that can be kept."""
    label = "2. What may it cost? At most ε"
    if public:
        segments(
            "2. What may it cost?",
            WISHES,
            PARTS["wish"].key,
            label_visibility="visible",
        )
        label = "ε, at most"
    if not public or PARTS["wish"].value == "spend":
        number_within(
            st.container(),
            label,
            EPSILON.key,
            *SPEND,
            help="Smaller is more private; 1 is considered strong.",
        )
    elif PARTS["wish"].value == "keep":
        _number("Percent of what sharing is worth, at least", "keep", 1, 100, step=5)
    elif PARTS["goal"].value == "lists":
        _number("Percent of liked items found, at least", "found", 1, 100)
    else:
        label = "RMSE of predictions, at most"
        number_within(st.container(), label, PARTS["error"].key, *LARGEST_ERROR)
