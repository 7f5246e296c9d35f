"""What does this method do at this epsilon?

One story: its cost, against epsilon and for one person; the meaning of epsilon; below it the run in
detail.
"""

from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.algorithms.base import Parameters
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
from dpmf_core.runs.record import Run, Runs
from dpmf_core.runs.specification import RunSpec
from pages.explore import person_shown, story
from pages.explore.story import USUAL
from pages.kit import sidebar
from pages.kit.base import data_sets, drawing, exports, lesson, links, safe_text
from pages.kit.components import draw_hero, draw_hundred
from pages.kit.controls import forms
from pages.kit.controls.session_widgets import bind
from pages.kit.controls.sidebar_values import SidebarChoice, put
from pages.kit.figures import comparison_charts, payers
from pages.kit.first_views import first_view
from pages.kit.privacy import observer_diagram, privacy_card, purchases
from pages.kit.running import epsilon_grid
from pages.kit.running.runs import ask, note_shipped

EVERY = "explore.every"  # in the session: whether every private method is compared
COMPARED = (MAIN, BEST_KNOWN, TRIVIAL)
PARTS = {"test_rmse": "held-out", "train_rmse": "train"}
N_RATED = 3  # highest ratings shown
WITH_LISTS = (MAIN, OPEN)  # the page shows their recommendations


@dataclass(frozen=True)
class ExploredRun:
    """A run with its plan, and the runs that it is compared with."""

    choice: SidebarChoice
    spec: RunSpec
    ready: PreparedRun
    selection: Comparison

    @classmethod
    def of(cls, choice: SidebarChoice) -> "ExploredRun":
        """The run of a choice; raises BadInput."""
        spec = choice.spec(parameters=parameters_of(choice))
        every = bool(st.session_state.get(EVERY))
        ready, selection = story.plan(spec, choice.shape, choice.assumptions, every)
        return cls(choice, spec, ready, selection)

    @property
    def proved(self) -> bool:
        return self.ready.guarantee.has_epsilon

    @property
    def has_meaning(self) -> bool:
        """Whether the epsilon of what is released can be explained."""
        return self.proved and self.ready.plan != NOTHING

    def judgement(self) -> Judgement:
        """What is known now of this method and others along epsilon."""
        return epsilon_grid.read_for(self.choice, self.spec).by(story.METRIC)


# ---- the first view ------------------------------------------------------------------------------


