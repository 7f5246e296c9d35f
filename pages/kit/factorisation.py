"""Shared parts of Topics and Faces: the first view, the settings, the comparison."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import Comparison, part_comparison, references
from dpmf_core.runs.epsilon_grid import EpsilonGrid, Point, at_epsilon
from dpmf_core.runs.inspection import pairs, row_length, small_pictures, topics
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit import (
    colours,
    comparison,
    drawing,
    epsilon_grid,
    exports,
    factorisation_words,
    forms,
    links,
    odometer,
    privacy_card,
    sidebar,
)
from pages.kit.comparison import better_method
from pages.kit.components import draw_matched_parts
from pages.kit.epsilon_grid import Story
from pages.kit.factorisation_words import COMPONENTS, TOPICS, Sayings, Subject
from pages.kit.runs import ask, note_shipped
from pages.kit.sidebar_values import Choice

METRIC = "objective"
WITH_COMPONENTS = ("main", "best")  # runs whose components are shown
Runs = dict[str, Run]


@dataclass(frozen=True)
class FirstView:
    """The first view's results: finished runs, the grid, and whether components are shown."""

    runs: Runs
    grid: EpsilonGrid
    has_parts: bool


def draw_first_view(
    subject: Subject, choice: Choice, spec: RunSpec, selection: Comparison, proved: bool, most: int
) -> FirstView:
    """Draw the headline and the components, which follow epsilon, and the progress of runs.

    proved: whether epsilon is guaranteed. most: the number of components shown. While nothing is
    known of the current choice, the previous result stays.
    """
    page = subject.id
    head, news = st.container(), st.container()

    def draw(waits: bool) -> tuple[EpsilonGrid, bool]:
        grid = epsilon_grid.read(spec, METRIC, also=(choice.epsilon,))
        story = None
        if waits or grid.point(choice.epsilon) is not None:
            story = _story(subject, choice, spec, grid, proved, most)
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
) -> None:
    """Draw a page about documents or images.

    Parameters
    ----------
    heading : str
        Title of the fold with settings and parameters.
    settings : callable
        Draws the preparation of rows; returns it, and what is taken as public.
    most : callable
        Number of components to show, from the number of all.
    below : callable
        Draws the part below the first view, which needs runs.
    """
    choice, page = sidebar.choice(), subject.id
    names = ("epsilon", "delta", "calibration", "noise")
    budget = Budget(**{name: getattr(choice, name) for name in names})
    head, card, beneath = (st.container() for _ in range(3))
    with st.expander(heading):
        data, assumptions = settings(choice)
        usual = {"n_components": choice.entry.n_components}
        parameters = forms.parameters(choice.algorithm, choice.shape, budget, page, usual)
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
    st.caption(subject.source)
    if "main" in view.runs:
        with st.expander("Export"):
            exports.draw(view.runs["main"])


def price(selection: Comparison, runs: Runs, subject: Subject) -> None:
    """Draw every method at this epsilon, and the objective by step if the run has several."""
    trivial = runs["main"].record.metric("trivial_objective")
    several = comparison.has_steps(runs["main"])
    left, right = st.columns([2, 3] if several else [3, 2], gap="large")
    with left:
        remark = (
            "The objective is half the mean squared distance between"
            f" {subject.a_row} and its sum of {subject.many}. Smaller is better. The average"
            f" {subject.row} alone has {METRICS[METRIC].text(trivial)}."
        )
        comparison.draw_methods(subject.id, selection, runs, METRIC, remark)
    if several:
        parts, guess = {METRIC: "all samples"}, (f"the average {subject.row}", trivial)
        with right:
            st.header("Objective by step", anchor="steps")
            comparison.draw_steps(subject.id, "Objective by step", runs, parts, METRIC, guess)


# ---- the first view ------------------------------------------------------------------------------

MATCHED_PARTS = "matched"  # name of these data among those shipped with runs
CACHE_SIZE = 1000  # runs whose components are in memory, for all sessions
Part = list[str] | str  # a topic's words, or a picture's file in base64


