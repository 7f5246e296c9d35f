"""Shared parts of Topics and Faces: the first view, the settings, the comparison."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import DRAWS, Comparison, part_comparison, references
from dpmf_core.runs.epsilon_grid import EpsilonGrid, Point, at_epsilon
from dpmf_core.runs.inspection import pairs, row_length, small_pictures, topics
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.glossary import TERMS
from pages.kit import (
    colours,
    comparison,
    drawing,
    epsilon_grid,
    exports,
    forms,
    links,
    odometer,
    privacy_card,
    sidebar,
)
from pages.kit.components import draw_matched_parts
from pages.kit.epsilon_grid import Story
from pages.kit.runs import ask, note_shipped
from pages.kit.sidebar_values import Choice

METRIC = METRICS["objective"]
WITH_COMPONENTS = ("main", "best")  # runs whose components are shown
MATCHED_PARTS = "matched"  # name of these data among those shipped with runs
CACHE_SIZE = 1000  # runs whose components are in memory, for all sessions
Runs = dict[str, Run]
Part = list[str] | str  # a topic's words, or a picture's file in base64


@dataclass(frozen=True)
class Subject:
    """A page's words.

    id: of the page. title, many, numbered_title: of components. row, a_row: of data. legend:
    explains the first view. source: which of the source's figures the page shows.
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
    *("topics", "Topics", "topics", "Topic {number}", "document", "a document"),
    "Each list has the top ten words of a topic of {without}. Struck out: lost to privacy. +: added"
    " by privacy.",
    "“A topic in full” above is the source's Fig. 9. Its Fig. 1 draws the protocol.",
)
COMPONENTS = Subject(
    *("faces", "Components", "components", "Component {number}", "image", "an image"),
    "Each component stands above its partner, the most similar one of {without}. Each picture has"
    " its own scale from black to white. The bar between them shows their similarity (cosine): full"
    " for equal pictures.",
    "“One image as a sum of components” above is the source's Fig. 11.",
)


# ---- the page ------------------------------------------------------------------------------------

Settings = Callable[[Choice], tuple[dict[str, object], tuple[str, ...]]]
Below = Callable[[Choice, Runs], None]


def draw_page(
    subject: Subject, heading: str, settings: Settings, most: Callable[[int], int], below: Below
) -> None:
    """Draw a page about documents or images.

    heading: of the fold with settings and parameters. settings: draws the preparation of rows;
    returns it, and what is taken as public. most: number of components to show, from the number of
    all. below: draws the page's own part below the first view, which needs runs.
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
        runs, grid, has_parts = _first_view(subject, choice, spec, selection, proved, count)
    drawing.first_view_ends(has_parts)
    with beneath:
        privacy_card.who_sees_what(f"{subject.row}s")
        below(choice, runs)
        if "main" in runs:
            _draw_price(subject, selection, runs)
    if proved and len(runs) == len(selection.runs):
        epsilon_grid.keep_filling(page, spec, grid)
    links.to("papers", "The source's figures, measured again", {"paper": "saha-2022"})
    st.caption(subject.source)
    if "main" in runs:
        with st.expander("Export"):
            exports.draw(runs["main"])


def _first_view(
    subject: Subject, choice: Choice, spec: RunSpec, selection: Comparison, proved: bool, most: int
) -> tuple[Runs, EpsilonGrid, bool]:
    """Draw the headline and the components, which follow epsilon, and the progress of runs.

    proved: whether epsilon is guaranteed. most: the number of components shown. While nothing is
    known of the current choice, the previous result stays. Returns the finished runs, the grid, and
    whether components are shown.
    """
    page = subject.id
    head, news = st.container(), st.container()

    def draw(waits: bool) -> tuple[EpsilonGrid, bool]:
        grid = epsilon_grid.read(spec, METRIC.id, also=(choice.epsilon,))
        story = None
        if waits or grid.point(choice.epsilon) is not None:
            story = _story(subject, choice, spec, grid, proved, most)
        displayed_story = epsilon_grid.displayed(page, choice, story, waits)
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
            at = f"{subject.title} at ε = {budget_text(choice.epsilon)}"
            st.title(f"{at}, with privacy and without", anchor=False)
            st.write(odometer.opening_text(page))
    if proved:
        note_shipped([*selection.runs.values(), *epsilon_grid.specs(spec)])
    if better := comparison.better_method(runs, selection.runs, METRIC.id):
        st.markdown(better[1])
    return runs, grid, has_parts


def _draw_price(subject: Subject, selection: Comparison, runs: Runs) -> None:
    """Draw every method at this epsilon, and the objective by step if the run has several."""
    trivial = runs["main"].record.metric("trivial_objective")
    several = comparison.has_steps(runs["main"])
    left, right = st.columns([2, 3] if several else [3, 2], gap="large")
    with left:
        remark = (
            "The objective is half the mean squared distance between"
            f" {subject.a_row} and its sum of {subject.many}. Smaller is better. The average"
            f" {subject.row} alone has {METRIC.text(trivial)}."
        )
        comparison.draw_methods(subject.id, selection, runs, METRIC.id, remark)
    if several:
        parts, guess = {METRIC.id: "all samples"}, (f"the average {subject.row}", trivial)
        with right:
            st.header("Objective by step", anchor="steps")
            comparison.draw_steps(subject.id, "Objective by step", runs, parts, METRIC.id, guess)


# ---- what the browser draws ----------------------------------------------------------------------


@dataclass(frozen=True)
class MatchedParts:
    """Components of a private run at the places of their non-private partners; empty without one.

    alike: cosine of each with its partner. coherence: of topics, if computed.
    """

    parts: Sequence[Part]
    alike: Sequence[float]
    coherence: float | None


def _story(
    subject: Subject, choice: Choice, spec: RunSpec, grid: EpsilonGrid, proved: bool, most: int
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
    title, without = (algorithms.find(it).title for it in (choice.algorithm, best.algorithm))

    def point(at: float, private: MatchedParts) -> dict[str, Any]:
        shared, alike = None, fmean(private.alike)
        cells = [METRIC.text(points[at].median), str(len(points[at].values)), f"{alike:.2f}"]
        if subject is TOPICS:
            both = zip(private.parts, plain.parts, strict=True)
            shared = fmean(len({*own} & {*other}) for own, other in both)
            cells += ["" if it is None else f"{it:.2f}" for it in (shared, private.coherence)]
        clause, sentence = _finding(subject, points[at], without, shared)
        if sentence and private.coherence is not None and plain.coherence is not None:
            sentence += (
                f" Coherence {private.coherence:.2f} with privacy, {plain.coherence:.2f} without."
            )
        if sentence and (cost := comparison.purchase_text(choice, points[at])):
            sentence += f" {cost}"
        if proved:
            words = comparison.headline(choice, points[at], title, clause)
        else:
            words = comparison.plain_headline(
                None, title, clause, len(points[at].shared_draws) or DRAWS
            )
        return {
            "epsilon": at,
            "title": words,
            "sentence": sentence,
            "parts": private.parts[:most],
            "alike": private.alike[:most],
            "cells": cells,
        }

    return {
        "epsilon": choice.epsilon,
        "colour": colours.of(choice.algorithm),
        "kind": "words" if subject is TOPICS else "pictures",
        "plain": plain.parts[:most],
        "across": row_length(len(plain.parts[:most])),
        "points": [point(at, it) for at, it in by_epsilon.items()],
        "terms": [{"term": it, "meaning": words} for it, words in _meanings(subject).items()],
        "words": _templates(subject, choice, title, without),
        "stale": False,
        "pending": choice.epsilon not in by_epsilon,
    }


def _finding(subject: Subject, point: Point, without: str, shared: float | None) -> tuple[str, str]:
    """Return a clause for the headline, and sentences; '' without shared draws.

    shared: mean number of surviving top ten words.
    """
    if not point.shared_draws:
        return f"has found {subject.many}", ""
    private, best, guess = (
        _share(comparison.median(point.shared_draws, place)) for place in range(3)
    )
    sentences = [
        f"Unexplained in a typical {subject.row}: {private} with privacy, {best} with {without},"
        f" {guess} by the average {subject.row} alone."
    ]
    if shared is not None:
        sentences.insert(0, f"On average, {shared:.1f} of each topic's top ten words survive.")
    if point.cost:
        sentences.append(point.cost.words(without))
    nothing = f"finds no {subject.many}: it does no better than the average"
    return comparison.gain_kept(point.shared_draws, without, nothing), " ".join(sentences)


def _share(objective: float) -> str:
    """Return the objective, half a squared distance, as a percentage of a row's squared size."""
    percent = 200 * objective
    return f"{percent:.0f}%" if percent >= 1 or percent == 0 else f"{percent:.1g}%"


