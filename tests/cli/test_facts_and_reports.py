"""Facts of data as options, the report of `check`, and the line on what was changed."""

import json
import os
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete

import dpmf
from dpmf_core.cli import program
from dpmf_core.data.facts import FACTS
from dpmf_core.runs import data_access
from dpmf_core.runs.store import Store
from tests.support.engines import WAIT
from tests.support.rating_lines import rating_lines

FACTS_OF_FILE = ("--bounds", "1,5", "--user", "who", "--rating", "points")
ADDRESS = "bounds=1,5&user=who&rating=points"
BIAS = ("--algorithm", "private-bias", "--epsilon", "1", "--delta", "1e-5")
COUNTS = {"read", "kept", "left_out", "changed", "problems"}


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch):
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    data_access.forget()


@pytest.fixture
def file(tmp_path):
    """Ratings of 40 users, of which two rows cannot be used and one is repeated."""
    rows = rating_lines(40, 12)
    rows += ["3,40,9", "4,41,none at all", "0,0,5"]
    path = tmp_path / "own.csv"
    path.write_text("\n".join(["who,item,points", *rows]) + "\n")
    return path


def lines_about_data(output):
    return [
        line
        for line in output.err.splitlines()
        if line.startswith(("own.csv: ", "own: "))
    ]


def test_options_are_the_same_as_facts_after_the_path(say, file):
    options = say("fit", "--dataset", str(file), *FACTS_OF_FILE, *BIAS, "--json").json
    after_path = say(
        "fit", "--dataset", f"{file}?rating=points&{ADDRESS}", *BIAS, "--json"
    ).json
    assert options["spec"]["data"]["id"] == f"{file.name}?{ADDRESS}"
    assert options["spec"] == after_path["spec"]
    assert len(Store().rows()) == 1


def test_facts_come_from_a_configuration_file_too(say, file, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        f'dataset = "{file}"\nalgorithm = "bias"\nbounds = "1,5"\nuser = "who"\n'
        'rating = "points"\nusers = 50\n'
    )
    record = say("fit", "--config", str(config), "--json").json
    assert record["spec"]["data"]["id"].endswith(
        "?bounds=1,5&users=50&user=who&rating=points"
    )


COMMANDS = {
    "fit": ("fit", "--dataset", "FILE", *FACTS_OF_FILE, *BIAS),
    "sweep": (
        "sweep", "--dataset", "FILE", *FACTS_OF_FILE, "--algorithms", "bias", "--seeds", "0-2",
    ),
    "tune": (
        "tune", "--dataset", "FILE", *FACTS_OF_FILE, *BIAS, "--vary", "prior_deviation",
        "--private-selection", "--trials", "2",
    ),
    "spent": ("spent", "FILE", *FACTS_OF_FILE),
    "import": ("datasets", "import", "own", "FILE", "--partitioned", *FACTS_OF_FILE),
}  # fmt: skip


@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_says_once_what_was_changed(say, file, command, is_json):
    words = [str(file) if word == "FILE" else word for word in command]
    output = say(*words, *(["--json"] if is_json else []))
    assert output.code == 0, output.err
    (line,) = lines_about_data(output)
    assert "left out" in line
    assert "check" in line
    assert f"?{ADDRESS}'" in line
    if is_json:
        assert isinstance(output.json, dict | list)


def test_the_line_names_counts_and_reasons(say, file):
    output = say("spent", str(file), *FACTS_OF_FILE, "--outside", "leave-out")
    (line,) = lines_about_data(output)
    assert line.startswith(
        "own.csv: 481 of 483 rows used, 2 left out (1 rating is not a number; 1 rating outside the"
        " bounds), 1 changed (same user and item again: averaged). "
    )
    assert line.endswith(f" check '{file}?bounds=1,5&user=who&rating=points&outside=leave-out'"
                         " lists them.")  # fmt: skip


def test_a_table_without_a_problem_prints_nothing(say, file):
    file.write_text("\n".join(file.read_text().splitlines()[:-3]) + "\n")
    assert lines_about_data(say("spent", str(file), *FACTS_OF_FILE)) == []


def test_worker_processes_do_not_repeat_the_line(file, tmp_path):
    arguments = [
        "sweep",
        "--dataset",
        str(file),
        *FACTS_OF_FILE,
        "--algorithms",
        "bias,global-mean",
    ]
    process = subprocess.run(
        [sys.executable, "-m", "dpmf", *arguments, "--seeds", "0-3", "--json"],
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=True,
    )
    assert process.stderr.count("own.csv: ") == 1
    assert len(json.loads(process.stdout)) == 8


def _environment(tmp_path):
    return {**os.environ, "DPMF_DATA": str(tmp_path / "data")}


def test_check_prints_the_whole_report(say, file):
    output = say("check", str(file), *FACTS_OF_FILE, "--outside", "leave-out")
    assert output.code == 0
    assert output.err == ""
    for words in (
        "483 rows read, 480 ratings kept, 40 users",
        "1 x rating outside the bounds, row left out (line 482; such as '9 (1 x)')",
        "1 x rating is not a number, row left out (line 483; such as 'none at all')",
        "Columns: user: who (declared), item: item (by its name), rating: points (declared).",
        "it holds provided that the number of users is public",
        "--users N",
        "--missing=9",
    ):
        assert words in output.out


