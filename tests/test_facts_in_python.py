"""Facts of data as keywords in Python, and what is said of rows that were left out or changed."""

import inspect
import warnings

import pandas as pd
import pytest

from dpmf import BadInput, account, fit, load, sweep
from dpmf_core.base.errors import RowsChanged
from dpmf_core.data.facts import FACTS
from dpmf_core.data.report import Kind
from dpmf_core.runs import data_access
from tests.support.rating_lines import rating_lines

FACTS_OF_FILE = {"bounds": (1, 5), "columns": {"user": "who", "rating": "points"}}
ADDRESS = "bounds=1,5&user=who&rating=points&outside=leave-out"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Ratings of 40 users, of which two rows cannot be used."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    data_access.forget()
    rows = rating_lines(40, 12)
    rows += ["3,40,9", "4,41,none at all"]
    path = tmp_path / "own.csv"
    lines = ["who,item,points", *rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
def test_keywords_are_the_same_as_facts_after_the_path(file):
    keywords = load(file, **FACTS_OF_FILE, outside="leave-out", users=50)
    assert keywords.fingerprint == load(f"{file}?users=50&{ADDRESS}").fingerprint
    assert keywords.n_users == 50
    run = fit(file, "bias", **FACTS_OF_FILE, outside="leave-out", users=50)
    assert (
        run.record.spec.data.id
        == f"{file}?bounds=1,5&users=50&{ADDRESS.partition('&')[2]}"
    )
    same = account(file, **FACTS_OF_FILE, outside="leave-out")
    assert same.key == account(f"{file}?{ADDRESS}").key


def test_the_report_prints_iterates_and_exports(file):
    with pytest.warns(RowsChanged):
        report = load(file, **FACTS_OF_FILE, outside="leave-out").report
    assert "482 rows read, 480 ratings kept" in str(report)
    kinds = {problem.kind for problem in report}
    assert kinds == {Kind.OUTSIDE, Kind.NOT_A_NUMBER}
    assert report.changed == 2
    assert report.rows_left_out == 2
    exported = report.to_dict()
    assert exported["left_out"] == 2
    assert exported["problems"][0]["count"] == 1


@pytest.mark.parametrize(
    "read",
    [
        lambda file: load(file, **FACTS_OF_FILE),
        lambda file: fit(file, "bias", **FACTS_OF_FILE),
        lambda file: sweep(
            file, ["bias", "global-mean"], **FACTS_OF_FILE, seeds=[0, 1]
        ),
        lambda file: account(file, **FACTS_OF_FILE),
    ],
    ids=["load", "fit", "sweep", "account"],
)
def test_every_function_warns_once_of_changed_rows_where_it_is_called(read, file):
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        read(file)
    (warning,) = [entry for entry in caught_warnings if entry.category is RowsChanged]
    assert str(warning.message).startswith("own.csv: ")
    assert " check '" in str(warning.message)
    assert warning.filename == __file__


def test_a_file_without_a_problem_gives_no_warning(file):
    lines = file.read_text().splitlines()[:-2]
    file.write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = load(file, **FACTS_OF_FILE).report
    assert list(report) == []
    assert report.changed == 0
    assert "No problem found." in str(report)


FRAME = pd.DataFrame(
    {
        "who": [0, 0, 1, 1, 2],
        "what": [0, 1, 0, 1, 1],
        "r": [1, 4, 5, 3, 0],
    }
)


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
def test_a_frame_takes_columns_and_what_is_missing():
    columns = {"user": "who", "item": "what", "rating": "r"}
    ratings = load(FRAME, bounds=(1, 5), columns=columns, missing=0)
    assert len(ratings) == 4
    assert ratings.n_users == 2
    by_role = load(
        FRAME, bounds=(1, 5), user="who", item="what", rating="r", missing=[0, 9]
    )
    assert by_role.fingerprint == ratings.fingerprint
    run = fit(
        FRAME, "global-mean", bounds=(1, 5), columns=columns, missing=0, split=None
    )
    assert run.record.metrics is not None
    with pytest.raises(BadInput, match="bounds"):
        load(FRAME, bounds=(1, 5), columns=columns, outside="refuse")
    with pytest.raises(BadInput, match="leave-out"):
        load(FRAME, bounds=(1, 5), columns=columns, outside="drop")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: load("r.csv?bounds=1,5", bounds=(1, 4)), "declared twice"),
        (lambda: load("r.csv", bound=(1, 4)), "'bounds'"),
        (lambda: load("r.csv", bounds=(1,)), "two numbers"),
        (lambda: load("r.csv", columns={"users": "who"}), "'user'"),
        (lambda: load("r.csv", columns={"user": "a"}, user="b"), "twice"),
        (lambda: load("cinema-small", sheet="Ratings"), "with an id"),
        (lambda: load(FRAME, bounds=(1, 5), sheet="Ratings"), "file only"),
        (lambda: load(load("cinema-small"), bounds=(1, 5)), "for a file"),
        (lambda: fit("cinema-small", "bias", missing=0), "with an id"),
        (lambda: fit("r.csv", "bias", outside="drop"), "leave-out"),
    ],
)
def test_wrong_facts_are_refused(call, words):
    with pytest.raises(BadInput, match=words):
        call()


def test_facts_are_in_the_signature_and_no_parameter_of_an_algorithm_has_their_name():
    for function in (fit, sweep):
        assert set(FACTS) <= set(inspect.signature(function).parameters)
