"""Membership inference as a measurement: how much privacy is lost at least, for any registered algorithm.

Many trainings on a small simulated set, half of them with a worst-case unit more. What is shared is projected on the direction in which both kinds differ;
direction and threshold are chosen on one half of the trainings and judged on the other, so that choosing is paid for. From upper confidence limits of the
attack's error rates (Clopper & Pearson 1934) follows a lower bound on epsilon (Kairouz, Oh & Viswanath 2015; Dong, Roth & Su 2022 for Gaussian ledgers).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, norm

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput, closest
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, Status, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.events import Leaf
from dpmf_core.samples import Samples

Array = npt.NDArray[Any]
FAULTS: dict[str, str] = {
    "none": "the algorithm as it is",
    "small-noise": "ten times less noise than the ledger says",
    "unlisted-release": "an exact sum is shared beside what is in the ledger",
    "no-clipping": "clip norms ten times larger than the ledger says",
}
UNITS, COLUMNS, BOUNDS = 300, 40, (1.0, 5.0)
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Audit:
    """What an attack found. lower: epsilon is at least this, at 95% confidence. proven: at most this, None where nothing is proved.
    most: what so many runs could show at best. false_alarms, misses: the attack's error rates over all thresholds."""

    algorithm: str
    title: str
    fault: str
    lower: float
    proven: float | None
    delta: float
    runs: int
    most: float
    guarantee: Guarantee
    false_alarms: tuple[float, ...]
    misses: tuple[float, ...]

    @property
    def broken(self) -> bool:
        """Whether the measurement contradicts the proof."""
        return self.proven is not None and self.lower > self.proven

    @property
    def words(self) -> str:
        measured = f"epsilon is at least {self.lower:.2f} (95% confidence, {self.runs:,} trainings, which could show {self.most:.1f} at most)"
        if self.proven is None:
            return f"{self.title}: {measured}; nothing is proved."
        if self.broken:
            return f"{self.title}: {measured}, but the ledger says {self.proven:.2f}: the promise is broken."
        return f"{self.title}: {measured}, proven at most {self.proven:.2f}."


class _Careless(Noise):
    """Draws the planned noise times `scale`, whatever sensitivity is claimed: for planted faults only."""

    def __init__(self, plan: Event, seed: np.random.SeedSequence, scale: float) -> None:
        super().__init__(plan, seed)
        self._scale = scale

    def release(self, statistic: str, *, sensitivity: float, size: int) -> Any:
        leaf = self.planned(statistic)
        pen = super().release(statistic, sensitivity=leaf.sensitivity, size=size)
        pen.scale *= self._scale
        return pen


def audit(
    algorithm: str, *, epsilon: float | None = None, delta: float = 1e-5, runs: int = 1000, seed: int = 0, fault: str = "none",
    parameters: dict[str, Any] | None = None, told: Callable[[int, int], None] = lambda done, of: None,
) -> Audit:  # fmt: skip
    """Attack an algorithm with `runs` trainings, half of them with a canary. epsilon: its budget, needed where it takes one.

    Raises BadInput on too few runs, on an algorithm that takes a budget without one, and on a fault that it cannot have.
    """
    if fault not in FAULTS:
        raise BadInput(f"There is no fault {fault!r} to plant.{closest(fault, FAULTS)} Known: {', '.join(FAULTS)}.")
    if runs < 40:
        raise BadInput(f"An audit needs at least 40 runs: fewer show nothing at 95% confidence. Got {runs}.")
    with_canary, without = _worlds(algorithms.find(algorithm))
    attacked = _prepared(algorithm, without, epsilon, delta, parameters or {}, fault)
    seen: list[list[Array]] = [[], []]
    for place in range(runs):
        kind = place % 2
        seen[kind].append(attacked.shared((without, with_canary)[kind], np.random.SeedSequence([seed, place])))
        told(place + 1, runs)
    absent, present = (np.stack(rows) for rows in seen)
    lower, false_alarms, misses = _measured(absent, present, delta, attacked.gaussian)
    guarantee = attacked.algorithm.guarantee()
    proven = exactly(attacked.plan, delta) if guarantee.has_epsilon else None
    title = attacked.algorithm.title + ("" if fault == "none" else f", {FAULTS[fault]}")
    return Audit(algorithm, title, fault, lower, proven, delta, runs, most_that_can_be_shown(runs), guarantee, tuple(false_alarms), tuple(misses))


