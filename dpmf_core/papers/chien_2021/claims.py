"""Claims of Chien, Jain, Krichene, Rendle, Song, Thakurta & Zhang 2021.

"Private Alternating Least Squares". Their runs are in `sweeps`.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace

from dpmf_core.data.catalogue import Entry, catalogue
from dpmf_core.data.popularity_skew import shares
from dpmf_core.papers.chien_2021 import statements
from dpmf_core.papers.chien_2021 import sweeps as runs
from dpmf_core.papers.chien_2021.sweeps import AS_PRINTED, PRINTED
from dpmf_core.papers.figures import Claim, Preset, by_step, every_draw, tuned
from dpmf_core.papers.shared_methods import (
    ALS,
    EXACT,
    FEW,
    LOWRANK,
    MEAN,
    MethodParameters,
    alike,
    films,
    on_lowrank,
)
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import Runs
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Method, Sweep

RATINGS_PER_USER = 50  # ratings of a user in Fig. 2 and 5


def bunching() -> list[Measured]:
    """Fig. 2: the share of observations on the top items, by the share of items."""
    return [
        Measured(
            point.selection, "", None, {"top_share": point.items}, (point.observations,)
        )
        for point in shares(
            open_ratings(runs.every_film()), RATINGS_PER_USER, points=20
        )
    ]


def by_users(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The draws of a held-out metric; the grid names the number of users."""
    users = {
        entry.id: entry.n_users
        for entry in catalogue().catalogue()
        if isinstance(entry, Entry)
    }
    named_points = [
        replace(point, grid={**point.grid, "users": users[point.spec.data.id]})
        for point in points
    ]
    return every_draw(named_points, runs, metric)


claim = functools.partial(Claim.of, __package__)
CLAIMS = (
    claim(
        "chien-fig2",
        compute=bunching,
        computed_on=runs.every_film,
    ),
    claim(
        "chien-fig3a",
        sweeps=runs.top_films,
        measure=tuned,
        clauses=statements.FIG_3A,
        remark=statements.with_theorem_1,
    ),
    claim("chien-fig3b", sweeps=runs.all_films, measure=tuned),
    claim("chien-fig3c", sweeps=runs.recall),
    claim(
        "chien-fig4",
        sweeps=runs.more_users,
        measure=by_users,
        remark=statements.untuned,
    ),
    claim("chien-fig5", sweeps=runs.film_share),
    claim(
        "chien-fig7",
        sweeps=runs.by_step,
        measure=by_step,
    ),
    claim("chien-users", sweeps=runs.fewer_users),
)


# ---- the methods as published --------------------------------------------------------------------

PUBLISHED: MethodParameters = {**AS_PRINTED, "local_columns": False}
# Algorithm 1 without the heuristics of section 5, and with ratings drawn anew
BASIC: MethodParameters = {
    **LOWRANK["dpals"],
    "gram_share": 0.5,
    "noise_ridge": 0.0,
    "resample": True,
    "local_columns": False,
}


def on_films() -> tuple[Sweep, ...]:
    dpals = PRINTED.model_copy(update={"parameters": PUBLISHED})
    return runs.tuned(films(), (dpals,), (ALS, MEAN), FEW)


def as_analysed() -> tuple[Sweep, ...]:
    """The sweeps with fresh ratings at each step, and with the same ratings at all steps."""
    anew, kept = (
        Method(
            algorithm="dpals",
            label=label,
            parameters={**BASIC, "resample": resample},
            calibration=Calibration.SOURCE,
        )
        for label, resample in (
            ("DPALS, ratings drawn anew", True),
            ("DPALS, the same ratings at each step", False),
        )
    )
    return alike(
        ((anew, kept), {"regularisation": (0.3, 30.0, 300.0)}),
        (on_lowrank(EXACT, MEAN), {}),
        data=DataSpec(id="lowrank"),
        split=runs.TUNED,
        epsilons=FEW,
        seeds=(0, 1, 2),
    )


PRESETS = (
    Preset.of(
        __package__,
        "chien-as-run",
        sweeps=on_films,
        measure=tuned,
        run=RunSpec(
            data=DataSpec(id="cinema"),
            algorithm="dpals",
            parameters={**PUBLISHED, "rank": 8},
            budget=Budget(epsilon=5.0, delta=1e-5),
        ),
    ),
    Preset.of(
        __package__,
        "chien-as-analysed",
        sweeps=as_analysed,
        measure=tuned,
        run=RunSpec(
            data=DataSpec(id="lowrank-5k"),
            algorithm="dpals",
            parameters={**BASIC, "regularisation": 30.0},
            budget=Budget(
                epsilon=20.0,
                delta=1e-5,
                calibration=Calibration.SOURCE,
            ),
        ),
    ),
)
