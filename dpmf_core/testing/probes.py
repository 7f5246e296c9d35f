"""Instruments that replace the object which hands out released figures, unnoticed by algorithms.

`Recorder` notes every exact statistic and what was released for it. `Replay` does so too, but hands
out what an earlier run released, so both runs take the same path and only the statistics can
differ. `Blindfold` hands out noise alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms import Algorithm, Streams, train
from dpmf_core.privacy import Event, Noise
from dpmf_core.privacy.events import Ledger
from dpmf_core.privacy.mechanisms import AdditiveNoise
from dpmf_core.privacy.noise import Release

Array = npt.NDArray[Any]


@dataclass
class ReleaseRecord:
    """One release: leaf, coordinates and noise scale; exact parts in, noisy parts out."""

    leaf: AdditiveNoise
    size: int
    scale: float
    place: int
    exact: list[Array] = field(default_factory=list)
    noisy: list[Array] = field(default_factory=list)

    @property
    def statistic(self) -> Array:
        """All parts, stacked; a symmetric part counts in full, which is its Frobenius norm."""
        return np.concatenate([part.astype(np.float64).ravel() for part in self.exact])

    @property
    def heading(self) -> tuple[AdditiveNoise, int, float, list[tuple[int, ...]]]:
        """What must not depend on the data: declared facts and shapes."""
        return self.leaf, self.size, self.scale, [part.shape for part in self.exact]


class _Pen(Release):
    """Keeps a `ReleaseRecord` up to date and hands out what its owner decides."""

    owner: "Recorder"
    entry: ReleaseRecord

    def symmetric(self, part: Array) -> Array:
        tilt = np.abs(part - np.swapaxes(part, -1, -2)).max(initial=0.0)
        assert tilt == 0, (
            f"{self.leaf.statistic}: not symmetric by {tilt}; what is skew leaves without noise"
        )
        return super().symmetric(part)

    def _publish(self, part: Array, noise: Array) -> Array:
        noisy_part = self.owner.hand_out(self.entry, part, noise)
        self.entry.exact.append(np.array(part))
        self.entry.noisy.append(np.array(noisy_part))
        return noisy_part


class Recorder(Noise):
    """Noise that records what is released."""

    def __init__(self, plan: Event, seed: np.random.SeedSequence | None = None) -> None:
        super().__init__(plan, seed)
        self.log: list[ReleaseRecord] = []

    def _open(self, leaf: AdditiveNoise, size: int) -> Release:
        pen = _Pen(leaf, size, self._stream.spawn(1)[0])
        pen.owner, pen.entry = self, ReleaseRecord(leaf, size, pen.scale, len(self.log))
        self.log.append(pen.entry)
        return pen

    def hand_out(self, entry: ReleaseRecord, part: Array, noise: Array) -> Array:
        return part + noise


class Blindfold(Recorder):
    """Noise that releases no statistic, only noise."""

    def hand_out(self, entry: ReleaseRecord, part: Array, noise: Array) -> Array:
        return part * 0 + noise


class Replay(Recorder):
    """Noise that answers as a recorded run was answered."""

    def __init__(self, plan: Event, before: list[ReleaseRecord]) -> None:
        super().__init__(plan, np.random.SeedSequence(0))
        self._before = before

    def hand_out(self, entry: ReleaseRecord, part: Array, noise: Array) -> Array:
        return self._before[entry.place].noisy[len(entry.exact)].copy()


@dataclass(frozen=True)
class Outcome:
    """A fitted model, its ledger and its releases."""

    model: Any
    ledger: Ledger
    log: list[ReleaseRecord]
    init_state: Any  # of the stream of starting values, after the fit

    @property
    def shared(self) -> dict[str, Array]:
        return {name: np.asarray(array) for name, array in self.model.shared.items()}


def fit(algorithm: Algorithm, data: Any, noise: Recorder, seed: int = 0) -> Outcome:
    init = np.random.default_rng([seed, 1])
    model = train(algorithm, data, noise, Streams(init, seed + 2))
    return Outcome(model, noise.ledger, noise.log, init.bit_generator.state)


def as_planned(event: Event) -> Event:
    """The algorithm's plan; tests of other noise replace this function."""
    return event


def record(algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0) -> Outcome:
    plan = as_planned(algorithm.plan(data.shape, level))
    return fit(algorithm, data, Recorder(plan, np.random.SeedSequence(seed)), seed)


def blind(algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0) -> Outcome:
    plan = as_planned(algorithm.plan(data.shape, level))
    return fit(algorithm, data, Blindfold(plan, np.random.SeedSequence(seed)), seed)


def replay(
    algorithm: Algorithm, data: Any, before: Outcome, *, level: float = 1.0, seed: int = 0
) -> Outcome:
    plan = as_planned(algorithm.plan(data.shape, level))
    return fit(algorithm, data, Replay(plan, before.log), seed)


def pairs(first: Outcome, second: Outcome) -> Iterator[tuple[ReleaseRecord, ReleaseRecord]]:
    """The releases of two runs side by side.

    Order, shapes, scales and declared sensitivities must agree.
    """
    assert [entry.heading for entry in first.log] == [entry.heading for entry in second.log]
    yield from zip(first.log, second.log, strict=True)
