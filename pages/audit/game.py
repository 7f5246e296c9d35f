"""The attack as a game: one of three people was in the data, or none.

Epsilon is shown at the end, with the best score that any player can reach.
"""

import secrets
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.teaching import membership
from dpmf_core.teaching.membership import FILMS, FILMS_SEEN, MEMBERS, SUSPECTS, Round
from pages.kit.figures import charts, colours

NAMES = ("Ada", "Ben", "Cleo", "nobody")
ROUNDS = 5
EPSILONS = (1.0, 4.0, 10.0, None)
DELTA = 1e-5
STATE_KEY = "audit.game"


@dataclass
class Game:
    """One game.

    Attributes
    ----------
    seed
        The seed of its epsilon and rounds.
    guesses
        One guess for each round played.
    """

    seed: int = field(default_factory=lambda: secrets.randbits(40))
    guesses: list[int] = field(default_factory=list)

    @property
    def epsilon(self) -> float | None:
        return EPSILONS[self.seed % len(EPSILONS)]

    def round(self, number: int) -> Round:
        return membership.game_round(self.epsilon, self.seed * ROUNDS + number, DELTA)

    @property
    def rounds(self) -> list[Round]:
        return [self.round(number) for number in range(len(self.guesses))]

    @property
    def score(self) -> int:
        """The number of rounds that the player won."""
        both = zip(self.rounds, self.guesses, strict=True)
        return sum(played_round.answer == guess for played_round, guess in both)

    @property
    def best_score(self) -> int:
        """The best attacker's score in the same rounds."""
        return sum(
            played_round.answer == played_round.best_guess
            for played_round in self.rounds
        )


def draw() -> None:
    game: Game = st.session_state.setdefault(STATE_KEY, Game())
    st.title("One of these was in the data, or none. Find out.", anchor=False)
    st.write(
        f"A club of {MEMBERS} people publishes how many of them saw each of {FILMS} films, with an"
        " unknown amount of noise. Ada, Ben, Cleo or nobody joined the club, each equally likely."
        f" Each of them saw {FILMS_SEEN} films. You know everyone else's films, so the bars show"
        " what remains of the published sums. A person's own films are coloured: if that person"
        " joined, these bars are 1 higher."
    )
    if len(game.guesses) == ROUNDS:
        _draw_verdict(game)
        _draw_result(game)
    else:
        _draw_round(game)


def _draw_round(game: Game) -> None:
    number = len(game.guesses)
    st.header(
        f"Round {number + 1} of {ROUNDS} · you {game.score}, the best attacker {game.best_score}",
        anchor=False,
    )
    this_round = game.round(number)
    for suspect, column in enumerate(st.columns(SUSPECTS)):
        with column:
            st.subheader(NAMES[suspect], anchor=False)
            _draw_suspect(this_round, suspect)
    # look.css makes the buttons equal; phone.css keeps them in view below the stacked charts
    with st.container(key="audit.game.answer"):
        with st.container(
            horizontal=True,
            gap="xsmall",
            wrap=False,
        ):
            for guess, name in enumerate(NAMES):
                st.button(
                    f"{name.capitalize()} joined",
                    key=f"audit.game.{guess}",
                    on_click=_guess,
                    args=(number, guess),
                    width="stretch",
                )
        if game.guesses:
            _draw_verdict(game)


def _draw_verdict(game: Game) -> None:
    """Say whether the last guess was right."""
    number = len(game.guesses)
    last_round = game.rounds[-1]
    guess = NAMES[game.guesses[-1]]
    answer = NAMES[last_round.answer]
    best = f"The best attacker said {NAMES[last_round.best_guess]}."
    if guess == answer:
        st.success(f"Round {number}: right, it was {answer}. {best}")
    else:
        st.warning(f"Round {number}: wrong. You said {guess}, it was {answer}. {best}")


def _draw_suspect(this_round: Round, suspect: int) -> None:
    has_seen = this_round.suspects[suspect]
    table = pd.DataFrame(
        {"film": range(1, FILMS + 1), "difference": this_round.sums, "seen": has_seen}
    )
    fig = charts.figure("film", "sum minus known sums", height=220, showlegend=False)
    tints = [colours.of("spectral" if is_own else "grey") for is_own in has_seen]
    fig.add_bar(
        x=table["film"],
        y=table["difference"],
        marker_color=tints,
    )
    fig.update_xaxes(dtick=1)
    films = ", ".join(str(film) for film in table["film"][has_seen])
    charts.show(
        fig,
        f"audit.suspect.{suspect}",
        f"What is left of each film's sum. {NAMES[suspect]} saw the films {films}.",
        table,
        leaves=True,
    )


def _guess(number: int, guess: int) -> None:
    """Record a guess; a repeated click counts once."""
    game: Game = st.session_state[STATE_KEY]
    if len(game.guesses) == number:
        game.guesses.append(guess)


def _draw_result(game: Game) -> None:
    noise = "There was no noise, so the best attacker wins every round"
    if game.epsilon is not None:
        noise = (
            f"The sums had Gaussian noise, **ε = {budget_text(game.epsilon)}**. Over many rounds no"
            f" player can win more than **{membership.best_score(game.epsilon, DELTA):.0%}**"
        )
    st.header(
        f"You won {game.score} of {ROUNDS} rounds, the best attacker {game.best_score}",
        anchor=False,
    )
    st.write(f"{noise}. Guessing wins {1 / len(NAMES):.0%}.")
    if game.epsilon is not None:
        st.caption(
            f"ε in total, δ = {delta_text(DELTA)}, per person, add/remove, exact. The bound follows"
            " from the noise's trade-off curve, whatever a player knows or computes."
        )
    st.button(
        "Play again",
        key="audit.game.again",
        type="primary",
        on_click=_again,
    )


def _again() -> None:
    st.session_state[STATE_KEY] = Game()
