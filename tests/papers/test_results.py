"""Verdicts are kept, listed and made again; a cut run goes on."""

import json
import re

import pytest

from dpmf_core.cli.paper_commands import claim_row
from dpmf_core.data.catalogue import catalogue
from dpmf_core.papers import recorded_results, registry
from dpmf_core.papers.compared_figures import Less, MeasuredFigure
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep

SMALL = Claim(
    id="small-claim",
    title="Biases beat nothing",
    source="Somebody 2020, Fig. 1",
    words="",
    sweeps=lambda: (
        Sweep(
            data=DataSpec(id="cinema-small"),
            methods=(
                Method(algorithm="bias", label="Biases"),
                Method(algorithm="global-mean", label="Mean"),
            ),
            seeds=(0, 1),
        ),
    ),
    clauses=(
        Less(
            place="Fig. 1",
            quote="biases help",
            words="biases beat nothing",
            less=(MeasuredFigure(label="Biases"), MeasuredFigure(label="Mean")),
        ).clause(),
    ),
)


@pytest.fixture
def own_folder(data_folder, monkeypatch):
    monkeypatch.setitem(registry.CLAIMS, SMALL.id, SMALL)
    return data_folder


def summaries_of(biases):
    return [
        Measured("Biases", "bias", None, {}, (biases,)),
        Measured("Mean", "global-mean", None, {}, (0.9,)),
    ]


def test_a_result_is_kept_and_read_again(own_folder):
    assert recorded_results.last(SMALL) is None
    first = recorded_results.result(SMALL, summaries_of(0.95))
    recorded_results.save(first)
    assert recorded_results.last(SMALL) == first
    assert first.verdict(SMALL).outcome is Outcome.DIFFERS
    recorded_results.save(recorded_results.result(SMALL, summaries_of(0.8)))
    last = recorded_results.last(SMALL)
    assert last.verdict(SMALL).outcome is Outcome.REPRODUCED
    assert last.on == "Cinema, 2,000 people"


@pytest.mark.parametrize(
    ("on", "data"),
    [
        ("Page size, on MovieLens 1M.", "MovieLens 1M"),
        ("Full size, on TDT2, 30 topics, CBCL faces.", "TDT2, 30 topics, CBCL faces"),
        ("Full size.", ""),
    ],
)
def test_a_result_of_an_earlier_version_is_read_without_its_size(on, data):
    """Such files hold two sizes of an experiment, of which one is left."""
    today = recorded_results.result(SMALL, summaries_of(0.8)).model_dump(mode="json")
    earlier = {**today, "size": "full", "on": on}
    result = recorded_results.ClaimResult.model_validate_json(json.dumps(earlier))
    assert result.on == data
    assert "size" not in result.model_dump(mode="json")


def test_a_damaged_result_is_ignored(own_folder):
    path = recorded_results.save(recorded_results.result(SMALL, summaries_of(0.8)))
    path.write_text('{"claim": "small-claim"}')
    assert recorded_results.last(SMALL) is None


def test_the_list_has_the_data_and_the_obstacle_of_the_run_that_was_judged(own_folder):
    """Not those of the data sets that are here today."""
    today = claim_row(SMALL)
    assert today["data"] == "the source's"
    assert today["obstacle"] == ""
    other = "Other films stand in for the source's."
    judged = recorded_results.result(SMALL, summaries_of(0.8))
    recorded_results.save(judged.model_copy(update={"stands_in": other}))
    row = claim_row(SMALL)
    assert row["data"] == "other"
    assert row["obstacle"] == other
    assert row["verdict"].startswith(str(Outcome.CANNOT_BE_JUDGED).lower())


@pytest.mark.parametrize(
    "path",
    sorted(recorded_results.RECORDED_FOLDER.glob("*.json")),
    ids=lambda path: path.name,
)
def test_a_recorded_result_is_what_the_command_wrote(path):
    """The data and nothing else; how long it took; and figures that nobody rounded."""
    record = json.loads(path.read_text("utf-8"))
    assert path.name == f"{record['claim']}.json"
    titles = {entry.title for entry in catalogue().catalogue()}
    on = recorded_results.load(record["claim"], recorded_results.RECORDED_FOLDER).on
    for title in sorted(titles, key=len, reverse=True):
        on = on.replace(title, "")
    assert re.fullmatch(r"(\(\d+ most rated items\)|[, ])*", on)
    assert record["seconds"] is not None
    draws = [draw for point in record["measured"] for draw in point["draws"]]
    counts = all(draw == round(draw) for draw in draws)
    assert counts or any(float(f"{draw:.4g}") != draw for draw in draws)
