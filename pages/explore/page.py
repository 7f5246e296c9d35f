"""What does this method do at this epsilon?

One story: its cost, against epsilon and for one person; the meaning of epsilon; below it the run in
detail.
"""

from functools import partial
from typing import Any

import streamlit as st

from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.privacy import NOTHING
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.comparison import DRAWS, VARIANTS, Comparison, same_draws, split_name
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import answer, needed_epsilon
from dpmf_core.runs.planning import PreparedRun
from dpmf_core.runs.recommendations import someone, top_rated
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.explore import story
from pages.explore.story import NO_BETTER, PERSON, USUAL, start_person
from pages.kit import (
    comparison,
    drawing,
    epsilon_grid,
    exports,
    forms,
    lesson,
    links,
    odometer,
    payers,
    privacy_card,
    safe_text,
    sidebar,
)
from pages.kit.comparison import gain_kept, median, title_of, weak_best_known
from pages.kit.components import draw_hero, draw_hundred
from pages.kit.runs import ask, note_shipped, request_at
from pages.kit.session_widgets import bind
from pages.kit.sidebar_values import Choice, put

EVERY = "explore.every"  # in the session: whether every private method is compared
COMPARED = ("main", "best", "trivial")
PARTS = {"test_rmse": "held-out", "train_rmse": "train"}
N_RATED = 3  # highest ratings shown
WITH_LISTS = ("main", "open")  # runs whose recommendations are shown


def draw_story(choice: Choice, spec: RunSpec, grid: EpsilonGrid, waits: bool) -> bool:
    """Draw the figure that follows epsilon; return whether it was drawn.

    waits: keep the previous result while there is none for the current choice.
    """
    new_story = story.of_grid(choice, grid)
    if new_story is not None:
        user = story.person(choice, spec)
        new_story["lists"] = story.lists(choice, spec, grid, user)
    visible_story = epsilon_grid.displayed("explore", choice, new_story, waits)
    if visible_story is None:
        return False
    draw_hero("explore.hero", visible_story, partial(put, "epsilon"))
    if new_story is not None and len(grid.kept) > 1:  # a single point needs no question
        wanted_gain(choice.epsilon, new_story["method"], grid)
    return True


def plain_finding(choice: Choice, proved: bool, runs: dict[str, Run]) -> None:
    """Draw the headline without a proven epsilon, or before its references are finished."""
    if "main" not in runs:
        st.title(f"What does ε = {budget_text(choice.epsilon)} cost?", anchor=False)
        st.write(odometer.opening_text("explore"))
        return
    draws = same_draws(runs, "main", "best", "trivial")
    title = runs["main"].record.title
    if draws:
        clause = gain_kept(draws, title_of(runs, "best"), NO_BETTER)
    else:
        error = runs["main"].record.metric("rmse")
        clause = f"errs by {story.RMSE.text(error)} in the first draw"
    epsilon = choice.epsilon if proved else None
    count = len(draws) or DRAWS
    st.title(comparison.plain_headline(epsilon, title, clause, count), anchor=False)


def meaning_and_card(choice: Choice, spec: RunSpec, ready: PreparedRun) -> Any:
    """Draw the meaning of epsilon and the privacy label; return the place below the label."""
    left, right = st.columns(2, gap="large")
    with right:
        privacy_card.label(ready.plan, ready.guarantee, choice.delta, public=choice.entry.public)
        beneath = st.container()
    with left:
        if ready.guarantee.has_epsilon and ready.plan != NOTHING:
            meanings = story.meanings(choice, spec, ready)
            draw_hundred("explore.hundred", choice.epsilon, meanings)
        privacy_card.attack_link(choice.algorithm)
    return beneath


def better(selection: Comparison, runs: dict[str, Run]) -> None:
    """Draw another proven method that is better at this epsilon, with a button that shows it.

    Nothing while runs go on: the best finished method may not be the best.
    """
    busy = request_at("explore").busy
    better_method = None if busy else comparison.better_method(runs, selection.runs, "rmse")
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


BETWEEN = (
    "≈: interpolated along log ε between two measured points. 100% of the gain is the best known"
    " method without privacy, 0% is guessing the mean."
)


