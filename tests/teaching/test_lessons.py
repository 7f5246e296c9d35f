"""Right answers and figures of the lessons, by independent computations."""

import itertools
import math
import re
from html import unescape

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy.optimize import brentq, linprog
from scipy.stats import norm

from dpmf_core.privacy import Gaussian, Laplace, Repeat, accounting
from dpmf_core.privacy.certainty import certainty_at
from dpmf_core.privacy.interpretation import belief
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.teaching import demonstrations, linkage, membership
from dpmf_core.teaching.demonstrations import (
    DELTA,
    HIGH,
    best_attacks,
    clipping_errors,
    totals,
    two_answers,
)
from dpmf_core.teaching.glossary import TERMS
from dpmf_core.teaching.lessons import LESSONS, handout, question_only
from tests.support.gaussian import delta_of, mu_of


def test_two_films_and_their_days_find_more_than_nine_in_ten():
    """Every count again with sets of Python, for a few people."""
    days = linkage.published_days()
    n_seen = np.sum(days != linkage.NEVER, axis=1)
    assert (n_seen == linkage.FILMS_SEEN).all()
    for off in (3, None):
        reviews = linkage.reviews_of_targets(8, off or 0)
        counts = linkage.candidates(8, off)
        for target, n_known in itertools.product((0, 7, 399), (1, 2, 5)):
            rows = [
                viewer
                for viewer in range(linkage.VIEWERS)
                if all(
                    days[viewer, film] >= 0
                    and (off is None or abs(int(days[viewer, film]) - int(day)) <= off)
                    for film, day in reviews[target, :n_known]
                )
            ]
            assert target in rows
            assert len(rows) == counts[target, n_known - 1]
    shares = linkage.share_named(8, 3)
    assert shares[0] < 0.9 < shares[1]
    assert shares == sorted(shares)
    rows_left = linkage.candidates(8, 3)[:, 0].mean()
    assert 5 < rows_left < 7  # "about six rows"
    assert linkage.share_named(8, None)[1] < 0.01


def test_sums_without_noise_are_your_row():
    club = membership.club((0, 4))
    assert club.difference.tolist() == [1, 0, 0, 0, 1] + 7 * [0]
    assert (club.others <= membership.MEMBERS).all()


def test_the_best_attack_on_the_noisy_sums_is_right_in_55_of_100_cases():
    expected = norm.cdf(mu_of(1.0, 1e-5) / 2)
    assert membership.best_attack(1.0) == pytest.approx(expected, abs=1e-6)
    assert round(100 * expected) == 55
    assert round(100 * math.e / (1 + math.e)) == 73
    assert membership.best_attack(1.0, 4) < expected


def test_two_coins_cost_the_logarithm_of_three():
    assert demonstrations.response_epsilon(0.75) == pytest.approx(math.log(3))
    # Google's accountant: a uniform answer with probability 2 (1 - p)
    for truth in (
        0.6,
        0.9,
    ):
        loss = privacy_loss_distribution.from_randomized_response(2 * (1 - truth), 2)
        epsilon = demonstrations.response_epsilon(truth)
        assert loss.get_delta_for_epsilon(epsilon * 1.001) == pytest.approx(0, abs=1e-6)
        assert loss.get_delta_for_epsilon(epsilon * 0.9) > 0.01


def test_a_survey_is_right_on_average_and_as_far_off_as_is_said():
    """The distribution of all outcomes, against a simulation answer by answer."""
    estimates, chances = demonstrations.survey(0.3, 1_000, 0.75).to_numpy().T
    mean = float(estimates @ chances)
    spread = math.sqrt(float((estimates - mean) ** 2 @ chances))
    error = demonstrations.response_error(1_000, 0.75)
    assert chances.sum() == pytest.approx(1)
    assert mean == pytest.approx(0.3)
    expected = math.sqrt(3 / 16 / 1_000) * 2
    assert spread == pytest.approx(error)
    assert error == pytest.approx(expected)
    rng = np.random.default_rng(2)
    would = np.arange(1_000) < 300
    is_true = rng.random((4_000, 1_000)) < 0.75
    answers = np.where(is_true, would, ~would).mean(axis=1)
    estimates = (answers - 0.25) / 0.5
    assert estimates.std() == pytest.approx(error, rel=0.05)
    assert demonstrations.response_error(2_000, 0.75) < 0.02  # the task
    assert demonstrations.response_error(1_000, 0.75) > 0.02


def test_without_a_curator_ten_thousand_people_pay_a_hundredfold():
    scale = 4 / mu_of(1.0, 1e-5)
    assert demonstrations.central_error(10_000, 1.0) == pytest.approx(
        scale / 10_000, rel=1e-6
    )
    assert demonstrations.local_error(10_000, 1.0) == pytest.approx(
        scale / 100, rel=1e-6
    )
    assert demonstrations.local_error(10_000, 1.0) == pytest.approx(
        demonstrations.central_error(100, 1.0)
    )


