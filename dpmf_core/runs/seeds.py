"""The named random streams of a run."""

from typing import NamedTuple

import numpy as np

# the seeded privacy stream of the shape, separate from those of the algorithm's releases
SHAPE_STREAM = 1 << 20


class Seeds(NamedTuple):
    """The start of each stream of a run; split and sampling are keys of hashed draws."""

    split: int
    init: np.random.SeedSequence
    sampling: int
    privacy: np.random.SeedSequence

    @property
    def shape(self) -> np.random.SeedSequence:
        """For the noise on the shape of public data."""
        return np.random.SeedSequence(
            self.privacy.entropy, spawn_key=(*self.privacy.spawn_key, SHAPE_STREAM)
        )


def seeds(seed: int) -> Seeds:
    """The streams of a run with this seed."""
    splitting, init, sampling, privacy = np.random.SeedSequence(seed).spawn(4)
    return Seeds(_key(splitting), init, _key(sampling), privacy)


def _key(source: np.random.SeedSequence) -> int:
    return int(source.generate_state(1, np.uint64)[0] >> 1)
