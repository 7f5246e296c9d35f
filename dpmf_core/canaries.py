"""What an audit trains on, what is planted in it, and what one training gives away.

A small simulated world with and without a canary: a user with extreme tastes, one extreme rating (or the other extreme), or a sample of one feature.
A training is watched from outside, by everything it shares, and from inside, by what it released: replayed on the other world with the same releases,
every release's exact statistic is known in both, and so is the likelihood ratio of what was seen, which no attack on the releases beats (Neyman & Pearson).
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput, closest
from dpmf_core.privacy import VALUE, Budget, Event, Noise, calibrate, normal_form
from dpmf_core.privacy.events import Gaussian, Leaf, PosteriorSample
from dpmf_core.privacy.noise import Release
from dpmf_core.samples import Samples

Array = npt.NDArray[Any]
Unit = Literal["user", "rating", "value"]
UNITS_IN_ORDER = ("value", "rating", "user")  # a larger one holds the smaller
FAULTS: dict[str, str] = {
    "none": "the algorithm as it is",
    "small-noise": "ten times less noise than the ledger says",
    "unlisted-release": "an exact sum is shared beside what is in the ledger",
    "no-clipping": "clip norms ten times larger than the ledger says",
    "exact-start": "a start computed from the private data, without noise",
}
UNITS, COLUMNS, BOUNDS = 300, 40, (1.0, 5.0)
CERTAIN = 1e6  # a score: releases that the other world could not have made


# ---- the worlds -------------------------------------------------------------------------------------------------------


def protected(made: Algorithm) -> Unit:
    """What an algorithm's guarantee (or claim) is about; samples count as users."""
    guarantee = made.guarantee()
    if guarantee.unit == VALUE:
        return "value"
    return "rating" if guarantee.unit == "rating" else "user"


def worlds(kind: type[Algorithm], unit: Unit) -> tuple[Any, Any]:
    """Without the canary, and with it. Raises BadInput where samples are asked to differ by a rating."""
    if kind.task == "samples":
        if unit != "user":
            raise BadInput(f"{kind.title} factorises samples: what it hides is a whole one. Leave the unit out.")
        return _samples()
    return _ratings(unit)


def _samples() -> tuple[Samples, Samples]:
    """Two kinds of samples, alike but for the features they have: one odd sample makes the first kind the stronger, the canary the second."""
    rng = np.random.default_rng(2026)
    half, each = COLUMNS // 2, (UNITS - 2) // 2
    kind = rng.gamma(0.5, 1.0, (each, 4)) @ rng.gamma(0.3, 1.0, (4, half)) + 0.01
    kind /= np.linalg.norm(kind, axis=1, keepdims=True)
    typical = kind.mean(axis=0) / np.linalg.norm(kind.mean(axis=0))
    X = np.zeros((UNITS, COLUMNS))
    X[1 : each + 1, :half], X[each + 1 : -1, half:], X[-1, :half] = kind, kind, 0.5 * typical
    canary = X.copy()
    canary[0, half:] = typical
    return Samples.of(X, public=True), Samples.of(canary, public=True)


def _ratings(unit: Unit) -> tuple[Ratings, Ratings]:
    rng = np.random.default_rng(2026)
    low, high = BOUNDS
    taste = 3 + 0.8 * rng.standard_normal((UNITS, 3)) @ rng.standard_normal((3, COLUMNS))
    users, items = np.nonzero(rng.random(taste.shape) < 0.4)
    others = users > 0
    users, items, values = users[others], items[others], taste[users, items][others]
    nothing = (np.zeros(0, int), np.zeros(0))
    if unit == "user":
        held, absent, present = nothing, nothing, (np.arange(COLUMNS), np.where(np.arange(COLUMNS) % 2, low, high))
    else:  # her other ratings are low, and the canary is high
        last = np.array([COLUMNS - 1])
        held, present = (np.arange(3), np.full(3, low)), (last, np.array([high]))
        absent = (last, np.array([low])) if unit == "value" else nothing

    def made(*hers: tuple[Array, Array]) -> Ratings:
        mine, how = (np.concatenate([pair[side] for pair in hers]) for side in (0, 1))
        who, what = np.concatenate([np.zeros(len(mine), int), users]), np.concatenate([mine, items])
        return Ratings.of(who, what, np.concatenate([how, values]), n_users=UNITS, n_items=COLUMNS, bounds=BOUNDS, public=True)

    return made(held, absent), made(held, present)


# ---- from inside ------------------------------------------------------------------------------------------------------


@dataclass
class _Log:
    """Every part that was released, in order: its leaf, what was published, what it was exactly."""

    leaves: list[Leaf] = field(default_factory=list)
    published: list[Array] = field(default_factory=list)
    exact: list[Array] = field(default_factory=list)


class _WatchedRelease(Release):
    log: _Log
    before: _Log | None

    def _publish(self, part: Array, noise: Array) -> Array:
        out = part + noise
        if self.before is not None:
            place = len(self.log.exact)
            if place >= len(self.before.published) or self.before.published[place].shape != part.shape:
                raise _Otherwise
            out = self.before.published[place]
        self.log.leaves.append(self.leaf)
        self.log.published.append(out)
        self.log.exact.append(part)
        return out


class _Otherwise(Exception):  # no error, but an outcome
    """The other world asks for another release than the first one did: that alone tells them apart."""


