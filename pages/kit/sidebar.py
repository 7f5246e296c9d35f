"""The sidebar that pages about ratings, documents or images share: its widgets, each tied to its
value in the session, hidden or locked where a lesson says so.
"""

import math
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Literal

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.privacy import PERSON, VALUE, Status
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.teaching.demonstrations import belief
from dpmf_core.teaching.deployments import DEPLOYMENTS
from dpmf_core.teaching.glossary import linked
from pages.kit import data_sets, lesson, odometer, safe_text, sidebar_values
from pages.kit.components import Stop, draw_epsilon_slider
from pages.kit.data_sets import data_kind, session_key
from pages.kit.page_table import DataKind
from pages.kit.session_widgets import bind, follow
from pages.kit.sidebar_values import (
    COMPLAINED_AT,
    COMPLAINTS,
    CONTROLS,
    EPSILONS,
    Choice,
    accepts,
    chosen_entry,
    controls,
    put,
    usual_delta,
    value,
)

UNKNOWN_DELTA = 1e-6  # where 1/(10 n) would say how many there are
COLUMNS = {"ratings": "top_items", "documents": "most_words"}  # images keep all their pixels
SHAPE_OF = {
    "ratings": "Which items there are, and how many users",
    "documents": "Which words there are, and how many documents",
    "images": "How many images there are",
}
# what somebody may suspect of a unit
CLAIMS = {
    "user": "that you took part",
    PERSON: "that you took part",
    "document": "that a document is among these",
    "image": "that an image is among these",
}
NOT_BY_EPSILON = "ε is not what is promised with this choice: the privacy card says what is."
LEAST_DOUBT = 1e-6  # percent; less is not worth its digits
CAUTION = (
    "Their units and periods differ, and so does where noise is added: a smaller number is not"
    " always the stronger promise."
)


def draw(kind: DataKind = "ratings", unused: Collection[str] = ()) -> None:
    """The sidebar of a page about one kind of data; afterwards `choice()` says what is chosen.

    unused: controls that play no part on the page, by their names in a link.
    """
    st.session_state[data_sets.KIND] = kind
    sidebar_values.prepare()
    with st.sidebar:
        _draw_widgets(unused)
    show_complaints()
    sidebar_values.write_to_address()


def _draw_widgets(unused: Collection[str]) -> None:
    _draw_widget("dataset", _data_set, unused)
    entry = chosen_entry()
    _describe_data(entry)
    units = data_sets.privacy_units(entry)
    if not entry.public:
        odometer.panel(entry.id, "sidebar", units)
    _draw_widget("algorithm", _algorithm, unused)
    _draw_widget("epsilon", partial(_epsilon, unused=unused), unused)
    if "delta" not in unused and value("delta") >= 1 / units:
        st.warning(
            f"δ of 1/n ({1 / units:.0e}) or more would allow publishing one person's whole row."
        )
    if not entry.public:
        _draw_widget("noise", _noise, unused)
    with st.expander("More"):
        _draw_rest(entry, unused)


def _draw_rest(entry: Any, unused: Collection[str]) -> None:
    """What a first look does without."""
    _draw_widget("delta", _delta, unused)
    _draw_widget("seed", _seed, unused)
    columns = COLUMNS.get(data_kind())
    if columns:
        _draw_widget(columns, partial(_columns_kept, entry, columns), unused)
    if getattr(entry, "item_features", ""):
        _draw_widget("item_features", partial(_item_features, entry), unused)
    _draw_widget("calibration", _calibration, unused)
    if entry.public:
        _draw_widget("noise", _noise, unused)
    if not entry.public or (columns and value(columns)) or value("row_count") != "given":
        _draw_widget("row_count", _row_count, unused)


def _draw_widget(name: str, widget: Callable[[bool], None], unused: Collection[str]) -> None:
    """A widget, unless a lesson hides it or the page has no use for it; locked where the lesson
    fixes it.
    """
    if name not in unused and not lesson.is_hidden(name):
        widget(lesson.fixed_value(name) is not None)


def show_complaints() -> None:
    """What was wrong with the address, until something else is chosen."""
    state, now = st.session_state, choice()
    if state[COMPLAINTS] and state.setdefault(COMPLAINED_AT, now) != now:
        state[COMPLAINTS], state[COMPLAINED_AT] = [], now
    for complaint in dict.fromkeys(state[COMPLAINTS]):
        st.warning(safe_text.escape(complaint))


def choice() -> Choice:
    """What the sidebar says now."""
    return Choice(**{control.id: value(control.id) for control in controls()})


