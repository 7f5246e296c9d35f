"""Demonstrations about people: linking, membership, neighbours, groups, what an attacker may
believe.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_core.language import phrase
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.teaching import linkage, membership
from dpmf_core.teaching.demonstrations import (
    PHOTOGRAPHS,
    belief,
    beliefs,
    best_attacks,
    group_epsilons,
    two_answers,
)
from pages.kit import charts, colours, links, safe_text, who_sees_what
from pages.kit.language import say
from pages.lessons.lines import DELTA, DELTA_TEXT, epsilon_slider, line, line_figure

MOST_FILMS = 8
EXACTNESS = {3: phrase("to 3 days"), 30: phrase("to 30 days"), None: phrase("not at all")}


def linking() -> None:
    """How few films and days single out a row."""
    left, right = st.columns(2)
    off = left.segmented_control(
        say("How exactly the day is known"),
        list(EXACTNESS),
        default=3,
        key="learn.exactness",
        required=True,
        format_func=lambda days: say(EXACTNESS[days]),
    )
    film_count = right.slider(say("Films that are known"), 1, MOST_FILMS, 2, key="learn.known")
    shares = linkage.share_named(MOST_FILMS, off)
    _draw_shares(shares, film_count)
    st.markdown(
        say(
            "With {known} films and the day known {exactness}, **{share:.1%}** of the rows are"
            " found.",
            known=film_count,
            exactness=say(EXACTNESS[off]),
            share=shares[film_count - 1],
        )
    )
    _draw_person()
    st.caption(
        say(
            "{viewers:,} invented viewers, {seen} films each of {films}, over two years. Real data"
            " are no safer: of the rows that Netflix published, 80% are found by six films outside"
            " the 100 best known, with days to within two weeks (Narayanan & Shmatikov 2007).",
            viewers=linkage.VIEWERS,
            seen=linkage.FILMS_SEEN,
            films=linkage.FILMS,
        )
    )


def _draw_shares(shares: Sequence[float], film_count: int) -> None:
    """The share of rows that are found, by the films that are known, and the one chosen."""
    table = pd.DataFrame({"films": range(1, MOST_FILMS + 1), "share": shares})
    fig = line_figure(
        say("films that are known"),
        say("people whose row is found"),
        table,
        "films",
        [line(say("found"), "share", "spectral", mode="lines+markers")],
    )
    fig.add_scatter(
        x=[film_count],
        y=[shares[film_count - 1]],
        mode="markers+text",
        text=[say("{share:.1%}", share=shares[film_count - 1])],
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
        say("Share of people whose row is found, over the number of films that are known."),
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
            say("film"): [str(film + 1) for film, _ in match.known_films],
            say("the day, as {name} wrote it", name=match.name): [
                str(day) for _, day in match.known_films
            ],
            say("the day in row {row}", row=match.row + 1): [
                str(rows[film]) for film, _ in match.known_films
            ],
        }
    )
    safe_text.words_table(table)
    st.markdown(
        say(
            "{name} wrote about two films. One row alone agrees, so its other {rest} films are now"
            " known to be hers too.",
            name=match.name,
            rest=match.rest,
        )
    )


def _your_films(key: str) -> tuple[int, ...]:
    films = range(membership.FILMS)
    choice = st.pills(
        say("Films that you saw"),
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
    fig = charts.figure(say("film"), say("published less all others"), height=280)
    for is_seen, name, tint in (
        (True, say("you saw it"), "spectral"),
        (False, say("you did not"), "grey"),
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
        say("The sums with you less the sums without you: your films, each 1."),
    )
    names = ", ".join(str(film + 1) for film in range(membership.FILMS) if club.difference[film])
    st.markdown(
        say("The attacker reads: you saw **{films}**.", films=names)
        if names
        else say("You saw nothing, so nothing of you is there to be found.")
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
        say(
            "The noisy sums less the sums of all others: bars up and down, whether you saw a film."
        ),
    )
    st.button(say("Draw the noise again"), key="learn.again", on_click=_draw_again)
    best, yours = membership.best_attack(epsilon), membership.best_attack(epsilon, len(films))
    st.markdown(
        say(
            "Right about you in **{yours:.0f} of 100** cases, about nobody in more than {best:.0f};"
            " tossing a coin is right in 50.",
            yours=100 * yours,
            best=100 * best,
        )
    )
    st.caption(
        say(
            "Normal noise of {noise:.1f} on each of {films} sums: ε = {epsilon} in total at δ ="
            " {delta}, per person, add/remove, exact. The cases are those of the best attacker"
            " there is, from even odds.",
            noise=noise,
            films=membership.FILMS,
            epsilon=budget_text(epsilon),
            delta=DELTA_TEXT,
        )
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
        say("the sum that is published"),
        say("how likely"),
        table,
        "answer",
        [
            line(say("without you"), "without you", "dpals", fill="tozeroy"),
            line(say("with you, who gave a 5"), "with you", "spectral", fill="tozeroy"),
        ],
    )
    charts.show(
        fig,
        "learn.neighbours.figure",
        say("Two bell curves, 5 apart, noise {noise:.1f}.", noise=answers.noise),
        table,
        leaves=True,
    )
    st.caption(
        say(
            "50 people rated a film; the sum of their ratings is published with normal noise of"
            " {noise:.1f}, at ε = {epsilon} and δ = {delta}.",
            noise=answers.noise,
            epsilon=budget_text(epsilon),
            delta=DELTA_TEXT,
        )
    )


# who looks: what she sees without noise, and with it
VIEWS = {
    phrase("you"): (
        phrase("your own ratings, your own factor, your list"),
        phrase("the noisy item factors"),
    ),
    phrase("another user"): (
        phrase("her own ratings, her own factor, her list"),
        phrase("the noisy item factors, not your ratings"),
    ),
    phrase("an attacker who is everybody else together"): (
        phrase("everyone's ratings but yours"),
        phrase("the noisy item factors: all that could tell of you"),
    ),
    phrase("the curator"): (phrase("everything: she is trusted"), phrase("everything")),
}


def joint() -> None:
    who = st.selectbox(say("Who looks"), list(VIEWS), key="learn.who", format_func=say)
    without, with_noise = VIEWS[who]
    st.markdown(
        say(
            "**Without noise:** {without}.  \n**With noise:** {noisy}.",
            without=say(without),
            noisy=say(with_noise),
        )
    )
    who_sees_what.draw(who_sees_what.USERS, unfolded=True)


def attacker() -> None:
    epsilon = epsilon_slider("learn.odds")
    left, right = st.columns(2, gap="large")
    with left:
        table = pd.DataFrame(beliefs(epsilon), columns=["before", "after"])
        table["unmoved"] = table["before"]
        fig = line_figure(
            say("what an attacker believed before"),
            say("what she may believe after, at most"),
            table,
            "before",
            [
                line(say("ε = {epsilon}", epsilon=budget_text(epsilon)), "after", "spectral"),
                line(say("nothing learnt"), "unmoved", "grey", dash="dash"),
            ],
        )
        fig.update_xaxes(tickformat=".0%")
        fig.update_yaxes(tickformat=".0%")
        charts.show(
            fig, "learn.belief", say("Belief after over belief before."), table, leaves=True
        )
    with right:
        curve = pd.DataFrame(best_attacks(epsilon), columns=["fpr", "fnr"])
        charts.show(
            charts.trade_off(curve),
            "learn.curve",
            say("Trade-off curve."),
            curve,
            leaves=True,
        )
    st.markdown(
        say(
            "Who gave you even odds of having taken part may come to believe **{belief:.0%}** at"
            " most.",
            belief=belief(0.5, epsilon),
        )
    )
    st.caption(
        say(
            "ε in total, per person, add/remove; the belief holds but with probability δ = {delta},"
            " the curve is exact.",
            delta=DELTA_TEXT,
        )
    )
    links.to(
        "audit",
        say("Play the attacker: catch a planted fault on the Audit page"),
        {"attack": "private-bias"},
    )


def group() -> None:
    epsilon = epsilon_slider("learn.group")
    table = pd.DataFrame(
        group_epsilons(epsilon, PHOTOGRAPHS, DELTA), columns=["photographs", "epsilon"]
    )
    table["one"] = epsilon
    fig = line_figure(
        say("photographs of you in the data"),
        say("ε for you"),
        table,
        "photographs",
        [
            line(say("you"), "epsilon", "spectral", mode="lines+markers"),
            line(say("one photograph"), "one", "grey", dash="dash"),
        ],
    )
    fig.update_xaxes(type="log", tickvals=list(PHOTOGRAPHS))
    fig.update_yaxes(type="log", dtick=1)
    charts.show(
        fig,
        "learn.group.figure",
        say("Epsilon of a person over the number of her photographs, by the same noise."),
        table,
        leaves=True,
    )
    epsilons = dict(zip(table["photographs"], table["epsilon"], strict=True))
    st.markdown(
        say(
            "The noise is set for **ε = {epsilon} a photograph**. Somebody with 8 of them has"
            " **ε = {few}**, with 64 **ε = {many}**.",
            epsilon=budget_text(epsilon),
            few=epsilon_text(float(epsilons[8])),
            many=epsilon_text(float(epsilons[64])),
        )
    )
    st.caption(
        say(
            "δ = {delta} for all of them, add/remove, exact. A face data set that research uses,"
            " Extended Yale B, has 59 to 64 photographs a person.",
            delta=DELTA_TEXT,
        )
    )
