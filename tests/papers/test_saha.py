"""What is measured of Saha & Imtiaz 2022, by hand."""

import math

import numpy as np
import pytest

from dpmf_core.papers.saha_2022 import units as saha_units
from dpmf_core.papers.saha_2022.judgement import (
    compared_with_plain,
    epochs,
    picture_roughness,
)
from dpmf_core.papers.saha_2022.methods import PLAIN, PRIVATE
from dpmf_core.papers.saha_2022.units import TABLE_4
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.specification import RunSpec
from tests.support.records import run_of


def point(label, epsilon, data="A"):
    if label == PLAIN:
        algorithm = "nmf"
    else:
        algorithm = "dp-nmf"
    if epsilon is None:
        budget = None
    else:
        budget = {"epsilon": epsilon, "delta": 1e-5}
    spec = RunSpec.parse(data={"id": data}, algorithm=algorithm, budget=budget)
    return Point(spec, label, epsilon, {"data": data})


def with_curve(at, *objectives):
    steps = enumerate(objectives, start=1)
    curves = []
    for step, value in steps:
        curves.append({"step": float(step), "objective": value})
    return run_of(spec=at.spec, curves=curves)


def test_a_curve_has_come_down_where_a_hundredth_of_its_fall_is_left():
    private = point(PRIVATE, 0.5)
    curve = with_curve(private, 3.0, 2.011, 2.009, 2.0, 9.0)
    (steps,) = epochs([private], {private.key: curve}, "objective")
    assert steps.label == PRIVATE
    assert steps.grid == {"data": "A"}
    assert steps.draws == (3.0,)
    assert epochs([private], {}, "objective") == []


def test_the_roughness_of_a_picture():
    """White noise has two variances between neighbours; a slope of 0, 1, 2 has 1 along it."""
    noise = np.random.default_rng(0).standard_normal((4, 60 * 60))
    assert picture_roughness(noise, (60, 60)) == pytest.approx(2, abs=0.05)
    slope = np.tile([0.0, 1.0, 2.0], 3)[None]
    expected = (1 / 2) / (5 / 3)
    assert picture_roughness(slope, (3, 3)) == pytest.approx(expected)
    assert picture_roughness(np.ones((2, 9)), (3, 3)) == 0
    both = np.concatenate([slope, np.ones((1, 9))])
    expected = (1 / 2) / (5 / 3) / 2
    assert picture_roughness(both, (3, 3)) == pytest.approx(expected)


def test_a_private_run_is_compared_with_the_plain_one_on_the_same_data():
    points = [
        point(PRIVATE, 0.5, "A"),
        point(PLAIN, None, "A"),
        point(PRIVATE, 0.5, "B"),
    ]
    runs = {}
    for number, measured in enumerate(points):
        runs[measured.key] = with_curve(measured, float(number))
    measure = compared_with_plain(
        lambda run, plain: run.record.curves[0]["objective"] * 10
    )
    (summary,) = measure(points, runs, "")  # B has no plain yet
    assert summary.label == PRIVATE
    assert summary.epsilon == 0.5
    assert summary.grid == {"data": "A"}
    assert summary.draws == (0.0,)


def test_predicting_0_errs_by_the_norms_alone(monkeypatch):
    """A row of norm 1 with n ratings has squares that add up to 1."""
    ratings = saha_units.catalogue().load("cinema-small")
    monkeypatch.setattr(saha_units, "_films", lambda: "cinema-small")
    of_rows, of_stars = TABLE_4.compute()
    rows = of_rows.median
    stars = of_stars.median
    values = ratings.values.astype(float)
    squares = np.bincount(ratings.users, values**2)
    norms = np.sqrt(squares)[ratings.users]
    expected = math.sqrt(np.mean((values / norms) ** 2))
    assert rows == pytest.approx(expected)
    expected = math.sqrt(np.mean(values**2))
    assert stars == pytest.approx(expected)
