"""The Trade-off page, driven as a person would, without a browser."""

import io
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.data.catalogue import catalogue
from dpmf_core.papers.registry import figures_of
from dpmf_core.runs.execution import run
from dpmf_core.runs.gain import kept_along
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Method, Sweep
from dpmf_core.serving.lesson_links import LessonLink
from pages.kit import epsilon_grid, kept_gain
from pages.tradeoff import exports
from pages.tradeoff.controls import Question
from tests.pages.driving import behind_sidebar, frames, run_until, settled, words

ROOT = Path(__file__).parents[2]
SCRIPT = behind_sidebar("tradeoff/page.py")

PUBLISHED_FIGURES = figures_of("trade-off")


def page(**parameters: str) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    for name, value in (
        {"data": "cinema-small", "methods": "private-bias", "epsilons": "1, 5"} | parameters
    ).items():
        app.query_params[name] = value
    return settled(app)


def record(
    algorithm: str, epsilon: float | None, seed: int, calibration: str = "exact", **more: Any
) -> Any:
    budget = {"epsilon": epsilon, "delta": 5e-5, "calibration": calibration} if epsilon else None
    return run(
        RunSpec.parse(
            data={"id": "cinema-small"}, algorithm=algorithm, budget=budget, seed=seed, **more
        )
    ).record


def rmse(algorithm: str, epsilon: float | None, seed: int, calibration: str = "exact") -> float:
    return float(record(algorithm, epsilon, seed, calibration).metric("rmse"))


def validation_error(algorithm: str, epsilon: float, parameters: dict[str, Any]) -> float:
    run_record = record(
        algorithm, epsilon, 0, parameters=parameters, split={"validation_fraction": 0.1}
    )
    return float(run_record.metric("validation_rmse"))


def test_the_finding_says_what_the_runs_say() -> None:
    app = page()
    private, als, mean = (
        statistics.median(rmse(name, epsilon, seed) for seed in (0, 1))
        for name, epsilon in (("private-bias", 1.0), ("als", None), ("global-mean", None))
    )
    share = (mean - private) / (mean - als)
    assert app.title[0].value == f"At ε = 1, Private biases has RMSE {private:.3f}"
    assert (
        f"**{share:.0%} of the gain over guessing** is kept (ALS {als:.3f}, Global mean {mean:.3f})"
        in words(app)
    )


def test_which_epsilon_keeps_a_share_is_read_off_the_same_points_as_on_explore() -> None:
    """Explore's grid of a method, as far as the store has it: here two epsilons more than were
    asked for.
    """
    page(methods="dpals", draws="1", epsilons="2, 10")
    app = page(methods="dpals,private-bias", draws="1")
    line = kept_along(epsilon_grid.read(record("dpals", 1.0, 0).spec))
    (table,) = [it.value for it in app.table if "read from" in it.value]
    table = table.replace(r"\\", "", regex=True)  # as it reads
    rows = dict(zip(table["method"], table.itertuples(index=False), strict=True))
    assert rows["DPALS"][1] == "".join(kept_gain.answer(line, 80))
    assert rows["DPALS"][2] == "4 ε: 1, 2, 5, 10; 1 draw"
    assert rows["Private biases"][2] == "2 ε: 1, 5; 1 draw"  # its own twin is another


def test_the_table_says_which_epsilon_reaches_a_value_and_what_is_promised() -> None:
    app = page()
    answers = [
        table
        for table in frames(app)
        if any(str(name).startswith("reaches") for name in table.columns)
    ]
    assert answers[0]["method"].tolist() == ["Private biases"]
    app.number_input(key="tradeoff.reach.rmse").set_value(0.5).run()
    assert "Private biases does not reach RMSE 0.500 up to ε = 5." in words(app)
    answers = [
        table
        for table in frames(app)
        if any(str(name).startswith("reaches") for name in table.columns)
    ]
    assert answers[0].iloc[0, 1] == "not within the measured range"
    promises = next(table for table in frames(app) if "guarantee" in table.columns)
    assert dict(zip(promises["method"], promises["guarantee"], strict=True)) == {
        "Private biases": "PROVEN, one user",
        "ALS": "NONE",
        "Global mean": "NONE",
    }
    assert dict(zip(promises["method"], promises["true ε"], strict=True)) == {
        "Private biases": "5.00 at nominal 5",
        "ALS": "-",
        "Global mean": "-",
    }


