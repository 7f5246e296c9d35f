"""The first view of Explore: the cost of epsilon as a headline, a figure and one person's list.

All of it comes from the table of measured draws, so the browser can follow the slider alone.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import Event, Gaussian
from dpmf_core.privacy.certainty import certainty_of
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_mu
from dpmf_core.privacy.interpretation import success_of
from dpmf_core.runs import conclusions, shipped_runs
from dpmf_core.runs.comparison import EPSILONS, TRIVIAL, Comparison, at_epsilon, references
from dpmf_core.runs.comparison import comparison as comparison_of
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.first_views import DEFAULT_EPSILON
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.planning import PreparedRun, prepare
from dpmf_core.runs.recommendations import recommend, someone
from dpmf_core.runs.references import paper_of
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.glossary import TERMS as GLOSSARY
from pages.kit import colours, data_sets, privacy_card
from pages.kit.comparison import headline, purchase_text
from pages.kit.sidebar_values import EPSILONS as SLIDER_STOPS
from pages.kit.sidebar_values import Choice

METRIC = "rmse"
USUAL = 80  # percent to keep, by default
LIST_LENGTH = 6  # recommendations in the first view
USER = "explore.user."  # in the session, by data set: the person shown
PERSON, LISTS = "person", "lists"  # names of data shipped with runs
CACHE_SIZE = 4000  # lists in memory, for all sessions
BEST_LINE = "Best proven"  # name of the line of the best method at each epsilon
# names that fit next to a narrow figure
SHORT = {BEST_LINE: "Best", "DPFW with Oja": "DPFW-Oja", "Private biases": "Biases"}
Items = list[dict[str, Any]]


# ---- what is known -------------------------------------------------------------------------------


def line_of(choice: Choice, judgement: Judgement, label: str) -> list[Measured]:
    """Return the private draws along epsilon that the figure shows, ascending.

    label: of the chosen method in the table. In best mode each epsilon has the best proven method,
    and the chosen one where the best is not known.
    """
    own = judgement.line(label)
    if not (choice.is_best and choice.entry.public):
        return own
    by_epsilon = {one.epsilon or 0.0: one for one in (*own, *judgement.best_line)}
    return [by_epsilon[epsilon] for epsilon in sorted(by_epsilon)]


def is_known(choice: Choice, judgement: Judgement, label: str) -> bool:
    """Return whether the line has a point at the chosen epsilon."""
    return any(one.epsilon == choice.epsilon for one in line_of(choice, judgement, label))


def papers_methods(offered: Iterable[str]) -> dict[str, str]:
    """Return titles with the paper, by id, of those offered methods that a paper printed."""
    return {
        name: f"{algorithms.find(name).title} ({paper_of(name)})"
        for name in offered
        if paper_of(name) and algorithms.find(name).is_usual_rival
    }


def run_of(spec: RunSpec, one: Measured) -> RunSpec:
    """Return the run of a point of the figure with the seed of `spec`."""
    run = spec.on(one.algorithm, parameters=dict(one.parameters))
    return at_epsilon(run, one.epsilon or 0.0)


# ---- what the browser draws ----------------------------------------------------------------------


def of_table(choice: Choice, judgement: Judgement, label: str) -> dict[str, Any] | None:
    """Return what the browser draws; None without a point or an end of the scale.

    label: of the chosen method in the table.
    """
    make = _cached_parts if choice.entry.public else _parts
    parts = make(replace(choice, epsilon=DEFAULT_EPSILON), judgement, label, colours.is_dark())
    if parts is None:
        return None
    epsilons = [point["epsilon"] for point in parts["points"]]
    every = (*EPSILONS, choice.epsilon, *epsilons)
    return {
        **parts,
        "epsilon": choice.epsilon,
        "range": [min(every), max(every)],
        "lists": None,
        "stale": False,
        "pending": choice.epsilon not in epsilons,
    }


def _parts(
    choice: Choice, judgement: Judgement, label: str, is_dark: bool
) -> dict[str, Any] | None:
    """Return what does not depend on the chosen epsilon. is_dark: distinguishes colours."""
    line = line_of(choice, judgement, label)
    if not line or judgement.floor is None or judgement.best_known is None:
        return None
    method = _line_name(choice, line)
    return {
        "title": "",
        "sentence": "",
        "alt": _alt(judgement, line, method),
        "method": _name_of(method),
        "colour": colours.text() if method == BEST_LINE else colours.of(line[0].algorithm),
        "points": [_point(choice, judgement, one) for one in line],
        "others": _other_lines(judgement, line, method),
        "levels": _levels(judgement),
        "units": ["share", "error"] if judgement.is_sharing_worth else ["error"],
        "digits": judgement.metric.digits,
        "terms": [{"term": term, "meaning": GLOSSARY[name].words} for term, name in TERMS.items()],
        "words": _templates(choice, judgement),
    }


_cached_parts = functools.lru_cache(maxsize=64)(
    _parts
)  # a judgement is the same while its table is


def _line_name(choice: Choice, line: Sequence[Measured]) -> str:
    is_best = choice.is_best and choice.entry.public
    return BEST_LINE if is_best else line[0].title


def _name_of(name: str) -> dict[str, str]:
    return {"name": name, "short": SHORT.get(name, name)}


def _point(choice: Choice, judgement: Judgement, one: Measured) -> dict[str, Any]:
    """Return a point: its figures in both units, its texts, and its row in the table of numbers."""
    shares = judgement.shares(one)
    kept = "" if shares is None else conclusions.share_text(shares.median)
    text = judgement.metric.text
    label = f"ε = {budget_text(one.epsilon or 0.0)}: {one.title}, held-out RMSE {text(one.median)}"
    if kept:
        label = f"{label}, {kept} kept"
    purchase = purchase_text(choice, one)
    if purchase:
        label = f"{label}. {purchase}"
    return {
        "epsilon": one.epsilon,
        "method": one.title,
        "colour": colours.of(one.algorithm),
        "share": None if shares is None else _figures(shares),
        "error": _figures(one),
        "title": headline(choice, one, _clause(judgement, one, shares)),
        "sentence": _second_sentence(choice, judgement, one),
        "details": _details(judgement, one),
        "label": label,
        "cells": [
            one.title,
            kept,
            text(one.median),
            text(one.low),
            text(one.high),
            str(len(one.draws)),
        ],
    }


def _figures(one: Measured) -> dict[str, Any]:
    return {"median": one.median, "low": one.low, "high": one.high, "values": list(one.draws)}


def _clause(judgement: Judgement, one: Measured, shares: Measured | None) -> str:
    """Return what a method does; its range over draws is among the details."""
    if shares is None:
        return conclusions.kept_words(judgement, one)
    return conclusions.share_words(judgement, shares.median)


def _second_sentence(choice: Choice, judgement: Judgement, one: Measured) -> str:
    """Return how a point compares with the other proven methods at its epsilon, or its price."""
    if not choice.entry.public:
        return f"{purchase_text(choice, one)}."
    best = judgement.best(one.epsilon or 0.0)
    if best is None:
        return ""
    better = conclusions.better_words(judgement, one)
    if better:
        return better
    if one.caution:  # its ε differs in meaning, so being better says nothing
        return conclusions.caution_words(one.label, one.caution)
    chance = conclusions.no_difference_words(judgement, one, most=len(judgement.ranked))
    return chance or conclusions.NO_BETTER


def _details(judgement: Judgement, one: Measured) -> str:
    """Return the ends of the scale with their figures, the range over draws, and the costs."""
    cost = judgement.cost(one)
    sentences = [
        f"{one.title} {conclusions.kept_words(judgement, one)}.",
        conclusions.scale_words(judgement),
        "" if cost is None else conclusions.cost_words(judgement, cost),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _other_lines(
    judgement: Judgement, line: Sequence[Measured], method: str
) -> list[dict[str, Any]]:
    """Return the thin lines: the papers' methods, and next to a chosen method the best ones."""
    lines = {}
    if method != BEST_LINE and judgement.best_line:
        lines[BEST_LINE] = judgement.best_line
    for one in judgement.ranked:
        if paper_of(one.algorithm) and one.title != method:
            lines.setdefault(one.label, judgement.line(one.label))
    return [
        {
            **_name_of(name),
            "colour": colours.text() if name == BEST_LINE else colours.of(along[0].algorithm),
            "points": [
                {"epsilon": one.epsilon, "share": judgement.share(one), "error": one.median}
                for one in along
            ],
        }
        for name, along in lines.items()
    ]


