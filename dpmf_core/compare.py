"""The runs that show what one private run costs: its non-private twin, the trivial predictors, further draws, and its peers at the same budget.

And runs of any kind side by side: what differs between them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dpmf_core import algorithms
from dpmf_core.experiment import RunSpec
from dpmf_core.privacy.accounting import Calibration

PEERS: dict[str, tuple[str, dict[str, bool]]] = {
    "private-bias": ("private-bias", {}),
    "dpals-plain": ("dpals", {"biases": False}),
    "dpals": ("dpals", {}),
    "ada-dpals": ("ada-dpals", {}),
    "spectral": ("spectral", {}),
}
DRAWS = 4
PART_PEERS, PART_DRAWS = ("oneshot-nmf", "dp-nmf"), 2


def draws(spec: RunSpec, count: int = DRAWS) -> dict[str, RunSpec]:
    """The same run with the next seeds, each with a split and a noise of its own."""
    return {f"draw {n}": spec.model_copy(update={"seed": spec.seed + n}) for n in range(1, count + 1)}


def comparison(spec: RunSpec) -> dict[str, RunSpec]:
    """Every run by name, the one that is asked for ("main") first. Peers have a calibration of their own only where it is exact."""

    def other(algorithm: str, parameters: dict[str, bool] | None = None) -> RunSpec:
        return spec.model_copy(update={"algorithm": algorithm, "parameters": parameters or {}}).canonical()

    specs = {"main": spec, "twin": other(algorithms.find(spec.algorithm).twin), "trivial": other("global-mean"), "user-mean": other("user-mean")}
    if spec.budget is not None and spec.budget.calibration is Calibration.EXACT:
        specs |= {name: other(algorithm, parameters) for name, (algorithm, parameters) in PEERS.items()}
    return specs | draws(spec)


def part_comparison(spec: RunSpec) -> dict[str, RunSpec]:
    """As `comparison`, for documents and images: the twin sets outliers apart where some were planted; peers look for as many parts."""
    K = {name: value for name, value in spec.parameters.items() if name == "n_components"}

    def other(algorithm: str) -> RunSpec:
        return spec.model_copy(update={"algorithm": algorithm, "parameters": K}).canonical()

    planted = spec.data.outlier_rows > 0 and spec.data.outlier_cells > 0
    specs = {"main": spec, "twin": other("robust-nmf" if planted else algorithms.find(spec.algorithm).twin)}
    if spec.budget is not None and spec.budget.calibration is Calibration.EXACT:
        specs |= {name: other(name) for name in PART_PEERS if name != spec.algorithm}
    return specs | draws(spec, PART_DRAWS)


def settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that was chosen about a run, flat: data, split, budget, algorithm, every parameter."""
    spec = record["spec"]
    flat = {"data": spec["data"]["id"]} | {f"data: {name}": value for name, value in spec["data"].items() if name != "id"}
    flat |= {f"split: {name}": value for name, value in spec["split"].items()} | {"seed": spec["seed"], "algorithm": record["title"]}
    flat |= {f"budget: {name}": value for name, value in (spec["budget"] or {}).items()}
    return flat | dict(record["parameters"])


def differences(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is not the same in all of them: a row a setting, a value a run (None where it has none)."""
    flat = [settings(record) for record in records]
    names = dict.fromkeys(name for one in flat for name in one)
    rows = [{"setting": name, "values": [one.get(name) for one in flat]} for name in names]
    return [row for row in rows if any(value != row["values"][0] for value in row["values"])]


def extremes(record: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Best and last value of each curve: smaller is better."""
    curves = record["curves"]
    names = [name for name in (curves[0] if curves else {}) if name != "step"]
    return {name: (min(point[name] for point in curves), curves[-1][name]) for name in names}
