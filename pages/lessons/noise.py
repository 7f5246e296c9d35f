"""Demonstrations about noise: who adds it, how much, what it adds up to, and who pays."""

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.teaching import demonstrations
from dpmf_core.teaching.demonstrations import CLIP_NORMS, added_up, clipping_errors, totals
from pages.kit import charts, colours, payers
from pages.kit.runs import ask
from pages.lessons.figures import DELTA_TEXT, Line, curves, epsilon_slider, show

SMALL = "cinema-small"
PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
SHARE = 0.3  # of people whose true answer is yes
STEPS = {
    "nonnegative": "nothing below zero",
    "rounded": "whole numbers",
    "rescaled": "scale to the noisy total",
}


def _people_slider(label: str, start: int, key: str) -> int:
    return int(st.select_slider(label, PEOPLE, start, key=key, format_func="{:,}".format))


def response() -> None:
    left, right = st.columns(2)
    truth = left.select_slider(
        "How often an answer is true",
        [0.55, 0.6, 0.75, 0.9, 0.99],
        0.75,
        key="learn.truth",
        format_func="{:.0%}".format,
    )
    with right:
        people = _people_slider("People asked", 1_000, "learn.people")
    epsilon = demonstrations.response_epsilon(truth)
    table = demonstrations.survey(SHARE, people, epsilon)
    table = table[table["chance"] > table["chance"].max() * 1e-4]
    line = Line("estimate", "chance", "spectral", fill="tozeroy")
    fig = curves("estimated share of yes", "how likely", table, "estimate", [line], 280)
    top = float(table["chance"].max())
    fig.add_vline(x=SHARE, line={"color": colours.ink(), "dash": "dash"})
    charts.note(fig, "true share", (SHARE, 1.08 * top), (6, 0))  # above the curve
    fig.update_layout(xaxis_tickformat=".0%", yaxis_range=[0, 1.25 * top])
    alt = "How likely each estimate of the share is; the true share is 30%."
    show(fig, "response.figure", alt, table)
    error = demonstrations.response_error(people, epsilon)
    st.markdown(
        f"An answer that is true with probability {truth:.0%} has **ε ="
        f" {epsilon_text(epsilon)}**, δ = 0. From {people:,} answers the share is known to within"
        f" **{100 * error:.1f} percentage points** (one standard deviation)."
    )
    st.caption(f"The true answer of {SHARE:.0%} of the people is yes.")


def local() -> None:
    left, right = st.columns(2)
    with left:
        epsilon = epsilon_slider("local")
    with right:
        people = _people_slider("People who take part", 10_000, "learn.local.people")
    counts = (10, 30, *PEOPLE)
    table = pd.DataFrame(
        {
            "people": counts,
            "central": [demonstrations.central_error(count, epsilon) for count in counts],
            "local": [demonstrations.local_error(count, epsilon) for count in counts],
        }
    )
    lines = [
        Line("each person adds noise", "local", "spectral", mode="lines+markers"),
        Line("a curator adds noise", "central", "dpals", mode="lines+markers"),
    ]
    fig = curves("people", "error of the mean, in stars", table, "people", lines)
    fig.update_xaxes(type="log", tickvals=[10, 100, 1_000, 10_000])
    fig.update_yaxes(type="log", dtick=1)
    alt = "Error of a mean by the number of people, with and without a curator."
    show(fig, "local.figure", alt, table)
    central = demonstrations.central_error(people, epsilon)
    own = demonstrations.local_error(people, epsilon)
    st.markdown(
        f"With {people:,} people the curator's mean is off by **{central:.2g} stars**, the local"
        f" one by **{own:.2g}**: {own / central:,.0f} times as much."
    )
    st.caption(
        f"Standard deviation of normal noise at ε = {budget_text(epsilon)}, δ = {DELTA_TEXT}, per"
        " person, replacing one rating between 1 and 5 by another. The number of people is public."
    )


