"""Membership inference as a measurement: how much privacy is lost at least, for any registered algorithm.

Many trainings on a small simulated set, half of them with a canary. Two attacks look at each: one at all that is shared, projected on the direction in which
both kinds differ; one at the releases in the ledger, by their likelihood ratio. Each has half of the 5% in which the bound may be wrong.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dpmf_core import algorithms, bounds, canaries
from dpmf_core.algorithms import REGISTRY
from dpmf_core.bounds import CONFIDENCE
from dpmf_core.canaries import FAULTS, Unit
from dpmf_core.errors import Cancelled, explain
from dpmf_core.experiment import Progress, Report, ignore
from dpmf_core.kernels import single_threaded_blas
from dpmf_core.privacy import Guarantee
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import false_negatives
from dpmf_core.privacy.events import Event, normal_form

TELL_EVERY = 0.2  # seconds
EACH = 1 - (1 - CONFIDENCE) / 2  # confidence of each of two attacks
FEWEST = 40


class AuditSpec(BaseModel):
    """One audit, complete: the same specification measures the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    algorithm: str
    epsilon: float | None = Field(None, ge=1e-4, le=1000, allow_inf_nan=False, description="total privacy loss of every attacked run")
    delta: float = Field(1e-5, ge=1e-15, lt=0.5, allow_inf_nan=False)
    runs: int = Field(1000, ge=FEWEST, le=1_000_000, description="trainings, half of them with a canary; fewer than 40 show nothing")
    seed: int = Field(0, ge=0, lt=2**63)
    fault: str = "none"
    unit: Unit | None = Field(
        None, description="user: a whole user (or sample) more; rating: one rating more; value: one rating's value; none: what is protected"
    )
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict)

    @classmethod
    def parse(cls, **parts: Any) -> "AuditSpec":
        """A checked specification. Raises BadInput with the first thing that is wrong."""
        try:
            return cls(**parts)
        except ValidationError as error:
            raise explain(error, "the audit", cls.model_json_schema().get("properties", {})) from None

    def check(self) -> None:
        """Raises BadInput where the audit could not start."""
        self._prepared()

    def _prepared(self) -> tuple[canaries.Attacked, tuple[Any, Any]]:
        kind = algorithms.find(self.algorithm)
        pair = canaries.worlds(kind, self.unit or canaries.protected(kind()))
        return canaries.prepared(self.algorithm, pair[0].shape, self.epsilon, self.delta, dict(self.parameters), self.fault), pair

    def measure(self, report: Report = ignore, stopped: Callable[[], bool] = lambda: False) -> "Audit":
        """Train, attack, judge. Raises BadInput, and Cancelled when `stopped` turns true."""
        attacked, pair = self._prepared()
        shared: tuple[list[Any], list[Any]] = ([], [])
        ratios: tuple[list[float], list[float]] = ([], [])
        began = told = time.perf_counter()
        for place in range(self.runs):
            if stopped():
                raise Cancelled
            kind = place % 2
            with single_threaded_blas:
                seen, ratio = attacked.training(pair, bool(kind), np.random.SeedSequence([self.seed, place]))
            shared[kind].append(seen)
            ratios[kind].append(ratio)
            if (now := time.perf_counter()) - told > TELL_EVERY:
                told = now
                report(Progress(place + 1, self.runs, now - began, ()))
        return _found(self, attacked, _attacks(self, attacked, shared, ratios))


Attack = Literal["what is shared", "what is released"]


@dataclass(frozen=True)
class Audit:
    """What an attack found. lower: epsilon is at least this, at 95% confidence. proven: at most this, None where nothing is proved.
    most: what so many runs could show at best. by: which attack found the most, and its error rates over all thresholds.
    allowed: the fewest misses that the proof leaves at each rate of false alarms from 0 to 1, empty where nothing is proved."""

    spec: AuditSpec
    title: str
    lower: float
    proven: float | None
    most: float
    by: Attack
    each: dict[str, float]
    guarantee: Guarantee
    false_alarms: tuple[float, ...]
    misses: tuple[float, ...]
    allowed: tuple[float, ...]

    @property
    def broken(self) -> bool:
        """Whether the measurement contradicts the proof."""
        return self.proven is not None and self.unit in self.covered and self.lower > self.proven

    @property
    def covered(self) -> tuple[str, ...]:
        """The canaries that the proof speaks of: what is protected, and what is smaller."""
        order = canaries.UNITS_IN_ORDER
        return order[: order.index(canaries.protected(algorithms.find(self.spec.algorithm)())) + 1]

    @property
    def unit(self) -> str:
        """What the canary was."""
        return self.spec.unit or self.covered[-1]

    @property
    def terms(self) -> str:
        """Under which an epsilon of this audit is meant."""
        unit = {"user": self.guarantee.unit, "rating": "rating", "value": "value of a rating"}[self.covered[-1]]
        return f"delta = {self.spec.delta:.0e}, per {unit}, {'another value' if self.covered[-1] == 'value' else 'add/remove'}, exact".replace("e-0", "e-")

    @property
    def words(self) -> str:
        runs = f"95% confidence, {self.spec.runs:,} trainings, which could show {self.most:.1f} at most"
        measured = f"epsilon is at least {canaries.rounded(self.lower):.2f} ({runs})"
        if self.proven is None:
            return f"{self.title}: {measured}; nothing is proved."
        if self.unit not in self.covered:
            return f"{self.title}: {measured} for one {self.unit}; what is proved, {self.proven:.2f} ({self.terms}), is for one {self.covered[-1]} only."
        if self.broken:
            return f"{self.title}: {measured}, but the ledger says {self.proven:.2f} ({self.terms}): the promise is broken."
        return f"{self.title}: {measured}, proven at most {self.proven:.2f} ({self.terms})."


