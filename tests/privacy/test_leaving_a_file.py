"""Neighbouring files: a user whose lines are deleted, or who is replaced by somebody with another
id, moves every sum by no more than its declared sensitivity, whatever is held out, sampled or
grouped. Nobody else's draws change with her place among the ids.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpmf_datasets as datasets
from dpmf_core.algorithms.item_offsets import SumsAndCounts
from dpmf_core.algorithms.svd import CappedCounts, capped_ratings
from dpmf_core.curator import in_memory
from dpmf_core.curator.groups import members
from dpmf_core.data.frames import ratings_of
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.privacy.mechanisms import DisjointGroup
from dpmf_datasets import session_files

USERS, ITEMS, EACH = 120, 60, 30
BOUNDS = (1.0, 5.0)
# the first of all ids, so that all others move up when she leaves
ALONE = {"user": "u000"}


def table():
    rng = np.random.default_rng(3)
    rows = [
        (
            f"u{user:03}",
            f"film{item:02}",
            int(rng.integers(1, 6)),
            int(rng.integers(10**9)),
        )
        for user in range(USERS)
        for item in rng.permutation(ITEMS)[:EACH]
    ]
    return pd.DataFrame(rows, columns=["user", "item", "rating", "time"])


def without(frame):
    return frame[frame["user"] != ALONE["user"]]


def replaced(frame):
    """Somebody else, who comes last by her id and rated the same items otherwise."""
    other = frame.copy()
    hers = other["user"] == ALONE["user"]
    other.loc[hers, "rating"] = 6 - other.loc[hers, "rating"]
    other.loc[hers, "user"] = "zoë"
    return other


def of_path(frame, folder):
    return load_ratings(frame, folder, "?bounds=1,5&users=200")


def of_counted_path(frame, folder):
    return load_ratings(frame, folder, "?bounds=1,5")


def load_ratings(frame, folder, facts):
    file = folder / "table.csv"
    frame.to_csv(file, index=False)
    return datasets.load(f"{file}{facts}")


def of_parts(frame, folder):
    file = folder / "table.csv"
    frame.to_csv(file, index=False)
    datasets.import_partitions(
        "mine", f"{file}?bounds=1,5&users=200", n_partitions=3, replace=True
    )
    parts = datasets.load("mine")
    return parts.together()


def of_upload(frame, folder):
    content = frame.to_csv(index=False).encode()
    low, high = BOUNDS
    upload = session_files.read(content, "table.csv", {"bounds": f"{low:g},{high:g}"})
    return datasets.load(upload.entry.id)


def of_frame(frame, folder):
    return ratings_of(frame, BOUNDS)


def of_import(frame, folder):
    file = folder / "table.csv"
    frame.to_csv(file, index=False)
    datasets.import_("ml-100k", file, replace=True)
    return datasets.load("ml-100k")


READERS = [of_path, of_counted_path, of_parts, of_upload, of_frame, of_import]
NEIGHBOURS = [
    # the number of users is declared
    *((without, reader) for reader in (of_path, of_parts)),
    *((replaced, reader) for reader in READERS),
]
Reader = Callable[[pd.DataFrame, Path], Ratings]


@pytest.fixture(
    scope="module",
    params=NEIGHBOURS,
    ids=lambda pair: f"{pair[0].__name__}-{pair[1].__name__}",
)
def pair(request, tmp_path_factory):
    """Two neighbouring files as ratings, and whether a user was replaced."""
    folder = tmp_path_factory.mktemp("pair")
    change, reader = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPMF_DATA", str(folder / "data"))
        both = reader(table(), folder), reader(change(table()), folder)
        assert both[0].shape == both[1].shape and both[0].labels == both[1].labels
        yield *both, change is replaced


def relative_move(pair, statistic, *shared):
    """How far the sum moves, over how far it may."""
    sums = []
    for ratings in pair[:2]:
        totals = statistic.empty(ratings.shape, *shared)
        statistic.add(block_of(ratings), totals, *shared)
        sums.append(np.concatenate(totals))
    factor = statistic.replace_one_factor if pair[2] else 1.0
    return float(np.linalg.norm(sums[0] - sums[1])) / (statistic.sensitivity * factor)


def block_of(ratings):
    (block,) = in_memory(ratings).blocks
    return block


OFFSETS = (1.0, np.ones(ITEMS), np.full(ITEMS, 3.0))


@pytest.mark.parametrize("kind", ["random", "per-user", "time", "users"])
def test_after_a_split(pair, kind):
    spec = SplitSpec(kind=kind, test_fraction=0.3, validation_fraction=0.2)
    first, second = (split(ratings, spec, 7) for ratings in pair[:2])
    for part in ("train", "history", "validation", "test"):
        parts = getattr(first, part), getattr(second, part), pair[2]
        assert relative_move(parts, SumsAndCounts(), *OFFSETS) <= 1


def test_after_a_sample_of_each_users_ratings(pair):
    few = pair[0].most_per_user(5), pair[1].most_per_user(5), pair[2]
    assert relative_move(few, SumsAndCounts(), *OFFSETS) <= 1
    entries_by_file = [capped_ratings(block_of(ratings), 10, 5) for ratings in pair[:2]]
    counts = [
        np.bincount(ratings.items[entries], minlength=ITEMS)
        for ratings, entries in zip(pair[:2], entries_by_file, strict=True)
    ]
    factor = CappedCounts(10).replace_one_factor if pair[2] else 1.0
    assert (
        np.linalg.norm(counts[0] - counts[1]) <= CappedCounts(10).sensitivity * factor
    )


def test_in_disjoint_groups(pair):
    groups = [DisjointGroup(number, 5) for number in range(5)]
    moves = [
        relative_move(
            (*(members(block_of(it), group).rows for it in pair[:2]), False),
            SumsAndCounts(),
            *OFFSETS,
        )
        for group in groups
    ]
    assert sum(move > 0 for move in moves) <= (2 if pair[2] else 1)
    assert max(moves) <= 2


def test_keyed_by_places_the_same_file_would_move_much_further(tmp_path):
    """The test above can fail: this is what it is there for."""
    ratings = of_path(table(), tmp_path), of_path(without(table()), tmp_path)
    without_keys = [replace(it, user_keys=None) for it in ratings]
    first, second = (
        split(it, SplitSpec(test_fraction=0.3), 7).train for it in without_keys
    )
    assert relative_move((first, second, False), SumsAndCounts(), *OFFSETS) > 3


def test_how_many_items_there_are_does_not_say_which(tmp_path):
    ratings = load_ratings(table(), tmp_path, "?bounds=1,5&users=200&items=80")
    assert ratings.n_items == 80 and ITEMS_ARE_PUBLIC in ratings.assumptions
