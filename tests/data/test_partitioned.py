"""Parts that are kept on disk for as long as a training goes on."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpmf_core.data.partitioned import SPARE
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.parts import CountedParts, in_files


def halves(part):
    return replace(part, rows=part.rows.only(part.rows.items % 2 == 0))


def others(part):
    return replace(part, rows=part.rows.only(part.rows.users % 2 == 0))


@pytest.fixture
def ratings(tmp_path):
    parts = in_files(low_rank(n_users=60), 4, tmp_path)
    return replace(parts, parts=CountedParts(parts.parts))


def test_kept_parts_are_read_once_and_watched_each_time(ratings, tmp_path):
    visits = []
    with_changes = (
        ratings.with_change(halves)
        .with_watch(lambda *at: visits.append(at))
        .with_change(others)
    )
    expected = with_changes.together()
    ratings.parts.read.clear()
    visits.clear()
    cached_parts = with_changes.kept_in(tmp_path)
    for _ in range(3):
        again = cached_parts.together()
        for name in ("users", "items", "values"):
            assert np.array_equal(getattr(again, name), getattr(expected, name))
    assert ratings.parts.read == [0, 1, 2, 3]
    assert visits == [(place, 4) for place in range(4)] * 3


def test_a_watch_that_raises_stops_kept_parts(ratings, tmp_path):
    def stop(place, _):
        if place == 2:
            raise InterruptedError

    cached_parts = ratings.with_watch(stop).kept_in(tmp_path)
    for _ in range(2):
        with pytest.raises(InterruptedError):
            cached_parts.together()


def test_a_disk_without_room_keeps_nothing(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=SPARE))
    cached_parts = ratings.kept_in(tmp_path)
    assert np.array_equal(cached_parts.item_counts(), ratings.item_counts())
    assert not list(tmp_path.glob("*.part"))
