"""Demonstrations about people: linking, membership, neighbours, groups, what an attacker may
believe.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.teaching import linkage, membership
from dpmf_core.teaching.demonstrations import (
    PHOTOGRAPHS,
    belief,
    belief_exception,
    beliefs,
    best_attacks,
    group_epsilons,
    two_answers,
)
from pages.kit import charts, colours, links, safe_text, who_sees_what
from pages.lessons.lines import DELTA, DELTA_TEXT, epsilon_slider, line, line_figure

MOST_FILMS = 8
EXACTNESS = {3: "to 3 days", 30: "to 30 days", None: "not at all"}


def linking() -> None:
    """How few films and days single out a row."""
    left, right = st.columns(2)
    off = left.segmented_control(
        "How exactly the day is known",
        list(EXACTNESS),
        default=3,
        key="learn.exactness",
        required=True,
        format_func=lambda days: EXACTNESS[days],
    )
    film_count = right.slider("Films that are known", 1, MOST_FILMS, 2, key="learn.known")
    shares = linkage.share_named(MOST_FILMS, off)
    _draw_shares(shares, film_count)
    st.markdown(
        f"With {film_count} films and the day known {EXACTNESS[off]},"
        f" **{shares[film_count - 1]:.1%}** of the rows are found."
    )
    _draw_person()
    st.caption(
        f"{linkage.VIEWERS:,} invented viewers, {linkage.FILMS_SEEN} films each of"
        f" {linkage.FILMS}, over two years. Real data are no safer: of the rows that Netflix"
        " published, 80% are found by six films outside the 100 best known, with days to"
        " within two weeks (Narayanan & Shmatikov 2007)."
    )


def _draw_shares(shares: Sequence[float], film_count: int) -> None:
    """The share of rows that are found, by the films that are known, and the one chosen."""
    table = pd.DataFrame({"films": range(1, MOST_FILMS + 1), "share": shares})
    fig = line_figure(
        "films that are known",
        "people whose row is found",
        table,
        "films",
        [line("found", "share", "spectral", mode="lines+markers")],
    )
    fig.add_scatter(
        x=[film_count],
        y=[shares[film_count - 1]],
        mode="markers+text",
        text=[f"{shares[film_count - 1]:.1%}"],
        textposition="bottom right",
        textfont={"size": 22},
        marker={"size": 14, "color": colours.of("spectral")},
        showlegend=False,
        hoverinfo="skip",
    )
    fig.update_yaxes(range=[-0.05, 1.08], tickformat=".0%")
    fig.update_layout(showlegend=False)
    charts.show(
        fig,
        "learn.linking.figure",
        "Share of people whose row is found, over the number of films that are known.",
        table,
        leaves=True,
    )


def _draw_person() -> None:
    """One of them, found."""
    person = next(it for it in range(len(linkage.NAMES)) if linkage.find_row(it, 2, 3) is not None)
    match = linkage.find_row(person, 2, 3)
    if match is None:
        return
    rows = linkage.published_days()[match.row]
    table = pd.DataFrame(
        {
            "film": [str(film + 1) for film, _ in match.known_films],
            f"the day, as {match.name} wrote it": [str(day) for _, day in match.known_films],
            f"the day in row {match.row + 1}": [str(rows[film]) for film, _ in match.known_films],
        }
    )
    safe_text.words_table(table)
    st.markdown(
        f"{match.name} wrote about two films. One row alone agrees, so its other {match.rest}"
        " films are now known to be hers too."
    )


def _your_films(key: str) -> tuple[int, ...]:
    films = range(membership.FILMS)
    choice = st.pills(
        "Films that you saw",
        list(films),
        selection_mode="multi",
        default=[0, 3, 7, 11],
        key=key,
        format_func=lambda film: str(film + 1),
    )
    return tuple(choice)


def _draw_difference(club: membership.Club, key: str, alt: str) -> None:
    """What the attacker has, film by film; films that you saw are named."""
    table = pd.DataFrame(
        {
            "film": range(1, membership.FILMS + 1),
            "published": club.published_sums,
            "others": club.others,
            "difference": club.difference,
            "seen": club.has_seen,
        }
    )
    fig = charts.figure("film", "published less all others", height=280)
    for is_seen, name, tint in (
        (True, "you saw it", "spectral"),
        (False, "you did not", "grey"),
    ):
        rows = table[table["seen"] == is_seen]
        fig.add_bar(x=rows["film"], y=rows["difference"], name=name, marker_color=colours.of(tint))
    fig.update_xaxes(dtick=1)
    charts.show(fig, key, alt, table, leaves=True)


def exact_sums() -> None:
    """Before and after: the difference is your row."""
    club = membership.club(_your_films("learn.films"))
    _draw_difference(
        club,
        "learn.exact.figure",
        "The sums with you less the sums without you: your films, each 1.",
    )
    names = ", ".join(str(film + 1) for film in range(membership.FILMS) if club.difference[film])
    st.markdown(
        f"The attacker reads: you saw **{names}**."
        if names
        else "You saw nothing, so nothing of you is there to be found."
    )


def noisy_sums() -> None:
    """The same behind noise."""
    epsilon = epsilon_slider("learn.membership")
    films = _your_films("learn.films.noisy")
    draw = int(st.session_state.get("learn.draw", 0))
    noise = membership.noise_of(epsilon)
    _draw_difference(
        membership.club(films, noise, draw),
        "learn.noisy.figure",
        "The noisy sums less the sums of all others: bars up and down, whether you saw a film.",
    )
    st.button("Draw the noise again", key="learn.again", on_click=_draw_again)
    best, yours = membership.best_attack(epsilon), membership.best_attack(epsilon, len(films))
    st.markdown(
        f"Right about you in **{100 * yours:.0f} of 100** cases, about nobody in more than"
        f" {100 * best:.0f}; tossing a coin is right in 50."
    )
    st.caption(
        f"Normal noise of {noise:.1f} on each of {membership.FILMS} sums: ε ="
        f" {budget_text(epsilon)} in total at δ = {DELTA_TEXT}, per person, add/remove,"
        " exact. The cases are those of the best attacker there is, from even odds."
    )


def _draw_again() -> None:
    st.session_state["learn.draw"] = int(st.session_state.get("learn.draw", 0)) + 1


def neighbours() -> None:
    epsilon = epsilon_slider("learn.neighbours")
    answers = two_answers(epsilon)
    table = pd.DataFrame(
        {"answer": answers.axis, "without you": answers.without, "with you": answers.with_you}
    )
    fig = line_figure(
        "the sum that is published",
        "how likely",
        table,
        "answer",
        [
            line("without you", "without you", "dpals", fill="tozeroy"),
            line("with you, who gave a 5", "with you", "spectral", fill="tozeroy"),
        ],
    )
    charts.show(
        fig,
        "learn.neighbours.figure",
        f"Two bell curves, 5 apart, noise {answers.noise:.1f}.",
        table,
        leaves=True,
    )
    st.caption(
        "50 people rated a film; the sum of their ratings is published with normal noise of"
        f" {answers.noise:.1f}, at ε = {budget_text(epsilon)} and δ = {DELTA_TEXT}."
    )


# who looks: what she sees without noise, and with it
VIEWS = {
    "you": (
        "your own ratings, your own factor, your list",
        "the noisy item factors",
    ),
    "another user": (
        "her own ratings, her own factor, her list",
        "the noisy item factors, not your ratings",
    ),
    "an attacker who is everybody else together": (
        "everyone's ratings but yours",
        "the noisy item factors: all that could tell of you",
    ),
    "the curator": ("everything: she is trusted", "everything"),
}


def joint() -> None:
    who = st.selectbox("Who looks", list(VIEWS), key="learn.who")
    without, with_noise = VIEWS[who]
    st.markdown(f"**Without noise:** {without}.  \n**With noise:** {with_noise}.")
    who_sees_what.draw(who_sees_what.USERS, unfolded=True)


def attacker() -> None:
    epsilon = epsilon_slider("learn.odds")
    left, right = st.columns(2, gap="large")
    with left:
        table = pd.DataFrame(beliefs(epsilon), columns=["before", "after"])
        table["unmoved"] = table["before"]
        fig = line_figure(
            "what an attacker believed before",
            "what she may believe after, at most",
            table,
            "before",
            [
                line(f"ε = {budget_text(epsilon)}", "after", "spectral"),
                line("nothing learnt", "unmoved", "grey", dash="dash"),
            ],
        )
        fig.update_xaxes(tickformat=".0%")
        fig.update_yaxes(tickformat=".0%")
        charts.show(fig, "learn.belief", "Belief after over belief before.", table, leaves=True)
    with right:
        curve = pd.DataFrame(best_attacks(epsilon), columns=["fpr", "fnr"])
        charts.show(
            charts.trade_off(curve),
            "learn.curve",
            "Trade-off curve.",
            curve,
            leaves=True,
        )
    st.markdown(
        "Who gave you even odds of having taken part may come to believe"
        f" **{belief(0.5, epsilon):.0%}** at most."
    )
    st.caption(
        f"ε in total, δ = {DELTA_TEXT}, per person, add/remove, exact. With Gaussian noise, a"
        " result that moves the belief further has probability"
        f" {belief_exception(epsilon, DELTA):.1g}."
    )
    links.to(
        "audit",
        "Play the attacker: catch a planted fault on the Audit page",
        {"attack": "private-bias"},
    )


def group() -> None:
    epsilon = epsilon_slider("learn.group")
    table = pd.DataFrame(
        group_epsilons(epsilon, PHOTOGRAPHS, DELTA), columns=["photographs", "epsilon"]
    )
    table["one"] = epsilon
    fig = line_figure(
        "photographs of you in the data",
        "ε for you",
        table,
        "photographs",
        [
            line("you", "epsilon", "spectral", mode="lines+markers"),
            line("one photograph", "one", "grey", dash="dash"),
        ],
    )
    fig.update_xaxes(type="log", tickvals=list(PHOTOGRAPHS))
    fig.update_yaxes(type="log", dtick=1)
    charts.show(
        fig,
        "learn.group.figure",
        "Epsilon of a person over the number of her photographs, by the same noise.",
        table,
        leaves=True,
    )
    epsilons = dict(zip(table["photographs"], table["epsilon"], strict=True))
    st.markdown(
        f"The noise is set for **ε = {budget_text(epsilon)} a photograph**. Somebody with 8"
        f" of them has **ε = {epsilon_text(float(epsilons[8]))}**, with 64 **ε ="
        f" {epsilon_text(float(epsilons[64]))}**."
    )
    st.caption(
        f"δ = {DELTA_TEXT} for all of them, add/remove, exact. A face data set that research"
        " uses, Extended Yale B, has 59 to 64 photographs a person."
    )