def _levels(judgement: Judgement) -> list[dict[str, Any]]:
    """Return both ends of the scale, with names for each unit."""
    levels = []
    ends = (("best", judgement.best_known, 1.0), ("floor", judgement.floor, 0.0))
    for kind, one, share in ends:
        assert one is not None
        words = conclusions.floor_words(judgement)
        short = words
        if kind == "best":
            words = conclusions.best_known_words(judgement)
            short = f"{one.label} without privacy"
        percent = conclusions.share_text(share)
        error = judgement.metric.text(one.median)
        levels.append(
            {
                "kind": kind,
                "share": share,
                "error": one.median,
                "name": {"share": f"{percent}: {words}", "error": f"{words}: {error}"},
                "short": {"share": f"{percent}: {short}", "error": f"{short}: {error}"},
            }
        )
    return levels


# ---- one person's list ---------------------------------------------------------------------------


def person(choice: Choice, spec: RunSpec) -> int | None:
    """Return the person whose list is shown: the chosen one, otherwise one with many ratings.

    None while no run tells who there is.
    """

    def usual() -> int | None:
        trivial = references(spec)[TRIVIAL]
        run = engine().known_runs.whole(trivial)
        return shipped_runs.view_data(trivial, PERSON) if run is None else someone(run)

    user: int | None = st.session_state.get(start_person(choice, usual))
    return user


