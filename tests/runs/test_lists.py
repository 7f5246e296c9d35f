"""Everybody's lists as a Parquet file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.runs import lists
from dpmf_core.runs.execution import run
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.worlds import low_rank
from tests.support.parts import in_files

K = 5


def fit_run(data_id: str, algorithm: str = "spectral") -> Run:
    budget = {"epsilon": 5.0, "delta": 1e-6}
    return run(RunSpec.parse(data={"id": data_id}, algorithm=algorithm, budget=budget))


def by_hand(run_: Run, ratings: Ratings) -> list[tuple[int, int, int, float]]:
    """Every user's list from all pairs, one user after the other."""
    rows, model = [], run_.model
    personal = model.personal(ratings)
    for user in range(ratings.n_users):
        own_items = set(ratings.items[ratings.users == user].tolist())
        scores = np.asarray(model.scores(personal, np.array([user])))[0]
        unseen = [item for item in np.argsort(-scores, kind="stable") if item not in own_items][:K]
        ratings_ = model.predict(personal, np.full(len(unseen), user), np.array(unseen, int))
        pairs = zip(unseen, ratings_, strict=True)
        rows += [(user, rank, int(it), float(at)) for rank, (it, at) in enumerate(pairs, 1)]
    return rows


def test_every_list_is_what_all_pairs_say(
    catalogue: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = low_rank(n_users=60)
    catalogue(films=ratings)
    monkeypatch.setattr(lists, "SCORES", 7.0 * ratings.n_items)  # several blocks of users
    finished_run, steps = fit_run("films"), []
    rows = lists.write_lists(
        finished_run, tmp_path / "lists.parquet", K, lambda *it: steps.append(it)
    )
    table = pq.read_table(tmp_path / "lists.parquet").to_pydict()
    expected = by_hand(finished_run, ratings)
    assert rows == len(expected) and steps[-1] == (60, 60) and len(steps) > 5
    assert table["user"] == [it[0] for it in expected]
    assert table["rank"] == [it[1] for it in expected]
    assert table["item"] == [str(it[2]) for it in expected]
    assert set(table["title"]) == {None}
    assert table["rating"] == pytest.approx([it[3] for it in expected], rel=1e-5)


def test_lists_of_ratings_in_parts_are_the_same(
    catalogue: Callable[..., None], tmp_path: Path
) -> None:
    ratings = low_rank(n_users=60)
    parts_data = in_files(ratings, 4, tmp_path)
    catalogue(films=ratings, parts=parts_data)
    finished_run = fit_run("films")
    lists.write_lists(finished_run, tmp_path / "whole.parquet", K)
    spec = finished_run.record.spec.model_copy(
        update={"data": finished_run.record.spec.data.model_copy(update={"id": "parts"})}
    )
    in_parts = Run(finished_run.record.model_copy(update={"spec": spec}), finished_run.arrays)
    lists.write_lists(in_parts, tmp_path / "parts.parquet", K)
    whole, parts = (
        pq.read_table(tmp_path / f"{name}.parquet").to_pandas().sort_values(["user", "rank"])
        for name in ("whole", "parts")
    )
    assert (
        whole.drop(columns="rating").values.tolist() == parts.drop(columns="rating").values.tolist()
    )
    assert whole.rating.tolist() == pytest.approx(parts.rating.tolist(), rel=1e-5)


def test_what_cannot_be_is_said(catalogue: Callable[..., None], tmp_path: Path) -> None:
    catalogue(films=low_rank(n_users=60))
    finished_run = fit_run("films")
    with pytest.raises(BadInput, match="least"):
        lists.write_lists(finished_run, tmp_path / "lists.parquet", 0)
    with pytest.raises(BadInput, match="cannot be written"):
        lists.write_lists(finished_run, tmp_path / "nowhere" / "lists.parquet")
    assert list(tmp_path.iterdir()) == []
