"""The methods of Jain et al. 2018 with the published settings and protocol."""

from collections.abc import Callable

from dpmf_core.papers.figures import Preset, as_published, tuned
from dpmf_core.papers.jain_2018 import sweeps as runs
from dpmf_core.papers.jain_2018.sweeps import DPFW, OJA, SVD, Line
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

RATINGS = runs.real_ratings(400)


def _frank_wolfe_line(full: bool) -> Line:
    return runs.private_lines(full, (DPFW,))[0]


def _oja_line(full: bool) -> Line:
    """Return Algorithm 2's line; on a page with five steps, because each takes six releases."""
    line = runs.private_lines(full, (OJA,))[0]
    return line if full else Line(OJA, {**line.grid, "steps": (5,)})


def _svd_line(full: bool) -> Line:
    grid: runs.Grid = {"rank": (1, 2, 5, 10) if full else (1, 5), "row_clip": (0.05, 0.1)}
    return Line(SVD, grid)


def _run(method: Method, **parameters: Value) -> RunSpec:
    """Return one run at ε = 1 on the simulated cinema, which is on every machine."""
    budget = Budget(
        epsilon=1.0, delta=runs.DELTA, calibration=method.calibration or Calibration.EXACT
    )
    return RunSpec.parse(
        data={"id": "cinema", "most_per_user": 80},
        algorithm=method.algorithm,
        parameters={**as_published(method).parameters, **parameters},
        budget=budget.model_dump(mode="json"),
        split={"test_fraction": 0.01},
    ).canonical()


def _preset(name: str, line: Callable[[bool], Line], **parameters: Value) -> Preset:
    """Return a method tuned over the grid of a size, and its run with these parameters."""

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        epsilons, draws = (runs.EPSILONS, 10) if full else ((0.5, 1.0, 5.0), 1)
        return runs.tuned_sweeps(RATINGS(full), (line(full),), epsilons, draws)

    run = _run(line(False).method, **parameters)
    return Preset.of(__package__, f"jain-preset-{name}", sweeps=sweeps, measure=tuned, run=run)


PRESETS = (
    _preset("dpfw", _frank_wolfe_line, steps=5, nuclear_norm=0.3),
    _preset("oja", _oja_line, steps=5, nuclear_norm=0.3),
    _preset("svd", _svd_line, rank=1),
    _preset("cleansing", runs.cleansing_line, rank=5),
    _preset("pgd", runs.private_gradient_line, steps=5),
)
