"""Runs of Jain et al. 2018: methods, data, and tuning on validation ratings.

The source chooses the nuclear norm, the number of steps and its baselines' parameters by
validation. Its grids are printed as formulas that no available text contains, so the grids are
ours.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import Sweeps, first_present
from dpmf_core.papers.methods import CLEANSING, DPFW_THEIRS, MEAN, Grid, alike
from dpmf_core.papers.methods import DPFW as EXACT_DPFW
from dpmf_core.privacy import Calibration
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

DELTA = 1e-6
RATINGS_PER_USER = 80
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
PAGE_EPSILONS = (0.5, 1.0, 2.0, 5.0)
RANK_ONE_EPSILONS = (1.0, 10.0)
DRAWS = 10  # of which the source gives the mean
STAND_INS = ("ml-1m", "cinema")
FILMS = ("ml-10m", "netflix")  # Yahoo! Music cannot be had
NON_PRIVATE_STEPS = 400
SPLIT = SplitSpec(test_fraction=0.01, validation_fraction=0.05)
# u and v uniform in [-1, 1]: the nuclear norm |u| |v| is a third of √(n m)
TRUE_NORM = 1 / 3

GROWING: dict[str, Value] = {"noise_schedule": "growing"}
AS_PRINTED: dict[str, Value] = {"slack": True, **GROWING}

DPFW = DPFW_THEIRS.model_copy(update={"parameters": AS_PRINTED})
DPFW_EXACT = EXACT_DPFW.model_copy(update={"parameters": GROWING})
OJA = Method(
    algorithm="dpfw-oja",
    label="DPFW with Oja as in the source",
    calibration=Calibration.SOURCE,
    parameters={**AS_PRINTED, "product_clip": 1.0, "user_step": "steps"},
)
SVD = Method(
    algorithm="private-svd",
    label="Private SVD as in the source",
    calibration=Calibration.SOURCE,
    parameters={"user_step": "projection"},
)
PRIVATE_PGD = Method(algorithm="private-pgd", label="Private PGD")
FRANK_WOLFE = Method(algorithm="fw", label="Frank-Wolfe")
PGD = Method(algorithm="pgd", label="Projected gradient")


class Line(NamedTuple):
    """A method and the values from which validation ratings choose."""

    method: Method
    grid: Grid


def tuned_sweeps(
    data: DataSpec, lines: Iterable[Line], epsilons: tuple[float, ...], draws: int
) -> tuple[Sweep, ...]:
    """Return a sweep for each method over its own grid."""
    return alike(
        *(((line.method,), line.grid) for line in lines),
        data=data,
        split=SPLIT,
        epsilons=epsilons,
        seeds=tuple(range(draws)),
        delta=DELTA,
    )


def private_grid(full: bool, true_norm: float | None = None) -> Grid:
    """Return the grid of private Frank-Wolfe, with at most 50 steps, as in the source."""
    if true_norm is not None:
        return {"nuclear_norm": (true_norm,), "steps": (5, 20)}
    if full:
        return {"nuclear_norm": (0.1, 0.3, 1.0, 3.0), "steps": (5, 20, 50)}
    return {"nuclear_norm": (0.3, 1.0), "steps": (5, 20)}


def cleansing_line(full: bool) -> Line:
    """Return SVD after cleansing; the source tunes directions and shrinkage to the global mean."""
    grid: Grid = {"rank": (1, 5, 10), "item_damping": (5.0, 15.0)} if full else {"rank": (1, 5)}
    return Line(CLEANSING, grid)


def private_gradient_line(full: bool, true_norm: float | None = None) -> Line:
    """Return private projected gradient; the source tunes steps, and uses the true nuclear norm."""
    grid: dict[str, tuple[Value, ...]] = {"steps": (5,), "step_size": (1.0,)}
    if full and true_norm is None:
        grid = {"steps": (5, 10, 20), "step_size": (1.0, 3.0, 10.0)}
    return Line(PRIVATE_PGD, grid | ({"nuclear_norm": (true_norm,)} if true_norm else {}))


def non_private_line(full: bool, true_norm: float | None = None) -> Line:
    """Return Frank-Wolfe without privacy: 400 steps at full size, as in the source."""
    steps = NON_PRIVATE_STEPS if full else 50
    own_norms = (true_norm,) if true_norm else (0.2, 0.3, 0.45, 1.0) if full else (0.3,)
    return Line(FRANK_WOLFE, {"steps": (steps,), "nuclear_norm": own_norms})


def real_ratings(
    top: int, ids: tuple[str, ...] = FILMS, capped: bool = True
) -> Callable[[bool], DataSpec]:
    """Return the source's data at full size if available, otherwise a stand-in: `top` items."""

    def data(full: bool) -> DataSpec:
        name = first_present(*(ids if full else ()), *STAND_INS)
        return DataSpec(
            id=name,
            top_items=None if name in ("cinema", "jester") else top,
            most_per_user=RATINGS_PER_USER if capped else None,
        )

    return data


def rank_one(id: str) -> Callable[[bool], DataSpec]:  # noqa: A002
    """Return a simulated set of rank one with 500,000 users, or 20,000 on a page."""
    return lambda full: DataSpec(id=id if full else f"{id}-20k", most_per_user=RATINGS_PER_USER)


def panel(
    data: Callable[[bool], DataSpec], of_fig_2: bool, true_norm: float | None = None
) -> Sweeps:
    """Return the runs of a panel.

    of_fig_2: whether it has private projected gradient and the non-private baseline. true_norm: of
    simulated data, with one draw at two epsilons: the source's whole experiment would take
    thousands of runs on 40 million ratings.
    """

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        fig_2 = private_gradient_line(full, true_norm), non_private_line(full, true_norm)
        lines = (
            *(Line(it, private_grid(full, true_norm)) for it in (DPFW, DPFW_EXACT)),
            cleansing_line(full and true_norm is None),
            *(fig_2 if of_fig_2 else ()),
            Line(MEAN, {}),
        )
        if true_norm is not None:
            return tuned_sweeps(data(full), lines, RANK_ONE_EPSILONS, 1)
        epsilons, draws = (EPSILONS, DRAWS) if full else (PAGE_EPSILONS, 1)
        return tuned_sweeps(data(full), lines, epsilons, draws)

    return sweeps
