"""The question of Compare, in widgets and in the link."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.splits import SplitSpec
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.first_views import COMPARE_DRAWS, COMPARE_EPSILONS, COMPARE_METHODS
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.record import Runs
from dpmf_core.runs.references import GLOBAL_MEAN, OWN_MEAN, best_known_on
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep, typed_grid, with_open
from pages.kit.base import lesson, links, safe_text
from pages.kit.controls.session_widgets import (
    FIGURE,
    SHARE,
    bind,
    one_of,
    page_values,
    within,
)
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.figures.sweep_charts import SOURCE_SUFFIX

# the best known method without privacy, and what needs no model of others
ALWAYS = ("bmf", GLOBAL_MEAN, OWN_MEAN)
NOISES = {"exact": "exact accounting", "source": "each source's rule", "both": "both"}
# metrics that rank methods
MEASURES = tuple(
    metric.id
    for metric in METRICS.values()
    if metric.ranks and "ratings" in metric.tasks
)
MOST_DRAWS = 20
MOST_EPSILONS = 20
VALID = "compare.valid"  # in the session: the values of the last comparison
# a text between spaces that may be one number or two
AMBIGUOUS = re.compile(r"[+-]?(\d+),(\d+(?:e[+-]?\d+)?)", re.I)


class BoxError(BadInput):
    """The content of a box cannot be compared.

    Attributes
    ----------
    box
        The name of the box in the link; '' for none in particular.
    """

    def __init__(self, box: str, problem: str) -> None:
        super().__init__(problem)
        self.box = box


# ---- texts ---------------------------------------------------------------------------------------


def _list_parts(text: str) -> list[str]:
    """The parts of a typed list. Raises BadInput on "2,5", which may be one part or two."""
    for typed in re.split(r"[;\s]+", text):
        if match := AMBIGUOUS.fullmatch(typed.strip(",")):
            left, right = match.groups()
            raise BadInput(
                f"'{match[0][:40]}' may be one number or two. Write {left[:20]}.{right[:20]} for"
                f" one, or {left[:20]}, {right[:20]} with a space for two."
            )
    return [part for part in re.split(r"[,;\s]+", text) if part]


def typed_epsilons(text: str) -> tuple[float, ...]:
    """Distinct epsilons in ascending order. Raises BadInput."""
    parts = _list_parts(text)
    try:
        values = sorted({float(part) for part in parts})
    except ValueError:
        values = []
    if (
        not 1 <= len(values) <= MOST_EPSILONS
        or not 1e-4 <= values[0] <= values[-1] <= 1000
    ):
        raise BadInput(
            f"Enter 1 to {MOST_EPSILONS} epsilons from 0.0001 to 1000, separated by commas: 0.5, 1,"
            f" 5. Got '{text[:60]}'."
        )
    return tuple(values)


def typed_values(text: str) -> dict[str, list[str]]:
    """The values of one or two parameters. Raises BadInput."""
    out = {}
    parts = [part.strip() for part in text.split(";")]
    for part in filter(None, parts):
        name, equals, values = part.partition("=")
        choices = _list_parts(values)
        if not (equals and name.strip() and choices):
            raise BadInput(
                "Write a grid as NAME = VALUES, for example rank = 2, 4, 8; steps = 2, 5. Got"
                f" '{part[:60]}'."
            )
        out[name.strip()] = choices
    if len(out) > 2:
        raise BadInput(
            f"A grid has one or two parameters. Got {len(out)}: {', '.join(out)}."
        )
    return out


# ---- the link ------------------------------------------------------------------------------------


def _method_names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name in algorithms.of_task("ratings")]
    if not names:
        raise ValueError
    return names


def _spaced(text: str) -> str:
    """A link's list with a space after each comma, which links may lack."""
    return re.sub(r",(?=\S)", ", ", text[:200])


CONTROLS = page_values(
    "compare",
    {
        "methods": (list(COMPARE_METHODS), _method_names),
        "epsilons": (
            ", ".join(f"{epsilon:g}" for epsilon in COMPARE_EPSILONS),
            _spaced,
        ),
        "draws": (COMPARE_DRAWS, within(int, 1, MOST_DRAWS)),
        "grid": ("", _spaced),
        "calibrations": ("exact", one_of(NOISES)),
        "metric": ("", one_of(("", *MEASURES))),
        "scale": (SHARE, one_of((SHARE, FIGURE))),
    },
)


