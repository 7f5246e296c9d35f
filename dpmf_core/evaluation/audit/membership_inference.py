"""Membership inference as a measurement: a lower bound on epsilon for any registered algorithm.

An audit trains many times on a small simulated set, half of the runs with a canary. One attack
looks at all that is shared, projected on the direction in which both kinds of runs differ. The
other looks at the releases in the ledger, by their likelihood ratio. Tests on both (`bounds`) share
the 5% chance that a bound is wrong. Next to the bounds stands what the canary lost: how far it
moved the releases in units of their noise. A replay shows that without sampling error.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import ConfigDict, Field

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput, Cancelled, checked
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.plain_tables import table
from dpmf_core.base.progress import Progress, Stopped, Tell, ignore
from dpmf_core.base.registry import find
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.evaluation.audit import canaries, canary_data, epsilon_bounds
from dpmf_core.evaluation.audit.canaries import FAULTS
from dpmf_core.evaluation.audit.canary_data import Unit
from dpmf_core.evaluation.audit.epsilon_bounds import AttackKind, AuditBound
from dpmf_core.privacy import Budget, Guarantee, calibrate
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.events import Event, normal_form
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.gaussian import mu as mu_of
from dpmf_core.privacy.interpretation import false_negatives

TELL_EVERY = 0.2  # seconds
FEWEST = 40
RAW = (
    "Computed from raw private rows, for the holder of the data only. It is not a release, enters"
    " no account and is not stored. Do not share it or base choices on it."
)
FOR_THE_SCREEN = (
    "An audit of private data is for the screen only, so it has no JSON. Print it."
)
MEANINGS: dict[epsilon_bounds.BoundRule, str] = {
    "pair test": "which of two training runs had the canary; bounds μ, converted to the ε of one"
    " Gaussian release",
    "error rates": "false alarms and misses at one threshold, for any kind of noise",
}


# what the JSON of an audit holds as it is
EXPORTED = (
    "unit",
    "canary",
    "lower",
    "proven",
    "most",
    "broken",
    "realised_mu",
    "planned_mu",
    "by",
    "rule",
    "words",
)


class AuditSpec(Frozen):
    """One complete audit: equal specifications measure the same."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    limit: ClassVar[str] = "largest_audit"
    size_words: ClassVar[str] = "runs of an audit"

    algorithm: str
    epsilon: float | None = Field(
        None,
        ge=1e-4,
        le=1000,
        allow_inf_nan=False,
    )
    """total privacy loss of every attacked run"""
    delta: float = Field(
        1e-5,
        ge=1e-15,
        lt=0.5,
        allow_inf_nan=False,
    )
    runs: int = Field(1000, ge=FEWEST, le=1_000_000)
    """training runs, half of them with a canary; fewer than 40 show nothing"""
    seed: int = Field(0, ge=0, lt=2**63)
    fault: str = "none"
    unit: Unit | None = Field(
        None,
        description=(
            "user: one more user (or sample); rating: one more rating; value: one rating's value;"
            " none: the protected unit"
        ),
    )
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict)

    @classmethod
    def parse(cls, **parts: Any) -> "AuditSpec":
        """A checked specification.

        Raises
        ------
        BadInput
            If the specification is not valid. The message names the first problem.
        """
        spec = checked(cls, "the audit", parts)
        algorithms.refuse_budget([spec.algorithm], epsilon=spec.epsilon)
        return spec

    @property
    def size(self) -> int:
        return self.runs

    def check(self) -> None:
        """Raise BadInput if the audit could not start."""
        target, unit = self._target()
        canary_data.check(target.algorithm, unit)

    def _target(self) -> tuple[canaries.AttackTarget, Unit]:
        kind = algorithms.find(self.algorithm)
        unit = self.unit or canary_data.protected_unit(kind())
        return self.target(canary_data.shape(kind)), unit

    def target(self, shape: Any) -> canaries.AttackTarget:
        """What is attacked, for data of this shape.

        Raises
        ------
        BadInput
            If the algorithm cannot have the fault, or takes a budget and gets none.
        """
        find(FAULTS, self.fault, "fault")
        kind = algorithms.find(self.algorithm)
        budget = None
        if issubclass(kind, algorithms.PrivateAlgorithm):
            if self.epsilon is None:
                raise BadInput(
                    f"{kind.title} needs a budget. Give the epsilon to attack."
                )
            budget = Budget(epsilon=self.epsilon, delta=self.delta)
        method = algorithms.build(self.algorithm, dict(self.parameters), shape, budget)
        if self.fault not in (faults := canaries.faults_of(kind)):
            raise BadInput(
                f"{method.title} cannot have the fault {self.fault!r} ({FAULTS[self.fault]}). Its"
                f" faults are {', '.join(faults)}."
            )
        if budget:
            level = calibrate(lambda at: method.plan(shape, at), budget)
        else:
            level = 1.0
        plan = method.plan(shape, level)
        run = canaries.with_fault(method, self.fault)
        return canaries.AttackTarget(method, run, plan, self.fault, self.seed)

    def measure(
        self, report: Tell = ignore, stopped: Stopped = lambda: False
    ) -> "Audit":
        """Train, attack, judge. Raises BadInput, and Cancelled when `stopped` returns true."""
        target, unit = self._target()
        with single_threaded_blas:
            pair = target.choose(unit)
        return attack(self, target, pair, report, stopped)


