"""A paper's methods to try: presets with its published settings, and how the method works."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.algorithms.count_sketch import Sketch
from dpmf_core.papers.balu_2016.sketch_collisions import sketch_layout, vectors
from dpmf_core.papers.figures import Preset
from dpmf_core.papers.paper import Paper
from dpmf_core.runs.specification import RunSpec
from pages.kit import charts, data_sets, links, privacy_card, safe_text, who_sees_what
from pages.papers import address, figures

INK = "#111111"  # on cells that are never empty
LOAD = ("rgba(139,147,161,0.15)", "#56B4E9", "#E69F00", "#D55E00")  # of 0, 1, 2, 4 components
PAGES = {"ratings": "explore", "documents": "topics", "images": "faces"}
OPENED = "papers.preset.measured"  # in the session: presets that were run
# what a server without retention stores in each variant: what, where and for how long
BIASES_AND_FACTORS = (("item factors", "server", "always"), ("item biases", "server", "always"))
EVERYTHING = (
    ("all ratings", "server", "always"),
    ("user factors", "server", "always"),
    *BIASES_AND_FACTORS,
)
OWN_RATINGS = ("the user's ratings", "their own device", "as long as they like")
FOR_A_MOMENT = (
    "the user's vector and the ratings they brought",
    "server",
    "during the interaction",
)
MEMORY = {
    "baseline": EVERYTHING,
    "static": (
        ("user factors", "server", "always, frozen since the start"),
        ("item factors", "server", "always, frozen since the start"),
        ("item biases", "server", "always, frozen since the start"),
        OWN_RATINGS,
    ),
    "online": EVERYTHING,
    "new": (*BIASES_AND_FACTORS, OWN_RATINGS, FOR_A_MOMENT),
    "rated": (*BIASES_AND_FACTORS, OWN_RATINGS, FOR_A_MOMENT),
}
IN_TRANSIT = {  # what it receives in an interaction
    "baseline": "the one new rating",
    "static": "the request; no rating",
    "online": "the one new rating",
    "new": "all that the user has ever rated, each time",
    "rated": "all that the user has ever rated, each time",
}


# ---- how a method works --------------------------------------------------------------------------


def sketch_cells() -> None:
    """Draw how Balu & Furon's method works: a sketch small enough to see."""
    promise = Sketch().guarantee()
    st.markdown(
        f'The paper states that sketches "{promise.claim}".'
        f" {privacy_card.badge(promise.status)} Its ε is a threshold: it skips ratings with too"
        " large an error, as in posterior sampling with a clipped likelihood. The paper notes that"
        " this is no longer a valid conditional probability (section 4.3). No noise is drawn: the"
        " hashes, the order of the ratings and the exact remaining ratings determine every step."
        " So no ε follows; an attack measures how much is learned about one rating."
    )
    links.to("papers", "What the attack shows", {"erratum": "balu-distribution"})
    privacy_card.attack_link("sketch")
    st.subheader("A small sketch", anchor=False)
    first, second, third, fourth = st.columns(4)
    gains, key = [0.5, 1.0, 2.0, 4.0, 8.0], "papers.gamma"
    gamma = first.select_slider("Space gain γ", gains, 1.0, key=key, format_func="{:g}".format)
    depth = second.select_slider("Rows k", [1, 2, 4], 2, key="papers.depth")
    d = third.select_slider("Components d", [2, 3, 4, 6], 3, key="papers.d")
    vector = fourth.selectbox("Cells of", vectors(), key="papers.vector")
    layout, width = sketch_layout(d, depth, gamma)
    own = layout[layout["vector"] == vector]
    met = layout.merge(own[["row", "cell"]].drop_duplicates())["vector"].unique()
    sharing = [name for name in met if name != vector]
    names = f" ({', '.join(sharing)})" * bool(sharing)
    shared = f"{(layout['load'] > 1).mean():.0%}"
    st.write(
        f"**{shared} of all components share their cell with another.** The chosen"
        f" vector shares cells with {len(sharing)} of the {len(vectors()) - 1} others{names}. The"
        " sketch stores it as the mean over the rows, with these signs. The other vectors act like"
        " noise, but it is always the same noise: it does not limit what someone who knows the"
        " hashes learns about one rating."
    )
    alt = f"{depth} rows of {width} cells; {shared} of the components share one."
    fig = table_of_cells(layout, width, own)
    charts.show(fig, "papers.cells", alt, layout.drop(columns="load"), leaves=True)
    who_sees_what.draw(who_sees_what.SKETCH)


