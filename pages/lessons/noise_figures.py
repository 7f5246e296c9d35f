"""Demonstrations about noise: whose it is, how much there is, what it adds up to, what is done
afterwards, and who pays.
"""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.teaching import randomised_response, trust
from dpmf_core.teaching.demonstrations import CLIP_NORMS, added_up, clipping_errors, totals
from pages.kit import charts, colours, run_progress
from pages.lessons.lines import DELTA, DELTA_TEXT, epsilon_slider, line, line_figure

SMALL = "cinema-small"
CLIP_TICKS = [0.5, 1, 2, 5, 10, 20, 30]
PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
SHARE = 0.3  # of the people would say yes


def response() -> None:
    left, right = st.columns(2)
    truth = left.select_slider(
        "How often an answer is true",
        [0.55, 0.6, 0.75, 0.9, 0.99],
        0.75,
        key="learn.truth",
        format_func=lambda share: f"{share:.0%}",
    )
    with right:
        people = _people_slider("People who are asked", 1_000, "learn.people")
    epsilon = randomised_response.response_epsilon(truth)
    survey = randomised_response.survey(SHARE, people, epsilon)
    table = pd.DataFrame({"estimate": survey.estimates, "chance": survey.chances})
    table = table[table["chance"] > table["chance"].max() * 1e-4]
    charts.show(
        _estimates(table),
        "learn.response.figure",
        "How likely each estimate of the share is; the true share is 30%.",
        table,
        leaves=True,
    )
    st.markdown(
        f"An answer that is true with probability {truth:.0%} has **ε ="
        f" {epsilon_text(epsilon)}**, δ = 0. From {people:,} answers the share is known to"
        f" within **{100 * survey.error:.1f} points in 100**, typically."
    )
    st.caption(
        f"{SHARE:.0%} of them would say yes. Typically: one standard deviation of what the"
        " lies do to the estimate."
    )


def _estimates(table: pd.DataFrame) -> go.Figure:
    """How likely each estimate is, with the true share marked."""
    fig = line_figure(
        "share of yes, the lies subtracted",
        "how likely",
        table,
        "estimate",
        [line("estimate", "chance", "spectral", fill="tozeroy")],
        280,
    )
    fig.add_vline(x=SHARE, line={"color": colours.ink(), "dash": "dash"})
    fig.add_annotation(
        x=SHARE,
        y=1,
        yref="paper",
        text="true share",
        showarrow=False,
        xanchor="left",
        xshift=4,
    )
    fig.update_layout(showlegend=False)
    fig.update_xaxes(tickformat=".0%")
    return fig


def local() -> None:
    left, right = st.columns(2)
    with left:
        epsilon = epsilon_slider("learn.local")
    with right:
        people = _people_slider("People who take part", 10_000, "learn.local.people")
    _draw_errors(epsilon)
    central, own = trust.central_error(people, epsilon), trust.local_error(people, epsilon)
    st.markdown(
        f"With {people:,} people the curator's mean is off by **{central:.2g} stars**, the"
        f" local one by **{own:.2g}**: {own / central:,.0f} times as much."
    )
    st.caption(
        f"Standard deviation of normal noise at ε = {budget_text(epsilon)}, δ = {DELTA_TEXT},"
        " per person, replacing one rating between 1 and 5 by another; the number of people"
        " is public."
    )


def _people_slider(label: str, start: int, key: str) -> int:
    return int(
        st.select_slider(label, PEOPLE, start, key=key, format_func=lambda count: f"{count:,}")
    )


def _draw_errors(epsilon: float) -> None:
    """The error of a mean by the number of people, with and without a curator."""
    counts = (10, 30, *PEOPLE)
    table = pd.DataFrame(
        {
            "people": counts,
            "central": [trust.central_error(count, epsilon) for count in counts],
            "local": [trust.local_error(count, epsilon) for count in counts],
        }
    )
    fig = line_figure(
        "people",
        "error of the mean, in stars",
        table,
        "people",
        [
            line("everybody adds noise", "local", "spectral", mode="lines+markers"),
            line("a curator adds noise", "central", "dpals", mode="lines+markers"),
        ],
    )
    fig.update_xaxes(type="log", tickvals=[10, 100, 1_000, 10_000])
    fig.update_yaxes(type="log", dtick=1)
    charts.show(
        fig,
        "learn.local.figure",
        "Error of a mean over the number of people, with and without a curator.",
        table,
        leaves=True,
    )


def clipping() -> None:
    clip_norm = st.select_slider(
        "Clip norm C",
        [round(C, 1) for C in CLIP_NORMS],
        round(CLIP_NORMS[12], 1),
        key="learn.clip",
        format_func=lambda norm: f"{norm:g}",
    )
    lines = clipping_errors(open_ratings(DataSpec(id=SMALL)), CLIP_NORMS, 1.0)
    table = pd.DataFrame([vars(it) for it in lines])
    at = min(lines, key=lambda it: abs(it.norm - clip_norm))
    fig = line_figure(
        "clip norm C",
        "error of an item's sum",
        table,
        "norm",
        [
            line("cut off", "cut", "dpals", dash="dash"),
            line("noise", "noise", "dpfw", dash="dot"),
            line("both", "both", "spectral"),
        ],
    )
    fig.add_vline(x=at.norm, line={"color": colours.ink(), "dash": "dash"})
    fig.update_xaxes(type="log", tickvals=CLIP_TICKS)
    charts.show(
        fig,
        "learn.clip.figure",
        "Error over the clip norm: cut off falls, noise grows, both have a valley.",
        table,
        leaves=True,
    )
    st.markdown(
        f"At C = {clip_norm:g}, **{at.people_cut:.0%} of the people are shortened**; the"
        f" error is {at.both:.0f}: {at.cut:.0f} cut off and {at.noise:.0f} noise, which add"
        " up by squares."
    )
    st.caption(
        "The sum of everyone's ratings of each item is published once at ε = 1 (δ ="
        f" {DELTA_TEXT}, per user, add/remove, exact)."
    )


