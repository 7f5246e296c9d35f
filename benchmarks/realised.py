"""How much of each declared sensitivity somebody can use: `python -m benchmarks.realised [ALGORITHM
...]`.

For every private algorithm, with the parameters it recommends and with options changed, a row is
searched whose coming moves an exact statistic furthest while all releases are held fixed; crafted
rows first, then the best of them changed at random. Printed is the furthest move over the declared
one (1: tight; more: a fault), the same for replacing one row by another, and the mu that a single
row realises over all releases together, over the mu that is paid for. Below 1 is noise that nobody
needs, or a search that did not find the worst row; where a bound stays loose on purpose, the table
says why.

`python -m benchmarks.realised --ranges` draws all parameters and the noise log-uniformly from one
end of their range to the other instead, and prints the furthest move over the declared one.
"""

import argparse
import itertools
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.realised_worlds import HIGH, LOW, RatingsWorld, Row, SamplesWorld, World
from benchmarks.report import save
from dpmf_core.algorithms import REGISTRY, Algorithm, PrivateAlgorithm, build
from dpmf_core.kernels import single_threaded_blas
from dpmf_core.privacy import VALUE, Budget, calibrate
from dpmf_core.testing.curator_laws import check_units
from dpmf_core.testing.homes import homes_of
from dpmf_core.testing.parameters import from_whole_range
from dpmf_core.testing.probes import Outcome, pairs, record, replay

SAID_LOOSE = 0.99
TOGETHER = "all together"


@dataclass
class FurthestMoves:
    """The furthest moves over what is declared, by statistic and together; rows: whose they
    were.
    """

    additions: dict[str, float] = field(default_factory=dict)
    exchanges: dict[str, float] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)

    def note(self, shares: dict[str, float], row: Row) -> None:
        for name, share in shares.items():
            if share > self.additions.get(name, -1.0):
                self.additions[name], self.rows[name] = share, row

    def note_exchange(self, shares: dict[str, float]) -> None:
        for name, share in shares.items():
            self.exchanges[name] = max(share, self.exchanges.get(name, 0.0))


def moves(
    algorithm: Algorithm, before: Outcome, data: Any, level: float, is_exchange: bool = False
) -> dict[str, float]:
    """By statistic: the largest move over the declared one, all releases being those of `before`.

    Together: the realised mu over the planned one.
    """
    out: dict[str, float] = {}
    realised_square = planned_square = 0.0
    for own, met in pairs(before, replay(algorithm, data, before, level=level)):
        gap = np.ravel(own.statistic - met.statistic)
        share = float(np.abs(gap).sum() if own.leaf.mechanism == "Laplace" else np.linalg.norm(gap))
        share /= own.leaf.sensitivity * (own.leaf.replace_one_factor if is_exchange else 1.0)
        out[own.leaf.statistic] = max(out.get(own.leaf.statistic, 0.0), share)
        realised_square, planned_square = (
            realised_square + (share / own.leaf.noise_multiplier) ** 2,
            planned_square + own.leaf.noise_multiplier**-2,
        )
    return out | {TOGETHER: math.sqrt(realised_square / planned_square)}


def search(
    algorithm: Algorithm,
    worlds: list[World],
    levels: tuple[float, ...],
    climbs: int = 10,
    seed: int = 0,
) -> FurthestMoves:
    """Crafted rows in every world at every level of noise; then the best row of each loose
    statistic, changed again and again where it was found.
    """
    rng, worst = np.random.default_rng(seed), FurthestMoves()
    for world in worlds:
        nobody = np.full(world.columns, np.nan)
        for level in levels:
            before, here = record(algorithm, world.data_with(nobody), level=level), FurthestMoves()
            for row in itertools.chain(world.rows(rng), world.along(before.model)):
                here.note(moves(algorithm, before, world.data_with(row), level), row)
            for name in [
                name
                for name, share in here.additions.items()
                if max(share, worst.additions.get(name, 0.0)) < SAID_LOOSE
            ]:
                for _ in range(climbs):
                    row = world.variation(here.rows[name], rng)
                    here.note(moves(algorithm, before, world.data_with(row), level), row)
            for name, row in here.rows.items():
                worst.note({name: here.additions[name]}, row)
            for one, other in world.exchanges():
                worst.note_exchange(
                    moves(
                        algorithm,
                        record(algorithm, world.data_with(one), level=level),
                        world.data_with(other),
                        level,
                        is_exchange=True,
                    )
                )
    return worst


