"""Sections of Explore below the first view."""

from collections.abc import Callable

import streamlit as st

from dpmf_core.runs.comparison import VARIANTS, Comparison, same_draws, split_name
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import answer, needed_epsilon
from dpmf_core.runs.recommendations import Suggestion, someone, top_rated
from dpmf_core.runs.record import Run
from pages.explore.story import CACHE_SIZE, PERSON, start_person
from pages.kit import comparison, lesson, links, questions, safe_text
from pages.kit.comparison import median, weak_best_known
from pages.kit.runs import goes_on
from pages.kit.session_widgets import bind
from pages.kit.sidebar_values import Choice

EVERY = "explore.every"
COMPARED = ("main", "best", "trivial")
PARTS = {"test_rmse": "held-out", "train_rmse": "train"}
N_RATED = 3  # highest ratings shown


def better(selection: Comparison, runs: dict[str, Run], use: Callable[[str], None]) -> None:
    """Draw another proven method that is better at this epsilon, with a button that shows it.

    Nothing while runs go on: the best finished method may not be the best.
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


# ---- which epsilon is enough ---------------------------------------------------------------------


def wanted_gain(
    choice: Choice, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]
) -> None:
    """Draw which epsilon reaches a goal. title: of the method. go_to: opens an epsilon."""
    if len(grid.kept) > 1:  # a single point needs no question
        _wanted_gain(choice.epsilon, title, grid, go_to)


@st.fragment
def _wanted_gain(now: float, title: str, grid: EpsilonGrid, go_to: Callable[[float], None]) -> None:
    """Answer without drawing the whole page again."""
    with questions.goal_row("explore.keep"):
        goal = questions.choose_goal("explore.keep", grid.metric, grid.best, grid.trivial)
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
    """Draw errors in quarters of people and items, private and not."""
    st.header("Who pays", anchor="who-pays")
    st.caption("Held-out RMSE by quarter, on raw data; mean over draws.")
    draws: dict[str, list[Run]] = {}
    for name, run in runs.items():
        if split_name(name)[0] in COMPARED:
            draws.setdefault(run.record.title, []).append(run)
    if "main" in runs and "best" in runs:
        titles = [runs[who].record.title for who in COMPARED[:2]]
        st.markdown(questions.payers_sentence(draws, *titles))
    questions.draw_payers("explore.pays", draws)


# ---- the person whose list is shown --------------------------------------------------------------


def _top_rated(run: Run, user: int) -> tuple[Suggestion, ...]:
    return _cached_top_rated(run.key, user, run) if run.record.public else _highest_rated(run, user)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_top_rated(key: str, user: int, _run: Run) -> tuple[Suggestion, ...]:
    return _highest_rated(_run, user)


def _highest_rated(run: Run, user: int) -> tuple[Suggestion, ...]:
    return top_rated(run, user, N_RATED)


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
    titles = ", ".join(safe_text.escape(it.title) for it in _top_rated(run, user))
    right.caption(f"Rated highest: {titles}. Ratings are private: only this person sees them.")
