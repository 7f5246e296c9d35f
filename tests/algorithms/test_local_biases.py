"""Local biases: messages, their noise, its cost, and what the server makes of the sum."""

import math

import numpy as np
import pytest

from dpmf_core.algorithms.baselines import LocalBias, Messages, added_up
from dpmf_core.curator import NoisyCurator, in_memory
from dpmf_core.privacy import Budget, Gaussian, Noise, Relation, calibrate, normal_form
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.testing import rating_worlds
from dpmf_core.testing.homes import RATINGS
from dpmf_core.testing.probes import ask, single_units
from tests.support.gaussian import delta_of

DELTA = 1e-6


def messages_by_hand(ratings):
    """Everybody's first (n_users, 2 n_items), user by user from the definition."""
    out = np.zeros((ratings.n_users, 2, ratings.n_items))
    unit = ratings.shape.half_range / 2
    for user in range(ratings.n_users):
        own = ratings.only(ratings.users == user)
        if not len(own):
            continue
        values = own.values.astype(float)
        x = (values - values.mean()) / unit
        out[user, 0, own.items] = x
        out[user, 1, own.items] = 0.5
        out[user] /= math.sqrt(max(x @ x, len(x) / 2) + len(x) / 4)
    return out.reshape(ratings.n_users, -1)


def test_what_is_released_is_every_message_and_nothing_else():
    data = RATINGS.world()
    record = ask(LocalBias(), data)
    by_hand = messages_by_hand(data)
    messages = []
    for question in record.questions:
        answers = [
            record.answer(question, unit) for unit in single_units(data, data.n_users)
        ]
        messages.append(sum(answers).reshape(by_hand.shape))
    first, second = messages
    assert first == pytest.approx(by_hand, abs=3e-6)
    is_rated = first[:, data.n_items :] > 0
    assert ((second[:, data.n_items :] > 0) == is_rated).all()
    for sent in messages:
        norms = np.linalg.norm(sent, axis=1)
        assert norms.max() <= 1
        assert not norms[list(rating_worlds.EMPTY)].any()


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_the_ledger_holds_two_messages_of_each_user_at_her_own_epsilon(
    epsilon, relation
):
    """Anyone who sees all messages learns epsilon of each user under both relations: the
    noise is made for any two rows, and two messages are as one with its noise over the root of 2.
    """
    shape = RATINGS.world().shape
    budget = Budget(
        epsilon=epsilon,
        delta=DELTA,
        relation=relation,
    )
    level = calibrate(lambda at: LocalBias().plan(shape, at), budget)
    ((leaf, count),) = normal_form(LocalBias().plan(shape, level))
    assert type(leaf) is Gaussian
    assert count == 2
    assert leaf.replace_one_factor == 1
    noise = leaf.noise_multiplier * leaf.sensitivity / math.sqrt(2)
    assert noise == pytest.approx(2 / gaussian_mu(epsilon, DELTA), rel=1e-9)
    assert delta_of(2 / noise, epsilon) == pytest.approx(DELTA, rel=1e-6)


def noise_of_the_sum(scale):
    """The measured over the theoretical deviation of the sum's noise; draws times `scale`."""
    data = rating_worlds.of({}, n_users=40, n_items=10_000)
    noise = Noise(Messages().event(0.7), np.random.SeedSequence(4))

    class ScaledNoiseCurator(NoisyCurator):
        def release_parts(self, *arguments):
            for at, part in super().release_parts(*arguments):
                yield at, scale * part

    curator = ScaledNoiseCurator(in_memory(data), noise)
    nobody = curator.hold(lambda block: (np.zeros(0), np.zeros(0)))
    expected = math.sqrt(40) * 0.7 * 2
    return float(added_up(curator, nobody).std() / expected)


def test_the_sum_carries_the_root_of_n_times_the_noise_of_a_message():
    """20,000 draws tell a deviation to half a percent; noise that is off by 5% is found."""
    assert noise_of_the_sum(1.0) == pytest.approx(1, abs=0.02)
    for wrong in (0.95, 1.05):
        assert noise_of_the_sum(wrong) != pytest.approx(1, abs=0.02)