def start_person(choice: Choice, usual: Callable[[], int | None]) -> str:
    """Return the session's key of the person shown for these data, and set it if it is new.

    The person in the address comes first, if this session has shown no one yet, then the usual one.
    """
    key = f"{USER}{data_sets.name_in_keys(choice.dataset)}"
    if key not in st.session_state:
        is_first = not any(str(name).startswith(USER) for name in st.session_state)
        text = st.query_params.get(PERSON, "") if is_first else ""
        is_linked = text.isdecimal() and int(text) < choice.entry.n_users
        user = int(text) if is_linked else usual()
        if user is not None:
            st.session_state[key] = user
    return key


def lists(
    choice: Choice, spec: RunSpec, line: Sequence[Measured], user: int | None
) -> dict[str, Any] | None:
    """Return one person's lists at each point of the first draw, and without noise."""
    if user is None:
        return None
    read = _cached_items if choice.entry.public else _items

    def items(run: RunSpec) -> Items:
        with contextlib.suppress(LookupError):
            return read(run.model_dump_json(), user)
        return []

    at = []
    for one in line:
        run = run_of(spec, one)
        private = items(run)
        without_noise = items(run.open()) if private else []
        if without_noise:
            at.append({"epsilon": one.epsilon, "items": private, "open": without_noise})
    return {"person": user, "at": at} if at else None


def _items(spec: str, user: int) -> Items:
    """Return a run's recommendations for a person; raise LookupError if unknown. spec: JSON."""
    run_spec = RunSpec.model_validate_json(spec)
    run = engine().known_runs.whole(run_spec)
    if run is None:
        stored_lists: dict[str, Items] = shipped_runs.view_data(run_spec, LISTS) or {}
        return stored_lists[str(user)]
    return [{"id": film.item, "title": film.title} for film in recommend(run, user, LIST_LENGTH)]


_cached_items = st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)(_items)


@functools.lru_cache(maxsize=256)
def plan(
    spec: str, shape: Shape, assumptions: tuple[str, ...], every: bool
) -> tuple[PreparedRun, Comparison]:
    """Return a run's plan and the runs that it is compared with; raise BadInput. spec: JSON."""
    run = RunSpec.model_validate_json(spec)
    return prepare(run, shape, assumptions), comparison_of(run, shape, every)


# ---- what epsilon means --------------------------------------------------------------------------


