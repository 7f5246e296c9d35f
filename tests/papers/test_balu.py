"""How Balu & Furon's figures are read: the best λ between measured places, losses at λ = 0."""

import math

import numpy as np
import pytest

from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.kernels import sketch
from dpmf_core.papers.balu_2016.protocol import SKETCH, TOP_USERS
from dpmf_core.papers.balu_2016.statements import best_regularisations
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.runs.sweep import Summary


def cell(rank, gain, errors):
    return [
        Summary(
            SKETCH,
            "sketch",
            None,
            {"rank": rank, "space_gain": gain, "regularisation": at},
            (error,),
        )
        for at, error in errors.items()
    ]


def bowl(bottom):
    return {at: 0.8 + math.log(at / bottom) ** 2 for at in (0.02, 0.04, 0.08)}


def test_the_best_regularisation_lies_between_measured_places():
    results = [
        *cell(8, 1.0, bowl(0.05)),
        *cell(8, 4.0, bowl(0.03)),
        *cell(16, 1.0, bowl(0.5)),
        *cell(16, 4.0, bowl(0.001)),
    ]
    best = best_regularisations(results)
    assert best[8, 1.0] == pytest.approx(0.05) and best[8, 4.0] == pytest.approx(0.03)
    assert (best[16, 1.0], best[16, 4.0]) == (0.08, 0.02)
    often, corner, by_rank, by_gain = CLAIMS["balu-fig2"].clauses
    assert often.margin(results) == pytest.approx(-0.5)  # none is below .01
    assert corner.margin(results) == pytest.approx(math.log10(0.08 / 0.01))
    rise = (math.log10(0.08 / 0.05) + math.log10(0.02 / 0.03)) / 2
    assert by_rank.margin(results) == pytest.approx(rise)
    assert by_gain.margin(results) == pytest.approx(math.log10(0.05 / 0.03))


@pytest.mark.parametrize(("busy", "holds"), [(0.02, True), (0.05, False)])
def test_an_order_of_magnitude_is_more_than_the_root_of_ten(busy, holds):
    grid = {"threshold": 2.0, "space_gain": 1.0}
    results = [
        Summary(SKETCH + ending, "sketch", None, grid, (value,))
        for ending, value in (("", 0.1), (TOP_USERS, busy))
    ]
    (clause,) = [
        it
        for it in CLAIMS["balu-top-users-kl"].clauses
        if "magnitude" in it.words and SKETCH in it.words
    ]
    assert clause.verdict(results).holds is holds


@pytest.mark.parametrize("depth", [1, 4])
def test_an_update_of_one_vector_adds_centred_noise_of_the_stated_variance_to_others(depth):
    """Section 2.3: of variance δ²/(wk). Read over many hashes; four standard deviations."""
    width, components, draws = 5, 2, 3000
    rng = np.random.default_rng(0)
    noise = np.empty((draws, components))
    for draw in range(draws):
        keys = hash_keys(rng, depth)
        C = np.zeros(depth * width, np.float32)
        columns, signs = sketch.places(keys, 0, components, width)
        for row in range(depth):
            C[row * width + columns[row, 0]] += signs[row, 0]  # component 0 of vector 0, by 1
        vectors = sketch.vectors(C, keys, 2, components, width)
        noise[draw] = vectors[1]
    variance = 1 / (width * depth)
    assert abs(noise.mean()) < 4 * math.sqrt(variance / noise.size)
    fourth = (noise**4).mean()
    spread = math.sqrt(max(fourth - variance**2, 0) / noise.size)
    assert abs((noise**2).mean() - variance) < 4 * spread