# ---- widgets; fixed: a lesson fixes the value, and the widget is locked --------------------------


def _data_set(fixed: bool) -> None:
    titles, usable = {entry.id: entry.title for entry in data_sets.entries()}, data_sets.usable()
    st.selectbox(
        "Data set",
        usable,
        **bind(session_key("dataset"), usable),
        format_func=lambda it: titles[it],
        on_change=_reset_for_data,
        disabled=fixed,
    )


def _reset_for_data() -> None:
    """Another number of users: another default for delta, all items again."""
    put("delta", usual_delta())
    if data_kind() in COLUMNS:
        put(COLUMNS[data_kind()], None)


def _describe_data(entry: Any) -> None:
    """What the data hold."""
    if data_kind() == "ratings":
        about = "about " * (entry.kind == "simulated")
        size = (
            f"{entry.n_users:,} users, {entry.n_items:,} items, {about}{entry.n_ratings:,} ratings"
        )
    else:
        people = f" of {entry.n_people:,} people" if entry.n_people else ""
        columns = "pixels" if entry.holds == "images" else "words"
        size = f"{entry.n_samples:,} {entry.holds}{people}, {entry.n_features:,} {columns}"
    st.caption(f"{size}. {entry.words}")


def _algorithm(fixed: bool) -> None:
    ids = data_sets.private_algorithms()
    st.selectbox(
        "Private method",
        ids,
        **bind(session_key("algorithm"), ids),
        format_func=lambda name: algorithms.REGISTRY[name].title,
        disabled=fixed,
    )


def _columns_kept(entry: Any, name: str, fixed: bool) -> None:
    """How many of the items or words are looked at; name: of the parameter."""
    label, total, step, keeps, columns = (
        ("Most rated items only", entry.n_items, 100, "most rated items", "item set")
        if name == "top_items"
        else (
            "Most frequent words only",
            entry.n_features,
            1000,
            "words in most documents",
            "vocabulary",
        )
    )
    st.number_input(
        label,
        CONTROLS[name].range[0],
        None,
        **bind(session_key(name), emptiable=True),
        placeholder=f"all {total:,}",
        step=step,
        disabled=fixed,
        help=f"Keeps the {keeps}. Choosing them by exact counts treats the {columns} as public, and"
        " the privacy card says so.",
    )


def _delta(fixed: bool) -> None:
    st.number_input(
        "δ",
        **follow(session_key("delta"), check=partial(accepts, "delta")),
        format="%.1e",
        step=1e-6,
        disabled=fixed,
        help=linked(
            "The bound e^ε holds for every set of results up to a slack of δ. Default 1/(10 n)."
        ),
    )


def _seed(fixed: bool) -> None:
    st.number_input(
        "Seed",
        *CONTROLS["seed"].range,
        **bind("sidebar.seed"),
        step=1,
        disabled=fixed,
        help="Split, start and noise. Another seed is another draw.",
    )


def _radio(
    name: str, label: str, titles: Mapping[str, str], text: str, fixed: bool, **more: Any
) -> None:
    """A choice of one of a parameter's values. titles: by value. text: what the choice means."""
    options = [it for it in CONTROLS[name].options if it in titles]
    st.radio(
        label,
        options,
        **bind(session_key(name), options),
        horizontal=True,
        disabled=fixed,
        format_func=titles.__getitem__,
        help=linked(text),
        **more,
    )


def _calibration(fixed: bool) -> None:
    _radio(
        "calibration",
        "Noise is set by",
        {"exact": "exact accounting", "source": "the source's rule"},
        "The source's own rule asks for a different amount of noise at the same nominal ε; the card"
        " shows what it truly costs.",
        fixed,
    )


def _noise(fixed: bool) -> None:
    _radio(
        "noise",
        "Noise",
        {
            "continuous": "floating-point",
            "discrete": "exact, on a grid",
            "none": "none, without privacy",
        },
        "Floating-point Gaussian noise leaves traces in the last digits (Mironov 2012). Exact:"
        " statistics are rounded to a grid, and a discrete Gaussian is drawn on it without any"
        " rounding. The same ε asks for 0.1% more noise.",
        fixed,
    )


def _item_features(entry: Any, fixed: bool) -> None:
    """Whether methods may know the public item table."""
    _radio(
        "item_features",
        f"The items' {entry.item_features}",
        {"none": "not used", "public": "used, as public"},
        "What everybody can look up of an item costs no privacy. Every method that can use it does,"
        " private or not, so that like is compared with like; the privacy card lists it among what"
        " is taken as public.",
        fixed,
    )


