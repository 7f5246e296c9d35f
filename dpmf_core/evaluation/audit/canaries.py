"""The canary of an audit, and the output of one training run.

A training run is watched from outside, by everything it shares, and from inside, by what it
released. It is replayed on the other data set with the same releases, so every release's exact
statistic is known in both. That gives two figures. One is the likelihood ratio of what was seen; no
attack on the releases beats it (Neyman & Pearson). The other is the realised mu: how far the
statistics moved, in units of the noise that was drawn.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, PrivateAlgorithm, Streams
from dpmf_core.base.arrays import Array
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.audit.canary_data import COLUMNS, UNITS, Pair, Unit, pairs
from dpmf_core.privacy import Event, normal_form, sequence
from dpmf_core.privacy.gaussian import all_gaussian
from dpmf_core.privacy.mechanisms import (
    EVERYBODY,
    AdditiveNoise,
    DisjointGroup,
    Mechanism,
)
from dpmf_core.privacy.noise import Release
from dpmf_core.privacy.noise_log import LoggedNoise, ReleaseLog

FAULTS: dict[str, str] = {
    "none": "the algorithm as it is",
    "small-noise": "a tenth of the noise in the ledger",
    "unlisted-release": "an exact sum is released that is not in the ledger",
    "no-clipping": "clip norms ten times those in the ledger",
    "exact-start": "a start computed from the private data, without noise",
}
# faults under which every release still has Gaussian noise, even if too little
STILL_GAUSSIAN = {"none", "small-noise", "no-clipping"}
CERTAIN = 1e6  # the score of releases that the other data set could not have made
NEAR_TIE = 0.999  # of the largest movement: the first pair above it is taken
PILOTS = 2  # replays to choose a pair, one from each data set


# ---- from inside ---------------------------------------------------------------------------------


class _Enough(Exception):  # no error: the whole plan was replayed
    """Everything that the first run released was replayed; the rest is post-processing."""


class _Otherwise(Exception):  # no error, but an outcome
    """The other data set asks for another release, which alone distinguishes the two."""


class _AuditedNoise(LoggedNoise):
    """Draws the planned noise times `factor`, whatever sensitivity is claimed, and logs it.

    With a log of `before`, it publishes the log's values again. They are the whole plan's if
    `is_whole`.
    """

    def __init__(
        self,
        plan: Event,
        seed: np.random.SeedSequence,
        factor: float,
        before: Sequence[ReleaseLog] | None = None,
        is_whole: bool = False,
    ) -> None:
        super().__init__(plan, seed, before, factor)
        self._is_whole = is_whole

    def release(
        self,
        statistic: str,
        *,
        sensitivity: float,
        size: int,
        group: DisjointGroup = EVERYBODY,
    ) -> Release:
        leaf = self.next_release(statistic, group)
        return super().release(
            statistic,
            sensitivity=leaf.sensitivity,
            size=size,
            group=group,
        )

    def hand_out(self, entry: ReleaseLog, part: Array, noise: Array) -> Array:
        if self.before is not None:
            if entry.place < len(self.before):
                earlier = self.before[entry.place].noisy
            else:
                earlier = []
            number = len(entry.exact)
            if number >= len(earlier) or earlier[number].shape != part.shape:
                raise _Otherwise
        return super().hand_out(entry, part, noise)

    def after_part(self) -> None:
        if self.before is None or not self._is_whole:
            return
        if _n_parts(self.log) == _n_parts(self.before):
            raise _Enough


def _n_parts(log: Sequence[ReleaseLog]) -> int:
    return sum(len(entry.exact) for entry in log)


def _log_ratio(log: Sequence[ReleaseLog], other: Sequence[ReleaseLog]) -> float:
    """The log density ratio of what was published, in `log`'s data set over the other.

    Both densities are by the noise in the ledger.
    """
    total = 0.0
    for here, there in zip(log, other, strict=True):
        scale = here.leaf.noise_multiplier * here.leaf.sensitivity
        for output, exact, other_exact in zip(
            here.noisy, here.exact, there.exact, strict=True
        ):
            near = (output - exact).astype(np.float64) / scale
            far = (output - other_exact).astype(np.float64) / scale
            total += here.leaf.log_density(near) - here.leaf.log_density(far)
    return total


def _squared_mu(log: Sequence[ReleaseLog], other: Sequence[ReleaseLog]) -> float:
    """The squared distance of exact statistics in units of the drawn noise: mu^2 if Gaussian."""
    return sum(
        float(((exact - other_exact) ** 2).sum()) / here.scale**2
        for here, there in zip(log, other, strict=True)
        for exact, other_exact in zip(here.exact, there.exact, strict=True)
    )


# ---- one training --------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttackedTraining:
    """The output of one training run.

    Attributes
    ----------
    shared : (n,)
        Everything it shares, as one vector.
    ratio : float
        The log likelihood ratio of "present" for what it released.
    squared_mu : float
        Realised mu^2 of the releases; 0 if nothing was replayed.
    """

    shared: Array
    ratio: float
    squared_mu: float


@dataclass(frozen=True)
class AttackTarget:
    """An algorithm with its plan, as claimed and as run.

    A proof holds for every start, so the adversary knows it. With a proof, all runs start equal,
    and only the noise differs.

    Attributes
    ----------
    algorithm : Algorithm
        As claimed.
    run : Algorithm
        As run.
    plan : Event
    fault : str
    seed : int
        The seed of public starts and of trials.
    lens : (k, n_columns) or None
        Directions in which shared arrays are compared; None for all columns of a simulated data
        set.
    """

    algorithm: Algorithm
    run: Algorithm
    plan: Event
    fault: str
    seed: int = 0
    lens: Array | None = None

    @property
    def _leaves(self) -> list[Mechanism]:
        return [leaf for leaf, _ in normal_form(self.plan)]

    @property
    def has_noisy_sums(self) -> bool:
        """Whether the ledger consists of noisy sums, so that releases can be replayed."""
        return bool(self._leaves) and all(
            isinstance(leaf, AdditiveNoise) for leaf in self._leaves
        )

    @property
    def is_proven(self) -> bool:
        return self.algorithm.guarantee().has_epsilon

    @property
    def through_mu(self) -> bool:
        """Whether mu may be bounded: mu-GDP is claimed and every release has Gaussian noise.

        The bound refutes claims of a smaller mu. Its epsilon is that of one Gaussian release with
        this mu; successive steps may have another curve below the mu that they claim.
        """
        gaussian = bool(self._leaves) and all_gaussian(sequence(*self._leaves))
        return gaussian and self.is_proven and self.fault in STILL_GAUSSIAN

    @property
    def rule(self) -> str:
        """Why a bound goes through mu, or why it may not."""
        if self.through_mu:
            return (
                "Every release has Gaussian noise, so the audit bounds μ and reports it as the ε of"
                " one Gaussian release."
            )
        if self.fault not in STILL_GAUSSIAN:
            return (
                f"By error rates only: {FAULTS[self.fault]}. That is not a Gaussian mechanism, so μ"
                " does not apply."
            )
        if not self.is_proven:
            return "By error rates only: nothing is proved, so there is no μ to bound."
        return "By error rates only: not every release has Gaussian noise, so μ does not apply."

    def choose(self, unit: Unit) -> Pair:
        """The simulated pair of data sets that shows most."""
        return self.furthest(pairs(self.run, unit, self._start))

    def furthest(self, candidates: tuple[Pair, ...]) -> Pair:
        """The pair whose releases move furthest in a few replays; the first if there are none."""
        if len(candidates) == 1 or not (self.has_noisy_sums and self.is_proven):
            return candidates[0]

        def movement(pair: Pair) -> float:
            return sum(
                self.training(
                    pair,
                    bool(trial % 2),
                    np.random.SeedSequence(self.seed, spawn_key=(2, trial)),
                ).squared_mu
                for trial in range(PILOTS)
            )

        movements = [movement(pair) for pair in candidates]
        return next(
            pair
            for pair, size in zip(candidates, movements, strict=True)
            if size >= NEAR_TIE * max(movements)
        )

    @property
    def _start(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(1,))

    def training(
        self, pair: Pair, inside: bool, seed: np.random.SeedSequence
    ) -> AttackedTraining:
        """One run with the canary (`inside`) or without, and its replay on the other data set."""
        start, secret, sampling = seed.spawn(3)
        if self.is_proven:
            start = sampling = self._start
        key = int(sampling.generate_state(1)[0])
        noise = self._noise(secret)
        model = algorithms.train(
            self.run, pair[inside], noise, Streams(np.random.default_rng(start), key)
        )
        shared = (np.asarray(part, np.float64) for part in model.shared.values())
        parts = [
            _invariants(part) if self.lens is None else _through(self.lens, part)
            for part in shared
        ]
        if self.fault == "unlisted-release":
            parts.append(_exact_sums(pair[inside]))
        if self.has_noisy_sums:
            ratio, squared_mu = self._replay(
                pair[not inside],
                noise,
                secret,
                lambda: Streams(np.random.default_rng(start), key),
            )
        else:
            ratio = 0.0
            squared_mu = 0.0
        return AttackedTraining(
            np.concatenate(parts), ratio if inside else -ratio, squared_mu
        )

    def _replay(
        self,
        there: Any,
        noise: _AuditedNoise,
        secret: np.random.SeedSequence,
        streams: Callable[[], Streams],
    ) -> tuple[float, float]:
        """The log likelihood ratio of the releases, and how far exact statistics moved."""
        other = self._noise(secret, noise.log, noise.ledger == normal_form(self.plan))
        try:
            with suppress(_Enough):
                algorithms.train(self.run, there, other, streams())
        except _Otherwise:
            return CERTAIN, math.inf
        if _n_parts(other.log) < _n_parts(noise.log):
            return CERTAIN, math.inf
        return _log_ratio(noise.log, other.log), _squared_mu(noise.log, other.log)

    def _noise(self, secret: np.random.SeedSequence, *before: Any) -> _AuditedNoise:
        return _AuditedNoise(
            self.plan, secret, 0.1 if self.fault == "small-noise" else 1.0, *before
        )


def faults_of(kind: type[Algorithm]) -> tuple[str, ...]:
    """The faults that can be planted in an algorithm."""
    private = issubclass(kind, PrivateAlgorithm)
    can = {
        "small-noise": private,
        "no-clipping": private and bool(_clips(kind)),
        "exact-start": kind.id == "dp-nmf",
    }
    return tuple(fault for fault in FAULTS if can.get(fault, True))


def _clips(kind: type[Algorithm]) -> list[str]:
    return [
        name
        for name, info in kind.model_fields.items()
        if "clip" in name and info.annotation is float
    ]


def with_fault(algorithm: Algorithm, fault: str) -> Algorithm:
    """The algorithm as it is run, with this fault."""
    if fault == "no-clipping":
        return algorithm.model_copy(
            update={
                name: 10 * getattr(algorithm, name) for name in _clips(type(algorithm))
            }
        )
    if fault == "exact-start":
        return algorithm.model_copy(update={"start": "nndsvd"})
    return algorithm


def _invariants(part: Array) -> Array:
    """A shared array as numbers that no rotation or renumbering of factors changes.

    They are products of columns' factors, and lengths of units' factors.
    """
    if part.ndim != 2:
        if part.size in (1, COLUMNS, UNITS):
            return part.ravel()
        return np.zeros(0)
    if part.shape[0] == UNITS:
        return np.asarray(np.linalg.norm(part, axis=1))
    rows = part if part.shape[0] == COLUMNS else part.T
    if len(rows) == COLUMNS:
        return (rows @ rows.T)[np.triu_indices(COLUMNS)]
    return np.zeros(0)


def _through(lens: Array, part: Array) -> Array:
    """The shared array in the directions of a lens, only for arrays of columns."""
    if part.ndim and len(part) == lens.shape[1]:
        rows = part.reshape(len(part), -1)
    else:
        rows = part.T
    if rows.ndim != 2 or len(rows) != lens.shape[1]:
        if part.size == 1:
            return part.ravel()
        return np.zeros(0)
    view = lens @ rows
    return (
        (view @ view.T)[np.triu_indices(len(view))] if part.ndim == 2 else view.ravel()
    )


def _exact_sums(data: Any) -> Array:
    if isinstance(data, Ratings):
        return data.item_sums(data.values)
    return np.asarray(data.X.sum(axis=0), np.float64).ravel()


def rounded(value: float) -> float:
    """Two decimals, rounded down, so that a lower bound stays one."""
    return math.floor(100 * value) / 100
