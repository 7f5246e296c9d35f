"""The first view of Explore: the cost of epsilon as a headline, a figure and one person's list.

All of it comes from the table of measured draws, so the browser can follow the slider alone.
"""

import contextlib
import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Event, Gaussian
from dpmf_core.privacy.certainty import certainty_of
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_mu
from dpmf_core.privacy.interpretation import success_of
from dpmf_core.runs import conclusions
from dpmf_core.runs.comparison import EPSILONS, Comparison
from dpmf_core.runs.comparison import comparison as comparison_of
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.first_views import DEFAULT_EPSILON
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.planning import PreparedRun, prepare
from dpmf_core.runs.references import paper_of
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.glossary import TERMS as GLOSSARY
from pages.kit.components import Story, StoryPart
from pages.kit.controls.sidebar_values import EPSILONS as SLIDER_STOPS
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.figures import colours
from pages.kit.first_views import first_view
from pages.kit.first_views.first_view import headline, purchase_text
from pages.kit.privacy import privacy_card

METRIC = "rmse"
USUAL = 80  # percent to keep, by default
BEST_LINE = "Best proven"  # name of the line of the best method at each epsilon
# names that fit next to a narrow figure
SHORT = {BEST_LINE: "Best", "DPFW with Oja": "DPFW-Oja", "Private biases": "Biases"}


# ---- what is known -------------------------------------------------------------------------------


def line_of(choice: SidebarChoice, judgement: Judgement, label: str) -> list[Measured]:
    """The private draws along epsilon that the figure shows, ascending.

    In best mode each epsilon has the best proven method. Where the best is not known, it has the
    chosen method.

    Parameters
    ----------
    choice
        The choice in the sidebar.
    judgement
        The measured methods.
    label
        The chosen method's label in the table.
    """
    own = judgement.line(label)
    if not _shows_best(choice):
        return own
    by_epsilon = {one.epsilon or 0.0: one for one in (*own, *judgement.best_line)}
    return [by_epsilon[epsilon] for epsilon in sorted(by_epsilon)]


def _shows_best(choice: SidebarChoice) -> bool:
    """Whether each epsilon has a method of its own; on private data none is the best."""
    return choice.is_best and bool(choice.entry.public)


def is_known(choice: SidebarChoice, judgement: Judgement, label: str) -> bool:
    """Whether the line has a point at the chosen epsilon."""
    return any(
        one.epsilon == choice.epsilon for one in line_of(choice, judgement, label)
    )


def papers_methods(offered: Iterable[str]) -> dict[str, str]:
    """Titles with the paper, by id, of the offered methods that a paper printed."""
    return {
        name: f"{algorithms.find(name).title} ({paper_of(name)})"
        for name in offered
        if paper_of(name) and algorithms.find(name).is_usual_rival
    }


# ---- what the browser draws ----------------------------------------------------------------------


def of_table(choice: SidebarChoice, judgement: Judgement, label: str) -> Story | None:
    """The data that the browser draws; None without a point or an end of the scale.

    Parameters
    ----------
    choice
        The choice in the sidebar.
    judgement
        The measured methods.
    label
        The chosen method's label in the table.
    """
    any_choice = replace(choice, epsilon=DEFAULT_EPSILON)
    if choice.entry.public:
        parts = _cached_parts(any_choice, judgement, label, colours.is_dark())
    else:
        parts = _parts(any_choice, judgement, label)
    if parts is None:
        return None
    every = (*EPSILONS, choice.epsilon, *(one["epsilon"] for one in parts["points"]))
    return {
        **parts,
        **first_view.at_choice(choice, parts["points"]),
        "range": [min(every), max(every)],
        "lists": None,
    }


