"""The methods of Jain et al. 2018 with the published settings and protocol."""

from collections.abc import Callable

from dpmf_core.papers.figures import Preset, as_published, tuned
from dpmf_core.papers.jain_2018 import sweeps as runs
from dpmf_core.papers.jain_2018.sweeps import DPFW, OJA, SVD, Line
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

J18 = "Jain et al. 2018"
RATINGS = runs.RealRatings(("ml-10m", "netflix"), 400)
PAGE_EPSILONS, FULL_EPSILONS = (0.5, 1.0, 5.0), (0.1, 0.5, 1.0, 2.0, 5.0)
PROTOCOL = (
    "1% of the ratings held out, at most 80 ratings of a user, δ = 1e-6, means of ten draws"
    " (section 4)."
)
LEFT_OPEN = "The values that the paper tries are not in our copy of its text: the grid is ours."


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


def _preset(
    name: str,
    title: str,
    place: str,
    settings: str,
    line: Callable[[bool], Line],
    **parameters: Value,
) -> Preset:
    """Return a method tuned over the grid of a size, and its run with these parameters."""

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        epsilons, draws = (FULL_EPSILONS, 10) if full else (PAGE_EPSILONS, 1)
        return runs.tuned_sweeps(RATINGS.data(full), (line(full),), epsilons, draws)

    return Preset(
        id=f"jain-preset-{name}",
        title=title,
        source=f"{J18}, {place}",
        words=f"{title}: each draw is tuned on its own validation ratings.",
        settings=f"{settings} {PROTOCOL} {LEFT_OPEN}",
        sweeps=sweeps,
        measure=tuned,
        run=_run(line(False).method, **parameters),
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
        _frank_wolfe_line,
        steps=5,
        nuclear_norm=0.3,
    ),
    _preset(
        "oja",
        "Private Frank-Wolfe with Oja's method",
        "Algorithm 2",
        "As Algorithm 1; each direction by five noisy products with a vector instead of a noisy"
        " second moment. The number of products is ours.",
        _oja_line,
        steps=5,
        nuclear_norm=0.3,
    ),
    _preset(
        "svd",
        "Private SVD",
        "Algorithm 4",
        "Rows projected to norm L; σ² = 64 L⁴ ln(1/δ) / ε²; each user's scaled projection on the"
        " top directions (Algorithm 4). The paper reports no experiment with it: rank and L are"
        " chosen by validation here, and a user's own share of rated items takes the place of the"
        " share of all.",
        _svd_line,
        rank=1,
    ),
    _preset(
        "cleansing",
        "SVD after cleansing",
        "section 4, Private baselines",
        "McSherry and Mironov 2009; private global and per-item averages are removed first."
        " Shrinking parameters and the number of directions by validation. Noise is exact for a"
        " whole user: the original protects one rating.",
        runs.cleansing_line,
        rank=5,
    ),
    _preset(
        "pgd",
        "Private projected gradient",
        "section 4, Private baselines",
        "T and the step size by validation; the nuclear norm of the hidden matrix, which real"
        " ratings do not tell: the default takes its place. The paper changes the noise with the"
        " number of steps done; here it is the same in each. Appendix E's pseudocode is in no copy"
        " at hand: the method is our reading, with noise for the exact ε.",
        runs.private_gradient_line,
        steps=5,
    ),
)