class AuditFigure(NamedTuple):
    """One epsilon of an audit.

    Attributes
    ----------
    name : str
    words : str
        "≤" if proved, "=" if known exactly, "≥" if measured, "up to" for what could be measured,
        and "none" without a value. What is or could be measured is rounded down.
    meaning : str
    """

    name: str
    words: str
    meaning: str


@dataclass(frozen=True)
class Audit:
    """The result of an attack.

    Attributes
    ----------
    spec : AuditSpec
    title : str
    proven : float or None
        Epsilon is at most this; None if nothing is proved.
    most : float
        The largest epsilon that this number of runs could show.
    tests : tuple of AuditBound
        Every test that was run. `lower` is the largest of their bounds.
    canary : str
        The two data sets in words.
    realised_mu, planned_mu : float or None
        The mean mu of what the canary moved, and the mu of the ledger.
    rule : str
        Why bounds go through mu, or may not.
    guarantee : Guarantee
    allowed_misses : tuple of float
        The fewest misses that the proof leaves at each rate of false alarms from 0 to 1. Empty if
        nothing is proved.
    is_raw : bool
        Whether it was computed from raw private rows.
    """

    spec: AuditSpec
    title: str
    proven: float | None
    most: float
    tests: tuple[AuditBound, ...]
    canary: str
    realised_mu: float | None
    planned_mu: float | None
    rule: str
    guarantee: Guarantee
    allowed_misses: tuple[float, ...]
    is_raw: bool = False

    def __str__(self) -> str:
        """The sentence, then every figure with its meaning."""
        rows = [[figure.name, figure.words, figure.meaning] for figure in self.figures]
        parts = [
            self.words,
            table(["", "epsilon", "what it means"], rows),
            f"The canary: {self.canary}. {self.rule}",
        ]
        if self.is_raw:
            parts.append(RAW)
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON has it.

        Raises
        ------
        BadInput
            If the audit was computed from raw private rows.
        """
        if self.is_raw:
            raise BadInput(FOR_THE_SCREEN)
        tests = [
            {
                "attack": test.attack,
                "rule": test.rule,
                "epsilon": test.epsilon,
                "error": test.error,
                "counted": test.words,
            }
            for test in self.tests
        ]
        return {
            **self.spec.model_dump(),
            **{name: getattr(self, name) for name in EXPORTED},
            "confidence": epsilon_bounds.CONFIDENCE,
            "realised_epsilon": self.lost_epsilon,
            "test": self.best.rule,
            "tests": tests,
            "status": str(self.guarantee.status),
            "claim": self.guarantee.claim,
            "false_alarms": list(self.best.false_alarms),
            "misses": list(self.best.misses),
        }

    @property
    def best(self) -> AuditBound:
        """The test that shows most."""
        return max(self.tests, key=lambda bound: bound.epsilon)

    @property
    def lower(self) -> float:
        """Epsilon is at least this, at 95% confidence."""
        return self.best.epsilon

    @property
    def by(self) -> AttackKind:
        return self.best.attack

    def strongest(self, rule: epsilon_bounds.BoundRule) -> AuditBound | None:
        """The test of this rule that shows most; None if there was none."""
        tests = (bound for bound in self.tests if bound.rule == rule)
        return max(tests, key=lambda bound: bound.epsilon, default=None)

    @property
    def lost_epsilon(self) -> float | None:
        """The epsilon of what the canary moved, at this delta."""
        mu = self.realised_mu
        if mu is None:
            return None
        return gaussian_epsilon(mu, self.spec.delta)

    @property
    def figures(self) -> tuple[AuditFigure, ...]:
        """Every epsilon of this audit, with its meaning."""
        figures = [AuditFigure("proved", "none", "nothing is proved")]
        if self.proven is not None:
            meaning = "no attack can find more, on any two neighbouring data sets"
            figures = [AuditFigure("proved", f"≤ {epsilon_text(self.proven)}", meaning)]
        if self.realised_mu is not None and self.planned_mu is not None:
            meaning = (
                "how far it moved the releases, in units of their noise; no sampling error; μ is"
                f" {self.realised_mu:.3f}, the ledger allows {self.planned_mu:.3f}"
            )
            lost_text = f"= {epsilon_text(self.lost_epsilon)}"
            figures.append(AuditFigure("lost by this canary", lost_text, meaning))
        for rule, meaning in MEANINGS.items():
            if (bound := self.strongest(rule)) is not None:
                counted_text = f"{meaning}: {bound.words} ({bound.attack})"
                figures.append(
                    AuditFigure(
                        rule, f"≥ {canaries.rounded(bound.epsilon):.2f}", counted_text
                    )
                )
        limit = "the pair test, which needs fewer training runs than error rates"
        if self.strongest("pair test") is None:
            limit = (
                "error rates only: the pair test, which could show more, is valid only if every"
                " release is in the ledger with Gaussian noise"
            )
        meaning = (
            f"not a finding: the largest epsilon that {self.spec.runs:,} training runs could show,"
            f" if an attack never erred, by {limit}"
        )
        return (
            *figures,
            AuditFigure("at best", f"up to {canaries.rounded(self.most):.2f}", meaning),
        )

    @property
    def broken(self) -> bool:
        """Whether the measurement contradicts the proof."""
        return (
            self.proven is not None
            and self.unit in self.covered_units
            and self.lower > self.proven
        )

    @property
    def covered_units(self) -> tuple[str, ...]:
        """The canaries that the proof covers: the protected unit and smaller ones."""
        own = canary_data.protected_unit(algorithms.find(self.spec.algorithm)())
        order = canary_data.UNITS_IN_ORDER
        return order[: order.index(own) + 1]

    @property
    def unit(self) -> str:
        """The canary's unit."""
        return self.spec.unit or self.covered_units[-1]

    @property
    def protected_unit(self) -> str:
        """The proof's unit, as named in a guarantee."""
        units = {
            "user": self.guarantee.unit,
            "rating": "rating",
            "value": "value of a rating",
        }
        return units[self.covered_units[-1]]

    @property
    def terms(self) -> str:
        """The terms of this audit's epsilon."""
        if self.covered_units[-1] == "value":
            change = "another value"
        else:
            change = "add/remove"
        text = f"delta = {delta_text(self.spec.delta)}, per {self.protected_unit}, {change}, exact"
        return text.replace("e-0", "e-")

    @property
    def words(self) -> str:
        sentence = (
            f"{self.title}: epsilon is at least {canaries.rounded(self.lower):.2f} (95% confidence,"
            f" {self.spec.runs:,} training runs, which could show at most {self.most:.1f})"
        )
        if self.proven is None:
            return f"{sentence}; nothing is proved."
        proven = f"{epsilon_text(self.proven)} ({self.terms})"
        if self.unit not in self.covered_units:
            return (
                f"{sentence} for one {self.unit}; what is proved, {proven}, is for one"
                f" {self.covered_units[-1]} only."
            )
        if self.broken:
            return (
                f"{sentence}, but the ledger says {proven}: the guarantee is violated."
            )
        return f"{sentence}, proven at most {proven}."


