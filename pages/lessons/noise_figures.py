"""Demonstrations about noise: whose it is, how much there is, what it adds up to, what is done
afterwards, and who pays.
"""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.language import phrase
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.teaching import randomised_response, trust
from dpmf_core.teaching.demonstrations import CLIP_NORMS, added_up, clipping_errors, totals
from pages.kit import charts, colours, run_progress
from pages.kit.language import say
from pages.lessons.lines import DELTA, DELTA_TEXT, epsilon_slider, line, line_figure

SMALL = "cinema-small"
CLIP_TICKS = [0.5, 1, 2, 5, 10, 20, 30]
PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
SHARE = 0.3  # of the people would say yes


def response() -> None:
    left, right = st.columns(2)
    truth = left.select_slider(
        say("How often an answer is true"),
        [0.55, 0.6, 0.75, 0.9, 0.99],
        0.75,
        key="learn.truth",
        format_func=lambda share: say("{share:.0%}", share=share),
    )
    with right:
        people = _people_slider(say("People who are asked"), 1_000, "learn.people")
    epsilon = randomised_response.response_epsilon(truth)
    survey = randomised_response.survey(SHARE, people, epsilon)
    table = pd.DataFrame({"estimate": survey.estimates, "chance": survey.chances})
    table = table[table["chance"] > table["chance"].max() * 1e-4]
    charts.show(
        _estimates(table),
        "learn.response.figure",
        say("How likely each estimate of the share is; the true share is 30%."),
        table,
        leaves=True,
    )
    st.markdown(
        say(
            "An answer that is true with probability {truth:.0%} has **ε = {epsilon}**, δ = 0."
            " From {people:,} answers the share is known to within **{error:.1f} points in 100**,"
            " typically.",
            truth=truth,
            epsilon=epsilon_text(epsilon),
            people=people,
            error=100 * survey.error,
        )
    )
    st.caption(
        say(
            "{share:.0%} of them would say yes. Typically: one standard deviation of what the lies"
            " do to the estimate.",
            share=SHARE,
        )
    )


