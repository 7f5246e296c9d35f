"""The Audit page: the game, and what a lesson fixes."""

import pytest

from dpmf_core.teaching.lesson_links import LessonLink
from dpmf_core.teaching.membership import SUSPECTS, best_score
from pages.audit.game import DELTA, EPSILONS, ROUNDS, STATE_KEY, Game
from tests.pages.driving import app_of, frames, settled, words


def after_audit(app):
    """The page after its audit, also where this machine is so slow that it asks before."""
    settled(app)
    for button in app.button:
        if str(button.key) == "audit.confirm":
            button.click()
            settled(app)
    return app


def page(attack="private-bias", runs=200, **state):
    chosen = {f"audit.{name}": value for name, value in (state | {"runs": runs}).items()}
    return after_audit(app_of("audit/page.py", chosen, attack=attack))


def test_what_proves_nothing_shows_no_promise():
    app = page("sketch", 40)
    assert frames(app)[-1]["ε"].iloc[0] == "none"


def test_what_a_lesson_fixes_stays_whatever_the_browser_says():
    link = LessonLink.parse(
        page="audit",
        query={"attack": "private-bias", "runs": "40", "fault": "unlisted-release"},
        locked=("page",),
    )
    state = {"lesson.link": link, "audit.runs": 5000, "audit.algorithm": "dpals"}
    app = app_of("audit/page.py", state, fault="none")
    after_audit(app)
    assert app.number_input(key="audit.runs").value == 40
    assert app.number_input(key="audit.runs").disabled
    assert app.selectbox(key="audit.algorithm").value == "private-bias"
    assert app.selectbox(key="audit.algorithm").disabled
    assert app.selectbox(key="audit.fault.private-bias").value == "unlisted-release"


@pytest.mark.parametrize("seed", range(len(EPSILONS)))
def test_the_game_counts_what_was_right_and_tells_epsilon_only_at_the_end(seed):
    game = Game(seed)
    app = app_of("audit/page.py", {STATE_KEY: game})
    app.run()
    for number in range(ROUNDS):
        assert "ε =" not in words(app)
        best = game.round(number).best_guess
        app.button(key=f"audit.game.{best if number else (best + 1) % (SUSPECTS + 1)}").click()
        app.run()
    assert not app.exception
    answers = [game.round(number).answer for number in range(ROUNDS)]
    right = sum(own == answer for own, answer in zip(game.guesses, answers, strict=True))
    assert f"You won {right} of {ROUNDS} rounds" in app.subheader[0].value
    assert ("ε =" in words(app)) == (game.epsilon is not None)
    if game.epsilon is not None:
        assert f"**{best_score(game.epsilon, DELTA):.0%}**" in words(app)
    else:  # the best player always wins without noise
        assert game.best_score == ROUNDS and right == ROUNDS - 1
    app.button(key="audit.game.again").click()
    app.run()
    assert app.session_state[STATE_KEY].guesses == [] and "attack" not in app.query_params