@dataclass(frozen=True)
class CompareQuestion:
    """The runs of a comparison, their axis, and the metric."""

    points: list[Point]
    axis: str
    metric: str
    sweep: Sweep

    @property
    def signature(self) -> str:
        """A text that changes with the runs."""
        return str(hash(tuple(point.key for point in self.points)))


# ---- widgets -------------------------------------------------------------------------------------


def _keep_measure(key: str, lead: str) -> None:
    """Keep the chosen measure; the link omits the default."""
    metric = st.session_state[key]
    if metric in (None, lead):
        st.session_state["compare.metric"] = ""
    else:
        st.session_state["compare.metric"] = metric


def ask_measure(runs: Runs, lead: str) -> str:
    """Ask which measure of these runs the figure shows, by default `lead`."""
    metrics = {name for run in runs.values() for name in run.record.metrics}
    available = [name for name in MEASURES if name in metrics]
    if lead not in available:
        lead = "rmse"
    metric: str = st.session_state["compare.metric"]
    if metric not in available:
        metric = lead
    key = f"compare.measure.{lead}"
    st.session_state[key] = metric
    st.segmented_control(
        "Measure",
        available,
        key=key,
        format_func=lambda name: METRICS[name].label,
        label_visibility="collapsed",
        on_change=_keep_measure,
        args=(key, lead),
        required=True,
        wrap=True,
        disabled=lesson.page_values() is not None,
    )
    return metric


def draw(choice: SidebarChoice) -> CompareQuestion:
    """Draw the widgets and return their question.

    A box that cannot be used says why, and its last valid value stays. Raises BadInput if that
    cannot be run either.
    """
    for control in CONTROLS.values():
        control.start()
    below: dict[str, DeltaGenerator] = {}
    if not lesson.is_hidden("page"):
        below = _widgets(lesson.page_values() is not None)
    values = {name: st.session_state[control.key] for name, control in CONTROLS.items()}
    question = None
    while question is None:
        try:
            question = _kept_question(choice, values)
        except BoxError as error:
            values = _last_valid(values, error, below)
    st.session_state[VALID] = values
    links.put_in_address(
        {name: CONTROLS[name].text(value) for name, value in values.items()}
    )
    return question


def _last_valid(
    values: dict[str, Any], error: BoxError, below: dict[str, DeltaGenerator]
) -> dict[str, Any]:
    """Say under a box what is wrong with it, and return the values with its last valid one.

    Raises the error if the last valid value is at fault.
    """
    first = {name: control.first for name, control in CONTROLS.items()}
    last: dict[str, Any] = st.session_state.get(VALID, first)
    kept = last
    if error.box:
        kept = values | {error.box: last[error.box]}
    if kept == values:
        raise error
    stays = {
        "methods": ", ".join(algorithms.find(name).title for name in last["methods"]),
        "epsilons": f"ε = {last['epsilons']}",
        "grid": last["grid"] or "no grid",
    }
    words = (
        f"{error.args[0]} Still showing {stays.get(error.box, 'the last comparison')}."
    )
    place = below.get(error.box) or st.container()
    place.error(safe_text.escape(words))
    return kept


def _widgets(fixed: bool) -> dict[str, DeltaGenerator]:
    """Draw the widgets; return a place for complaints under each box that may be wrong."""
    below = {}
    st.multiselect(
        "Methods",
        [name for name in algorithms.of_task("ratings") if name not in ALWAYS],
        st.session_state["compare.methods"],
        format_func=lambda name: algorithms.find(name).title,
        key="compare.methods",
        persist_state="session",
        help="The best known method without privacy, the global mean and each person's own mean are"
        " always compared.",
        disabled=fixed,
    )
    below["methods"] = st.container()
    first, second, third = st.columns([3, 2, 3])
    first.text_input(
        "Epsilons",
        **bind("compare.epsilons"),
        help="Total ε, separated by commas: 0.5, 1, 2, 5.",
        disabled=fixed,
    )
    below["epsilons"] = first.container()
    second.number_input(
        "Draws",
        1,
        MOST_DRAWS,
        **bind("compare.draws"),
        help="Seeds, starting with the sidebar's. Each has its own split and noise.",
        disabled=fixed,
    )
    third.selectbox(
        "Noise is set by",
        NOISES,
        **bind("compare.calibrations", NOISES),
        format_func=NOISES.__getitem__,
        disabled=fixed,
    )
    st.text_input(
        "Grid",
        **bind("compare.grid"),
        placeholder="none; for example: rank = 2, 4, 8; steps = 2, 5",
        help="One or two parameters and their values; every combination runs. It is evaluated on a"
        " validation split, a tenth of the training ratings; test ratings stay unused.",
        disabled=fixed,
    )
    below["grid"] = st.container()
    st.caption("The sidebar sets the data set, items, δ and the first seed.")
    return below