def _parts(choice: SidebarChoice, judgement: Judgement, label: str) -> Story | None:
    """What does not depend on the chosen epsilon."""
    line = line_of(choice, judgement, label)
    if not line or judgement.floor is None or judgement.best_known is None:
        return None
    method = BEST_LINE if _shows_best(choice) else line[0].title
    return {
        **first_view.compose(
            choice,
            [_point(choice, judgement, one) for one in line],
            {term: GLOSSARY[name].words for term, name in TERMS.items()},
            _templates(choice, judgement),
        ),
        "title": "",
        "sentence": "",
        "alt": _alt(judgement, line, method),
        "method": _name_of(method),
        "colour": _colour_of_line(method, line),
        "others": _other_lines(judgement, method),
        "levels": _levels(judgement),
        "units": ["share", "error"] if judgement.is_sharing_worth else ["error"],
        "digits": judgement.metric.digits,
    }


@functools.lru_cache(maxsize=64)  # a judgement is the same while its table is
def _cached_parts(
    choice: SidebarChoice, judgement: Judgement, label: str, _is_dark: bool
) -> Story | None:
    return _parts(choice, judgement, label)


def _name_of(name: str) -> dict[str, str]:
    return {"name": name, "short": SHORT.get(name, name)}


def _colour_of_line(name: str, line: Sequence[Measured]) -> str:
    if name == BEST_LINE:
        return colours.text()
    return colours.of(line[0].algorithm)


