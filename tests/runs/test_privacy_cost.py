"""What privacy costs, against arithmetic by hand."""

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.comparison import references
from dpmf_core.runs.epsilon_grid import BEST_KNOWN, OPEN, PRIVATE, TRIVIAL, grid_runs, read_grid
from dpmf_core.runs.privacy_cost import PrivacyCost, best_known
from dpmf_core.runs.specification import RunSpec

RMSE, RECALL = METRICS["rmse"], METRICS["recall_at_20"]


def test_noise_and_method_add_up_to_what_the_private_run_loses() -> None:
    """Medians: .90 in private, .86 without noise, .80 best known, 1.00 by guessing."""
    draws = [(0.90, 0.86, 0.80, 1.00), (0.88, 0.87, 0.79, 1.01), (0.95, 0.85, 0.82, 0.99)]
    cost = PrivacyCost.of(RMSE, draws)
    assert (cost.noise, cost.method, cost.total) == (0.04, 0.06, 0.1)
    # of the draws: .1 / .2, .13 / .22 and .04 / .17
    assert cost.share == pytest.approx(0.5)
    for figure in ("0.040", "0.060", "0.100", "ALS"):
        assert figure in cost.words("ALS")


def test_where_more_is_better_less_of_it_is_the_cost() -> None:
    cost = PrivacyCost.of(RECALL, [(0.20, 0.30, 0.36, 0.10)])
    assert (cost.noise, cost.method, cost.total) == (0.1, 0.06, 0.16)
    assert " less than " in cost.words("EASE")
    assert cost.share == pytest.approx(0.1 / 0.26)


def test_printed_figures_add_up_although_each_is_rounded() -> None:
    """Unrounded the noise costs .0006 and the method .0006: together .0012, which is not .001."""
    cost = PrivacyCost.of(RMSE, [(0.9014, 0.9008, 0.9002, 1.0)])
    assert cost.noise + cost.method == pytest.approx(cost.total)
    texts = [float(RMSE.text(it)) for it in (cost.noise, cost.method, cost.total)]
    assert texts[0] + texts[1] == pytest.approx(texts[2])


def test_the_best_known_depends_on_what_is_asked() -> None:
    assert best_known("rmse") == "bmf"
    assert best_known("rmse", in_parts=True) == "als"
    assert best_known("recall_at_20") == best_known("ndcg_at_20") == "ease"
    assert best_known("objective", "samples") == "nmf"
    assert best_known("objective", "samples", outliers=True) == "robust-nmf"
    with pytest.raises(BadInput):
        best_known("colour")


def test_a_grid_says_what_noise_and_method_cost_at_each_epsilon() -> None:
    """Of the draws that all four have."""
    spec = RunSpec.of(dataset="cinema-small", algorithm="dpals", epsilon=2.0, delta=1e-5)
    assert references(spec)[OPEN] == spec.open()
    runs = grid_runs(spec, (1.0, 4.0), draws=2)
    figures = {(PRIVATE, 1.0): 0.95, (PRIVATE, 4.0): 0.88, (OPEN, None): 0.85}
    figures |= {(BEST_KNOWN, None): 0.80, (TRIVIAL, None): 1.0}

    def summary(of: tuple[str, float | None], draw: int) -> dict[str, object] | None:
        if of == (OPEN, None) and draw == 1:
            return None
        return {"key": "", "seed": draw, "epsilon": of[1], "metrics": {"rmse": figures[of] + draw}}

    grid = read_grid(runs, [summary((it.who, it.epsilon), it.draw) for it in runs], "rmse")
    assert grid.open == (0.85,)
    costs = [point.cost for point in grid.points]
    assert [(it.noise, it.method) for it in costs if it] == [(0.1, 0.05), (0.03, 0.05)]
    assert [it.share for it in costs if it] == pytest.approx([0.25, 0.6])
