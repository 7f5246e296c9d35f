"""What Choose says of private data before anything is paid, next to the truth on ten data sets.

`python -m benchmarks.advice [SET ...]` records, for each set and epsilon, what the recommended
method brings, what measuring it with noise shows, the range that the simulated worlds of the set's
shape give for it, and what the method loses against the best of `RIVALS`. All errors are those of a
person, as a measurement counts them. Only the declared shape goes into the range. Sets named
"check" are those that nothing was chosen on. `--ranges` records the ranges alone again, which takes
half a minute a set.
"""

import argparse
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import dpmf
from benchmarks.advice_sets import CHECKS, SETS, Tested
from benchmarks.report import RESULTS
from dpmf_core.cli.run_commands import finish
from dpmf_core.curator import Blocks, OpenCurator
from dpmf_core.data.catalogue import lent
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NOTHING, Event, Noise, default_delta
from dpmf_core.privacy.odometer import HELD_OUT_ERRORS
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measured_fall import RADIUS, event, exact_fall, noisy_fall
from dpmf_core.runs.noisy_errors import people_of
from dpmf_core.runs.paired_errors import PairedErrors, PairedSums
from dpmf_core.runs.record import Run
from dpmf_core.runs.tuning.choosing.unpaid_range import (
    RIVALS,
    DeclaredShape,
    UnpaidRange,
    WorldRuns,
)

FILE = RESULTS / "advice.csv"
OURS = RIVALS[0]
EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0)
MEASURED = (0.1, 0.3)  # epsilons of a measurement
NOISE_DRAWS = 200  # of a measurement, over all splits
REFERENCES = ("bmf", "als")
NO_EPSILON = 0.0
ERROR = "person_rmse"
FLOOR = "trivial_person_rmse"
NO_NOISE = 1e-9  # a deviation