def meanings(choice: Choice, spec: RunSpec, ready: PreparedRun) -> list[dict[str, object]]:
    """Return what the browser shows of each epsilon at which the slider stops, ascending.

    Only of the chosen one if the noise is not Gaussian, because others take long.
    """
    unit, delta = ready.guarantee.unit, choice.delta
    own = _meaning(choice, ready.plan, unit, choice.epsilon)
    events: Mapping[float, Event] = {}
    if all_gaussian(ready.plan) and choice.calibration == "exact":
        events = {at: Gaussian(1 / gaussian_mu(at, delta)) for at in SLIDER_STOPS}
    elif all_gaussian(ready.plan):
        anywhere = at_epsilon(spec, EPSILONS[0]).model_dump_json()
        events = _along_grid(anywhere, choice.shape, choice.assumptions)
    points = {at: _meaning(choice, event, unit, at) for at, event in events.items()}
    points[choice.epsilon] = own
    return [points[at] for at in sorted(points)]


def _meaning(choice: Choice, event: Event, unit: str, epsilon: float) -> dict[str, object]:
    """Return one point. epsilon: the nominal one, which a source's rule does not keep."""
    certainty = certainty_of(event, choice.delta, unit)
    nominal = "nominal " if choice.calibration == "source" else ""
    return privacy_card.in_hundred(epsilon, certainty, success_of(event), nominal)


@functools.lru_cache(maxsize=256)
def _along_grid(spec: str, shape: Shape, assumptions: tuple[str, ...]) -> dict[float, Event]:
    """Return the plan at each epsilon of the grid, from public facts. spec: JSON."""
    any_run = RunSpec.model_validate_json(spec)
    plans = {}
    for at in EPSILONS:
        with contextlib.suppress(BadInput):  # a source's rule may not cover an epsilon
            plans[at] = prepare(at_epsilon(any_run, at), shape, assumptions).plan
    return plans


# ---- texts ---------------------------------------------------------------------------------------

# terms in the order of a headline, and their names in the glossary
TERMS = {"ε": "epsilon", "what sharing ratings is worth": "share kept", "RMSE": "RMSE"}
ALONG_SOURCE = {"middle": "nominal ε by the source's own rule"}
ALONG = {"start": "← more private", "middle": "ε, total", "end": "more accurate →"}
CAPTION = "Each dot is one run; the line is the median. Click to jump."
PRIVATELY = " Errors are computed on your raw data, without noise. Only you see them."


def _alt(judgement: Judgement, line: Sequence[Measured], method: str) -> str:
    text = judgement.metric.text
    ends = [f"{text(one.median)} at {budget_text(one.epsilon or 0.0)}" for one in line]
    return f"Held-out RMSE of {method} against epsilon: {ends[0]}, {ends[-1]}."


def _templates(choice: Choice, judgement: Judgement) -> dict[str, Any]:
    """Return the browser's texts while the slider is held; it fills in {..}."""
    is_mine = not choice.entry.public
    measured = "Nothing was trained on your data at" if is_mine else "No run was made at"
    return {
        "across": ALONG_SOURCE if choice.calibration == "source" else ALONG,
        "units": {"share": "Share kept", "error": "RMSE"},
        "methods": "Method that is shown",
        "worse": "worse than no model",
        "unknown": f"{measured} ε = {{epsilon}}",
        "start": "At ε = {epsilon}, {method}",
        **_clauses(judgement),
        "several": "the best proven method",
        "sentence": "Its held-out RMSE is about {private}.",
        "interpolated": "≈ Interpolated between runs at ε = {low} and {high}.",
        "pending": "" if is_mine else "This ε itself is being computed.",
        "stale": "",
        "caption": CAPTION + PRIVATELY if is_mine else CAPTION,
        "list": "Person {person} at ε = {epsilon}",
        "stay": "{stay} of {all} recommendations are the same as without noise.",
        "stayNear": "{stay} of {all} are the same; from the nearest run, ε = {epsilon}.",
        "own": "Struck out: lost to noise. →: replacement.",
        "numbers": "Costs and all numbers",
        "columns": ["ε", "method", "kept", "RMSE", "lowest", "highest", "draws"],
    }


def _clauses(judgement: Judgement) -> dict[str, str]:
    """Return what a method does between runs, by how much it keeps."""
    if not judgement.is_sharing_worth:
        return {"between": f"has RMSE about {{private}}; {conclusions.NOTHING_MEASURABLE}"}
    half = conclusions.share_words(judgement, 0.5, about="about ")
    return {
        "between": half.replace(conclusions.share_text(0.5), "{share}"),
        "betweenWorse": conclusions.share_words(judgement, -1.0),
        "betweenBetter": conclusions.share_words(judgement, 1.0),
    }
