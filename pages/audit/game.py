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
from pages.kit import charts, colours

NAMES = ("Ada", "Ben", "Cleo", "nobody")
ROUNDS = 5
EPSILONS = (1.0, 4.0, 10.0, None)
DELTA = 1e-5
STATE_KEY = "audit.game"


@dataclass
class Game:
    """One game. seed: of its epsilon and rounds. guesses: one for each round played."""

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
        return sum(it.answer == own for it, own in zip(self.rounds, self.guesses, strict=True))

    @property
    def best_score(self) -> int:
        """The best attacker's score in the same rounds."""
        return sum(it.answer == it.best_guess for it in self.rounds)


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
    if game.guesses:
        _draw_answer(game)
    if len(game.guesses) == ROUNDS:
        _draw_result(game)
    else:
        _draw_round(game)


def _draw_answer(game: Game) -> None:
    last, guess = game.rounds[-1], game.guesses[-1]
    box, verdict = (st.success, "Right") if guess == last.answer else (st.warning, "Wrong")
    box(
        f"{verdict}: you said {NAMES[guess]}, it was {NAMES[last.answer]}. The best attacker said"
        f" {NAMES[last.best_guess]}."
    )


def _draw_round(game: Game) -> None:
    number = len(game.guesses)
    st.subheader(f"Round {number + 1} of {ROUNDS} · {game.score} right", anchor=False)
    this_round = game.round(number)
    for suspect, column in enumerate(st.columns(SUSPECTS)):
        with column:
            _draw_suspect(this_round, suspect)
            label = f"{NAMES[suspect]} was in the data"
            key = f"audit.game.{suspect}"
            st.button(label, key=key, on_click=_guess, args=(number, suspect), width="stretch")
    args = (number, SUSPECTS)
    st.button("Nobody joined", key=f"audit.game.{SUSPECTS}", on_click=_guess, args=args)


def _draw_suspect(this_round: Round, suspect: int) -> None:
    has_seen = this_round.suspects[suspect]
    table = pd.DataFrame(
        {"film": range(1, FILMS + 1), "difference": this_round.sums, "seen": has_seen}
    )
    fig = charts.figure("film", "sum minus known sums", height=220, showlegend=False)
    tints = [colours.of("spectral" if it else "grey") for it in has_seen]
    fig.add_bar(x=table["film"], y=table["difference"], marker_color=tints)
    fig.update_xaxes(dtick=1)
    films = ", ".join(str(film) for film in table["film"][has_seen])
    alt = f"What is left of each film's sum. {NAMES[suspect]} saw the films {films}."
    charts.show(fig, f"audit.suspect.{suspect}", alt, table, leaves=True)


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
    st.subheader(f"You won {game.score} of {ROUNDS} rounds", anchor=False)
    st.write(
        f"The best attacker won {game.best_score} of the same rounds. {noise}. Guessing wins"
        f" {1 / (SUSPECTS + 1):.0%}."
    )
    if game.epsilon is not None:
        st.caption(
            f"ε in total, δ = {delta_text(DELTA)}, per person, add/remove, exact. The bound follows"
            " from the noise's trade-off curve, whatever a player knows or computes."
        )
    st.button("Play again", key="audit.game.again", type="primary", on_click=_again)


def _again() -> None:
    st.session_state[STATE_KEY] = Game()