# ---- the question --------------------------------------------------------------------------------


def _methods(
    names: list[str], noise: str, metric: str, choice: SidebarChoice
) -> tuple[Method, ...]:
    """The methods, by each rule of noise, and the non-private ones. Raises BadInput.

    The metric ranks them; '' is the error.
    """
    if not names:
        raise BadInput("Choose at least one method.")
    out = []
    for name in names:
        method = Method(algorithm=name, label=algorithms.find(name).title)
        if method.kind.needs_item_features and choice.known_features == "none":
            raise BadInput(
                f"{method.label} needs item features. Remove it, or choose a data set with features"
                " and make them public."
            )
        if noise == "exact" or not _has_source_rule(method, choice):
            out.append(method)
            continue
        if noise == "both":
            out.append(method)
        label = f"{method.label}{SOURCE_SUFFIX}"
        rule = {"label": label, "calibration": Calibration.SOURCE}
        out.append(method.model_copy(update=rule))
    data = DataSpec(id=choice.dataset)
    plain = [
        best_known_on(data, choice.shape, ranking)
        for ranking in ("rmse", metric or "rmse")
    ]
    plain += ALWAYS[1:]
    if choice.known_features == "public":
        plain.append("content")
    for name in dict.fromkeys(plain):
        if name not in names:
            out.append(Method(algorithm=name, label=algorithms.find(name).title))
    return tuple(out)


def _has_source_rule(method: Method, choice: SidebarChoice) -> bool:
    """Whether a method's source states how much noise it adds."""
    if not method.is_private:
        return False
    budget = Budget(epsilon=1.0, delta=choice.delta)
    try:
        algorithm = algorithms.build(method.algorithm, {}, choice.shape, budget)
        algorithm.source_level(choice.shape, budget)
    except BadInput:
        return False
    return True


@contextmanager
def _reading(box: str) -> Iterator[None]:
    """Say which box a complaint is about."""
    try:
        yield
    except BadInput as error:
        raise BoxError(box, error.args[0]) from None


def _kept_question(choice: SidebarChoice, values: dict[str, Any]) -> CompareQuestion:
    """The session's question, which may have thousands of runs, or a new one."""
    of_runs = {name: value for name, value in values.items() if name != "scale"}
    settings = f"{choice} {of_runs}"
    last: tuple[str, CompareQuestion] | None = st.session_state.get("compare.question")
    if last is not None and last[0] == settings:
        return last[1]
    question = _question(choice, values)
    st.session_state["compare.question"] = (settings, question)
    return question


def _question(choice: SidebarChoice, values: dict[str, Any]) -> CompareQuestion:
    """The question of these values. Raises BoxError."""
    with _reading("epsilons"):
        epsilons = typed_epsilons(values["epsilons"] or "")
    with _reading("methods"):
        methods = _methods(
            values["methods"], values["calibrations"], values["metric"], choice
        )
    with _reading("grid"):
        grid = typed_grid(methods, typed_values(values["grid"] or ""))
    # a heat map shows no lines, and has the most runs that a sweep may hold
    if len(grid) < 2:
        methods = with_open(methods)
    validation_fraction = 0.0
    axis = "epsilon"
    metric = "rmse"
    if grid:
        validation_fraction = 0.1
        axis = next(iter(grid))
        metric = "validation_rmse"
    sweep = Sweep(
        data=DataSpec(
            id=choice.dataset,
            top_items=choice.kept_items,
            most_per_user=choice.most_per_user,
            item_features=choice.known_features,
        ),
        methods=methods,
        epsilons=epsilons,
        seeds=tuple(range(choice.seed, choice.seed + (values["draws"] or 1))),
        delta=choice.delta,
        grid=grid,
        split=SplitSpec(
            test_fraction=choice.test_fraction, validation_fraction=validation_fraction
        ),
    )
    with _reading(""):
        points = sweep.points_on(choice.shape)
    return CompareQuestion(points, axis, metric, sweep)