def by_value(algorithm: Algorithm, world: World, level: float) -> FurthestMoves:
    """Where who rated what is public: another value of one rating, from one end of the scale to
    the other.
    """
    worst, row = FurthestMoves(), np.full(world.columns, LOW)
    before = record(algorithm, world.data_with(row), level=level)
    worst.note(
        moves(
            algorithm,
            before,
            world.data_with(np.where(np.arange(world.columns) == 0, HIGH, LOW)),
            level,
        ),
        row,
    )
    return worst


# ---- what is searched ----------------------------------------------------------------------------

OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "spectral": (
        {"implicit": True},
        {"release": "iteration", "rounds": 2, "rank": 3},
        {"biases": False},
        {"items_kept": 4},
        {"refinement_steps": 2, "rank": 3},
    ),
    "dpals": (
        {"frequent_fraction": 0.2, "ratings_per_user": 20},
        {"sampling": "adaptive", "ratings_per_user": 4},
        {"biases": False, "centring": "global"},
        {"unobserved_weight": 0.2},
        {"start": "private-svd"},
        {"start": "spectral", "orthonormalise": False},
    ),
    "ada-dpals": (
        {"rarity_exponent": 1.0, "ratings_per_user": 7},
        {"biases": False, "frequent_fraction": 0.2},
    ),
    "dp-sgd": ({"biases": False, "user_regularisation": 0.1},),
    "sgld": ({"biases": False, "prediction_ridge": 1.0},),
    "dpfw": ({"noise_schedule": "growing", "slack": True},),
    "dpfw-oja": ({"noise_schedule": "growing"},),
    "svd-cleansing": ({"ratings_per_user": 3}, {"ratings_per_user": 1000}),
    "private-pgd": ({"step_size": 40.0},),
    "dp-nmf": ({"start": "private-svd"}, {"outliers": True}),
}

WHY: dict[tuple[str, str], str] = {
    ("local-bias", "every user's message"): "tight for replacing her, which local privacy is about",
    ("local-bias", TOGETHER): "tight for replacing her, which local privacy is about",
    ("dpfw-oja", TOGETHER): "the vector moves with every step, and no row lies along all of them",
    (
        "dp-nmf",
        TOGETHER,
    ): (
        "only a sample that is one of the parts reaches the bound, and the parts move from step to"
        " step"
    ),
    (
        "dp-nmf",
        "coefficients times samples",
    ): "reached by a sample that is a part of its own; noise and outliers leave none",
    (
        "dp-nmf",
        "second moment of the coefficients",
    ): "reached by a sample that is a part of its own; noise and outliers leave none",
}


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    algorithm: str
    parameters: str
    statistic: str
    added: float
    replaced: float | None
    each_tight: bool

    @property
    def words(self) -> str:
        if self.added >= SAID_LOOSE:
            return "tight"
        if self.statistic == TOGETHER and self.each_tight:
            return WHY.get(
                (self.algorithm, TOGETHER),
                "every release alone is tight; no row was found that is the worst for all of them",
            )
        return WHY.get((self.algorithm, self.statistic), "LOOSE")


