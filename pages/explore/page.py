"""What does this method do at this epsilon?

One story: its cost, against epsilon and for one person; the meaning of epsilon; below it the run in
detail.
"""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.privacy import NOTHING
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.along_epsilon import needed_epsilon
from dpmf_core.runs.comparison import (
    BEST_KNOWN,
    MAIN,
    OPEN,
    TRIVIAL,
    Comparison,
    split_name,
)
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.planning import PreparedRun
from dpmf_core.runs.recommendations import someone, top_rated
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.explore import person_shown, story
from pages.explore.story import USUAL
from pages.kit import (
    comparison,
    data_sets,
    drawing,
    epsilon_grid,
    exports,
    forms,
    lesson,
    links,
    observers,
    payers,
    privacy_card,
    purchases,
    safe_text,
    sidebar,
)
from pages.kit.components import draw_hero, draw_hundred
from pages.kit.runs import ask, note_shipped
from pages.kit.session_widgets import bind
from pages.kit.sidebar_values import SidebarChoice, put

EVERY = "explore.every"  # in the session: whether every private method is compared
COMPARED = (MAIN, BEST_KNOWN, TRIVIAL)
PARTS = {"test_rmse": "held-out", "train_rmse": "train"}
N_RATED = 3  # highest ratings shown
WITH_LISTS = (MAIN, OPEN)  # runs whose recommendations are shown


# ---- the first view ------------------------------------------------------------------------------


def draw_story(
    choice: SidebarChoice, spec: RunSpec, judgement: Judgement, label: str, waits: bool
) -> bool:
    """Draw the figure that follows epsilon; return whether it was drawn.

    label: of the chosen method in the table. waits: keep the previous result while there is none
    for the current choice.
    """
    new_story = story.of_table(choice, judgement, label)
    line = story.line_of(choice, judgement, label)
    if new_story is not None:
        new_story["lists"] = person_shown.lists(choice, spec, line)
    visible_story = epsilon_grid.displayed("explore", choice, new_story, waits)
    if visible_story is None:
        return False
    methods = offered_methods(choice)
    draw_hero(
        "explore.hero",
        visible_story,
        methods,
        partial(put, "epsilon"),
        partial(put, "algorithm"),
    )
    shares = judgement.shares_along(line)
    if new_story is not None and len(shares) > 1:  # a single point needs no question
        draw_wanted_share(choice.epsilon, new_story["method"]["name"], shares)
    return True


def offered_methods(choice: SidebarChoice) -> list[dict[str, object]]:
    """What a click shows: the best method, and each method of a paper."""
    if lesson.fixed_value("algorithm") is not None:
        return []
    if choice.entry.public:
        best = "Best at each ε"
    else:
        best = "Recommended"
    titles = {data_sets.BEST: best} | story.papers_methods(
        data_sets.private_algorithms()
    )
    if choice.is_best:
        method_here = data_sets.BEST
    else:
        method_here = choice.algorithm
    return [
        {"id": method, "title": title, "shown": method == method_here}
        for method, title in titles.items()
    ]


BETWEEN = (
    "≈: interpolated along log ε between two runs. 100% is the best known method without"
    " privacy; 0% needs no model of others."
)


@st.fragment
def draw_wanted_share(now: float, title: str, shares: list[Measured]) -> None:
    """Answer which epsilon keeps a share, without drawing the whole page again.

    now: the chosen epsilon. title: of the line.
    """
    key = "explore.keep"
    st.session_state.setdefault(key, USUAL)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("To keep, in percent", width="content")
        percent = st.number_input(
            "Percent kept",
            1,
            100,
            step=5,
            **bind(key),
            label_visibility="collapsed",
            width=100,
        )
        value, detail = conclusions.needed_words(shares, percent / 100)
        st.markdown(f"{title}: **{value}**{detail}", width="content", help=BETWEEN)
        needed = needed_epsilon(shares, percent / 100)
        if (
            needed is None
            or lesson.fixed_value("epsilon") is not None
            or needed.rounded == now
        ):
            return
        epsilon = needed.rounded
        if st.button(
            "Show", "explore.keep.go", on_click=put, args=("epsilon", epsilon)
        ):
            st.rerun()


def draw_plain_finding(
    choice: SidebarChoice, proved: bool, selection: Comparison, runs: dict[str, Run]
) -> None:
    """Draw the headline without a proven epsilon, or before its references are finished."""
    judgement = selection.table(runs).by(story.METRIC)
    line = judgement.line(selection.label)
    if MAIN not in runs or not line:
        st.title(f"What does ε = {budget_text(choice.epsilon)} cost?", anchor=False)
        st.write(purchases.opening_text("explore"))
        return
    method = line[0]
    clause = conclusions.kept_words(judgement, method)
    if proved:
        words = comparison.headline(choice, method, clause)
    else:
        words = f"With no proven ε, {method.title} {clause}"
    st.title(words, anchor=False)


def draw_meaning_and_card(
    choice: SidebarChoice, spec: RunSpec, ready: PreparedRun
) -> DeltaGenerator:
    """Draw the meaning of epsilon and the privacy label; return the place below the label."""
    left, right = st.columns(2, gap="large")
    with right:
        privacy_card.label(
            ready.plan, ready.guarantee, choice.delta, public=choice.entry.public
        )
        beneath = st.container()
    with left:
        if ready.guarantee.has_epsilon and ready.plan != NOTHING:
            meanings = story.meanings(choice, spec, ready)
            draw_hundred("explore.hundred", choice.epsilon, meanings)
        privacy_card.attack_link(choice.algorithm)
    return beneath


# ---- the run in detail ---------------------------------------------------------------------------


