"""What happens to parts? Images as sums of non-negative parts, found with privacy and without."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers.registry import figures_of
from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.runs.comparison import Comparison, part_comparison
from dpmf_core.runs.inspection import Explanation, basis, explanation, sheet
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from pages.kit import (
    drawing,
    epsilon_grid,
    exports,
    forms,
    lesson,
    parts,
    published_figures,
    safe_text,
    sidebar,
    who_sees_what,
)
from pages.kit.choice import SampleChoice
from pages.kit.parts_words import PARTS


def outlier_settings() -> dict[str, object]:
    """Outliers as the source plants them, or none. No link holds them, so that a lesson that fixes
    parameters has none.
    """
    if lesson.fixed_value("parameters") is not None:
        return {}
    text = (
        "Uniform noise on some pixels of some images, the same for every visitor. The objective is"
        " judged on clean images."
    )
    on = st.toggle("Plant outliers", key="faces.outliers", help=text)
    if not on:
        return {}
    left, right = st.columns(2)
    rows = left.slider("Share of the images", 0.01, 1.0, 0.1, 0.01, key="faces.rows")
    cells = right.slider("Share of their pixels", 0.01, 1.0, 0.7, 0.01, key="faces.cells")
    return {"outlier_rows": rows, "outlier_cells": cells}


@dataclass(frozen=True)
class Side:
    """What is said of one side, in phrases. title: of an image. parts, grid: of its parts, as
    caption and for who does not see them. rebuilt: of an image, the same.
    """

    title: str
    parts: str
    grid: str
    rebuilt: str


SIDES = {
    "main": Side(
        "With privacy",
        "With privacy ({name})",
        "{count} parts of images found with privacy, in a grid.",
        "The image rebuilt from parts, with privacy.",
    ),
    "twin": Side(
        "Without privacy",
        "Without privacy ({name})",
        "{count} parts of images found without privacy, in a grid.",
        "The image rebuilt from parts, without privacy.",
    ),
}


def one_side(run: Run, side: Side) -> None:
    """The parts of one side, while the other is still being trained."""
    count = len(basis(run))
    st.image(
        sheet(run, list(range(count))),
        caption=side.parts.format(name=run.record.title),
        alt=side.grid.format(count=count),
    )


def _draw_image(side: Side, image: Explanation) -> None:
    st.subheader(side.title, anchor=False)
    st.image(
        image.reconstruction,
        caption=f"as a sum of parts; off by {image.error:.0%}",
        width=170,
        alt=side.rebuilt,
    )
    if image.outliers is not None:
        st.image(
            image.outliers,
            caption="set apart as outliers",
            width=170,
            alt="What was set apart as outliers.",
        )


def one_image(choice: SampleChoice, runs: dict[str, Run]) -> None:
    """One image, rebuilt from parts with privacy and without."""
    st.header("One image as a sum of parts", anchor=False)
    row = st.number_input(
        "Image", 1, choice.entry.n_samples, 1, key=f"faces.image.{choice.data}", step=1
    )
    if row is None:
        st.info("Give an image's number.")
        return
    private = explanation(runs["main"], row - 1)
    first, second, third = st.columns(3)
    with first:
        st.subheader("The image", anchor=False)
        caption, alt = "as it was seen", "The chosen image."
        st.image(private.original, caption=caption, width=170, alt=alt)
        if private.clean is not None:
            st.image(
                private.clean,
                caption="clean",
                width=170,
                alt="The image before outliers were planted.",
            )
    with second:
        _draw_image(SIDES["main"], private)
    with third:
        if "twin" in runs:
            _draw_image(SIDES["twin"], explanation(runs["twin"], row - 1))
    st.subheader("Its strongest parts, with privacy, and how much of each", anchor=False)
    st.image(
        sheet(runs["main"], [part for part, _ in private.strongest]),
        width=560,
        alt="The parts that weigh most in the image.",
    )
    amounts = {f"part {part + 1}": round(amount, 3) for part, amount in private.strongest}
    safe_text.table(pd.DataFrame([amounts]))
    st.caption(
        "The image and its coefficients are private: she computes them from her own picture and"
        " the released parts, and they are not released."
    )


OUTLIERS = {
    "outlier_precision": "precision",
    "outlier_recall": "recall",
    "outlier_f1": "f1",
}


def recovery_table(runs: dict[str, Run]) -> None:
    """How well planted outliers were found."""
    metrics = {
        run.record.title: run.record.metrics
        for name in ("main", "twin")
        if (run := runs.get(name)) and "outlier_f1" in run.record.metrics
    }
    if metrics:
        table = [
            {"method": name, **{word: at[key] for key, word in OUTLIERS.items()}}
            for name, at in metrics.items()
        ]
        st.markdown(
            "**Planted outliers, found again** (pixels moved by more than a hundredth of the"
            " largest)"
        )
        safe_text.table(pd.DataFrame(table))


def below(choice: SampleChoice, selection: Comparison, view: parts.FirstView) -> None:
    """What stands under the first view and needs runs."""
    runs = view.runs
    who_sees_what.draw(who_sees_what.IMAGES)
    if not view.has_parts:
        for name, side in SIDES.items():
            if name in runs:
                one_side(runs[name], side)
    recovery_table(runs)
    if "main" in runs:
        one_image(choice, runs)
        parts.price(selection, runs, PARTS)


def main() -> None:
    choice = sidebar.sample_choice()
    budget = Budget(
        epsilon=choice.epsilon,
        delta=choice.delta,
        calibration=choice.calibration,
        noise=choice.noise,
    )
    head, card, beneath = (st.container() for _ in range(3))
    with st.expander("Parts, outliers and parameters"):
        data = outlier_settings()
        parameters = forms.parameters(
            choice.algorithm,
            choice.shape,
            budget,
            "faces",
            {"n_components": choice.entry.n_components},
        )
    spec = choice.spec(parameters=parameters, data=data)
    ready = prepare(spec, choice.shape, choice.assumptions(False), choice.entry.unit)
    with card:
        parts.label(choice, ready)
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    with head:
        selection = part_comparison(spec, choice.shape)
        count = int(spec.parameters["n_components"])
        view = parts.draw_first_view(PARTS, choice, spec, selection, proved, count)
    drawing.first_view_ends(view.has_parts)
    with beneath:
        below(choice, selection, view)
    if proved and len(view.runs) == len(selection.runs):
        epsilon_grid.keep_filling("faces", spec, view.grid)
    with st.expander("ε of the source"):
        parts.per_step("faces", choice.delta)
    published_figures.choice("faces", figures_of("faces"))
    st.caption("Its Fig. 11, one face as a sum of parts, is “One image as a sum of parts” above.")
    if "main" in view.runs:
        exports.draw(view.runs["main"])


try:
    main()
except BadInput as error:
    safe_text.error(error)
