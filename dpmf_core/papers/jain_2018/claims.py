"""Claims of Jain, Thakkar & Thakurta 2018, "Differentially Private Matrix Completion Revisited".

The source chooses the nuclear norm, the number of steps and its baselines' parameters by
validation. Its grids are printed as formulas that no available text contains, so the grids are
ours.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.clauses import Clause, MissingResult, Results, judged, line
from dpmf_core.papers.figures import Claim, Preset, as_published, first_present, tuned
from dpmf_core.papers.jain_2018.bounds import frank_wolfe_floor
from dpmf_core.papers.shared_methods import (
    CLEANSING,
    FRANK_WOLFE_GRID,
    MEAN,
    Grid,
    MethodParameters,
    alike,
    dpfw_as_printed,
    largest_row,
)
from dpmf_core.papers.shared_methods import DPFW as EXACT_DPFW
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.privacy.accounting import epsilon as exact_epsilon
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec, RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

DELTA = 1e-6
RATINGS_PER_USER = 80
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
PANEL_EPSILONS = (0.5, 1.0, 2.0, 5.0)
RANK_ONE_EPSILONS = (1.0, 10.0)
DRAWS = 10  # of which the source gives the mean
STAND_INS = ("ml-1m", "cinema")
FILMS = ("ml-10m", "netflix")  # Yahoo! Music cannot be had
NON_PRIVATE_STEPS = 400
SPLIT = SplitSpec(test_fraction=0.01, validation_fraction=0.05)
# u and v uniform in [-1, 1]: the nuclear norm |u| |v| is a third of √(n m)
TRUE_NORM = 1 / 3
TRUE_NORMS: Grid = {"nuclear_norm": (TRUE_NORM,)}
RANK_ONE_GRID: Grid = {**TRUE_NORMS, "steps": (5, 20)}

GROWING: MethodParameters = {"noise_schedule": "growing"}
AS_PRINTED: MethodParameters = {**dpfw_as_printed().parameters, **GROWING}

DPFW = dpfw_as_printed().model_copy(update={"parameters": AS_PRINTED})
DPFW_EXACT = EXACT_DPFW.model_copy(update={"parameters": GROWING})
OJA = Method(
    algorithm="dpfw-oja",
    label="DPFW with Oja as in the source",
    calibration=Calibration.SOURCE,
    parameters={**AS_PRINTED, "product_clip": 1.0},
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


# ---- runs ----------------------------------------------------------------------------------------


class MethodGrid(NamedTuple):
    """A method and the values from which validation ratings choose."""

    method: Method
    grid: Grid


def tuned_sweeps(
    data: DataSpec, lines: Iterable[MethodGrid], epsilons: tuple[float, ...], draws: int
) -> tuple[Sweep, ...]:
    """A sweep for each method over its own grid."""
    return alike(
        *(((line.method,), line.grid) for line in lines),
        data=data,
        split=SPLIT,
        epsilons=epsilons,
        seeds=tuple(range(draws)),
        delta=DELTA,
    )


def within_rows(data: DataSpec, grid: Grid) -> Grid:
    """The grid with the source's L, which no row of these data can exceed."""
    return {**grid, "row_clip": (largest_row(data),)}


# the source tunes directions, and shrinkage to the global mean
CLEANSING_LINE = MethodGrid(CLEANSING, {"rank": (1, 5)})
PRIVATE_GRADIENT_LINE = MethodGrid(PRIVATE_PGD, {"steps": (5,), "step_size": (1.0,)})
NON_PRIVATE_LINE = MethodGrid(FRANK_WOLFE, {"steps": (50,), "nuclear_norm": (0.3,)})


def real_ratings(
    top: int, ids: tuple[str, ...] = FILMS, capped: bool = True
) -> DataSpec:
    """The source's data if available, otherwise a stand-in: `top` items."""
    name = first_present(*ids, *STAND_INS)
    return DataSpec(
        id=name,
        top_items=None if name in ("cinema", "jester") else top,
        most_per_user=RATINGS_PER_USER if capped else None,
    )


def films_400() -> DataSpec:
    return real_ratings(400)


