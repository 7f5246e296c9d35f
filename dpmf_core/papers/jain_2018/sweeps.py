"""Runs of Jain et al. 2018: methods, data, and tuning on validation ratings.

The source chooses the nuclear norm, the number of steps and its baselines' parameters by
validation. Its grids are printed as formulas that no available text contains, so the grids are
ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import first_present
from dpmf_core.papers.methods import DPFW as EXACT_DPFW
from dpmf_core.papers.methods import DPFW_THEIRS, MEAN
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
NON_PRIVATE_STEPS = 400
SPLIT = SplitSpec(test_fraction=0.01, validation_fraction=0.05)
# u and v uniform in [-1, 1]: the nuclear norm |u| |v| is a third of √(n m)
TRUE_NORM = 1 / 3

Grid = Mapping[str, tuple[Value, ...]]
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
CLEANSING = Method(
    algorithm="svd-cleansing", label="SVD after cleansing", parameters={"row_clip": 0.5}
)
PRIVATE_PGD = Method(algorithm="private-pgd", label="Private PGD")
FRANK_WOLFE = Method(algorithm="fw", label="Frank-Wolfe")
PGD = Method(algorithm="pgd", label="Projected gradient")


@dataclass(frozen=True)
class Line:
    """A method and the values from which validation ratings choose."""

    method: Method
    grid: Grid


def tuned_sweeps(
    data: DataSpec, lines: tuple[Line, ...], epsilons: tuple[float, ...], draws: int
) -> tuple[Sweep, ...]:
    """Return a sweep for each method over its own grid."""
    return tuple(
        Sweep(
            data=data,
            split=SPLIT,
            methods=(line.method,),
            epsilons=epsilons,
            seeds=tuple(range(draws)),
            delta=DELTA,
            grid=dict(line.grid),
        )
        for line in lines
    )


def norms(full: bool, true_norm: float | None = None) -> tuple[float, ...]:
    """Return radii of private Frank-Wolfe's ball; for simulated data the true one."""
    if true_norm is not None:
        return (true_norm,)
    return (0.1, 0.3, 1.0, 3.0) if full else (0.3, 1.0)


def private_lines(
    full: bool, methods: tuple[Method, ...], true_norm: float | None = None
) -> tuple[Line, ...]:
    """Return private Frank-Wolfe in these forms, with at most 50 steps, as in the source."""
    steps = (5, 20) if true_norm is not None or not full else (5, 20, 50)
    return tuple(
        Line(method, {"nuclear_norm": norms(full, true_norm), "steps": steps}) for method in methods
    )


def cleansing_line(full: bool) -> Line:
    """Return SVD after cleansing; the source tunes directions and shrinkage to the global mean."""
    return Line(CLEANSING, {"rank": (1, 5, 10), "item_damping": (5.0, 15.0)} if full else RANKS)


RANKS: Grid = {"rank": (1, 5)}


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


@dataclass(frozen=True)
class RealRatings:
    """The data of a panel.

    It names the source's sets and the number of most rated items. of_fig_2: whether it has private
    projected gradient and the non-private baseline.
    """

    ids: tuple[str, ...]
    top: int
    capped: bool = True
    of_fig_2: bool = True

    def data(self, full: bool) -> DataSpec:
        """Return the source's data at full size if available, otherwise a stand-in."""
        name = first_present(*(self.ids if full else ()), *STAND_INS)
        return DataSpec(
            id=name,
            top_items=None if name in ("cinema", "jester") else self.top,
            most_per_user=RATINGS_PER_USER if self.capped else None,
        )

    def __call__(self, full: bool) -> tuple[Sweep, ...]:
        lines = (
            *private_lines(full, (DPFW, DPFW_EXACT)),
            cleansing_line(full),
            *((private_gradient_line(full), non_private_line(full)) if self.of_fig_2 else ()),
            Line(MEAN, {}),
        )
        epsilons, draws = (EPSILONS, DRAWS) if full else (PAGE_EPSILONS, 1)
        return tuned_sweeps(self.data(full), lines, epsilons, draws)


def rank_one(id: str, full: bool) -> DataSpec:  # noqa: A002
    """Return a simulated set of rank one with 500,000 users, or 20,000 on a page."""
    return DataSpec(id=id if full else f"{id}-20k", most_per_user=RATINGS_PER_USER)


@dataclass(frozen=True)
class RankOne:
    """Simulated data of a panel, with one draw at two epsilons.

    At full size it tests 400,000 ratings; the source's whole experiment would take thousands of
    runs on 40 million.
    """

    ids: tuple[str]
    of_fig_2: bool = True

    def __call__(self, full: bool) -> tuple[Sweep, ...]:
        fig_2 = private_gradient_line(full, TRUE_NORM), non_private_line(full, TRUE_NORM)
        lines = (
            *private_lines(full, (DPFW, DPFW_EXACT), TRUE_NORM),
            Line(CLEANSING, RANKS),
            *(fig_2 if self.of_fig_2 else ()),
            Line(MEAN, {}),
        )
        return tuned_sweeps(rank_one(self.ids[0], full), lines, RANK_ONE_EPSILONS, 1)
