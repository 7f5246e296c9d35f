"""What published noise costs, derived from each source's own formula."""

import math

import pytest

from dpmf_core.algorithms import build, find
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.papers.source_noise import SOURCE_NOISE, chien, jain
from dpmf_core.privacy import Budget, Calibration, Relation
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.events import normal_form
from dpmf_core.privacy.gaussian import mu

ADD, REPLACE = Relation


def cost(claim, relation=ADD):
    return epsilon(claim.event, claim.delta, relation)


EXACT = {0.1: 0.0893, 0.5: 0.5079, 1.0: 1.0602, 2.0: 2.1906, 5.0: 5.5751, 20.0: 20.8866}


@pytest.mark.parametrize(("nominal", "exact"), EXACT.items())
def test_a_nominal_epsilon_of_private_als_has_its_exact_cost(nominal, exact):
    assert round(cost(chien(nominal)), 4) == exact


AS_PRINTED = {"biases": False, "gram_share": 0.5}


@pytest.mark.parametrize(
    ("more", "releases"),
    [
        ({"centring": "user"}, 2),
        ({"centring": "global", "sampling": "adaptive"}, 4),
        ({"centring": "none", "ratings_per_user": 80}, 2),
    ],
)
def test_both_item_statistics_have_the_noise_of_theorem_1(more, releases):
    """sqrt(2 T (1 + ln 1e5)) = 11.19 at T = 5, with more for 80 ratings of 50 items."""
    shape = Shape(1000, 50, (1.0, 5.0))
    budget = Budget(epsilon=1.0, delta=1e-5, calibration=Calibration.SOURCE)
    algorithm = find("dpals")(steps=5, **AS_PRINTED, **more)
    level = algorithm.source_level(shape, budget)
    plan = normal_form(algorithm.plan(shape, level))
    items = {
        leaf.statistic: leaf.noise_multiplier
        for leaf, _ in plan
        if leaf.statistic.startswith("item ")
    }
    ratings = max(more.get("ratings_per_user", 50), 50)
    of_50_ratings = math.sqrt(2 * 5 * (1 + math.log(1e5)))
    printed = of_50_ratings * math.sqrt(ratings / 50)
    assert items["item Grams"] == pytest.approx(printed)
    assert items["item right-hand sides"] == pytest.approx(printed)
    assert round(of_50_ratings, 2) == 11.19
    assert len(plan) == releases


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("dpals", {"biases": True}),
        ("dpals", {"gram_share": 0.3}),
        ("dpals", {"start": "private-svd"}),
        ("dpals", {"disjoint_users": True}),
        ("ada-dpals", {}),
    ],
)
def test_theorem_1_is_of_algorithm_1_alone(name, other):
    budget = Budget(epsilon=1.0, delta=1e-5, calibration=Calibration.SOURCE)
    algorithm = find(name)(**AS_PRINTED | other)
    with pytest.raises(BadInput):
        algorithm.source_level(Shape(1000, 50, (1.0, 5.0)), budget)


@pytest.mark.parametrize(
    ("name", "parameters", "row_bound"),
    [
        ("dpfw", {}, "2L"),
        ("dpfw", {"source_bound": "ratings"}, "2L"),
        ("dpfw-oja", {}, "2L"),
        ("private-pgd", {}, "2L"),
        ("private-svd", {}, "L"),
    ],
)
def test_algorithms_draw_the_noise_that_the_accountant_names(
    name, parameters, row_bound
):
    shape = Shape(1000, 50, (1.0, 5.0))
    budget = Budget(epsilon=3.0, delta=1e-6, calibration=Calibration.SOURCE)
    algorithm = build(name, parameters, shape, budget)
    level = algorithm.source_level(shape, budget)
    plan = algorithm.plan(shape, level)
    event = jain(3.0, row_bound=row_bound).event
    assert mu(plan) == pytest.approx(mu(event))


@pytest.mark.parametrize("name", ["dpfw", "dpfw-oja", "private-pgd", "private-svd"])
def test_the_source_asks_for_an_epsilon_of_at_most_two_logarithms(name):
    shape = Shape(1000, 50, (1.0, 5.0))
    algorithm = find(name)()
    for stated, refused in ((27.6, False), (27.7, True)):  # 2 ln(10^6) = 27.63
        budget = Budget(epsilon=stated, delta=1e-6, calibration=Calibration.SOURCE)
        if not refused:
            assert algorithm.source_level(shape, budget) > 0
            continue
        with pytest.raises(BadInput):
            algorithm.source_level(shape, budget)


@pytest.mark.parametrize("name", SOURCE_NOISE)
@pytest.mark.parametrize("nominal", [0.1, 1.0, 10.0])
def test_every_preset_costs_more_the_more_it_claims(name, nominal):
    for less, more in zip(
        SOURCE_NOISE[name].claims(nominal),
        SOURCE_NOISE[name].claims(1.1 * nominal),
        strict=True,
    ):
        assert (
            0
            < cost(less)
            < cost(more)
            <= epsilon(more.event, more.delta, REPLACE) * (1 + 1e-12)
        )
        assert f"ε = {nominal:g}" in less.words
