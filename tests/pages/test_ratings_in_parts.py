"""Ratings in parts on the pages: chosen, trained on, judged and paid for like any other set."""

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.data.ratings import Ratings
from dpmf_core.engine.executor import Engine, engine
from dpmf_core.engine.jobs import Job, Task
from dpmf_core.engine.quotas import Limits
from dpmf_core.runs.execution import Progress, run
from dpmf_core.runs.recommendations import recommend
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spending import account_of
from dpmf_core.runs.store import Store
from dpmf_core.serving import settings
from dpmf_core.testing.worlds import low_rank
from dpmf_datasets import parts_folder
from pages.kit import data_sets, time_estimate
from pages.kit.page_table import BY_ID
from tests.pages.driving import (
    ROOT,
    behind_sidebar,
    component,
    everything_asked,
    frames,
    run_until,
    settled,
    words,
)
from tests.support.parts import in_files

DELTA = 1e-5
NAME = "films-in-parts"


def ratings(public: bool) -> Ratings:
    world = low_rank(n_users=240)
    titles = tuple(f"film {item}" for item in range(world.n_items))
    origin = "" if public else world.fingerprint
    return replace(world, name=NAME, titles=titles, public=public, origin=origin)


def write_set(public: bool) -> None:
    folder = parts_folder.folder_of(NAME)
    folder.mkdir(parents=True)
    in_files(ratings(public), 3, folder)


def gone() -> None:
    shutil.rmtree(parts_folder.folder_of(NAME), ignore_errors=True)
    engine().forget(NAME)


@pytest.fixture
def films() -> Iterator[None]:
    """A public set in three parts."""
    write_set(public=True)
    yield
    gone()


@pytest.fixture
def private() -> Iterator[None]:
    """The same as somebody's private data."""
    write_set(public=False)
    yield
    account = account_of(NAME)
    assert account is not None
    account.forget()
    gone()


def page_with(page: str, **link: str) -> AppTest:
    app = AppTest.from_string(behind_sidebar(page), default_timeout=120)
    defaults = {"data": NAME, "algo": "spectral", "eps": "5", "delta": f"{DELTA}"}
    for name, value in (defaults | link).items():
        app.query_params[name] = value
    return app


def spec(algorithm: str, **more: Any) -> RunSpec:
    budget = {"epsilon": 5.0, "delta": DELTA}
    return RunSpec.parse(data={"id": NAME}, algorithm=algorithm, budget=budget, **more)


def data_sets_of(app: AppTest) -> list[str]:
    return list(app.sidebar.selectbox(key="sidebar.data").options)


# ---- chosen -------------------------------------------------------------------------------------


def test_they_are_offered_beside_the_others(films: None) -> None:
    app = page_with("accountant/page.py").run()
    assert not app.exception and not app.warning
    options = data_sets_of(app)
    assert {NAME, "Cinema, 100,000 people", "Cinema, 20,000 people"} <= set(options)
    assert "Cinema, 10,000,000 people" not in options
    assert app.sidebar.selectbox(key="sidebar.data").value == NAME
    assert "240 users" in words(app) and "one is in memory at a time" in words(app)


def test_only_methods_that_ask_for_sums_alone_are_offered(films: None) -> None:
    app = page_with("accountant/page.py", algo="input-perturbation").run()
    options = set(app.sidebar.selectbox(key="sidebar.algo").options)
    assert {"Spectral", "DPALS"} <= options and "Input perturbation" not in options
    assert any("must be a private algorithm" in it.value for it in app.warning)
    other = page_with("accountant/page.py", data="cinema-small").run()
    assert "Input perturbation" in other.sidebar.selectbox(key="sidebar.algo").options


def test_a_private_set_is_measured_by_its_people_alone(private: None) -> None:
    entry = parts_folder.entry_of(NAME)
    many = replace(entry, n_ratings=10**12)
    assert data_sets.n_ratings(many) == data_sets.n_ratings(entry) == 240 * entry.n_items
    assert data_sets.n_ratings(replace(many, public=True)) == 10**12


