"""Laws that a PROVEN algorithm keeps from end to end, as checks that raise AssertionError.

docs/PRIVACY.md, "How it is tested". `curator_laws` check its questions one by one. No check knows
an algorithm: each runs it twice, and compares what left the curator or was about to be released.
"""

import itertools

import numpy as np

from dpmf_core.algorithms import Algorithm
from dpmf_core.privacy import Relation
from dpmf_core.testing.homes import RATINGS, Data, Home
from dpmf_core.testing.probes import Outcome, blind, pairs, record, replay

SLACK = 1 + 1e-6


def same(first: Outcome, second: Outcome) -> None:
    """Everything that is shared, bit for bit."""
    one, other = first.shared, second.shared
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype
        assert one[name].tobytes() == other[name].tobytes(), (
            f"{name} differs by {np.abs(one[name] - other[name]).max()}"
        )
    assert first.model.settings == second.model.settings


# ---- blindfold -----------------------------------------------------------------------------------


def check_blindfold(algorithm: Algorithm, home: Home = RATINGS) -> None:
    """With every statistic multiplied by zero, nothing shared distinguishes two data sets."""
    before = blind(algorithm, home.world())
    for stranger in home.strangers():
        after = blind(algorithm, stranger)
        for one, other in pairs(before, after):
            assert [part.tobytes() for part in one.noisy] == [
                part.tobytes() for part in other.noisy
            ], f"the noise of {one.leaf.statistic!r} depends on the data"
        same(before, after)


def check_fresh_noise(outcome: Outcome) -> None:
    """No two parts begin with the same draw.

    A blindfolded run hands out noise alone, so each noise is new.
    """
    first_draws = [
        float(part.flat[0]) / entry.scale
        for entry in outcome.log
        for part in entry.noisy
        if part.size
    ]
    gaps = np.diff(np.sort(np.abs(first_draws)))
    assert (gaps > 1e-6).all(), "one stream drew the noise of two releases"


# ---- sensitivity ---------------------------------------------------------------------------------


def check_sensitivity(
    algorithm: Algorithm,
    data: Data = None,
    *,
    first: int = 0,
    stride: int = 1,
    level: float = 1.0,
    home: Home = RATINGS,
) -> dict[str, float]:
    """No release moves more than it declares while all releases are held fixed.

    Returns the largest move of each by adding or removing, over its bound. first, stride: which of
    the neighbours, to spread them over many parameter sets.
    """
    largest: dict[str, float] = {}
    data = home.world() if data is None else data
    plain = record(algorithm, data, level=level)
    for relation, one, other in itertools.islice(home.neighbours(data), first, None, stride):
        before = plain if one is data else record(algorithm, one, level=level)
        after = replay(algorithm, other, before, level=level)
        same(before, after)
        for release, counterpart in pairs(before, after):
            move = float(np.linalg.norm(release.statistic - counterpart.statistic))
            relation_type = Relation.REPLACE_ONE if relation == "replace" else Relation.ADD_REMOVE
            leaf = release.leaf.alone
            bound = leaf.noise_multiplier * leaf.sensitivity / leaf.multiplier(relation_type)
            name = leaf.statistic
            assert move <= bound * SLACK, (
                f"{relation} moved {name!r} by {move:.9g}, declared {bound:.9g}"
            )
            if relation != "replace":
                largest[name] = max(largest.get(name, 0.0), move / bound)
    return largest


# ---- locality ------------------------------------------------------------------------------------


def check_locality(algorithm: Algorithm, seed: int = 0, home: Home = RATINGS) -> None:
    """Under the same releases a unit's own row does not depend on other units.

    It checks a heavy unit, an empty one and a plain one.
    """
    world: Data = home.world()
    before = record(algorithm, world)
    for unit in (home.heavy, home.empty[0], seed % world.shape.n_units):
        others: Data = home.others(unit)
        after = replay(algorithm, others, before)
        same(before, after)
        for one, other in zip(
            home.own_row(before.model, world, unit),
            home.own_row(after.model, others, unit),
            strict=True,
        ):
            assert one.tobytes() == other.tobytes(), f"unit {unit}'s own row depends on others"
