"""The first view of Topics and Faces: what an epsilon does to components, as a headline and as the
components themselves, each at the place of its partner without privacy.

All of it is made from the grid of epsilons, so that the browser can follow the slider alone.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import references
from dpmf_core.runs.epsilon_grid import EpsilonGrid, Point, at_epsilon
from dpmf_core.runs.inspection import pairs, row_length, small_pictures, topics
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit import colours, factorisation_words
from pages.kit.choice import Choice
from pages.kit.epsilon_grid import Story
from pages.kit.factorisation_words import COMPONENTS, TOPICS, Sayings, Subject

MATCHED_PARTS = "matched"  # what comes with the package of runs, beside their records
CACHE_SIZE = 1000  # components of runs in memory, for all sessions
Part = list[str] | str  # the words of a topic, or a picture's file in base64


@dataclass(frozen=True)
class MatchedParts:
    """The components of a private run, each at the place of its partner without privacy; nothing
    where a component has none.

    alike: the cosine of each with its partner. coherence: of topics, where it could be computed.
    """

    parts: Sequence[Part]
    alike: Sequence[float]
    coherence: float | None


def _words(run: Run) -> list[Part]:
    return [[word for word, _ in topic] for topic in topics(run)]


def _pictures(run: Run) -> list[Part]:
    return [base64.b64encode(file).decode() for file in small_pictures(run)]


CONTENTS: dict[str, Callable[[Run], list[Part]]] = {TOPICS.id: _words, COMPONENTS.id: _pictures}
KINDS = {TOPICS.id: "words", COMPONENTS.id: "pictures"}


def of_grid(
    subject: Subject,
    choice: Choice,
    spec: RunSpec,
    grid: EpsilonGrid,
    proved: bool,
    most: int,
) -> Story | None:
    """What the browser draws; None while there is no private run, or none without privacy.

    proved: whether epsilon is what is promised; else the chosen run alone is shown. most: so many
    components are shown.
    """
    twin = references(spec)["twin"]
    plain = _find_parts(subject, choice, twin, twin)
    points = {it.epsilon: it for it in grid.points if proved or it.epsilon == choice.epsilon}
    candidates = {at: _find_parts(subject, choice, at_epsilon(spec, at), twin) for at in points}
    by_epsilon = {at: parts for at, parts in candidates.items() if parts is not None}
    if plain is None or not by_epsilon or not grid.twin:
        return None
    kind, without = algorithms.find(choice.algorithm), algorithms.find(twin.algorithm)
    titles = kind.title, without.title
    sayings = Sayings(subject, choice, *titles, proved, plain.coherence)
    return {
        "epsilon": choice.epsilon,
        "colour": colours.of(kind.id),
        "kind": KINDS[subject.id],
        "plain": plain.parts[:most],
        "across": row_length(len(plain.parts[:most])),
        "points": [_point(sayings, points[at], it, plain, most) for at, it in by_epsilon.items()],
        "terms": factorisation_words.terms(subject),
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


# ---- components of runs that are there -----------------------------------------------------------


def _find_parts(
    subject: Subject, choice: Choice, spec: RunSpec, twin: RunSpec
) -> MatchedParts | None:
    """On public data remembered for everybody; of a run that is not there what comes with the
    package, else None.
    """
    texts = subject.id, spec.model_dump_json(), twin.model_dump_json()
    try:
        return _cached_parts(*texts) if choice.entry.public else match_parts(*texts)
    except LookupError:
        package_parts = shipped_runs.view_data(spec, MATCHED_PARTS)
        return None if package_parts is None else MatchedParts(**package_parts)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_parts(subject: str, spec: str, twin: str) -> MatchedParts:
    return match_parts(subject, spec, twin)


def match_parts(subject: str, spec: str, twin: str) -> MatchedParts:
    """The components of a run in the order of their partners. spec, twin: as JSON. Raises
    LookupError where a run is not there.
    """
    run, other = (engine().known_runs.whole(RunSpec.model_validate_json(it)) for it in (spec, twin))
    if run is None or other is None:
        raise LookupError
    contents = CONTENTS[subject](run)
    partners = {pair.partner: pair for pair in pairs(run, other)}
    order = [partners.get(place) for place in range(len(CONTENTS[subject](other)))]
    nothing: Part = [] if subject == TOPICS.id else ""
    return MatchedParts(
        tuple(nothing if pair is None else contents[pair.component] for pair in order),
        tuple(0.0 if pair is None else pair.cosine for pair in order),
        run.record.metrics.get("coherence"),
    )