def table_of_cells(layout: pd.DataFrame, width: int, own: pd.DataFrame) -> go.Figure:
    """Return a figure of each cell's load, with one vector's components and signs."""
    load = pd.crosstab(layout["row"], layout["cell"]).reindex(columns=range(width), fill_value=0)
    rows = [f"row {row}" for row in load.index]
    fig = charts.figure("cell", "row", 130 + 45 * len(rows), yaxis={"autorange": "reversed"})
    fig.add_heatmap(
        z=load,
        x=list(range(width)),
        y=rows,
        xgap=2,
        ygap=2,
        zmin=0,
        zmax=4,
        colorscale=list(zip((0, 0.25, 0.5, 1), LOAD, strict=True)),
        colorbar={
            "title": {"text": "components"},
            "tickvals": [0, 1, 2, 3, 4],
            "ticktext": ["0", "1", "2", "3", "4+"],
        },
        hovertemplate="%{y}, %{x}: %{z}<extra></extra>",
    )
    fig.add_scatter(
        x=own["cell"],
        y=own["row"].map("row {}".format),
        mode="markers+text",
        name=own["vector"].iloc[0],
        textposition="middle center",
        text=own["sign"].map({1: "+", -1: "−"}),
        textfont={"size": 15, "color": INK},
        customdata=own["component"],
        marker={"symbol": "square-open", "size": 24, "color": INK, "line": {"width": 3}},
        hovertemplate="%{customdata}<extra></extra>",
    )
    return fig


def retention() -> None:
    """Draw how Vallet et al.'s method works: what each variant keeps and receives."""
    st.info(
        "**No differential privacy, and no ε.** This limits what a thief, a court or a curious"
        " employee finds on the server. It does not limit what the item factors or other people's"
        " recommendations reveal: they learn from every exact rating.",
        icon=":material/info:",
    )
    st.subheader("What is kept, where and for how long", anchor=False)
    rows = [(name, *item) for name, items in MEMORY.items() for item in items]
    columns = ["variant", "what", "where", "how long"]
    safe_text.words_table(pd.DataFrame(rows, columns=columns))
    st.subheader("What would a subpoena or a wiretap reveal?", anchor=False)
    exposed = [
        (
            name,
            ", ".join(what for what, where, how_long in items if "always" in how_long),
            IN_TRANSIT[name],
        )
        for name, items in MEMORY.items()
    ]
    columns = ["variant", "a subpoena reveals", "a wiretap of one interaction reveals"]
    safe_text.words_table(pd.DataFrame(exposed, columns=columns))
    st.caption(
        "The paper's claim is about storage: neither ratings nor user vectors stay on the server"
        " (abstract), so a subpoena finds only item factors and item biases. In return, users send"
        " all their ratings each time, and one tapped interaction reveals them. The paper notes"
        " this itself, and that a wiretap must be activated first (section 5). A server that keeps"
        " ratings receives only the new one. Every variant sends recommendations."
    )
    who_sees_what.draw(who_sees_what.RETENTION)


OWN: dict[str, Callable[[], None]] = {"balu-2016": sketch_cells, "vallet-2014": retention}


# ---- the section ---------------------------------------------------------------------------------


def of(paper: Paper) -> list[object]:
    """Return the section's contents; empty if there is no section."""
    return [*paper.presets, *([paper.id] if paper.id in OWN else [])]


def draw(paper: Paper) -> None:
    if paper.presets:
        titles = {it.id: it.title for it in paper.presets}
        name = address.select("preset", "As in the paper", titles)
        preset(next(it for it in paper.presets if it.id == name))
    if paper.id in OWN:
        OWN[paper.id]()


def preset(it: Preset) -> None:
    """Draw a method with its published settings, and the button that runs it."""
    st.write(it.words)
    st.markdown(f"**Published settings.** {it.settings}")
    with st.container(horizontal=True):
        is_asked = st.button("Run it as in the paper", type="primary", key=f"papers.run.{it.id}")
        if it.run is not None and st.button("Open it with these settings", key="papers.open"):
            open_run(it.run)
    asked_ids = st.session_state.setdefault(OPENED, set())
    if is_asked:
        asked_ids.add(it.id)
    if it.id in asked_ids:
        figures.measure("papers.preset.runs", it, by_button=True)


def open_run(run: RunSpec) -> None:
    """Open the page that draws such a run, with its settings."""
    kind = data_sets.find(run.data.id).holds
    settings: dict[str, Any] = {
        "dataset": run.data.id,
        "top_items": run.data.top_items,
        "algorithm": run.algorithm,
        "seed": run.seed,
    }
    if run.budget is not None:
        settings |= run.budget.model_dump(include={"epsilon", "delta", "calibration"})
    for name in settings:  # without a value in the session the page reads its address
        st.session_state.pop(data_sets.session_key(name, kind), None)
    for name in run.parameters:
        st.session_state.pop(f"{PAGES[kind]}.{run.algorithm}.{name}", None)
    planted = run.data.outlier_rows > 0 and run.data.outlier_cells > 0
    st.session_state["faces.outliers"] = planted
    if planted:  # no link holds these
        st.session_state["faces.rows"] = run.data.outlier_rows
        st.session_state["faces.cells"] = run.data.outlier_cells
    settings |= {f"p.{name}": value for name, value in run.parameters.items()}
    links.go(PAGES[kind], {name: str(it) for name, it in settings.items() if it is not None})
