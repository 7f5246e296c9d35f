"""What delta is: the slack of a bound on probabilities, not the probability that it fails."""

import math

import pytest
from scipy.stats import norm

from dpmf_core.privacy import Gaussian, Relation
from dpmf_core.privacy.accounting import rule_of
from dpmf_core.privacy.formatting import epsilon_in_full
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.teaching.demonstrations import belief, belief_exception


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_odds_move_further_far_more_often_than_delta(epsilon: float) -> None:
    """The loss of a Gaussian release is normal with mean mu^2/2 and deviation mu."""
    delta = 1e-5
    mu = gaussian_mu(epsilon, delta)
    loss_is_larger = norm.sf(epsilon, loc=mu**2 / 2, scale=mu)
    assert belief_exception(epsilon, delta) == pytest.approx(loss_is_larger, rel=1e-9)
    assert belief_exception(epsilon, delta) > 3 * delta


def test_at_epsilon_1_and_delta_1e_5_the_exception_is_16_deltas() -> None:
    assert belief_exception(1.0, 1e-5) == pytest.approx(16e-5, rel=0.03)
    assert belief(0.5, 1.0) == pytest.approx(math.e / (1 + math.e))


def test_an_upper_bound_is_not_called_exact() -> None:
    release = Gaussian(2.0)
    assert rule_of(release) == "exact"
    assert rule_of(release, Relation.REPLACE_ONE) == "at most"
    assert "exact" not in epsilon_in_full(1.0, 1e-6, "user", "replace-one", "exact")
