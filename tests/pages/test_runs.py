"""The Runs page and what is under it: differences, notes, imports, reports, and no markup or
formula from what people named.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import dpmf_core
from dpmf_core.cli import output
from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.runs.comparison import differences
from dpmf_core.runs.execution import run
from dpmf_core.runs.imported_records import imported_runs
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import report
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store, to_json
from pages.runs import comparison
from tests.support.records import altered

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "pages" / "runs" / "page.py"
PARTS: dict[str, Any] = {"data": {"id": "cinema-small"}, "budget": {"epsilon": 2.0, "delta": 1e-5}}


def run_with(**parts: Any) -> Run:
    return run(RunSpec.parse(**{**PARTS, **parts}))


@pytest.fixture(scope="module")
def two() -> list[Run]:
    return [
        run_with(algorithm="private-bias"),
        run_with(algorithm="private-bias", budget={"epsilon": 8.0, "delta": 1e-5}),
    ]


def test_only_what_differs_is_shown(two: list[Run]) -> None:
    assert differences([it.record for it in two]) == [
        {"setting": "budget: epsilon", "values": [2.0, 8.0]}
    ]
    assert differences([two[0].record, two[0].record]) == []
    other = run_with(algorithm="user-mean")
    names = {row["setting"] for row in differences([two[0].record, other.record])}
    assert names >= {"algorithm", "budget: epsilon", "prior_deviation"} and "seed" not in names


def test_notes_stay_when_a_run_is_made_again(tmp_path: Path, two: list[Run]) -> None:
    store = Store(tmp_path)
    store.put(two[0])
    store.annotate(two[0].key, "the good one", "class, class , monday")
    store.put(two[0])
    (row,) = store.rows()
    assert (row["note"], row["tags"]) == ("the good one", "class, monday")
    assert store.sizes()[two[0].key] > 100
    with pytest.raises(BadInput, match="no stored run"):
        store.annotate("nothing", "", "")
    with pytest.raises(BadInput, match="at most 2,000"):
        store.annotate(two[0].key, "x" * 2001, "")
    store.close()


def test_a_report_needs_nothing_else_and_holds_no_markup_of_others(two: list[Run]) -> None:
    hostile = altered(two[1], title="<script>alert(1)</script>")
    page = report([two[0], hostile], "A & B")
    assert "<script" not in page and "&lt;script&gt;" in page and "A &amp; B" in page
    assert "http" not in page.replace("https://", "")
    assert f"{two[0].record.metrics['rmse']:.4g}" in page


def test_a_report_of_private_data_tells_nothing_raw(two: list[Run]) -> None:
    private = altered(two[0], public=False)
    assert f"{two[0].record.metrics['rmse']:.4g}" not in report([private])


def test_a_report_holds_what_it_takes_to_judge_and_repeat_a_run(two: list[Run]) -> None:
    page, record = report(two[:1]), two[0].record
    for text in (
        "cinema-small",
        f"<td>seed</td><td>{record.spec.seed}</td>",
        "add-remove",
        "one user",
        record.created,
        f"dpmf {dpmf_core.__version__}",
    ):
        assert text in page
    for name, value in record.parameters.items():
        assert f"{name} {f'{value:.4g}' if isinstance(value, float) else value}" in page
    for fact in record.guarantee.taken_as_public:
        assert fact in page
    assert "<td>exact</td><td>2.00</td>" in page and "1.99999" not in page
    hers = {**record.spec.model_dump(mode="json"), "data": {"id": "/home/her/shop.csv"}}
    private = altered(two[0], public=False, spec=hers)
    assert (
        "<td>shop.csv (private)</td>" in report([private])
        and "/home" not in report([private])
        and "without noise" in report([private])
    )


def test_the_page_lists_filters_and_compares(two: list[Run]) -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=60).run()
    for one in two:
        engine().store.put(one)
    app.run()
    assert not app.exception
    assert app.title[0].value.startswith("2 runs")
    assert len(app.dataframe[0].value) == 2
    app.text_input(key="runs.text").set_value("nothing like it").run()
    assert not app.dataframe


def test_the_page_survives_a_hostile_file(two: list[Run]) -> None:
    assert json.loads(to_json(two[0].export()))["key"] == two[0].key
    names = comparison.names_of([two[0], altered(two[1], title="[x](javascript:alert(1))")])
    assert names[0].startswith("1. Private biases, ε = 2.00")


def test_runs_come_from_a_file_with_one_or_many_and_a_bad_file_is_told(two: list[Run]) -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=60).run()
    both = to_json([run.export() for run in two]).encode()
    hostile = to_json(
        {
            **two[0].export(),
            "spec": {**two[0].export()["spec"], "data": {"id": '"""\nimport os\n"""'}},
        }
    ).encode()
    app.file_uploader[0].upload("both.json", both).upload("hostile.json", hostile).run()
    assert not app.exception
    assert any("plain file name" in str(error.value) for error in app.error)
    # two runs of one file, compared
    title = app.header[0].value
    assert title.startswith("RMSE") and "2.00" in title


def test_a_run_from_a_file_is_marked_in_everything_that_is_made_of_it(two: list[Run]) -> None:
    (from_file,) = imported_runs(to_json(two[0].export()).encode())
    (again,) = imported_runs(to_json(from_file.export()).encode())
    assert again.record.from_file is True
    assert {
        "setting": "algorithm",
        "values": [from_file.title, two[1].title],
    } in differences([from_file.record, two[1].record])
    assert not any("file" in output.script(it.record) for it in two)
