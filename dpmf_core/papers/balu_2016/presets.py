"""The method of Balu & Furon 2016 with its published settings."""

from dpmf_core.papers.balu_2016 import protocol
from dpmf_core.papers.figures import Preset, first_present, tuned
from dpmf_core.runs.specification import DataSpec, RunSpec, Value
from dpmf_core.runs.sweep import Sweep

SETTINGS = (
    "Section 5.1: d of 8, 16 or 32, T = 100 epochs; of its k (1 or 4) and γ (1, 2 or 4) here k = 4"
    " and γ = 1, as in Fig. 1; 80% of the ratings to train, 10% each for validation and test,"
    " users and items with fewer than 10 ratings left out of both."
    " Learning rate and λ are chosen on the validation ratings. The paper searches them in two"
    " stages on a log scale and prints no grid and no learning rate, and the best λ as a map (Fig."
    " 2); here it is one small grid. It"
    " leaves open b of the learning rate's decay (here 1), the start, and the threshold's rule"
    " (here that of section 3.2)."
)


def _sweeps(full: bool) -> tuple[Sweep, ...]:
    size: dict[str, Value] = {"rank": 32 if full else 8, "steps": 100, "space_gain": 1.0}
    data = protocol.movielens() if full else DataSpec(id=first_present("ml-100k", "cinema-small"))
    grid: dict[str, tuple[Value, ...]] = {
        "learning_rate": (0.02, 0.05),
        "regularisation": (0.01, 0.03, 0.1),
    }
    methods = protocol.sketches((4,), threshold=protocol.NO_THRESHOLD, **size)
    return (Sweep(data=data, methods=methods, grid=grid, split=protocol.SPLIT, seeds=(0, 1)),)


PRESETS = (
    Preset(
        id="balu-preset",
        title="Count sketch, as published",
        source=f"{protocol.B16}, section 5.1",
        words="Held-out RMSE of the settings that are best on validation ratings, no threshold.",
        sweeps=_sweeps,
        measure=tuned,
        page="sketch",
        settings=SETTINGS,
        run=RunSpec(
            data=DataSpec(id="cinema"),
            algorithm="sketch",
            parameters={"depth": 4, "space_gain": 1.0, "rank": 32, "steps": 100},
            split=protocol.SPLIT,
        ),
    ),
)