@pytest.mark.parametrize("set_ids", [("cinema-small",), ("cinema-small", NAME)])
def test_a_server_offers_those_that_its_operator_lists(
    set_ids: tuple[str, ...], films: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_PROFILE", "class")
    monkeypatch.setenv("DPMF_DATA_SETS", ",".join(set_ids))
    settings.settings.cache_clear()
    try:
        app = page_with("accountant/page.py").run()
    finally:
        monkeypatch.undo()
        settings.settings.cache_clear()
    assert (NAME in data_sets_of(app)) is (NAME in set_ids)
    assert "Cinema, 100,000 people" not in data_sets_of(app)
    text = " ".join(it.value for it in app.warning)
    assert ("Nothing is computed on" in text) is (NAME not in set_ids)


def test_a_damaged_manifest_takes_no_other_set_away(films: None) -> None:
    folder = parts_folder.folder_of("broken")
    folder.mkdir()
    (folder / parts_folder.MANIFEST).write_text("{")
    try:
        app = page_with("accountant/page.py").run()
        assert not app.exception and NAME in data_sets_of(app)
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("page", "takes"),
    [
        *((name, True) for name in ("explore", "trade-off", "tune", "accountant")),
        *((name, False) for name in ("sketch", "retention")),
    ],
)
def test_a_page_that_needs_all_ratings_says_so(page: str, takes: bool, films: None) -> None:
    app = AppTest.from_string(
        "import streamlit as st\nfrom pages.kit import data_sets, sidebar\n"
        "from pages.kit.page_table import BY_ID\n"
        f"sidebar.draw('ratings')\nst.write(data_sets.why_unsuited(BY_ID[{page!r}]))\n"
    )
    app.query_params["data"] = NAME
    app.run()
    assert not app.exception
    text = words(app)
    assert (f"'{NAME}' is kept in parts" in text) is not takes
    assert BY_ID[page].takes_parts is takes


def test_a_set_that_is_removed_meanwhile_gives_way(films: None) -> None:
    app = page_with("accountant/page.py").run()
    assert app.sidebar.selectbox(key="sidebar.data").value == NAME
    gone()
    app.run()
    assert not app.error and not app.exception
    assert app.sidebar.selectbox(key="sidebar.data").value == "cinema"
    assert NAME not in data_sets_of(app)


# ---- trained on ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_explore_shows_what_the_same_run_in_memory_finds(films: None) -> None:
    app = settled(page_with("explore/page.py"))
    assert not app.error, [it.value for it in app.error]
    same = run(spec("spectral"), input_data=ratings(public=True))
    story = component(app, "hero")
    [point] = [it for it in story["points"] if it["epsilon"] == 5.0]
    assert point["values"][0] == pytest.approx(same.record.metric("rmse"), rel=1e-5)
    assert len(point["values"]) == 3
    text = words(app)
    assert "Error by step" in " ".join(it.value for it in app.header)
    assert "Who pays" in " ".join(it.value for it in app.header)
    assert "recommendations stay the same with privacy" in text
    person = app.session_state[f"explore.user.{NAME}"]
    [beside] = [it for it in story["lists"]["at"] if it["epsilon"] == 5.0]
    expected = [it.title for it in recommend(same, person, 6)]
    assert [it["title"] for it in beside["items"]] == expected


