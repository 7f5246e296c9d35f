"""Memory that is not used any more goes back to the system."""

import sys

import numpy as np
import psutil
import pytest

from dpmf_core.runs import memory

CHUNK = 60_000  # bytes: of which the C library keeps what is freed


def resident_mb() -> float:
    return psutil.Process().memory_info().rss / 1e6


@pytest.mark.skipif(sys.platform != "linux", reason="other systems give back by themselves")
def test_what_was_freed_goes_back() -> None:
    pins, chunks = [], []
    for _ in range(4_000):  # in turns, so that what is freed lies between what is used
        chunks.append(np.ones(CHUNK, np.uint8))
        pins.append(np.ones(2_000, np.uint8))
    full = resident_mb()
    chunks.clear()
    memory.give_back()
    assert full - resident_mb() > 0.8 * 4_000 * CHUNK / 1e6
    assert len(pins) == 4_000
