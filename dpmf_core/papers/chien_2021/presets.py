"""DPALS as Chien et al. 2021 ran it, and as its Theorem 1 and Algorithm 1 print it."""

from dpmf_core.papers.chien_2021.sweeps import AS_PRINTED, PRINTED, tuned_dpals
from dpmf_core.papers.figures import Preset, tuned
from dpmf_core.papers.methods import ALS, EXACT, FEW, LOWRANK, MEAN, films, on_lowrank
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import DataSpec, RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

C21 = "Chien et al. 2021"
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
    Preset(
        id="chien-as-run",
        title="DPALS as the paper ran it on MovieLens",
        source=f"{C21}, sections 5, 6.1 and 6.3",
        words=(
            "No item biases; a noisy global mean, the k rarest ratings of a user, a share of"
            " frequent films, equal noise on Grams and right-hand sides. Each draw chooses on its"
            " validation ratings."
        ),
        settings=(
            "Published: δ = 1e-5 (section 6.1), random start and one sample for all steps (section"
            " 3.1). k = 50 and rank 128 are published for all of MovieLens 10M at ε = 10 alone"
            " (section 6.3)."
            " Left to appendix D: T, λ, Γᵤ, Γ_M and the ranges searched; the grid of rank, λ and"
            " share of films is ours."
        ),
        sweeps=on_films,
        measure=tuned,
        source_data="the 400 most rated films of MovieLens 10M",
        source_ids=("ml-10m",),
        run=RunSpec(
            data=DataSpec(id="cinema"),
            algorithm="dpals",
            parameters={**PUBLISHED, "rank": 8},
            budget=Budget(epsilon=5.0, delta=1e-5),
        ),
    ),
    Preset(
        id="chien-as-analysed",
        title="Algorithm 1 as printed, with the noise of Theorem 1",
        source=f"{C21}, Algorithm 1, Theorem 1 and section 6.1",
        words=(
            "Each step draws k ratings of a user anew for the items, and a T-th of their ratings"
            " for their own factor. Next to it the same ratings at every step, as the paper does in"
            " practice."
        ),
        settings=(
            "Published: σ = √(2kT(ε + ln(1/δ))) / ε (Theorem 1); δ = 1e-5, simulated data of rank 5"
            " with m = 1,000, no heuristics (section 6.1). The paper leaves k, T and λ to"
            " appendix D: here"
            " k = 200, T = 3, and λ from a grid of ours."
        ),
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