@st.fragment
def wanted_gain(now: float, title: str, grid: EpsilonGrid) -> None:
    """Answer which epsilon keeps a share of the gain, without drawing the whole page again.

    now: the chosen epsilon. title: of the method.
    """
    key = "explore.keep"
    st.session_state.setdefault(key, USUAL)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("To keep, in percent of the gain", width="content")
        look: dict[str, Any] = {"label_visibility": "collapsed", "width": 100}
        percent = st.number_input("Percent of the gain", 1, 100, step=5, **bind(key), **look)
        value, detail = answer(grid.kept, percent / 100)
        st.markdown(f"with {title}: **{value}**{detail}", width="content", help=BETWEEN)
        needed = needed_epsilon(grid.kept, percent / 100)
        if needed is None or lesson.fixed_value("epsilon") is not None:
            return
        move: dict[str, Any] = {"on_click": put, "args": ("epsilon", needed.rounded)}
        if needed.rounded != now and st.button("Show", key="explore.keep.go", **move):
            st.rerun()


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
    key = start_person(choice, partial(someone, run))
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


def below(choice: Choice, selection: Comparison, runs: dict[str, Run], ready: PreparedRun) -> None:
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    if "main" in runs:
        left, right = st.columns(2, gap="large")
        with left:
            methods(selection, runs)
        drawing.let_answers_pass()
        with right:
            who_pays(runs)
        drawing.let_answers_pass()
        if comparison.has_steps(runs["main"]):
            guesses = same_draws(runs, "trivial")
            guess = "guessing the mean", median(guesses, 0) if guesses else None
            with st.expander("Error by step"):
                comparison.draw_steps("explore", "Error by step", runs, PARTS, "rmse", guess)
    if proved:
        with st.expander("The best any attacker can do"):  # needs no run
            privacy_card.meaning(ready.plan, choice.delta, ready.guarantee.unit, "explore.meaning")
        drawing.let_answers_pass()
    privacy_card.who_sees_what(privacy_card.diagram_of(choice.algorithm))
    if "main" in runs:
        drawing.let_answers_pass()
        with st.expander("Export"):
            exports.draw(runs["main"])


def main() -> None:
    choice = sidebar.choice()
    head, shown_person, waiting_place, middle, going = (st.container() for _ in range(5))
    with st.sidebar:
        links.to("tune", "Advanced: parameters", {})
    spec = choice.spec(parameters=forms.linked_parameters(choice.algorithm))
    every = bool(st.session_state.get(EVERY))
    ready, selection = story.plan(spec.model_dump_json(), choice.shape, choice.assumptions, every)
    proved = ready.guarantee.has_epsilon
    grid = epsilon_grid.read(spec, also=(choice.epsilon,))
    is_measured = proved and grid.point(choice.epsilon) is not None
    news = going if is_measured else waiting_place  # a result does not wait for its references
    with head:
        is_drawn = is_measured and draw_story(choice, spec, grid, waits=False)
    with middle:
        beneath = meaning_and_card(choice, spec, ready)
    with news:
        runs = selection.runs
        is_slow = choice.entry.public and is_in_parts(choice.dataset)
        confirm = spec.model_dump_json() if is_slow else ""
        finished_runs = ask("explore", runs, whole=WITH_LISTS, confirm=confirm)
    if not is_drawn:
        grid = epsilon_grid.read(spec, also=(choice.epsilon,))
        with head:
            is_drawn = proved and draw_story(choice, spec, grid, waits=True)
    if not is_drawn:
        with head:
            plain_finding(choice, proved, finished_runs)
    if proved:
        with waiting_place:
            note_shipped([*selection.runs.values(), *epsilon_grid.specs(spec)])
    with beneath:
        better(selection, finished_runs)
    if "main" in finished_runs:
        with shown_person:
            person(choice, finished_runs["main"])
    drawing.first_view_ends(is_drawn)
    below(choice, selection, finished_runs, ready)
    if proved and "main" in finished_runs and len(finished_runs) == len(runs):
        epsilon_grid.keep_filling("explore", spec, grid)


main()
