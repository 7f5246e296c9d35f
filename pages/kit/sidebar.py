"""The sidebar of pages about data: its widgets, hidden or locked if a lesson says so."""

import tomllib
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.algorithms.base import Parameters
from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import VALUE, Status
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.accounting import rule_of
from dpmf_core.privacy.certainty import CLAIMS, certainty_at
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_in_full
from dpmf_core.runs.first_views import DataKind
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.references import RECOMMENDED
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.deployments import DEPLOYMENTS
from dpmf_core.teaching.glossary import linked
from pages.kit.base import data_sets, lesson, safe_text
from pages.kit.base.data_sets import data_kind, session_key
from pages.kit.components import TOTAL_EPSILON, Stop, draw_epsilon_slider
from pages.kit.controls import forms, sidebar_values
from pages.kit.controls.session_widgets import bind, number_within
from pages.kit.controls.sidebar_values import (
    COMPLAINED_AT,
    COMPLAINTS,
    CONTROLS,
    EPSILONS,
    SidebarChoice,
    chosen_entry,
    controls,
    put,
    source_rule,
    usual_delta,
    value,
)
from pages.kit.privacy import account_summary
from pages.kit.running import epsilon_grid

UNKNOWN_DELTA = 1e-6  # if 1/(10 n) would reveal the number of rows
COLUMNS = {"ratings": "top_items", "documents": "most_words"}  # images keep all pixels
# by parameter: the words of its widget
WORDS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
SHAPE_OF = {
    "ratings": "Item set and number of users",
    "documents": "Vocabulary and number of documents",
    "images": "Number of images",
}
# in the session: choices of this drawing with the best method
RESOLVED = "sidebar.resolved"
NOT_BY_EPSILON = "With this choice ε alone is no guarantee; see the privacy card."
CAUTION = (
    "Units, periods and places of noise differ, so a smaller ε is not always "
    "a stronger guarantee."
)


def draw(kind: DataKind = "ratings", unused: Collection[str] = ()) -> None:
    """Draw the sidebar of a page about one kind of data; then `choice()` returns its values.

    Parameters
    ----------
    kind
        The kind of data.
    unused
        Controls that do not affect the page, by their names in a link.
    """
    st.session_state[data_sets.KIND] = kind
    st.session_state[RESOLVED] = {}  # more runs may be known than at the last drawing
    sidebar_values.prepare()
    with st.sidebar:
        _draw_widgets(unused)
    show_complaints()
    sidebar_values.write_to_address()


def _draw_widgets(unused: Collection[str]) -> None:
    draw_widget = partial(_draw_widget, unused)
    draw_widget("dataset")
    entry = chosen_entry()
    _describe_data(entry)
    units = entry.shape().n_units
    if not entry.public:
        account_summary.panel(entry, "sidebar")
    draw_widget("algorithm")
    if _is_shown("epsilon", unused):
        _epsilon(_is_fixed("epsilon"), unused)
    if "delta" not in unused and value("delta") >= 1 / units:
        limit = f"δ of 1/n ({1 / units:.0e}) or more"
        st.warning(f"{limit} would allow publishing one person's whole row.")
    if not entry.public:
        draw_widget("noise")
    with st.expander("More"):
        for name in _further(entry):
            draw_widget(name)


def _further(entry: Any) -> list[str]:
    """The values with widgets under More."""
    names = ["delta", "seed"]
    columns = COLUMNS.get(data_kind())
    if columns:
        names.append(columns)
    if getattr(entry, "item_features", ""):
        names.append("item_features")
    if value("algorithm") != data_sets.BEST:
        names.append("calibration")
    if entry.public:
        names.append("noise")
    has_fewer_columns = columns and value(columns)
    if not entry.public or has_fewer_columns or value("row_count") != "given":
        names.append("row_count")
    if data_kind() == "ratings":  # what a link changed of their preparation
        linked_names = ("most_per_user", "test_fraction")
        names += [name for name in linked_names if CONTROLS[name].is_set]
    return names


def _is_shown(name: str, unused: Collection[str]) -> bool:
    return name not in unused and not lesson.is_hidden(name)


def _is_fixed(name: str) -> bool:
    return lesson.fixed_value(name) is not None


def _draw_widget(unused: Collection[str], name: str) -> None:
    """Draw a widget unless it is hidden or unused; lock it if the lesson fixes it."""
    if _is_shown(name, unused):
        WIDGETS[name](name, _is_fixed(name))


def show_complaints() -> None:
    """Draw what was wrong with the address until something else is chosen."""
    state = st.session_state
    now = choice()
    if state[COMPLAINTS] and state.setdefault(COMPLAINED_AT, now) != now:
        state[COMPLAINTS] = []
        state[COMPLAINED_AT] = now
    for complaint in state[COMPLAINTS]:
        st.warning(safe_text.escape(complaint))


