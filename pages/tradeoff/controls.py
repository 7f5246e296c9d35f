"""What the Trade-off page is asked: a published figure or a choice of one's own, in widgets and in
the link.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.data.ratings import Shape
from dpmf_core.data.splits import SplitSpec
from dpmf_core.errors import BadInput
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.first_views import TRADE_OFF_DRAWS, TRADE_OFF_EPSILONS, TRADE_OFF_METHODS
from dpmf_core.papers.figures import Figure
from dpmf_core.papers.registry import figures_of
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Point, Sweep, typed_grid
from pages.kit import lesson, links
from pages.kit.choice import Choice
from pages.kit.published_figures import name as figure_name
from pages.kit.session_widgets import bind
from pages.kit.sweep_frames import SOURCE_SUFFIX
from pages.tradeoff import typed_values

OWN, SKEW = "own", "chien-fig2"
ALWAYS = ("als", "global-mean")  # the non-private twin and the trivial predictor
PUBLISHED_FIGURES = {name: it for name, it in figures_of("trade-off").items() if name != SKEW}
FIGURES = (OWN, SKEW, *PUBLISHED_FIGURES)
NOISES = {"exact": "exact", "source": "each source's rule", "both": "both"}
JUDGES = {"test": "test split", "validation": "validation split"}
START = {
    "fig": OWN,
    "methods": ",".join(it for it in TRADE_OFF_METHODS if it not in ALWAYS),
    "epsilons": ", ".join(f"{epsilon:g}" for epsilon in TRADE_OFF_EPSILONS),
    "draws": str(TRADE_OFF_DRAWS),
    "grid": "",
    "noise": "exact",
    "judge": "test",
    "metric": "",
}
# what methods can be ranked by
MEASURES = tuple(it.id for it in METRICS.values() if it.ranks and "ratings" in it.tasks)
CHOICES = {"noise": tuple(NOISES), "judge": tuple(JUDGES), "metric": ("", *MEASURES)}
MOST_DRAWS = 20


@dataclass(frozen=True)
class Question:
    """The runs, the axis they are drawn on, and what judges them."""

    points: list[Point]
    axis: str
    metric: str
    figure: Figure | None = None
    sweep: Sweep | None = None

    @property
    def signature(self) -> str:
        """Changes when the runs do."""
        return str(hash(tuple(point.key for point in self.points)))


# ---- the link ------------------------------------------------------------------------------------


def _start_from_address() -> None:
    """Values from the last look at this page, else from the link, else as at first."""
    fixed_values = lesson.page_values()
    for name, value in START.items():
        key = f"tradeoff.{name}"
        if fixed_values is not None:
            if st.session_state.get(key) != (fixed := _read(name, fixed_values.get(name, value))):
                st.session_state[key] = fixed
        elif key not in st.session_state:
            st.session_state[key] = _read(name, st.query_params.get(name, value))


def sidebar_note() -> str:
    """What stands in the sidebar where the page shows a figure with data of its own; '' where
    the sidebar's are used.
    """
    _start_from_address()
    figure = PUBLISHED_FIGURES.get(st.session_state["tradeoff.fig"])
    if figure is None:
        return ""
    return (
        f"**This figure has data of its own:** {figure.data()}. Its ε, δ and seeds are its own as"
        " well."
    )


def _read(name: str, text: str) -> Any:
    """A link's text as the widget's value; what cannot be read becomes what it was at first."""
    if name == "methods":
        methods = [method for method in text.split(",") if method in algorithms.of_task("ratings")]
        return methods or START["methods"].split(",")
    if name == "draws":
        return int(text if text.isdecimal() and 1 <= int(text) <= MOST_DRAWS else START["draws"])
    if name == "fig" or name in CHOICES:
        return text if text in CHOICES.get(name, FIGURES) else START[name]
    return text[:200]


def _write_to_address() -> None:
    values = {name: st.session_state[f"tradeoff.{name}"] for name in START}
    texts = {
        name: ",".join(value) if isinstance(value, list) else str(value or "")
        for name, value in values.items()
    }
    links.put_in_address(
        {name: None if text == START[name] else text for name, text in texts.items()}
    )


# ---- widgets -------------------------------------------------------------------------------------


def _title(name: str) -> str:
    return algorithms.REGISTRY[name].title


def measure_title(name: str) -> str:
    """What a measure is called, with a capital letter."""
    title = METRICS[name].title
    return title[:1].upper() + title[1:]


def _figure(name: str) -> str:
    if name == OWN:
        return "Your own choice, on the data set at left"
    if name == SKEW:
        return "Chien et al. 2021, Fig. 2: how ratings bunch on few items, on the data set at left"
    return figure_name(PUBLISHED_FIGURES[name])


def _reset_measure() -> None:
    """Another figure is drawn by its own measure."""
    st.session_state["tradeoff.metric"] = ""


def _keep_measure(key: str, lead: str) -> None:
    """What was chosen for the figure; the figure's own measure needs no word in the link."""
    metric = st.session_state[key]
    st.session_state["tradeoff.metric"] = "" if metric in (None, lead) else metric