def test_the_part_of_one_phone_among_two_thousand_is_nearly_bare():
    """A part's noise is the sum's over the root of the number of parts (Balle & Wang 2018)."""
    for blocks in (1, 20, 2_000):
        noise = 2 / mu_of(1.0, 1e-5) / math.sqrt(blocks)
        epsilon = demonstrations.part_epsilon(1.0, blocks)
        assert delta_of(2 / noise, epsilon) == pytest.approx(1e-5, rel=1e-3)
    assert round(demonstrations.part_epsilon(1.0, 2_000)) == 122  # as the lesson says
    # half of the noise is missing: as if half as many had added all of it
    assert demonstrations.part_epsilon(
        demonstrations.epsilon_without(1.0, 0.5), 10
    ) == pytest.approx(demonstrations.part_epsilon(1.0, 20))


def test_what_is_done_afterwards_helps_and_never_hurts_where_it_must_not():
    noisy = demonstrations.noisy_counts(0.2)
    drawn = noisy - np.array(demonstrations.STARS)
    assert drawn.std() == pytest.approx(1 / mu_of(0.2, 1e-5), rel=0.03)
    nonnegative = demonstrations.processed(noisy, frozenset({"nonnegative"}))
    off = np.abs(nonnegative - demonstrations.STARS) <= np.abs(
        noisy - demonstrations.STARS
    )
    assert off.all()
    assert nonnegative.min() == 0
    steps = frozenset({"nonnegative", "rescaled"})
    same_total = demonstrations.processed(noisy, steps)
    large = noisy.sum(axis=1) > 1
    totals = noisy.sum(axis=1)[large]
    assert np.allclose(same_total.sum(axis=1)[large], totals)
    every_step = frozenset({"nonnegative", "rounded", "rescaled"})
    whole = demonstrations.processed(noisy, every_step)
    assert (whole == np.round(whole)).all()
    exact = np.asarray([demonstrations.STARS], float)
    assert demonstrations.count_error(exact) == 0


def test_two_answers_are_as_far_apart_as_epsilon_allows():
    """A shift of 5 under that noise has exactly delta beyond epsilon; the curves are densities."""
    for epsilon in (0.1, 1.0, 10.0):
        table, noise = two_answers(epsilon)
        axis, without, with_you = table.to_numpy().T
        assert accounting.delta(Gaussian(noise / HIGH), epsilon) == pytest.approx(
            1e-5, rel=1e-3
        )
        assert np.trapezoid(without, axis) == pytest.approx(1, abs=1e-3)
        overlap = np.trapezoid(np.minimum(without, with_you), axis)
        expected = 2 * norm.cdf(-HIGH / noise / 2)
        assert overlap == pytest.approx(expected, abs=2e-3)
    least = 2 * norm.cdf(-HIGH / two_answers(10)[1] / 2)
    most = 2 * norm.cdf(-HIGH / two_answers(0.1)[1] / 2)
    assert least < 0.35
    assert most > 0.9


def test_the_valley_of_clipping_lies_between():
    table = clipping_errors(open_ratings(DataSpec(id="cinema-small")))
    best = table["both"].argmin()
    assert 0 < best < len(table) - 1
    assert 0.02 < table["people_cut"][best] < 0.5
    both = np.hypot(table["cut"], table["noise"])
    assert np.allclose(table["both"], both)


def test_a_hundred_steps_of_a_half_cost_about_seven():
    table = totals(0.5, 100)
    exact, plain_sum = table.loc[100]
    assert table["exactly"][1] == pytest.approx(0.5, abs=1e-6)
    assert 6 < exact < 7.5
    assert plain_sum == 50
    expected = 10 * mu_of(0.5, 1e-5)
    assert mu_of(exact, 1e-5) == pytest.approx(expected, rel=1e-5)


def epsilon_at(mu, delta):
    """Balle & Wang 2018, Theorem 8, inverted."""
    return brentq(
        lambda epsilon: (
            norm.cdf(mu / 2 - epsilon / mu)
            - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
            - delta
        ),
        0.0,
        300.0,
    )


def test_a_question_about_gaussian_noise_says_so_with_its_delta():
    """The textbook's 64 and 50 are right for pure epsilon, and the explanation says that."""
    (group,) = LESSONS["group"].parts
    (steps,) = LESSONS["composition"].parts
    for part in (group, steps):
        assert "Gaussian noise" in part.question
        assert "δ = 1e-5" in part.question
        assert "δ = 0" in part.because
    assert (
        group.answers[group.right]
        == f"about {epsilon_at(64 * mu_of(1.0, 1e-5), 1e-5):.0f}"
    )
    assert (
        group.answers[1] == f"{accounting.group_epsilon(Laplace(1.0), 0.0, size=64):g}"
    )
    exact = epsilon_at(10 * mu_of(0.5, 1e-5), 1e-5)
    assert steps.answers[steps.right] == f"about {exact:.0f}"
    assert steps.answers[2] == f"{accounting.epsilon(Repeat(Laplace(2.0), 100), 0.0):g}"


