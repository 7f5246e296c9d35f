"""What the Trade-off page is asked: a preset or a choice of one's own, in widgets and in the link."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.data import Shape, SplitSpec
from dpmf_core.errors import BadInput
from dpmf_core.experiment import DataSpec
from dpmf_core.figures import Preset
from dpmf_core.presets import RATINGS_PRESETS
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.sweeps import Method, Point, Sweep, typed_grid
from pages.kit import lesson, links
from pages.kit.sidebar import Choice
from pages.kit.swept import METRICS, SOURCED
from pages.kit.tied import tied

OWN, SKEW = "own", "chien-fig2"
FIGURES = (OWN, SKEW, *RATINGS_PRESETS)
NOISES = {"exact": "exact", "source": "each source's rule", "both": "both"}
JUDGES = {"test": "test split", "validation": "validation split"}
START = {
    "fig": OWN, "methods": "spectral,dpals,private-bias", "epsilons": "1, 5, 20", "draws": "2", "grid": "", "noise": "exact", "judge": "test", "metric": "",
}  # fmt: skip
CHOICES = {"noise": tuple(NOISES), "judge": tuple(JUDGES), "metric": ("", *METRICS)}
MOST_DRAWS, MOST_EPSILONS = 20, 20
ALWAYS = ("als", "global-mean")  # the non-private twin and the trivial predictor


@dataclass(frozen=True)
class Asked:
    """The runs, the axis they are drawn on, and what judges them."""

    points: list[Point]
    axis: str
    metric: str
    preset: Preset | None = None
    sweep: Sweep | None = None

    @property
    def signature(self) -> str:
        """Changes when the runs do."""
        return str(hash(tuple(point.key for point in self.points)))


# ---- the link ---------------------------------------------------------------------------------------------------------


def _start() -> None:
    """Values from the last look at this page, else from the link, else as at first."""
    told = lesson.page_says()
    for name, value in START.items():
        key = f"tradeoff.{name}"
        if told is not None:
            if st.session_state.get(key) != (fixed := _read(name, told.get(name, value))):
                st.session_state[key] = fixed
        elif key not in st.session_state:
            st.session_state[key] = _read(name, st.query_params.get(name, value))


def instead() -> str:
    """What stands in the sidebar where the page shows a figure with data of its own; '' where the sidebar's are used."""
    _start()
    preset = RATINGS_PRESETS.get(st.session_state["tradeoff.fig"])
    return "" if preset is None else f"**This figure has data of its own:** {preset.data()}. Its ε, δ and seeds are its own as well."


def _read(name: str, text: str) -> Any:
    """A link's text as the widget's value; what cannot be read becomes what it was at first."""
    if name == "methods":
        known = [method for method in text.split(",") if method in algorithms.of_task("ratings")]
        return known or START["methods"].split(",")
    if name == "draws":
        return int(text) if text.isdecimal() and 1 <= int(text) <= MOST_DRAWS else int(START["draws"])
    if name == "fig" or name in CHOICES:
        return text if text in CHOICES.get(name, FIGURES) else START[name]
    return text[:200]


def _follow() -> None:
    held = {name: st.session_state[f"tradeoff.{name}"] for name in START}
    texts = {name: ",".join(value) if isinstance(value, list) else str(value or "") for name, value in held.items()}
    links.tell({name: None if text == START[name] else text for name, text in texts.items()})


# ---- widgets ----------------------------------------------------------------------------------------------------------


def _title(name: str) -> str:
    return algorithms.REGISTRY[name].title


def _figure(name: str) -> str:
    fixed = {OWN: "Your own choice, on the data set at left", SKEW: "Chien et al. 2021, Fig. 2: how ratings bunch on few items, on the data set at left"}
    return fixed.get(name) or f"{RATINGS_PRESETS[name].source}: {RATINGS_PRESETS[name].title}"


def _another() -> None:
    """Another figure is drawn by its own measure."""
    st.session_state["tradeoff.metric"] = ""


def _measured(key: str, lead: str) -> None:
    """What was chosen for the figure; the figure's own measure needs no word in the link."""
    chosen = st.session_state[key]
    st.session_state["tradeoff.metric"] = "" if chosen in (None, lead) else chosen


def measure(available: Sequence[str], lead: str) -> str:
    """Which of the available measures the figure shows: a control, for which the link may have spoken."""
    held, key = st.session_state["tradeoff.metric"], f"tradeoff.measure.{lead}"
    metric = st.session_state[key] = held if held in available else lead
    st.segmented_control(
        "Measure",
        available,
        key=key,
        format_func=METRICS.__getitem__,
        label_visibility="collapsed",
        on_change=_measured,
        args=(key, lead),
        required=True,
        disabled=lesson.page_says() is not None,
    )
    return str(metric)


def draw(choice: Choice) -> Asked:
    """The widgets; what they ask for. Raises BadInput, after all widgets are drawn, on what cannot be run."""
    _start()
    fixed, unseen = lesson.page_says() is not None, lesson.hidden("page")
    if not unseen:
        st.selectbox("What to compare", FIGURES, **tied("tradeoff.fig", FIGURES), format_func=_figure, on_change=_another, disabled=fixed)
    chosen = st.session_state["tradeoff.fig"]
    if chosen == OWN:
        if not unseen:
            _widgets(fixed)
        _follow()
        return _own(choice)
    _follow()
    if chosen == SKEW:
        return Asked([], "items", "rmse")
    preset = RATINGS_PRESETS[chosen]
    st.caption(f"{preset.words} {preset.stands_in()} Data: {preset.data()}; ε, δ and seeds are the figure's too, the sidebar's play no part.")
    return Asked(preset.points(), preset.axis, preset.metric, preset)