def measure(available: Sequence[str], lead: str) -> str:
    """Which of the available measures the figure shows: a control, for which the link may have
    spoken.
    """
    last, key = st.session_state["tradeoff.metric"], f"tradeoff.measure.{lead}"
    metric = st.session_state[key] = last if last in available else lead
    st.segmented_control(
        "Measure",
        available,
        key=key,
        format_func=measure_title,
        label_visibility="collapsed",
        on_change=_keep_measure,
        args=(key, lead),
        required=True,
        wrap=True,
        disabled=lesson.page_values() is not None,
    )
    return str(metric)


def draw(choice: Choice) -> Question:
    """The widgets; what they ask for.

    Raises BadInput, after all widgets are drawn, on what cannot be run.
    """
    _start_from_address()
    fixed, invisible = lesson.page_values() is not None, lesson.is_hidden("page")
    if not invisible:
        st.selectbox(
            "What to compare",
            FIGURES,
            **bind("tradeoff.fig", FIGURES),
            format_func=_figure,
            on_change=_reset_measure,
            disabled=fixed,
        )
    figure_id = st.session_state["tradeoff.fig"]
    if figure_id == OWN and not invisible:
        _widgets(fixed)
    _write_to_address()
    if figure_id == OWN:
        return _own(choice)
    if figure_id == SKEW:
        return Question([], "items", "rmse")
    figure = PUBLISHED_FIGURES[figure_id]
    data = (
        f"Data: {figure.data()}; ε, δ and seeds are the figure's too, the sidebar's play no part."
    )
    st.caption(f"{figure.words} {figure.stands_in()} {data}")
    return Question(figure.points(), figure.axis, figure.metric, figure)


def _widgets(fixed: bool) -> None:
    """A choice of one's own: methods, at which epsilons and how they are judged, and a grid."""
    st.multiselect(
        "Methods",
        [name for name in algorithms.of_task("ratings") if name not in ALWAYS],
        st.session_state["tradeoff.methods"],
        format_func=_title,
        key="tradeoff.methods",
        persist_state="session",
        disabled=fixed,
        help="ALS, the non-private twin, and the global mean, the trivial predictor, are always"
        " there.",
    )
    _judgement_widgets(fixed)
    st.text_input(
        "Grid",
        **bind("tradeoff.grid"),
        disabled=fixed,
        placeholder="none; for example: rank = 2, 4, 8; steps = 2, 5",
        help="One or two parameters and their values; every combination is run for the methods that"
        " have them, and judged on a validation split.",
    )
    st.caption("Data set, items, δ and first seed are those of the sidebar.")