def _point(choice: SidebarChoice, judgement: Judgement, one: Measured) -> StoryPart:
    """A point: its figures in both units, its texts, and its row in the table of numbers."""
    text = judgement.metric.text
    label = f"ε = {budget_text(one.epsilon or 0.0)}: {one.title}, held-out RMSE {text(one.median)}"
    shares = judgement.shares(one)
    if shares is None:
        kept = ""
        share = None
        clause = conclusions.kept_words(judgement, one)
    else:
        kept = conclusions.share_text(shares.median)
        share = _figures(shares)
        # without the range over draws, which is among the details
        clause = conclusions.share_words(judgement, shares.median)
        label = f"{label}, {kept} kept"
    purchase = purchase_text(choice, one)
    if purchase:
        label = f"{label}. {purchase}"
    return {
        "epsilon": one.epsilon,
        "method": one.title,
        "colour": colours.of(one.algorithm),
        "share": share,
        "error": _figures(one),
        "title": headline(choice, one, clause),
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


def _figures(one: Measured) -> StoryPart:
    return {
        "median": one.median,
        "low": one.low,
        "high": one.high,
        "values": list(one.draws),
    }


def _second_sentence(choice: SidebarChoice, judgement: Judgement, one: Measured) -> str:
    """How a point compares with the other proven methods at its epsilon, or its price."""
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
    """The ends of the scale with their figures, the range over draws, and the costs."""
    sentences = [
        f"{one.title} {conclusions.kept_words(judgement, one)}.",
        conclusions.scale_words(judgement),
    ]
    cost = judgement.cost(one)
    if cost is not None:
        sentences.append(conclusions.cost_words(judgement, cost))
    return " ".join(filter(None, sentences))


def _other_lines(judgement: Judgement, method: str) -> list[StoryPart]:
    """The thin lines: the papers' methods, and next to a chosen method the best ones."""
    lines = {}
    if method != BEST_LINE and judgement.best_line:
        lines[BEST_LINE] = judgement.best_line
    for one in judgement.ranked:
        if paper_of(one.algorithm) and one.title != method:
            lines.setdefault(one.label, judgement.line(one.label))
    return [
        {
            **_name_of(name),
            "colour": _colour_of_line(name, line),
            "points": [
                {
                    "epsilon": one.epsilon,
                    "share": judgement.share(one),
                    "error": one.median,
                }
                for one in line
            ],
        }
        for name, line in lines.items()
    ]


def _levels(judgement: Judgement) -> list[StoryPart]:
    """Both ends of the scale, with names for each unit."""
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


@functools.lru_cache(maxsize=256)
def plan(
    spec: RunSpec, shape: Shape, assumptions: tuple[str, ...], every: bool
) -> tuple[PreparedRun, Comparison]:
    """A run's plan and the runs that it is compared with; raises BadInput."""
    return prepare(spec, shape, assumptions), comparison_of(spec, shape, every)


# ---- what epsilon means --------------------------------------------------------------------------


def meanings(
    choice: SidebarChoice, spec: RunSpec, ready: PreparedRun
) -> list[dict[str, object]]:
    """What the browser shows of each epsilon at which the slider stops, ascending.

    Only of the chosen one if the noise is not Gaussian, because others take long.
    """
    events: dict[float, Event] = {}
    if all_gaussian(ready.plan) and choice.calibration == "exact":
        for epsilon in SLIDER_STOPS:
            events[epsilon] = Gaussian(1 / gaussian_mu(epsilon, choice.delta))
    elif all_gaussian(ready.plan):
        any_run = spec.at_epsilon(EPSILONS[0])
        events |= _along_grid(any_run, choice.shape, choice.assumptions)
    events[choice.epsilon] = ready.plan
    unit = ready.guarantee.unit
    return [
        _meaning(choice, events[epsilon], unit, epsilon) for epsilon in sorted(events)
    ]


def _meaning(
    choice: SidebarChoice, event: Event, unit: str, epsilon: float
) -> dict[str, object]:
    """The data of one point. Epsilon is nominal, because a source's rule may not keep it."""
    certainty = certainty_of(event, choice.delta, unit)
    nominal = "nominal " if choice.calibration == "source" else ""
    return privacy_card.in_hundred(epsilon, certainty, success_of(event), nominal)


@functools.lru_cache(maxsize=256)
def _along_grid(
    spec: RunSpec, shape: Shape, assumptions: tuple[str, ...]
) -> dict[float, Event]:
    """The plan at each epsilon of the grid, from public facts."""
    plans = {}
    for epsilon in EPSILONS:
        with contextlib.suppress(BadInput):  # a source's rule may not cover an epsilon
            plans[epsilon] = prepare(spec.at_epsilon(epsilon), shape, assumptions).plan
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


def _templates(choice: SidebarChoice, judgement: Judgement) -> StoryPart:
    """The browser's texts while the slider is held; it fills in {..}."""
    unknown = "No run was made at ε = {epsilon}"
    caption = CAPTION
    if not choice.entry.public:
        unknown = "Nothing was trained on your data at ε = {epsilon}"
        caption += PRIVATELY
    return {
        "across": ALONG_SOURCE if choice.calibration == "source" else ALONG,
        "units": {"share": "Share kept", "error": "RMSE"},
        "methods": "Method that is shown",
        "worse": "worse than no model",
        "unknown": unknown,
        "start": "At ε = {epsilon}, {method}",
        **_clauses(judgement),
        "several": "the best proven method",
        "sentence": "Its held-out RMSE is about {private}.",
        "interpolated": "≈ Interpolated between runs at ε = {low} and {high}.",
        "caption": caption,
        "list": "Person {person} at ε = {epsilon}",
        "stay": "{stay} of {all} recommendations are the same as without noise.",
        "stayNear": "{stay} of {all} are the same; from the nearest run, ε = {epsilon}.",
        "own": "Struck out: lost to noise. →: replacement.",
        "numbers": "Costs and all numbers",
        "columns": ["ε", "method", "kept", "RMSE", "lowest", "highest", "draws"],
    }


def _clauses(judgement: Judgement) -> dict[str, str]:
    """What a method does between runs, by how much it keeps."""
    if not judgement.is_sharing_worth:
        return {
            "between": f"has RMSE about {{private}}; {conclusions.NOTHING_MEASURABLE}"
        }
    half = conclusions.share_words(judgement, 0.5, about="about ")
    return {
        "between": half.replace(conclusions.share_text(0.5), "{share}"),
        "betweenWorse": conclusions.share_words(judgement, -1.0),
        "betweenBetter": conclusions.share_words(judgement, 1.0),
    }
