"""A private class: the noise is as large as is said, and every draw is in the account, once."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.stats

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.accounts import NoisePermit
from dpmf_core.teaching import class_records
from dpmf_core.teaching.class_records import publications
from dpmf_core.teaching.private_class import (
    EPSILONS,
    MOST,
    counts_of,
    mechanism,
    noise_range,
    noisy_counts,
    publish,
    spent_epsilon,
)

CLASS = "a-class-of-tests"
STEP = "0.answer"


pytestmark = pytest.mark.usefixtures("configure")


def answer(*choices):
    for choice in choices:
        class_records.record(
            CLASS, class_records.new_seat(), {STEP: str(choice)}, by_login=True
        )


def test_the_noise_is_laplace_of_scale_two_over_epsilon(monkeypatch):
    """Mean size b and variance 2b² + 1/12 on 40,000 counts; 5% too much would be found."""
    original = NoisePermit.noise
    monkeypatch.setattr(
        NoisePermit,
        "noise",
        lambda self, plan: original(
            NoisePermit(private=False), plan, np.random.SeedSequence(5)
        ),
    )
    answer(0, 0, 1)
    publish(CLASS, STEP, 40_000, 0.2)
    (publication,) = publications(CLASS, STEP)
    exact = np.array([2, 1, *[0] * 39_998])
    noise = np.array(publication.counts) - exact
    b = 2 / 0.2
    assert np.abs(noise).mean() == pytest.approx(b, rel=0.02)
    expected = 2 * b**2 + 1 / 12
    assert noise.var() == pytest.approx(expected, rel=0.05)
    assert noise.mean() == pytest.approx(0, abs=4 * math.sqrt(2) * b / 200)


def test_one_students_answer_moves_the_counts_by_two_at_most():
    """All classes of three and all their neighbours: what the noise is scaled to."""
    for before in itertools.product("012", repeat=3):
        for place, other in itertools.product(range(3), "012"):
            after = (*before[:place], other, *before[place + 1 :])
            counts = counts_of(before, 3)
            counts_after = counts_of(after, 3)
            pairs = zip(counts, counts_after, strict=True)
            moved = sum(abs(one - other) for one, other in pairs)
            assert moved <= 2
    leaf = mechanism(0.5)
    assert leaf.noise_multiplier * leaf.sensitivity == 2 / 0.5


def test_the_same_answers_are_drawn_and_charged_once_at_each_epsilon():
    answer(0, 1, 1)
    for epsilon in (0.5, 1.0, 0.5, 0.5, 1.0):
        publish(CLASS, STEP, 2, epsilon)
    first = publications(CLASS, STEP)
    epsilons = [publication.epsilon for publication in first]
    assert epsilons == [0.5, 1.0]
    assert spent_epsilon(CLASS) == pytest.approx(1.5)
    answer(0)  # other data: a further draw, and a further charge
    publish(CLASS, STEP, 2, 0.5)
    assert [publication.n_answers for publication in publications(CLASS, STEP)] == [
        3,
        3,
        4,
    ]
    assert publications(CLASS, STEP)[:2] == first
    assert spent_epsilon(CLASS) == pytest.approx(2.0)


def test_all_questions_of_a_class_share_one_account_that_ends_at_its_most():
    answer(0, 1)
    for step in (STEP, "1.answer"):
        publish(CLASS, step, 2, 2.0)
    assert spent_epsilon(CLASS) == pytest.approx(4.0)
    with pytest.raises(BadInput):
        publish(CLASS, STEP, 2, 1.1)
    assert len(publications(CLASS, STEP)) == 1
    assert spent_epsilon(CLASS) == pytest.approx(4.0)
    publish(CLASS, STEP, 2, 1.0)
    assert spent_epsilon(CLASS) == pytest.approx(MOST)
    with pytest.raises(BadInput):
        publish(CLASS, STEP, 2, 0.1)
    publish(CLASS, STEP, 2, 1.0)  # again: shown, not drawn
    assert spent_epsilon("another-class") == 0


def test_teachers_who_press_at_once_get_one_draw():
    answer(0, 1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: publish(CLASS, STEP, 2, 1.0), range(8)))
    assert len(publications(CLASS, STEP)) == 1
    assert spent_epsilon(CLASS) == pytest.approx(1.0)


def test_a_lost_draw_stays_charged():
    """It could not be kept after it was drawn: nobody saw it, and it is paid."""

    def draw(_):
        noisy_counts(CLASS, STEP, [1, 1], 1.0)
        raise OSError

    answer(0, 1)
    with pytest.raises(OSError):
        class_records.publish(CLASS, STEP, 1.0, draw)
    assert not publications(CLASS, STEP)
    assert spent_epsilon(CLASS) == pytest.approx(1.0)


def test_a_class_that_makes_room_keeps_its_account(configure):
    """Its answers and publications go; what was shown of students is not forgotten."""
    configure(most_lessons=1)
    answer(0, 1)
    publish(CLASS, STEP, 2, 2.0)
    class_records.record("another-class", class_records.new_seat(), {STEP: "0"})
    assert not publications(CLASS, STEP)
    assert not class_records.class_answers(CLASS)
    answer(1, 1)
    publish(CLASS, STEP, 2, 2.0)  # other answers: another draw
    assert spent_epsilon(CLASS) == pytest.approx(4.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_range_of_the_noise_is_the_smallest_that_holds_95_of_100_counts(epsilon):
    """Summed from the chances of each whole number to which Laplace noise is rounded."""
    noise = scipy.stats.laplace(scale=2 / epsilon)

    def chance_within(largest):
        whole = np.arange(-largest, largest + 1)
        return float((noise.cdf(whole + 0.5) - noise.cdf(whole - 0.5)).sum())

    largest = noise_range(epsilon)
    assert chance_within(largest) >= 0.95 > chance_within(largest - 1)
