"""The two methods of Vallet et al. 2014 with the published settings."""

from dpmf_core.papers.figures import Preset
from dpmf_core.papers.vallet_2014 import protocol
from dpmf_core.papers.vallet_2014.retention_excess import BASELINE
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Sweep

SETTINGS = (
    "Section 4: d = 10, γ = .1, λ = .01, 200 iterations over the static ratings, 10 for a user's"
    " vector, user and item biases; R_s = .3 in section 4.2. The paper chose them in an offline"
    " evaluation that it omits, so nothing is tuned here. It leaves open how item biases are"
    " learned (here: means, kept as a sum and a count), from which distribution factors start"
    " (here: normal, standard deviation .1), and the order of ratings in the random split."
)


def _preset(label: str, item_rate: str, items: str) -> Preset:
    method = protocol.method(label)

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        seeds = tuple(range(10 if full else 2))
        grid = {"static_share": protocol.shares(full)}
        data = protocol.films(full)
        return (
            Sweep(data=data, methods=(protocol.method(BASELINE),), seeds=seeds),
            Sweep(data=data, methods=(method,), seeds=seeds, grid=grid),
        )

    return Preset(
        id=f"vallet-preset-{label.lower()}",
        title=f"Variant {label.lower()}, as published",
        source="Vallet et al. 2014, section 4",
        words=f"Held-out RMSE by static share; with each rating {items}.",
        sweeps=sweeps,
        page="retention",
        axis="static_share",
        settings=f"{SETTINGS} Item rate {item_rate}.",
        run=RunSpec(
            data=DataSpec(id="cinema"),
            algorithm="no-retention",
            parameters={**method.parameters, "static_share": protocol.STATIC_SHARE},
        ),
    )


PRESETS = (
    _preset("Rated", ".005", "all items that the user rated take a step"),
    _preset("New", ".05", "the new item takes a step"),
)