def draw_methods(selection: Comparison, runs: dict[str, Run]) -> None:
    comparison.draw_methods("explore", selection, runs, story.METRIC)
    if not selection.every or st.session_state.get(EVERY):
        text = (
            "Trains all with the same seeds; the slowest take a minute on large data."
        )
        st.toggle("Every private method", key=EVERY, help=text)


def draw_who_pays(runs: dict[str, Run]) -> None:
    draws: dict[str, list[Run]] = {}
    for name, run in runs.items():
        if split_name(name)[0] in COMPARED:
            draws.setdefault(run.record.title, []).append(run)
    if BEST_KNOWN in runs:
        best_known = runs[BEST_KNOWN].record.title
    else:
        best_known = ""
    heading, sentence = payers.finding(draws, runs[MAIN].record.title, best_known)
    st.header(heading, anchor="who-pays")
    st.caption("Held-out RMSE by quarter, on raw data; mean over draws.")
    st.markdown(sentence)
    payers.draw_payers("explore.pays", draws)


def draw_person(choice: SidebarChoice, run: Run) -> None:
    key = person_shown.start(choice, partial(someone, run))
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    user = left.number_input(
        "Show person", 0, choice.entry.n_users - 1, **bind(key, emptiable=True)
    )
    is_shared = user is not None and choice.entry.public
    links.put_in_address({person_shown.PERSON: str(user) if is_shared else None})
    if user is None:
        right.info("Enter a person's number.")
        return
    titles = ", ".join(
        safe_text.escape(film.title) for film in top_rated(run, user, N_RATED)
    )
    right.caption(
        f"Rated highest: {titles}. Ratings are private: only this person sees them."
    )


def draw_below(
    choice: SidebarChoice,
    selection: Comparison,
    runs: dict[str, Run],
    ready: PreparedRun,
) -> None:
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    if MAIN in runs:
        left, right = st.columns(2, gap="large")
        with left:
            draw_methods(selection, runs)
        drawing.let_answers_pass()
        with right:
            draw_who_pays(runs)
        drawing.let_answers_pass()
        if comparison.has_steps(runs[MAIN]):
            with st.expander("Error by step"):
                floor = floor_of(selection.table(runs).by(story.METRIC))
                comparison.draw_steps(
                    "explore", "Error by step", runs, PARTS, story.METRIC, floor
                )
    if proved:
        with st.expander("The best any attacker can do"):  # needs no run
            privacy_card.meaning(
                ready.plan, choice.delta, ready.guarantee.unit, "explore.meaning"
            )
        drawing.let_answers_pass()
    observers.draw_folded(observers.design_of(choice.algorithm))
    if MAIN in runs:
        drawing.let_answers_pass()
        with st.expander("Export"):
            exports.draw(runs[MAIN])


def floor_of(judgement: Judgement) -> tuple[str, float | None]:
    """The name and the figure of what needs no model of others."""
    words = conclusions.floor_words(judgement)
    if judgement.floor is None:
        return words, None
    return words, judgement.floor.median


def parameters_of(choice: SidebarChoice) -> dict[str, Any]:
    """The chosen method's parameters that a link, a lesson or Tune set.

    The best known method is compared with others as recommended, so it has none.
    """
    if choice.is_best:
        forms.write_to_address(choice.algorithm, {})
        return {}
    return forms.linked_parameters(choice.algorithm)


def ask_for_runs(
    choice: SidebarChoice, spec: RunSpec, selection: Comparison
) -> dict[str, Run]:
    """Take the finished runs, and draw the progress of the rest."""
    confirm = ""
    if choice.entry.public and is_in_parts(choice.dataset):
        confirm = spec.model_dump_json()  # such runs take long
    return ask("explore", selection.runs, whole=WITH_LISTS, confirm=confirm)


def main() -> None:
    choice = sidebar.choice()
    with st.sidebar:
        links.to("tune", "Advanced: parameters", {})
    spec = choice.spec(parameters=parameters_of(choice))
    every = bool(st.session_state.get(EVERY))
    ready, selection = story.plan(
        spec.model_dump_json(), choice.shape, choice.assumptions, every
    )
    proved = ready.guarantee.has_epsilon

    # the places in the order of the screen; what takes longest is drawn last
    head = st.container()
    shown_person = st.container()
    missing_result = st.container()
    middle = st.container()
    missing_references = st.container()

    judgement = epsilon_grid.read_for(choice, spec).by(story.METRIC)
    is_measured = proved and story.is_known(choice, judgement, selection.label)
    with head:
        is_drawn = is_measured and draw_story(
            choice, spec, judgement, selection.label, waits=False
        )
    with middle:
        beneath = draw_meaning_and_card(choice, spec, ready)
    with missing_references if is_measured else missing_result:
        runs = ask_for_runs(choice, spec, selection)
    if not is_drawn and proved:
        # more may be known now
        judgement = epsilon_grid.read_for(choice, spec).by(story.METRIC)
        with head:
            is_drawn = draw_story(choice, spec, judgement, selection.label, waits=True)
    if not is_drawn:
        with head:
            draw_plain_finding(choice, proved, selection, runs)
    if proved:
        with beneath:
            own = epsilon_grid.specs(spec, choice.shape)
            note_shipped([*selection.runs.values(), *own])
    if MAIN in runs:
        with shown_person:
            draw_person(choice, runs[MAIN])
    drawing.first_view_ends(is_drawn)
    draw_below(choice, selection, runs, ready)
    if proved and MAIN in runs and len(runs) == len(selection.runs):
        epsilon_grid.keep_filling("explore", spec, choice.shape)


main()