def test_both_rules_side_by_side_say_what_the_rule_alone_costs() -> None:
    app = page(methods="private-svd", epsilons="5", draws="1", noise="both")
    ours, theirs, als = (
        rmse(name, epsilon, 0, calibration)
        for name, epsilon, calibration in (
            ("private-svd", 5.0, "exact"),
            ("private-svd", 5.0, "source"),
            ("als", None, "exact"),
        )
    )
    assert (
        f"Private SVD at ε = 5: RMSE {ours:.3f} with exact accounting, {theirs:.3f} with its"
        " source's noise, which truly costs ε = " in words(app)
    )
    assert (
        f"**{(theirs - ours) / (theirs - als):.0%} of its distance to ALS is the rule alone.**"
        in words(app)
    )


def test_who_pays_compares_the_same_people_with_and_without_privacy() -> None:
    app = page(epsilons="1", draws="1")
    private, twin = (
        record("private-bias", 1.0, 0).buckets["activity"],
        record("als", None, 0).buckets["activity"],
    )
    few, many = (private[place]["rmse"] - twin[place]["rmse"] for place in (0, -1))
    assert (
        f"for users who rate least ({private[0]['from']:,.0f} to {private[0]['to']:,.0f} ratings)"
        f" **{few:+.3f}**, for those who rate most" in words(app)
    )
    assert f"**{many:+.3f}**" in words(app)


def test_a_grid_is_judged_on_a_validation_split() -> None:
    app = page(methods="dpals", epsilons="5", draws="1", grid="rank = 2, 4; steps = 1, 2")
    places = [(rank, steps) for rank in (2, 4) for steps in (1, 2)]
    figures = {
        place: validation_error("dpals", 5.0, {"rank": place[0], "steps": place[1]})
        for place in places
    }
    rank, steps = min(figures, key=lambda place: figures[place])
    assert (
        f"**DPALS** does best at ε = 5 with rank r {rank}, steps T {steps}"
        f" ({min(figures.values()):.3f})." in words(app)
    )
    assert app.selectbox(key="tradeoff.heat.method").value == "DPALS"
    assert app.title[0].value == f"At ε = 5, DPALS has validation RMSE {min(figures.values()):.3f}"


def test_a_validation_split_can_judge_without_a_grid() -> None:
    app = page(epsilons="5", draws="1", judge="validation")
    assert (
        app.title[0].value == "At ε = 5, Private biases has validation RMSE"
        f" {validation_error('private-bias', 5.0, {}):.3f}"
    )


def test_a_grid_of_words_is_drawn_by_name() -> None:
    app = page(methods="dpals", epsilons="5", draws="1", grid="sampling = uniform, adaptive")
    assert not app.error
    assert "sampling uniform" in words(app) or "sampling adaptive" in words(app)


