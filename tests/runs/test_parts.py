"""Runs on ratings in parts: the bits of the same run in memory, refusals in words, and nothing of
the parts in what leaves.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core.algorithms import exact_sums
from dpmf_core.data.partitioned import Part, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs.execution import Progress, run
from dpmf_core.runs.specification import RunSpec, run_key
from dpmf_core.testing.worlds import low_rank
from tests.support.parts import in_files

BUDGET = {"epsilon": 2.0, "delta": 1e-6}


def spec(algorithm: str, **parts: Any) -> RunSpec:
    return RunSpec.parse(data={"id": "films"} | parts.pop("data", {}), algorithm=algorithm, **parts)


@pytest.fixture
def films() -> Ratings:
    return low_rank(n_users=120)


@pytest.fixture
def parts(films: Ratings, tmp_path: Path) -> PartitionedRatings:
    return in_files(films, 6, tmp_path)


@pytest.mark.parametrize(
    "algorithm",
    ["private-bias", "spectral", "ada-dpals", "dpals", "dp-sgd", "dpfw-oja", "private-svd"],
)
def test_the_model_has_the_bits_of_the_run_in_memory(
    algorithm: str, films: Ratings, parts: PartitionedRatings
) -> None:
    run_spec = spec(algorithm, budget=BUDGET, split={"validation_fraction": 0.1})
    there, here = run(run_spec, input_data=films), run(run_spec, input_data=parts)
    assert there.arrays.keys() == here.arrays.keys()
    for name, array in there.arrays.items():
        assert np.array_equal(array, here.arrays[name]), name
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-5)
    assert here.record.ledger == there.record.ledger
    assert here.record.shape == there.record.shape
    for one, other in zip(here.record.curves, there.record.curves, strict=True):
        assert one == pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize(
    "data",
    [
        {"top_items": 9},
        {"min_item_count": 30},
        {"top_items": 12, "min_item_count": 35, "min_user_count": 4},
        {"most_per_user": 5},
        {"positives_above": 3.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["random", "users"])
def test_filters_do_what_they_do_in_memory(
    data: dict[str, Any], kind: str, films: Ratings, parts: PartitionedRatings
) -> None:
    run_spec = spec("private-bias", budget=BUDGET, data=data, split={"kind": kind})
    there, here = run(run_spec, input_data=films), run(run_spec, input_data=parts)
    assert np.array_equal(there.arrays["item_offsets"], here.arrays["item_offsets"])
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-5)
    assert here.record.guarantee == there.record.guarantee


@pytest.mark.parametrize(
    "run_spec",
    [
        spec("oneshot-nmf", budget=BUDGET),
        spec("dp-nmf", budget=BUDGET, parameters={"start": "mean-row"}),
        spec("dp-nmf", budget=BUDGET, parameters={"start": "private-svd", "outliers": True}),
        spec("dp-nmf", budget=BUDGET | {"relation": "replace-one"}, split={"kind": "users"}),
    ],
    ids=lambda it: f"{it.algorithm} {it.parameters.get('start', '')} {it.split.kind}",
)
def test_parts_of_a_ratings_table_have_the_bits_of_the_run_in_memory(
    run_spec: RunSpec, films: Ratings, parts: PartitionedRatings
) -> None:
    there, here = run(run_spec, input_data=films), run(run_spec, input_data=parts)
    assert np.array_equal(there.arrays["basis"], here.arrays["basis"])
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-5)
    assert here.record.metrics.keys() == there.record.metrics.keys()
    assert here.record.split == there.record.split
    for fact in ("ledger", "shape", "guarantee"):
        assert getattr(here.record, fact) == getattr(there.record, fact)
    for one, other in zip(there.record.curves, here.record.curves, strict=True):
        assert one == pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize("start", ["nndsvda", "random"])
def test_nmf_by_sums_explains_as_much(
    start: str, films: Ratings, parts: PartitionedRatings
) -> None:
    run_spec = spec("nmf", parameters={"n_components": 4, "start": start})
    there, here = run(run_spec, input_data=films), run(run_spec, input_data=parts)
    objective, reference = (it.record.metrics["objective"] for it in (here, there))
    assert objective < 1.02 * reference
    assert here.record.metrics["trivial_objective"] > 1.3 * objective


def test_ratings_below_0_are_no_samples(parts: PartitionedRatings) -> None:
    below = replace(parts, bounds=(-1.0, 5.0))
    with pytest.raises(BadInput, match="bounds"):
        run(spec("dp-nmf", budget=BUDGET), input_data=below)


@pytest.mark.parametrize(
    "data",
    [
        {"item_choice": "private"},
        {"item_choice": "private", "top_items": 7, "min_user_count": 4},
        {"row_count": "private", "most_per_user": 6},
        {"item_choice": "private", "row_count": "private", "top_items": 9},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["random", "users"])
def test_a_shape_is_released_as_in_memory(data: dict[str, Any], kind: str, tmp_path: Path) -> None:
    many = replace(low_rank(n_users=900), labels=tuple(f"film {j * 7 % 17}" for j in range(17)))
    parts = in_files(many, 6, tmp_path)
    budget = BUDGET | {"epsilon": 20.0}
    run_spec = spec("ada-dpals", budget=budget, data=data, split={"kind": kind})
    there, here = run(run_spec, input_data=many), run(run_spec, input_data=parts)
    assert here.record.released_shape == there.record.released_shape is not None
    assert here.record.shape == there.record.shape
    assert here.record.ledger == there.record.ledger
    assert here.record.guarantee == there.record.guarantee
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-5)
    for name, array in there.arrays.items():
        assert np.array_equal(array, here.arrays[name]), name
    assert here.items is not None and there.items is not None
    assert here.items.ids == there.items.ids


def test_without_noise_a_shape_is_exact(films: Ratings, parts: PartitionedRatings) -> None:
    run_spec = spec("bias", data={"item_choice": "private", "top_items": 9})
    there, here = run(run_spec, input_data=films), run(run_spec, input_data=parts)
    assert here.record.shape == there.record.shape
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-4)


@pytest.mark.parametrize("algorithm", ["bias", "global-mean", "user-mean", "popularity"])
def test_predictors_without_noise_are_made_of_sums_too(
    algorithm: str, films: Ratings, parts: PartitionedRatings
) -> None:
    there, here = (run(spec(algorithm), input_data=data) for data in (films, parts))
    for name, array in there.arrays.items():
        assert array == pytest.approx(here.arrays[name], abs=1e-6)
    assert here.record.metrics == pytest.approx(there.record.metrics, rel=1e-4)


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
def test_als_finds_the_same_by_sums(
    parameters: dict[str, Any], films: Ratings, parts: PartitionedRatings
) -> None:
    run_spec = spec("als", parameters={"rank": 3, "steps": 4, **parameters})
    there, here = (run(run_spec, input_data=data) for data in (films, parts))
    for name, array in there.arrays.items():
        assert here.arrays[name] == pytest.approx(array, abs=2e-3), name
    assert here.record.metrics["rmse"] == pytest.approx(there.record.metrics["rmse"], rel=1e-3)
    assert len(here.record.curves) == 4


def test_a_cancelled_run_stops_before_the_next_part(parts: PartitionedRatings) -> None:
    reports: list[Progress] = []
    with pytest.raises(Cancelled):
        run(
            spec("dp-sgd", budget=BUDGET, parameters={"steps": 50}),
            input_data=parts,
            report=reports.append,
            stopped=lambda: len(reports) >= 15,
        )
    assert len(reports) == 15
    assert reports[-1].part is not None and reports[-1].part[1] == 6


def private(parts: PartitionedRatings) -> PartitionedRatings:
    def change(part: Any) -> Any:
        return replace(part, rows=replace(part.rows, public=False))

    return replace(parts.with_change(change), public=False, origin="one origin")


def test_a_run_on_private_parts_enters_their_account_once(
    parts: PartitionedRatings, tmp_path: Path
) -> None:
    ledger = tmp_path / "parts.ledger"
    run(spec("private-bias", budget=BUDGET), input_data=private(parts), ledger=ledger)
    assert len(Account(ledger).lines) == 1
    with pytest.raises(BadInput, match="needs all ratings"):
        run(spec("slope-one"), input_data=private(parts), ledger=ledger)
    assert len(Account(ledger).lines) == 1


def test_no_record_tells_how_many_ratings_or_users_a_part_has(parts: PartitionedRatings) -> None:
    finished_run = run(spec("private-bias", budget=BUDGET), input_data=private(parts))
    document = json.dumps(finished_run.record.to_dict())
    assert "part" not in json.loads(document)["shape"]
    for part in parts.parts:
        for count in (len(part.rows), len(part.ids)):
            assert f" {count}," not in document.replace("\n", "")


def test_the_key_follows_the_parts(parts: PartitionedRatings, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = in_files(low_rank(n_users=120, seed=5), 6, folder)
    run_spec = spec("private-bias", budget=BUDGET)
    assert run_key(run_spec, parts) != run_key(run_spec, other)
    assert run_key(run_spec, parts) == run_key(run_spec, in_files(low_rank(n_users=120), 6, folder))


def test_an_item_without_ratings_has_no_factor(films: Ratings, parts: PartitionedRatings) -> None:
    wider = replace(parts.with_change(Wider(films.n_items + 1)), n_items=films.n_items + 1)
    finished_run = run(
        spec("als", parameters={"rank": 3, "steps": 2, "biases": "off"}), input_data=wider
    )
    assert not finished_run.arrays["item_factors"][-1].any()


@dataclass(frozen=True)
class Wider:
    """A change of a part: there are more items."""

    n_items: int

    def __call__(self, part: Part) -> Part:
        return replace(part, rows=replace(part.rows, n_items=self.n_items))


def test_als_says_what_does_not_fit(
    parts: PartitionedRatings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_sums, "MOST_BYTES", 1_000)
    with pytest.raises(BadInput, match="smaller"):
        run(spec("als", parameters={"rank": 3}), input_data=parts)


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        ("als", {"solver": "cg"}), ("als", {"ratings_per_user": 5}), ("slope-one", {}),
        ("sketch", {}), ("fw", {}), ("robust-nmf", {}), ("dpnmf-laplace", {}),
    ],
)  # fmt: skip
def test_who_needs_rows_says_so(
    algorithm: str, parameters: dict[str, Any], parts: PartitionedRatings
) -> None:
    with pytest.raises(BadInput, match="ratings"):
        run(spec(algorithm, budget=BUDGET, parameters=parameters), input_data=parts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"split": {"kind": "window"}}, "--split"),
        ({"split": {"least_judged": 2}}, "--least-judged"),
        ({"data": {"item_choice": "private", "min_item_count": 3}}, "'min_item_count'"),
        ({"data": {"min_df": 3}}, "'min_df'"),
        ({"data": {"min_item_count": 10_000}}, "ratings"),
    ],
    ids=str,
)
def test_what_needs_all_ratings_is_refused_in_words(
    changes: dict[str, Any], words: str, parts: PartitionedRatings
) -> None:
    with pytest.raises(BadInput, match=words):
        run(spec("private-bias", budget=BUDGET, **changes), input_data=parts)
