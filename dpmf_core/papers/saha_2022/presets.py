"""The two methods of Saha & Imtiaz 2022 with the published settings, and its table of data sets."""

from dpmf_core.papers.bounds import PrintedTable
from dpmf_core.papers.figures import Preset, Sweeps
from dpmf_core.papers.saha_2022 import methods
from dpmf_core.papers.saha_2022.methods import PRIVATE, S22, SET_APART
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Sweep

SETTINGS = (
    "δ = 1e-5 and ε of each of two statistics in each step (section 4), Δ_A = 2/N (section 3.2), W"
    " from NNDSVD (section 4.1), K of Table 2. Nothing is tuned on validation data: the source"
    " chose its step sizes by a grid search and prints their ratio alone. It leaves open the number"
    " of steps (here 100, 10 at page size), η_W (here 0.2) and η_H (here coefficients are solved"
    " for). Rows are scaled to L2 norm 1 (section 3.2), and their objective is of rows of maximum 1"
    " (section 4). Here A is made symmetric and positive semi-definite after the noise; Algorithm 2"
    " does not."
)
BUDGET = Budget(epsilon=0.5, delta=1e-5, calibration=Calibration.SOURCE)


def _planted(outliers: bool) -> dict[str, float]:
    return methods.CONTAMINATED if outliers else {}


def _sweeps(outliers: bool) -> Sweeps:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        (faces,) = methods.present(("yaleb",), "faces", **_planted(outliers))
        K, label = methods.parts_of(faces.id), SET_APART if outliers else PRIVATE
        private = methods.as_published(K, methods.n_steps(full), label, outliers=outliers)
        both, seeds = (private, methods.plain(K)), methods.FRESH[:1]
        return (Sweep(data=faces, methods=both, epsilons=methods.PER_STEP, seeds=seeds),)

    return sweeps


def _run(outliers: bool) -> RunSpec:
    data = DataSpec.model_validate({"id": "faces", **_planted(outliers)})
    parameters = methods.as_published(methods.parts_of(data.id), 100, outliers=outliers).parameters
    return RunSpec(data=data, algorithm="dp-nmf", parameters=parameters, budget=BUDGET)


def _preset(name: str, title: str, words: str, settings: str, *, outliers: bool) -> Preset:
    return Preset(
        id=f"saha-preset{name}",
        title=title,
        source=f"{S22}, Algorithm 2",
        words=words,
        sweeps=_sweeps(outliers),
        metric="objective",
        settings=f"{SETTINGS} {settings}",
        run=_run(outliers),
    )


PRESETS = (
    _preset(
        "",
        "DP-NMF without outliers, as published",
        "Objective on clean faces against the ε of a step.",
        "Outliers are not updated, so Δ_B = 2/N (section 3.2).",
        outliers=False,
    ),
    _preset(
        "-outliers",
        "DP-NMF with outliers, as published",
        "Objective on the clean faces against the ε of a step, learned from contaminated ones.",
        "A tenth of the images is contaminated in seven tenths of the pixels (section 4.3), and"
        " Δ_B = 4/N. λ and M are those of another paper (section 4.1); for grey images section 2.3"
        " suggests the largest level as M; here λ = 0.01 and M = 1 on rows of norm 1.",
        outliers=True,
    ),
)

SIZES = {
    "Guardian News Articles": (4551, 10285, 8),
    "UCI-news-aggregator": (3000, 93, 7),
    "RCV1": (9625, 2999, 4),
    "TDT2": (9394, 3677, 30),
    "YaleB": (2414, 1024, 38),
    "CBCL": (2429, 361, 50),
}
TABLE_2 = PrintedTable(
    title="Data sets: samples N, dimension D, components K",
    place="Table 2",
    columns=("data set", "size"),
    rows={name: f"N {N:,}, D {D:,}, K {K}" for name, (N, D, K) in SIZES.items()},
    note="A tenth of the terms of RCV1 and of TDT2 was drawn at random; here by a hash.",
)
