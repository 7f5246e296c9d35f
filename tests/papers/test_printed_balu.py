"""The equations of Balu & Furon 2016 as printed, next to ours, with the same hashes and order."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dpmf_core.algorithms import Streams, train
from dpmf_core.algorithms.count_sketch import START, Sketch, hash_keys
from dpmf_core.algorithms.sgd import SGDMF, means_and_residuals
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import ErrorSums, divergence
from dpmf_core.kernels import sketch as kernel
from dpmf_core.kernels.rating_loops import shuffled_range
from dpmf_core.papers.balu_2016 import printed
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.rating_worlds import low_rank

D = 3
DEPTH = 4
STEPS = 2
DECAY = 0.7
PULL = 0.1
RULES = {"half": "3.2", "whole": "4.3"}  # sections, by our names of the loss
SEED = 1


def streams():
    return Streams(np.random.default_rng(4), SEED)


def wide():
    """Ratings from 1 to 6, whose quarter of a range is not 1."""
    data = low_rank(n_users=31, n_items=13)
    return Ratings.of(
        data.users,
        data.items,
        data.values + 0.5,
        n_users=data.n_users,
        n_items=data.n_items,
        bounds=(1.0, 6.0),
        public=True,
    )


def triples(data, values, step):
    """The ratings of an epoch in our order."""
    order = shuffled_range(len(data), SEED + step)
    columns = data.users[order], data.items[order], values[order]
    return list(zip(*columns, strict=True))


def sketched_as_printed(data, *, rate, epsilon, rule, gain, unit=1.0):
    """The table after all epochs, from our hashes and start. unit: of the ratings."""
    rng = streams().init
    w = printed.width(data.n_users, data.n_items, D, gain, DEPTH)
    user_keys = hash_keys(rng, DEPTH)
    item_keys = hash_keys(rng, DEPTH)
    draws = rng.standard_normal(DEPTH * w).reshape(DEPTH, w)
    C = draws * START * math.sqrt(DEPTH / D)
    residuals = means_and_residuals(data)[1] / unit
    for t in range(STEPS):
        printed.sketched(
            triples(data, residuals, t),
            C,
            lambda u: kernel.places(user_keys, u, D, w),
            lambda i: kernel.places(item_keys, i, D, w),
            eta=printed.learning_rate(rate, DECAY, t, STEPS),
            lambda_=PULL,
            epsilon=epsilon / unit**2,
            sign=-1,
            rule=rule,
        )
    return C


def sketch(data, **parameters):
    fixed = {
        "rank": D,
        "depth": DEPTH,
        "steps": STEPS,
        "decay": DECAY,
        "regularisation": PULL,
    }
    return train(Sketch(**fixed, **parameters), data, Noise(NOTHING), streams())


@pytest.mark.parametrize("loss", RULES)
@pytest.mark.parametrize("gain", [1.0, 3.0])
def test_the_sketch_as_printed_is_equations_13_to_16(loss, gain):
    data = wide()
    model = sketch(
        data,
        learning_rate=0.05,
        threshold=0.8,
        loss=loss,
        space_gain=gain,
        as_printed=True,
    )
    C = sketched_as_printed(data, rate=0.05, epsilon=0.8, rule=RULES[loss], gain=gain)
    assert_allclose(model.table, C, atol=1e-4)
    everything = sketched_as_printed(
        data, rate=0.05, epsilon=1e6, rule="3.2", gain=gain
    )
    assert np.abs(C - everything).max() > 0.01  # the threshold binds


def shortened(eta):
    """Deviation: the gradient's term of the error, at most as long as the error itself."""

    def gradients(r, p, q, lambda_, sign):
        error = r - p @ q
        size = p @ p + q @ q
        if eta * size > 1:
            error /= eta * size
        of_p = sign * error * q + lambda_ * p
        of_q = sign * error * p + lambda_ * q
        return of_p, of_q

    return gradients


@pytest.mark.parametrize("loss", RULES)
def test_with_our_units_and_step_lengths_the_sketch_is_ours(loss, monkeypatch):
    """At a rate so large that steps are shortened, with ratings in units of a quarter range."""
    data = wide()
    rate = 0.9
    settings = {"threshold": 6.0, "space_gain": 1.0}
    model = sketch(data, learning_rate=rate, loss=loss, **settings)
    unit = data.shape.half_range / 2
    assert unit == 1.25

    def ours_of_epoch(ratings, C, users, items, **settings):
        monkeypatch.setattr(printed, "gradients", shortened(settings["eta"]))
        plain(ratings, C, users, items, **settings)

    plain = printed.sketched
    monkeypatch.setattr(printed, "sketched", ours_of_epoch)

    def as_printed():
        return sketched_as_printed(
            data, rate=rate, epsilon=6.0, rule=RULES[loss], gain=1.0, unit=unit
        )

    C = as_printed()
    assert_allclose(model.table, C, atol=1e-3)
    monkeypatch.undo()
    whole = as_printed()
    assert not np.allclose(C, whole, atol=0.01)


