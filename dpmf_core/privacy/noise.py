"""The only place that draws privacy noise. Every draw is recorded, so the ledger is what was spent.

A `Noise` is opened on a plan. `release` takes the next planned release of a statistic, writes it to
the ledger and returns an object that adds noise, to the whole or part by part. It refuses a release
that is not in the plan, and more coordinates than were declared.

Without a seed the numbers come from a cipher whose key is never stored (`random_streams`). Gaussian
and Laplace noise is floating-point, which is open to the attack of Mironov (2012);
`DiscreteGaussian` is exact, on a grid.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dpmf_core.base.arrays import Array, Doubles
from dpmf_core.base.threads import share_out
from dpmf_core.privacy.events import Event, Ledger, normal_form
from dpmf_core.privacy.failing_mechanisms import (
    FailingGaussian,
    PaddedCount,
    ThresholdedCounts,
)
from dpmf_core.privacy.guarantee import noise_words
from dpmf_core.privacy.mechanisms import (
    EVERYBODY,
    AdditiveNoise,
    DisjointGroup,
    Mechanism,
    PosteriorSample,
)
from dpmf_core.privacy.random_streams import Stream, stream

# normals drawn from one stream; constant, so that results do not depend on the number of threads
CHUNK = 1 << 18
ISOMETRIC = math.sqrt(0.5)  # deviation off the diagonal over that on it
MOST_STEPS = 2.0**52  # float64 holds whole numbers of grid steps up to this exactly
Failing = TypeVar("Failing", bound=FailingGaussian)


class PlanViolation(RuntimeError):
    """An algorithm tried to release something that is not in its plan."""


class Noise:
    """Draws the noise of one run by its plan, and keeps the run's ledger.

    Parameters
    ----------
    plan : Event
        What may be released.
    seed : numpy.random.SeedSequence or Stream, optional
        None takes a secret stream, for private data. It cannot be repeated.
    whole_triangle : bool
        Whether symmetric matrices get noise of the full deviation off the diagonal, too. Published
        methods draw it that way, which is more than their plan needs.
    """

    def __init__(
        self,
        plan: Event,
        seed: np.random.SeedSequence | Stream | None = None,
        whole_triangle: bool = False,
    ) -> None:
        self._plan = dict(normal_form(plan))
        # by release and group: each group has every planned release once
        self._rest: dict[tuple[Mechanism, DisjointGroup], int] = {
            (leaf, DisjointGroup(number, leaf.groups)): count
            for leaf, count in self._plan.items()
            for number in range(leaf.groups)
        }
        self._counts: dict[Mechanism, int] = {}
        self._stream = stream(seed)
        self._off_diagonal = 1.0 if whole_triangle else ISOMETRIC

    @property
    def is_reproducible(self) -> bool:
        """Whether the same seed gives the same noise."""
        return self._stream.reproducible

    @property
    def words(self) -> str:
        """The noise of all releases so far, as a card prints it; empty before the first one."""
        return noise_words(
            (leaf.mechanism for leaf in self._counts), self.is_reproducible
        )

    @property
    def ledger(self) -> Ledger:
        """The releases so far, in the plan's order.

        A release on disjoint groups counts as often as the group that answered most often.
        """
        return tuple(
            (leaf, self._counts[leaf])
            for leaf in self._plan
            if self._counts.get(leaf, 0)
        )

    def next_release(
        self, statistic: str, group: DisjointGroup = EVERYBODY
    ) -> Mechanism:
        """The next planned release of a statistic on a group; its noise multiplier is public.

        Equal releases are taken together.

        Raises
        ------
        PlanViolation
            If no such release is left.
        """
        for (leaf, of), count in self._rest.items():
            if leaf.statistic == statistic and of == group and count > 0:
                return leaf
        if group == EVERYBODY:
            on = ""
        else:
            on = f" on group {group.number} of {group.of}"
        raise PlanViolation(
            f"The plan holds no further release of {statistic!r}{on}. Left in the plan:"
            f" {self._words_of_left()}."
        )

    def _words_of_left(self) -> str:
        counts = {leaf: 0 for leaf, _ in self._rest}
        for (leaf, _), count in self._rest.items():
            counts[leaf] += count
        return ", ".join(
            f"{leaf.title} x {count}" for leaf, count in counts.items() if count
        ) or ("nothing")

    def release(
        self,
        statistic: str,
        *,
        sensitivity: float,
        size: int,
        group: DisjointGroup = EVERYBODY,
    ) -> "Release":
        """Open the next planned release of `size` coordinates and record it.

        Parameters
        ----------
        statistic : str
            The name of the release in the plan.
        sensitivity : float
        size : int
        group : DisjointGroup
            Only these units' rows are in the release.

        Raises
        ------
        PlanViolation
            If the plan does not hold the release.
        """
        leaf = self.next_release(statistic, group)
        if not math.isclose(leaf.sensitivity, sensitivity, rel_tol=1e-12):
            raise PlanViolation(
                f"{statistic!r} was planned with sensitivity {leaf.sensitivity}. Got {sensitivity}."
            )
        if isinstance(leaf, FailingGaussian):
            raise PlanViolation(
                f"{statistic!r} was planned as a {leaf.mechanism}; only part of it may be shown:"
                " use `names_over_threshold` or `padded_count`."
            )
        if not isinstance(leaf, AdditiveNoise):
            raise PlanViolation(
                f"{statistic!r} was planned as a {leaf.mechanism}, which adds no noise: use"
                " `sampler`."
            )
        self._record(leaf, group)
        return self._open(leaf, size)

    def names_over_threshold(
        self, statistic: str, counts: Array
    ) -> tuple[Array, Array]:
        """The names that pass the next planned `ThresholdedCounts`, and their noisy counts.

        The largest noisy count comes first.

        Parameters
        ----------
        statistic : str
        counts : (n_names,)
            The sum of the units' vectors that `ThresholdedCounts` describes. A name with a count of
            0 is unknown and never passes.

        Returns
        -------
        names, noisy_counts : (n_passing,)
            The places of the names in `counts`, and their noisy counts.

        Raises
        ------
        PlanViolation
            If the plan does not hold the release.
        """
        leaf = self._failing(statistic, ThresholdedCounts)
        ids = np.flatnonzero(counts > 0)
        noisy = self._open(leaf, len(ids)).vector(counts[ids])
        places = np.flatnonzero(noisy > leaf.threshold)
        order = places[np.argsort(-noisy[places], kind="stable")]
        return ids[order], noisy[order]

    def padded_count(self, statistic: str, count: int) -> int:
        """A noisy number of units for the next planned `PaddedCount`.

        Raises
        ------
        PlanViolation
            If the plan does not hold the count.
        """
        leaf = self._failing(statistic, PaddedCount)
        noisy = self._open(leaf, 1).vector(np.array([float(count)]))
        return max(1, math.ceil(float(noisy[0]) + leaf.padding))

    def _failing(self, statistic: str, kind: type[Failing]) -> Failing:
        leaf = self.next_release(statistic)
        if not isinstance(leaf, kind):
            raise PlanViolation(
                f"{statistic!r} was planned as {leaf.mechanism}, not as {kind.mechanism}."
            )
        self._record(leaf)
        return leaf

    def sampler(self, statistic: str) -> Callable[[tuple[int, ...]], Array]:
        """A source of standard normals of a shape, for the next planned posterior sample.

        Taking it records the sample.

        Raises
        ------
        PlanViolation
            If the plan does not hold the sample.
        """
        leaf = self.next_release(statistic)
        if not isinstance(leaf, PosteriorSample):
            raise PlanViolation(
                f"{statistic!r} was planned with {leaf.mechanism} noise, not as a sample."
            )
        self._record(leaf)
        return self._stream.spawn(1)[0].generator().standard_normal

    def _record(self, leaf: Mechanism, group: DisjointGroup = EVERYBODY) -> None:
        if leaf.companion and self._times(leaf.companion, group) <= self._times(
            leaf.statistic, group
        ):
            raise PlanViolation(
                f"{leaf.statistic!r} must be released after {leaf.companion!r}."
            )
        self._rest[leaf, group] -= 1
        n_used = self._plan[leaf] - self._rest[leaf, group]
        self._counts[leaf] = max(n_used, self._counts.get(leaf, 0))

    def _times(self, statistic: str, group: DisjointGroup) -> int:
        """The number of releases of this statistic on this group."""
        return sum(
            self._plan[leaf] - rest
            for (leaf, of), rest in self._rest.items()
            if leaf.statistic == statistic and of == group
        )

    def _open(self, leaf: AdditiveNoise, size: int) -> "Release":
        release = Release(leaf, size, self._stream.spawn(1)[0])
        release.off_diagonal = self._off_diagonal
        return release

    def vector(self, statistic: str, values: Array, *, sensitivity: float) -> Array:
        """`values` (any shape) with independent noise on every coordinate, as one release."""
        return self.release(
            statistic, sensitivity=sensitivity, size=values.size
        ).vector(values)


class Release:
    """The noise of one statistic.

    `vector` and `symmetric` may be called part by part, once for each coordinate. off_diagonal:
    deviation of a symmetric matrix' noise off the diagonal, over that on it.
    """

    off_diagonal = ISOMETRIC

    def __init__(self, leaf: AdditiveNoise, size: int, stream: Stream) -> None:
        self.leaf = leaf
        self._rest = size
        self._stream = stream
        self.step, self.scale = leaf.grid(size)

    def vector(self, part: Array) -> Array:
        """The part plus noise of standard deviation (Laplace: scale) `scale` on each coordinate."""
        part = self._rounded(_real(part))
        noise = self._draw(part.size).reshape(part.shape)
        return self._publish(part, noise.astype(part.dtype, copy=False))

    def symmetric(self, part: Array) -> Array:
        """The part (..., r, r) plus symmetric noise: variance scale^2, off the diagonal half of it.

        In the isometric coordinates (diagonal, sqrt(2) x off-diagonal) this is independent noise of
        one scale. With `off_diagonal` 1 the upper triangle as printed has noise of one scale. Its
        norm is at most that of the matrix, so the plan's price covers it.
        """
        part = _real(part)
        from dpmf_core.privacy.noise_kernels import (
            unfold,  # compiled code is loaded when first needed
        )

        r = part.shape[-1]
        if self.step:
            return self._symmetric_on_grid(part)
        triangles = self._draw(part.size // (r * r) * (r * (r + 1) // 2)).reshape(
            -1, r * (r + 1) // 2
        )
        noise = unfold(triangles, r, self.off_diagonal)
        return self._publish(part, noise.reshape(part.shape))

    def _symmetric_on_grid(self, part: Array) -> Array:
        """Round and release the coordinates whose noise has one scale.

        If sum and noise were added after unfolding, the last digits would tell them apart.
        """
        from dpmf_core.privacy.noise_kernels import unfold

        r = part.shape[-1]
        rows, columns = np.tril_indices(r)
        weights = np.where(rows == columns, 1.0, 1 / self.off_diagonal)
        triangles = self._rounded(part[..., rows, columns] * weights)
        noise = self._draw(triangles.size).reshape(triangles.shape)
        values = np.asarray(self._publish(triangles, noise)).reshape(-1, len(rows))
        return unfold(values, r, self.off_diagonal).reshape(part.shape)

    def _rounded(self, part: Array) -> Array:
        """The nearest grid points, below 2^52 steps, so that their sum with the noise is exact."""
        if not self.step:
            return part
        return np.clip(np.rint(part / self.step), -MOST_STEPS, MOST_STEPS) * self.step

    def _publish(self, part: Array, noise: Array) -> Array:
        """Turn exact figures into released ones: the one line that contract tests replace."""
        return part + noise

    def _draw(self, size: int) -> Doubles:
        if size > self._rest:
            raise PlanViolation(
                f"{self.leaf.statistic!r} has {self._rest} coordinates left to release. Got {size}."
            )
        self._rest -= size
        out = np.empty(size)
        starts = range(0, size, CHUNK)
        streams: Sequence[Stream] = self._stream.spawn(len(starts))

        def fill(first: int, last: int) -> None:
            for start, own in zip(starts[first:last], streams[first:last], strict=True):
                part = out[start : start + CHUNK]
                self.leaf.draw(own.generator(), part, self.scale, self.step)

        share_out(fill, np.full(len(starts), float(CHUNK)))
        return out


def _real(part: Array) -> Array:
    """Convert whole numbers to float64, because noise cast to them would be cut off.

    The type would also tell counts from an empty sum (np.bincount of nothing is integer). Raises
    PlanViolation on float32, because rounding there moves a sum by more than one user may.
    """
    if part.dtype.kind == "f" and part.dtype != np.float64:
        raise PlanViolation(
            "A statistic must be summed in float64, because rounding would change it by more than"
            f" its sensitivity. Got {part.dtype}."
        )
    return part.astype(np.float64, copy=False)
