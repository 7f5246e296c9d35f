"""Shared parts of Topics and Faces: the first view, the settings, the comparison."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy import NOTHING
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.comparison import Comparison, references
from dpmf_core.runs.comparison import comparison as compare_with
from dpmf_core.runs.conclusions import (
    better_words,
    cost_words,
    floor_words,
    kept_words,
    needed_words,
    no_difference_words,
    share_text,
)
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.inspection import row_length
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Runs
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.glossary import TERMS
from pages.kit import sidebar
from pages.kit.base import drawing, exports, links
from pages.kit.components import Story, StoryPart, draw_matched_parts
from pages.kit.controls import forms
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.figures import colours, comparison_charts
from pages.kit.first_views import first_view
from pages.kit.first_views.matched_parts import MatchedParts, find_parts
from pages.kit.privacy import observer_diagram, privacy_card, purchases
from pages.kit.running import epsilon_grid
from pages.kit.running.runs import ask, note_shipped

METRIC = METRICS["objective"]
WITH_COMPONENTS = ("main", "best")  # the page shows their components
GOAL = 0.8  # the share kept; its epsilon is stated


@dataclass(frozen=True)
class Subject:
    """The words of a page.

    Attributes
    ----------
    id
        The page's id.
    title, many, numbered_title
        Words for components.
    row, a_row
        Words for a row of data.
    legend
        The explanation of the first view.
    source
        The figures of the source that the page shows.
    """

    id: str
    title: str
    many: str
    numbered_title: str
    row: str
    a_row: str
    legend: str
    source: str


TOPICS = Subject(
    id="topics",
    title="Topics",
    many="topics",
    numbered_title="Topic {number}",
    row="document",
    a_row="a document",
    legend="Each list has the top ten words of a topic of {without}. Struck out: lost to privacy."
    " +: added by privacy.",
    source="“A topic in full” above is the source's Fig. 9. Its Fig. 1 draws the protocol.",
)
COMPONENTS = Subject(
    id="faces",
    title="Components",
    many="components",
    numbered_title="Component {number}",
    row="image",
    a_row="an image",
    legend="Each component stands above its partner, the most similar one of {without}. Each"
    " picture has its own scale from black to white. The bar between them shows their similarity"
    " (cosine): full for equal pictures.",
    source="“One image as a sum of components” above is the source's Fig. 11.",
)


# ---- the page ------------------------------------------------------------------------------------

# how rows are prepared, and what is taken as public
RowPreparation = tuple[dict[str, Any], tuple[str, ...]]
DrawPreparation = Callable[[SidebarChoice], RowPreparation]
DrawBelow = Callable[[SidebarChoice, Runs], None]


def draw_page(
    subject: Subject,
    heading: str,
    settings: DrawPreparation,
    most: Callable[[int], int],
    below: DrawBelow,
) -> None:
    """Draw a page about documents or images.

    Parameters
    ----------
    subject
        The words of the page.
    heading
        The heading of the fold with settings and parameters.
    settings
        Draws the preparation of rows. It returns the preparation, and what is taken as public.
    most
        The number of components to show, from the number of all components.
    below
        Draws the page's own part below the first view, which needs runs.
    """
    page = subject.id
    choice = sidebar.choice()
    budget = choice.spec().require_budget()
    head = st.container()
    card = st.container()
    beneath = st.container()
    with st.expander(heading):
        data, assumptions = settings(choice)
        usual = {"n_components": choice.entry.n_components}
        parameters = forms.parameters(choice.algorithm, choice.shape, budget, usual)
    spec = choice.spec(parameters=parameters, data=data)
    ready = prepare(spec, choice.shape, assumptions, choice.entry.unit)
    with card:
        privacy_card.label(
            ready.plan,
            ready.guarantee,
            choice.delta,
            public=choice.entry.public,
            each=choice.entry.each or privacy_card.EACH,
        )
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    selection = compare_with(spec, choice.shape)
    with head:
        count = most(int(spec.parameters["n_components"]))
        runs, has_parts = _first_view(subject, choice, spec, selection, proved, count)
    drawing.first_view_ends(has_parts)
    with beneath:
        observer_diagram.draw_folded(f"{subject.row}s")
        below(choice, runs)
        if "main" in runs:
            _draw_price(subject, selection, runs)
    if proved and len(runs) == len(selection.runs):
        epsilon_grid.keep_filling(page, spec, choice.shape)
    links.to("papers", "The source's figures, measured again", {"paper": "saha-2022"})
    st.caption(subject.source)
    if "main" in runs:
        with st.expander("Export"):
            exports.draw(runs["main"])


def _first_view(
    subject: Subject,
    choice: SidebarChoice,
    spec: RunSpec,
    selection: Comparison,
    proved: bool,
    most: int,
) -> tuple[Runs, bool]:
    """Draw the headline and the components, which follow epsilon, and the progress of runs.

    While nothing is known about the current choice, the previous result stays.

    Parameters
    ----------
    proved
        Whether epsilon is guaranteed.
    most
        The number of components shown.

    Returns
    -------
    runs
        The finished runs.
    has_parts
        Whether components are shown.
    """
    page = subject.id
    head = st.container()
    news = st.container()

    def draw(waits: bool) -> bool:
        table = epsilon_grid.read(spec, choice.shape, also=(choice.epsilon,))
        judgement = table.by(METRIC.id)
        line = judgement.line(selection.label)
        story = None
        if waits or any(one.epsilon == choice.epsilon for one in line):
            story = _story(subject, choice, spec, judgement, line, proved, most)
        displayed_story = first_view.displayed(page, choice, story, waits)
        if displayed_story is not None:
            with head:
                draw_matched_parts(f"{page}.matched", displayed_story)
        return displayed_story is not None

    has_parts = draw(waits=False)
    with news:
        runs = ask(page, selection.runs, whole=WITH_COMPONENTS)
    if not has_parts:  # runs may have finished since the first look
        has_parts = draw(waits=True)
    if not has_parts:
        with head:
            at = f"{subject.title} at ε = {budget_text(choice.epsilon)}"
            st.title(f"{at}, with privacy and without", anchor=False)
            st.write(purchases.opening_text(page))
    if proved:
        note_shipped(
            [*selection.runs.values(), *epsilon_grid.specs(spec, choice.shape)]
        )
    return runs, has_parts


def _draw_price(subject: Subject, selection: Comparison, runs: Runs) -> None:
    """Draw every method at this epsilon, and the objective by step if the run has several."""
    trivial = runs["main"].record.metric("trivial_objective")
    several = comparison_charts.has_steps(runs["main"])
    left, right = st.columns([2, 3] if several else [3, 2], gap="large")
    with left:
        remark = (
            "The objective is half the mean squared distance between"
            f" {subject.a_row} and its sum of {subject.many}. Smaller is better. The average"
            f" {subject.row} alone has {METRIC.text(trivial)}."
        )
        remark = f"{remark} {_cost(selection, runs, subject.row)}".rstrip()
        comparison_charts.draw_methods(subject.id, selection, runs, METRIC.id, remark)
    if several:
        parts = {METRIC.id: "all samples"}
        floor = (f"the average {subject.row}", trivial)
        with right:
            st.header("Objective by step", anchor="steps")
            comparison_charts.draw_steps(
                subject.id, "Objective by step", runs, parts, METRIC.id, floor
            )


def _cost(selection: Comparison, runs: Runs, row: str) -> str:
    """What noise and method cost at this epsilon; '' while a run is missing."""
    judgement = selection.table(runs).by(METRIC.id)
    line = judgement.line(selection.label)
    if not line:
        return ""
    cost = judgement.cost(line[0])
    if cost is None:
        return ""
    return cost_words(judgement, cost, row)


# ---- what the browser draws ----------------------------------------------------------------------


def _story(
    subject: Subject,
    choice: SidebarChoice,
    spec: RunSpec,
    judgement: Judgement,
    line: Sequence[Measured],
    proved: bool,
    most: int,
) -> Story | None:
    """The data that the browser draws, or None until a private and a non-private run exist.

    Parameters
    ----------
    line
        The chosen method along epsilon.
    proved
        Whether epsilon is guaranteed. If it is not, only the chosen run is shown.
    most
        The number of components shown.
    """
    best = references(spec)["best"]
    plain = find_parts(subject.id, choice, best, best)
    if plain is None or judgement.best_known is None:
        return None
    points = []
    for one in line:
        epsilon = one.epsilon or 0.0
        if not proved and epsilon != choice.epsilon:
            continue  # without a guarantee there is nothing to compare along epsilon
        private = find_parts(subject.id, choice, spec.at_epsilon(epsilon), best)
        if private is not None:
            finding = _Finding(subject, choice, judgement, one, private, plain)
            points.append(finding.point(line, proved, most))
    if not points:
        return None
    words = _templates(subject, choice, algorithms.find(best.algorithm).title)
    return {
        **first_view.compose(choice, points, _meanings(subject), words),
        "colour": colours.of(choice.algorithm),
        "kind": "words" if subject is TOPICS else "pictures",
        "plain": plain.parts[:most],
        "across": row_length(len(plain.parts[:most])),
    }


@dataclass(frozen=True)
class _Finding:
    """What was measured at one epsilon, and the components next to the non-private ones."""

    subject: Subject
    choice: SidebarChoice
    judgement: Judgement
    one: Measured
    private: MatchedParts
    plain: MatchedParts

    def point(self, line: Sequence[Measured], proved: bool, most: int) -> StoryPart:
        """The data that the browser draws at this epsilon. The parameters are those of `_story`."""
        clause = kept_words(self.judgement, self.one, self.subject.row)
        return {
            "epsilon": self.one.epsilon,
            "title": first_view.headline(self.choice, self.one, clause, proved),
            "sentence": " ".join(
                sentence for sentence in self._sentences(line) if sentence
            ),
            "parts": self.private.parts[:most],
            "alike": self.private.alike[:most],
            "cells": self._cells(),
        }

    @property
    def _surviving_words(self) -> float | None:
        """The mean number of a topic's top ten words that survive; None for images."""
        if self.subject is not TOPICS:
            return None
        both = zip(self.private.parts, self.plain.parts, strict=True)
        return fmean(len({*own} & {*other}) for own, other in both)

    def _sentences(self, line: Sequence[Measured]) -> list[str]:
        judgement = self.judgement
        other = better_words(judgement, self.one) or no_difference_words(
            judgement, self.one
        )
        return [
            other,
            self._needed(line),
            self._survival(),
            _unexplained(judgement, self.one, self.subject.row),
            self._coherence(),
            first_view.purchase_text(self.choice, self.one),
        ]

    def _needed(self, line: Sequence[Measured]) -> str:
        shares = self.judgement.shares_along(line)
        if not shares or not self.choice.entry.public:
            return ""
        value, uncertainty = needed_words(shares, GOAL)
        return f"To keep {share_text(GOAL)}: {value}{uncertainty}."

    def _survival(self) -> str:
        words = self._surviving_words
        if words is None:
            return ""
        return f"On average, {words:.1f} of each topic's top ten words survive."

    def _coherence(self) -> str:
        with_privacy = self.private.coherence
        without = self.plain.coherence
        if with_privacy is None or without is None:
            return ""
        return f"Coherence {with_privacy:.2f} with privacy, {without:.2f} without."

    def _cells(self) -> list[str]:
        cells = [
            _cell(self.judgement.share(self.one), share_text),
            METRIC.text(self.one.median),
            str(len(self.one.draws)),
            _cell(fmean(self.private.alike)),
        ]
        if self.subject is TOPICS:
            cells += [_cell(self._surviving_words), _cell(self.private.coherence)]
        return cells


