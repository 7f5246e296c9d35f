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

USERS = 120
ITEMS = 60
EACH = 30
BOUNDS = (1.0, 5.0)
# the first of all ids, so that all others move up when she leaves
ALONE = {"user": "u000"}


def table():
    rng = np.random.default_rng(3)
    rows = []
    for user in range(USERS):
        for item in rng.permutation(ITEMS)[:EACH]:
            stars = int(rng.integers(1, 6))
            time = int(rng.integers(10**9))
            rows.append((f"u{user:03}", f"film{item:02}", stars, time))
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
    bounds = {"bounds": f"{low:g},{high:g}"}
    upload = session_files.read(content, "table.csv", bounds)
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
        assert both[0].shape == both[1].shape
        assert both[0].labels == both[1].labels
        yield *both, change is replaced


def relative_move(pair, statistic, *shared):
    """How far the sum moves, over how far it may."""
    sums = []
    for ratings in pair[:2]:
        totals = statistic.empty(ratings.shape, *shared)
        statistic.add(block_of(ratings), totals, *shared)
        sums.append(np.concatenate(totals))
    if pair[2]:
        factor = statistic.replace_one_factor
    else:
        factor = 1.0
    moved = float(np.linalg.norm(sums[0] - sums[1]))
    return moved / (statistic.sensitivity * factor)


def block_of(ratings):
    (block,) = in_memory(ratings).blocks
    return block


OFFSETS = (1.0, np.ones(ITEMS), np.full(ITEMS, 3.0))


@pytest.mark.parametrize("kind", ["random", "per-user", "time", "users"])
def test_the_rows_of_others_stay_after_a_split(pair, kind):
    spec = SplitSpec(kind=kind, test_fraction=0.3, validation_fraction=0.2)
    first = split(pair[0], spec, 7)
    second = split(pair[1], spec, 7)
    for part in ("train", "history", "validation", "test"):
        parts = getattr(first, part), getattr(second, part), pair[2]
        assert relative_move(parts, SumsAndCounts(), *OFFSETS) <= 1


def test_the_rows_of_others_stay_after_a_sample_of_ratings(pair):
    few = pair[0].most_per_user(5), pair[1].most_per_user(5), pair[2]
    assert relative_move(few, SumsAndCounts(), *OFFSETS) <= 1
    entries_by_file = [capped_ratings(block_of(ratings), 10, 5) for ratings in pair[:2]]
    counts = [
        np.bincount(ratings.items[entries], minlength=ITEMS)
        for ratings, entries in zip(pair[:2], entries_by_file, strict=True)
    ]
    if pair[2]:
        factor = CappedCounts(10).replace_one_factor
    else:
        factor = 1.0
    moved = np.linalg.norm(counts[0] - counts[1])
    assert moved <= CappedCounts(10).sensitivity * factor


def test_the_rows_of_others_stay_in_disjoint_groups(pair):
    moves = []
    for number in range(5):
        group = DisjointGroup(number, 5)
        first = members(block_of(pair[0]), group).rows
        second = members(block_of(pair[1]), group).rows
        rows = (first, second, False)
        moves.append(relative_move(rows, SumsAndCounts(), *OFFSETS))
    n_moved = sum(move > 0 for move in moves)
    assert n_moved <= (2 if pair[2] else 1)
    assert max(moves) <= 2


def test_keyed_by_places_the_same_file_would_move_much_further(tmp_path):
    """The test above can fail: this is what it is there for."""
    trained = []
    for content in (table(), without(table())):
        ratings = replace(of_path(content, tmp_path), user_keys=None)
        spec = SplitSpec(test_fraction=0.3)
        trained.append(split(ratings, spec, 7).train)
    assert relative_move((*trained, False), SumsAndCounts(), *OFFSETS) > 3


def test_the_number_of_items_does_not_reveal_which(tmp_path):
    ratings = load_ratings(table(), tmp_path, "?bounds=1,5&users=200&items=80")
    assert ratings.n_items == 80
    assert ITEMS_ARE_PUBLIC in ratings.assumptions
