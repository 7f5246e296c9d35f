"""The seven lessons: one idea, one figure, one control, one question each, on the app's own computations."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from dpmf_core.experiment import DataSpec, RunSpec, open_ratings
from dpmf_core.lessons import added_up, belief, clipped, grouped, two_answers
from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.accounting import false_negatives, gaussian_mu
from pages.kit import charts, links, runs, seen
from pages.kit.guarantee import loss, shown

SMALL = "cinema-small"
DELTA, DELTA_TOLD = 1e-5, "1e-5"


@dataclass(frozen=True)
class Lesson:
    title: str
    idea: str
    draw: Callable[[], None]
    question: str
    answers: tuple[str, ...]
    right: int
    because: str


def epsilon_slider(key: str, start: float = 1.0) -> float:
    return float(st.select_slider("ε", [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0], start, key=key))


def neighbours() -> None:
    epsilon = epsilon_slider("learn.neighbours")
    found = two_answers(epsilon)
    fig = charts.figure("the answer that is published", "how likely", height=300)
    for name, line, tint in (("without you", found.without, "dpals"), ("with you, who gave a 5", found.with_you, "spectral")):
        fig.add_scatter(x=found.axis, y=line, name=name, mode="lines", fill="tozeroy", line={"color": charts.colour(tint), "width": 2.5})
    table = pd.DataFrame({"answer": found.axis, "without you": found.without, "with you": found.with_you})
    charts.show(fig, "learn.neighbours.figure", f"Two bell curves, 5 apart, noise {found.noise:.1f}.", table, leaves=True)
    st.caption(
        f"50 people rated a film; the sum of their ratings is published with normal noise of {found.noise:.1f}, at ε = {loss(epsilon)} and δ = {DELTA_TOLD}."
    )


def clipping() -> None:
    norms = tuple(float(C) for C in np.geomspace(0.5, 30, 25))
    chosen = st.select_slider("Clip norm C", [round(C, 1) for C in norms], round(norms[12], 1), key="learn.clip")
    lines = clipped(open_ratings(DataSpec(id=SMALL)), norms, 1.0)
    table = pd.DataFrame([vars(line) for line in lines])
    at = min(lines, key=lambda line: abs(line.norm - chosen))
    fig = charts.figure("clip norm C", "error of an item's sum", height=320)
    for name, column, tint, dash in (("cut off", "cut", "dpals", "dash"), ("noise", "noise", "dpfw", "dot"), ("both", "both", "spectral", "solid")):
        fig.add_scatter(x=table["norm"], y=table[column], name=name, mode="lines", line={"color": charts.colour(tint), "dash": dash, "width": 2.5})
    fig.add_vline(x=at.norm, line={"color": "#8b93a1", "dash": "dash"})
    fig.update_xaxes(type="log")
    charts.show(fig, "learn.clip.figure", "Error over the clip norm: cut off falls, noise grows, both have a valley.", table, leaves=True)
    st.caption(f"The sum of everyone's ratings of each item is published once at ε = 1 (δ = {DELTA_TOLD}, per user, add/remove, exact).")
    parts = f"the error is {at.both:.0f}: {at.cut:.0f} cut off and {at.noise:.0f} noise, which add up by squares"
    st.write(f"At C = {chosen:g}, **{at.people_cut:.0%} of the people are shortened**; {parts}.")


def composition() -> None:
    steps = st.slider("Steps, each of ε = 0.5", 1, 100, 10, key="learn.steps")
    counts = sorted({1, 2, 5, 10, 20, 50, 100, steps})
    table = pd.DataFrame([{"steps": count, "exactly": added_up(0.5, count)[0], "sum": added_up(0.5, count)[1]} for count in counts])
    fig = charts.figure("steps", "total ε", height=300)
    fig.add_scatter(x=table["steps"], y=table["exactly"], name="exactly", mode="lines+markers", line={"color": charts.colour("dpals"), "width": 2.5})
    fig.add_scatter(x=table["steps"], y=table["sum"], name="sum of ε", mode="lines", line={"color": "#8b93a1", "dash": "dash"})
    charts.show(fig, "learn.steps.figure", "Total epsilon over steps, exactly and as a sum.", table, leaves=True)
    exact, summed = added_up(0.5, steps)
    st.write(f"**{steps} steps of ε = 0.5 cost {exact:.2f}**, not 0.5, and not {summed:g} either: Gaussian noise adds up by squares.")
    st.caption(
        f"δ = {DELTA_TOLD}, per person, add/remove, exact. Saha & Imtiaz 2022 state the ε of each of two releases in each step of their private NMF; "
        "the Accountant shows what they add up to."
    )


SEEN = {
    "you": ("your own ratings, your own factor, your list", "the noisy item factors"),
    "another user": ("her own ratings, her own factor, her list", "the noisy item factors, not your ratings"),
    "an attacker who is everybody else together": ("everyone's ratings but yours", "the noisy item factors: all that could tell of you"),
    "the curator": ("everything: she is trusted", "everything"),
}


def joint() -> None:
    who = st.selectbox("Who looks", list(SEEN), key="learn.who")
    without, with_noise = SEEN[who]
    st.markdown(f"**Without noise:** {without}.  \n**With noise:** {with_noise}.")
    seen.draw(seen.USERS, unfolded=True)


def attacker() -> None:
    epsilon = epsilon_slider("learn.odds")
    left, right = st.columns(2, gap="large")
    with left:
        table = pd.DataFrame([{"before": prior, "after": belief(prior, epsilon)} for prior in np.linspace(0.01, 0.99, 50)])
        fig = charts.figure("what an attacker believed before", "what she may believe after, at most", height=300)
        fig.add_scatter(x=table["before"], y=table["after"], mode="lines", name=f"ε = {loss(epsilon)}", line={"color": charts.colour("spectral"), "width": 2.5})
        fig.add_scatter(x=[0, 1], y=[0, 1], mode="lines", name="nothing learnt", line={"color": "#8b93a1", "dash": "dash"})
        charts.show(fig, "learn.belief", "Belief after over belief before.", table, leaves=True)
    with right:
        alarms = [step / 50 for step in range(51)]
        curve = pd.DataFrame({"fpr": alarms, "fnr": false_negatives(Gaussian(1 / gaussian_mu(epsilon, DELTA)), alarms)})
        charts.show(charts.trade_off(curve, f"ε = {loss(epsilon)}"), "learn.curve", "Trade-off curve.", curve, leaves=True)
    st.write(f"Who gave you even odds of having taken part may come to believe **{belief(0.5, epsilon):.0%}** at most.")
    st.caption(f"ε in total, per person, add/remove; the belief holds but with probability δ = {DELTA_TOLD}, the curve is exact.")
    links.to("audit", "Play the attacker: catch a planted fault on the Audit page", {"attack": "private-bias"})


PHOTOGRAPHS = (1, 2, 4, 8, 16, 32, 64)


def group() -> None:
    epsilon = epsilon_slider("learn.group")
    table = pd.DataFrame(grouped(epsilon, PHOTOGRAPHS, DELTA), columns=["photographs", "epsilon"])
    fig = charts.figure("photographs of you in the data", "ε for you", height=300)
    fig.add_scatter(x=table["photographs"], y=table["epsilon"], name="you", mode="lines+markers", line={"color": charts.colour("spectral"), "width": 2.5})
    fig.add_scatter(x=table["photographs"], y=[epsilon] * len(table), name="one photograph", mode="lines", line={"color": "#8b93a1", "dash": "dash"})
    fig.update_xaxes(type="log", tickvals=list(PHOTOGRAPHS))
    fig.update_yaxes(type="log", dtick=1)
    charts.show(fig, "learn.group.figure", "Epsilon of a person over the number of her photographs, by the same noise.", table, leaves=True)
    few, many = (float(table.loc[table["photographs"] == count, "epsilon"].iloc[0]) for count in (8, 64))
    st.write(f"The noise is set for **ε = {loss(epsilon)} a photograph**. Somebody with 8 of them has **ε = {shown(few)}**, with 64 **ε = {shown(many)}**.")
    st.caption(f"δ = {DELTA_TOLD} for all of them, add/remove, exact. A face data set that research uses, Extended Yale B, has 59 to 64 photographs a person.")


def price() -> None:
    epsilon = epsilon_slider("learn.price", 2.0)
    data = {"id": SMALL}
    budget = {"epsilon": epsilon, "delta": DELTA}
    asked = {
        "private": RunSpec.parse(data=data, algorithm="dpals", budget=budget), "not private": RunSpec.parse(data=data, algorithm="als").canonical(),
        "guessing": RunSpec.parse(data=data, algorithm="user-mean").canonical(),
    }  # fmt: skip
    done = runs.wanted("learn.runs", asked)
    tints = {"private": "dpals", "not private": "als", "guessing": "user-mean"}
    rows = [
        {"group": f"{it['from']:,.0f} to {it['to']:,.0f}", "name": name, "id": tints[name], "rmse": it["rmse"]}
        for name, run in done.items() for it in run.record["buckets"]["activity"]
    ]  # fmt: skip
    if len(done) < len(asked):
        return
    table = pd.DataFrame(rows)
    charts.show(charts.groups(table, "how many films a person rated, quarters"), "learn.price.figure", "RMSE by activity.", table, leaves=True)
    error = {name: float(run.record["metrics"]["rmse"]) for name, run in done.items()}
    st.write(
        f"At ε = {loss(epsilon)} private ALS errs by **{error['private']:.3f}**, ALS without privacy by {error['not private']:.3f}, "
        f"each user's own mean by {error['guessing']:.3f}."
    )
    st.caption(f"ε in total, δ = {DELTA_TOLD}, per user, add/remove, exact. Errors are computed on simulated data.")


LESSONS: dict[str, Lesson] = {
    "neighbours": Lesson(
        "What is a neighbour?",
        "Two data sets are neighbours when they differ by one person: you. Privacy means that what is published looks almost the same for both.",
        neighbours,
        "At which ε can an attacker who sees the answer hardly tell whether you took part?",
        ("0.1", "10"),
        0,
        "At 0.1 the two curves nearly coincide: no answer is much more likely with you than without. At 10 they stand apart, and most answers give you away.",
    ),
    "clipping": Lesson(
        "How much noise, and on what?",
        "Noise must hide the person who sends most. So everyone's row is first shortened to a length C; the noise grows with C.",
        clipping,
        "The error is smallest where ...",
        ("nobody is shortened", "some people are shortened, and noise is smaller", "everyone is shortened to almost nothing"),
        1,
        "Too high a C pays noise for people who hardly exist; too low a C throws away what people say. The valley lies between.",
    ),
    "composition": Lesson(
        "What do steps add up to?",
        "Every look at the data costs. A paper that names the ε of one step has not named its price: what counts is the total.",
        composition,
        "A method makes 100 steps and says “ε = 0.5”, of each step. What does it cost?",
        ("0.5", "about 7", "50"),
        1,
        "Exactly composed, 100 Gaussian releases of 0.5 each cost about 7 at δ = 1e-5: far more than 0.5, far less than 50.",
    ),
    "joint": Lesson(
        "Who sees what?",
        "Your recommendations may use your own ratings without noise: nobody but you sees them. Only what others see needs noise.",
        joint,
        "Why does your own factor carry no noise?",
        ("It is computed from your own row and shown to you alone", "It is too small to matter", "It is averaged"),
        0,
        "That is joint differential privacy: everything that reaches others passes through the noisy release; your view is computed from it and your own row.",
    ),
    "attacker": Lesson(
        "What does ε buy an attacker?",
        "ε bounds how far the odds of a suspicion may move: by a factor of e^ε, whatever the attacker knows and whatever she computes.",
        attacker,
        "At ε = 1, even odds that you took part may become at most about ...",
        ("52%", "73%", "99%"),
        1,
        "e / (1 + e) is 73%. At ε = 5 it would be 99%.",
    ),
    "group": Lesson(
        "One photograph, or one person?",
        "ε speaks of one privacy unit. Where that is a photograph, and you are on many, group privacy is what is left for you: soon next to nothing.",
        group,
        "A method promises ε = 1 a photograph, and 64 are of you. What does it promise to you?",
        ("1, as stated", "64", "about 219"),
        2,
        "All 64 together move every sum 64 times as far beside the same noise. ε grows faster than their number: 219 is no protection. "
        "So the person should be the unit: what all her photographs contribute is cut to the length of one.",
    ),
    "price": Lesson(
        "Who pays?",
        "Noise costs accuracy, and not everyone alike: what many have in common survives it, detail drowns. Compare private ALS with ALS without privacy.",
        price,
        "Who loses most to the noise, compared with ALS without privacy?",
        ("people who rated little", "people who rated much"),
        1,
        "Without privacy ALS knows busy people best, and that detail is what noise blurs. Who rated little is predicted mostly by what all have in common.",
    ),
}
