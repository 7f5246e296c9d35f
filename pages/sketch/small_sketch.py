"""A sketch that is small enough to be seen, and what a sketch protects against."""

import streamlit as st

from dpmf_core.teaching.sketch_collisions import sketch_layout, vectors
from pages.kit import charts
from pages.sketch import figures


def draw() -> None:
    """A sketch that is small enough to be seen."""
    st.header("The sketch itself", anchor=False)
    columns = st.columns(4)
    gamma = columns[0].select_slider(
        "Space gain γ",
        [0.5, 1.0, 2.0, 4.0, 8.0],
        1.0,
        key="sketch.gamma",
        format_func=lambda gain: f"{gain:g}",
    )
    depth = columns[1].select_slider("Rows k", [1, 2, 4], 2, key="sketch.depth")
    d = columns[2].select_slider("Components d", [2, 3, 4, 6], 3, key="sketch.d")
    vector = columns[3].selectbox(
        "Whose cells", vectors(), key="sketch.vector", format_func=figures.vector_name
    )
    sketch = sketch_layout(d, depth, gamma)
    beside = sketch.beside(vector)
    shares_text = (
        f"**{sketch.shared:.0%} of all components share their cell with another.** What is chosen"
        f" shares cells with {len(beside)} of the {len(vectors()) - 1} others."
    )
    holds_text = (
        "What the sketch holds of it is the mean over the rows, with these signs: others add noise"
        " to it, but the same noise every time it is asked for."
    )
    names = f" ({', '.join(map(figures.vector_name, beside))})" * bool(beside)
    st.write(f"{shares_text.removesuffix('.')}{names}. {holds_text}")
    alt = (
        f"{depth} rows of {sketch.width} cells; {sketch.shared:.0%} of the components share a cell."
    )
    charts.show(figures.table_of_cells(sketch, vector), "sketch.cells", alt, figures.cells(sketch))


def protection() -> None:
    with st.expander("What a sketch protects against, and what it does not"):
        st.markdown(
            "It makes a model smaller, and what it holds of one person is mixed with what it"
            " holds of others. Whoever has the hashes, as the server has, unmixes as well as"
            " the model itself does. It does **not** bound what anybody learns about one"
            " rating: collisions are fixed, not random for each question, and large sketches"
            " have few. Sources: R. Balu & T. Furon, *Differentially Private Matrix"
            " Factorization using Sketching Techniques*, IH&MMSec 2016; Z. Liu, Y.-X. Wang & A."
            " Smola, *Fast Differentially Private Matrix Factorization*, RecSys 2015, whose"
            " posterior sampling it takes as its model; M. Charikar, K. Chen & M."
            " Farach-Colton, *Finding Frequent Items in Data Streams*, 2002."
        )
