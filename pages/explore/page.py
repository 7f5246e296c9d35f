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
from dpmf_core.runs.comparison import DRAWS, Comparison, same_draws
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.planning import PreparedRun
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.explore import sections, story
from pages.explore.story import NO_BETTER
from pages.kit import (
    comparison,
    drawing,
    epsilon_grid,
    exports,
    forms,
    links,
    odometer,
    privacy_card,
    sidebar,
    sidebar_values,
    who_sees_what,
)
from pages.kit.comparison import gain_kept, title_of
from pages.kit.components import draw_hero, draw_hundred
from pages.kit.runs import ask, note_shipped
from pages.kit.sidebar_values import Choice

WITH_LISTS = ("main", "open")  # runs whose recommendations are shown


def draw_story(choice: Choice, spec: RunSpec, grid: EpsilonGrid, waits: bool) -> bool:
    """Draw the figure that follows epsilon; return whether it was drawn.

    waits: keep the previous result while there is none for the current choice.
    """
    new_story = story.of_grid(choice, grid)
    if new_story is not None:
        user = story.person(choice, spec)
        new_story["lists"] = story.lists(choice, spec, grid, user)
        story.remember(choice, new_story)
    visible_story = new_story or (epsilon_grid.before("explore") if waits else None)
    if visible_story is None:
        return False
    draw_hero("explore.hero", visible_story, partial(sidebar_values.put, "epsilon"))
    if new_story is not None and len(grid.kept) > 1:  # a single point needs no question
        sections.wanted_gain(choice.epsilon, new_story["method"], grid)
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


def below(choice: Choice, selection: Comparison, runs: dict[str, Run], ready: PreparedRun) -> None:
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    if "main" in runs:
        left, right = st.columns(2, gap="large")
        with left:
            sections.methods(selection, runs)
        drawing.let_answers_pass()
        with right:
            sections.who_pays(runs)
        drawing.let_answers_pass()
        if comparison.has_steps(runs["main"]):
            with st.expander("Error by step"):
                sections.steps(runs)
    if proved:
        with st.expander("The best any attacker can do"):  # needs no run
            privacy_card.meaning(ready.plan, choice.delta, "explore.meaning")
        drawing.let_answers_pass()
    who_sees_what.draw(who_sees_what.of(choice.algorithm))
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
    every = bool(st.session_state.get(sections.EVERY))
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
        sections.better(selection, finished_runs)
    if "main" in finished_runs:
        with shown_person:
            sections.person(choice, finished_runs["main"])
    drawing.first_view_ends(is_drawn)
    below(choice, selection, finished_runs, ready)
    if proved and "main" in finished_runs and len(finished_runs) == len(runs):
        epsilon_grid.keep_filling("explore", spec, grid)


main()