def rank_one(data_id: str) -> Callable[[], DataSpec]:
    """A simulated set of rank one."""
    return lambda: DataSpec(id=data_id, most_per_user=RATINGS_PER_USER)


# ---- clauses -------------------------------------------------------------------------------------


means_along = functools.partial(line, name="epsilon", means=True)


def _beats(other: str, name: str) -> Clause:
    """State that private Frank-Wolfe is better at all but one in four epsilons."""

    def errors(results: Results) -> dict[float, tuple[float, float]]:
        ours = means_along(results, DPFW.name)
        theirs = means_along(results, other)
        if not (common := {at: (ours[at], theirs[at]) for at in ours if at in theirs}):
            raise MissingResult(f"{DPFW.name} and {other} have no epsilon in common")
        return common

    return judged(
        f"private Frank-Wolfe, with its source's noise, is almost always more accurate than {name}",
        errors,
        lambda errors: sorted(theirs - ours for ours, theirs in errors.values())[
            len(errors) // 4
        ],
        lambda errors: ", ".join(
            f"{ours:.4f} against {theirs:.4f} at ε = {budget_text(at)}"
            for at, (ours, theirs) in errors.items()
        ),
    )


FIG_3 = (_beats("SVD after cleansing", "SVD after cleansing"),)
FIG_2 = (
    *FIG_3,
    _beats("Private PGD", "private projected gradient"),
)


# ---- remarks -------------------------------------------------------------------------------------


def exactly_accounted(results: Results) -> str:
    """Private Frank-Wolfe's errors with noise for its baselines' exact epsilon."""
    try:
        of_exact, of_source = (
            means_along(results, method.name) for method in (DPFW_EXACT, DPFW)
        )
    except MissingResult:
        return ""
    first = min(of_source)
    last = max(of_source)
    costs = [exact_epsilon(jain(at, DELTA).event, DELTA) for at in (first, last)]
    return (
        f"With its source's noise, ε = {budget_text(first)} and {budget_text(last)} cost"
        f" {costs[0]:.3f} and {costs[1]:.2f} exactly. With noise for the same exact ε as the"
        f" baselines it has {of_exact.get(first, float('nan')):.4f} and"
        f" {of_exact.get(last, float('nan')):.4f}."
    )


def on_rank_one(results: Results) -> str:
    """The same, and the limit of the source's step size on a matrix of rank one."""
    floor = frank_wolfe_floor(5) * TRUE_NORM
    return (
        f"{exactly_accounted(results)} One draw; the source's figure has the means of ten. With"
        " five or more steps of 1/T and the matrix's own nuclear norm, the RMSE stays above about"
        f" {floor:.1f}, even without noise."
    ).strip()


# ---- claims --------------------------------------------------------------------------------------


def _panel(
    name: str,
    data: Callable[[], DataSpec],
    *more: MethodGrid,
    grid: Grid = FRANK_WOLFE_GRID,
    epsilons: tuple[float, ...] = PANEL_EPSILONS,
) -> Claim:
    """The claim of a panel, with one draw; `more` are lines of Fig. 2 that Fig. 3 does not have."""

    def sweeps() -> tuple[Sweep, ...]:
        lines = (
            MethodGrid(DPFW, within_rows(data(), grid)),
            MethodGrid(DPFW_EXACT, grid),
            CLEANSING_LINE,
            *more,
            MethodGrid(MEAN, {}),
        )
        return tuned_sweeps(data(), lines, epsilons, 1)

    return Claim.of(
        __package__,
        name,
        sweeps=sweeps,
        measure=tuned,
        clauses=FIG_2 if more else FIG_3,
        remark=on_rank_one if grid is RANK_ONE_GRID else exactly_accounted,
    )


def _baselines() -> tuple[Sweep, ...]:
    frank_wolfe = MethodGrid(
        FRANK_WOLFE,
        {"steps": (NON_PRIVATE_STEPS,), "nuclear_norm": (0.2, 0.3, 0.45, 1.0)},
    )
    gradient = MethodGrid(
        PGD, {"nuclear_norm": (0.3, 1.0), "step_size": (0.5, 1.0, 2.0)}
    )
    return tuned_sweeps(films_400(), (frank_wolfe, gradient), (), 1)


