"""The curator: an algorithm's only access to private data."""

import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.curator.groups import GroupCurator, group_of
from dpmf_core.curator.people import Cells, Held, Key, People, Step
from dpmf_core.curator.statistic import Range, Statistic
from dpmf_core.privacy.mechanisms import EVERYBODY, DisjointGroup
from dpmf_core.privacy.noise import Noise, PlanViolation, Release

CELLS_ARE_PUBLIC = "which items were rated is public"  # an assumption of a guarantee
# the noise scale, in sensitivities, that algorithms are told for exact sums
NO_NOISE = 2.0**-30


class NoisyCurator:
    """What an algorithm with a proof may ask of private data, for one run with the noise of a plan.

    Any number of curators may be open on the same people.

    Parameters
    ----------
    people : People
    noise : Noise
    assumptions : sequence of str
        What the run's guarantee takes as public.
    """

    def __init__(
        self, people: People, noise: Noise, assumptions: Sequence[str] = ()
    ) -> None:
        self._people = people
        self._noise = noise
        self._assumptions = assumptions
        self._run = uuid.uuid4().hex
        self._number = 0
        # each stored state comes from the rows of this group
        self._held_of: dict[Key, DisjointGroup] = {}

    @property
    def shape(self) -> Any:
        """The public shape: `Shape` or `SampleShape`."""
        return self._people.shape

    def scale(self, statistic: Statistic) -> float:
        """The public noise scale of the next planned release of a statistic.

        Raises
        ------
        PlanViolation
            If no release of it is planned.
        """
        leaf = self._noise.next_release(statistic.name, group_of(statistic))
        return leaf.noise_multiplier * leaf.sensitivity

    def release(self, statistic: Statistic, *shared: Any) -> Array:
        """The sum over all units with its planned noise, entered in the ledger.

        Raises
        ------
        PlanViolation
            If the plan does not hold the release, the sum is not finite, or a stored state was
            computed from rows of another group.
        """
        self._require_one_group(statistic, shared)
        exact = self._finite_total(statistic, shared)
        pen = self._pen(statistic, _coordinates(statistic, exact))
        return _add_noise(statistic, exact, pen)

    def release_parts(
        self, statistic: Statistic, ranges: Sequence[Range], *shared: Any
    ) -> Iterator[tuple[Range, Array]]:
        """One release, recorded now and returned range by range, for sums too large to hold.

        Each range is the last shared value of its part.

        Raises
        ------
        PlanViolation
            As `release`, and if ranges overlap: a sum may be returned only once.
        """
        self._require_one_group(statistic, shared)
        _require_disjoint(statistic, ranges)
        parts = [(*shared, at) for at in ranges]
        zeros = (statistic.empty(self.shape, *part)[0] for part in parts)
        size = sum(_coordinates(statistic, part_zeros) for part_zeros in zeros)
        pen = self._pen(statistic, size)
        return (
            (part[-1], _add_noise(statistic, self._finite_total(statistic, part), pen))
            for part in parts
        )

    def names_over_threshold(
        self, statistic: Statistic, *shared: Any
    ) -> tuple[Array, Array]:
        """The names that pass the planned `ThresholdedCounts`, and their noisy counts.

        The largest noisy count comes first; a name that no unit brings never passes. Raises
        PlanViolation.
        """
        self._require_planned(statistic)
        return self._noise.names_over_threshold(
            statistic.name, self._total(statistic, shared)
        )

    def padded_count(self, statistic: Statistic, *shared: Any) -> int | None:
        """The noisy number of the planned `PaddedCount`, which can replace the true one.

        It is None if the noisy number is below the true one. Then the run must stop.

        Raises
        ------
        PlanViolation
            If the plan does not hold the count.
        """
        self._require_planned(statistic)
        count = int(self._total(statistic, shared)[0])
        noisy_count = self._noise.padded_count(statistic.name, count)
        if noisy_count < count:
            return None
        return noisy_count

    def cells(self) -> Cells:
        """Which items each user rated, without the values.

        Raises
        ------
        PlanViolation
            Unless the run's guarantee assumes that this is public.
        """
        if CELLS_ARE_PUBLIC not in self._assumptions:
            raise PlanViolation("Which items were rated is private in this run.")
        return self._people.cells()

    def hold(self, step: Step, *shared: Any) -> Held:
        """Compute step(block, *shared) for every block and store it with the rows.

        It is deleted when the result is released. The step must be a pure function at module level.
        """
        self._require_one_group(step, shared)
        self._number += 1
        local_state = Held(Key(self._run, self._number))
        self._people.hold(local_state.key, step, shared)
        self._held_of[local_state.key] = group_of(step)
        weakref.finalize(
            local_state, _forget, self._people, self._held_of, local_state.key
        )
        return local_state

    def _require_one_group(
        self, question: Statistic | Step, shared: Sequence[Any]
    ) -> None:
        """Raise PlanViolation if a stored state was computed from rows outside the group."""
        group = group_of(question)
        local_states = [part for part in shared if isinstance(part, Held)]
        if any(
            self._held_of.get(part.key, EVERYBODY) != group for part in local_states
        ):
            raise PlanViolation(
                "The stored statistic was computed from rows of a different group."
            )

    def _total(self, statistic: Statistic, shared: Sequence[Any]) -> Array:
        totals = self._people.total(statistic, shared)
        return statistic.assemble(totals, *shared)

    def _finite_total(self, statistic: Statistic, shared: Sequence[Any]) -> Array:
        """The exact sum, for a release. Raises PlanViolation if noise would not hide it."""
        exact = self._total(statistic, shared)
        if not np.isfinite(exact).all():
            raise PlanViolation(
                f"{statistic.name!r} is not finite, so it cannot be released."
            )
        return exact

    def _require_planned(self, statistic: Statistic) -> None:
        """Raise PlanViolation if the plan has this release with other properties."""
        leaf = self._noise.next_release(statistic.name, group_of(statistic))
        if leaf != statistic.event(leaf.noise_multiplier):
            raise PlanViolation(f"The plan expects {leaf}. Got {statistic}.")

    def _pen(self, statistic: Statistic, size: int) -> Release:
        return self._noise.release(
            statistic.name,
            sensitivity=statistic.sensitivity,
            size=size,
            group=group_of(statistic),
        )