def audit(algorithm: str, *, report: Tell = ignore, **fields: Any) -> Audit:
    """Attack an algorithm.

    Parameters
    ----------
    algorithm : str
    report : callable
        Called with the progress: a step is a training run.
    **fields
        The other fields of `AuditSpec`.

    Returns
    -------
    Audit

    Raises
    ------
    BadInput
        On too few runs, on an algorithm that takes a budget and gets none, and on a fault that it
        cannot have.
    """
    return AuditSpec.parse(algorithm=algorithm, **fields).measure(report)


def attack(
    spec: AuditSpec,
    target: canaries.AttackTarget,
    pair: canary_data.Pair,
    report: Tell = ignore,
    stopped: Stopped = lambda: False,
) -> Audit:
    """Train on both data sets of a pair in turn, and judge.

    Raises
    ------
    Cancelled
        When `stopped` returns true.
    """
    trainings: list[canaries.AttackedTraining] = []
    start_time = last = time.perf_counter()
    for place in range(spec.runs):
        if stopped():
            raise Cancelled
        seed = np.random.SeedSequence([spec.seed, place])
        with single_threaded_blas:
            trainings.append(target.training(pair, bool(place % 2), seed))
        if (now := time.perf_counter()) - last > TELL_EVERY:
            last = now
            report(Progress(place + 1, spec.runs, now - start_time, ()))
    return _result(spec, target, pair.words, trainings)