def _meanings(subject: Subject) -> dict[str, str]:
    a_row, row, many = subject.a_row, subject.row, subject.many
    return {
        "ε": TERMS["epsilon"].words,
        "gain over guessing": f"How much more of {a_row} the {many} explain than the average {row}"
        " alone. 100% is the non-private version.",
        "survive": "Words in the lists with and without privacy; mean over the topics.",
        "Unexplained": f"The squared distance between {a_row} and its sum of {many}, as a share of"
        f" the {row}'s squared size; mean over all, median draw. The objective is half of it.",
        "Coherence": "How related a topic's words are in these documents: at best 1, about 0 for"
        " unrelated words (TC-W2V).",
    }


def _templates(subject: Subject, choice: Choice, title: str, without: str) -> dict[str, Any]:
    """Return the browser's texts; it fills in {..}."""
    component, mine = subject.numbered_title, not choice.entry.public
    similarity = "{stay} of {all} words survive" if subject is TOPICS else "{alike}% similar"
    near = "≈ ε = {epsilon} was not measured; this is the nearest measured point, ε = {shown}."
    caption = (
        f"{subject.legend.format(without=without)} The {subject.many} come from one draw, seed"
        f" {choice.seed}; percentages are medians over draws."
    )
    if mine:
        near = (
            "≈ Nothing was trained on your data at ε = {epsilon}; this is the nearest trained"
            " point, ε = {shown}."
        )
        caption += " All are computed on your raw data, without noise. Only you see them."
    return {
        "near": near,
        "pending": "" if mine else "This ε itself is being computed.",
        "stale": "",
        "caption": caption,
        "part": component,
        "stay": "{stay} of {all} words survive",
        "gone": "gone:",
        "fresh": "new:",
        "sides": f"Above: with privacy ({title}). Below: without privacy ({without}).",
        "pair": f"{component} and its non-private partner: {similarity}",
        "alt": f"{component}, with privacy: {{alike}}% similar to its partner.",
        "plainAlt": f"{component}, without privacy: the partner of the one above.",
        "numbers": "The numbers",
        "columns": ["ε", "objective", "draws", "similarity (cosine)"]
        + ["surviving words", "coherence"] * (subject is TOPICS),
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


def _contents(subject: str, run: Run) -> list[Part]:
    if subject == TOPICS.id:
        return [[word for word, _ in topic] for topic in topics(run)]
    return [base64.b64encode(file).decode() for file in small_pictures(run)]


_cached_parts = st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)(match_parts)
