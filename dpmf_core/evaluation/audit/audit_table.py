"""The audits behind the table of proofs and faults."""

from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms import REGISTRY
from dpmf_core.evaluation.audit.membership_inference import AuditSpec


def every_proven() -> tuple[str, ...]:
    """Ids of the private algorithms whose default guarantee is proved, whole or conditionally."""
    return tuple(
        name
        for name, kind in REGISTRY.items()
        if issubclass(kind, algorithms.PrivateAlgorithm)
        and kind().guarantee().has_epsilon
    )


# post-processing is free, so it is not audited
SHORT: dict[str, dict[str, bool | int | float | str]] = {
    "oneshot-nmf": {"iterations": 10},
    "dpnmf-laplace": {"steps": 10},
}
SKETCH_THRESHOLDS = (2.0, 4.0, 8.0)
PLANTED_FAULTS = (
    ("private-bias", "small-noise"),
    ("private-bias", "unlisted-release"),
    ("dpals", "no-clipping"),
    ("dp-nmf", "exact-start"),
)


def table_specs(epsilon: float, delta: float, runs: int, seed: int) -> list[AuditSpec]:
    """Every proof, the sketch's claims, and the planted faults."""

    def one(algorithm: str, **more: Any) -> AuditSpec:
        return AuditSpec.parse(
            algorithm=algorithm,
            **{"epsilon": epsilon, "delta": delta, "runs": runs, "seed": seed, **more},
        )

    sketch_size = {"rank": 4, "steps": 5}
    return [
        *(one(name, parameters=SHORT.get(name, {})) for name in every_proven()),
        *(
            one(
                "sketch",
                epsilon=None,
                parameters={**sketch_size, "threshold": threshold},
            )
            for threshold in SKETCH_THRESHOLDS
        ),
        *(one(name, fault=fault) for name, fault in PLANTED_FAULTS),
    ]
