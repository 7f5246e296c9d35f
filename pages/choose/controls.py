"""The questions of the Choose page: data, whom it must protect, what it may cost, what for."""

from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import default_delta
from dpmf_core.tuning.choosing.question import FEW, LARGEST_GROUP, MANY, Goal, Protect, Question
from dpmf_datasets import session_files
from dpmf_datasets.simulated import twins
from pages.kit import data_sets, links, sidebar_values
from pages.kit.data_sets import session_key
from pages.kit.session_widgets import bind

WHOM: dict[Protect, str] = {
    "person": "a person, with all their ratings",
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
            "Ratings: how far predictions are off. Lists: how many liked items are among the 20"
            " shown."
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
        **bind(session_key("dataset"), usable),
        format_func=titles.__getitem__,
    )
    with right:
        links.to("data", "Bring a file", {})
    entry = sidebar_values.chosen_entry()
    low, high = entry.bounds
    shape = f"{entry.n_users:,} people, {entry.n_items:,} items, ratings from {low:g} to {high:g}."
    if entry.public:
        st.caption(f"{shape} Public or simulated: trying methods on the data costs no ε.")
        return entry
    label = f"About how many ratings does a person give? ({shape})"
    first = min(EACH, max(1, entry.n_items // 4))
    _number(label, 1, entry.n_items, first, f"each.{entry.id}")
    st.caption(
        "Private: methods are tried on **a simulated twin** with as many people, items and ratings"
        " as you give here. Your rows are not used, and choosing costs no ε. Your ratings are not"
        " counted either: a count of private rows reveals something about the people in them."
        " MovieLens 1M has 166 ratings per person and the Netflix Prize 209, both from eager"
        " raters. Try half and twice your guess: if the recommended method stays the same, the"
        " guess is good enough."
    )
    return entry


def _twin(entry: Any) -> str:
    each = st.session_state.get(f"choose.each.{entry.id}") or EACH
    return twins.twin_id(entry.n_users, entry.n_items, each / entry.n_items, entry.bounds)


KEEP: dict[str, Any] = {"persist_state": "session"}


def _segments(label: str, options: dict[Any, str], key: str) -> str:
    names = list(options)
    box = {"default": names[0], "required": True, "key": key, **KEEP}
    return str(st.segmented_control(label, names, format_func=options.__getitem__, **box))


def _number(
    label: str, low: float, high: float | None, first: float, key: str, **more: Any
) -> float:
    """A number, which is the first one while the box is empty."""
    value = st.number_input(label, low, high, first, key=f"choose.{key}", **KEEP, **more)
    return first if value is None else value


def _whom() -> tuple[Protect, int]:
    box = {"key": "choose.whom", **KEEP}
    label = "1. Whom must it protect?"
    protect = st.radio(label, list(WHOM), format_func=WHOM.__getitem__, **box)
    if protect == "group":
        return "group", int(_number("People in a group, at most", 2, LARGEST_GROUP, 3, "group"))
    if protect == "rating":
        st.caption(
            "No method here is proved for a single rating. Instead, the method hides whether a"
            " person's whole row was replaced, which hides each rating in it."
        )
    return protect, 1


def _wish(goal: str) -> dict[str, float]:
    wish = _segments("2. What may it cost?", WISHES, "choose.wish")
    if wish == "spend":
        text = "Smaller is more private; 1 counts as strong."
        epsilon = _number("ε, at most", 0.01, 100.0, 2.0, "spend", format="%g", help=text)
        return {"spend": epsilon}
    if wish == "keep":
        label = "Percent of the gain over guessing, at least"
        return {"keep": _number(label, 1, 100, 80, "keep", step=5) / 100}
    if goal == "lists":
        label = "Percent of liked items found, at least"
        return {"reach": _number(label, 1, 100, 25, "found") / 100}
    return {"reach": _number("RMSE of predictions, at most", 0.01, None, 0.9, "error", step=0.01)}


def _further(entry: Any) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    none: dict[str, Any] = {"value": None, "placeholder": "no such condition", **KEEP}
    rare = left.number_input(
        "Percent to keep of what is found of rare items",
        1,
        100,
        key="choose.rare",
        help="Recall@20 on the half of the items with the fewest ratings.",
        **none,
    )
    label = "Most that the worst quarter may lose (RMSE)"
    box = {"step": 0.01, "format": "%g", "key": "choose.worst", **none}
    worst = middle.number_input(label, 0.001, None, **box)
    first, key = default_delta(entry.n_users), f"choose.delta.{entry.n_users}"
    delta = right.number_input("δ", 1e-15, 0.49, first, format="%.1e", key=key, **KEEP)
    return {"rare": rare / 100 if rare else None, "worst": worst, "delta": delta}
