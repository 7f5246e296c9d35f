"""What comes with the package, and what idle workers compute, is what pages ask for at first."""

from collections.abc import Iterable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core import first_views
from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.runs import data_access, shipped_runs
from dpmf_core.runs.epsilon_grid import grid_runs
from dpmf_core.runs.shipped_runs import identity
from dpmf_core.runs.specification import RunSpec, run_key
from pages.kit import epsilon_grid, finished_runs, run_progress
from pages.kit.page_table import PAGES, Page
from pages.server import warming
from tests.pages.driving import behind_sidebar, words

ANEW = "run `python -m benchmarks.shipped`: a first choice, or a version, has changed"
WITH_EPSILON = [it for it in PAGES if it.data_kind is not None and "eps" not in it.unused]
RUNS_OF_PAGES = first_views.runs_of_pages()
WITH_LESSONS = {**RUNS_OF_PAGES, **first_views.runs_of_lessons()}


def script(page: Page) -> str:
    return behind_sidebar(f"{page.folder}/page.py")


def asked_at_first(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[RunSpec], list[RunSpec]]:
    """What a page asks for before anybody has chosen anything, and what its grids are of."""
    runs: list[RunSpec] = []
    grids: list[RunSpec] = []
    read = epsilon_grid.read

    def request(_: str, specs: dict[str, Any], *__: Any, **___: Any) -> dict[str, Any]:
        runs.extend(it for it in specs.values() if isinstance(it, RunSpec))
        return {}

    def read_and_note(spec: RunSpec, *more: Any, **keywords: Any) -> Any:
        grids.append(spec)
        return read(spec, *more, **keywords)

    monkeypatch.setattr(run_progress, "request", request)
    monkeypatch.setattr(epsilon_grid, "read", read_and_note)
    app = AppTest.from_string(script(page), default_timeout=60).run()
    assert not app.exception, [error.value for error in app.exception]
    return runs, grids


def names(specs: Iterable[RunSpec]) -> set[str]:
    return {identity(it) for it in specs}


@pytest.mark.parametrize("page", WITH_EPSILON, ids=lambda page: page.id)
def test_the_default_and_the_grid_of_every_epsilon_slider_are_computed_beforehand(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, grids = asked_at_first(page, monkeypatch)
    every = names(first_views.cheapest_first())
    assert names(runs) <= every and bool(grids) == bool(runs) == (page.id in first_views.FOLLOWING)
    for spec in grids:
        assert names(it.spec for it in grid_runs(spec)) <= every


@pytest.mark.parametrize(
    "page", [it for it in PAGES if it.id in RUNS_OF_PAGES], ids=lambda page: page.id
)
def test_a_page_asks_at_first_for_what_is_listed(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, _ = asked_at_first(page, monkeypatch)
    assert runs and names(runs) <= names(RUNS_OF_PAGES[page.id])


def test_the_package_holds_these_runs_and_no_others() -> None:
    expected = names(first_views.cheapest_first())
    assert shipped_runs.everything().keys() == expected, ANEW
    assert shipped_runs.FILE.stat().st_size < 2_000_000
    assert all(it.record.public for it in shipped_runs.everything().values())


@pytest.mark.parametrize("page", WITH_LESSONS)
def test_they_are_of_today_s_data_and_of_today_s_versions(page: str) -> None:
    """A run's key holds the data's fingerprint and the version of the algorithm."""
    for spec in WITH_LESSONS[page]:
        record = shipped_runs.record(spec)
        assert record is not None, ANEW
        assert record.key == run_key(spec, data_access.open_data(spec.data)), ANEW
        assert record.cached and record.spec.seed == spec.seed


def test_a_run_of_an_older_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = first_views.usual_run("ratings")
    assert shipped_runs.record(spec) is not None
    from dpmf_core import algorithms

    kind = algorithms.find(spec.algorithm)
    monkeypatch.setattr(kind, "version", kind.version + 1)
    assert shipped_runs.record(spec) is None and shipped_runs.summaries([spec]) == [None]
    assert shipped_runs.view_data(spec, "lists") is None


@pytest.mark.parametrize("page", RUNS_OF_PAGES)
def test_the_first_view_stands_on_an_empty_store(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a single run being computed: engine and workers are never asked."""

    def never(*_: Any, **__: Any) -> Job:
        raise BadInput("Nothing is computed here.")

    monkeypatch.setattr(engine(), "submit", never)
    monkeypatch.setattr(engine(), "measure", never)
    monkeypatch.setattr(run_progress, "_submission", shipped_alone)
    app = AppTest.from_string(script(next(it for it in PAGES if it.id == page)), default_timeout=60)
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    text = words(app)
    assert "version" in text
    assert not engine().store.rows()


def shipped_alone(handles: Any, run_names: Any, whole: Any) -> Any:
    """Asks for what comes with the package, and for nothing else."""

    def submit() -> list[Any]:
        light = {it: handles[it][0] for it in run_names if whole is not None and it not in whole}
        for name, handle in finished_runs.from_package(light).items():
            handles[name] = (handles[name][0], handle)
        return [job for name in run_names if (job := handles[name][1]) is not None]

    return submit


# ---- idle workers --------------------------------------------------------------------------------


def small(seed: int) -> RunSpec:
    return RunSpec.parse(
        data={"id": "cinema-small"},
        algorithm="private-bias",
        budget={"epsilon": 3.0, "delta": 1e-5},
        seed=seed,
    )


def test_idle_workers_compute_what_is_listed_and_then_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [small(seed) for seed in range(300, 304)]
    monkeypatch.setattr(warming, "warming_specs", lambda: specs)
    warming.Warming(quiet=0.0, every=0.01).run()  # returns when all is done
    assert all(it is not None for it in engine().known_runs.summaries(specs))


def test_visitors_come_before_what_is_computed_beforehand() -> None:
    beforehand = [warming.ask(small(seed)) for seed in range(400, 430)]
    visitor = engine().submit(small(500), asker="somebody")
    assert visitor.result(60).key == visitor.key
    waiting = [job for job in beforehand if job.state == "waiting"]
    assert waiting and all(job.ahead >= 0 for job in waiting)
    assert visitor.ahead == 0 and engine().waiting() == 0  # what is idle holds up nobody
    for job in beforehand:
        job.cancel()


def test_nothing_is_computed_beforehand_where_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dpmf_core.serving.settings import settings

    everything = len(first_views.cheapest_first())
    try:
        for warm, most_runs, runs in (
            ("true", "5000", everything),
            ("false", "5000", 0),
            ("true", "20", 0),
        ):
            monkeypatch.setenv("DPMF_WARM", warm)
            monkeypatch.setenv("DPMF_MOST_RUNS", most_runs)
            settings.cache_clear()
            assert len(warming.warming_specs()) == runs
    finally:
        settings.cache_clear()


def test_only_simulated_data_are_computed_on_beforehand() -> None:
    from dpmf_core.data.catalogue import catalogue

    kinds = {it.id: it.kind for it in catalogue().catalogue()}
    assert {kinds[it.data.id] for it in first_views.cheapest_first()} == {"simulated"}
