"""Does hashing protect anyone?

Factors in a count sketch, what is claimed for them, and what an attack shows.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from dpmf_core import first_views
from dpmf_core.algorithms.count_sketch import Sketch
from dpmf_core.audit.canaries import rounded
from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.errors import BadInput
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim
from dpmf_core.papers.registry import find_figure
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Point
from dpmf_core.teaching.sketch_collisions import sketch_layout, vectors
from pages.kit import (
    charts,
    privacy_card,
    published_figures,
    safe_text,
    sidebar,
    who_sees_what,
)
from pages.kit.choice import Choice
from pages.kit.runs import ask, note_shipped
from pages.sketch import figures

FIGURES = {
    "balu-fig3": "Error against the threshold",
    "balu-fig4": "Divergence against the threshold",
    "balu-fig1": "Sensitivity to λ",
    "balu-fig2": "Best λ by size",
    "sketch-table": "Every size",
}
PROVED_BESIDE = "balu-fig3"  # the figure that shows SGLD beside the sketch
SGLD_EPSILONS = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
ATTACK = AuditSpec.parse(
    algorithm="sketch", runs=400, parameters={"rank": 4, "steps": 5, "threshold": 2.0}
)


def claim(attacks: dict[str, Any]) -> None:
    """The attack's result first; then the claim, and why it is none."""
    title = "Does hashing protect anyone?"
    if "attack" in attacks:
        bound = f"ε ≥ {rounded(attacks['attack'].lower):.1f}"
        title = f"Hashing hides nobody: at the source's ε = 2 an attack shows {bound}"
    st.title(title, anchor=False)
    with st.container(border=True):
        promise = Sketch().guarantee()
        badge = f":{privacy_card.BADGES[promise.status]}-badge[{promise.status!s}]"
        st.markdown(f'Balu & Furon 2016 write that sketches "{promise.claim}". {badge}')
        st.write(
            "Their ε is a threshold: ratings whose prediction is too bad are skipped, by analogy"
            " with drawing from a posterior. But nothing is drawn. Given the hashes, every step is"
            " determined, and the exact ratings that remain enter it without noise. The likelihood"
            " that the argument needs is no distribution once it is cut off, so no ε follows. The"
            " only ε shown here is an attacker's."
        )
        st.caption(
            f"The attack trains {ATTACK.runs} times on a small simulated world, half of the time"
            " with one rating more, and sees everything that is shared; 95% confidence, δ ="
            f" {delta_text(ATTACK.delta)}, per rating, add/remove. The threshold is 2, at which the"
            " source's ε is 2."
        )
        privacy_card.attack_link("sketch")
    who_sees_what.draw(who_sees_what.SKETCH)


def figure_settings(epsilon: float) -> tuple[str, int, str, float]:
    """The controls above a figure: which one, its dimension, its metric, and the epsilon of what
    is drawn next to it. epsilon: the sidebar's, unless a figure has its own.
    """
    start = first_views.SKETCH_FIGURE
    box: dict[str, Any] = {"default": start, "required": True, "key": "sketch.figure"}
    which = (
        st.segmented_control("Figure", list(FIGURES), format_func=FIGURES.__getitem__, **box)
        or start
    )
    left, right = st.columns(2)
    fixed = which in ("balu-fig2", "sketch-table")
    sizes, rank = [4, 8, 16, 32], first_views.SKETCH_RANK
    rank = left.select_slider("Dimension d", sizes, rank, key="sketch.rank", disabled=fixed)
    metric = find_figure(which).metric
    if which == "balu-fig4":
        metrics = {name: METRICS[name].label for name in ("kl", "kl_top_users")}
        box = {"key": "sketch.metric", "format_func": metrics.__getitem__}
        metric = right.selectbox("Measured over", list(metrics), **box)
    if which == PROVED_BESIDE:
        box = {"key": "sketch.sgld", "format_func": budget_text}
        label, start_epsilon = "ε of SGLD, which is proved", first_views.SKETCH_EPSILON
        epsilon = right.select_slider(label, SGLD_EPSILONS, start_epsilon, **box)
    return which, rank, metric, epsilon


