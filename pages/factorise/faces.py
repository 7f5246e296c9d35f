"""What happens to parts? Images as sums of non-negative parts, found with privacy and without."""

import pandas as pd
import streamlit as st

from dpmf_core.compare import part_comparison
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, prepare
from dpmf_core.explain import Explained, basis, explained, pairs, sheet
from dpmf_core.privacy import Budget
from pages.kit import comparison, forms, guarantee, parts, runs, said, seen, sidebar, takeaway
from pages.kit.sidebar import SampleChoice

FIGURES = ("saha-fig5", "saha-fig6", "saha-fig8", "faces-table")
MORPH = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def planted() -> dict[str, object]:
    """Outliers as the source plants them, or none."""
    text = "Uniform noise on some pixels of some images, the same for every visitor. The objective is judged on clean images."
    on = st.toggle("Plant outliers", key="faces.outliers", help=text)
    if not on:
        return {}
    left, right = st.columns(2)
    rows = left.slider("Share of the images", 0.01, 1.0, 0.1, 0.01, key="faces.rows")
    cells = right.slider("Share of their pixels", 0.01, 1.0, 0.7, 0.01, key="faces.cells")
    return {"outlier_rows": rows, "outlier_cells": cells}


def grids(done: dict[str, Run]) -> None:
    """The parts side by side, each pair at the same place; those of one side alone while the other is still being trained."""
    both = "main" in done and "twin" in done
    st.header("Parts, matched" if both else "Parts", anchor=False)
    found = pairs(done["main"], done["twin"]) if both else []
    left, right = st.columns(2, gap="large")
    for column, name, title in ((left, "main", "With privacy"), (right, "twin", "Without privacy")):
        if name in done and not both:
            with column:
                st.subheader(f"{title} ({done[name].record['title']})", anchor=False)
                count = len(basis(done[name]))
                st.image(sheet(done[name], list(range(count))), width="stretch", alt=f"{count} parts of images found {title.lower()}, in a grid.")
        elif not both:
            column.caption(f"{title}: not there yet.")
    if not both:
        return
    with left:
        st.subheader(f"With privacy ({done['main'].record['title']})", anchor=False)
        st.image(
            sheet(done["main"], [pair.part for pair in found]), width="stretch", caption="Parts, most alike first; each has its own scale from black to white.",
            alt=f"{len(found)} parts of images found with privacy, in a grid.",
        )  # fmt: skip
    with right:
        st.subheader(f"Without privacy ({done['twin'].record['title']})", anchor=False)
        order = [pair.partner for pair in found if pair.partner is not None]
        st.image(sheet(done["twin"], order), width="stretch", caption="Their partners, in the same places.", alt=f"{len(order)} parts found without privacy.")


def morphing(choice: SampleChoice, given: dict[str, object], data: dict[str, object]) -> None:
    """The grid at stored epsilons, without training anew."""
    if not st.toggle("How the parts change with ε", key="faces.morph"):
        return
    at = runs.wanted("faces.morph", {f"{eps:g}": choice.spec(parameters=given, epsilon=eps, data=data) for eps in MORPH})
    there = sorted(at, key=float)
    if not there:
        return
    chosen = st.select_slider("ε of the grid", there, key="faces.morph.at", format_func=lambda text: f"ε = {text}") if len(there) > 1 else there[0]
    first = at[there[-1]]
    order = {pair.partner: pair.part for pair in pairs(at[chosen], first) if pair.partner is not None}
    shown = [order[part] for part in range(len(order)) if part in order]
    told = f"ε = {chosen}: objective {parts.figure_of(at[chosen]):.4f}. Every part keeps its place."
    st.image(sheet(at[chosen], shown), width=560, caption=told, alt=f"{len(shown)} parts at ε = {chosen}.")


def _pictures(title: str, image: Explained) -> None:
    st.subheader(title, anchor=False)
    st.image(image.explained, caption=f"as a sum of parts; off by {image.error:.0%}", width=170, alt=f"The image rebuilt from parts, {title.lower()}.")
    if image.outliers is not None:
        st.image(image.outliers, caption="set apart as outliers", width=170, alt="What was set apart as outliers.")


def one_image(choice: SampleChoice, done: dict[str, Run]) -> None:
    """One image, rebuilt from parts with privacy and without."""
    st.header("One image as a sum of parts", anchor=False)
    row = st.number_input("Image", 1, choice.entry.n_samples, 1, key=f"faces.image.{choice.data}", step=1)
    if row is None:
        st.info("Give an image's number.")
        return
    private = explained(done["main"], row - 1)
    first, second, third = st.columns(3)
    with first:
        st.subheader("The image", anchor=False)
        st.image(private.seen, caption="as it was seen", width=170, alt="The chosen image.")
        if private.clean is not None:
            st.image(private.clean, caption="clean", width=170, alt="The image before outliers were planted.")
    with second:
        _pictures("With privacy", private)
    with third:
        if "twin" in done:
            _pictures("Without privacy", explained(done["twin"], row - 1))
    st.subheader("Its strongest parts, with privacy, and how much of each", anchor=False)
    st.image(sheet(done["main"], [part for part, _ in private.strongest]), width=560, alt="The parts that weigh most in the image.")
    said.table(pd.DataFrame([{f"part {part + 1}": round(amount, 3) for part, amount in private.strongest}]))
    st.caption("The image and its coefficients are private: she computes them from her own picture and the released parts, and they are not released.")


def recovered(done: dict[str, Run]) -> None:
    """How well planted outliers were found."""
    found = {run.record["title"]: run.record["metrics"] for name in ("main", "twin") if (run := done.get(name)) and "outlier_f1" in run.record["metrics"]}
    if found:
        table = [{"method": name, **{key: at[f"outlier_{key}"] for key in ("precision", "recall", "f1")}} for name, at in found.items()]
        st.markdown("**Planted outliers, found again** (pixels moved by more than a hundredth of the largest)")
        said.table(pd.DataFrame(table))


def main() -> None:
    choice = sidebar.sample_choice()
    budget = Budget(epsilon=choice.epsilon, delta=choice.delta, calibration=choice.calibration, noise=choice.noise)
    head = st.container()
    with st.expander("Parts, outliers and parameters"):
        data = planted()
        given = forms.parameters(choice.algorithm, choice.shape, budget, "faces", {"n_components": choice.entry.n_components})
    spec = choice.spec(parameters=given, data=data)
    ready = prepare(spec, choice.shape, choice.assumptions(False), choice.entry.unit)
    guarantee.card(ready.plan, ready.guarantee, choice.delta, public=choice.entry.public, each=choice.entry.each or guarantee.EACH)
    parts.per_step("faces", choice.delta)
    with head:
        place = st.container()
        asked = part_comparison(spec, choice.shape)
        done = runs.wanted("faces", asked.runs, first=comparison.first_draw(asked))
        with place:
            parts.finding(choice, asked, done, "parts")
            seen.draw(seen.IMAGES)
        if "main" in done or "twin" in done:
            grids(done)
            recovered(done)
        if "main" in done:
            one_image(choice, done)
            parts.price(asked, done, "faces")
            morphing(choice, given, data)
    parts.source_figures("faces", FIGURES)
    if "main" in done:
        takeaway.single(done["main"])


try:
    main()
except BadInput as error:
    said.error(error)
