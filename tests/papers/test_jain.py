"""Jain et al.'s claims ask what their source measured, on data as it describes them."""

import math

import numpy as np
import pytest

from dpmf_core.papers.clauses import Mean, Median
from dpmf_core.papers.jain_2018.claims import TRUE_NORM
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.runs.sweep import Summary
from dpmf_datasets.simulated.low_rank import rankone

PANELS = {name: claim for name, claim in CLAIMS.items() if name.startswith("jain-fig")}


RESULTS = [
    Summary(label, "dpfw", epsilon, {}, (0.5,))
    for label in ("DPFW", "DPFW as in the source", "SVD after cleansing", "Private PGD")
    for epsilon in (1.0, 10.0)
]


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_is_the_sources_experiment(name: str) -> None:
    claim = PANELS[name]
    (sweep,) = claim.sweeps(True)
    own = {method.algorithm for method in sweep.methods}
    assert {"dpfw", "svd-cleansing", "private-pgd", "fw"} <= own
    assert (sweep.delta, sweep.split.test_fraction) == (1e-6, 0.01)
    is_simulation = name in ("jain-fig2a", "jain-fig3a")
    assert len(sweep.seeds) == (1 if is_simulation else 10), (
        "the source's ten; one says that it is one"
    )
    assert ("of one draw" in claim.judge(RESULTS).remark) == is_simulation
    assert sweep.data.most_per_user == (None if name == "jain-fig2b" else 80)
    assert {m.parameters["steps"] for m in sweep.methods if m.algorithm == "fw"} == {400}
    own_accounting = {method.label for method in sweep.methods if method.calibration is None}
    assert {"DPFW", "SVD after cleansing", "Private PGD"} <= own_accounting, (
        "exactly accounted alike"
    )


def test_the_nuclear_norm_of_the_simulated_set_is_a_third() -> None:
    n, m = 3_000, 900
    data = rankone(n, m, p=1.0)
    singular = np.linalg.svd(data.values.reshape(n, m).astype(float), compute_uv=False)
    assert singular[1] < 1e-4 * singular[0]
    assert singular[0] / math.sqrt(n * m) == pytest.approx(TRUE_NORM["nuclear_norm"], rel=0.05)


def test_a_mean_of_draws_is_no_median() -> None:
    results = [Summary("A", "dpfw", 1.0, {}, (0.1, 0.2, 0.6))]
    assert Mean("A", 1.0)(results) == pytest.approx(0.3)
    assert Median("A", 1.0)(results) == 0.2
