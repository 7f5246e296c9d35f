"""The two methods of Saha & Imtiaz 2022 with the published settings."""

from dpmf_core.papers.figures import Preset, Sweeps
from dpmf_core.papers.saha_2022 import methods
from dpmf_core.papers.saha_2022.methods import PRIVATE, SET_APART
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.sweep import Sweep

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


def _preset(name: str, *, outliers: bool) -> Preset:
    fields = {"sweeps": _sweeps(outliers), "metric": "objective", "run": _run(outliers)}
    return Preset.of(__package__, name, **fields)


PRESETS = (_preset("saha-preset", outliers=False), _preset("saha-preset-outliers", outliers=True))