def figure(choice: Choice) -> None:
    """One of the source's figures, on the chosen data."""
    which, rank, metric, epsilon = figure_settings(choice.epsilon)
    data = DataSpec.model_validate(choice.spec("sketch").data.model_dump())
    source_figure = first_views.sketch_figure(find_figure(which), data, choice.seed, rank)
    points = source_figure.points()
    sgld = f"SGLD at ε = {budget_text(epsilon)}, proved step by step"
    beside = [Point(replace(choice, epsilon=epsilon).spec("sgld"), sgld, None)]
    every = [*points, *beside * (which == PROVED_BESIDE)]
    specs = {point.key: point.spec for point in every}
    runs: dict[str, Run] = ask("sketch", specs, whole=())
    table = figures.frame(every, runs, metric)
    if not len(table):
        return
    if which == "balu-fig2":
        if len(best := figures.best(points, table)):
            alt = "Best λ by dimension and space gain."
            charts.show(figures.best_heat(best), "sketch.best", alt, best)
    else:
        alt = f"{METRICS[metric].label} against the {figures.AXES[source_figure.axis]}."
        words = "Each line is a sketch of one size; the level is the factorisation without one."
        fig = figures.against(table, source_figure, metric)
        charts.show(fig, f"sketch.{source_figure.id}", alt, table, caption=words)
    note_shipped(list(specs.values()))
    if all(point.key in runs for point in points):
        published_figures.show_verdict(source_figure, source_figure.verdict(points, runs))
    if isinstance(source_figure, Claim) and (last := results.last(source_figure)):
        verdict = last.verdict(source_figure)
        outcome = published_figures.OUTCOMES[verdict.outcome].lower()
        size = "full" if last.size == "full" else "page"
        with st.expander(f"Last measured at {size} size, {last.created[:10]}: {outcome}"):
            published_figures.show_verdict(source_figure, verdict)
    st.caption(
        "γ: how many times smaller than the factors the sketch is. k: rows of the sketch; one row"
        " is feature hashing. λ is for ratings in units of a star. The KL divergence compares the"
        " errors in training with those held out, both taken as normal: the source's measure of"
        " memorisation (its eq. 19). At full size:"
        f" `{published_figures.command(source_figure)}`."
    )


def small_sketch() -> None:
    """A sketch that is small enough to be seen."""
    st.header("The sketch itself", anchor=False)
    first, second, third, fourth = st.columns(4)
    gains, key = [0.5, 1.0, 2.0, 4.0, 8.0], "sketch.gamma"
    gamma = first.select_slider("Space gain γ", gains, 1.0, key=key, format_func="{:g}".format)
    depth = second.select_slider("Rows k", [1, 2, 4], 2, key="sketch.depth")
    d = third.select_slider("Components d", [2, 3, 4, 6], 3, key="sketch.d")
    vector = fourth.selectbox("Whose cells", vectors(), key="sketch.vector")
    sketch = sketch_layout(d, depth, gamma)
    beside = sketch.beside(vector)
    names = f" ({', '.join(beside)})" * bool(beside)
    st.write(
        f"**{sketch.shared:.0%} of all components share their cell with another.** The chosen"
        f" vector shares cells with {len(beside)} of the {len(vectors()) - 1} others{names}. What"
        " the sketch holds of it is the mean over the rows, with these signs. Others add noise to"
        " it, but always the same noise."
    )
    alt = f"{depth} rows of {sketch.width} cells; {sketch.shared:.0%} of the components share one."
    charts.show(figures.table_of_cells(sketch, vector), "sketch.cells", alt, figures.cells(sketch))
    with st.expander("What a sketch protects against, and what it does not"):
        st.markdown(
            "It makes a model smaller, and mixes what it holds of one person with what it holds of"
            " others. Anyone with the hashes, such as the server, unmixes them as well as the model"
            " itself does. It does **not** bound what anyone learns about one rating: collisions"
            " are fixed, not drawn for each question, and large sketches have few. Sources: R. Balu"
            " & T. Furon, *Differentially Private Matrix Factorization using Sketching Techniques*,"
            " IH&MMSec 2016; Z. Liu, Y.-X. Wang & A. Smola, *Fast Differentially Private Matrix"
            " Factorization*, RecSys 2015, whose posterior sampling is its model; M. Charikar, K."
            " Chen & M. Farach-Colton, *Finding Frequent Items in Data Streams*, 2002."
        )


def main() -> None:
    choice = sidebar.choice()
    head, work = st.container(), st.container()
    with work:
        attacks = ask("sketch.attack", {"attack": ATTACK})
    with head:
        claim(attacks)
    figure(choice)
    small_sketch()


try:
    main()
except BadInput as error:
    safe_text.error(error)
