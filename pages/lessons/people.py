"""Demonstrations about people: linking, membership, neighbours, groups, what an attacker learns."""

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, certainty_text, epsilon_text
from dpmf_core.teaching import linkage, membership
from dpmf_core.teaching.demonstrations import (
    PHOTOGRAPHS,
    belief_exception,
    beliefs,
    best_attacks,
    group_epsilons,
    two_answers,
)
from pages.kit import charts, colours, links, safe_text, who_sees_what
from pages.lessons.figures import DELTA_TEXT, Line, curves, epsilon_slider, show

MOST_FILMS = 8
EXACTNESS = {3: "within 3 days", 30: "within 30 days", None: "not at all"}


def linking() -> None:
    left, right = st.columns(2)
    off = left.segmented_control(
        "How precisely the day is known",
        list(EXACTNESS),
        default=3,
        key="learn.exactness",
        required=True,
        format_func=EXACTNESS.__getitem__,
    )
    count = right.slider("Known films", 1, MOST_FILMS, 2, key="learn.known")
    shares = linkage.share_named(MOST_FILMS, off)
    share = shares[count - 1]
    table = pd.DataFrame({"films": range(1, MOST_FILMS + 1), "share": shares})
    line = Line("identified", "share", "spectral", mode="lines+markers")
    fig = curves("known films", "people identified", table, "films", [line])
    fig.add_scatter(
        x=[count],
        y=[share],
        mode="markers+text",
        text=[f"{share:.1%}"],
        textposition="bottom right",
        textfont={"size": 22},
        marker={"size": 14, "color": colours.of("spectral")},
        hoverinfo="skip",
    )
    fig.update_yaxes(range=[-0.05, 1.08], tickformat=".0%")
    fig.update_layout(showlegend=False)
    show(fig, "linking.figure", "Share of people identified, by the number of known films.", table)
    st.markdown(
        f"With {count} films (day known: {EXACTNESS[off]}), **{share:.1%}** of the people are"
        " identified."
    )
    _draw_person()
    st.caption(
        f"{linkage.VIEWERS:,} simulated viewers who each saw {linkage.FILMS_SEEN} of"
        f" {linkage.FILMS} films over two years. Real data are no safer: six films outside the 100"
        " best known, dated to within two weeks, identify 80% of the people in the Netflix Prize"
        " data (Narayanan & Shmatikov 2007)."
    )


def _draw_person() -> None:
    """Draw one viewer whom two films identify."""
    person = linkage.first_found(2, 3)
    if person is None:
        return
    name, days = linkage.NAMES[person], linkage.published_days()[person]
    reviews = [(int(film), int(day)) for film, day in linkage.reviews_of_targets(2, 3)[person]]
    rows = [(str(film + 1), str(day), str(days[film])) for film, day in reviews]
    columns = ["film", f"the day, as {name} wrote it", f"the day in row {person + 1}"]
    safe_text.words_table(pd.DataFrame(rows, columns=columns))
    st.markdown(
        f"{name} wrote about two films. Only one row agrees, so the other"
        f" {linkage.FILMS_SEEN - 2} films that {name} saw are now known too."
    )


# ---- membership ----------------------------------------------------------------------------------


def _your_films(key: str) -> tuple[int, ...]:
    films = st.pills(
        "Films that you saw",
        list(range(membership.FILMS)),
        selection_mode="multi",
        default=[0, 3, 7, 11],
        key=key,
        format_func=lambda film: str(film + 1),
    )
    return tuple(films)


def _draw_difference(club: membership.Club, name: str, alt: str) -> None:
    """Draw the difference that an attacker sees for each film."""
    table = pd.DataFrame(
        {
            "film": range(1, membership.FILMS + 1),
            "published": club.published_sums,
            "others": club.others,
            "difference": club.difference,
            "seen": club.has_seen,
        }
    )
    fig = charts.figure("film", "published sum minus all others", height=280)
    for is_seen, label, tint in ((True, "you saw it", "spectral"), (False, "you did not", "grey")):
        rows = table[table["seen"] == is_seen]
        height, colour = rows["difference"], colours.of(tint)
        fig.add_bar(x=rows["film"], y=height, name=label, marker_color=colour)
    fig.update_xaxes(dtick=1)
    show(fig, name, alt, table)


def exact_sums() -> None:
    club = membership.club(_your_films("learn.films"))
    alt = "The sums with you minus the sums without you: your films, each 1."
    _draw_difference(club, "exact.figure", alt)
    names = ", ".join(str(film + 1) for film in range(membership.FILMS) if club.difference[film])
    st.markdown(
        f"The attacker learns that you saw **{names}**."
        if names
        else "You saw nothing, so there is nothing to find."
    )


