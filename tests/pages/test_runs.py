"""The Runs page: differences, notes and reports."""

import pytest

import dpmf
from dpmf_core.base.documents import plain
from dpmf_core.jobs.engine import engine
from dpmf_core.runs.comparison import differences
from dpmf_core.runs.execution import run
from dpmf_core.runs.reports import report
from dpmf_core.runs.specification import RunSpec
from tests.pages.driving import app_of
from tests.support.records import altered

PARTS = {"data": {"id": "cinema-small"}, "budget": {"epsilon": 2.0, "delta": 1e-5}}


def run_with(**parts):
    return run(RunSpec.parse(**{**PARTS, **parts}))


@pytest.fixture(scope="module")
def two():
    return [
        run_with(algorithm="private-bias"),
        run_with(algorithm="private-bias", budget={"epsilon": 8.0, "delta": 1e-5}),
    ]


def test_only_what_differs_is_shown(two):
    assert differences([run.record for run in two]) == [
        {"setting": "budget: epsilon", "values": [2.0, 8.0]}
    ]
    assert differences([two[0].record, two[0].record]) == []
    other = run_with(algorithm="user-mean")
    names = {row["setting"] for row in differences([two[0].record, other.record])}
    assert names >= {"algorithm", "budget: epsilon", "prior_deviation"}
    assert "seed" not in names


def test_a_report_holds_what_it_takes_to_judge_and_repeat_a_run(two):
    page = report(two[:1])
    record = two[0].record
    for text in (
        "cinema-small",
        f"<td>seed</td><td>{record.spec.seed}</td>",
        "add-remove",
        "one user",
        record.created,
        f"dpmf {dpmf.__version__}",
    ):
        assert text in page
    for name, value in record.parameters.items():
        assert f"<td>{name}</td><td>{plain(value)}</td>" in page
    for fact in record.guarantee.taken_as_public:
        assert fact in page
    assert "<td>exact</td><td>2.00</td>" in page
    assert "1.99999" not in page
    hers = {**record.spec.model_dump(mode="json"), "data": {"id": "/home/her/shop.csv"}}
    private = altered(two[0], public=False, spec=hers)
    assert "<td>shop.csv (private)</td>" in report([private])
    assert "/home" not in report([private])
    assert "without noise" in report([private])


def test_the_page_lists_every_run_and_compares_those_that_are_ticked(two):
    for one in two:
        engine().store.put(one)
    app = app_of("runs/page.py").run()
    assert not app.exception
    assert app.title[0].value.startswith("2 runs")
    assert len(app.dataframe[0].value) == 2
    keys = [*(one.key for one in two), "gone"]
    app = app_of(
        "from dpmf_core.jobs.engine import engine\nfrom pages.runs import side_by_side\n"
        f"side_by_side.draw(side_by_side.load(engine().store, {keys!r}))"
    ).run()
    assert not app.exception
    assert "2.00" in app.header[0].value
    assert len(app.dataframe) >= 2
