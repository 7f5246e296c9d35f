"""The four laws that a PROVEN algorithm keeps (privacy.md, section 6), as checks that raise AssertionError.

None of them knows an algorithm: each runs it twice, and compares what left the curator or what was about to be released.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from dpmf_core.algorithms import Algorithm
from dpmf_core.data import Ratings
from tests.contract.probes import Array, Outcome, blind, pairs, record, replay
from tests.worlds import EMPTY, HEAVY, N_ITEMS, N_USERS, of, rows, with_row, world

SLACK = 1 + 1e-6
LOW, HIGH = world().bounds
EVERY_ITEM = list(range(N_ITEMS))
TORN = [LOW if item % 2 else HIGH for item in EVERY_ITEM]  # as far from her own mean as a row can be

WORST_ROWS: dict[str, tuple[list[int], list[float]]] = {
    "loves everything": (EVERY_ITEM, [HIGH] * N_ITEMS),
    "hates everything": (EVERY_ITEM, [LOW] * N_ITEMS),
    "torn": (EVERY_ITEM, TORN),
    "torn the other way": (EVERY_ITEM, TORN[1:] + TORN[:1]),
    "one rating": ([N_ITEMS - 1], [LOW]),
    "two at the ends": ([0, N_ITEMS - 1], [LOW, HIGH]),
    "indifferent": (EVERY_ITEM, [(LOW + HIGH) / 2] * N_ITEMS),
    "duplicated and out of range": ([1, 1, 2, 2, 7], [1e9, LOW, -1e9, HIGH, 99.0]),
}


def same(first: Outcome, second: Outcome) -> None:
    """All that is shared, bit for bit."""
    one, other = first.shared, second.shared
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype
        assert one[name].tobytes() == other[name].tobytes(), f"{name} differs by {np.abs(one[name] - other[name]).max()}"
    assert first.model.settings == second.model.settings


# ---- blindfold --------------------------------------------------------------------------------------------------------


def strangers() -> Iterator[Ratings]:
    """Data sets of one public shape that differ in number of ratings, popularity, empty and heavy users, duplicates, values out of range."""
    yield world(11, skew=0.0)
    yield world(12, skew=3.0)
    yield of({})
    yield of({0: ([N_ITEMS - 1], [LOW])})
    yield of(dict.fromkeys(range(N_USERS), WORST_ROWS["loves everything"]))
    yield of(dict.fromkeys(range(0, N_USERS, 3), WORST_ROWS["duplicated and out of range"]))


def check_blindfold(algorithm: Algorithm) -> None:
    """With every statistic multiplied by zero, nothing shared can tell two data sets apart."""
    before = blind(algorithm, world())
    for stranger in strangers():
        after = blind(algorithm, stranger)
        for one, other in pairs(before, after):
            assert [part.tobytes() for part in one.noisy] == [part.tobytes() for part in other.noisy], (
                f"the noise of {one.leaf.statistic!r} depends on the data"
            )
        same(before, after)


def check_fresh_noise(outcome: Outcome) -> None:
    """No two parts begin with the same draw: what a blindfolded run handed out is noise alone, and each noise is new."""
    first_draws = [float(part.flat[0]) / entry.scale for entry in outcome.log for part in entry.noisy if part.size]
    gaps = np.diff(np.sort(np.abs(first_draws)))
    assert (gaps > 1e-6).all(), "one stream drew the noise of two releases"


# ---- sensitivity ------------------------------------------------------------------------------------------------------


def neighbours(data: Ratings) -> Iterator[tuple[str, Ratings, Ratings]]:
    """(relation, D, D'): one user removed, added or replaced, among them duplicates of others, empty users and the worst cases."""
    present = np.unique(data.users)
    for user in (HEAVY, present[0], present[-1], present[len(present) // 2]):
        yield "remove", data, with_row(data, int(user), [], [])
    for items, values in WORST_ROWS.values():
        yield "add", data, with_row(data, EMPTY[0], items, values)
    hers = data.users == HEAVY
    yield "add", data, with_row(data, EMPTY[1], data.items[hers].tolist(), data.values[hers].tolist())
    others = list(WORST_ROWS.values())
    for one, other in zip(others, others[1:] + others[:1], strict=True):
        yield "replace", with_row(data, EMPTY[0], *one), with_row(data, EMPTY[0], *other)
    yield "replace", data, with_row(data, HEAVY, *WORST_ROWS["torn"])


def crowd() -> Ratings:
    """Everybody is torn in the same way: what is learnt from all points where a further one of them lies."""
    return of({user: (EVERY_ITEM, TORN) for user in range(N_USERS) if user not in EMPTY})


def check_sensitivity(algorithm: Algorithm, data: Ratings | None = None, *, first: int = 0, stride: int = 1, level: float = 1.0) -> dict[str, float]:
    """No release moves more than it declares while all releases are held fixed; returns the largest move of each by adding or removing, over its bound.

    first, stride: which of the neighbours, to spread them over many parameter sets.
    """
    largest: dict[str, float] = {}
    data = world() if data is None else data
    plain = record(algorithm, data, level=level)
    for relation, one, other in itertools.islice(neighbours(data), first, None, stride):
        before = plain if one is data else record(algorithm, one, level=level)
        after = replay(algorithm, other, before, level=level)
        same(before, after)
        for held, met in pairs(before, after):
            moved = float(np.linalg.norm(held.statistic - met.statistic))
            factor = held.leaf.replace_one_factor if relation == "replace" else 1.0
            bound = factor * held.leaf.sensitivity
            name = held.leaf.statistic
            assert moved <= bound * SLACK + held.rounding, f"{relation} moved {name!r} by {moved:.9g}, declared {bound:.9g}"
            if relation != "replace":
                largest[name] = max(largest.get(name, 0.0), moved / bound)
    return largest


# ---- additivity -------------------------------------------------------------------------------------------------------


def check_additivity(algorithm: Algorithm, seed: int = 0) -> None:
    """Under the same releases every statistic is a sum over users: S(A and B) = S(A) + S(B), S(nobody) = 0."""
    data = world(seed)
    whole = record(algorithm, data)
    even, odd = (replay(algorithm, data.only(data.users % 2 == parity), whole) for parity in (0, 1))
    nobody = replay(algorithm, of({}), whole)
    for (total, first), (_, second), (_, none) in zip(pairs(whole, even), pairs(whole, odd), pairs(whole, nobody), strict=True):
        left_over = float(np.linalg.norm(total.statistic - first.statistic - second.statistic))
        assert left_over <= total.rounding + 1e-9 * total.leaf.sensitivity, f"{total.leaf.statistic!r} is no sum over users: off by {left_over:.3g}"
        assert not none.statistic.any(), f"{none.leaf.statistic!r} is not zero without users"


# ---- locality ---------------------------------------------------------------------------------------------------------


def own_row(outcome: Outcome, data: Ratings, user: int) -> tuple[Array, Array]:
    personal = outcome.model.personal(data)
    return np.asarray(personal.offsets[user]), np.asarray(personal.factors[user])


def check_locality(algorithm: Algorithm, seed: int = 0) -> None:
    """Under the same releases a user's own row does not notice that everybody else has changed: a heavy user, an empty one, a plain one."""
    before = record(algorithm, world())
    for user in (HEAVY, EMPTY[0], seed % N_USERS):
        raw = rows(99, skew=0.0)
        raw.pop(user, None)
        if user in (hers := rows()):
            raw[user] = hers[user]
        others = of(raw)
        after = replay(algorithm, others, before)
        same(before, after)
        for one, other in zip(own_row(before, world(), user), own_row(after, others, user), strict=True):
            assert one.tobytes() == other.tobytes(), f"user {user}'s own row depends on others"