def composition() -> None:
    steps = st.slider("Steps, each of ε = 0.5", 1, 100, 10, key="learn.steps")
    table = pd.DataFrame(totals(0.5, steps), columns=["steps", "exactly", "sum"])
    fig = line_figure(
        "steps",
        "total ε",
        table,
        "steps",
        [
            line("exactly", "exactly", "dpals", mode="lines+markers"),
            line("sum of ε", "sum", "grey", dash="dash"),
        ],
    )
    charts.show(
        fig,
        "learn.steps.figure",
        "Total epsilon over steps, exactly and as a sum.",
        table,
        leaves=True,
    )
    exact, plain_sum = added_up(0.5, steps)
    st.markdown(
        (
            f"**{steps} steps of ε = 0.5 cost {exact:.2f}**, not 0.5, and not {plain_sum:g}"
            " either: Gaussian noise adds up by squares."
        )
        if steps > 1
        else "**One step of ε = 0.5 costs 0.5.**"
    )
    st.caption(
        f"δ = {DELTA_TEXT}, per person, add/remove, exact. Saha & Imtiaz 2022 state the ε of"
        " each of two releases in each step of their private NMF; the Accountant shows what"
        " they add up to."
    )


STEPS = {
    "nonnegative": "nothing below zero",
    "rounded": "whole numbers",
    "rescaled": "scale to the noisy total",
}


def postprocessing() -> None:
    epsilon = epsilon_slider("learn.after", 0.2)
    steps = st.pills(
        "Afterwards",
        list(STEPS),
        selection_mode="multi",
        default=["nonnegative"],
        key="learn.after.steps",
        format_func=lambda step: STEPS[step],
    )
    noisy = trust.noisy_counts(epsilon)
    after = trust.processed(noisy, frozenset(steps))
    _draw_counts(noisy[0], after[0])
    st.markdown(
        f"A count is off by **{trust.count_error(after):.1f} people** instead of"
        f" {trust.count_error(noisy):.1f}, on average over {trust.DRAWS:,} draws. **ε is"
        f" {budget_text(epsilon)}, before and after.**"
    )
    st.caption(
        f"Normal noise on five counts, δ = {DELTA_TEXT}, per person, add/remove, exact. The"
        " figure shows one draw."
    )


def _draw_counts(noisy: Sequence[float], afterwards: Sequence[float]) -> None:
    """How many people gave how many stars: in truth, with noise, and after it was tidied up."""
    table = pd.DataFrame(
        {
            "stars": range(1, 6),
            "true": trust.STARS,
            "published": noisy,
            "afterwards": afterwards,
        }
    )
    fig = charts.figure("stars", "people", height=300)
    for column, name, tint in (
        ("true", "true, which nobody sees", "grey"),
        ("published", "published with noise", "dpals"),
        ("afterwards", "afterwards", "spectral"),
    ):
        fig.add_bar(x=table["stars"], y=table[column], name=name, marker_color=colours.of(tint))
    charts.show(
        fig,
        "learn.after.figure",
        "Counts of stars: true, with noise, and tidied up.",
        table,
        leaves=True,
    )


TINTS = {"private": "dpals", "not private": "als", "guessing": "user-mean"}
NAMES = {
    "private": "private",
    "not private": "not private",
    "guessing": "guessing",
}


def price() -> None:
    epsilon = epsilon_slider("learn.price", 2.0)
    data, budget = {"id": SMALL}, {"epsilon": epsilon, "delta": DELTA}
    specs = {
        "private": RunSpec.parse(data=data, algorithm="dpals", budget=budget),
        "not private": RunSpec.parse(data=data, algorithm="als").canonical(),
        "guessing": RunSpec.parse(data=data, algorithm="user-mean").canonical(),
    }
    runs = run_progress.request("learn.runs", specs)
    if len(runs) < len(specs):
        return
    rows = [
        {
            "group": f"{it['from']:,.0f} to {it['to']:,.0f}",
            "name": NAMES[name],
            "id": TINTS[name],
            "rmse": it["rmse"],
        }
        for name, run in runs.items()
        for it in run.record.buckets["activity"]
    ]
    table = pd.DataFrame(rows)
    charts.show(
        charts.groups(table, "how many films a person rated, quarters"),
        "learn.price.figure",
        "RMSE by activity.",
        table,
        leaves=True,
    )
    error = {name: run.record.metric("rmse") for name, run in runs.items()}
    st.markdown(
        f"At ε = {budget_text(epsilon)} private ALS errs by **{error['private']:.3f}**, ALS"
        f" without privacy by {error['not private']:.3f}, each user's own mean by"
        f" {error['guessing']:.3f}."
    )
    st.caption(
        f"ε in total, δ = {DELTA_TEXT}, per user, add/remove, exact. Errors are computed on"
        " simulated data."
    )