def _row_count(fixed: bool) -> None:
    """Whether the item set and the number of rows are taken as public."""
    _radio(
        "row_count",
        SHAPE_OF[data_kind()],
        {"given": "taken as public", "private": "released with noise"},
        "Released with noise: part of the budget pays for a noisy number of rows and for noisy"
        " counts, of which only those above a threshold are named. See partition selection. Runs"
        " without noise choose by exact counts, so what they are judged on is not quite the same.",
        fixed,
        on_change=_swap_default_delta,
    )


def _swap_default_delta() -> None:
    """A default of delta that says how many rows there are goes, or comes back."""
    usual = usual_delta()
    if value("row_count") == "private" and value("delta") == usual:
        put("delta", UNKNOWN_DELTA)
    elif value("row_count") == "given" and value("delta") == UNKNOWN_DELTA:
        put("delta", usual)


# ---- epsilon: a slider and a box that follow each other ------------------------------------------


def _epsilon(fixed: bool, unused: Collection[str] = ()) -> None:
    """The slider, its meaning, the box. unused: controls that play no part on the page."""
    _slider("sidebar.slider", fixed, unused, "side")
    left, right = st.columns([5, 6], vertical_alignment="bottom")
    left.number_input(
        "ε, exactly",
        **follow(session_key("epsilon"), check=partial(accepts, "epsilon")),
        format="%g",
        step=0.5,
        disabled=fixed,
    )
    with right.popover("Real uses", width="stretch"):
        _list_deployments()


def draw_bar(unused: Collection[str]) -> None:
    """The slider again, at the bottom of a small screen, where the sidebar is folded."""
    if "epsilon" not in unused and not lesson.is_hidden("epsilon"):
        _slider("sidebar.slider.bar", lesson.fixed_value("epsilon") is not None, unused, "bar")


def _slider(key: str, fixed: bool, unused: Collection[str], place: Literal["side", "bar"]) -> None:
    claim = _claim(unused)

    def stop(epsilon: float, name: str = "") -> Stop:
        return Stop(float(budget_text(epsilon)), _meaning(claim, epsilon), name)

    draw_epsilon_slider(
        key,
        stop(value("epsilon")),
        [stop(epsilon) for epsilon in EPSILONS],
        [stop(it.epsilon, it.name) for it in DEPLOYMENTS.values()],
        partial(put, "epsilon"),
        fixed=fixed,
        place=place,
    )


# ---- what epsilon means --------------------------------------------------------------------------


def _claim(unused: Collection[str]) -> str | None:
    """What somebody may suspect of the unit that is protected; '' where the page's own methods
    say what they promise, None where epsilon promises nothing by itself.
    """
    if "algorithm" in unused:
        return ""
    kind = REGISTRY[value("algorithm")]
    assert issubclass(kind, PrivateAlgorithm)
    promise = kind().guarantee()
    if (
        promise.status is not Status.PROVEN
        or promise.unit == VALUE
        or value("calibration") == "source"
    ):
        return None
    unit = promise.unit if kind.task == "ratings" else chosen_entry().unit
    return CLAIMS.get(unit, "")


def _meaning(claim: str | None, epsilon: float) -> str:
    if claim is None:
        return NOT_BY_EPSILON
    if not claim:
        return ""
    return f"Someone who is 50% sure {claim} {suspicion(epsilon)}."


def suspicion(epsilon: float) -> str:
    """What an even suspicion becomes, rounded up, so that "at most" holds: with one decimal, and
    where that would read as certainty with as many as tell it apart.
    """
    doubt = 100 * belief(0.5, -epsilon)  # percent
    if doubt < LEAST_DOUBT:
        return "may become almost certain"
    decimals = max(1, math.ceil(-math.log10(doubt)))
    at_most = math.ceil((100 - doubt) * 10**decimals) / 10**decimals
    figure = f"{at_most:.{decimals}f}%".replace(".0%", "%")
    return f"becomes at most {figure} sure, except in rare cases"


# ---- real deployments ----------------------------------------------------------------------------


def _list_deployments() -> None:
    st.caption(CAUTION)
    for it in DEPLOYMENTS.values():
        delta = delta_text(it.delta) if it.delta else "0"
        st.markdown(
            f"**{it.name}: ε = {budget_text(it.epsilon)}** (δ = {delta}, {it.year})  \n*Protects*"
            f" {it.unit}. *Neighbours*: {it.relation}. *For* {it.period}.  \n"
            f"[{it.source}]({it.address})"
        )