class _Watched(Noise):
    """Draws the planned noise times `scale`, whatever sensitivity is claimed, and logs it; where there is a log of `before`, publishes that again."""

    def __init__(self, plan: Event, seed: np.random.SeedSequence, scale: float, before: _Log | None = None) -> None:
        super().__init__(plan, seed)
        self._scale, self._before, self.log = scale, before, _Log()

    def release(self, statistic: str, *, sensitivity: float, size: int) -> Release:
        return super().release(statistic, sensitivity=self.planned(statistic).sensitivity, size=size)

    def _open(self, leaf: Leaf, size: int) -> Release:
        pen = _WatchedRelease(leaf, size, self._seed.spawn(1)[0], self._threads)
        pen.scale *= self._scale
        pen.log, pen.before = self.log, self._before
        return pen


def _log_ratio(seen: _Log, other: _Log) -> float:
    """log of the density of what was published in the world of `seen` over that in the other, both by the noise that the ledger says."""
    total = 0.0
    for leaf, published, here, there in zip(seen.leaves, seen.published, seen.exact, other.exact, strict=True):
        scale = leaf.noise_multiplier * leaf.sensitivity
        near, far = ((published - exact).astype(np.float64) / scale for exact in (here, there))
        total += float((far**2 - near**2).sum() / 2) if isinstance(leaf, Gaussian) else float((np.abs(far) - np.abs(near)).sum())
    return total


# ---- one training -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attacked:
    """An algorithm with its plan, as it claims to be (`claimed`) and as it is run (`run`)."""

    claimed: Algorithm
    run: Algorithm
    plan: Event
    fault: str

    @property
    def released(self) -> bool:
        """Whether the ledger is of noisy sums, so that releases can be replayed."""
        leaves = [leaf for leaf, _ in normal_form(self.plan)]
        return bool(leaves) and not any(isinstance(leaf, PosteriorSample) for leaf in leaves)

    @property
    def gaussian(self) -> bool:
        """Whether what is claimed is a Gaussian trade-off."""
        leaves = [leaf for leaf, _ in normal_form(self.plan)]
        return bool(leaves) and all(isinstance(leaf, Gaussian) for leaf in leaves) and self.claimed.guarantee().has_epsilon

    def training(self, pair: tuple[Any, Any], inside: bool, seed: np.random.SeedSequence) -> tuple[Array, float]:
        """Everything that one training shares, as one vector, and the log likelihood ratio of "present" for what it released."""
        here, there = pair[inside], pair[not inside]
        start, secret, sampling = seed.spawn(3)
        key = int(sampling.generate_state(1)[0])
        noise = self._noise(secret)
        model = self.run.fit(here, noise=noise, rng=Streams(np.random.default_rng(start), key)).model
        parts = [_described(np.asarray(part, np.float64)) for part in model.shared.values()]
        if self.fault == "unlisted-release":
            parts.append(_exact_sums(here))
        ratio = 0.0
        if self.released:
            other = self._noise(secret, noise.log)
            try:
                self.run.fit(there, noise=other, rng=Streams(np.random.default_rng(start), key))
                ratio = _log_ratio(noise.log, other.log)
            except _Otherwise:
                ratio = CERTAIN
        return np.concatenate(parts), ratio if inside else -ratio

    def _noise(self, secret: np.random.SeedSequence, before: _Log | None = None) -> _Watched:
        return _Watched(self.plan, secret, 0.1 if self.fault == "small-noise" else 1.0, before)


def prepared(algorithm: str, shape: Any, epsilon: float | None, delta: float, parameters: dict[str, Any], fault: str) -> Attacked:
    """Raises BadInput on a fault that the algorithm cannot have, and where it takes a budget and gets none."""
    if fault not in FAULTS:
        raise BadInput(f"There is no fault {fault!r} to plant.{closest(fault, FAULTS)} Known: {', '.join(FAULTS)}.")
    kind = algorithms.find(algorithm)
    private = kind.plan is not Algorithm.plan
    if private and epsilon is None:
        raise BadInput(f"{kind.title} takes a budget: say at which epsilon it is to be attacked.")
    budget = Budget(epsilon=epsilon, delta=delta) if private and epsilon is not None else None
    made = algorithms.build(algorithm, parameters, shape, budget)
    if fault not in faults_of(kind):
        raise BadInput(f"{made.title} cannot have the fault {fault}, {FAULTS[fault]}. It can have: {', '.join(faults_of(kind))}.")
    level = calibrate(lambda at: made.plan(shape, at), budget) if budget else 1.0
    return Attacked(made, _with_fault(made, fault), made.plan(shape, level), fault)


def faults_of(kind: type[Algorithm]) -> tuple[str, ...]:
    """The faults that can be planted in an algorithm."""
    private = kind.plan is not Algorithm.plan
    can = {"small-noise": private, "no-clipping": private and bool(_clips(kind)), "exact-start": kind.id == "dp-nmf"}
    return tuple(fault for fault in FAULTS if can.get(fault, True))


def _clips(kind: type[Algorithm]) -> list[str]:
    return [name for name, info in kind.model_fields.items() if "clip" in name and info.annotation is float]


def _with_fault(made: Algorithm, fault: str) -> Algorithm:
    if fault == "no-clipping":
        return made.model_copy(update={name: 10 * getattr(made, name) for name in _clips(type(made))})
    return made.model_copy(update={"start": "nndsvd"}) if fault == "exact-start" else made


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


def rounded(value: float) -> float:
    """Two digits after the point, never up: a lower bound stays one."""
    return math.floor(100 * value) / 100
