"""What a notebook shows of runs, sweeps, guarantees and accounts: the figures, escaped, and nothing
raw of private data.
"""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from dpmf_core import account, fit, sweep
from dpmf_core.api import Swept
from dpmf_core.errors import BadInput
from dpmf_core.privacy import Guarantee, Status
from dpmf_core.runs.notebook_views import chart_of_sweep, html_of_sweep
from dpmf_core.runs.record import Run
from dpmf_core.testing.worlds import low_rank
from tests.privacy.test_odometer import independently


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))


@pytest.fixture(scope="module")
def public() -> Run:
    return fit(low_rank(n_users=200), "dpals", epsilon=3.0, delta=1e-6, rank=2, steps=3)


def points_of(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each line, in the figure's own units."""
    lines = re.findall(r'<polyline[^>]* points="([^"]*)"', svg)
    return [[tuple(map(float, it.split(","))) for it in line.split()] for line in lines]  # type: ignore[misc]


def test_a_run_is_one_line_and_a_page(public: Run) -> None:
    rmse = public.record.metrics["rmse"]
    assert repr(public) == (
        "<Run: DPALS on ratings, ε = 3.00 (δ = 1e-6, per user, add/remove, exact),"
        f" RMSE {rmse:.4f}>"
    )
    page = public._repr_html_()
    assert "PROVEN" in page and f"{rmse:.4g}" in page and page.count("<table>") == 3
    assert all(f"<td>{row.title}</td>" in page for row in public.record.ledger)
    assert public.record._repr_html_() in page


def test_of_private_data_nothing_raw_is_shown() -> None:
    data = replace(low_rank(n_users=200), public=False, name="<b>mine</b>")
    run = fit(data, "private-bias", epsilon=1.0, delta=1e-6)
    page, rmse = run._repr_html_(), run.record.metrics["rmse"]
    assert rmse is not None
    for view in (page, repr(run)):
        assert f"{rmse:.3f}" not in view and run.key not in view
    assert "Errors are not shown" in page and "<b>mine" not in page
    with pytest.raises(BadInput, match="no figures by step to draw"):
        run.plot()
    result = sweep(data, ["private-bias"], epsilons=[1.0], delta=1e-6)
    assert f"{rmse:.3f}" not in result._repr_html_()
    with pytest.raises(BadInput, match="noisy_errors"):
        result.plot()
    view = account(data)._repr_html_()
    assert "Private biases" in view and "<table>" in view
    two_runs = [row for row in run.record.ledger for _ in range(2 * row.count)]
    noise = [row.noise_multiplier for row in two_runs]
    epsilon = independently(noise, 1e-6)
    total = f"ε = {epsilon:.2f} (δ = 1e-6, per user, add/remove, exact)"
    assert total in view and repr(account(data)) == f"<Account: {total}>"


def test_records_and_guarantees_are_one_line(public: Run) -> None:
    loss = "ε = 3.00 (δ = 1e-6, per user, add/remove, exact)"
    count = sum(row.count for row in public.record.ledger)
    assert repr(public.record) == f"<RunRecord: {loss}, {count} releases>"
    promise = Guarantee(Status.PROVEN)
    assert repr(promise) == f"<Guarantee: PROVEN. {promise.words}>"


def test_without_a_proof_no_epsilon_is_shown() -> None:
    run = fit("cinema-small", "als", keep=False)
    assert "NONE: no ε" in repr(run)
    assert not re.search(r"ε = \d", run._repr_html_() + repr(run))
    assert "Not private" in run.record.guarantee.words


def test_a_run_is_drawn_by_step(public: Run, tmp_path: Path) -> None:
    chart = public.plot()
    (line,) = points_of(chart.svg)
    curve = [float(it["test_rmse"] or 0) for it in public.record.curves]
    assert len(line) == len(curve) == 3
    heights = [y for _, y in line]
    order = sorted(range(3), key=curve.__getitem__)
    assert sorted(range(3), key=lambda j: -heights[j]) == order  # down is less
    ElementTree.parse(chart.save(tmp_path / "run.svg"))
    assert chart._repr_html_() == chart.svg and "svg" not in repr(chart)
    with pytest.raises(BadInput, match=r"The figures by step are .*test_rmse.*Got 'rsme'"):
        public.plot("rsme")
    with pytest.raises(BadInput, match="cannot be saved"):
        chart.save(tmp_path / "no" / "way.svg")


def test_a_sweep_is_drawn_against_epsilon() -> None:
    result: Swept = sweep(
        "cinema-small", ["private-bias", "bias", "sgld"], epsilons=[1, 5], seeds=range(2)
    )
    chart = result.plot()
    frame = result.frame()
    proven = set(frame[frame["exact_epsilon"].notna()]["label"]) | {"bias"}
    names = re.findall(r'font-size="13">([^<]*)<', chart.svg)
    assert set(names) == proven and len(names) == len(points_of(chart.svg))
    figures = frame[frame["label"].isin(proven)]
    medians: dict[Any, float] = {
        key: median(rows["rmse"])
        for key, rows in figures.groupby(["label", "epsilon"], dropna=False)
    }
    low, high = min(medians.values()), max(medians.values())
    assert f">{low:.3f}<" in chart.svg and f">{high:.3f}<" in chart.svg
    level = points_of(chart.svg)[names.index("bias")]
    assert len(level) == 2 and level[0][1] == level[1][1]
    assert repr(result) == "<Swept: 10 runs of private-bias, bias, sgld>"
    assert result._repr_html_().count("<tr>") == 10  # the header's has a style
    frame = frame.assign(epsilon=7.25, exact_epsilon=float("nan"))  # as if none were proved
    assert "7.25" not in html_of_sweep("title", frame)
    with pytest.raises(BadInput, match="No run of this sweep has a proven epsilon"):
        chart_of_sweep(frame)
    with pytest.raises(BadInput, match="nothing to draw against"):
        sweep("cinema-small", ["bias"]).plot()


def test_a_grid_is_a_line_for_each_point() -> None:
    result = sweep("cinema-small", ["dpals"], epsilons=[2, 8], grid={"rank": [2, 4]})
    names = re.findall(r'font-size="13">([^<]*)<', result.plot("mae").svg)
    assert names == ["dpals, rank = 2", "dpals, rank = 4"]


def test_a_guarantee_is_a_table() -> None:
    from dpmf_core.algorithms import find

    page = find("dpals")().guarantee()._repr_html_()
    assert "PROVEN" in page and "the rating bounds" in page
