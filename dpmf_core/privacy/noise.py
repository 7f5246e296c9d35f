"""The only place that draws privacy noise. Drawing is recording: what was drawn is what was spent.

A `Noise` is opened on a plan. `release` takes the next planned release of that name, writes it to the ledger and hands
out a pen that adds noise to the statistic, whole or part by part. A release that the plan does not hold is refused,
and so are more coordinates than the release declared.

One floating-point Gaussian per coordinate: no defence against Mironov (2012), so this is a tool for study.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.privacy.events import Event, Gaussian, Laplace, Leaf, Ledger, PosteriorSample, normal_form

CHUNK = 1 << 18  # normals drawn from one stream; fixed, so that results do not depend on the number of threads
Array = npt.NDArray[Any]


class PlanViolation(RuntimeError):
    """An algorithm tried to release what its plan does not hold."""


class Noise:
    """Draws the noise of one run, on one plan, and keeps its ledger.

    plan: what may be released. seed: the privacy stream; None takes the operating system's entropy and cannot be repeated.
    threads: for drawing; any number gives the same draws.
    """

    def __init__(self, plan: Event, seed: np.random.SeedSequence | None = None, threads: int = 1) -> None:
        self._left: dict[Leaf, int] = dict(normal_form(plan))
        self._order = {leaf: place for place, leaf in enumerate(self._left)}
        self._spent: dict[Leaf, int] = {}
        self._seed = np.random.SeedSequence() if seed is None else seed
        self._threads = threads

    @property
    def spent(self) -> Ledger:
        """What has been released so far, in the plan's order."""
        return tuple(sorted(self._spent.items(), key=lambda entry: self._order[entry[0]]))

    def planned(self, statistic: str) -> Leaf:
        """The next planned release of this name, equal ones taken together: its noise multiplier is public. Raises PlanViolation where there is none."""
        for leaf, count in self._left.items():
            if leaf.statistic == statistic and count > 0:
                return leaf
        left = ", ".join(f"{leaf.statistic} x {count}" for leaf, count in self._left.items() if count) or "nothing"
        raise PlanViolation(f"The plan holds no further release of {statistic!r}. Left in the plan: {left}.")

    def release(self, statistic: str, *, sensitivity: float, size: int) -> "Release":
        """Open the next planned release of `size` coordinates and record it. Raises PlanViolation when the plan does not hold it."""
        leaf = self.planned(statistic)
        if not math.isclose(leaf.sensitivity, sensitivity, rel_tol=1e-12):
            raise PlanViolation(f"{statistic!r} was planned with sensitivity {leaf.sensitivity}. Got {sensitivity}.")
        if isinstance(leaf, PosteriorSample):
            raise PlanViolation(f"{statistic!r} was planned as a sample, to which no noise is added.")
        self._record(leaf)
        return self._open(leaf, size)

    def sampler(self, statistic: str) -> Callable[[tuple[int, ...]], Array]:
        """Standard normals of a shape, from the private stream, for the next planned posterior sample of that name; taking it records the sample.

        Raises PlanViolation.
        """
        leaf = self.planned(statistic)
        if not isinstance(leaf, PosteriorSample):
            raise PlanViolation(f"{statistic!r} was planned with {leaf.mechanism} noise, not as a sample.")
        self._record(leaf)
        return np.random.Generator(np.random.SFC64(self._seed.spawn(1)[0])).standard_normal

    def _record(self, leaf: Leaf) -> None:
        self._left[leaf] -= 1
        self._spent[leaf] = self._spent.get(leaf, 0) + 1

    def _open(self, leaf: Leaf, size: int) -> "Release":
        return Release(leaf, size, self._seed.spawn(1)[0], self._threads)

    def vector(self, statistic: str, values: Array, *, sensitivity: float) -> Array:
        """`values` (any shape) with independent noise on every coordinate, as one release."""
        return self.release(statistic, sensitivity=sensitivity, size=values.size).vector(values)

    def symmetric(self, statistic: str, matrices: Array, *, sensitivity: float) -> Array:
        """Symmetric `matrices` (..., r, r) as one release; the sensitivity is in Frobenius norm."""
        r = matrices.shape[-1]
        size = matrices.size // r // r * (r * (r + 1) // 2)
        return self.release(statistic, sensitivity=sensitivity, size=size).symmetric(matrices)


class Release:
    """One statistic's noise. `vector` and `symmetric` may be called part by part, each coordinate once."""

    def __init__(self, leaf: Leaf, size: int, seed: np.random.SeedSequence, threads: int) -> None:
        self.leaf, self._left, self._seed, self._threads = leaf, size, seed, threads
        self.scale = leaf.noise_multiplier * leaf.sensitivity

    def vector(self, part: Array) -> Array:
        """The part plus noise of standard deviation (Laplace: scale) `scale` on every coordinate."""
        part = _real(part)
        noise = self._draw(part.size).reshape(part.shape)
        return self._publish(part, noise.astype(part.dtype, copy=False))

    def symmetric(self, part: Array) -> Array:
        """The part (..., r, r) plus symmetric noise: variance scale^2 on the diagonal, half of it off the diagonal.

        In the isometric coordinates (diagonal, sqrt(2) x off-diagonal) this is independent noise of one scale.
        """
        part = _real(part)
        from dpmf_core import kernels  # compiled code is loaded when first needed

        r = part.shape[-1]
        triangles = self._draw(part.size // (r * r) * (r * (r + 1) // 2)).reshape(-1, r * (r + 1) // 2)
        noise = kernels.unfold(triangles, r, math.sqrt(0.5), threads=self._threads)
        return self._publish(part, noise.reshape(part.shape))

    def _publish(self, part: Array, noise: Array) -> Array:
        """The one line where exact figures become released ones (contract tests put their blindfold here)."""
        return part + noise

    def _draw(self, size: int) -> npt.NDArray[np.float64]:
        if size > self._left:
            raise PlanViolation(f"{self.leaf.statistic!r} has {self._left} coordinates left to release. Got {size}.")
        self._left -= size
        out = np.empty(size)
        starts = range(0, size, CHUNK)
        streams = self._seed.spawn(len(starts))

        def fill(start: int, stream: np.random.SeedSequence) -> None:
            part, generator = out[start : start + CHUNK], np.random.Generator(np.random.SFC64(stream))
            if isinstance(self.leaf, Gaussian):
                generator.standard_normal(out=part)
            elif isinstance(self.leaf, Laplace):
                part[:] = generator.laplace(size=len(part))

        if self._threads > 1 and len(starts) > 1:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(fill, starts, streams))
        else:
            for start, stream in zip(starts, streams, strict=True):
                fill(start, stream)
        out *= self.scale
        return out


def _real(part: Array) -> Array:
    """Whole numbers become float64: noise cast to them would be cut off, and tells counts from an empty sum (np.bincount of nothing is integer).

    Raises PlanViolation on float32: rounding a sum in it moves more than one user may.
    """
    if part.dtype.kind == "f" and part.dtype != np.float64:
        raise PlanViolation(f"a statistic is summed in float64, or rounding moves it by more than its sensitivity. Got {part.dtype}.")
    return part.astype(np.float64, copy=False)
