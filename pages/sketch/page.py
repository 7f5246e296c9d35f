"""Does hashing protect anyone?

Factors in a count sketch, what is claimed for them, and what an attack shows.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dpmf_core import first_views
from dpmf_core.algorithms.count_sketch import Sketch
from dpmf_core.audit.canaries import rounded
from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.errors import BadInput
from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Figure, Outcome
from dpmf_core.papers.registry import find_figure
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Point
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
from pages.sketch import figures, small_sketch

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
    """The sentence first; then the claim, and why it is none."""
    if "attack" in attacks:
        audit = attacks["attack"]
        st.title(
            "Hashing hides nobody: at the source's ε = 2 an attack shows ε ≥"
            f" {rounded(audit.lower):.1f}",
            anchor=False,
        )
    else:
        st.title("Does hashing protect anyone?", anchor=False)
    with st.container(border=True):
        promise = Sketch().guarantee()
        written_claim = f'Balu & Furon 2016 write that sketches "{promise.claim}".'
        badge = f":{privacy_card.BADGES[promise.status]}-badge[{promise.status!s}]"
        st.markdown(f"{written_claim} {badge}")
        st.write(
            "Their ε is a threshold: ratings that are predicted too badly are passed over, by"
            " analogy with drawing from a posterior. Nothing is drawn, though: given the hashes"
            " every step is determined, and the exact ratings that stay enter it without noise."
            " The likelihood that the argument needs is no distribution once it is cut off, so"
            " no ε follows, and none is shown here but an attacker's."
        )
        st.caption(
            f"The attack trains {ATTACK.runs} times on a small simulated world, half of the"
            f" time with one rating more, and looks at all that is shared; {0.95:.0%}"
            f" confidence, δ = {delta_text(ATTACK.delta)}, per rating, add/remove. The"
            " threshold is 2, at which the source's ε is 2."
        )
        privacy_card.attack_link("sketch")
    who_sees_what.draw(who_sees_what.SKETCH)


class FigureSettings(NamedTuple):
    """What the controls above a figure say: which figure, its dimension, over what it is measured,
    and the epsilon of what stands beside it.
    """

    which: str
    rank: int
    metric: str
    epsilon: float


def figure_settings(epsilon: float) -> FigureSettings:
    """The controls. epsilon: the sidebar's, unless a figure has its own."""
    which = (
        st.segmented_control(
            "Figure",
            list(FIGURES),
            default=first_views.SKETCH_FIGURE,
            required=True,
            key="sketch.figure",
            format_func=lambda name: FIGURES[name],
        )
        or first_views.SKETCH_FIGURE
    )
    left, right = st.columns(2)
    rank = left.select_slider(
        "Dimension d",
        [4, 8, 16, 32],
        first_views.SKETCH_RANK,
        key="sketch.rank",
        disabled=which in ("balu-fig2", "sketch-table"),
    )
    metric = find_figure(which).metric
    if which == "balu-fig4":
        metric = right.selectbox(
            "Measured over",
            ["kl", "kl_top_users"],
            key="sketch.metric",
            format_func=figures.metric_label,
        )
    if which == PROVED_BESIDE:
        epsilon = right.select_slider(
            "ε of SGLD, which is proved and stands beside it",
            SGLD_EPSILONS,
            first_views.SKETCH_EPSILON,
            key="sketch.sgld",
            format_func=budget_text,
        )
    return FigureSettings(which, rank, metric, epsilon)


def figure(choice: Choice) -> None:
    """One of the source's figures, on the chosen data."""
    which, rank, metric, epsilon = figure_settings(choice.epsilon)
    data_spec = choice.spec("sketch").data
    data = DataSpec.model_validate(data_spec.model_dump())
    source_figure = first_views.sketch_figure(find_figure(which), data, choice.seed, rank)
    points = source_figure.points()
    sgld = f"SGLD at ε = {budget_text(epsilon)}, proved step by step"
    sgld_point = Point(replace(choice, epsilon=epsilon).spec("sgld"), sgld, None)
    beside = [sgld_point] if which == PROVED_BESIDE else []
    runs: dict[str, Run] = ask(
        "sketch", {point.key: point.spec for point in [*points, *beside]}, whole=()
    )
    table = figures.frame([*points, *beside], runs, metric)
    if not len(table):
        return
    draw(source_figure, table, points, metric)
    note_shipped([point.spec for point in [*points, *beside]])
    if all(point.key in runs for point in points):
        published_figures.show_verdict(source_figure, source_figure.verdict(points, runs))
    if isinstance(source_figure, Claim):
        draw_last_verdict(source_figure)
    st.caption(
        "γ: how many times smaller than the factors the sketch is. k: rows of the sketch;"
        " with one it is feature hashing. λ is for ratings in units of a star. The KL"
        " divergence is of the errors in training from those held out, both taken as normal:"
        " the source's measure of how little is learnt by heart (its eq. 19). At full size:"
        f" `{published_figures.command(source_figure)}`."
    )


def draw(source_figure: Figure, table: pd.DataFrame, points: list[Point], metric: str) -> None:
    """What has finished of a figure."""
    if source_figure.id != "balu-fig2":
        alt = f"{figures.metric_label(metric)} against the {figures.AXES[source_figure.axis]}."
        charts.show(
            figures.against(table, source_figure, metric),
            f"sketch.{source_figure.id}",
            alt,
            table,
            caption=(
                "A line is a sketch of one size; the level is the factorisation without a sketch."
            ),
        )
        return
    best = figures.best(points, table)
    if len(best):
        alt = "Best λ by dimension and space gain."
        charts.show(figures.best_heat(best), "sketch.best", alt, best)


def draw_last_verdict(claim: Claim) -> None:
    """The kept verdict, which is of the source's size where that was run."""
    last = results.last(claim)
    if last is None:
        return
    templates = {
        "full": "Last measured at full size, {date}: {outcome}",
        "page": "Last measured at page size, {date}: {outcome}",
    }
    outcome = published_figures.OUTCOMES[Outcome(last.outcome)]
    title = templates["full" if last.size == "full" else "page"].format(
        date=last.created[:10], outcome=str(outcome).lower()
    )
    with st.expander(title):
        published_figures.show_verdict(claim, last.verdict)


def main() -> None:
    choice = sidebar.choice()
    head, work = st.container(), st.container()
    with work:
        attacks = ask("sketch.attack", {"attack": ATTACK})
    with head:
        claim(attacks)
    figure(choice)
    small_sketch.draw()
    small_sketch.protection()


try:
    main()
except BadInput as error:
    safe_text.error(error)
