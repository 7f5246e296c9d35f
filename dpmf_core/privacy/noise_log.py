"""Noise that logs what it publishes, and can publish again what an earlier run did.

Audits and contract tests compare the exact sums of two data sets with it; no run uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.privacy.events import Event
from dpmf_core.privacy.mechanisms import AdditiveNoise
from dpmf_core.privacy.noise import Noise, Release


@dataclass
class ReleaseLog:
    """One release: its exact parts go in, and its noisy parts come out.

    Parts are copies, because an algorithm may overwrite its arrays.

    Attributes
    ----------
    leaf : AdditiveNoise
    size : int
        The number of coordinates.
    scale : float
        The noise scale.
    place : int
        The place among all releases.
    exact, noisy : list of array
    """

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


class LoggedRelease(Release):
    """Keeps a `ReleaseLog` up to date and hands out what its owner decides."""

    owner: "LoggedNoise"
    entry: ReleaseLog

    def _publish(self, part: Array, noise: Array) -> Array:
        noisy_part = self.owner.hand_out(self.entry, part, noise)
        self.entry.exact.append(np.array(part))
        self.entry.noisy.append(np.array(noisy_part))
        self.owner.after_part()
        return noisy_part


class LoggedNoise(Noise):
    """Noise that logs every release.

    Parameters
    ----------
    plan : Event
        What may be released.
    seed : numpy.random.SeedSequence, optional
        As in `Noise`.
    before : sequence of ReleaseLog, optional
        The log of an earlier run, to publish its noisy parts again.
    factor : float
        The scale that is drawn, over the planned one.
    """

    release_type: ClassVar[type[LoggedRelease]] = LoggedRelease

    def __init__(
        self,
        plan: Event,
        seed: np.random.SeedSequence | None = None,
        before: Sequence[ReleaseLog] | None = None,
        factor: float = 1.0,
    ) -> None:
        super().__init__(plan, seed)
        self.log: list[ReleaseLog] = []
        self.before = before
        self._factor = factor

    def _open(self, leaf: AdditiveNoise, size: int) -> Release:
        release = self.release_type(leaf, size, self._stream.spawn(1)[0])
        release.scale *= self._factor
        release.owner = self
        release.entry = ReleaseLog(leaf, size, release.scale, len(self.log))
        self.log.append(release.entry)
        return release

    def hand_out(self, entry: ReleaseLog, part: Array, noise: Array) -> Array:
        """What is published of a part."""
        if self.before is None:
            return part + noise
        return self.before[entry.place].noisy[len(entry.exact)].copy()

    def after_part(self) -> None:
        """Called after each part that was published."""
