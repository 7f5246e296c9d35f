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
    page
    for page in PAGES
    if page.data_kind is not None and "epsilon" not in page.unused
]
FIRST_VIEWS = {view.page: view for view in first_views.VIEWS if view.is_first}


def script(page):
    return behind_sidebar(f"{page.folder}/page.py")


def asked_at_first(page, monkeypatch):
    """What a page asks for before anybody has chosen anything, and the tables that it reads."""
    specs_asked = []
    tables = []
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
    return {identity(spec) for spec in specs}


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
        assert specs
        assert tables
    for table in tables:
        assert not table.missing


def test_the_package_holds_these_runs_and_no_others():
    expected = names(first_views.every_run())
    assert shipped_runs.everything().keys() == expected, ANEW
    assert shipped_runs.FILE.stat().st_size < 6_000_000
    for run in shipped_runs.everything().values():
        assert run.record.public


@pytest.mark.parametrize("view", first_views.VIEWS, ids=lambda view: view.data)
def test_shipped_runs_are_of_today_s_data_and_versions(view):
    """A run's key holds the data's fingerprint and the version of the algorithm."""
    for spec in first_views.runs_of(view):
        record = shipped_runs.record(spec)
        assert record.key == run_key(spec, data_access.open_data(spec.data)), ANEW
        assert record.cached
        assert record.spec.seed == spec.seed


def test_a_run_of_an_older_version_is_refused(monkeypatch):
    spec = first_views.usual_run("ratings")
    assert shipped_runs.record(spec) is not None
    from dpmf_core import algorithms

    kind = algorithms.find(spec.algorithm)
    monkeypatch.setattr(kind, "version", kind.version + 1)
    assert shipped_runs.record(spec) is None
    assert shipped_runs.summary(spec) is None
    assert shipped_runs.view_data(spec, "lists") is None


@pytest.mark.parametrize("page", FIRST_VIEWS)
def test_the_first_view_stands_on_an_empty_store(page, monkeypatch):
    """Without a single run being computed: engine and workers are never asked."""

    def shipped_alone(request, run_names, whole, **_):
        light = [name for name in run_names if whole is not None and name not in whole]
        request.take_known(light, whole)

    monkeypatch.setattr(runs.RunRequest, "submit", shipped_alone)
    monkeypatch.setattr(epsilon_grid, "fill", lambda *_: runs.RunRequest())
    app = app_of(script(next(entry for entry in PAGES if entry.id == page))).run()
    assert not app.exception, [error.value for error in app.exception]
    text = words(app)
    assert "shipped" in text
    assert not engine().store.rows()


def test_only_simulated_data_are_computed_on_beforehand():
    from dpmf_core.data.catalogue import catalogue

    kinds = {entry.id: entry.kind for entry in catalogue().catalogue()}
    assert {kinds[spec.data.id] for spec in first_views.every_run()} == {"simulated"}
    assert names(first_views.cheapest_first()) <= names(first_views.every_run())
