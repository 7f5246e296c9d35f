"""Sections of Explore below the first view."""

import statistics
from typing import Any

import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.comparison import VARIANTS, Comparison, same_draws, split_name
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import Goal, answer, needed_epsilon
from dpmf_core.runs.recommendations import someone, top_rated
from dpmf_core.runs.record import Run
from pages.explore.story import PERSON, start_person
from pages.kit import comparison, lesson, links, payers, safe_text
from pages.kit.comparison import median, weak_best_known
from pages.kit.runs import request_at
from pages.kit.session_widgets import bind
from pages.kit.sidebar_values import Choice, put

EVERY = "explore.every"
COMPARED = ("main", "best", "trivial")
PARTS = {"test_rmse": "held-out", "train_rmse": "train"}
N_RATED = 3  # highest ratings shown


def better(selection: Comparison, runs: dict[str, Run]) -> None:
    """Draw another proven method that is better at this epsilon, with a button that shows it.

    Nothing while runs go on: the best finished method may not be the best.
    """
    better_method = None
    if not request_at("explore").busy:
        better_method = comparison.better_method(runs, selection.runs, "rmse")
    if better_method is None:
        return
    who, sentence = better_method
    st.markdown(sentence)
    if who not in VARIANTS and lesson.fixed_value("algorithm") is None:
        show = f"Show {comparison.title(who, runs[who])}"
        args = "algorithm", who
        st.button(show, key="explore.better", type="primary", on_click=put, args=args)


def methods(selection: Comparison, runs: dict[str, Run]) -> None:
    if line := weak_best_known(runs):
        st.warning(line)
    comparison.draw_methods("explore", selection, runs, "rmse")
    if not selection.every or st.session_state.get(EVERY):
        text = "Trains all with the same seeds; the slowest take a minute on large data."
        st.toggle("Every private method", key=EVERY, help=text)


def steps(runs: dict[str, Run]) -> None:
    guesses = same_draws(runs, "trivial")
    guess = "guessing the mean", median(guesses, 0) if guesses else None
    comparison.draw_steps("explore", "Error by step", runs, PARTS, "rmse", guess)


USUAL = 80  # percent of the gain
BETWEEN = (
    "≈: interpolated along log ε between two measured points. 100% of the gain is the best known"
    " method without privacy, 0% is guessing the mean."
)


@st.fragment
def wanted_gain(now: float, title: str, grid: EpsilonGrid) -> None:
    """Answer which epsilon reaches a goal, without drawing the whole page again.

    now: the chosen epsilon. title: of the method.
    """
    look: dict[str, Any] = {"vertical_alignment": "center", "gap": "small"}
    with st.container(horizontal=True, key="explore.keep.row", **look):
        goal = _choose_goal(grid)
        line = grid.kept if goal.is_share else grid.measured
        value, detail = answer(line, goal)
        st.markdown(f"with {title}: **{value}**{detail}", width="content", help=BETWEEN)
        needed = needed_epsilon(line, goal)
        if needed is None or lesson.fixed_value("epsilon") is not None:
            return
        there = needed.rounded
        move: dict[str, Any] = {"on_click": put, "args": ("epsilon", there)}
        if there != now and st.button("Show", key="explore.keep.go", **move):
            st.rerun()


def _choose_goal(grid: EpsilonGrid) -> Goal:
    """Ask for a goal; the controls keep their values while their page is away."""
    key, kind, state = "explore.keep", METRICS[grid.metric], st.session_state
    names = {"share": "To keep, in percent of the gain", "value": f"To reach {kind.title}"}
    what = st.selectbox(
        "Goal",
        list(names),
        key=f"{key}.goal",
        persist_state="session",
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=270,
    )
    look: dict[str, Any] = {"label_visibility": "collapsed"}
    if what == "share":
        state.setdefault(key, USUAL)
        percent = st.number_input("Percent", 1, 100, step=5, **bind(key), **look, width=100)
        return Goal.share(percent / 100)
    guess, plain = statistics.median(grid.trivial), statistics.median(grid.best)
    key = f"{key}.{grid.metric}"
    state.setdefault(key, round(guess + USUAL / 100 * (plain - guess), 3))
    look |= {"step": 0.005, "format": f"%.{kind.digits}f", "width": 120}
    value = st.number_input(kind.label, **bind(key), **look)
    return Goal.metric(kind, round(float(value), kind.digits))


def who_pays(runs: dict[str, Run]) -> None:
    draws: dict[str, list[Run]] = {}
    for name, run in runs.items():
        if split_name(name)[0] in COMPARED:
            draws.setdefault(run.record.title, []).append(run)
    titles = (runs[who].record.title if who in runs else "" for who in COMPARED[:2])
    heading, sentence = payers.finding(draws, *titles)
    st.header(heading, anchor="who-pays")
    st.caption("Held-out RMSE by quarter, on raw data; mean over draws.")
    st.markdown(sentence)
    payers.draw_payers("explore.pays", draws)


def person(choice: Choice, run: Run) -> None:
    """Ask which person's list is shown above, and draw what they rated highest."""
    key = start_person(choice, someone(run))
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    box = bind(key, emptiable=True)
    user = left.number_input("Show person", 0, choice.entry.n_users - 1, **box)
    is_shared = user is not None and choice.entry.public
    links.put_in_address({PERSON: str(user) if is_shared else None})
    if user is None:
        right.info("Enter a person's number.")
        return
    titles = ", ".join(safe_text.escape(it.title) for it in top_rated(run, user, N_RATED))
    right.caption(f"Rated highest: {titles}. Ratings are private: only this person sees them.")
