"""What the pages about documents and images share: the finding, the price, what the source's
epsilon truly is, the source's figures.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.runs.comparison import Comparison, part_comparison
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.planning import PreparedRun, prepare
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit import (
    comparison,
    drawing,
    epsilon_grid,
    factorisation_story,
    factorisation_words,
    forms,
    links,
    odometer,
    privacy_card,
    sidebar,
)
from pages.kit.choice import Choice
from pages.kit.comparison import better_method
from pages.kit.components import draw_matched_parts
from pages.kit.factorisation_words import Subject
from pages.kit.runs import ask, note_shipped

METRIC = "objective"
WITH_COMPONENTS = ("main", "twin")  # the runs whose components are shown
Runs = dict[str, Run]


@dataclass(frozen=True)
class FirstView:
    """What the first view found: the runs that have finished, the grid, and whether the components
    stand there beside their partners.
    """

    runs: Runs
    grid: EpsilonGrid
    has_parts: bool


def draw_first_view(
    subject: Subject,
    choice: Choice,
    spec: RunSpec,
    selection: Comparison,
    proved: bool,
    most: int,
) -> FirstView:
    """The headline and the components, which follow epsilon; beneath them how far the runs are.

    proved: whether epsilon is what is promised. most: so many components are shown. Of what is
    chosen nothing may be there yet: then the result before stays.
    """
    page = subject.id
    head, news = st.container(), st.container()

    def draw(waits: bool) -> tuple[EpsilonGrid, bool]:
        grid = epsilon_grid.read(spec, METRIC, also=(choice.epsilon,))
        story = None
        if waits or grid.point(choice.epsilon) is not None:
            story = factorisation_story.of_grid(subject, choice, spec, grid, proved, most)
        if story is not None and not story["pending"]:
            epsilon_grid.remember(page, choice, story)
        displayed_story = story or (epsilon_grid.before(page) if waits else None)
        if displayed_story is not None:
            with head:
                draw_matched_parts(f"{page}.matched", displayed_story)
        return grid, displayed_story is not None

    grid, has_parts = draw(waits=False)
    with news:
        runs = ask(page, selection.runs, whole=WITH_COMPONENTS)
    if not has_parts:
        grid, has_parts = draw(waits=True)
    if not has_parts:
        with head:
            st.title(factorisation_words.opening(subject, choice), anchor=False)
            st.write(odometer.opening_text(page))
    if proved:
        note_shipped([*selection.runs.values(), *epsilon_grid.specs(spec)])
    if better := better_method(runs, selection.runs, METRIC):
        st.markdown(better[1])
    return FirstView(runs, grid, has_parts)


Settings = Callable[[Choice], tuple[dict[str, object], tuple[str, ...]]]
Below = Callable[[Choice, Comparison, FirstView], None]


def draw_page(
    subject: Subject, heading: str, settings: Settings, most: Callable[[int], int], below: Below
) -> FirstView:
    """A page about documents or images, as far as both have it.

    Parameters
    ----------
    heading : str
        Of the fold that holds the settings and the algorithm's parameters.
    settings : callable
        Draws how rows are made; returns it, and what of it is taken as public.
    most : callable
        How many of all components are shown.
    below : callable
        Draws what stands under the first view and needs runs.
    """
    choice, page = sidebar.choice(), subject.id
    budget = Budget(
        epsilon=choice.epsilon,
        delta=choice.delta,
        calibration=choice.calibration,
        noise=choice.noise,
    )
    head, card, beneath = (st.container() for _ in range(3))
    with st.expander(heading):
        data, assumptions = settings(choice)
        usual = {"n_components": choice.entry.n_components}
        parameters = forms.parameters(choice.algorithm, choice.shape, budget, page, usual)
    spec = choice.spec(parameters=parameters, data=data)
    ready = prepare(spec, choice.shape, assumptions, choice.entry.unit)
    with card:
        label(choice, ready)
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    selection = part_comparison(spec, choice.shape)
    with head:
        count = most(int(spec.parameters["n_components"]))
        view = draw_first_view(subject, choice, spec, selection, proved, count)
    drawing.first_view_ends(view.has_parts)
    with beneath:
        below(choice, selection, view)
    if proved and len(view.runs) == len(selection.runs):
        epsilon_grid.keep_filling(page, spec, view.grid)
    links.to("papers", "The source's figures, measured again", {"paper": "saha-2022"})
    return view


def label(choice: Choice, ready: PreparedRun) -> None:
    """The privacy label, which opens to the ledger."""
    privacy_card.label(
        ready.plan,
        ready.guarantee,
        choice.delta,
        public=choice.entry.public,
        each=choice.entry.each or privacy_card.EACH,
    )


def price(selection: Comparison, runs: Runs, subject: Subject) -> None:
    """Every method at this epsilon, and the objective by step, where there are several."""
    trivial = runs["main"].record.metric("trivial_objective")
    several = len(runs["main"].record.curves) > 1
    left, right = st.columns([2, 3] if several else [3, 2], gap="large")
    with left:
        remark = (
            "The objective is what stays unexplained: half the mean squared distance of"
            f" {subject.a_row} from its sum of {subject.many}. Smaller is better. The average"
            f" {subject.row} alone: {trivial:.3f}."
        )
        comparison.draw_methods(subject.id, selection, runs, METRIC, remark)
    if several:
        parts, guess = {METRIC: "all samples"}, (f"the average {subject.row}", trivial)
        with right:
            comparison.draw_steps(subject.id, "Objective by step", runs, parts, METRIC, guess)