def audit(algorithm: str, *, told: Callable[[int, int], None] = lambda done, of: None, **asked: Any) -> Audit:
    """Attack an algorithm. asked: the other fields of `AuditSpec`. told: called with trainings done and to do.

    Raises BadInput on too few runs, on an algorithm that takes a budget without one, and on a fault that it cannot have.
    """
    spec = AuditSpec.parse(algorithm=algorithm, **asked)
    return spec.measure(lambda progress: told(progress.step, progress.steps))


def every_proven() -> tuple[str, ...]:
    """Ids of the private algorithms whose guarantee is proved, whole or conditionally, as they are by default."""
    return tuple(name for name, kind in REGISTRY.items() if kind.plan is not algorithms.Algorithm.plan and kind().guarantee().has_epsilon)


SHORT: dict[str, dict[str, bool | int | float | str]] = {"oneshot-nmf": {"iterations": 10}, "dpnmf-laplace": {"steps": 10}}  # what follows the noise is free
SKETCH_THRESHOLDS = (2.0, 4.0, 8.0)
PLANTED = (("private-bias", "small-noise"), ("private-bias", "unlisted-release"), ("dpals", "no-clipping"), ("dp-nmf", "exact-start"))


def table_specs(epsilon: float, delta: float, runs: int, seed: int) -> list[AuditSpec]:
    """Every proof, the sketch's claims, the planted faults."""

    def one(algorithm: str, **more: Any) -> AuditSpec:
        return AuditSpec.parse(algorithm=algorithm, **{"epsilon": epsilon, "delta": delta, "runs": runs, "seed": seed, **more})

    sketched = {"rank": 4, "steps": 5}
    return [
        *(one(name, parameters=SHORT.get(name, {})) for name in every_proven()),
        *(one("sketch", epsilon=None, parameters={**sketched, "threshold": threshold}) for threshold in SKETCH_THRESHOLDS),
        *(one(name, fault=fault) for name, fault in PLANTED),
    ]


def _attacks(
    spec: AuditSpec, attacked: canaries.Attacked, shared: tuple[list[Any], list[Any]], ratios: tuple[list[float], list[float]]
) -> dict[Attack, bounds.Bound]:
    """What each attack finds; one alone has the whole 5%."""
    half = min(map(len, shared)) // 2
    absent, present = (np.stack(rows) for rows in shared)
    towards = bounds.direction((absent[:half], present[:half]))
    scores: dict[Attack, tuple[Any, Any]] = {"what is shared": (absent @ towards, present @ towards)}
    if attacked.released:
        scores["what is released"] = (np.array(ratios[0]), np.array(ratios[1]))
    confidence = EACH if len(scores) > 1 else CONFIDENCE
    gaussian = _as_gaussian(spec, attacked)
    return {
        name: bounds.judged((out[:half], inside[:half]), (out[half:], inside[half:]), spec.delta, gaussian, confidence)
        for name, (out, inside) in scores.items()
    }


def _as_gaussian(spec: AuditSpec, attacked: canaries.Attacked) -> bool:
    """Whether mu is what is bounded: a Gaussian claim, tested on Gaussian releases."""
    return attacked.gaussian and spec.fault != "unlisted-release"


def _found(spec: AuditSpec, attacked: canaries.Attacked, by_attack: dict[Attack, bounds.Bound]) -> Audit:
    best = max(by_attack, key=lambda name: by_attack[name].epsilon)
    guarantee = attacked.claimed.guarantee()
    proven = exactly(attacked.plan, spec.delta) if guarantee.has_epsilon else None
    title = attacked.claimed.title + ("" if spec.fault == "none" else f", {FAULTS[spec.fault]}")
    could = bounds.most(spec.runs, spec.delta, _as_gaussian(spec, attacked), EACH if len(by_attack) > 1 else CONFIDENCE)
    return Audit(
        spec, title, by_attack[best].epsilon, proven, could, best, {name: bound.epsilon for name, bound in by_attack.items()}, guarantee,
        by_attack[best].false_alarms, by_attack[best].misses, _allowed(attacked.plan) if guarantee.has_epsilon else (),
    )  # fmt: skip


def _allowed(plan: Event) -> tuple[float, ...]:
    if not normal_form(plan):
        return tuple(1 - rate for rate in rates())
    return tuple(float(rate) for rate in false_negatives(plan, np.array(rates())))


def rates() -> tuple[float, ...]:
    """The rates of false alarms at which `Audit.allowed` stands: finer towards both ends."""
    return tuple(float(rate) for rate in (1 - np.cos(np.linspace(0, math.pi, 61))) / 2)


def as_record(found: Audit) -> dict[str, Any]:
    """An audit as JSON."""
    return found.spec.model_dump() | {
        "unit": found.unit,
        "lower": found.lower, "proven": found.proven, "most": found.most, "confidence": CONFIDENCE, "broken": found.broken, "by": found.by, "each": found.each,
        "status": str(found.guarantee.status), "claim": found.guarantee.claim, "words": found.words, "false_alarms": list(found.false_alarms),
        "misses": list(found.misses),
    }  # fmt: skip


__all__ = ["CONFIDENCE", "FAULTS", "Audit", "AuditSpec", "as_record", "audit", "every_proven", "rates"]
