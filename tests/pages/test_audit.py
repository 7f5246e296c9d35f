"""The Audit page: the game, two bars, and what a lesson fixes."""

import json

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
    chosen = {
        f"audit.{name}": value for name, value in (state | {"runs": runs}).items()
    }
    return after_audit(app_of("audit/page.py", chosen, attack=attack))


def bars(app):
    """The lengths and the words of the two bars, and the description of the figure."""
    chart = app.get("plotly_chart")[0].proto
    (trace,) = json.loads(chart.spec)["data"]
    return trace["x"], trace["text"], chart.alt


def test_the_promised_and_the_shown_epsilon_are_two_bars_before_the_table():
    app = page("private-bias", 200)
    table = frames(app)[-1]
    (promised, shown), texts, alt = bars(app)
    assert texts[0] == "≤ 2.00"
    assert table["ε"].iloc[0] == "≤ 2.00"
    assert promised == pytest.approx(2, abs=0.01)
    assert texts[1] in set(table["ε"])
    assert texts[1] == f"≥ {shown:.2f}"
    assert f"promised {texts[0]}" in alt
    assert f"the attack shows {texts[1]}" in alt
    kinds = [element.type for element in app.main]
    assert kinds.index("plotly_chart") < kinds.index("table")
    assert app.title[0].value.count(f"ε {texts[1]}") == 1


def test_a_broken_promise_is_a_longer_second_bar():
    app = page("private-bias", 200, **{"fault.private-bias": "small-noise"})
    (promised, shown), _, _ = bars(app)
    assert shown > promised > 0
    assert "The second bar is longer than the first: the promise is broken." in words(
        app
    )


def test_what_proves_nothing_shows_no_promise():
    app = page("sketch", 40)
    assert frames(app)[-1]["ε"].iloc[0] == "none"
    (promised, _), texts, alt = bars(app)
    assert promised == 0
    assert texts[0] == "nothing is proved"
    assert texts[0] in alt


def test_a_proof_for_one_value_promises_nothing_for_a_whole_person():
    app = page("input-perturbation", 40, **{"unit.input-perturbation": "user"})
    (promised, _), texts, _ = bars(app)
    assert promised == 0
    assert texts[0] == "nothing is proved for one user"
    assert app.title[0].value.endswith("is proved, for one value only")


def test_what_a_lesson_fixes_stays_whatever_the_browser_says():
    link = LessonLink.parse(
        page="audit",
        query={
            "attack": "private-bias",
            "runs": "40",
            "fault": "unlisted-release",
        },
        locked=("page",),
    )
    state = {
        "lesson.link": link,
        "audit.runs": 5000,
        "audit.algorithm": "dpals",
    }
    app = app_of("audit/page.py", state, fault="none")
    after_audit(app)
    assert app.number_input(key="audit.runs").value == 40
    assert app.number_input(key="audit.runs").disabled
    assert app.selectbox(key="audit.algorithm").value == "private-bias"
    assert app.selectbox(key="audit.algorithm").disabled
    assert app.selectbox(key="audit.fault.private-bias").value == "unlisted-release"


def scores(game):
    """How many of the rounds so far the player won, and the best attacker."""
    rounds = [game.round(number) for number in range(len(game.guesses))]
    own = sum(
        a_round.answer == guess
        for a_round, guess in zip(rounds, game.guesses, strict=True)
    )
    return own, sum(a_round.answer == a_round.best_guess for a_round in rounds)


def test_the_game_has_a_name_above_each_chart_and_four_equal_buttons():
    app = app_of("audit/page.py", {STATE_KEY: Game(1)}).run()
    for column, name in zip(app.columns, ("Ada", "Ben", "Cleo"), strict=True):
        kinds = [element.type for element in column.children.values()]
        assert kinds[:2] == ["subheader", "plotly_chart"]
        assert column.subheader[0].value == name
    buttons = [
        button for button in app.button if str(button.key).startswith("audit.game.")
    ]
    assert [button.label for button in buttons] == [
        f"{name} joined" for name in ("Ada", "Ben", "Cleo", "Nobody")
    ]
    assert {button.proto.id for button in buttons}.isdisjoint(
        button.proto.id for column in app.columns for button in column.button
    )


def test_the_verdict_names_the_round_the_answer_and_the_best_attackers_guess():
    game = Game(1)
    app = app_of("audit/page.py", {STATE_KEY: game}).run()
    names = ("Ada", "Ben", "Cleo", "nobody")
    first = game.round(0)
    second = game.round(1)
    app.button(key=f"audit.game.{first.answer}").click().run()
    assert app.success[0].value == (
        f"Round 1: right, it was {names[first.answer]}. The best attacker said"
        f" {names[first.best_guess]}."
    )
    wrong = (second.answer + 1) % len(names)
    app.button(key=f"audit.game.{wrong}").click().run()
    assert not app.success
    assert app.warning[0].value == (
        f"Round 2: wrong. You said {names[wrong]}, it was {names[second.answer]}. The best attacker"
        f" said {names[second.best_guess]}."
    )


@pytest.mark.parametrize("seed", range(len(EPSILONS)))
def test_the_game_counts_what_was_right_and_tells_epsilon_only_at_the_end(seed):
    game = Game(seed)
    app = app_of("audit/page.py", {STATE_KEY: game})
    app.run()
    for number in range(ROUNDS):
        assert "ε =" not in words(app)
        own, best_attacker = scores(game)
        assert app.header[0].value == (
            f"Round {number + 1} of {ROUNDS} · you {own}, the best attacker {best_attacker}"
        )
        best = game.round(number).best_guess
        app.button(
            key=f"audit.game.{best if number else (best + 1) % (SUSPECTS + 1)}"
        ).click()
        app.run()
    assert not app.exception
    right, best_attacker = scores(game)
    assert app.header[0].value == (
        f"You won {right} of {ROUNDS} rounds, the best attacker {best_attacker}"
    )
    assert ("ε =" in words(app)) == (game.epsilon is not None)
    if game.epsilon is not None:
        assert f"**{best_score(game.epsilon, DELTA):.0%}**" in words(app)
    else:  # the best player always wins without noise
        assert game.best_score == ROUNDS
        assert right == ROUNDS - 1
    app.button(key="audit.game.again").click()
    app.run()
    assert app.session_state[STATE_KEY].guesses == []
    assert "attack" not in app.query_params
