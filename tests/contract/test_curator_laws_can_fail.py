"""Each law on questions catches the fault it is there for: an honest statistic, broken once."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dpmf_core.algorithms import PrivateAlgorithm, Recommender
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import Statistic, on_grid
from dpmf_core.privacy import PlanViolation
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import RATINGS
from dpmf_core.testing.probes import ask
from dpmf_core.testing.rating_worlds import world
from tests.contract.test_blocks import check_blocks

CLIP = 0.13


@dataclass(frozen=True)
class Sums(Statistic):
    """Item sums of rows less mid-range, clipped to L2 norm `clip`, and unreleased counts."""

    clip: float = CLIP
    name: ClassVar[str] = "sums"

    @property
    def sensitivity(self):
        return self.clip

    def empty(self, shape):
        return np.zeros(shape.n_items), np.zeros(shape.n_items)

    def add(self, block, totals):
        rows = block.rows
        totals[0][:] += np.bincount(rows.items, self.values(block), rows.n_items)
        totals[1][:] += np.bincount(rows.items, minlength=rows.n_items)

    def values(self, block):
        rows = block.rows
        x = rows.values.astype(np.float64) - rows.shape.mid_range
        norms = np.sqrt(np.bincount(rows.users, x**2, rows.n_users))
        shares = self.clip * (1 - 1e-9) / np.maximum(norms, 1e-30)
        shrunk = x * np.minimum(1.0, shares)[rows.users]
        return on_grid(shrunk, self.clip, block.n_units)


class ToySums(PrivateAlgorithm):
    """Releases item sums once."""

    id: ClassVar[str] = "toy-sums"
    title: ClassVar[str] = "Toy sums"
    statistic: ClassVar[Statistic] = Sums()

    def statistics(self, shape):
        return (self.statistic,)

    def plan(self, shape, level):
        return self.statistic.event(level)

    def fit(self, curator, rng):
        sums = curator.release(self.statistic)
        n_items = curator.shape.n_items
        yield Recommender(curator.shape.bounds, 0.0, sums, np.zeros((n_items, 0)), 0.0)


def toy(kind):
    class Toy(ToySums):
        statistic: ClassVar[Statistic] = kind()

    return Toy()


class WithoutClip(Sums):
    def values(self, block):
        rows = block.rows
        return rows.values.astype(np.float64) - rows.shape.mid_range


class OneSided(Sums):
    """Declares that no entry is negative."""

    replace_one_factor: ClassVar[float] = np.sqrt(2.0)


class CentredByTheBlock(Sums):
    def values(self, block):
        values = super().values(block)
        if len(values):
            return values - values.mean()
        return values


class EmptyUnitsAdd(Sums):
    def add(self, block, totals):
        super().add(block, totals)
        is_empty = np.diff(block.rows.by_user) == 0
        totals[0][:] += 2.0**-20 * is_empty.sum()


class DividedByCounts(Sums):
    def assemble(self, totals):
        return totals[0] / np.maximum(totals[1], 1)


class NumberedInTheBlock(Sums):
    """Drops half of the units by their numbers in the block, which others decide."""

    def values(self, block):
        rows = block.rows
        return super().values(block) * (keyed_uniform(0, rows.users) < 0.5)


def test_the_honest_form_keeps_every_law(tmp_path):
    algorithm = toy(Sums)
    laws.check_plan(algorithm, world().shape)
    assert laws.check_units(algorithm)["sums"] > 0.99
    laws.check_sums(algorithm)
    check_blocks(algorithm, world(), tmp_path)


@pytest.mark.parametrize("kind", [WithoutClip, OneSided])
def test_a_unit_that_moves_too_much_is_caught(kind):
    with pytest.raises(AssertionError, match="moved 'sums' by"):
        laws.check_units(toy(kind))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (CentredByTheBlock, "no sum over units"),
        (EmptyUnitsAdd, "not zero without units"),
        (DividedByCounts, "not linear"),
    ],
)
def test_a_statistic_that_is_no_sum_is_caught(kind, words):
    with pytest.raises(AssertionError, match=words):
        laws.check_sums(toy(kind))


@pytest.mark.parametrize("kind", [NumberedInTheBlock, CentredByTheBlock])
def test_a_statistic_that_depends_on_blocks_is_caught(kind, tmp_path):
    with pytest.raises(AssertionError, match="another model"):
        check_blocks(toy(kind), world(), tmp_path)


class AsksTwice(ToySums):
    def fit(self, curator, rng):
        yield from super().fit(curator, rng)
        yield from super().fit(curator, rng)


@dataclass(frozen=True)
class CalledSymmetric(Statistic):
    """Calls a matrix symmetric that is not."""

    name: ClassVar[str] = "pairs"
    sensitivity: ClassVar[float] = 1.0
    symmetric: ClassVar[bool] = True

    def empty(self, shape):
        return (np.zeros((shape.n_items, shape.n_items)),)

    def add(self, block, totals):
        totals[0][0, 1] += 0.5 * (len(block.rows) > 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (AsksTwice, "no further release"),
        (lambda: toy(CalledSymmetric), "not symmetric"),
    ],
)
def test_the_curator_refuses_a_faulty_question(make, words):
    with pytest.raises(PlanViolation, match=words):
        ask(make(), RATINGS.world())
