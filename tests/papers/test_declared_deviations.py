"""Each deviation is of an algorithm, quotes its paper, and has its cost measured."""

import re
from pathlib import Path

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.papers.deviations import read_deviations, recorded_costs
from dpmf_core.papers.registry import PAPERS
from tests.papers.test_verdicts import FOLDER, plain

DEVIATIONS = {
    (paper, algorithm): deviations
    for paper in ("balu_2016", "vallet_2014", "saha_2022")
    for algorithm, deviations in read_deviations(f"dpmf_core.papers.{paper}").items()
}
every = pytest.mark.parametrize(("paper", "algorithm"), DEVIATIONS)


@every
def test_each_deviation_is_of_one_of_our_algorithms(paper, algorithm):
    assert algorithm in REGISTRY
    assert paper.replace("_", "-") in PAPERS
    for deviation in DEVIATIONS[paper, algorithm]:
        assert deviation.place
        assert deviation.paper
        assert deviation.ours
        assert deviation.why


@every
def test_each_cost_is_recorded_and_nothing_else(paper, algorithm):
    keys = {deviation.cost for deviation in DEVIATIONS[paper, algorithm]} - {""}
    assert keys == set(recorded_costs()[algorithm])


@pytest.mark.skipif(
    not FOLDER, reason="DPMF_PAPERS does not name a folder with the papers' text"
)
@every
def test_each_quotation_is_in_the_text(paper, algorithm):
    text = plain((Path(FOLDER) / f"{paper}.txt").read_text(encoding="utf-8"))
    for deviation in DEVIATIONS[paper, algorithm]:
        for quotation in re.findall("“(.*?)”", deviation.paper):
            assert plain(quotation) in text