FIVE_STEPS: Grid = {**TRUE_NORMS, "steps": (5,)}


def _with_oja() -> tuple[Sweep, ...]:
    data = rank_one("rankone")()
    lines = (
        MethodGrid(method, within_rows(data, FIVE_STEPS)) for method in (DPFW, OJA)
    )
    return tuned_sweeps(data, lines, (1.0, 10.0), 1)


def _svd_and_frank_wolfe() -> tuple[Sweep, ...]:
    data = rank_one("rankone-20k")()
    lines = (
        MethodGrid(DPFW, within_rows(data, FIVE_STEPS)),
        MethodGrid(SVD, within_rows(data, {"rank": (1,)})),
    )
    return tuned_sweeps(data, lines, (10.0,), 3)


LINES_OF_FIG_2 = (PRIVATE_GRADIENT_LINE, NON_PRIVATE_LINE)
CLAIMS = (
    _panel(
        "jain-fig2a",
        rank_one("rankone-20k"),
        *(
            MethodGrid(method, {**grid, **TRUE_NORMS})
            for method, grid in LINES_OF_FIG_2
        ),
        grid=RANK_ONE_GRID,
        epsilons=RANK_ONE_EPSILONS,
    ),
    _panel(
        "jain-fig2b",
        lambda: real_ratings(100, ("jester",), capped=False),
        *LINES_OF_FIG_2,
    ),
    _panel("jain-fig2c", films_400, *LINES_OF_FIG_2),
    _panel(
        "jain-fig3a",
        rank_one("rankone-900"),
        grid=RANK_ONE_GRID,
        epsilons=RANK_ONE_EPSILONS,
    ),
    _panel("jain-fig3b", lambda: real_ratings(900)),
    Claim.of(__package__, "jain-baseline", sweeps=_baselines, measure=tuned),
    Claim.of(__package__, "jain-oja", sweeps=_with_oja, measure=tuned),
    Claim.of(__package__, "jain-svd", sweeps=_svd_and_frank_wolfe),
)


# ---- the methods as published --------------------------------------------------------------------


CINEMA = DataSpec(id="cinema", most_per_user=RATINGS_PER_USER)


def _run(method: Method, parameters: MethodParameters) -> RunSpec:
    """One run at ε = 1 on the simulated cinema, which is on every machine."""
    budget = Budget(
        epsilon=1.0,
        delta=DELTA,
        calibration=method.calibration or Calibration.EXACT,
    )
    if method.calibration is Calibration.SOURCE:
        parameters = {**parameters, "row_clip": largest_row(CINEMA)}
    return RunSpec.parse(
        data=CINEMA.model_dump(mode="json"),
        algorithm=method.algorithm,
        parameters={**as_published(method).parameters, **parameters},
        budget=budget.model_dump(mode="json"),
        split={"test_fraction": 0.01},
    ).canonical()


def _preset(name: str, method: Method, grid: Grid, **parameters: Value) -> Preset:
    """A method tuned over a grid, and its run with these parameters.

    With its source's noise it takes the source's L.
    """

    def sweeps() -> tuple[Sweep, ...]:
        data = films_400()
        is_as_printed = method.calibration is Calibration.SOURCE
        line = MethodGrid(method, within_rows(data, grid) if is_as_printed else grid)
        return tuned_sweeps(data, (line,), EPSILONS, DRAWS)

    run = _run(method, parameters)
    return Preset.of(
        __package__,
        f"jain-preset-{name}",
        sweeps=sweeps,
        measure=tuned,
        run=run,
    )


PRESETS = (
    _preset("dpfw", DPFW, FRANK_WOLFE_GRID, steps=5, nuclear_norm=0.3),
    _preset("oja", OJA, FRANK_WOLFE_GRID, steps=5, nuclear_norm=0.3),
    _preset("svd", SVD, {"rank": (1, 2, 5, 10)}, rank=1),
    _preset("cleansing", *CLEANSING_LINE, rank=5),
    _preset("pgd", *PRIVATE_GRADIENT_LINE, steps=5),
)