def _widgets(fixed: bool) -> None:
    """A choice of one's own."""
    st.multiselect(
        "Methods", [name for name in algorithms.of_task("ratings") if name not in ALWAYS], st.session_state["tradeoff.methods"], format_func=_title,
        key="tradeoff.methods", persist_state="session", disabled=fixed,
        help="ALS, the non-private twin, and the global mean, the trivial predictor, are always there.",
    )  # fmt: skip
    first, second, third, fourth = st.columns([3, 2, 3, 3])
    first.text_input("Epsilons", **tied("tradeoff.epsilons"), disabled=fixed, help="Total privacy losses with commas between them, e.g. 0.5, 1, 2, 5.")
    second.number_input(
        "Draws", 1, MOST_DRAWS, **tied("tradeoff.draws"), disabled=fixed, help="Seeds, from the sidebar's on; each with a split and noise of its own."
    )
    third.selectbox("Noise is set by", list(NOISES), **tied("tradeoff.noise", list(NOISES)), disabled=fixed, format_func=NOISES.__getitem__)
    fourth.selectbox(
        "Judged on", list(JUDGES), **tied("tradeoff.judge", list(JUDGES)), disabled=fixed, format_func=JUDGES.__getitem__,
        help="A validation split takes a tenth of the ratings from training. What is chosen by it can be tested afterwards; a grid is always judged on it.",
    )  # fmt: skip
    st.text_input(
        "Grid", **tied("tradeoff.grid"), disabled=fixed, placeholder="none; for example: rank = 2, 4, 8; steps = 2, 5",
        help="One or two parameters and their values; every combination is run for the methods that have them, and judged on a validation split.",
    )  # fmt: skip
    st.caption("Data set, items, δ and first seed are those of the sidebar.")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(dict.fromkeys(float(part) for part in re.split(r"[,;\s]+", text.strip()) if part))
    except ValueError:
        raise BadInput(f"Epsilons are numbers with commas between them, e.g. 0.5, 1, 5. Got '{text[:60]}'.") from None
    if not 1 <= len(found) <= MOST_EPSILONS or not all(1e-4 <= epsilon <= 1000 for epsilon in found):
        raise BadInput(f"Give 1 to {MOST_EPSILONS} epsilons from 0.0001 to 1000. Got '{text[:60]}'.")
    return tuple(sorted(found))


def _grid(text: str) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, values = part.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not (equals and name.strip() and listed):
            raise BadInput(f"A grid is written NAME = VALUES, e.g. rank = 2, 4, 8; steps = 2, 5. Got '{part[:60]}'.")
        out[name.strip()] = listed
    if len(out) > 2:
        raise BadInput(f"A grid has one or two parameters. Got {len(out)}: {', '.join(out)}.")
    return out


def has_source_rule(name: str, shape: Shape, budget: Budget) -> bool:
    """Whether the algorithm's source states how its noise is set."""
    try:
        algorithms.build(name, {}, shape, budget).source_level(shape, budget)
    except BadInput:
        return False
    return True


def _methods(names: list[str], noise: str, choice: Choice) -> tuple[Method, ...]:
    """Every method once, or once by each rule that it has; then the twin and the trivial predictor."""
    if not names:
        raise BadInput("Choose at least one method.")
    out = []
    budget = Budget(epsilon=1.0, delta=choice.delta)
    for name in names:
        method = Method(algorithm=name, label=_title(name))
        sourced = method.is_private and noise != "exact" and has_source_rule(name, choice.shape, budget)
        if not sourced or noise == "both":
            out.append(method)
        if sourced:
            out.append(method.model_copy(update={"label": f"{method.label}{SOURCED}", "calibration": Calibration.SOURCE}))
    return (*out, *(Method(algorithm=name, label=_title(name)) for name in ALWAYS if name not in names))


def _own(choice: Choice) -> Asked:
    """What the widgets ask for; thought out anew when they say something else, for it may be thousands of runs. Raises BadInput."""
    held = {name: st.session_state[f"tradeoff.{name}"] for name in START}
    said = f"{choice} {held}"
    last: tuple[str, Asked] | None = st.session_state.get("tradeoff.question")
    if last is None or last[0] != said:
        last = st.session_state["tradeoff.question"] = (said, _thought_out(choice, held))
    return last[1]


def _thought_out(choice: Choice, held: dict[str, Any]) -> Asked:
    methods = _methods(held["methods"], held["noise"], choice)
    grid = typed_grid(methods, _grid(held["grid"] or ""))
    validated = bool(grid) or held["judge"] == "validation"
    sweep = Sweep(
        data=DataSpec(id=choice.data, top_items=choice.kept_items), methods=methods, epsilons=_numbers(held["epsilons"] or ""),
        seeds=tuple(range(choice.seed, choice.seed + (held["draws"] or 1))), delta=choice.delta, grid=grid,
        split=SplitSpec(validation_fraction=0.1) if validated else SplitSpec(),
    )  # fmt: skip
    sweep.check(choice.shape)
    return Asked(sweep.points(), next(iter(grid)) if grid else "epsilon", "validation_rmse" if validated else "rmse", sweep=sweep)