def _cell(figure: float | None, text: Callable[[float], str] = "{:.2f}".format) -> str:
    if figure is None:
        return ""
    return text(figure)


def _unexplained(judgement: Judgement, one: Measured, row: str) -> str:
    """The unexplained part of a typical row with privacy, without, and by the average."""
    best = judgement.best_known
    floor = judgement.floor
    if best is None or floor is None:
        return ""
    return (
        f"Unexplained in a typical {row}: {_share(one.median)} with privacy,"
        f" {_share(best.median)} with {best.label}, {_share(floor.median)} by"
        f" {floor_words(judgement, row)} alone."
    )


def _share(objective: float) -> str:
    """The objective, half a squared distance, as a percentage of a row's squared size."""
    percent = 200 * objective
    if 0 < percent < 1:
        return f"{percent:.1g}%"
    return f"{percent:.0f}%"


def _meanings(subject: Subject) -> dict[str, str]:
    a_row = subject.a_row
    row = subject.row
    many = subject.many
    return {
        "ε": TERMS["epsilon"].words,
        f"gains over the average {row}": f"How much more of {a_row} the {many} explain than the"
        f" average {row} alone. 100% is the non-private version.",
        "survive": "Words in the lists with and without privacy; mean over the topics.",
        "Unexplained": f"The squared distance between {a_row} and its sum of {many}, as a share of"
        f" the {row}'s squared size; mean over all, median draw. The objective is half of it.",
        "Coherence": "How related a topic's words are in these documents: at best 1, about 0 for"
        " unrelated words (TC-W2V).",
    }


