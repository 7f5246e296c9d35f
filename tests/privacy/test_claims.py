"""The papers' own noise, accounted exactly, gives the figures of privacy.md, section 3."""

import math

import pytest

from dpmf_core.privacy import Relation
from dpmf_core.privacy.accounting import epsilon, every_epsilon
from dpmf_core.privacy.claims import chien, jain, saha


@pytest.mark.parametrize(("nominal", "true"), [(0.1, 0.0893), (0.5, 0.5079), (1, 1.0602), (2, 2.1906), (5, 5.5751), (10, 10.9706), (20, 20.8866)])
def test_chien(nominal: float, true: float) -> None:
    for k, steps in ((50, 10), (100, 1)):
        assert epsilon(chien(nominal, ratings_per_user=k, steps=steps).event, 1e-5) == pytest.approx(true, abs=5.1e-5)


def test_chien_by_its_own_rule() -> None:
    rho = 0.5 / (1 + math.log(1e5))  # T = 1, k = 1: two releases at sigma^2 = 2 (1 + ln(1/delta))
    assert every_epsilon(chien(1).event, 1e-5)[1].epsilon == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e5)), rel=1e-9)


def test_jain() -> None:
    assert epsilon(jain(1).event, 1e-6) == pytest.approx(0.545, abs=5.1e-4)
    assert epsilon(jain(1, steps=3).event, 1e-6, Relation.REPLACE_ONE) == pytest.approx(0.790, abs=5.1e-4)


@pytest.mark.parametrize(("steps", "own", "tight", "replaced"), [(100, 6.82, 2.34, 3.85), (500, 18.6, 5.89, 9.99)])
def test_saha(steps: int, own: float, tight: float, replaced: float) -> None:
    assert epsilon(saha(0.5, steps=steps).event, 1e-5) == pytest.approx(own, abs=0.0101)
    assert epsilon(saha(0.5, steps=steps, tight=True).event, 1e-5) == pytest.approx(tight, abs=0.0051)
    assert epsilon(saha(0.5, steps=steps, tight=True).event, 1e-5, Relation.REPLACE_ONE) == pytest.approx(replaced, abs=0.0051)


def test_saha_by_its_own_rule() -> None:
    assert every_epsilon(saha(0.5).event, 1e-5)[1].epsilon == pytest.approx(8.07, abs=0.0051)