def test_check_says_which_columns_were_taken_by_place(say, file):
    file.write_text("\n".join(file.read_text().splitlines()[1:]) + "\n")
    output = say("check", str(file), "--bounds", "1,5")
    assert "user: column 1 (by its place)" in output.out
    assert "Columns were taken by their place." in output.out


def test_only_check_has_counts_as_json(say, file):
    report = say("check", str(file), *FACTS_OF_FILE, "--json").json
    assert report == json.loads(
        json.dumps(dpmf.load(f"{file}?{ADDRESS}").report.to_dict())
    )
    assert set(report) >= COUNTS
    counts = [problem["count"] for problem in report["problems"]]
    assert counts == [1, 1, 1]
    for command in COMMANDS.values():
        words = [str(file) if word == "FILE" else word for word in command]
        result = say(*words, "--json").json
        for part in result if isinstance(result, list) else [result]:
            assert set(part) & COUNTS == set()


def test_check_reads_what_an_import_reads_and_stores_nothing(say, file):
    (file.parent / "days").mkdir()
    rows = file.read_text().splitlines()
    for day, part in enumerate((rows[1:200], rows[200:])):
        (file.parent / f"days/{day}.csv").write_text("\n".join([rows[0], *part]) + "\n")
    before = say("datasets", "--json").json
    for source in ("days", "days/*.csv"):
        output = say("check", f"{file.parent}/{source}", *FACTS_OF_FILE)
        assert output.code == 0, output.err
        assert "483 rows read" in output.out
        assert "not a number" in output.out
    assert say("datasets", "--json").json == before


def test_check_of_stored_and_simulated_sets(say, file):
    assert "5,000 ratings" not in say("check", "cinema-small").err
    output = say("check", "cinema-small")
    assert output.code == 0
    assert "No problem found." in output.out
    say("datasets", "import", "own", str(file), "--partitioned", *FACTS_OF_FILE)
    output = say("check", "own", "--json")
    assert output.json["kept"] == output.json["read"] > 0
    assert "documents" in say("check", "news").out


REFUSED = {
    "bounds": (("--bounds", "5"), "two numbers separated by a comma"),
    "users": (("--users", "many"), "whole number of at least 1"),
    "missing": (("--missing", "none"), "numbers that mean 'not rated'"),
    "header": (("--header", "first"), "names the columns, counted from 1"),
    "outside": (("--outside", "drop"), "'leave-out', 'clamp', 'refuse'"),
    "twice": (("--bounds", "1,4"), "declared twice: 1,5 and 1,4"),
}


@pytest.mark.parametrize("command", ["check", "fit"])
@pytest.mark.parametrize(("options", "words"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_value_is_refused_by_its_rule(say, file, command, options, words):
    if options[1] == "1,4":
        address = f"{file}?bounds=1,5"
    else:
        address = str(file)
    if command == "check":
        place = [address]
    else:
        place = ["--dataset", address, "--algorithm", "bias"]
    output = say(command, *place, *options)
    assert output.code == 2
    assert words in output.err
    assert output.out == ""


def test_check_of_an_unusable_file_exits_with_2(say, file):
    output = say(
        "check", str(file), "--bounds", "1,5", "--rating", "item", "--user", "who"
    )
    assert output.code == 2
    assert output.err
    assert output.out == ""


def test_facts_need_a_file(say):
    output = say(
        "fit", "--dataset", "cinema-small", "--bounds", "1,5", "--algorithm", "bias"
    )
    assert output.code == 2
    assert "data set with an id" in output.err
    output = say("sweep", "--preset", "films-table", "--bounds", "1,5")
    assert output.code == 2
    assert "--bounds needs --dataset" in output.err
    output = say("datasets", "import", "ml-1m", "some.csv", "--bounds", "1,5")
    assert output.code == 2
    assert "--partitioned" in output.err


def test_every_fact_is_an_option_that_check_explains(say):
    text = say("check", "--help").out
    assert [name for name in FACTS if f"--{name.replace('_', '-')}" not in text] == []
    text = say("fit", "--help").out
    assert "--bounds LOW,HIGH" in text
    assert "--stop-words" not in text


@pytest.mark.parametrize(
    ("words", "incomplete", "completions"),
    [
        ("check", "--stop", ["--stop-words"]),
        ("fit", "--bou", ["--bounds"]),
        ("fit --outside", "", ["leave-out", "clamp", "refuse"]),
    ],
)
def test_facts_are_completed(words, incomplete, completions):
    shell = BashComplete(program, {}, "dpmf", "_DPMF_COMPLETE")
    offered = [item.value for item in shell.get_completions(words.split(), incomplete)]
    assert offered == completions


def test_a_fact_with_the_name_of_another_option_follows_the_path(say, file):
    """`audit --user` is the canary, and `choose --group` a size."""
    data = (
        "--dataset",
        f"{file}?{ADDRESS}",
        "--algorithm",
        "private-bias",
        "--epsilon",
        "1",
    )
    output = say("audit", *data, "--user", "3", "--runs", "40")
    assert output.code == 0, output.err
    assert len(lines_about_data(output)) == 1