def noisy_sums() -> None:
    epsilon = epsilon_slider("membership")
    films = _your_films("learn.films.noisy")
    draw = int(st.session_state.get("learn.draw", 0))
    noise = membership.noise_of(epsilon)
    alt = "The noisy sums minus the sums of all others: positive and negative bars in both groups."
    _draw_difference(membership.club(films, noise, draw), "noisy.figure", alt)
    st.button("Draw the noise again", key="learn.again", on_click=_draw_again)
    best, yours = membership.best_attack(epsilon), membership.best_attack(epsilon, len(films))
    st.markdown(
        f"The best attacker is right about you in **{100 * yours:.0f} of 100** cases, and about no"
        f" one in more than {100 * best:.0f}. Tossing a coin is right in 50."
    )
    st.caption(
        f"Normal noise of {noise:.1f} on each of {membership.FILMS} sums: ε ="
        f" {budget_text(epsilon)} in total at δ = {DELTA_TEXT}, per person, add/remove, exact."
    )


def _draw_again() -> None:
    st.session_state["learn.draw"] = int(st.session_state.get("learn.draw", 0)) + 1


# ---- what a guarantee says -----------------------------------------------------------------------


def neighbours() -> None:
    epsilon = epsilon_slider("neighbours")
    table, noise = two_answers(epsilon)
    lines = [
        Line("without you", "without you", "dpals", fill="tozeroy"),
        Line("with you, who gave a 5", "with you", "spectral", fill="tozeroy"),
    ]
    fig = curves("the published sum", "how likely", table, "answer", lines)
    alt = f"Two bell curves, 5 apart, with noise {noise:.1f}."
    show(fig, "neighbours.figure", alt, table)
    st.caption(
        "50 people rated a film. The sum of their ratings is published with normal noise of"
        f" {noise:.1f}, at ε = {budget_text(epsilon)} and δ = {DELTA_TEXT}."
    )


# observer: what they see without noise, and with noise
VIEWS = {
    "you": ("your own ratings, factor and list", "the noisy item factors as well"),
    "another person": (
        "their own ratings, factor and list",
        "the noisy item factors, but not your ratings",
    ),
    "an attacker who is everyone else together": (
        "everyone's ratings but yours",
        "the noisy item factors, which alone depend on you",
    ),
    "the curator": ("everything, because it is trusted", "everything"),
}


def joint() -> None:
    who = st.selectbox("Who looks", list(VIEWS), key="learn.who")
    without, with_noise = VIEWS[who]
    st.markdown(f"**Without noise:** {without}.  \n**With noise:** {with_noise}.")
    who_sees_what.draw(who_sees_what.USERS, unfolded=True)


def attacker() -> None:
    epsilon = epsilon_slider("odds")
    left, right = st.columns(2, gap="large")
    table = pd.DataFrame(beliefs(epsilon), columns=["before", "after"])
    table["unmoved"] = table["before"]
    lines = [
        Line(f"ε = {budget_text(epsilon)}", "after", "spectral"),
        Line("nothing learned", "unmoved", "grey", dash="dash"),
    ]
    fig = curves("belief before", "belief after, at most", table, "before", lines)
    fig.update_layout(xaxis_tickformat=".0%", yaxis_tickformat=".0%")
    with left:
        show(fig, "belief", "An attacker's belief after, by the belief before.", table)
    with right:
        curve = pd.DataFrame(best_attacks(epsilon), columns=["fpr", "fnr"])
        show(charts.trade_off(curve), "curve", "Trade-off curve.", curve)
    most = certainty_text(epsilon)
    sure = f"at most **{most}** sure" if most else "almost certain"
    st.markdown(f"Someone who starts at 50:50 can become {sure} that you took part.")
    st.caption(
        f"ε in total, δ = {DELTA_TEXT}, per person, add/remove, exact. With Gaussian noise, a"
        " result that moves the belief further has probability"
        f" {belief_exception(epsilon):.2g}."
    )
    label = "Attack a method: plant a fault"
    links.to("audit", label, {"attack": "private-bias"})


def group() -> None:
    epsilon = epsilon_slider("group")
    epsilons = dict(group_epsilons(epsilon, PHOTOGRAPHS))
    table = pd.DataFrame(
        {"photographs": epsilons.keys(), "epsilon": epsilons.values(), "one": epsilon}
    )
    lines = [
        Line("you", "epsilon", "spectral", mode="lines+markers"),
        Line("one photograph", "one", "grey", dash="dash"),
    ]
    fig = curves("photographs of you in the data", "ε for you", table, "photographs", lines)
    fig.update_xaxes(type="log", tickvals=list(PHOTOGRAPHS))
    fig.update_yaxes(type="log", dtick=1)
    alt = "Epsilon of a person by the number of their photographs, at the same noise."
    show(fig, "group.figure", alt, table)
    st.markdown(
        f"The noise is set for **ε = {budget_text(epsilon)} per photograph**. Someone with 8 of"
        f" them has **ε = {epsilon_text(epsilons[8])}**, someone with 64 has **ε ="
        f" {epsilon_text(epsilons[64])}**."
    )
    st.caption(
        f"δ = {DELTA_TEXT} for all of them, add/remove, exact. Extended Yale B, a face data set"
        " used in research, has 59 to 64 photographs per person."
    )
