"""DPALS as Chien et al. 2021 ran it, and as its Theorem 1 and Algorithm 1 print it."""

from dpmf_core.papers.chien_2021.sweeps import AS_PRINTED, PRINTED, tuned_dpals
from dpmf_core.papers.figures import Preset, tuned
from dpmf_core.papers.methods import ALS, EXACT, FEW, LOWRANK, MEAN, films, on_lowrank
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import DataSpec, RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

PUBLISHED: dict[str, Value] = {**AS_PRINTED, "local_columns": False}
# Algorithm 1 without the heuristics of section 5, and with ratings drawn anew
BASIC: dict[str, Value] = {
    **LOWRANK["dpals"],
    "gram_share": 0.5,
    "noise_ridge": 0.0,
    "resample": True,
    "local_columns": False,
}


def on_films(full: bool) -> tuple[Sweep, ...]:
    dpals = PRINTED.model_copy(update={"parameters": PUBLISHED})
    own = tuned_dpals(films(full), (dpals,), FEW, full)
    others = Sweep(data=own.data, split=own.split, methods=(ALS, MEAN), seeds=own.seeds)
    return own, others


def as_analysed(full: bool) -> tuple[Sweep, ...]:
    """Return the sweeps with fresh ratings at each step, and with the same ratings at all steps."""
    kept: dict[str, Value] = {**BASIC, "resample": False}
    methods = tuple(
        Method(
            algorithm="dpals", label=label, parameters=parameters, calibration=Calibration.SOURCE
        )
        for label, parameters in (
            ("DPALS, ratings drawn anew", BASIC),
            ("DPALS, the same ratings at each step", kept),
        )
    )
    data = DataSpec(id="lowrank" if full else "lowrank-5k")
    split = tuned_dpals(data, methods, FEW, full).split
    seeds = tuple(range(3 if full else 2))
    return (
        Sweep(
            data=data,
            split=split,
            methods=methods,
            epsilons=FEW,
            seeds=seeds,
            grid={"regularisation": (0.3, 30.0, 300.0)},
        ),
        Sweep(data=data, split=split, methods=on_lowrank(EXACT, MEAN), seeds=seeds),
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
            budget=Budget(epsilon=20.0, delta=1e-5, calibration=Calibration.SOURCE),
        ),
    ),
)
