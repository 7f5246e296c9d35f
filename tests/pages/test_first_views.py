"""What comes with the package, and what idle workers compute, is what pages ask for at first."""

import pytest

from dpmf_core.jobs.engine import engine
from dpmf_core.runs import data_access, first_views, shipped_runs
from dpmf_core.runs.shipped_runs import identity
from dpmf_core.runs.specification import RunSpec, run_key
from pages.kit.base.page_table import PAGES
from pages.kit.running import epsilon_grid, runs
from tests.pages.driving import app_of, behind_sidebar, words

ANEW = "run `python -m benchmarks.shipped`: a first choice, or a version, has changed"
WITH_EPSILON = [
    it for it in PAGES if it.data_kind is not None and "epsilon" not in it.unused
]
FIRST_VIEWS = {view.page: view for view in first_views.VIEWS if view.is_first}


def script(page):
    return behind_sidebar(f"{page.folder}/page.py")


def asked_at_first(page, monkeypatch):
    """What a page asks for before anybody has chosen anything, and the tables that it reads."""
    specs_asked, tables = [], []
    read = epsilon_grid.read

    def want(request, specs):
        specs_asked.extend(spec for spec in specs.values() if isinstance(spec, RunSpec))
        return []

    def read_and_note(*arguments, **keywords):
        tables.append(read(*arguments, **keywords))
        return tables[-1]

    monkeypatch.setattr(runs.RunRequest, "want", want)
    monkeypatch.setattr(epsilon_grid, "read", read_and_note)
    app = app_of(script(page)).run()
    assert not app.exception, [error.value for error in app.exception]
    return specs_asked, tables


def names(specs):
    return {identity(it) for it in specs}


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page in WITH_EPSILON or page.id in (*FIRST_VIEWS, "compare")
    ],
    ids=lambda page: page.id,
)
def test_what_a_page_asks_for_at_first_comes_with_the_package(page, monkeypatch):
    """The default and the grid of every slider of epsilon, and what else a page asks for."""
    specs, tables = asked_at_first(page, monkeypatch)
    assert names(specs) <= names(first_views.every_run())
    if page.id in FIRST_VIEWS:
        assert names(specs) <= names(first_views.runs_of(FIRST_VIEWS[page.id]))
        assert specs and tables
    assert not any(table.missing for table in tables)


def test_the_package_holds_these_runs_and_no_others():
    expected = names(first_views.every_run())
    assert shipped_runs.everything().keys() == expected, ANEW
    assert shipped_runs.FILE.stat().st_size < 6_000_000
    assert all(it.record.public for it in shipped_runs.everything().values())


@pytest.mark.parametrize("view", first_views.VIEWS, ids=lambda view: view.data)
def test_they_are_of_today_s_data_and_of_today_s_versions(view):
    """A run's key holds the data's fingerprint and the version of the algorithm."""
    for spec in first_views.runs_of(view):
        record = shipped_runs.record(spec)
        assert record.key == run_key(spec, data_access.open_data(spec.data)), ANEW
        assert record.cached and record.spec.seed == spec.seed


def test_a_run_of_an_older_version_is_refused(monkeypatch):
    spec = first_views.usual_run("ratings")
    assert shipped_runs.record(spec) is not None
    from dpmf_core import algorithms

    kind = algorithms.find(spec.algorithm)
    monkeypatch.setattr(kind, "version", kind.version + 1)
    assert shipped_runs.record(spec) is None and shipped_runs.summary(spec) is None
    assert shipped_runs.view_data(spec, "lists") is None


@pytest.mark.parametrize("page", FIRST_VIEWS)
def test_the_first_view_stands_on_an_empty_store(page, monkeypatch):
    """Without a single run being computed: engine and workers are never asked."""

    def shipped_alone(request, run_names, whole, **_):
        light = [it for it in run_names if whole is not None and it not in whole]
        request.take_known(light, whole)

    monkeypatch.setattr(runs.RunRequest, "submit", shipped_alone)
    monkeypatch.setattr(epsilon_grid, "fill", lambda *_: runs.RunRequest())
    app = app_of(script(next(it for it in PAGES if it.id == page))).run()
    assert not app.exception, [error.value for error in app.exception]
    text = words(app)
    assert "shipped" in text
    assert not engine().store.rows()


def test_only_simulated_data_are_computed_on_beforehand():
    from dpmf_core.data.catalogue import catalogue

    kinds = {it.id: it.kind for it in catalogue().catalogue()}
    assert {kinds[it.data.id] for it in first_views.every_run()} == {"simulated"}
    assert names(first_views.cheapest_first()) <= names(first_views.every_run())
