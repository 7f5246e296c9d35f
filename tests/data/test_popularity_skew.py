"""Shares of observations against shares of items."""

import pytest

from dpmf_core.data.popularity_skew import shares
from dpmf_core.testing.rating_worlds import of


def test_a_known_skew_and_what_adaptive_sampling_makes_of_it():
    """Half of all ratings lie on one of eleven items; users' rarest items are ten others."""
    data = of(
        {user: ([0, user + 1], [3, 3]) for user in range(10)}, n_users=10, n_items=11
    )
    at = {
        (share.selection, round(share.items * 11)): share.observations
        for share in shares(data, k=1)
    }
    assert at["all ratings", 1] == pytest.approx(0.5)
    assert at["1 a user, adaptive", 1] == pytest.approx(0.1)
    assert at["1 a user, adaptive", 5] == pytest.approx(0.5)
    assert at["1 a user, uniform", 1] >= 0.1