def _templates(subject: Subject, choice: SidebarChoice, without: str) -> StoryPart:
    """The browser's texts; it fills in {..}."""
    component = subject.numbered_title
    columns = ["ε", "kept", "objective", "draws", "similarity (cosine)"]
    similarity = "{alike}% similar"
    if subject is TOPICS:
        columns += ["surviving words", "coherence"]
        similarity = "{stay} of {all} words survive"
    near = "≈ ε = {epsilon} was not measured; this is the nearest measured point, ε = {shown}."
    caption = (
        f"{subject.legend.format(without=without)} The {subject.many} come from one draw, seed"
        f" {choice.seed}; percentages are medians over draws."
    )
    if not choice.entry.public:
        near = (
            "≈ Nothing was trained on your data at ε = {epsilon}; this is the nearest trained"
            " point, ε = {shown}."
        )
        caption += (
            " All are computed on your raw data, without noise. Only you see them."
        )
    return {
        "near": near,
        "caption": caption,
        "part": component,
        "stay": "{stay} of {all} words survive",
        "gone": "gone:",
        "fresh": "new:",
        "sides": f"Above: with privacy ({choice.title}). Below: without privacy ({without}).",
        "pair": f"{component} and its non-private partner: {similarity}",
        "alt": f"{component}, with privacy: {{alike}}% similar to its partner.",
        "plainAlt": f"{component}, without privacy: the partner of the one above.",
        "numbers": "The numbers",
        "columns": columns,
    }