def _result(
    spec: AuditSpec,
    target: canaries.AttackTarget,
    canary: str,
    trainings: list[canaries.AttackedTraining],
) -> Audit:
    guarantee = target.algorithm.guarantee()
    through_mu = target.through_mu
    scores = _scores(target, trainings)
    squared_mu = float(np.mean([training.squared_mu for training in trainings]))
    return Audit(
        spec,
        title=target.algorithm.title
        + ("" if spec.fault == "none" else f", {FAULTS[spec.fault]}"),
        proven=exactly(target.plan, spec.delta) if guarantee.has_epsilon else None,
        most=epsilon_bounds.most(spec.runs, tuple(scores), spec.delta, through_mu),
        tests=epsilon_bounds.bounds_of(scores, spec.delta, through_mu),
        canary=canary,
        realised_mu=math.sqrt(squared_mu)
        if through_mu and math.isfinite(squared_mu)
        else None,
        planned_mu=mu_of(target.plan) if through_mu else None,
        rule=target.rule,
        guarantee=guarantee,
        allowed_misses=_allowed_misses(target.plan) if guarantee.has_epsilon else (),
    )


def _scores(
    target: canaries.AttackTarget,
    trainings: list[canaries.AttackedTraining],
) -> dict[AttackKind, epsilon_bounds.Scores]:
    """The scores of each attack, without and with the canary, which every other run has.

    The direction is learned on the first half of the training runs.
    """
    kinds = trainings[::2], trainings[1::2]
    half = len(kinds[1]) // 2
    absent, present = (
        np.stack([training.shared for training in kind]) for kind in kinds
    )
    towards = epsilon_bounds.direction((absent[:half], present[:half]))
    scores: dict[AttackKind, epsilon_bounds.Scores] = {
        "what is shared": (absent @ towards, present @ towards)
    }
    if target.has_noisy_sums:
        without, within = (
            np.array([training.ratio for training in kind]) for kind in kinds
        )
        scores["what is released"] = (without, within)
    return scores


def _allowed_misses(plan: Event) -> tuple[float, ...]:
    if not normal_form(plan):
        return tuple(1 - rate for rate in rates())
    return tuple(float(rate) for rate in false_negatives(plan, np.array(rates())))


def rates() -> tuple[float, ...]:
    """The rates of false alarms in `Audit.allowed_misses`, finer towards both ends."""
    return tuple(float(rate) for rate in (1 - np.cos(np.linspace(0, math.pi, 61))) / 2)
