"""The methods of Jain et al. 2018 with the published settings and protocol."""

from collections.abc import Callable
from dataclasses import dataclass

from dpmf_core.papers.figures import Preset, tuned
from dpmf_core.papers.jain_2018.sweeps import (
    CLEANSING,
    DELTA,
    DPFW,
    OJA,
    PRIVATE_PGD,
    SVD,
    Grid,
    Line,
    RealRatings,
    cleansing_line,
    private_gradient_line,
    private_lines,
    tuned_sweeps,
)
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

J18 = "Jain et al. 2018"
RATINGS = RealRatings(("ml-10m", "netflix"), 400)
PAGE_EPSILONS, FULL_EPSILONS = (0.5, 1.0, 5.0), (0.1, 0.5, 1.0, 2.0, 5.0)
PROTOCOL = (
    "1% of the ratings held out, at most 80 ratings of a user, δ = 1e-6, means of ten draws"
    " (section 4)."
)
LEFT_OPEN = "The values that the paper tries are not in our copy of its text: the grid is ours."


@dataclass(frozen=True)
class Tuned:
    """The sweeps of one method over the grid of its size."""

    method: Method
    line: Callable[[bool], Line]

    def __call__(self, full: bool) -> tuple[Sweep, ...]:
        line = Line(_without_local_columns(self.method), self.line(full).grid)
        epsilons, draws = (FULL_EPSILONS, 10) if full else (PAGE_EPSILONS, 1)
        return tuned_sweeps(RATINGS.data(full), (line,), epsilons, draws)


def _without_local_columns(method: Method) -> Method:
    return method.model_copy(update={"parameters": {"local_columns": False, **method.parameters}})


def _frank_wolfe_line(method: Method) -> Callable[[bool], Line]:
    return lambda full: private_lines(full, (method,))[0]


def _oja_line(full: bool) -> Line:
    """Return Algorithm 2's line; on a page with five steps, because each takes six releases."""
    line = private_lines(full, (OJA,))[0]
    return line if full else Line(OJA, {**line.grid, "steps": (5,)})


def _svd_line(full: bool) -> Line:
    grid: Grid = {"rank": (1, 2, 5, 10) if full else (1, 5), "row_clip": (0.05, 0.1)}
    return Line(SVD, grid)


def _run(method: Method, **parameters: Value) -> RunSpec:
    """Return one run at ε = 1 on the simulated cinema, which is on every machine."""
    budget = Budget(epsilon=1.0, delta=DELTA, calibration=method.calibration or Calibration.EXACT)
    return RunSpec.parse(
        data={"id": "cinema", "most_per_user": 80},
        algorithm=method.algorithm,
        parameters={**_without_local_columns(method).parameters, **parameters},
        budget=budget.model_dump(mode="json"),
        split={"test_fraction": 0.01},
    ).canonical()


def _preset(
    name: str, title: str, place: str, settings: str, sweeps: Tuned, run: RunSpec
) -> Preset:
    return Preset(
        id=f"jain-preset-{name}",
        title=title,
        source=f"{J18}, {place}",
        words=f"{title}: each draw is tuned on its own validation ratings.",
        settings=f"{settings} {PROTOCOL} {LEFT_OPEN}",
        sweeps=sweeps,
        measure=tuned,
        run=run,
        page="papers",
        source_data="the 400 most rated items of MovieLens 10M, Netflix and Yahoo! Music",
        source_ids=RATINGS.ids,
    )


PRESETS = (
    _preset(
        "dpfw",
        "Private Frank-Wolfe",
        "Algorithm 1",
        "Steps of 1/T, at most 50 of them; σ² = 64 L⁴ T ln(1/δ) / ε² in total; the slack"
        " √(σ ln(m/β)) m^¼ on the singular value (Algorithm 1). Ratings less each user's mean."
        " Nuclear norm and T by validation. The noise changes with the number of steps done"
        " (section 4); that it is smaller in early steps, and the row bound L, are ours.",
        Tuned(DPFW, _frank_wolfe_line(DPFW)),
        _run(DPFW, steps=5, nuclear_norm=0.3),
    ),
    _preset(
        "oja",
        "Private Frank-Wolfe with Oja's method",
        "Algorithm 2",
        "As Algorithm 1; each direction by five noisy products with a vector instead of a noisy"
        " second moment. The number of products is ours.",
        Tuned(OJA, _oja_line),
        _run(OJA, steps=5, nuclear_norm=0.3),
    ),
    _preset(
        "svd",
        "Private SVD",
        "Algorithm 4",
        "Rows projected to norm L; σ² = 64 L⁴ ln(1/δ) / ε²; each user's scaled projection on the"
        " top directions (Algorithm 4). The paper reports no experiment with it: rank and L are"
        " chosen by validation here, and a user's own share of rated items takes the place of the"
        " share of all.",
        Tuned(SVD, _svd_line),
        _run(SVD, rank=1),
    ),
    _preset(
        "cleansing",
        "SVD after cleansing",
        "section 4, Private baselines",
        "McSherry and Mironov 2009; private global and per-item averages are removed first."
        " Shrinking parameters and the number of directions by validation. Noise is exact for a"
        " whole user: the original protects one rating.",
        Tuned(CLEANSING, cleansing_line),
        _run(CLEANSING, rank=5),
    ),
    _preset(
        "pgd",
        "Private projected gradient",
        "section 4, Private baselines",
        "T and the step size by validation; the nuclear norm of the hidden matrix, which real"
        " ratings do not tell: the default takes its place. The paper changes the noise with the"
        " number of steps done; here it is the same in each. Appendix E's pseudocode is in no copy"
        " at hand: the method is our reading, with noise for the exact ε.",
        Tuned(PRIVATE_PGD, private_gradient_line),
        _run(PRIVATE_PGD, steps=5),
    ),
)