def lines(name: str) -> Iterator[Line]:
    """An algorithm as it recommends itself to small and to wide data at small and large
    budgets, and with its options changed.
    """
    kind = REGISTRY[name]
    small, wide = _worlds(kind, wide=False), _worlds(kind, wide=True)
    cases = [
        (small, {}, 1.0),
        *((wide, {}, epsilon) for epsilon in (0.1, 20.0)),
        *((small, parameters, 1.0) for parameters in OPTIONS.get(name, ())),
    ]
    for worlds, parameters, epsilon in cases:
        shape = worlds[0].data_with(np.full(worlds[0].columns, 1.0)).shape
        budget = Budget(epsilon=epsilon, delta=1e-5)
        algorithm = build(name, parameters, shape, budget)
        level = calibrate(lambda at, of=algorithm, to=shape: of.plan(to, at), budget)  # type: ignore[misc]
        value = algorithm.guarantee().unit == VALUE
        worst = (
            by_value(algorithm, worlds[0], level)
            if value
            else search(algorithm, worlds, (level, 0.01))
        )
        title = (
            ", ".join(f"{key} {value}" for key, value in parameters.items())
            or f"as recommended, ε {epsilon:g}, {worlds[0].columns} columns"
        )
        all_tight = all(
            share >= SAID_LOOSE
            for statistic, share in worst.additions.items()
            if statistic != TOGETHER
        )
        for statistic, share in worst.additions.items():
            yield Line(name, title, statistic, share, worst.exchanges.get(statistic), all_tight)


def _worlds(kind: type[Algorithm], wide: bool) -> list[World]:
    kinds = ("mixed", "alike", "empty")
    if kind.task == "samples":
        return [
            SamplesWorld(which, 60 if wide else 30, (6, 8) if wide else (4, 4)) for which in kinds
        ]
    return [RatingsWorld(which, *((300, 80) if wide else (40, 24))) for which in kinds]


def private() -> list[str]:
    """Algorithms that release something under a proof."""
    return [
        name
        for name, kind in REGISTRY.items()
        if issubclass(kind, PrivateAlgorithm) and kind().guarantee().has_epsilon
    ]


# ---- from one end of every range to the other ----------------------------------------------------

DRAWS = 200


def over_ranges(kind: type[Algorithm]) -> dict[str, Any]:
    """The furthest move of any unit, over `DRAWS` draws of parameters and noise on each kind of
    data.

    Raises AssertionError where a unit moves a release further than declared, or all releases
    together further than the accountant counts.
    """
    furthest: tuple[float, str] = (0.0, "")
    fits = 0
    for home in homes_of(kind):
        rng = np.random.default_rng([zlib.crc32(kind.id.encode()), zlib.crc32(home.name.encode())])
        for draw in range(DRAWS):
            world = home.world(draw, draw % 3)
            algorithm = kind(**from_whole_range(kind, world.shape, rng))
            level = 10.0 ** rng.uniform(-2, 4)
            if not algorithm.guarantee().has_epsilon or algorithm.guarantee().unit == VALUE:
                continue
            shares = check_units(algorithm, world, level=level, home=home)
            fits += 1
            furthest = max([furthest, *((share, name) for name, share in shares.items())])
    return {"algorithm": kind.id, "fits": fits, "furthest": furthest[0], "statistic": furthest[1]}


def print_ranges(names: list[str]) -> None:
    rows = []
    for name in names:
        row = over_ranges(REGISTRY[name])
        if row["fits"]:
            rows.append(row)
            print(
                f"{name:18} {row['fits']:5} {row['furthest']:.7f}  {row['statistic']}", flush=True
            )
    save("realised-ranges", {"draws": DRAWS, "rows": rows})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithms", nargs="*", default=private())
    parser.add_argument("--ranges", action="store_true")
    arguments = parser.parse_args()
    names = arguments.algorithms
    if arguments.ranges:
        with single_threaded_blas:
            print_ranges(names)
        return
    print(f"{'algorithm':18} {'statistic':26} {'added':>7} {'replaced':>8}  parameters: remark")
    table = []
    with single_threaded_blas:
        for name in names:
            for line in lines(name):
                table.append(line)
                exchange_text = "" if line.replaced is None else f"{line.replaced:8.3f}"
                print(
                    f"{line.algorithm:18} {line.statistic:26} {line.added:7.3f} {exchange_text:>8} "
                    f" {line.parameters}: {line.words}",
                    flush=True,
                )
    if set(names) == set(private()):
        save("realised", {"lines": [vars(line) | {"remark": line.words} for line in table]})


if __name__ == "__main__":
    main()
