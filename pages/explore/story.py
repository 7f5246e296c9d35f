"""The first view of Explore: the cost of epsilon as a headline, a figure and one person's list.

All of it comes from the grid of epsilons, so the browser can follow the slider alone.
"""

import contextlib
import functools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import Event, Gaussian
from dpmf_core.privacy.certainty import certainty_of, success_text
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_mu
from dpmf_core.privacy.interpretation import success_of
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import Comparison, references
from dpmf_core.runs.comparison import comparison as comparison_of
from dpmf_core.runs.epsilon_grid import EPSILONS, EpsilonGrid, Point, at_epsilon
from dpmf_core.runs.needed_epsilon import share_kept, share_text
from dpmf_core.runs.planning import PreparedRun, prepare
from dpmf_core.runs.recommendations import recommend, someone
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.glossary import TERMS as GLOSSARY
from pages.kit import colours
from pages.kit.comparison import (
    best_known_title,
    gain_kept,
    headline,
    median,
    median_text,
    purchase_text,
)
from pages.kit.sidebar_values import EPSILONS as SLIDER_STOPS
from pages.kit.sidebar_values import Choice

USUAL = 80  # percent of the gain to keep, by default
LIST_LENGTH = 6  # recommendations in the first view
USER = "explore.user."  # in the session, by data set: the person shown
PERSON, LISTS = "person", "lists"  # names of data shipped with runs
CACHE_SIZE = 4000  # lists in memory, for all sessions
Items = list[dict[str, Any]]


def of_grid(choice: Choice, grid: EpsilonGrid) -> dict[str, Any] | None:
    """Return what the browser draws; None without a point or a reference."""
    if not (grid.points and grid.best and grid.trivial):
        return None
    kind = algorithms.find(choice.algorithm)
    title, best, trivial = kind.title, _level(grid.best), _level(grid.trivial)
    without = f"best known without privacy, {best_known_title(kind.id)}: {best['text']}"
    own = _level(grid.open) if grid.open else None
    guess = f"guessing the mean: {trivial['text']}"
    epsilons = (*EPSILONS, choice.epsilon, *grid.epsilons)
    return {
        "epsilon": choice.epsilon,
        "method": title,
        "title": "",
        "sentence": "",
        "alt": _alt(title, grid),
        "colour": colours.of(kind.id),
        "points": [_point(choice, title, point) for point in grid.points],
        "best": best | {"label": without},
        "trivial": trivial | {"label": guess},
        "open": own and own | {"label": f"{title} without noise: {own['text']}"},
        "range": [min(epsilons), max(epsilons)],
        "digits": RMSE.digits,
        "lists": None,
        "terms": [{"term": it, "meaning": GLOSSARY[name].words} for it, name in _TERMS.items()],
        "words": _templates(choice, title),
        "stale": False,
        "pending": grid.point(choice.epsilon) is None,
    }


def _level(draws: Sequence[float]) -> dict[str, Any]:
    middle = statistics.median(draws)
    return {"median": middle, "text": RMSE.text(middle)}


def _point(choice: Choice, title: str, point: Point) -> dict[str, Any]:
    headline, sentence = _finding(choice, title, point)
    low, high, share = min(point.values), max(point.values), share_kept(point.shared_draws)
    label = f"ε = {budget_text(point.epsilon)}: held-out RMSE {RMSE.text(point.median)}"
    return {
        "epsilon": point.epsilon,
        "median": point.median,
        "low": low,
        "high": high,
        "values": list(point.values),
        "title": headline,
        "sentence": sentence,
        "label": ". ".join(filter(None, (label, purchase_text(choice, point)))),
        # a row of the table of numbers, without its epsilon
        "cells": [
            *map(RMSE.text, (point.median, low, high)),
            str(len(point.values)),
            "" if share is None else share_text(share),
        ],
    }


# ---- one person's list ---------------------------------------------------------------------------


def person(choice: Choice, spec: RunSpec) -> int | None:
    """Return the person whose list is shown: the chosen one, otherwise one with many ratings.

    None while no run tells who there is.
    """

    def usual() -> int | None:
        trivial = references(spec)["trivial"]
        run = engine().known_runs.whole(trivial)
        return shipped_runs.view_data(trivial, PERSON) if run is None else someone(run)

    user: int | None = st.session_state.get(start_person(choice, usual))
    return user


def start_person(choice: Choice, usual: Callable[[], int | None]) -> str:
    """Return the session's key of the person shown for these data, and set it if it is new.

    The person in the address comes first, if this session has shown no one yet, then the usual one.
    """
    key = f"{USER}{choice.dataset}"
    if key not in st.session_state:
        is_first = not any(str(it).startswith(USER) for it in st.session_state)
        text = st.query_params.get(PERSON, "") if is_first else ""
        is_linked = text.isdecimal() and int(text) < choice.entry.n_users
        if (user := int(text) if is_linked else usual()) is not None:
            st.session_state[key] = user
    return key


