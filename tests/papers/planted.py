"""Planted results: measured values of a claim, moved until its clauses say what is wished."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmf_core.papers.figures import Claim
from dpmf_core.runs.measurements import Measured

TRIES = 40_000


def with_truths(
    claim: Claim, start: Sequence[Measured], wishes: Sequence[bool], tries: int = TRIES
) -> list[Measured] | None:
    """Results near `start` at which exactly those clauses hold that are wished to; None where none
    were found, as between two clauses of which one follows from the other.
    """
    rng = np.random.default_rng(0)
    results = list(start)
    scale = _scales(claim, start)
    loss = _loss(claim, results, wishes, scale)
    for _ in range(tries):
        if loss == 0.0:
            return results
        step = _random_step(results, rng)
        other = _loss(claim, step, wishes, scale, loss)
        if other <= loss:
            results = step
            loss = other
    return None


def _random_step(
    results: Sequence[Measured], rng: np.random.Generator
) -> list[Measured]:
    """One place shifted, or all places of one method."""
    typical = statistics.median(abs(result.median) for result in results)
    size = float(10.0 ** rng.uniform(-3, 0.3)) * max(typical, 1e-3)
    shift = float(rng.normal()) * size
    place = results[int(rng.integers(len(results)))]
    whole_line = rng.random() < 0.4
    return [
        replace(result, draws=tuple(draw + shift for draw in result.draws))
        if result is place or (whole_line and result.label == place.label)
        else result
        for result in results
    ]


def _scales(claim: Claim, results: Sequence[Measured]) -> list[float]:
    return [max(abs(clause.margin(results)), 1e-9) for clause in claim.clauses]


def _loss(
    claim: Claim,
    results: Sequence[Measured],
    wishes: Sequence[bool],
    scale: Sequence[float],
    most: float = math.inf,
) -> float:
    """How far the clauses are from the wishes; counting stops above `most`."""
    total = 0.0
    for clause, wish, unit in zip(claim.clauses, wishes, scale, strict=True):
        margin = clause.margin(results)
        if (margin > 0) != wish:
            total += abs(margin) / unit + 1e-3
        if total > most:
            break
    return total
