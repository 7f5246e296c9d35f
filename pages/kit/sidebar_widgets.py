"""The widgets of the sidebar, each tied to its value in the session.

fixed: a lesson fixes the value, and the widget is locked.
"""

from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.teaching.glossary import linked
from pages.kit import data_sets
from pages.kit.data_sets import data_kind, session_key
from pages.kit.session_widgets import bind, follow
from pages.kit.sidebar_values import CONTROLS, put, usual_delta, value

UNKNOWN_DELTA = 1e-6  # where 1/(10 n) would say how many there are
MOST_RATED = (
    "Keeps the most rated items. Choosing them by exact counts treats the item set as public, and"
    " the privacy card says so."
)
MOST_FREQUENT = (
    "Keeps the words in most documents. Choosing them by exact counts treats the vocabulary as"
    " public, and the privacy card says so."
)
RULE_NAMES = {"exact": "exact accounting", "source": "the source's rule"}
NOISE_NAMES = {"continuous": "floating-point", "discrete": "exact, on a grid"}
FEATURE_USES = {"none": "not used", "public": "used, as public"}
SHAPE_USES = {"given": "taken as public", "private": "released with noise"}
COLUMNS = {"ratings": "top_items", "documents": "most_words"}  # images keep all their pixels
SHAPE_OF = {
    "ratings": "Which items there are, and how many users",
    "documents": "Which words there are, and how many documents",
    "images": "How many images there are",
}
SIZES = {
    "simulated": "{users:,} users, {items:,} items, about {ratings:,} ratings.",
    "ratings": "{users:,} users, {items:,} items, {ratings:,} ratings.",
    "documents": "{samples:,} documents, {features:,} words.",
    "images": "{samples:,} images, {features:,} pixels.",
    "people's documents": "{samples:,} documents of {people:,} people, {features:,} words.",
    "people's images": "{samples:,} images of {people:,} people, {features:,} pixels.",
}


def _reset_for_data() -> None:
    """Another number of users: another default for delta, all items again."""
    put("delta", usual_delta())
    if data_kind() in COLUMNS:
        put(COLUMNS[data_kind()], None)


def describe_data(entry: Any) -> None:
    """What the data hold."""
    if data_kind() == "ratings":
        size = SIZES.get(entry.kind, SIZES["ratings"]).format(
            users=entry.n_users, items=entry.n_items, ratings=entry.n_ratings
        )
    else:
        size = SIZES[f"people's {entry.holds}" if entry.n_people else entry.holds].format(
            samples=entry.n_samples, people=entry.n_people, features=entry.n_features
        )
    st.caption(f"{size} {entry.words}")


def columns_kept(entry: Any, name: str, fixed: bool) -> None:
    """How many of the items or words are looked at; name: of the parameter."""
    label, total, step, text = (
        ("Most rated items only", entry.n_items, 100, MOST_RATED)
        if name == "top_items"
        else ("Most frequent words only", entry.n_features, 1000, MOST_FREQUENT)
    )
    st.number_input(
        label,
        CONTROLS[name].range[0],
        None,
        **bind(session_key(name), emptiable=True),
        placeholder=f"all {total:,}",
        step=step,
        disabled=fixed,
        help=text,
    )


def delta(fixed: bool) -> None:
    st.number_input(
        "δ",
        *CONTROLS["delta"].range,
        **follow(session_key("delta")),
        format="%.1e",
        step=1e-6,
        disabled=fixed,
        help=linked(
            "The bound e^ε holds for every set of results up to a slack of δ. Default 1/(10 n)."
        ),
    )


def seed(fixed: bool) -> None:
    st.number_input(
        "Seed",
        *CONTROLS["seed"].range,
        **bind("sidebar.seed"),
        step=1,
        disabled=fixed,
        help="Split, start and noise. Another seed is another draw.",
    )


def calibration(fixed: bool) -> None:
    st.radio(
        "Noise is set by",
        CONTROLS["calibration"].options,
        **bind("sidebar.calibration", CONTROLS["calibration"].options),
        horizontal=True,
        disabled=fixed,
        format_func=lambda rule: RULE_NAMES[rule],
        help="The source's own rule asks for a different amount of noise at the same nominal ε; the"
        " card shows what it truly costs.",
    )


def noise(fixed: bool) -> None:
    st.radio(
        "Noise",
        CONTROLS["noise"].options,
        **bind("sidebar.noise", CONTROLS["noise"].options),
        horizontal=True,
        disabled=fixed,
        format_func=lambda kind: NOISE_NAMES[kind],
        help="Floating-point Gaussian noise leaves traces in the last digits (Mironov 2012). Exact:"
        " statistics are rounded to a grid, and a discrete Gaussian is drawn on it without any"
        " rounding. The same ε asks for 0.1% more noise.",
    )


def item_features(fixed: bool) -> None:
    """Whether methods may know the public item table."""
    entry = data_sets.find(value("dataset"))
    st.radio(
        f"The items' {entry.item_features}",
        CONTROLS["item_features"].options,
        **bind(session_key("item_features"), CONTROLS["item_features"].options),
        horizontal=True,
        disabled=fixed,
        format_func=lambda it: FEATURE_USES[it],
        help=linked(
            "What everybody can look up of an item costs no privacy. Every method that can use"
            " it does, private or not, so that like is compared with like; the privacy card"
            " lists it among what is taken as public."
        ),
    )


def row_count(fixed: bool) -> None:
    """Whether the item set and the number of rows are taken as public."""
    st.radio(
        SHAPE_OF[data_kind()],
        CONTROLS["row_count"].options,
        **bind(session_key("row_count"), CONTROLS["row_count"].options),
        horizontal=True,
        disabled=fixed,
        on_change=_swap_default_delta,
        format_func=lambda it: SHAPE_USES[it],
        help=linked(
            "Released with noise: part of the budget pays for a noisy number of rows and for"
            " noisy counts, of which only those above a threshold are named. See partition"
            " selection. Runs without noise choose by exact counts, so what they are judged on"
            " is not quite the same."
        ),
    )


def _swap_default_delta() -> None:
    """A default of delta that says how many rows there are goes, or comes back."""
    usual = usual_delta()
    if value("row_count") == "private" and value("delta") == usual:
        put("delta", UNKNOWN_DELTA)
    elif value("row_count") == "given" and value("delta") == UNKNOWN_DELTA:
        put("delta", usual)


def data_set(fixed: bool) -> None:
    titles, usable = {entry.id: entry.title for entry in data_sets.entries()}, data_sets.usable()
    st.selectbox(
        "Data set",
        usable,
        **bind(session_key("dataset"), usable),
        format_func=lambda it: titles[it],
        on_change=_reset_for_data,
        disabled=fixed,
    )


def algorithm(fixed: bool) -> None:
    ids = data_sets.private_algorithms()
    st.selectbox(
        "Private algorithm",
        ids,
        **bind(session_key("algorithm"), ids),
        format_func=lambda name: algorithms.REGISTRY[name].title,
        disabled=fixed,
    )
