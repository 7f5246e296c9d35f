"""What a notebook shows of runs, sweeps, guarantees and accounts: the figures, escaped, and nothing
raw of private data.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpmf_core import account, fit, plot, sweep
from dpmf_core.base.errors import BadInput
from dpmf_core.runs.notebook_views import html_of_run
from dpmf_core.testing.worlds import low_rank
from tests.support.gaussian import epsilon_of


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))


def test_of_private_data_nothing_raw_is_shown() -> None:
    data = replace(low_rank(n_users=200), public=False, name="<b>mine</b>")
    run = fit(data, "private-bias", epsilon=1.0, delta=1e-6)
    page, rmse = html_of_run(run), run.record.metrics["rmse"]
    for view in (page, repr(run)):
        assert f"{rmse:.3f}" not in view and run.key not in view
    assert "<b>mine" not in page
    with pytest.raises(BadInput):
        plot(run)
    result = sweep(data, ["private-bias"], epsilons=[1.0], delta=1e-6)
    assert f"{rmse:.3f}" not in result._repr_html_()
    with pytest.raises(BadInput, match="noisy_errors"):
        result.plot()
    view = account(data)._repr_html_()
    assert "Private biases" in view and "<table>" in view
    two_runs = [row for row in run.record.ledger for _ in range(2 * row.count)]
    noise = [row.noise_multiplier for row in two_runs]
    epsilon = epsilon_of(noise, 1e-6)
    total = f"ε = {epsilon:.2f} (δ = 1e-6, per user, add/remove, exact)"
    assert total in view and repr(account(data)) == f"<Account: {total}>"


def test_without_a_proof_no_epsilon_is_shown() -> None:
    run = fit("cinema-small", "als", keep=False)
    assert "NONE: no ε" in repr(run)
    assert not re.search(r"ε = \d", html_of_run(run) + repr(run))