def clipping() -> None:
    norms = [round(norm, 1) for norm in CLIP_NORMS]
    key = "learn.clip"
    clip_norm = st.select_slider(
        "Clip norm C", norms, norms[12], key=key, format_func="{:g}".format
    )
    table = clipping_errors(open_ratings(DataSpec(id=SMALL)))
    at = table.iloc[int((table["norm"] - clip_norm).abs().argmin())]
    lines = [
        Line("from clipping", "cut", "dpals", dash="dash"),
        Line("from noise", "noise", "private-bias", dash="dot"),
        Line("both", "both", "spectral"),
    ]
    fig = curves("clip norm C", "error of an item's sum", table, "norm", lines)
    fig.add_vline(x=at["norm"], line={"color": colours.ink(), "dash": "dash"})
    fig.update_xaxes(type="log", tickvals=[0.5, 1, 2, 5, 10, 20, 30])
    alt = "Error by clip norm: the clipping error falls, the noise error grows."
    show(fig, "clip.figure", alt, table)
    st.markdown(
        f"At C = {clip_norm:g}, **{at['people_cut']:.0%} of the people are clipped**. Clipping"
        f" alone causes an error of {at['cut']:.0f}, noise alone {at['noise']:.0f}, both together"
        f" {at['both']:.0f}."
    )
    st.caption(
        "The sum of everyone's ratings of each item is published once at ε = 1 (δ ="
        f" {DELTA_TEXT}, per person, add/remove, exact)."
    )


def composition() -> None:
    steps = st.slider("Steps, each of ε = 0.5", 1, 100, 10, key="learn.steps")
    table = pd.DataFrame(totals(0.5, steps), columns=["steps", "exactly", "sum"])
    lines = [
        Line("exactly", "exactly", "dpals", mode="lines+markers"),
        Line("sum of ε", "sum", "grey", dash="dash"),
    ]
    fig = curves("steps", "total ε", table, "steps", lines)
    show(fig, "steps.figure", "Total epsilon over steps, exactly and as a sum.", table)
    exact, plain_sum = added_up(0.5, steps)
    st.markdown(
        f"**{steps} steps of ε = 0.5 cost {epsilon_text(exact)} in total**: more than one step,"
        f" less than the sum, {plain_sum:g}."
        if steps > 1
        else "**One step of ε = 0.5 costs 0.5.**"
    )
    st.caption(
        f"δ = {DELTA_TEXT}, per person, add/remove, exact. Saha & Imtiaz 2022 state the ε of each"
        " of two releases in each step of their private NMF. The Account page shows the total."
    )


def postprocessing() -> None:
    epsilon = epsilon_slider("after", 0.2)
    steps = st.pills(
        "Afterwards",
        list(STEPS),
        selection_mode="multi",
        default=["nonnegative"],
        key="learn.after.steps",
        format_func=STEPS.__getitem__,
    )
    noisy = demonstrations.noisy_counts(epsilon)
    after = demonstrations.processed(noisy, frozenset(steps))
    table = pd.DataFrame(
        {
            "stars": range(1, 6),
            "true": demonstrations.STARS,
            "published": noisy[0],
            "afterwards": after[0],
        }
    )
    fig = charts.figure("stars", "people", height=300)
    for column, name, tint in (
        ("true", "true, which nobody sees", "grey"),
        ("published", "published with noise", "dpals"),
        ("afterwards", "afterwards", "spectral"),
    ):
        fig.add_bar(x=table["stars"], y=table[column], name=name, marker_color=colours.of(tint))
    show(fig, "after.figure", "Counts of stars: true, with noise, and afterwards.", table)
    st.markdown(
        f"A count is off by **{demonstrations.count_error(after):.1f} people** instead of"
        f" {demonstrations.count_error(noisy):.1f}, on average over"
        f" {demonstrations.DRAWS:,} draws. **ε is {budget_text(epsilon)}, before and after.**"
    )
    st.caption(
        f"Normal noise on five counts, δ = {DELTA_TEXT}, per person, add/remove, exact. The figure"
        " shows one draw."
    )


def price() -> None:
    epsilon = epsilon_slider("price", 2.0)
    data, budget = {"id": SMALL}, {"epsilon": epsilon, "delta": demonstrations.DELTA}
    specs = {
        "private": RunSpec.parse(data=data, algorithm="dpals", budget=budget),
        "not private": RunSpec.parse(data=data, algorithm="als").canonical(),
        "guessing": RunSpec.parse(data=data, algorithm="user-mean").canonical(),
    }
    runs = ask("learn.runs", specs)
    if len(runs) < len(specs):
        return
    draws = {name: [runs[name]] for name in specs}
    payers.draw_payers("learn.price", draws, leaves=True)
    st.markdown(payers.finding(draws, "private", "not private")[1])
    error = {name: run.record.metric("rmse") for name, run in runs.items()}
    st.markdown(
        f"At ε = {budget_text(epsilon)} the error of private ALS is **{error['private']:.3f}**,"
        f" that of ALS without privacy {error['not private']:.3f}, of each person's own mean"
        f" {error['guessing']:.3f}."
    )
    st.caption(
        f"ε in total, δ = {DELTA_TEXT}, per person, add/remove, exact. Errors are computed on"
        " simulated data."
    )