def lists(
    choice: Choice, spec: RunSpec, grid: EpsilonGrid, user: int | None
) -> dict[str, Any] | None:
    """Return one person's lists at each measured epsilon of the first draw, and without noise."""
    if user is None:
        return None
    read = _cached_items if choice.entry.public else _items

    def items(run: RunSpec) -> Items:
        with contextlib.suppress(LookupError):
            return read(run.model_dump_json(), user)
        return []

    by_epsilon = {at: items(at_epsilon(spec, at)) for at in grid.epsilons}
    there = [{"epsilon": at, "items": own} for at, own in by_epsilon.items() if own]
    own = items(references(spec)["open"])
    return {"person": user, "open": own, "at": there} if own and there else None


def _items(spec: str, user: int) -> Items:
    """Return a run's recommendations for a person; raise LookupError if unknown. spec: JSON."""
    run_spec = RunSpec.model_validate_json(spec)
    run = engine().known_runs.whole(run_spec)
    if run is None:
        stored_lists: dict[str, Items] = shipped_runs.view_data(run_spec, LISTS) or {}
        return stored_lists[str(user)]
    return [{"id": it.item, "title": it.title} for it in recommend(run, user, LIST_LENGTH)]


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
    whom = "one person" if unit == "user" else f"one {unit}"
    nominal = "nominal " if choice.calibration == "source" else ""
    return {
        "epsilon": epsilon,
        "title": f"What {nominal}ε = {budget_text(epsilon)} means for {whom}",
        "certainty": certainty.words(),
        "guess": success_text(success_of(event)),
        "figures": certainty.in_hundred,
    }


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

NO_BETTER = "does no better than guessing the mean"
RMSE = METRICS["rmse"]
# terms in the order of a headline, and their names in the glossary
_TERMS = {"ε": "epsilon", "gain over guessing": "gain over guessing", "RMSE": "RMSE"}
STARS = ((1.0, 5.0), (0.5, 5.0))  # bounds of ratings in stars


def _rating_unit(choice: Choice) -> str:
    in_stars = tuple(map(float, choice.entry.bounds)) in STARS
    return "stars" if in_stars else "points"


def _finding(choice: Choice, title: str, point: Point) -> tuple[str, str]:
    if not point.shared_draws:
        errs = f"errs by {RMSE.text(point.median)}"
        return headline(choice, point, title, errs), ""
    without = best_known_title(choice.algorithm)
    private = median_text(point.shared_draws, 0, RMSE.digits)
    best, guess = (RMSE.text(median(point.shared_draws, place)) for place in (1, 2))
    clause = gain_kept(point.shared_draws, without, NO_BETTER)
    return headline(choice, point, title, clause), (
        f"Off by {private} {_rating_unit(choice)} with privacy, {best} with {without}, {guess} by"
        " guessing the mean (held-out RMSE). " + (point.cost.words(without) if point.cost else "")
    ).rstrip()


def _alt(title: str, grid: EpsilonGrid) -> str:
    first, last = grid.points[0], grid.points[-1]
    return (
        f"Held-out RMSE of {title} against epsilon: {RMSE.text(first.median)} at"
        f" {budget_text(first.epsilon)}, {RMSE.text(last.median)} at {budget_text(last.epsilon)}."
    )


def _templates(choice: Choice, title: str) -> dict[str, Any]:
    """Return the browser's texts while the slider is held; it fills in {..}."""
    unit, mine = _rating_unit(choice), not choice.entry.public
    epsilon, best = "{epsilon}", best_known_title(choice.algorithm)
    unknown = "ε = {epsilon} was not measured"
    if mine:
        unknown = "Nothing was trained on your data at ε = {epsilon}"
    return {
        "across": {"middle": "nominal ε by the source's own rule"}
        if choice.calibration == "source"
        else {"start": "← more private", "middle": "ε, total", "end": "more accurate →"},
        "price": f"+{{gap}} {unit}: the noise",
        "nothing": "noise costs nothing",
        "unknown": unknown,
        "between": (
            f"At ε = {epsilon}, {title} keeps about {{share}} of {best}'s gain over guessing"
        ),
        "betweenWorse": f"At ε = {epsilon}, {title} does about no better than guessing the mean",
        "betweenBetter": (
            f"At ε = {epsilon}, {title} does about as well as {best} without privacy"
        ),
        "sentence": (
            f"Off by about {{private}} {unit} with privacy, {{best}} with {best}, the best known"
            " without privacy, {trivial} by guessing the mean (held-out RMSE)."
        ),
        "interpolated": "≈ Interpolated between measured points at ε = {low} and {high}.",
        "pending": "" if mine else "This ε itself is being computed.",
        "stale": "",
        "caption": "Each dot is one run; the line is the median. Click to jump."
        + " Errors are computed on your raw data, without noise. Only you see them." * mine,
        "list": "Person {person} at ε = {epsilon}",
        "stay": "{stay} of {all} recommendations are the same as without noise.",
        "stayNear": "{stay} of {all} are the same; from the nearest measured point, ε = {epsilon}.",
        "own": "Struck out: lost to noise. →: replacement.",
        "numbers": "The numbers",
        "columns": ["ε", "RMSE", "lowest", "highest", "draws", "gain kept"],
    }
