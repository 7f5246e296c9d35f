"""The questions of the Choose page: data, whom it must protect, what it may cost, what for."""

from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.choosing.question import FEW, LARGEST_GROUP, MANY, Goal, Protect, Question
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import default_delta
from dpmf_datasets import session_files
from dpmf_datasets.simulated import twins
from pages.kit import data_sets, links, sidebar_values
from pages.kit.data_sets import session_key
from pages.kit.session_widgets import bind

WHOM: dict[Protect, str] = {
    "person": "a person, with everything she rated",
    "rating": "a single rating",
    "group": "a group of people together",
}
WISHES = {
    "spend": "at most ε",
    "keep": "gain I need",
    "reach": "error I accept",
}
GOALS: dict[Goal, str] = {"ratings": "Ratings", "lists": "Lists of 20"}
EACH = 20  # ratings of a person, where nothing is declared


@dataclass(frozen=True)
class Inquiry:
    """A question, the data set that it is about, and the public shape of what methods are tried on.

    entry: of the data set; its own rows are tried on only where it is public.
    """

    question: Question
    entry: Any
    shape: Shape

    @property
    def on_twin(self) -> bool:
        """Whether methods are tried on a simulated twin."""
        return bool(self.question.data.id != self.entry.id)

    @property
    def path(self) -> str:
        """How a command names the data."""
        own = datasets.is_own(self.entry.id)
        return session_files.command_path(self.entry.id) if own else str(self.entry.id)

    def in_full(self) -> "Inquiry":
        """The same question to all methods, over more draws."""
        return self._variant(draws=MANY, every=True)

    def first(self) -> "Inquiry":
        """The same question as it is answered first."""
        return self._variant(draws=FEW, every=False)

    def _variant(self, **changes: Any) -> "Inquiry":
        return replace(self, question=self.question.model_copy(update=changes))


def prepare() -> None:
    """Before anything is drawn: the data set of the session or of the link is known."""
    st.session_state[data_sets.KIND] = "ratings"
    sidebar_values.prepare()


def draw() -> Inquiry:
    """The questions, and what they say now. Raises BadInput."""
    entry = _data_set()
    whom, cost, goal = st.columns([4, 4, 3], gap="medium")
    with whom:
        protect, group = _whom()
    with goal:
        goal_name = cast(Goal, _segments("3. Ratings or lists?", GOALS, "choose.goal"))
        st.caption(
            "Ratings: how far predictions are off. Lists: how many liked items are among 20 that"
            " are shown."
        )
    with cost:
        wish = _wish(goal_name)
    with st.expander("More: rare items, the worst served, δ"):
        further = _further(entry)
    data_id = entry.id if entry.public else _twin(entry)
    question = Question.parse(
        data={"id": data_id},
        protect=protect,
        group=group,
        goal=goal_name,
        seed=0,
        **wish,
        **further,
    )
    data_set: Any = datasets.entry_of(data_id) if data_id != entry.id else entry
    return Inquiry(question, entry, Shape(data_set.n_users, data_set.n_items, data_set.bounds))


def _data_set() -> Any:
    titles, usable = {it.id: it.title for it in data_sets.entries()}, data_sets.usable()
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    left.selectbox(
        "Your data",
        usable,
        **bind(session_key("data"), usable),
        format_func=titles.__getitem__,
    )
    with right:
        links.to("data", "Bring a file", {})
    entry = sidebar_values.chosen_entry()
    low, high = entry.bounds
    shape = f"{entry.n_users:,} people, {entry.n_items:,} items, ratings from {low:g} to {high:g}."
    if entry.public:
        st.caption(f"{shape} Public or simulated: methods are tried on the data themselves, free.")
        return entry
    st.number_input(
        f"About how many ratings does a person give? ({shape})",
        1,
        entry.n_items,
        min(EACH, max(1, entry.n_items // 4)),
        key=f"choose.each.{entry.id}",
        persist_state="session",
    )
    st.caption(
        "Private: methods are tried on **a simulated twin** with as many people, items and ratings"
        " as you say here. Your rows are not used, and choosing costs no ε. They are not counted"
        " either, for a count of private rows tells something about the people in them. Guess from"
        " what anybody knows of the service: there are 166 ratings a person in MovieLens 1M and 209"
        " in the Netflix Prize, which are eager raters. Then try half of it and twice as much: if"
        " the same method is recommended, the guess is good enough."
    )
    return entry


def _twin(entry: Any) -> str:
    each = st.session_state.get(f"choose.each.{entry.id}") or EACH
    return twins.twin_id(entry.n_users, entry.n_items, each / entry.n_items, entry.bounds)


def _segments(label: str, options: dict[Any, str], key: str) -> str:
    return str(
        st.segmented_control(
            label,
            list(options),
            default=next(iter(options)),
            required=True,
            key=key,
            persist_state="session",
            format_func=options.__getitem__,
        )
    )


def _whom() -> tuple[Protect, int]:
    protect = st.radio(
        "1. Whom must it protect?",
        list(WHOM),
        key="choose.whom",
        persist_state="session",
        format_func=WHOM.__getitem__,
    )
    if protect == "group":
        size = st.number_input(
            "People of a group, at most",
            2,
            LARGEST_GROUP,
            3,
            key="choose.group",
            persist_state="session",
        )
        return "group", int(size or 2)
    if protect == "rating":
        st.caption(
            "Nothing here is proved for a rating alone. What hides that a person's whole row was"
            " replaced hides each of her ratings, and is asked for."
        )
    return protect, 1


def _wish(goal: str) -> dict[str, float]:
    wish = _segments("2. What may it cost?", WISHES, "choose.wish")
    if wish == "spend":
        value = st.number_input(
            "ε, at most",
            0.01,
            100.0,
            2.0,
            format="%g",
            key="choose.spend",
            persist_state="session",
            help="Smaller is more private; 1 counts as strong.",
        )
        return {"spend": value or 2.0}
    if wish == "keep":
        percent = st.number_input(
            "Percent of the gain over guessing, at least",
            1,
            100,
            80,
            5,
            key="choose.keep",
            persist_state="session",
        )
        return {"keep": (percent or 80) / 100}
    if goal == "lists":
        percent = st.number_input(
            "Percent of liked items found, at least",
            1,
            100,
            25,
            key="choose.found",
            persist_state="session",
        )
        return {"reach": (percent or 25) / 100}
    error = st.number_input(
        "Predictions off by, at most (RMSE)",
        0.01,
        None,
        0.9,
        0.01,
        key="choose.error",
        persist_state="session",
    )
    return {"reach": error or 0.9}


def _further(entry: Any) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    rare = left.number_input(
        "Percent of what is found of rare items that must be kept",
        1,
        100,
        None,
        key="choose.rare",
        persist_state="session",
        placeholder="no such condition",
        help="Of Recall@20 of the half of the items with the fewest ratings.",
    )
    worst = middle.number_input(
        "What the worst quarter of people or items may lose (RMSE)",
        0.001,
        None,
        None,
        0.01,
        key="choose.worst",
        persist_state="session",
        placeholder="no such condition",
        format="%g",
    )
    delta = right.number_input(
        "δ",
        1e-15,
        0.49,
        default_delta(entry.n_users),
        format="%.1e",
        key=f"choose.delta.{entry.n_users}",
        persist_state="session",
    )
    return {
        "rare": rare / 100 if rare else None,
        "worst": worst,
        "delta": delta,
    }