def test_the_script_makes_the_same_runs_again(tmp_path: Path) -> None:
    question = Question(
        [],
        "epsilon",
        "rmse",
        sweep=Sweep(
            data={"id": "cinema-small"},
            methods=(Method(algorithm="private-bias"),),
            epsilons=(1.0,),
            delta=5e-5,
        ),
    )
    process = subprocess.run(
        [sys.executable, "-c", exports.script(question)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    table = pd.read_csv(io.StringIO(process.stdout))
    assert table["rmse"].tolist() == pytest.approx([rmse("private-bias", 1.0, 0)])
    preset = Question([], "epsilon", "rmse", figure=PUBLISHED_FIGURES["chien-fig4"])
    compile(exports.script(preset), "script", "exec")
    assert 'FIGURES["chien-fig4"].points()' in exports.script(preset)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilons": "1, two"}, "Epsilons are numbers with commas between them"),
        ({"epsilons": "0"}, "from 0.0001 to 1000"),
        ({"grid": "rank 2"}, "A grid is written NAME = VALUES"),
        ({"grid": "rnak = 2", "methods": "dpals"}, "Did you mean 'rank'?"),
        ({"grid": "rank = two", "methods": "dpals"}, "'rank'"),
        (
            {"grid": "rank = 2; steps = 1; clip_norm = 1", "methods": "dpals"},
            "one or two parameters",
        ),
        ({"grid": "rank = 300", "methods": "dpals"}, "at most the number of items"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_the_settings_stay(
    parameters: dict[str, str], sentence: str
) -> None:
    app = page(**parameters)
    assert sentence in app.error[0].value
    for name, value in parameters.items():
        if name != "methods":
            assert app.text_input(key=f"tradeoff.{name}").value == value


def test_a_large_question_waits_for_its_button() -> None:
    app = page(epsilons="1, 2, 3, 4, 5, 6", draws="5")
    assert "**40 runs**" in words(app)
    app.button(key="tradeoff.run").click()
    settled(app)
    assert app.title[0].value.startswith("At ε = 3, Private biases has RMSE")
    app = page(epsilons="1, 2, 3, 4, 5, 6", draws="5")
    assert "**40 runs**" not in words(app)  # nothing is left to be made


def test_a_waiting_question_shows_what_is_stored_and_how_long_the_rest_takes() -> None:
    page(epsilons="2", draws="1", seed="100")
    app = page(epsilons="2, 0.11, 0.12, 0.13, 0.14, 0.15", draws="5", seed="100")
    assert "These are **40 runs**, of which 3 are stored. The other 37 take roughly" in words(app)
    assert app.title[0].value == "At ε = 0.13, 0 of 5 runs have finished"


def _wait(dispatcher: object, task: object) -> None:
    """The task waits: quick runs may end before a slow page has drawn its button."""


def test_cancelling_keeps_what_is_done_and_can_be_taken_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = page(epsilons="7, 8", draws="1")
    app.text_input(key="tradeoff.epsilons").set_value("7, 8, 9, 10, 11")
    app.number_input(key="tradeoff.draws").set_value(4)
    with monkeypatch.context() as no_worker_is_free:
        no_worker_is_free.setattr("dpmf_core.engine.dispatcher.Dispatcher.line_up", _wait)
        no_worker_is_free.setattr("pages.kit.run_progress._settle", lambda jobs, patience: None)
        app.run()
        app.button(key="tradeoff.cancel").click()
        run_until(app, lambda: "Cancelled. What had finished is shown" in words(app))
    app.button(key="tradeoff.again").click()
    settled(app)
    assert app.title[0].value.startswith("At ε = 9, Private biases has RMSE")


def test_links_hold_the_question_and_nonsense_in_them_is_let_go() -> None:
    app = page(draws="1")
    assert app.query_params["epsilons"] == ["1, 5"] or app.query_params["epsilons"] == "1, 5"
    app = page(draws="many", noise="loud", methods="nobody", fig="none", epsilons="5")
    assert app.number_input(key="tradeoff.draws").value == 2
    assert app.selectbox(key="tradeoff.noise").value == "exact"


@pytest.mark.parametrize("preset", PUBLISHED_FIGURES)
def test_every_preset_asks_before_it_runs_long_and_names_its_command(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.kit.run_progress.request", lambda page, specs, **more: {})
    app = page(fig=preset)
    assert app.selectbox(key="tradeoff.fig").value == preset
    assert not app.error


def test_the_figure_of_the_data_needs_no_run() -> None:
    app = page(fig="chien-fig2")
    assert app.title[0].value.startswith("A fifth of the items holds")
    assert not any(button.key == "tradeoff.cancel" for button in app.button)


def test_what_a_lesson_fixes_stays_and_what_it_hides_is_not_there() -> None:
    query = {"data": "cinema-small", "methods": "private-bias", "epsilons": "2", "draws": "1"}
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["lesson.link"] = LessonLink.parse(
        page="trade-off", query=query, locked=("page",)
    )
    app.session_state["tradeoff.epsilons"] = "1, 2, 3"
    app.query_params["draws"] = "9"
    settled(app)
    assert (
        app.text_input(key="tradeoff.epsilons").value == "2"
        and app.text_input(key="tradeoff.epsilons").disabled
    )
    assert app.number_input(key="tradeoff.draws").value == 1
    assert app.title[0].value.startswith("At ε = 2, Private biases has RMSE")
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["lesson.link"] = LessonLink.parse(
        page="trade-off", query=query, hidden=("page",)
    )
    settled(app)
    assert not [it for it in app.text_input if it.key == "tradeoff.epsilons"]
    assert app.title[0].value.startswith("At ε = 2, Private biases has RMSE")


def test_a_figure_with_data_of_its_own_says_so_in_place_of_the_sidebar_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pages.kit.run_progress.request", lambda page, specs, **more: {})
    script = SCRIPT.replace(
        "sidebar.draw('ratings')",
        "from pages.tradeoff import controls\nsidebar.draw(note=controls.sidebar_note())",
    )
    app = AppTest.from_string(script, default_timeout=60)
    app.query_params["fig"] = "chien-fig4"
    app.run()
    data_ids = {sweep.data.id for sweep in PUBLISHED_FIGURES["chien-fig4"].sweeps(False)}
    titles = [entry.title for entry in catalogue().ratings() if entry.id in data_ids]
    assert len(titles) == 2 and all(title in app.sidebar.info[0].value for title in titles)
    assert not app.sidebar.selectbox and not app.exception
    app.selectbox(key="tradeoff.fig").set_value("own").run()
    assert not app.sidebar.info and app.sidebar.selectbox(key="sidebar.data").value == "cinema"
