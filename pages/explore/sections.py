"""What stands under the first view of Explore, each section with a link of its own."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from dpmf_core.privacy import Event
from dpmf_core.runs.comparison import VARIANTS, Comparison, same_draws, split_name
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import answer, needed_epsilon
from dpmf_core.runs.recommendations import Suggestion, recommend, someone, top_rated
from dpmf_core.runs.record import Run
from pages.explore.story import CACHE_SIZE, LIST_LENGTH, PERSON, USER
from pages.kit import (
    comparison,
    lesson,
    links,
    privacy_card,
    questions,
    safe_text,
)
from pages.kit.comparison import median, weak_twin
from pages.kit.runs import goes_on
from pages.kit.session_widgets import bind
from pages.kit.sidebar_values import Choice

EVERY = "explore.every"
COMPARED = ("main", "twin", "trivial")
PARTS = {"test_rmse": "held-out", "train_rmse": "train"}
CONTENTS = (
    "Below: [one person's list](#list) · [error by step](#steps) · [other methods](#methods) ·"
    " [who pays](#who-pays) · [attacks](#attacks) · [take it away](#take-it-away)"
)


def better(selection: Comparison, runs: dict[str, Run], use: Callable[[str], None]) -> None:
    """Where another proven method does better at this epsilon: that, and a button that shows it.
    Nothing while runs go on: the best of those that have finished need not be the best.
    """
    better_method = None
    if not goes_on("explore"):
        better_method = comparison.better_method(runs, selection.runs, "rmse")
    if better_method is None:
        return
    who, sentence = better_method
    st.markdown(sentence)
    if who not in VARIANTS and lesson.fixed_value("algorithm") is None:
        show = f"Show {comparison.title(who, runs[who])}"
        st.button(show, key="explore.better", type="primary", on_click=use, args=(who,))


def run_in_full(selection: Comparison, runs: dict[str, Run]) -> None:
    """Error by step, and the methods at this epsilon."""
    if line := weak_twin(runs):
        st.warning(line)
    left, right = st.columns([3, 2], gap="large")
    guesses = same_draws(runs, "trivial")
    guess = "guessing the mean", median(guesses, 0) if guesses else None
    with left:
        comparison.draw_steps("explore", "Error by step", runs, PARTS, "rmse", guess)
    with right:
        comparison.draw_methods("explore", selection, runs, "rmse")
        if not selection.every or st.session_state.get(EVERY):
            st.toggle(
                "Every private method",
                key=EVERY,
                help="Trains all that there are with the same seeds; the slowest take a minute on"
                " large data.",
            )


# ---- which epsilon is enough ---------------------------------------------------------------------


def wanted_gain(
    choice: Choice, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]
) -> None:
    """title: of the method. grid: what is known of it. go_to: called with the epsilon that a
    person wants to see.
    """
    if len(grid.kept) > 1:  # one point alone answers for itself
        _wanted_gain(choice.epsilon, title, grid, go_to)


@st.fragment
def _wanted_gain(now: float, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]) -> None:
    """It answers without drawing the page again."""
    with questions.goal_row("explore.keep"):
        goal = questions.choose_goal("explore.keep", grid.metric, grid.twin, grid.trivial)
        line = grid.kept if goal.is_share else grid.measured
        value, detail = answer(line, goal)
        st.markdown(f"with {title}: **{value}**{detail}", width="content", help=questions.BETWEEN)
        needed = needed_epsilon(line, goal)
        if needed is None or lesson.fixed_value("epsilon") is not None:
            return
        there = needed.rounded
        if there != now and st.button("Show", key="explore.keep.go", on_click=go_to, args=(there,)):
            st.rerun()


# ---- who pays ------------------------------------------------------------------------------------


def who_pays(runs: dict[str, Run]) -> None:
    """Error in quarters of people and of items, private and not."""
    st.header("Who pays", anchor="who-pays")
    st.caption("Held-out RMSE in each quarter, the mean over draws. Computed on raw data.")
    draws: dict[str, list[Run]] = {}
    for name, run in runs.items():
        if split_name(name)[0] in COMPARED:
            draws.setdefault(run.record.title, []).append(run)
    if "main" in runs and "twin" in runs:
        titles = [runs[who].record.title for who in COMPARED[:2]]
        st.markdown(questions.payers_sentence(draws, *titles))
    questions.draw_payers("explore.pays", draws)


def attacks(plan: Event, delta: float) -> None:
    st.header("The best any attacker can do", anchor="attacks")
    privacy_card.meaning(plan, delta, "explore.meaning")


# ---- one person's list ---------------------------------------------------------------------------

Lists = tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]


def lists_of(run: Run, user: int) -> Lists:
    """What a run recommends to a person, and what they rated highest."""
    return _cached_lists(run.key, user, run) if run.record.public else _lists(run, user)


def _lists(run: Run, user: int) -> Lists:
    return recommend(run, user, LIST_LENGTH), top_rated(run, user)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_lists(key: str, user: int, _run: Run) -> Lists:
    return _lists(_run, user)


def lists(choice: Choice, runs: dict[str, Run]) -> None:
    """One person's recommendations in full, private beside non-private."""
    st.header("One person's list", anchor="list")
    key = f"{USER}{choice.dataset}"
    st.session_state.setdefault(key, someone(runs["main"]))
    user = st.number_input("Person", 0, choice.entry.n_users - 1, **bind(key, emptiable=True))
    is_shared = user is not None and choice.entry.public
    links.put_in_address({PERSON: str(user) if is_shared else None})
    if user is None:
        st.info("Give a person's number.")
        return
    (private, rated), (twin, _) = (lists_of(runs[name], user) for name in ("main", "twin"))
    shared = len({s.item for s in private} & {s.item for s in twin})
    st.write(
        f"**{shared} of {len(private)} recommendations stay the same with privacy** (✓). The"
        " person's ratings, at left, are private: this is their own view."
    )
    without = runs["twin"].record.title
    tables: dict[str, tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]] = {
        "Rated highest": (rated, ()),
        "Private": (private, twin),
        f"Without privacy ({without})": (twin, private),
    }
    for column, (title, (items, other)) in zip(st.columns(3), tables.items(), strict=True):
        with column:
            _table(title, items, other)


def _table(title: str, items: tuple[Suggestion, ...], other: tuple[Suggestion, ...]) -> None:
    both = {suggestion.item for suggestion in other}
    st.subheader(title, anchor=False)
    rows = [
        {
            "item": f"✓ {s.title}" if s.item in both else s.title,
            "rating": f"{s.rating:.1f}",
        }
        for s in items
    ]
    safe_text.words_table(pd.DataFrame(rows))
