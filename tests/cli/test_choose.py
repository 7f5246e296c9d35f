"""`choose` on private data: a range for the declared shape, and nothing of the ratings."""

import html
import os
import random
import re
import shlex
from pathlib import Path

import pytest

import dpmf
from dpmf_core.cli import EXIT_BAD_INPUT, EXIT_OK
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.tuning.choosing.question import SINGLE_RATING

ROOT = Path(__file__).parents[2]
CASES = Path(os.environ.get("DPMF_CASES", ROOT.parent / "shared" / "cases"))
SHOP = CASES / "shop" / "bewertungen.csv"


@pytest.fixture(autouse=True)
def _real_catalogue(monkeypatch):
    monkeypatch.delenv("DPMF_CATALOGUE")


@pytest.fixture
def address(tmp_path):
    return str(written(tmp_path, seed=1))


def written(folder, seed):
    """The address of a table of one shape, whose ratings follow from the seed."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(seed)
    rows = []
    for user in range(30):
        for place in range(6):
            rows.append(f"u{user},i{(user + place) % 12},{rng.randint(1, 5)}")
    (folder / "mine.csv").write_text("\n".join(["user,item,rating", *rows]))
    return f"{folder / 'mine.csv'}?bounds=1,5"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--spend", "2"], "--each 20"),
        (["--each", "6", "--keep", "0.5"], "--spend"),
        (["--each", "6", "--reach", "0.9"], "--spend"),
        (["--each", "6", "--spend", "2", "--protect", "rating"], SINGLE_RATING),
        (["--each", "6", "--spend", "2", "--double", "1"], "Add --measure"),
        (
            ["--each", "6", "--spend", "2", "--measure", "500"],
            "must be from 0.0001 to 100",
        ),
        (
            ["--each", "6", "--spend", "2", "--measure", "0.1", "--double", "1"],
            "Add --yes",
        ),
    ],
)
def test_missing_or_unsuitable_options_for_private_data_are_explained(
    say, address, options, words
):
    output = say("choose", "--dataset", address, *options)
    assert output.code == EXIT_BAD_INPUT
    assert words in output.err
    assert "\n" not in output.err.splitlines()[-1]


def test_a_malformed_shape_is_explained(say):
    output = say("choose", "--dataset", "worlds?users=9", "--spend", "2")
    assert output.code == EXIT_BAD_INPUT
    assert "A declared shape must be written" in output.err


@pytest.mark.slow
def test_other_ratings_of_one_shape_have_the_same_answer_as_the_shape_alone(
    say, tmp_path
):
    options = ("--spend", "2", "--delta", "1e-3", "--json")
    ranges = []
    for seed in (1, 2):
        data = written(tmp_path / str(seed), seed)
        output = say("choose", "--dataset", data, "--each", "6", *options)
        assert output.code == EXIT_OK, output.err
        ranges.append(output.json)
    shape = "worlds?users=30&items=12&each=6&bounds=1,5"
    alone = say("choose", "--dataset", shape, *options).json
    for name in ("range", "sentences", "headline", "question"):
        assert ranges[0][name] == alone[name]
        assert ranges[1][name] == alone[name]
    assert "mine.csv" in ranges[0]["train"]
    assert not alone["train"]


@pytest.mark.slow
def test_the_command_in_a_report_starts_with_dpmf_and_runs(say, tmp_path, monkeypatch):
    """On the screen stands what starts dpmf here; a file may be read on another machine."""
    data = written(tmp_path, 1)
    page = tmp_path / "page.html"
    book = tmp_path / "book.ipynb"
    asks = (
        "choose",
        "--dataset",
        data,
        "--each",
        "6",
        "--spend",
        "2",
        "--delta",
        "1e-3",
    )
    said = say(*asks, "--report", str(page), "--notebook", str(book))
    assert said.code == EXIT_OK, said.err
    printed = say(*asks, "--json").json["train"]
    command = shlex.split(printed)
    assert command[:2] == ["dpmf", "fit"]
    assert command[-4:] == [
        "--split",
        "none",
        "--save",
        "model",
    ]
    assert printed in html.unescape(page.read_text())
    for file in (page, book):
        assert str(tmp_path) not in file.read_text()
        assert str(ROOT) not in file.read_text()
    monkeypatch.chdir(tmp_path)
    trained = say(*command[1:])
    assert trained.code == EXIT_OK, trained.err
    model = dpmf.load_model("model")
    assert model.epsilon == pytest.approx(2.0, abs=1e-6)
    assert model.spec.split.kind == "none"
    assert model.record.metrics == {}
    assert len(model.recommend(own={model.item_ids[0]: 5.0}, k=2)) == 2


@pytest.mark.slow
def test_no_share_is_promised_that_the_shop_does_not_reach(say):
    if not SHOP.exists():
        pytest.skip(f"{SHOP} is not here")
    address = f"{SHOP}?bounds=0.5,5&outside=leave-out"
    said = say(
        "choose", "--dataset", address, "--each", "10", "--step", "0.5", "--spend", "2"
    )
    assert said.code == EXIT_OK, said.err
    assert "nothing public tells which" in said.out
    assert "keeps 68%" not in said.out
    assert "95%" not in said.out


@pytest.mark.slow
def test_the_total_of_measured_steps_is_announced_first(say, tmp_path):
    data = written(tmp_path, seed=1)
    asked = (
        "choose",
        "--dataset",
        data,
        "--each",
        "6",
        "--delta",
        "1e-3",
        "--spend",
        "1",
    )
    said = say(*asked, "--measure", "0.5", "--double", "1", "--yes", "--json")
    assert said.code == EXIT_OK, said.err
    record = said.json
    epsilons = [step["epsilon"] for step in record["measured"]]
    assert epsilons == [1.0, 2.0]
    assert record["measured_on"] == "measured on these data, with noise"
    account = account_of(data)
    assert len(account.entries) == 4
    # told before the second step, rounded up to three digits
    told = re.search(r"makes the total ε = (\d+\.\d\d\d)\.", said.err)
    assert 0 <= float(told[1]) - account.total.epsilon < 0.001
    assert record["total"]["epsilon"] == pytest.approx(account.total.epsilon)
    again = say(*asked, "--measure", "0.5", "--json")  # stored, so it draws nothing
    assert again.json["measured"] == record["measured"][:1]
    assert len(account_of(data).entries) == 4
