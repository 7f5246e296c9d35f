"""Notebooks that do runs again, and what a notebook shows of runs, sweeps and accounts."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dpmf import account, fit, plot, sweep
from dpmf_core.base.errors import BadInput
from dpmf_core.runs.execution import run
from dpmf_core.runs.notebook_views import html_of_run
from dpmf_core.runs.reports import notebook_of_run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.gaussian import epsilon_of
from tests.support.notebooks import check_format, execute

CHOICES = {
    "epsilon": 5,
    "delta": 5e-5,
    "rank": 2,
    "steps": 2,
    "seed": 3,
}
SPEC = RunSpec.of(dataset="cinema-small", algorithm="dpals", **CHOICES)


def numbers(axis):
    """Of an axis as Plotly packs it."""
    return np.frombuffer(base64.b64decode(axis["bdata"]), axis["dtype"]).tolist()


@pytest.mark.slow
def test_a_run_comes_again_with_its_figures(tmp_path):
    record = run(SPEC).record
    text = notebook_of_run(record)
    check_format(text)
    output = execute(text, tmp_path)
    words = output.text
    assert f"held-out RMSE {record.metrics['rmse']:.3f}." in words
    assert "epsilon = 5.00 (delta = 5e-5, per user, add/remove, exact)" in words
    ((curve, *_),) = (figure["data"] for figure in output.figures)
    assert numbers(curve["x"]) == [point["step"] for point in record.curves]


def test_hostile_words_stay_literals():
    """What a record names enters the code as a literal: no line of its own, no closed string."""
    nasty = SPEC.model_copy(
        update={"data": SPEC.data.model_copy(update={"id": "x'\n)\nimport os\n#"})}
    )
    record = run(SPEC).record.model_copy(update={"spec": nasty})
    cells = json.loads(notebook_of_run(record))["cells"]
    for cell in cells:
        assert "\nimport os\n" not in "".join(cell["source"])


pytestmark = pytest.mark.usefixtures("data_folder")


def test_an_account_shows_the_total_of_all_releases_on_private_data():
    data = replace(
        low_rank(n_users=200),
        public=False,
        name="<b>mine</b>",
    )
    run = fit(
        data,
        "private-bias",
        epsilon=1.0,
        delta=1e-6,
    )
    assert "<b>mine" not in html_of_run(run)
    with pytest.raises(BadInput):
        plot(run)
    result = sweep(
        data,
        ["private-bias"],
        epsilons=[1.0],
        delta=1e-6,
    )
    with pytest.raises(BadInput, match="noisy_errors"):
        result.plot()
    two_runs = [row for row in run.record.ledger for _ in range(2 * row.count)]
    epsilon = epsilon_of([row.noise_multiplier for row in two_runs], 1e-6)
    assert account(data).total.epsilon == pytest.approx(epsilon, rel=1e-6)


def test_without_a_proof_no_epsilon_is_shown():
    run = fit("cinema-small", "als", keep=False)
    assert "NONE: no ε" in repr(run)
    assert not re.search(r"ε = \d", html_of_run(run) + repr(run))
