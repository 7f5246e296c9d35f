"""What happens to faces? Images as sums of components, found with and without privacy."""

from typing import Any

import streamlit as st

from dpmf_core.runs.inspection import explanation, sheet
from dpmf_core.runs.record import Runs
from pages.kit.base import data_sets, lesson, safe_text
from pages.kit.base.data_sets import session_key
from pages.kit.controls.session_widgets import bind
from pages.kit.controls.sidebar_values import SidebarChoice, put
from pages.kit.first_views import factorisation
from pages.kit.first_views.factorisation import COMPONENTS, RowPreparation

PLANTED = "faces.outliers"  # in the session: whether outliers are planted
ROWS = "outlier_rows"
CELLS = "outlier_cells"
USUAL_OUTLIERS = {ROWS: 0.1, CELLS: 0.7}  # the source's shares


def ask_outliers(choice: SidebarChoice) -> RowPreparation:
    """Ask whether to plant outliers as the source does; return it, and what is taken as public.

    A lesson that fixes parameters plants none.
    """
    text = (
        "Uniform noise on some pixels of some images, the same for every visitor. The objective is"
        " measured on clean images."
    )
    none = {ROWS: 0.0, CELLS: 0.0}
    if lesson.fixed_value("parameters") is not None:
        return none, choice.assumptions
    st.session_state[PLANTED] = choice.outlier_rows > 0 and choice.outlier_cells > 0
    if not st.toggle(
        "Plant outliers",
        key=PLANTED,
        help=text,
        on_change=_plant,
    ):
        return none, choice.assumptions
    left, right = st.columns(2)
    rows = left.slider(
        "Share of the images", 0.01, 1.0, step=0.01, **bind(session_key(ROWS))
    )
    cells = right.slider(
        "Share of their pixels", 0.01, 1.0, step=0.01, **bind(session_key(CELLS))
    )
    return {ROWS: rows, CELLS: cells}, choice.assumptions


def _plant() -> None:
    """Plant the source's outliers, or none."""
    is_planted = st.session_state[PLANTED]
    for name, share in USUAL_OUTLIERS.items():
        put(name, share if is_planted else 0.0)


SIDES = {"main": "with privacy", "best": "without privacy"}


def _image(picture: Any, caption: str) -> None:
    st.image(
        picture,
        caption=caption,
        width=170,
        alt=caption,
    )


def draw_one_image(choice: SidebarChoice, runs: Runs) -> None:
    st.header("One image as a sum of components", anchor=False)
    row = st.number_input(
        "Image",
        1,
        choice.entry.n_samples,
        1,
        key=f"faces.image.{data_sets.name_in_keys(choice.dataset)}",
        step=1,
    )
    if row is None:
        st.info("Enter an image's number.")
        return
    sides = {name: explanation(runs[name], row - 1) for name in SIDES if name in runs}
    private = sides["main"]
    first, *rest = st.columns(3)
    with first:
        st.subheader("The image", anchor=False)
        _image(private.original, "as observed")
        if private.clean is not None:
            _image(private.clean, "before outliers were planted")
    for column, (name, image) in zip(rest, sides.items(), strict=False):
        with column:
            st.subheader(f"{runs[name].record.title}, {SIDES[name]}", anchor=False)
            _image(
                image.reconstruction,
                f"reconstructed from components; error {image.error:.0%}",
            )
            if image.outliers is not None:
                _image(image.outliers, "separated as outliers")
    st.subheader(
        "Its strongest components with privacy, and their weights", anchor=False
    )
    strongest = sheet(runs["main"], [component for component, _ in private.strongest])
    st.image(
        strongest,
        width=560,
        alt="The components with the largest weights in the image.",
    )
    amounts = {
        f"component {number + 1}": round(amount, 3)
        for number, amount in private.strongest
    }
    safe_text.table([amounts])
    st.caption(
        "The image and its coefficients are private and never released. The image's owner computes"
        " the coefficients from the image and the released components."
    )


def draw_recovery(runs: Runs) -> None:
    records = [runs[name].record for name in SIDES if name in runs]
    rows = [
        {
            "method": record.title,
            "precision": record.metrics["outlier_precision"],
            "recall": record.metrics["outlier_recall"],
            "f1": record.metrics["outlier_f1"],
        }
        for record in records
        if "outlier_f1" in record.metrics
    ]
    if rows:
        st.markdown(
            "**Outlier detection** (planted: pixels changed by over 1% of the largest)"
        )
        safe_text.table(rows)


def draw_below(choice: SidebarChoice, runs: Runs) -> None:
    draw_recovery(runs)
    if "main" in runs:
        draw_one_image(choice, runs)


factorisation.draw_page(
    COMPONENTS,
    "Components, outliers and parameters",
    ask_outliers,
    lambda count: count,
    draw_below,
)
