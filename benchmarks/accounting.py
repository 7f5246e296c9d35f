"""Latency of accounting, beside dp_accounting on the same plans: `python -m
benchmarks.accounting`.
"""

import statistics
import time
from collections.abc import Callable

from benchmarks.report import save
from dpmf_core.algorithms import build
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Budget, Event, Relation, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.rules import every_epsilon

SHAPE, BUDGET = Shape(20_000, 400, (0.5, 5.0)), Budget(epsilon=2, delta=1e-6)


def median_ms(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def pld(event: Event) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    for leaf, count in normal_form(event):
        accountant.compose(dp_event.GaussianDpEvent(leaf.noise_multiplier), count)
    return float(accountant.get_epsilon(BUDGET.delta))


def main() -> None:
    algorithm = build("dpals", {}, SHAPE, BUDGET)
    level = calibrate(lambda at: algorithm.plan(SHAPE, at), BUDGET)
    event = algorithm.plan(SHAPE, level)
    ours, theirs = epsilon(event, BUDGET.delta), pld(event)
    rows = {
        "epsilon of a plan, exact": median_ms(lambda: epsilon(event, BUDGET.delta), 200),
        "epsilon of a plan, every rule": median_ms(
            lambda: every_epsilon(event, BUDGET.delta, Relation.ADD_REMOVE), 200
        ),
        "calibration of a plan": median_ms(
            lambda: calibrate(lambda at: algorithm.plan(SHAPE, at), BUDGET), 100
        ),
        "epsilon of the same plan, dp_accounting PLD": median_ms(lambda: pld(event), 5),
    }
    save(
        "accounting",
        {"milliseconds": rows, "epsilon": {"exact": ours, "dp_accounting PLD": theirs}},
    )
    print("| work | median |\n|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value:.3f} ms |")
    print(f"\nepsilon: exact {ours:.6f}, PLD {theirs:.6f}")


if __name__ == "__main__":
    main()