# ---- the truth -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """The medians over splits: of each method's error at each epsilon, and of the floor.

    measured: the columns of a measurement of the recommended method, by epsilon.
    """

    errors: Mapping[tuple[str, float], float]
    floor: float
    measured: Mapping[float, dict[str, float]]

    @classmethod
    def of(cls, tested: Tested, ratings: Ratings) -> "Truth":
        delta = default_delta(ratings.n_users)
        errors: dict[tuple[str, float], float] = {}
        measured: dict[float, dict[str, float]] = {}
        runs: list[Run] = []
        for name in REFERENCES:
            runs = [
                dpmf.fit(ratings, name, seed=seed, keep=False) for seed in tested.seeds
            ]
            errors[name, NO_EPSILON] = _median(runs, ERROR)
        for name in RIVALS:
            for epsilon in EPSILONS:
                private_runs = [
                    dpmf.fit(
                        ratings,
                        name,
                        epsilon=epsilon,
                        delta=delta,
                        seed=seed,
                        keep=False,
                    )
                    for seed in tested.seeds
                ]
                errors[name, epsilon] = _median(private_runs, ERROR)
                if name == OURS:
                    measured[epsilon] = _measured_columns(private_runs, ratings)
        return cls(errors, _median(runs, FLOOR), measured)

    def columns(self, epsilon: float) -> dict[str, Any]:
        """What the recommended method brings and loses at an epsilon."""
        errors = self.errors
        worth = self.floor - min(
            errors[reference, NO_EPSILON] for reference in REFERENCES
        )
        fall = self.floor - errors[OURS, epsilon]
        best = min(RIVALS, key=lambda method: errors[method, epsilon])
        lost = errors[OURS, epsilon] - errors[best, epsilon]
        others = {
            f"{method}_lost_share": (errors[method, epsilon] - errors[best, epsilon])
            / worth
            for method in RIVALS[1:]
        }
        return {
            "fall": fall,
            "worth": worth,
            "share": fall / worth,
            "best": best,
            "lost": lost,
            "lost_share": lost / worth,
            **others,
            **self.measured[epsilon],
        }


def _median(runs: Iterable[Run], metric: str) -> float:
    return statistics.median(run.record.metric(metric) for run in runs)


# ---- what a measurement shows --------------------------------------------------------------------


@dataclass(frozen=True)
class _Predicted:
    """A model whose predictions of all held-out ratings are known."""

    predictions: Any

    def personal(self, history: Ratings) -> None:
        return None

    def predict(self, personal: None, users: Any, items: Any) -> Any:
        return self.predictions


def _measured_columns(runs: Sequence[Run], ratings: Ratings) -> dict[str, float]:
    """The measured figures of the runs, as if their data were private.

    figure: the median of the named figure, which clipping defines. width: of the interval, the
    median. coverage, fall_coverage: the share of draws whose interval holds the named figure, and
    the fall without clips.
    """
    columns: dict[str, float] = {}
    by_level: dict[float, list[pd.DataFrame]] = {level: [] for level in MEASURED}
    for run in runs:
        with lent(run.spec.data.id, ratings):
            people = people_of(run)
        model = _with_predictions(run, people)
        assert run.spec.budget is not None
        for level, tables in by_level.items():
            releases = event(run.spec.budget, level)
            place = f"{ratings.name} {run.spec.budget.epsilon} {level}"
            numbers = range(run.spec.seed, NOISE_DRAWS, len(runs))
            seeds = [
                np.random.SeedSequence([number, *place.encode()]) for number in numbers
            ]
            tables.append(_draws(people, model, releases, seeds))
    for level, tables in by_level.items():
        draws = pd.concat(tables)
        for name in ("figure", "width"):
            columns[f"{name}_{level:g}"] = float(draws[name].median())
        for name in ("coverage", "fall_coverage"):
            columns[f"{name}_{level:g}"] = float(draws[name].mean())
    return columns


def _with_predictions(run: Run, people: Blocks) -> _Predicted:
    (block,) = people.blocks
    held_out = block.tables["test"]
    own = run.model.personal(block.tables["history"])
    return _Predicted(run.model.predict(own, held_out.users, held_out.items))


def _draws(
    people: Blocks,
    model: _Predicted,
    releases: Event,
    seeds: Iterable[np.random.SeedSequence],
) -> pd.DataFrame:
    """One row for each seed of the noise."""
    exact = exact_fall(people, model)
    figure = _named_figure(people, model, releases, exact.constant)
    rows = []
    for seed in seeds:
        shown = noisy_fall(people, model, Noise(releases, seed))
        rows.append(
            {
                "figure": figure,
                "width": shown.high - shown.low,
                "coverage": shown.low <= figure <= shown.high,
                "fall_coverage": shown.low <= exact.value <= shown.high,
            }
        )
    return pd.DataFrame(rows)


def _named_figure(
    people: Blocks, model: _Predicted, releases: Event, constant: float
) -> float:
    """The figure that clipping defines, without noise and with the best constant."""
    multiplier = Noise(releases).next_release(HELD_OUT_ERRORS).noise_multiplier
    statistic = PairedErrors.of(people.shape.n_units, multiplier, RADIUS)
    curator = OpenCurator(people, Noise(NOTHING), {})
    sums = curator.total(statistic, model, constant)
    exact_sums = PairedSums(
        statistic,
        tuple(sums.tolist()),
        NO_NOISE,
        people.shape.half_range,
        has_constant=True,
    )
    return exact_sums.fall.value


# ---- the unpaid range ----------------------------------------------------------------------------


def unpaid(tested: Tested, ratings: Ratings) -> UnpaidRange:
    """The range of the shape, which a person would declare, and nothing else of the ratings."""
    each = len(ratings.values) / ratings.n_users
    shape = DeclaredShape(
        ratings.n_users, ratings.n_items, round(each), ratings.bounds, tested.step
    )
    delta = default_delta(ratings.n_users)
    runs = WorldRuns(shape, EPSILONS, delta, methods=RIVALS[:2])
    finished_runs, failures = finish(runs.points)
    if failures:
        raise failures[0]
    result = UnpaidRange.of(runs, Draws.of_runs(runs.points, finished_runs))
    assert result is not None  # every run has finished
    return result


def range_columns(expected: UnpaidRange, epsilon: float) -> dict[str, Any]:
    """The range at an epsilon, and the shape that it is of."""
    gain = expected.gain(epsilon)
    worth = expected.worth
    share = expected.share(epsilon)
    shape = expected.runs.shape
    return {
        "users": shape.n_users,
        "items": shape.n_items,
        "each": shape.each,
        "fall_low": gain.low,
        "fall_high": gain.high,
        "worth_low": worth.low,
        "worth_high": worth.high,
        "share_low": None if share is None else share.low,
        "share_high": None if share is None else share.high,
        "lost_in_worlds": _lost_in_worlds(expected, epsilon),
    }


def _lost_in_worlds(expected: UnpaidRange, epsilon: float) -> float:
    """The most that the method loses in a world against another that was tried, in stars."""
    own = expected.gains(epsilon)
    return max(
        other - one
        for method in RIVALS[:2]
        for other, one in zip(expected.gains(epsilon, method), own, strict=True)
    )


# ---- the file ------------------------------------------------------------------------------------


def rows_of(name: str, tested: Tested, *, ranges_alone: bool) -> pd.DataFrame:
    """One row for each epsilon. ranges_alone: the truth is as recorded."""
    ratings = tested.load()
    expected = unpaid(tested, ratings)
    ranges = [range_columns(expected, epsilon) for epsilon in EPSILONS]
    if ranges_alone:
        recorded = pd.read_csv(FILE)
        rows = recorded[recorded["data"] == name].reset_index(drop=True)
        new_columns = pd.DataFrame(ranges)
        rows[new_columns.columns] = new_columns
        return rows
    truth = Truth.of(tested, ratings)
    return pd.DataFrame(
        [
            {"data": name, "epsilon": epsilon} | columns | truth.columns(epsilon)
            for epsilon, columns in zip(EPSILONS, ranges, strict=True)
        ]
    )


def main() -> None:
    every = SETS | CHECKS
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="*", help=", ".join(every))
    parser.add_argument(
        "--ranges", action="store_true", help="only the ranges, not the truth"
    )
    arguments = parser.parse_args()
    for name in arguments.sets or every:
        rows = rows_of(name, every[name], ranges_alone=arguments.ranges)
        print(rows.T.to_string(), flush=True)
        if FILE.exists():
            recorded = pd.read_csv(FILE)
            rows = pd.concat([recorded[recorded["data"] != name], rows])
        place = rows["data"].map(list(every).index)
        rows = rows.iloc[np.lexsort((rows["epsilon"], place))]
        rows.to_csv(FILE, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
