"""Shares of observations against shares of items."""

import numpy as np
import pytest

from dpmf_core.data.popularity_skew import shares
from dpmf_core.testing.worlds import of, world


def test_curves_run_from_nothing_to_all_and_never_fall() -> None:
    points = shares(world(), k=3)
    for name in {share.selection for share in points}:
        line = [(share.items, share.observations) for share in points if share.selection == name]
        assert line[0] == (0.0, 0.0)
        assert line[-1] == pytest.approx((1.0, 1.0))
        assert (np.diff([observations for _, observations in line]) >= 0).all()


def test_a_known_skew_and_what_adaptive_sampling_makes_of_it() -> None:
    """Ten users rate item 0 and one item of their own: half of all ratings lie on one of eleven
    items; the rarest one a user lies on ten.
    """
    data = of({user: ([0, user + 1], [3, 3]) for user in range(10)}, n_users=10, n_items=11)
    at = {
        (share.selection, round(share.items * 11)): share.observations
        for share in shares(data, k=1)
    }
    assert at["all ratings", 1] == pytest.approx(0.5)
    assert at["1 a user, adaptive", 1] == pytest.approx(0.1)
    assert at["1 a user, adaptive", 5] == pytest.approx(0.5)
    assert at["1 a user, uniform", 1] >= 0.1
