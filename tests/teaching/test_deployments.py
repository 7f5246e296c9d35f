"""What is said of real deployments agrees with what else is published of them."""

import math

import pytest

from dpmf_core.teaching.deployments import DEPLOYMENTS


def test_deployments_ascend_in_epsilon_and_have_a_source_each():
    deployments = list(DEPLOYMENTS.values())
    epsilons = [deployment.epsilon for deployment in deployments]
    assert epsilons == sorted(deployment.epsilon for deployment in deployments)
    assert all(
        deployment.address.startswith("https://")
        and deployment.source
        and deployment.period
        for deployment in deployments
    )
    assert all(0 <= deployment.delta < 1e-4 for deployment in deployments)


def test_the_census_total_is_the_sum_of_its_two_parts():
    census = DEPLOYMENTS["us-census"]
    assert census.epsilon == pytest.approx(17.14 + 2.47, abs=1e-9)


def test_the_epsilon_of_wikipedia_is_that_of_its_rho():
    """Bun & Steinke 2016, Prop. 1.3: rho + 2 sqrt(rho ln(1/delta))."""
    page_views = DEPLOYMENTS["wikipedia"]
    rho = 0.015
    epsilon = rho + 2 * math.sqrt(rho * math.log(1 / page_views.delta))
    assert page_views.epsilon == pytest.approx(epsilon, rel=0.01)