def _judgement_widgets(fixed: bool) -> None:
    """At which epsilons, in how many draws, by whose noise and on which ratings, side by side."""
    first, second, third, fourth = st.columns([3, 2, 3, 3])
    first.text_input(
        "Epsilons",
        **bind("tradeoff.epsilons"),
        disabled=fixed,
        help="Total privacy losses with commas between them, e.g. 0.5, 1, 2, 5.",
    )
    second.number_input(
        "Draws",
        1,
        MOST_DRAWS,
        **bind("tradeoff.draws"),
        disabled=fixed,
        help="Seeds, from the sidebar's on; each with a split and noise of its own.",
    )
    third.selectbox(
        "Noise is set by",
        list(NOISES),
        **bind("tradeoff.noise", list(NOISES)),
        disabled=fixed,
        format_func=lambda name: NOISES[name],
    )
    fourth.selectbox(
        "Judged on",
        list(JUDGES),
        **bind("tradeoff.judge", list(JUDGES)),
        disabled=fixed,
        format_func=lambda name: JUDGES[name],
        help="A validation split takes a tenth of the ratings from training. What is chosen by it"
        " can be tested afterwards; a grid is always judged on it.",
    )


def has_source_rule(name: str, shape: Shape, budget: Budget) -> bool:
    """Whether the algorithm's source states how its noise is set."""
    try:
        algorithms.build(name, {}, shape, budget).source_level(shape, budget)
    except BadInput:
        return False
    return True


def _methods(names: list[str], noise: str, choice: Choice) -> tuple[Method, ...]:
    """Every method once, or once by each rule that it has; then the twin and the trivial
    predictor.
    """
    if not names:
        raise BadInput("Choose at least one method.")
    out = []
    budget = Budget(epsilon=1.0, delta=choice.delta)
    for name in names:
        method = Method(algorithm=name, label=_title(name))
        if method.kind.needs_item_features and choice.item_features == "none":
            raise BadInput(
                f"{method.label} learns from item features, and none are chosen. Take it out,"
                " or choose MovieLens or the cinema and let its features be public."
            )
        by_source = (
            method.is_private and noise != "exact" and has_source_rule(name, choice.shape, budget)
        )
        if not by_source or noise == "both":
            out.append(method)
        if by_source:
            out.append(
                method.model_copy(
                    update={
                        "label": f"{method.label}{SOURCE_SUFFIX}",
                        "calibration": Calibration.SOURCE,
                    }
                )
            )
    floor = ("content",) if choice.item_features == "public" else ()
    beside = [name for name in (*ALWAYS, *floor) if name not in names]
    return *out, *(Method(algorithm=name, label=_title(name)) for name in beside)


def _own(choice: Choice) -> Question:
    """What the widgets ask for; thought out anew when they say something else, for it may be
    thousands of runs. Raises BadInput.
    """
    values = {name: st.session_state[f"tradeoff.{name}"] for name in START}
    settings = f"{choice} {values}"
    last: tuple[str, Question] | None = st.session_state.get("tradeoff.question")
    if last is None or last[0] != settings:
        last = st.session_state["tradeoff.question"] = (settings, _own_question(choice, values))
    return last[1]


def _own_question(choice: Choice, values: dict[str, Any]) -> Question:
    methods = _methods(values["methods"], values["noise"], choice)
    grid = typed_grid(methods, typed_values.grid(values["grid"] or ""))
    on_validation = bool(grid) or values["judge"] == "validation"
    sweep = Sweep(
        data=DataSpec(
            id=choice.data, top_items=choice.kept_items, item_features=choice.item_features
        ),
        methods=methods,
        epsilons=typed_values.epsilons(values["epsilons"] or ""),
        seeds=tuple(range(choice.seed, choice.seed + (values["draws"] or 1))),
        delta=choice.delta,
        grid=grid,
        split=SplitSpec(validation_fraction=0.1) if on_validation else SplitSpec(),
    )
    return Question(
        sweep.points_on(choice.shape),
        next(iter(grid)) if grid else "epsilon",
        "validation_rmse" if on_validation else "rmse",
        sweep=sweep,
    )