def draw_story(explored: ExploredRun, judgement: Judgement, waits: bool) -> bool:
    """Draw the figure that follows epsilon.

    Parameters
    ----------
    waits
        Whether the previous result stays until there is one for the current choice.

    Returns
    -------
    bool
        Whether the figure was drawn.
    """
    choice = explored.choice
    label = explored.selection.label
    new_story = story.of_table(choice, judgement, label)
    line = story.line_of(choice, judgement, label)
    if new_story is not None:
        new_story["lists"] = person_shown.lists(choice, explored.spec, line)
    visible_story = first_view.displayed("explore", choice, new_story, waits)
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

    Parameters
    ----------
    now
        The chosen epsilon.
    title
        The title of the line.
    shares
        The share kept at each measured epsilon.
    """
    key = "explore.keep"
    st.session_state.setdefault(key, USUAL)
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
    ):
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


def draw_plain_finding(explored: ExploredRun, runs: Runs) -> None:
    """Draw the headline without a proven epsilon, or before its references are finished."""
    choice = explored.choice
    judgement = explored.selection.table(runs).by(story.METRIC)
    line = judgement.line(explored.selection.label)
    if MAIN not in runs or not line:
        st.title(f"What does ε = {budget_text(choice.epsilon)} cost?", anchor=False)
        st.write(purchases.opening_text("explore"))
        return
    method = line[0]
    clause = conclusions.kept_words(judgement, method)
    st.title(first_view.headline(choice, method, clause, explored.proved), anchor=False)


def draw_meaning_and_card(explored: ExploredRun) -> DeltaGenerator:
    """Draw the meaning of epsilon and the privacy label; return the place below the label."""
    choice = explored.choice
    ready = explored.ready
    left, right = st.columns(2, gap="large")
    with right:
        privacy_card.label(
            ready.plan, ready.guarantee, choice.delta, public=choice.entry.public
        )
        beneath = st.container()
    with left:
        if explored.has_meaning:
            draw_hundred(
                "explore.hundred",
                choice.epsilon,
                story.meanings(choice, explored.spec, ready),
            )
        privacy_card.attack_link(choice.algorithm)
    return beneath


# ---- the run in detail ---------------------------------------------------------------------------


def draw_methods(selection: Comparison, runs: Runs) -> None:
    comparison_charts.draw_methods("explore", selection, runs, story.METRIC)
    if not selection.every or st.session_state.get(EVERY):
        st.toggle(
            "Every private method",
            key=EVERY,
            help="Trains all with the same seeds; the slowest take a minute on large data.",
        )


def draw_who_pays(runs: Runs) -> None:
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


def draw_below(explored: ExploredRun, runs: Runs) -> None:
    if MAIN in runs:
        left, right = st.columns(2, gap="large")
        with left:
            draw_methods(explored.selection, runs)
        drawing.let_answers_pass()
        with right:
            draw_who_pays(runs)
        drawing.let_answers_pass()
        if comparison_charts.has_steps(runs[MAIN]):
            with st.expander("Error by step"):
                floor = floor_of(explored.selection.table(runs).by(story.METRIC))
                comparison_charts.draw_steps(
                    "explore", "Error by step", runs, PARTS, story.METRIC, floor
                )
    if explored.has_meaning:
        with st.expander("The best any attacker can do"):  # needs no run
            privacy_card.meaning(
                explored.ready.plan,
                explored.choice.delta,
                explored.ready.guarantee.unit,
                "explore.meaning",
            )
        drawing.let_answers_pass()
    observer_diagram.draw_folded(observer_diagram.design_of(explored.choice.algorithm))
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


def parameters_of(choice: SidebarChoice) -> Parameters:
    """The chosen method's parameters that a link, a lesson or Tune set.

    The best known method is compared with others as recommended, so it has none.
    """
    if choice.is_best:
        forms.write_to_address(choice.algorithm, {})
        return {}
    return forms.linked_parameters(choice.algorithm)


def ask_for_runs(explored: ExploredRun) -> Runs:
    """Take the finished runs, and draw the progress of the rest."""
    confirm = ""
    if explored.choice.entry.public and is_in_parts(explored.choice.dataset):
        confirm = explored.spec.model_dump_json()  # such runs take long
    return ask("explore", explored.selection.runs, whole=WITH_LISTS, confirm=confirm)


def main() -> None:
    choice = sidebar.choice()
    with st.sidebar:
        links.to("tune", "Advanced: parameters")
    explored = ExploredRun.of(choice)

    # the places in the order of the screen; what takes longest is drawn last
    head = st.container()
    shown_person = st.container()
    missing_result = st.container()
    middle = st.container()
    missing_references = st.container()

    judgement = explored.judgement()
    is_drawn = False
    progress = missing_result
    if explored.proved and story.is_known(choice, judgement, explored.selection.label):
        progress = missing_references
        with head:
            is_drawn = draw_story(explored, judgement, waits=False)
    with middle:
        below_card = draw_meaning_and_card(explored)
    with progress:
        runs = ask_for_runs(explored)
    if not is_drawn:
        with head:
            # the story if it is known now, or the previous one
            is_drawn = explored.proved and draw_story(
                explored, explored.judgement(), waits=True
            )
            if not is_drawn:
                draw_plain_finding(explored, runs)
    if explored.proved:
        own = epsilon_grid.specs(explored.spec, choice.shape)
        with below_card:
            note_shipped([*explored.selection.runs.values(), *own])
    if MAIN in runs:
        with shown_person:
            draw_person(choice, runs[MAIN])
    drawing.first_view_ends(is_drawn)
    draw_below(explored, runs)
    if explored.proved and len(runs) == len(explored.selection.runs):
        epsilon_grid.keep_filling("explore", explored.spec, choice.shape)


main()
