"""Each privacy law catches the fault it is there for: honest algorithms, broken in one line."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.base import Algorithm
from dpmf_core.algorithms.oneshot_nmf import OneShotNMF
from dpmf_core.curator import NoisyCurator, in_memory
from dpmf_core.privacy import Gaussian, Noise
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import DOCUMENTS_OF_PEOPLE, IMAGES_OF_PEOPLE

CLIP = 0.13


class ItemSums(Algorithm):
    """An honest release of item sums, of rows centred at mid-range and clipped to norm C."""

    id: ClassVar[str] = "item-sums"
    title: ClassVar[str] = "Item sums"

    def plan(self, shape, level):
        return Gaussian(level, "sums", CLIP, 2.0)

    def outgoing(self, noisy, data):
        none = np.zeros((data.n_items, 0))
        return Recommender(data.bounds, data.shape.mid_range, noisy, none, 0.0)

    def fit(self, curator, rng):
        data = curator.rows
        noise = curator._noise
        x = data.values.astype(np.float64) - data.shape.mid_range
        norms = np.sqrt(np.bincount(data.users, x**2, data.n_users))
        shares = CLIP / np.maximum(norms, 1e-30)
        x *= np.minimum(1.0, shares)[data.users]
        sums = np.bincount(data.items, x, data.n_items)
        noisy = noise.vector("sums", sums, sensitivity=CLIP)
        yield self.outgoing(noisy, data)


class NeighbourhoodMean(ItemSums):
    """Locality: an offset of every item from all users' raw ratings reaches each user's own row."""

    def outgoing(self, noisy, data):
        sums = np.bincount(data.items, data.values, data.n_items)
        raw = sums / max(len(data), 1)
        none = np.zeros((data.n_items, 0))
        return _Gossip(data.bounds, data.shape.mid_range, noisy, none, 0.0, raw=raw)


class _Gossip(Recommender):
    """Its shared side is clean; what a user's device computes is not."""

    def __init__(self, *parts, raw):
        super().__init__(*parts)
        object.__setattr__(self, "raw", raw)

    def personal(self, history):
        own = super().personal(history)
        return replace(own, offsets=own.offsets + self.raw.sum())


def test_the_honest_form_passes_every_law():
    laws.check_blindfold(ItemSums())
    laws.check_sensitivity(ItemSums())
    laws.check_locality(ItemSums())


def test_locality_catches_gossip():
    laws.check_blindfold(NeighbourhoodMean())
    with pytest.raises(AssertionError, match="own row depends on others"):
        laws.check_locality(NeighbourhoodMean())


@pytest.mark.parametrize("form", [np.int64, np.int32, np.bool_])
def test_noise_on_whole_numbers_is_not_cut_off(form):
    """np.bincount of nothing is an integer array; its noise must stay real."""
    counts = np.zeros(50, form)
    real = np.zeros(50)
    noisy = Noise(Gaussian(1.0), np.random.SeedSequence(0)).vector(
        "statistic", counts, sensitivity=1.0
    )
    same = Noise(Gaussian(1.0), np.random.SeedSequence(0)).vector(
        "statistic", real, sensitivity=1.0
    )
    assert_allclose(noisy, same, rtol=1e-6)


class EachRowForItself(OneShotNMF):
    """The people of rows are ignored: a person with seven rows moves the sums by seven."""

    def fit(self, curator, rng):
        # which no algorithm can reach from a process of its own
        (block,) = curator._people.blocks
        rows = replace(block.rows, people=None)
        without_people = NoisyCurator(in_memory(rows), curator._noise)
        yield from super().fit(without_people, rng)


@pytest.mark.parametrize(
    "home", [DOCUMENTS_OF_PEOPLE, IMAGES_OF_PEOPLE], ids=lambda home: home.name
)
def test_replay_sensitivity_catches_a_person_who_counts_by_her_rows(home):
    with pytest.raises(AssertionError, match=r"moved '.*' by .*, declared"):
        laws.check_sensitivity(EachRowForItself(n_components=3), home=home)
