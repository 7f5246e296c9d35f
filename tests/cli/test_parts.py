"""Ratings in parts, by command: imported, listed, fitted, refused in words."""

import pytest

from tests.support.rating_lines import rating_lines


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    rows = rating_lines(80, 15)
    (tmp_path / "big.csv").write_text("\n".join(["user,item,rating", *rows]) + "\n")
    return f"{tmp_path}/big.csv?bounds=1,5"


def test_a_table_is_imported_listed_and_fitted(say, table):
    output = say(
        "datasets",
        "import",
        "own",
        table,
        "--partitioned",
        "--partitions",
        "4",
        "--json",
    )
    assert output.code == 0
    assert output.json["n_users"] == 80
    assert output.json["n_items"] == 15
    assert output.json["present"]
    by_id = {row["id"]: row for row in say("datasets", "--json").json}
    assert by_id["own"]["present"]
    assert "n_ratings" not in by_id["own"]
    assert "1,200 ratings" in say("datasets").out
    assert by_id["cinema-1b"]["n_users"] == 10_000_000
    common = ("--algorithm", "private-bias", "--epsilon", "2", "--json")
    parts = say("fit", "--dataset", "own", *common)
    whole = say("fit", "--dataset", table, *common)
    assert parts.code == whole.code == 0
    assert parts.json["split"] == whole.json["split"]
    assert parts.json["guarantee"] == whole.json["guarantee"]
    account = say("spent", table, "--json")
    # the same file is the same data, however it is kept: both runs are in one account
    assert 2.5 < account.json["epsilon"] < 4


def test_a_selection_and_errors_of_a_sweep_are_paid_for_once(say, table):
    assert (
        say(
            "datasets", "import", "own", table, "--partitioned", "--partitions", "4"
        ).code
        == 0
    )
    output = say(
        "tune",
        "--dataset",
        "own",
        "--algorithm",
        "private-bias",
        "--epsilon",
        "1",
        "--vary",
        "prior_deviation=0.1:0.6",
        "--private-selection",
        "--trials",
        "2",
        "--json",
    )
    assert output.code == 0, output.err
    account = say("spent", "own", "--json").json
    assert account["epsilon"] == pytest.approx(output.json["epsilon"], rel=1e-3)
    output = say(
        "sweep",
        "--dataset",
        "own",
        "--algorithms",
        "private-bias",
        "--epsilons",
        "1,2",
        "--noisy-errors",
        "1",
        "--out",
        table.replace("big.csv?bounds=1,5", "errors.csv"),
    )
    assert output.code == 0, output.err
    assert 3.0 < say("spent", "own", "--json").json["epsilon"] < 6.0
