"""Runs on ratings in parts have the bits of runs in memory, and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.parts import in_files

BUDGET = {"epsilon": 2.0, "delta": 1e-6}


def spec(algorithm, **parts):
    return RunSpec.parse(
        data={"id": "films"} | parts.pop("data", {}), algorithm=algorithm, **parts
    )


@pytest.fixture
def films():
    return low_rank(n_users=120)


@pytest.fixture
def parts(films, tmp_path):
    return in_files(films, 6, tmp_path)


def same(run_spec, whole, parts):
    """The run in parts, whose model has the bits of the run in memory."""
    there = run(run_spec, input_data=whole)
    here = run(run_spec, input_data=parts)
    assert there.arrays.keys() == here.arrays.keys()
    for name, array in there.arrays.items():
        assert np.array_equal(array, here.arrays[name]), name
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-5)
    for one, other in zip(here.record.curves, there.record.curves, strict=True):
        assert one == pytest.approx(other, rel=1e-5)
    for fact in ("ledger", "shape", "guarantee", "split", "released_shape"):
        assert getattr(here.record, fact) == getattr(there.record, fact), fact
    return here


@pytest.mark.parametrize(
    ("algorithm", "more"),
    [
        *(
            (name, {})
            for name in (
                "spectral",
                "ada-dpals",
                "dp-sgd",
                "oneshot-nmf",
                "global-mean",
            )
        ),
        ("dp-nmf", {"parameters": {"start": "mean-row"}}),
        ("dp-nmf", {"parameters": {"start": "private-svd", "outliers": True}}),
        (
            "dp-nmf",
            {
                "budget": BUDGET | {"relation": "replace-one"},
                "split": {"kind": "users"},
            },
        ),
        *(
            ("private-bias", {"data": data, "split": {"kind": kind}})
            for kind in ("random", "users")
            for data in (
                {"min_item_count": 30},
                {"top_items": 12, "min_item_count": 35, "min_user_count": 4},
                {"most_per_user": 5},
                {"positives_above": 3.0},
            )
        ),
    ],
    ids=str,
)
def test_a_model_of_parts_has_the_bits_of_the_one_in_memory(
    algorithm, more, films, parts
):
    same(spec(algorithm, **{"budget": BUDGET, **more}), films, parts)


@pytest.mark.parametrize("kind", ["random", "users"])
@pytest.mark.parametrize(
    "data",
    [
        {"item_choice": "private", "top_items": 7, "min_user_count": 4},
        {"row_count": "private", "most_per_user": 6},
        {"item_choice": "private", "row_count": "private", "top_items": 9},
    ],
    ids=str,
)
def test_a_shape_is_released_as_in_memory(data, kind, tmp_path):
    many = replace(
        low_rank(n_users=900), labels=tuple(f"film {j * 7 % 17}" for j in range(17))
    )
    budget = BUDGET | {"epsilon": 20.0}
    run_spec = spec(
        "ada-dpals",
        budget=budget,
        data=data,
        split={"kind": kind},
    )
    assert (
        same(run_spec, many, in_files(many, 6, tmp_path)).record.released_shape
        is not None
    )


def test_nmf_by_sums_explains_as_much(films, parts):
    run_spec = spec("nmf", parameters={"n_components": 4})
    there = run(run_spec, input_data=films)
    here = run(run_spec, input_data=parts)
    objective, reference = (run.record.metrics["objective"] for run in (here, there))
    assert objective < 1.02 * reference
    assert here.record.metrics["trivial_objective"] > 1.3 * objective


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"unobserved_weight": 0.2, "biases": "off"},
        {"biases": "first", "regularisation": 0.3, "local_columns": True},
        {"biases": "user", "regularisation_exponent": 0.5},
    ],
    ids=str,
)
def test_als_finds_the_same_by_sums(parameters, films, parts):
    run_spec = spec("als", parameters={"rank": 3, "steps": 4, **parameters})
    there, here = (run(run_spec, input_data=data) for data in (films, parts))
    for name, array in there.arrays.items():
        assert here.arrays[name] == pytest.approx(array, abs=2e-3), name
    assert here.record.metrics["rmse"] == pytest.approx(
        there.record.metrics["rmse"], rel=1e-3
    )
    assert len(here.record.curves) == 4


@pytest.mark.parametrize(
    ("algorithm", "more", "words"),
    [
        ("als", {"parameters": {"solver": "cg"}}, "ratings"),
        ("als", {"parameters": {"ratings_per_user": 5}}, "ratings"),
        *(
            (name, {}, "ratings")
            for name in ("slope-one", "sketch", "fw", "robust-nmf")
        ),
        ("private-bias", {"split": {"kind": "window"}}, "--split"),
        ("private-bias", {"split": {"least_judged": 2}}, "--least-judged"),
        (
            "private-bias",
            {"data": {"item_choice": "private", "min_item_count": 3}},
            "item_count",
        ),
        ("private-bias", {"data": {"min_df": 3}}, "'min_df'"),
        ("private-bias", {"data": {"min_item_count": 10_000}}, "ratings"),
    ],
    ids=str,
)
def test_what_needs_all_ratings_is_refused_in_words(algorithm, more, words, parts):
    with pytest.raises(BadInput, match=words):
        run(spec(algorithm, budget=BUDGET, **more), input_data=parts)


def test_a_cancelled_run_stops_before_the_next_part(parts):
    reports = []
    with pytest.raises(Cancelled):
        run(
            spec(
                "dp-sgd",
                budget=BUDGET,
                parameters={"steps": 50},
            ),
            input_data=parts,
            report=reports.append,
            stopped=lambda: len(reports) >= 15,
        )
    assert len(reports) == 15
    assert reports[-1].part is not None
    assert reports[-1].part[1] == 6
