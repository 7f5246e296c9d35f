"""Verdicts are kept, listed and made again; a cut run goes on."""

import json
import re

import pytest

from dpmf_core.cli.papers import _row
from dpmf_core.papers import registry, results
from dpmf_core.papers.clauses import Median, less
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep

SMALL = Claim(
    id="small-claim",
    title="Biases beat nothing",
    source="Somebody 2020, Fig. 1",
    words="",
    sweeps=lambda full: (
        Sweep(
            data=DataSpec(id="cinema-small"),
            methods=(
                Method(algorithm="bias", label="Biases"),
                Method(algorithm="global-mean", label="Mean"),
            ),
            seeds=(0, 1) if full else (0,),
        ),
    ),
    clauses=(less(Median("Biases"), Median("Mean")),),
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
    assert results.last(SMALL) is None
    page = results.result(SMALL, summaries_of(0.95), full=False)
    results.save(page)
    assert results.last(SMALL) == page and page.verdict(SMALL).outcome is Outcome.DIFFERS
    full = results.result(SMALL, summaries_of(0.8), full=True)
    results.save(full)
    last = results.last(SMALL)  # full size says more
    assert last.verdict(SMALL).outcome is Outcome.REPRODUCED


def test_a_damaged_result_is_as_if_it_were_not_there(own_folder):
    path = results.save(results.result(SMALL, summaries_of(0.8), full=True))
    path.write_text('{"claim": "small-claim"}')
    assert results.last(SMALL) is None


def test_the_list_has_the_data_and_the_obstacle_of_the_run_that_was_judged(own_folder):
    """Not those of the data sets that are here today."""
    today = _row(SMALL)
    assert today["data"] == "the source's" and today["obstacle"] == ""
    other = "Other films stand in for the source's."
    judged = results.result(SMALL, summaries_of(0.8), full=True)
    results.save(judged.model_copy(update={"stands_in": other}))
    row = _row(SMALL)
    assert row["data"] == "other" and row["obstacle"] == other
    assert row["verdict"].startswith(str(Outcome.CANNOT_BE_JUDGED).lower())


@pytest.mark.parametrize(
    "path", sorted(results.RECORDED_FOLDER.glob("*.json")), ids=lambda it: it.name
)
def test_a_recorded_result_is_what_the_command_wrote(path):
    """Its size, the data and nothing else; how long it took; and figures that nobody rounded."""
    record = json.loads(path.read_text("utf-8"))
    assert path.name == f"{record['claim']}.{record['size']}.json"
    name = {"full": "Full size", "page": "Page size"}[record["size"]]
    assert re.fullmatch(rf"{name}(, on [^.]+)?\.", record["on"])
    assert record["seconds"] is not None
    draws = [draw for it in record["measured"] for draw in it["draws"]]
    counts = all(draw == round(draw) for draw in draws)
    assert counts or any(float(f"{draw:.4g}") != draw for draw in draws)