def take_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run on the parts is estimated at about a minute and a half."""
    millions = parts_folder.entry_of(NAME).n_ratings / 1e6
    monkeypatch.setattr(time_estimate, "PART_READING", 90 / millions)


@pytest.mark.slow
def test_what_takes_long_waits_for_a_button(films: None, monkeypatch: pytest.MonkeyPatch) -> None:
    take_a_minute(monkeypatch)
    app = settled(page_with("explore/page.py", seed="5"))
    buttons = [it for it in app.button if str(it.key) == "explore.confirm"]
    assert len(buttons) == 1 and "This run, with the two that it is measured by," in words(app)
    assert "Nothing has been trained here yet" in words(app)
    assert not [it for it in engine().store.rows() if it["seed"] == 5]
    buttons[0].click()
    settled(app)
    there = [it["algorithm"] for it in engine().store.rows() if it["seed"] == 5]
    assert sorted(there) == ["als", "global-mean", "spectral"]
    assert "The other methods, and two more draws of each," in words(app)
    app.button(key="explore.rest.confirm").click()
    settled(app)
    assert len([it for it in engine().store.rows() if it["seed"] == 5]) > 4


def test_trade_off_asks_before_what_takes_long(
    films: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_a_minute(monkeypatch)
    app = settled(page_with("tradeoff/page.py", methods="spectral", epsilons="3", seed="60"))
    assert [it.key for it in app.button if it.key == "tradeoff.run"]
    assert not [it for it in engine().store.rows() if it["seed"] == 60]


@pytest.mark.slow
def test_an_error_that_is_asked_for_takes_runs_by_a_button(
    films: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = settled(page_with("explore/page.py"))
    take_a_minute(monkeypatch)
    app.toggle(key="explore.target").set_value(True)
    settled(app)
    assert "runs of this curve would take about" in words(app)
    monkeypatch.setattr(time_estimate, "PART_READING", 1.0)
    settled(app)
    assert not [it for it in app.button if it.key == "explore.target.confirm"]
    assert any("reaches it" in it.value or "is enough" in it.value for it in app.markdown)


def test_trade_off_compares_methods_on_parts(films: None) -> None:
    methods, epsilons = ("spectral", "private-bias"), (1.0, 5.0)
    link = {"methods": ",".join(methods), "epsilons": "1, 5", "seed": "61"}
    app = settled(page_with("tradeoff/page.py", **link))
    assert not app.error, [it.value for it in app.error]
    rows = [it for it in engine().store.rows() if it["seed"] == 61]
    pairs = {(it["algorithm"], it["nominal_epsilon"]) for it in rows}
    assert set(itertools.product(methods, epsilons)) <= pairs
    assert any("Spectral" in it.value or "biases" in it.value for it in app.title)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"methods": "slope-one"}, "Slope One with these parameters needs all ratings"),
        ({"fig": "chien-fig2"}, f"{NAME} is kept in parts"),
    ],
    ids=str,
)
def test_what_cannot_be_had_is_said_in_its_place(
    link: dict[str, str], sentence: str, films: None
) -> None:
    app = settled(page_with("tradeoff/page.py", **link))
    assert not app.exception
    assert any(sentence in it.value.replace("\\", "") for it in app.error)
    assert app.selectbox(key="tradeoff.fig")


def test_progress_names_the_part_that_is_read() -> None:
    task = Task("", spec("spectral"), state="running", cost=3.0)
    job = Job(engine(), task)
    task.progress = Progress(0, 0, 0.0, (), (2, 4))
    assert "; reading part 2 of 4;" in time_estimate.progress([job], [job], [])[1]
    task.progress = Progress(3, 10, 1.0, (), (1, 4))
    share, text = time_estimate.progress([job], [job], [])
    assert "one run at step 3 of 10; reading part 1 of 4;" in text
    assert share == pytest.approx(0.3)


def test_a_worker_says_which_part_it_reads(films: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpmf_core.engine.workers.BETWEEN", 0.0)
    parts: list[Any] = []
    job = engine().submit(spec("spectral", seed=77))
    while not job.wait(0.0):
        if job.progress is not None and job.progress.part is not None:
            parts.append(job.progress.part)
    assert job.state == "done" and parts
    assert {count for _, count in parts} == {3} and {place for place, _ in parts} <= {1, 2, 3}


def test_estimates_know_what_parts_take() -> None:
    large, small = (
        RunSpec.parse(data={"id": name}, algorithm="global-mean")
        for name in ("cinema-10m", "cinema-small")
    )
    assert time_estimate.cost(large) > time_estimate.PART_READING * 10 > time_estimate.cost(small)


# ---- paid for -----------------------------------------------------------------------------------


def entries() -> int:
    account = account_of(NAME)
    assert account is not None
    return len(account.entries)


def test_a_private_set_is_charged_once_by_the_button_alone(private: None) -> None:
    app = settled(page_with("explore/page.py"))
    assert not app.error, [it.value for it in app.error]
    assert entries() == 0
    assert "Nothing has been trained: your data are private" in words(app)
    [button] = [it for it in app.button if str(it.key) == "explore.buy.This run"]
    assert button.label == "This run: total ε 0.00 → 5.00"
    button.click()
    settled(app)
    account = account_of(NAME)
    assert account is not None
    [entry] = account.entries
    assert entry.charge.title == "Spectral" and entry.state == "finished"
    assert account.total.epsilon == pytest.approx(5.0, abs=0.01)
    settled(page_with("explore/page.py"))  # another session: the run is there
    assert entries() == 1


@pytest.mark.slow
def test_a_private_set_shows_one_persons_list(private: None) -> None:
    app = everything_asked(settled(page_with("explore/page.py")))
    assert not app.error and not app.exception
    assert "recommendations stay the same with privacy" in words(app)
    assert [it["epsilon"] for it in component(app, "hero")["lists"]["at"]] == [5.0]


# ---- other pages --------------------------------------------------------------------------------


def test_the_data_page_lists_them(films: None) -> None:
    app = AppTest.from_file(str(ROOT / "pages/data/page.py"), default_timeout=60).run()
    assert not app.exception
    [table] = [it for it in frames(app) if "id" in it and "licence" in it]
    rows = table.set_index("id")
    assert bool(rows.loc[NAME, "here"]) and bool(rows.loc["cinema-10m", "here"])
    assert "cinema-1b" not in rows.index


def test_the_data_page_keeps_the_names_of_others(
    films: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA_SETS", "cinema-small")
    settings.settings.cache_clear()
    try:
        app = AppTest.from_file(str(ROOT / "pages/data/page.py"), default_timeout=60).run()
    finally:
        monkeypatch.undo()
        settings.settings.cache_clear()
    [table] = [it for it in frames(app) if "id" in it and "licence" in it]
    assert NAME not in set(table["id"])


@pytest.mark.slow
def test_tune_searches_on_parts(films: None) -> None:
    app = settled(page_with("tune/page.py", algo="private-bias"))
    app.number_input(key="tune.trials").set_value(2)
    app.number_input(key="tune.draws").set_value(1).run()
    app.button(key="tune.go").click()
    settled(app)
    run_until(app, lambda: any("The best of 2 trials" in it.value for it in app.title))
    assert not app.error


def test_choose_tries_a_twin_of_a_private_set(private: None) -> None:
    app = AppTest.from_file(str(ROOT / "pages/choose/page.py"), default_timeout=60)
    app.query_params["data"] = NAME
    app.run()
    assert not app.exception and not app.error
    assert app.selectbox(key="sidebar.data").value == NAME
    assert "Your rows are not used, and choosing costs no ε" in words(app)
    assert entries() == 0


@pytest.mark.slow
def test_a_run_that_takes_too_long_ends_within_a_part(tmp_path: Path) -> None:
    limits = Limits(run_seconds=1.0)
    own_engine = Engine(Store(tmp_path / "runs"), processes=False, workers=1, limits=limits)
    run_spec = RunSpec.parse(data={"id": "cinema-10m"}, algorithm="global-mean")
    try:
        job = own_engine.submit(run_spec, asker="somebody")
        assert job.wait(60) and job.state == "failed"
        assert job.error is not None and job.error.startswith("This run took longer than")
    finally:
        own_engine.close()