def choice() -> SidebarChoice:
    """The chosen run; the best known method is resolved at the chosen epsilon."""
    chosen = SidebarChoice(**{control.id: value(control.id) for control in controls()})
    if chosen.algorithm != data_sets.BEST:
        return chosen
    # no source has a rule for the best of several methods
    recommended = replace(
        chosen,
        algorithm=RECOMMENDED["ratings"],
        calibration="exact",
        is_best=True,
    )
    known: dict[SidebarChoice, SidebarChoice] = st.session_state.setdefault(
        RESOLVED, {}
    )
    if recommended not in known:
        best = epsilon_grid.best_method(recommended)
        known[recommended] = replace(recommended, algorithm=best)
    return known[recommended]


# ---- widgets; fixed: locked by a lesson ----------------------------------------------------------


def _data_set(name: str, fixed: bool) -> None:
    titles = data_sets.usable()
    st.selectbox(
        "Data set",
        titles,
        **bind(session_key(name), titles),
        format_func=titles.__getitem__,
        on_change=_reset_for_data,
        disabled=fixed,
    )


def _reset_for_data() -> None:
    put("delta", usual_delta())
    if data_kind() in COLUMNS:
        put(COLUMNS[data_kind()], None)
    if data_kind() == "ratings":
        put("most_per_user", None)


def _describe_data(entry: Any) -> None:
    if data_kind() == "ratings":
        parts = [f"{entry.n_users:,} users", f"{entry.n_items:,} items"]
        ratings = f"{entry.n_ratings:,} ratings"
        if entry.kind == "simulated":
            ratings = f"about {ratings}"
        parts.append(ratings)
    else:
        samples = f"{entry.n_samples:,} {entry.holds}"
        if entry.n_people:
            samples += f" of {entry.n_people:,} people"
        columns = "pixels" if entry.holds == "images" else "words"
        parts = [samples, f"{entry.n_features:,} {columns}"]
    st.caption(f"{', '.join(parts)}. {entry.words}")


def _algorithm(name: str, fixed: bool) -> None:
    ids = data_sets.offered_methods()
    st.selectbox(
        "Private method",
        ids,
        **bind(session_key(name), ids),
        format_func=_title_of_method,
        disabled=fixed,
    )


def _title_of_method(name: str) -> str:
    if name == data_sets.BEST:
        return "The best known at each ε"
    return algorithms.find(name).title


def _most_kept(name: str, fixed: bool) -> None:
    """Ask how many items, words or ratings of a person are kept; an empty box keeps all."""
    about = WORDS[name]
    entry = chosen_entry()
    total = entry.n_items if data_kind() == "ratings" else entry.n_features
    st.number_input(
        about["label"],
        CONTROLS[name].range[0],
        None,
        **bind(session_key(name), emptiable=True),
        placeholder=about["placeholder"].format(total=total),
        step=about["step"],
        disabled=fixed,
        help=about["help"],
    )


def _number(name: str, fixed: bool) -> None:
    about = WORDS[name]
    number_within(
        st.container(),
        about["label"],
        session_key(name),
        *CONTROLS[name].range,
        disabled=fixed,
        help=linked(about["help"].format(default=CONTROLS[name].first)),
    )


def _seed(name: str, fixed: bool) -> None:
    st.number_input(
        "Seed",
        *CONTROLS[name].range,
        **bind(session_key(name)),
        step=1,
        disabled=fixed,
        help="Determines the split, the start and the noise.",
    )


def _radio(name: str, fixed: bool) -> None:
    about = WORDS[name]
    titles = about["titles"]
    options = [option for option in CONTROLS[name].options if option in titles]
    facts = getattr(chosen_entry(), "item_features", "")
    st.radio(
        about["label"].format(facts=facts, shape=SHAPE_OF[data_kind()]),
        options,
        **bind(session_key(name), options),
        horizontal=True,
        disabled=fixed,
        format_func=titles.__getitem__,
        help=linked(about["help"]),
        on_change=_swap_default_delta if name == "row_count" else None,
    )


def _swap_default_delta() -> None:
    """Replace the default delta while it would reveal the number of rows."""
    usual = usual_delta()
    if value("row_count") == "private" and value("delta") == usual:
        put("delta", UNKNOWN_DELTA)
    elif value("row_count") == "given" and value("delta") == UNKNOWN_DELTA:
        put("delta", usual)


# by parameter
WIDGETS: dict[str, Callable[[str, bool], None]] = {
    "dataset": _data_set,
    "algorithm": _algorithm,
    "delta": _number,
    "seed": _seed,
    "top_items": _most_kept,
    "most_words": _most_kept,
    "most_per_user": _most_kept,
    "test_fraction": _number,
    "calibration": _radio,
    "noise": _radio,
    "item_features": _radio,
    "row_count": _radio,
}