def _estimates(table: pd.DataFrame) -> go.Figure:
    """How likely each estimate is, with the true share marked."""
    fig = line_figure(
        say("share of yes, the lies subtracted"),
        say("how likely"),
        table,
        "estimate",
        [line(say("estimate"), "chance", "spectral", fill="tozeroy")],
        280,
    )
    fig.add_vline(x=SHARE, line={"color": colours.ink(), "dash": "dash"})
    fig.add_annotation(
        x=SHARE,
        y=1,
        yref="paper",
        text=say("true share"),
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
        people = _people_slider(say("People who take part"), 10_000, "learn.local.people")
    _draw_errors(epsilon)
    central, own = trust.central_error(people, epsilon), trust.local_error(people, epsilon)
    st.markdown(
        say(
            "With {people:,} people the curator's mean is off by **{central:.2g} stars**, the local"
            " one by **{local:.2g}**: {ratio:,.0f} times as much.",
            people=people,
            central=central,
            local=own,
            ratio=own / central,
        )
    )
    st.caption(
        say(
            "Standard deviation of normal noise at ε = {epsilon}, δ = {delta}, per person,"
            " replacing one rating between 1 and 5 by another; the number of people is public.",
            epsilon=budget_text(epsilon),
            delta=DELTA_TEXT,
        )
    )


def _people_slider(label: str, start: int, key: str) -> int:
    return int(
        st.select_slider(
            label, PEOPLE, start, key=key, format_func=lambda count: say("{count:,}", count=count)
        )
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
        say("people"),
        say("error of the mean, in stars"),
        table,
        "people",
        [
            line(say("everybody adds noise"), "local", "spectral", mode="lines+markers"),
            line(say("a curator adds noise"), "central", "dpals", mode="lines+markers"),
        ],
    )
    fig.update_xaxes(type="log", tickvals=[10, 100, 1_000, 10_000])
    fig.update_yaxes(type="log", dtick=1)
    charts.show(
        fig,
        "learn.local.figure",
        say("Error of a mean over the number of people, with and without a curator."),
        table,
        leaves=True,
    )


def clipping() -> None:
    clip_norm = st.select_slider(
        say("Clip norm C"),
        [round(C, 1) for C in CLIP_NORMS],
        round(CLIP_NORMS[12], 1),
        key="learn.clip",
        format_func=lambda norm: say("{norm}", norm=f"{norm:g}"),
    )
    lines = clipping_errors(open_ratings(DataSpec(id=SMALL)), CLIP_NORMS, 1.0)
    table = pd.DataFrame([vars(it) for it in lines])
    at = min(lines, key=lambda it: abs(it.norm - clip_norm))
    fig = line_figure(
        say("clip norm C"),
        say("error of an item's sum"),
        table,
        "norm",
        [
            line(say("cut off"), "cut", "dpals", dash="dash"),
            line(say("noise"), "noise", "dpfw", dash="dot"),
            line(say("both"), "both", "spectral"),
        ],
    )
    fig.add_vline(x=at.norm, line={"color": colours.ink(), "dash": "dash"})
    fig.update_xaxes(type="log", tickvals=CLIP_TICKS)
    charts.show(
        fig,
        "learn.clip.figure",
        say("Error over the clip norm: cut off falls, noise grows, both have a valley."),
        table,
        leaves=True,
    )
    st.markdown(
        say(
            "At C = {norm:g}, **{people:.0%} of the people are shortened**; the error is"
            " {both:.0f}: {cut:.0f} cut off and {noise:.0f} noise, which add up by squares.",
            norm=clip_norm,
            people=at.people_cut,
            both=at.both,
            cut=at.cut,
            noise=at.noise,
        )
    )
    st.caption(
        say(
            "The sum of everyone's ratings of each item is published once at ε = 1 (δ = {delta},"
            " per user, add/remove, exact).",
            delta=DELTA_TEXT,
        )
    )


def composition() -> None:
    steps = st.slider(say("Steps, each of ε = 0.5"), 1, 100, 10, key="learn.steps")
    table = pd.DataFrame(totals(0.5, steps), columns=["steps", "exactly", "sum"])
    fig = line_figure(
        say("steps"),
        say("total ε"),
        table,
        "steps",
        [
            line(say("exactly"), "exactly", "dpals", mode="lines+markers"),
            line(say("sum of ε"), "sum", "grey", dash="dash"),
        ],
    )
    charts.show(
        fig,
        "learn.steps.figure",
        say("Total epsilon over steps, exactly and as a sum."),
        table,
        leaves=True,
    )
    exact, plain_sum = added_up(0.5, steps)
    st.markdown(
        say(
            "**{steps} steps of ε = 0.5 cost {exact:.2f}**, not 0.5, and not {summed:g} either:"
            " Gaussian noise adds up by squares.",
            steps=steps,
            exact=exact,
            summed=plain_sum,
        )
        if steps > 1
        else say("**One step of ε = 0.5 costs 0.5.**")
    )
    st.caption(
        say(
            "δ = {delta}, per person, add/remove, exact. Saha & Imtiaz 2022 state the ε of each of"
            " two releases in each step of their private NMF; the Accountant shows what they add"
            " up to.",
            delta=DELTA_TEXT,
        )
    )


STEPS = {
    "nonnegative": phrase("nothing below zero"),
    "rounded": phrase("whole numbers"),
    "rescaled": phrase("scale to the noisy total"),
}


def postprocessing() -> None:
    epsilon = epsilon_slider("learn.after", 0.2)
    steps = st.pills(
        say("Afterwards"),
        list(STEPS),
        selection_mode="multi",
        default=["nonnegative"],
        key="learn.after.steps",
        format_func=lambda step: say(STEPS[step]),
    )
    noisy = trust.noisy_counts(epsilon)
    after = trust.processed(noisy, frozenset(steps))
    _draw_counts(noisy[0], after[0])
    st.markdown(
        say(
            "A count is off by **{after:.1f} people** instead of {before:.1f}, on average over"
            " {draws:,} draws. **ε is {epsilon}, before and after.**",
            after=trust.count_error(after),
            before=trust.count_error(noisy),
            draws=trust.DRAWS,
            epsilon=budget_text(epsilon),
        )
    )
    st.caption(
        say(
            "Normal noise on five counts, δ = {delta}, per person, add/remove, exact. The figure"
            " shows one draw.",
            delta=DELTA_TEXT,
        )
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
    fig = charts.figure(say("stars"), say("people"), height=300)
    for column, name, tint in (
        ("true", say("true, which nobody sees"), "grey"),
        ("published", say("published with noise"), "dpals"),
        ("afterwards", say("afterwards"), "spectral"),
    ):
        fig.add_bar(x=table["stars"], y=table[column], name=name, marker_color=colours.of(tint))
    charts.show(
        fig,
        "learn.after.figure",
        say("Counts of stars: true, with noise, and tidied up."),
        table,
        leaves=True,
    )


TINTS = {"private": "dpals", "not private": "als", "guessing": "user-mean"}
NAMES = {
    "private": phrase("private"),
    "not private": phrase("not private"),
    "guessing": phrase("guessing"),
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
            "group": say("{low:,.0f} to {high:,.0f}", low=it["from"], high=it["to"]),
            "name": say(NAMES[name]),
            "id": TINTS[name],
            "rmse": it["rmse"],
        }
        for name, run in runs.items()
        for it in run.record.buckets["activity"]
    ]
    table = pd.DataFrame(rows)
    charts.show(
        charts.groups(table, say("how many films a person rated, quarters")),
        "learn.price.figure",
        say("RMSE by activity."),
        table,
        leaves=True,
    )
    error = {name: run.record.metric("rmse") for name, run in runs.items()}
    st.markdown(
        say(
            "At ε = {epsilon} private ALS errs by **{private:.3f}**, ALS without privacy by"
            " {twin:.3f}, each user's own mean by {guess:.3f}.",
            epsilon=budget_text(epsilon),
            private=error["private"],
            twin=error["not private"],
            guess=error["guessing"],
        )
    )
    st.caption(
        say(
            "ε in total, δ = {delta}, per user, add/remove, exact. Errors are computed on simulated"
            " data.",
            delta=DELTA_TEXT,
        )
    )