def test_group_privacy_has_its_condition_and_the_general_theorem():
    term = TERMS["group privacy"]
    assert "Gaussian noise" in term.words
    assert "same δ" in term.words
    assert "In general" in term.words
    assert "delta_k" in term.formula


def test_odds_of_one_become_e():
    assert (
        belief(0.5, 1.0)
        == pytest.approx(math.e / (1 + math.e))
        == pytest.approx(0.731, abs=1e-3)
    )
    assert belief(0.5, 5.0) == pytest.approx(0.993, abs=1e-3)
    assert belief(0.3, 0.0) == pytest.approx(0.3)
    assert belief(0.5, 2.0) < 0.9 < belief(0.5, 5.0)  # the task
    alarms, misses = best_attacks(1.0).to_numpy().T
    quantiles = norm.ppf(1 - np.array(alarms))
    again = norm.cdf(quantiles - mu_of(1.0, 1e-5))
    assert np.allclose(misses, again, atol=1e-6)


def test_the_bound_fails_more_often_than_delta_at_epsilon_one():
    """Of one Gaussian release, in closed form."""
    mu = mu_of(1.0, 1e-5)
    epsilon = 1.0
    exact = norm.cdf(mu / 2 - epsilon / mu)
    exception = certainty_at(epsilon, DELTA).exception
    assert exception == pytest.approx(exact, rel=1e-4)
    assert exact == pytest.approx(1.6e-4, abs=5e-6)
    assert exact > 15 * 1e-5


def test_busy_people_lose_most_to_the_noise():
    def errors(algorithm, **more):
        spec = RunSpec.parse(data={"id": "cinema-small"}, algorithm=algorithm, **more)
        return [
            float(bucket["rmse"]) for bucket in run(spec).record.buckets["activity"]
        ]

    plain = errors("als")
    for epsilon in (0.5, 2.0, 10.0):
        budget = {"epsilon": epsilon, "delta": 1e-5}
        private = errors("dpals", budget=budget)
        losses = np.subtract(private, plain)
        assert min(losses[2:]) > 1.3 * losses[0]
    differences = np.subtract(errors("user-mean"), private)
    assert all(differences > 0)  # the task has an answer


def test_a_handout_holds_every_lesson_and_its_answers_only_where_wanted():
    plain = handout(list(LESSONS.values()), False)
    with_answers = handout(list(LESSONS.values()), True)
    for taught in LESSONS.values():
        assert taught.title in unescape(plain)
    assert 'class="right"' in with_answers
    assert 'class="right"' not in plain
    assert "ln 3" in with_answers
    assert "ln 3" not in plain
    assert "<script" not in with_answers


def test_a_handout_of_a_sequence_has_its_title_and_the_questions_of_other_pages():
    lessons = [LESSONS["attacker"]]
    asked = question_only("Explore: Small ε", "What is <left> at ε = 1?")
    page = handout([*lessons, asked], title="Tuesday & Friday")
    assert "<h1>Tuesday &amp; Friday</h1>" in page
    assert "What is &lt;left&gt; at ε = 1?" in page
    assert "Explore: Small ε" in page
    assert page.count("<section>") == 2
    assert page.count('class="room"') == 10  # five lines for each answer in own words


def test_a_handout_has_boxes_for_the_answers_of_a_private_question():
    asked = question_only("Ratings", "Have you rated a <film>?", ("yes", "no"))
    for solved in (False, True):  # nobody's answer is right
        page = handout([asked], solved)
        assert re.findall(r"<li>(.*?)</li>", page) == ["yes", "no"]
        assert 'class="room"' not in page


def test_minutes_of_a_lesson_grow_with_its_words_and_parts():
    lesson = LESSONS["clipping"]
    longer = lesson.model_copy(update={"parts": 2 * lesson.parts})
    longer_idea = lesson.idea + " word" * 360  # two minutes of reading
    wordy = lesson.model_copy(update={"idea": longer_idea})
    assert longer.minutes > lesson.minutes
    assert wordy.minutes == lesson.minutes + 2
    for one in LESSONS.values():
        assert 3 <= one.minutes <= 12


def test_the_bounds_of_membership_advantage_are_the_best_that_an_attacker_can_reach():
    """The largest TPR - FPR under both inequalities of (ε, δ), by linear programming."""
    for epsilon, delta in ((0.1, 1e-5), (1.0, 1e-5), (2.0, 0.01)):
        factor = math.exp(epsilon)
        best = linprog(
            [-1, 1],  # of TPR, FPR
            [[1, -factor], [factor, -1]],
            [delta, factor - 1 + delta],
            bounds=[(0, 1), (0, 1)],
        )
        bound = (factor - 1 + 2 * delta) / (factor + 1)
        assert -best.fun == pytest.approx(bound, abs=1e-9)
    mu = mu_of(1.0, 1e-5)  # the total variation of Gaussians is δ at ε = 0
    expected = 2 * norm.cdf(mu / 2) - 1
    assert delta_of(mu, 0.0) == pytest.approx(expected)
    words = TERMS["membership advantage"].words
    assert "55 of 100" in words
    assert f"{2 * 0.55 - 1:.2f}" in words