# ---- epsilon: a slider and a box that follow each other ------------------------------------------


def _epsilon(fixed: bool, unused: Collection[str]) -> None:
    _slider("sidebar.slider", fixed, unused, "side")
    left, right = st.columns([5, 6], vertical_alignment="bottom")
    below = st.container()
    limits = CONTROLS["epsilon"].range
    key = session_key("epsilon")
    number_within(left, "ε, exactly", key, *limits, below=below, disabled=fixed)
    with right.popover("Real uses", width="stretch"):
        st.caption(CAUTION)
        for use in DEPLOYMENTS.values():
            delta = delta_text(use.delta) if use.delta else "0"
            st.markdown(
                f"**{use.name}: ε = {budget_text(use.epsilon)}** (δ = {delta}, {use.year})  \n"
                f"*Protects* {use.unit}. *Neighbours*: {use.relation}. *For* {use.period}.  \n"
                f"[{use.source}]({use.address})"
            )


def draw_bar(unused: Collection[str]) -> None:
    """Draw the slider at the bottom of a small screen, where the sidebar is folded."""
    if _is_shown("epsilon", unused):
        _slider("sidebar.slider.bar", _is_fixed("epsilon"), unused, "bar")


def _slider(
    key: str, fixed: bool, unused: Collection[str], place: Literal["side", "bar"]
) -> None:
    name = TOTAL_EPSILON
    if _by_source(unused):
        name = f"ε by {source_rule(choice().algorithm)}"
    meaning_of = _meanings(unused)
    draw_epsilon_slider(
        key,
        _stop(meaning_of, value("epsilon")),
        [_stop(meaning_of, epsilon) for epsilon in EPSILONS],
        [_stop(meaning_of, use.epsilon, use.name) for use in DEPLOYMENTS.values()],
        partial(put, "epsilon"),
        name=name,
        fixed=fixed,
        place=place,
    )


def _stop(meaning_of: Callable[[float], str], epsilon: float, name: str = "") -> Stop:
    number = float(budget_text(epsilon))
    return {"epsilon": number, "meaning": meaning_of(epsilon), "name": name}


# ---- what epsilon means --------------------------------------------------------------------------


def _by_source(unused: Collection[str]) -> bool:
    """Whether the noise of the page's method is set by its source's own rule."""
    return "algorithm" not in unused and choice().calibration == "source"


def _meanings(unused: Collection[str]) -> Callable[[float], str]:
    """What says of each epsilon what it means: a certainty, or the total of a rule."""
    if _by_source(unused):
        own = choice()
        try:
            parameters = forms.of_address(own.algorithm)
        except BadInput:  # the page says what is wrong
            return lambda _: NOT_BY_EPSILON
        return partial(_total_by_source, own, parameters)
    unit = _unit_protected(unused)
    if unit is None:
        return lambda _: ""
    if not unit:
        return lambda _: NOT_BY_EPSILON
    return partial(_certainty_words, unit, value("delta"))


@lru_cache(2000)
def _certainty_words(unit: str, delta: float, epsilon: float) -> str:
    return certainty_at(epsilon, delta, unit).words()


def _total_by_source(own: SidebarChoice, parameters: Parameters, epsilon: float) -> str:
    """The total of the noise that the source's rule sets at its nominal epsilon."""
    if data_kind() != "ratings":
        parameters = {"n_components": own.entry.n_components} | parameters
    try:
        spec = own.spec(parameters=parameters, epsilon=epsilon)
        unit = getattr(own.entry, "unit", "user")
        return _total_words(spec, own.shape, own.assumptions, unit)
    except BadInput:  # the page says what is wrong
        return NOT_BY_EPSILON


@lru_cache(2000)
def _total_words(
    spec: RunSpec, shape: Any, assumptions: tuple[str, ...], unit: str
) -> str:
    """The total of a plan in full."""
    ready = prepare(spec, shape, assumptions, unit)
    if not ready.guarantee.has_epsilon or spec.budget is None:
        return NOT_BY_EPSILON
    delta = spec.budget.delta
    total = epsilon_of(ready.plan, delta)
    in_full = epsilon_in_full(
        total, delta, ready.guarantee.unit, rule=rule_of(ready.plan)
    )
    return f"In total: {in_full}."


def _unit_protected(unused: Collection[str]) -> str | None:
    """The privacy unit that epsilon protects; "" if epsilon alone is not a guarantee.

    None if the page's methods differ in their guarantees.
    """
    if "algorithm" in unused:
        return None
    kind = REGISTRY[choice().algorithm]
    assert issubclass(kind, PrivateAlgorithm)
    promise = kind().guarantee()
    if promise.status is not Status.PROVEN or promise.unit == VALUE:
        return ""
    unit: str = promise.unit if kind.task == "ratings" else chosen_entry().unit
    if unit not in CLAIMS:
        return None
    return unit
