"""The source of a run's noise: a seed, which can be reused, or a secret key.

A stream has children, numbered in order, and makes numpy generators. Streams at different places
share no number.
"""

import copy
import secrets

import numpy as np

KEY_BYTES = 32
MOST_CHILDREN = 2**32 - 1


class SeededStream:
    """The same numbers for the same seed, by numpy's SFC64, for public and simulated data."""

    reproducible = True

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._seed = seed

    def spawn(self, count: int) -> "list[SeededStream]":
        """The next `count` children, independent of each other and of this stream's numbers."""
        return [SeededStream(seed) for seed in self._seed.spawn(count)]

    def generator(self) -> np.random.Generator:
        """A generator at the start of this stream."""
        return np.random.Generator(np.random.SFC64(self._seed))


class Secret:
    """Numbers of AES-128 in counter mode.

    The key (128 bits) and the first counter (128 bits) come from the operating system and are
    stored nowhere. Counters are whole numbers modulo 2^128. The stream of number s starts at first
    + s 2^64 and may use the next 2^64 of them, which is 2^65 draws of 64 bits. s is below 2^64: the
    root is 0, its child i is (i + 1) 2^32, child j of that is (i + 1) 2^32 + j + 1. So under one
    key no two streams meet.

    Parameters
    ----------
    key : bytes, optional
        32 bytes for tests, instead of the operating system's.

    Raises
    ------
    ValueError
        If the key does not have 32 bytes.
    OverflowError
        Beyond two generations, or beyond 2^32 - 1 children of a stream.
    """

    reproducible = False

    def __init__(self, key: bytes | None = None) -> None:
        if key is None:
            key = secrets.token_bytes(KEY_BYTES)
        if len(key) != KEY_BYTES:
            raise ValueError(
                f"A secret stream needs a key of {KEY_BYTES} bytes. Got {len(key)}."
            )
        self._key = int.from_bytes(key[:16], "little")
        self._first = int.from_bytes(key[16:], "little")
        self._number = 0
        self._generation = 0
        self._children = 0

    def spawn(self, count: int) -> "list[Secret]":
        if self._generation == 2 or self._children + count > MOST_CHILDREN:
            raise OverflowError(
                "A secret stream has children and grandchildren, fewer than 2^32 of each."
            )
        return [self._child() for _ in range(count)]

    def _child(self) -> "Secret":
        self._children += 1
        child = copy.copy(self)
        child._number += (
            self._children << 32 if self._generation == 0 else self._children
        )
        child._generation = self._generation + 1
        child._children = 0
        return child

    def generator(self) -> np.random.Generator:
        # loaded where it is needed: public runs need none
        from randomgen import (
            AESCounter,
        )

        return np.random.Generator(
            AESCounter(
                key=self._key, counter=(self._first + (self._number << 64)) % 2**128
            )
        )


Stream = SeededStream | Secret


def stream(source: np.random.SeedSequence | Stream | None) -> Stream:
    """A seed's stream, the given stream, or a secret one if the source is None."""
    if source is None:
        return Secret()
    if isinstance(source, np.random.SeedSequence):
        return SeededStream(source)
    return source