def most_that_can_be_shown(runs: int) -> float:
    """The bound of an attack that never errs, judged on a quarter of the runs for each kind: about ln(N / 4 / 3.7)."""
    limit = _upper(0, runs // 4)
    return math.log((1 - limit) / limit)


@dataclass(frozen=True)
class _Attacked:
    algorithm: Algorithm
    fitted: Algorithm
    plan: Event
    fault: str

    @property
    def gaussian(self) -> bool:
        leaves: list[Leaf] = [leaf for leaf, _ in normal_form(self.plan)]
        return (
            self.fault in ("none", "small-noise")
            and bool(leaves)
            and all(isinstance(leaf, Gaussian) for leaf in leaves)
            and self.algorithm.guarantee().status is Status.PROVEN
        )

    def shared(self, data: Any, seed: np.random.SeedSequence) -> Array:
        """Everything that one training shares, as one vector."""
        start, secret, sampling = seed.spawn(3)
        streams = Streams(np.random.default_rng(start), int(sampling.generate_state(1)[0]))
        honest = self.fault in ("none", "unlisted-release")
        noise = Noise(self.plan, secret) if honest else _Careless(self.plan, secret, 0.1 if self.fault == "small-noise" else 1.0)
        model = self.fitted.fit(data, noise=noise, rng=streams).model
        parts = [_described(np.asarray(part, np.float64)) for part in model.shared.values()]
        if self.fault == "unlisted-release":
            parts.append(_exact_sums(data))
        return np.concatenate(parts)


def _prepared(algorithm: str, data: Any, epsilon: float | None, delta: float, parameters: dict[str, Any], fault: str) -> _Attacked:
    kind = algorithms.find(algorithm)
    private = kind.plan is not Algorithm.plan
    if private and epsilon is None:
        raise BadInput(f"{kind.title} takes a budget: say at which epsilon it is to be attacked.")
    budget = Budget(epsilon=epsilon, delta=delta) if private and epsilon is not None else None
    made = algorithms.build(algorithm, parameters, data.shape, budget)
    level = calibrate(lambda at: made.plan(data.shape, at), budget) if budget else 1.0
    fitted = made
    if fault == "no-clipping":
        clips = {name: 10 * getattr(made, name) for name in type(made).model_fields if "clip" in name and isinstance(getattr(made, name), float)}
        if not clips:
            raise BadInput(f"{made.title} has no clip norm among its parameters, so none can be left out. Faults: {', '.join(FAULTS)}.")
        fitted = made.model_copy(update=clips)
    if fault == "small-noise" and not private:
        raise BadInput(f"{made.title} draws no noise that could be too small.")
    return _Attacked(made, fitted, made.plan(data.shape, level), fault)


def _described(part: Array) -> Array:
    """A shared array as numbers of a public shape that no rotation or renumbering of factors changes: products of columns' factors, lengths of units'."""
    if part.ndim != 2:
        return part.ravel() if part.size in (1, COLUMNS, UNITS) else np.zeros(0)
    if part.shape[0] == UNITS:
        return np.asarray(np.linalg.norm(part, axis=1))
    rows = part if part.shape[0] == COLUMNS else part.T
    return np.asarray((rows @ rows.T)[np.triu_indices(COLUMNS)]) if len(rows) == COLUMNS else np.zeros(0)


def _exact_sums(data: Any) -> Array:
    if isinstance(data, Ratings):
        return np.asarray(np.bincount(data.items, data.values, data.n_items), np.float64)
    return np.asarray(data.X.sum(axis=0), np.float64).ravel()


# ---- the small world --------------------------------------------------------------------------------------------------


def _worlds(kind: type[Algorithm]) -> tuple[Any, Any]:
    """A small simulated set with a canary, and without: somebody with extreme tastes about everything, or a sample of one feature."""
    rng = np.random.default_rng(2026)
    if kind.task == "samples":
        X = rng.gamma(0.5, 1.0, (UNITS, 4)) @ rng.gamma(0.3, 1.0, (4, COLUMNS))
        X[0] = 0
        X[0, COLUMNS - 1] = 1.0
        return Samples.of(X, public=True), Samples.of(np.where(np.arange(UNITS)[:, None] == 0, 0, X), public=True)
    low, high = BOUNDS
    taste = 3 + 0.8 * rng.standard_normal((UNITS, 3)) @ rng.standard_normal((3, COLUMNS))
    users, items = np.nonzero(rng.random(taste.shape) < 0.4)
    values = taste[users, items]
    others = users > 0
    extreme = np.where(np.arange(COLUMNS) % 2, low, high)

    def made(canary: bool) -> Ratings:
        who, what, how = users[others], items[others], values[others]
        if canary:
            who, what, how = (np.concatenate(pair) for pair in ((np.zeros(COLUMNS, int), who), (np.arange(COLUMNS), what), (extreme, how)))
        return Ratings.of(who, what, how, n_users=UNITS, n_items=COLUMNS, bounds=BOUNDS, public=True)

    return made(True), made(False)


# ---- the measurement --------------------------------------------------------------------------------------------------


def _measured(absent: Array, present: Array, delta: float, gaussian: bool) -> tuple[float, Array, Array]:
    """Lower bound on epsilon, and the attack's error rates on the half that judged it."""
    half = min(len(absent), len(present)) // 2
    learn, judge = (absent[:half], present[:half]), (absent[half:], present[half:])
    spread = np.concatenate([rows - rows.mean(axis=0) for rows in learn]).var(axis=0)
    direction = (learn[1].mean(axis=0) - learn[0].mean(axis=0)) / (spread + 1e-9 * spread.mean() + 1e-300)
    threshold = _best_threshold(learn[0] @ direction, learn[1] @ direction, delta, gaussian)
    out, inside = judge[0] @ direction, judge[1] @ direction
    bound = _bound(out, inside, threshold, delta, gaussian)
    cuts = np.quantile(np.concatenate([out, inside]), np.linspace(0, 1, 101))
    return bound, np.array([(out > cut).mean() for cut in cuts]), np.array([(inside <= cut).mean() for cut in cuts])


def _best_threshold(out: Array, inside: Array, delta: float, gaussian: bool) -> float:
    cuts = np.quantile(np.concatenate([out, inside]), np.linspace(0.005, 0.995, 199))
    return float(cuts[int(np.argmax([_bound(out, inside, cut, delta, gaussian) for cut in cuts]))])


def _bound(out: Array, inside: Array, threshold: float, delta: float, gaussian: bool) -> float:
    """Epsilon is at least this: with confidence 95% the attack's error rates at a threshold lie below their upper limits."""
    alarms, missed = int((out > threshold).sum()), int((inside <= threshold).sum())
    fpr, fnr = _upper(alarms, len(out)), _upper(missed, len(inside))
    plain = max((math.log((1 - delta - b) / a) for a, b in ((fpr, fnr), (fnr, fpr)) if 1 - delta - b > 0), default=0.0)
    if gaussian:
        mu = float(norm.ppf(1 - fpr) - norm.ppf(fnr))
        if mu > 0:
            plain = max(plain, exactly(Gaussian(1 / mu), delta))
    return max(plain, 0.0)


def _upper(count: int, of: int) -> float:
    """Upper confidence limit of a rate; both rates together hold with 95% (Clopper & Pearson 1934)."""
    return 1.0 if count >= of else float(beta.ppf(1 - (1 - CONFIDENCE) / 2, count + 1, of - count))


def as_record(found: Audit) -> dict[str, Any]:
    """An audit as JSON."""
    return {
        "algorithm": found.algorithm, "fault": found.fault, "lower": found.lower, "proven": found.proven, "delta": found.delta, "runs": found.runs,
        "most": found.most, "confidence": CONFIDENCE, "broken": found.broken, "status": str(found.guarantee.status), "words": found.words,
        "false_alarms": list(found.false_alarms), "misses": list(found.misses),
    }  # fmt: skip


__all__ = ["CONFIDENCE", "FAULTS", "Audit", "as_record", "audit", "most_that_can_be_shown"]
