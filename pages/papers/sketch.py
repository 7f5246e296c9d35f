"""How the method of Balu & Furon 2016 works: a sketch that is small enough to be seen."""

import streamlit as st

from dpmf_core.algorithms.count_sketch import Sketch
from dpmf_core.teaching.sketch_collisions import sketch_layout, vectors
from pages.kit import charts, links, privacy_card, who_sees_what
from pages.papers import balu_figures


def draw() -> None:
    promise = Sketch().guarantee()
    st.markdown(
        f'The paper writes that sketches "{promise.claim}".'
        f" {privacy_card.badge(promise.status)} Its ε is a threshold: ratings whose prediction is"
        " too bad are skipped, as in posterior sampling with a clipped likelihood; the paper notes"
        " that this is no longer a valid conditional probability (section 4.3). No noise is drawn:"
        " given the hashes and the order of the ratings, every step is determined, and the exact"
        " ratings that remain enter it. No ε follows; an attack measures how much is learned about"
        " one rating."
    )
    links.to("papers", "What the attack shows", {"erratum": "balu-distribution"})
    privacy_card.attack_link("sketch")
    st.subheader("The sketch itself", anchor=False)
    first, second, third, fourth = st.columns(4)
    gains, key = [0.5, 1.0, 2.0, 4.0, 8.0], "papers.gamma"
    gamma = first.select_slider("Space gain γ", gains, 1.0, key=key, format_func="{:g}".format)
    depth = second.select_slider("Rows k", [1, 2, 4], 2, key="papers.depth")
    d = third.select_slider("Components d", [2, 3, 4, 6], 3, key="papers.d")
    vector = fourth.selectbox("Whose cells", vectors(), key="papers.vector")
    sketch = sketch_layout(d, depth, gamma)
    beside = sketch.beside(vector)
    names = f" ({', '.join(beside)})" * bool(beside)
    st.write(
        f"**{sketch.shared:.0%} of all components share their cell with another.** The chosen"
        f" vector shares cells with {len(beside)} of the {len(vectors()) - 1} others{names}. What"
        " the sketch holds of it is the mean over the rows, with these signs. Others add noise to"
        " it, but always the same noise: it does not bound what anyone who knows the hashes learns"
        " about one rating."
    )
    alt = f"{depth} rows of {sketch.width} cells; {sketch.shared:.0%} of the components share one."
    fig, table = balu_figures.table_of_cells(sketch, vector), balu_figures.cells(sketch)
    charts.show(fig, "papers.cells", alt, table, leaves=True)
    who_sees_what.draw(who_sees_what.SKETCH)
