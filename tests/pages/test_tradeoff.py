"""The Trade-off page, driven as a person would, without a browser."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.engine import Engine
from dpmf_core.experiment import RunSpec, run
from dpmf_core.presets import PRESETS

ROOT = Path(__file__).parents[2]
SCRIPT = f"""
import runpy
from pages.kit import sidebar
sidebar.draw()
runpy.run_path({str(ROOT / "pages" / "recommend" / "tradeoff.py")!r})
"""


@pytest.fixture(scope="module", autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPMF_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setenv("DPMF_ENGINE", "threads")
        held: list[Engine] = []
        patch.setattr("dpmf_core.engine._only", held)
        yield
        for made in held:
            made.close()
            made.store.close()


def page(**parameters: str) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    for name, value in ({"data": "cinema-small", "methods": "private-bias", "epsilons": "1, 5"} | parameters).items():
        app.query_params[name] = value
    return settled(app)


def settled(app: AppTest) -> AppTest:
    """Looked at again until no run is open."""
    app.run()
    for _ in range(200):
        assert not app.exception, [error.value for error in app.exception]
        if app.error or not any(button.key == "tradeoff.cancel" for button in app.button):
            return app
        time.sleep(0.2)
        app.run()
    raise AssertionError("the runs did not finish")


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.warning, *app.error, *app.info, *app.success))


def rmse(algorithm: str, epsilon: float | None, seed: int) -> float:
    budget = {"epsilon": epsilon, "delta": 5e-5} if epsilon else None
    spec = RunSpec.parse(data={"id": "cinema-small"}, algorithm=algorithm, budget=budget, seed=seed)
    return float(run(spec).record["metrics"]["rmse"])


def test_the_finding_says_what_the_runs_say() -> None:
    app = page()
    assert app.title[0].value == "At ε = 1, Private biases is best"
    private, als, mean = (
        statistics.median(rmse(name, epsilon, seed) for seed in (0, 1)) for name, epsilon in (("private-bias", 1.0), ("als", None), ("global-mean", None))
    )
    kept = (mean - private) / (mean - als)
    assert f"RMSE **{private:.3f}**; {kept:.0%} of the gain over guessing kept (ALS {als:.3f}, Global mean {mean:.3f})" in words(app)


def test_the_table_says_which_epsilon_reaches_a_value_and_what_is_promised() -> None:
    app = page()
    answers = [table.value for table in app.dataframe if any(str(name).startswith("reaches") for name in table.value.columns)]
    assert answers[0]["method"].tolist() == ["Private biases"]
    app.number_input(key="tradeoff.reach.rmse").set_value(0.5).run()
    answers = [table.value for table in app.dataframe if any(str(name).startswith("reaches") for name in table.value.columns)]
    assert answers[0].iloc[0, 1] == "not within the measured range"
    promises = next(table.value for table in app.dataframe if "guarantee" in table.value.columns)
    assert dict(zip(promises["method"], promises["guarantee"], strict=True)) == {"Private biases": "PROVEN", "ALS": "NONE", "Global mean": "NONE"}
    assert dict(zip(promises["method"], promises["true ε"], strict=True)) == {"Private biases": "5.00 at nominal 5", "ALS": "-", "Global mean": "-"}


def test_both_rules_side_by_side_say_what_the_rule_alone_costs() -> None:
    app = page(methods="dpals", epsilons="1", draws="1", noise="both")
    assert "DPALS at ε = 1: RMSE" in words(app)
    assert "with its source's noise, which truly costs ε = 1." in words(app)


def test_a_grid_is_judged_on_a_validation_split() -> None:
    app = page(methods="dpals", epsilons="5", draws="1", grid="rank = 2, 4; steps = 1, 2")
    assert "**DPALS** does best at rank" in words(app)
    assert app.selectbox(key="tradeoff.heat.method").value == "DPALS"


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilons": "1, two"}, "Epsilons are numbers with commas between them"),
        ({"epsilons": "0"}, "from 0.0001 to 1000"),
        ({"grid": "rank 2"}, "A grid is written NAME = VALUES"),
        ({"grid": "rnak = 2", "methods": "dpals"}, "Did you mean 'rank'?"),
        ({"grid": "rank = two", "methods": "dpals"}, "'rank'"),
        ({"grid": "rank = 2; steps = 1; clip_norm = 1", "methods": "dpals"}, "one or two parameters"),
        ({"grid": "rank = 300", "methods": "dpals"}, "at most the number of items"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_the_settings_stay(parameters: dict[str, str], sentence: str) -> None:
    app = page(**parameters)
    assert sentence in app.error[0].value
    for name, value in parameters.items():
        if name != "methods":
            assert app.text_input(key=f"tradeoff.{name}").value == value


def test_a_large_question_waits_for_its_button() -> None:
    app = page(epsilons="1, 2, 3, 4, 5, 6", draws="5")
    assert "**40 runs**" in words(app)
    assert not app.dataframe
    app.button(key="tradeoff.run").click()
    settled(app)
    assert "is best" in app.title[0].value


def test_links_hold_the_question_and_nonsense_in_them_is_let_go() -> None:
    app = page(draws="1")
    assert app.query_params["epsilons"] == ["1, 5"] or app.query_params["epsilons"] == "1, 5"
    app = page(draws="many", noise="loud", methods="nobody", fig="none", epsilons="5")
    assert app.number_input(key="tradeoff.draws").value == 2
    assert app.selectbox(key="tradeoff.noise").value == "exact"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_asks_before_it_runs_long_and_names_its_command(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.kit.runs.wanted", lambda page, specs: {})
    app = page(fig=preset)
    assert app.selectbox(key="tradeoff.fig").value == preset
    assert not app.error


def test_the_figure_of_the_data_needs_no_run() -> None:
    app = page(fig="chien-fig2")
    assert app.title[0].value.startswith("A fifth of the items holds")
    assert not any(button.key == "tradeoff.cancel" for button in app.button)