@dataclass(frozen=True)
class MatchedParts:
    """Components of a private run at the places of their non-private partners; empty without one.

    alike: cosine of each with its partner. coherence: of topics, if computed.
    """

    parts: Sequence[Part]
    alike: Sequence[float]
    coherence: float | None


KINDS = {TOPICS.id: "words", COMPONENTS.id: "pictures"}


def _contents(subject: str, run: Run) -> list[Part]:
    if subject == TOPICS.id:
        return [[word for word, _ in topic] for topic in topics(run)]
    return [base64.b64encode(file).decode() for file in small_pictures(run)]


def _story(
    subject: Subject,
    choice: Choice,
    spec: RunSpec,
    grid: EpsilonGrid,
    proved: bool,
    most: int,
) -> Story | None:
    """Return what the browser draws, or None until a private and a non-private run exist.

    proved: whether epsilon is guaranteed; otherwise only the chosen run is shown. most: the number
    of components shown.
    """
    best = references(spec)["best"]
    plain = _find_parts(subject, choice, best, best)
    points = {it.epsilon: it for it in grid.points if proved or it.epsilon == choice.epsilon}
    candidates = {at: _find_parts(subject, choice, at_epsilon(spec, at), best) for at in points}
    by_epsilon = {at: parts for at, parts in candidates.items() if parts is not None}
    if plain is None or not by_epsilon or not grid.best:
        return None
    kind, without = algorithms.find(choice.algorithm), algorithms.find(best.algorithm)
    titles = kind.title, without.title
    sayings = Sayings(subject, choice, *titles, proved, plain.coherence)
    return {
        "epsilon": choice.epsilon,
        "colour": colours.of(kind.id),
        "kind": KINDS[subject.id],
        "plain": plain.parts[:most],
        "across": row_length(len(plain.parts[:most])),
        "points": [_point(sayings, points[at], it, plain, most) for at, it in by_epsilon.items()],
        "terms": factorisation_words.terms(subject, without.title),
        "words": factorisation_words.templates(sayings),
        "stale": False,
        "pending": choice.epsilon not in by_epsilon,
    }


def _point(
    sayings: Sayings, point: Point, private: MatchedParts, plain: MatchedParts, most: int
) -> dict[str, Any]:
    shared = None
    if sayings.subject is TOPICS:
        both = [len({*a} & {*b}) for a, b in zip(private.parts, plain.parts, strict=True)]
        shared = sum(both) / len(both)
    alike = sum(private.alike) / len(private.alike)
    title, sentence = sayings.finding(point, shared, private.coherence)
    return {
        "epsilon": point.epsilon,
        "title": title,
        "sentence": sentence,
        "parts": private.parts[:most],
        "alike": private.alike[:most],
        "cells": sayings.cells(point, shared, alike, private.coherence),
    }


# ---- components ----------------------------------------------------------------------------------


def _find_parts(
    subject: Subject, choice: Choice, spec: RunSpec, best: RunSpec
) -> MatchedParts | None:
    """Return components of a stored or shipped run, or None; cached on public data."""
    texts = subject.id, spec.model_dump_json(), best.model_dump_json()
    try:
        return _cached_parts(*texts) if choice.entry.public else match_parts(*texts)
    except LookupError:
        package_parts = shipped_runs.view_data(spec, MATCHED_PARTS)
        return None if package_parts is None else MatchedParts(**package_parts)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_parts(subject: str, spec: str, best: str) -> MatchedParts:
    return match_parts(subject, spec, best)


def match_parts(subject: str, spec: str, best: str) -> MatchedParts:
    """Return a run's components in the order of their partners; raise LookupError without the runs.

    spec, best: JSON.
    """
    run, other = (engine().known_runs.whole(RunSpec.model_validate_json(it)) for it in (spec, best))
    if run is None or other is None:
        raise LookupError
    contents = _contents(subject, run)
    partners = {pair.partner: pair for pair in pairs(run, other)}
    order = [partners.get(place) for place in range(len(_contents(subject, other)))]
    nothing: Part = [] if subject == TOPICS.id else ""
    return MatchedParts(
        tuple(nothing if pair is None else contents[pair.component] for pair in order),
        tuple(0.0 if pair is None else pair.cosine for pair in order),
        run.record.metrics.get("coherence"),
    )