def test_predictions_as_printed_are_products_and_not_clipped():
    data = wide()
    parameters = {"learning_rate": 0.05, "threshold": 1e6, "space_gain": 1.0}
    model = sketch(data, **parameters, as_printed=True)
    P = model.user_factors
    Q = model.item_factors
    residuals = means_and_residuals(data)[1]
    means = data.values - residuals
    far = replace(model, item_offsets=model.item_offsets + 10)
    predictions = far.predict(far.personal(data), data.users, data.items)
    products = np.einsum("ij,ij->i", P[data.users], Q[data.items])
    expected = 10 + means + products
    assert_allclose(predictions, expected, atol=1e-4)
    otherwise = replace(far, bounds=sketch(data, **parameters).bounds)
    clipped = otherwise.predict(far.personal(data), data.users, data.items)
    assert_array_equal(clipped, predictions.clip(1.0, 6.0))


def regular(data, rate, unit, gradients=None, monkeypatch=None):
    rng = streams().init
    P = rng.normal(0, 0.1, (data.n_users, D))
    Q = rng.normal(0, 0.1, (data.n_items, D))
    residuals = means_and_residuals(data)[1] / unit
    for t in range(STEPS):
        eta = printed.learning_rate(rate, DECAY, t, STEPS)
        if gradients is not None:
            monkeypatch.setattr(printed, "gradients", gradients(eta))
        rows = triples(data, residuals, t)
        printed.factorise(rows, P, Q, eta=eta, lambda_=PULL, sign=-1)
    return P * unit, Q


def regular_of_ours(data, rate, **more):
    algorithm = SGDMF(
        model="centred",
        rank=D,
        steps=STEPS,
        learning_rate=rate,
        decay=DECAY,
        regularisation=PULL,
        **more,
    )
    model = train(algorithm, data, Noise(NOTHING), streams())
    return model.user_factors, model.item_factors


def test_regular_factorisation_as_printed_is_equations_2_and_3(monkeypatch):
    data = wide()
    for ours, theirs in zip(
        regular_of_ours(data, 0.05, as_printed=True),
        regular(data, 0.05, 1.0),
        strict=True,
    ):
        assert_allclose(ours, theirs, atol=1e-6)
    unit = data.shape.half_range / 2
    otherwise = regular(data, 0.9, unit, shortened, monkeypatch)
    ours_of_both = regular_of_ours(data, 0.9)
    for ours, theirs in zip(ours_of_both, otherwise, strict=True):
        assert_allclose(ours, theirs, atol=1e-5)


def test_the_gradient_is_that_of_equation_1_with_the_sign_of_equation_4():
    """By finite differences; as printed in equation 5 it is not."""
    rng = np.random.default_rng(0)
    P = rng.standard_normal((1, D))
    Q = rng.standard_normal((1, D))
    r = 1.3
    step = 1e-6
    to_p, _ = printed.gradients(r, P[0], Q[0], PULL, -1)
    for f in range(D):
        moved = P.copy()
        moved[0, f] += step
        rating = [(0, 0, r)]
        difference = printed.functional(rating, moved, Q, PULL)
        difference -= printed.functional(rating, P, Q, PULL)
        assert difference / step == pytest.approx(to_p[f], abs=1e-4)
    to_p_of_other_sign, _ = printed.gradients(r, P[0], Q[0], PULL, 1)
    assert not np.allclose(to_p_of_other_sign, to_p)


def test_the_correction_of_the_noise_is_about_equations_11_and_12():
    """Many users of one item with q = 1, no pull and ratings of 0: chains with target N(0, 1)."""
    rng = np.random.default_rng(2015)
    P = np.zeros((300, 1))
    Q = np.ones((300, 1))
    ratings = [(chain, chain, 0.0) for chain in range(len(P))]
    for _ in range(200):
        Q[:] = 1.0
        printed.langevin(
            ratings, P, Q, eta=0.02, lambda_=0.0, sign=-1, noise=rng.standard_normal
        )
    expected = 1 / (2 - 0.02)  # of an autoregression
    assert P.var() == pytest.approx(expected, rel=0.2)


def test_the_divergence_is_equation_19():
    rng = np.random.default_rng(3)
    train_errors = rng.normal(0.1, 0.8, 500)
    test_errors = rng.normal(-0.1, 1.1, 300)
    sums = (ErrorSums.of(train_errors), ErrorSums.of(test_errors))
    assert divergence(*sums) == pytest.approx(
        printed.divergence(train_errors, test_errors)
    )


def test_the_width_is_equation_20():
    data = wide()
    algorithm = Sketch(rank=D, depth=DEPTH, space_gain=3.0)
    assert algorithm.width(data.shape) == printed.width(
        data.n_users, data.n_items, D, 3.0, DEPTH
    )