def _forget(people: People, held_of: dict[Key, DisjointGroup], key: Key) -> None:
    people.drop(key)
    held_of.pop(key, None)


def _require_disjoint(statistic: Statistic, ranges: Sequence[Range]) -> None:
    """Raise PlanViolation unless each range begins where those before it have ended, or later."""
    end = 0
    for start, stop in ranges:
        if not end <= start <= stop:
            raise PlanViolation(
                f"The parts of one release of {statistic.name!r} must be in order and must not"
                f" overlap. Got {start} to {stop} after {end}."
            )
        end = stop


def _coordinates(statistic: Statistic, sums: Array) -> int:
    """Coordinates of a release: of a symmetric matrix, or each of a stack of them, its triangle."""
    if not statistic.symmetric:
        return sums.size
    r = sums.shape[-1]
    return int(sums.size // r // r * (r * (r + 1) // 2))


def _add_noise(statistic: Statistic, exact: Array, pen: Release) -> Array:
    if not statistic.symmetric:
        return pen.vector(exact)
    if not np.array_equal(exact, np.swapaxes(exact, -1, -2)):
        raise PlanViolation(
            f"{statistic.name!r} is not symmetric: its skew part would be released without noise."
        )
    return pen.symmetric(exact)


class OpenCurator(NoisyCurator):
    """For algorithms without a guarantee: also gives rows, and sums without noise."""

    def __init__(self, people: People, noise: Noise, tables: Mapping[str, Any]) -> None:
        super().__init__(people, noise)
        self._tables = tables

    @property
    def has_rows(self) -> bool:
        """Whether all rows are in one memory."""
        return "train" in self._tables

    @property
    def rows(self) -> Any:
        """The rows that an algorithm learns from."""
        return self._tables["train"]

    def total(self, statistic: Statistic, *shared: Any) -> Array:
        """The exact sum, without noise and without a ledger entry."""
        return self._total(statistic, shared)

    def sample(self, name: str) -> tuple[float, Callable[[tuple[int, ...]], Array]]:
        """Open a planned posterior sample with a density from exact sums.

        The sums are never released.

        Returns
        -------
        noise_multiplier : float
        normals : callable
            A source of standard normals of a given shape.

        Raises
        ------
        PlanViolation
            If the plan does not hold the sample.
        """
        multiplier = self._noise.next_release(name).noise_multiplier
        return multiplier, self._noise.sampler(name)


class ExactCurator(OpenCurator):
    """For a private algorithm without noise: exact sums, whatever the plan, and an empty ledger.

    It reports a noise scale of `NO_NOISE` sensitivities rather than 0, so that algorithms can
    divide by it; no sum changes in any digit that counts.
    """

    def scale(self, statistic: Statistic) -> float:
        return NO_NOISE * statistic.sensitivity

    def release(self, statistic: Statistic, *shared: Any) -> Array:
        self._require_one_group(statistic, shared)
        return self._finite_total(statistic, shared)

    def release_parts(
        self, statistic: Statistic, ranges: Sequence[Range], *shared: Any
    ) -> Iterator[tuple[Range, Array]]:
        self._require_one_group(statistic, shared)
        return ((at, self._finite_total(statistic, (*shared, at))) for at in ranges)

    def cells(self) -> Cells:
        return self._people.cells()

    def sample(self, name: str) -> tuple[float, Callable[[tuple[int, ...]], Array]]:
        """The scale 0: the density of the sample is as narrow as without a bound."""
        return NO_NOISE, np.zeros


Curator = NoisyCurator | GroupCurator  # what an algorithm with a proof is given
