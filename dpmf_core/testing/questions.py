"""The questions of a fit, and units that answer them one by one."""

from typing import Any

import numpy as np

from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.curator import Block
from dpmf_core.curator.people import split_units
from dpmf_core.curator.questions import ListeningCurator, Question, QuestionRecord
from dpmf_core.privacy import Noise

__all__ = ["Question", "QuestionRecord", "ask", "single_units"]


def ask(algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0) -> QuestionRecord:
    """What the algorithm asks of these data."""
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(seed))
    curator = ListeningCurator(data, noise, algorithm.guarantee().assumptions)
    rng = Streams(np.random.default_rng([seed, 1]), seed + 2)
    for model in algorithm.fit(curator, rng):
        curator.record.model = model
    return curator.record


def single_units(data: Any, n_units: int) -> list[Block]:
    """Every unit of `data` as a block of its own, one of a population of `n_units`."""
    units = [np.array([unit]) for unit in range(data.shape.n_units)]
    blocks = split_units({"train": data}, units)
    return [Block(block.ids % n_units, block.tables, n_units) for block in blocks]
