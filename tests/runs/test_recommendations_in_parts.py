"""One user's list from a run on ratings in parts, read from the part that holds her."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmf_core import sweep
from dpmf_core.data.partitioned import LazyParts, Part, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.runs import data_access, filters
from dpmf_core.runs.execution import run
from dpmf_core.runs.recommendations import recommend, someone, top_rated
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.testing.worlds import low_rank
from dpmf_datasets.simulated.large_cinema import CinemaParts, Films
from tests.support.parts import in_files

USERS = 60
PRIVATE_ROWS = {"row_count": "private"}


class CountedParts(LazyParts):
    """Parts that remember which of them were read."""

    def __init__(self, parts: LazyParts) -> None:
        self.parts, self.read = parts, list[int]()

    def __len__(self) -> int:
        return len(self.parts)

    def place_of(self, user: int) -> int:
        return self.parts.place_of(user)

    def part(self, place: int) -> Part:
        self.read.append(place)
        return self.parts[place]


@pytest.fixture
def films() -> Ratings:
    titles = tuple(f"film {item}" for item in range(low_rank(n_users=USERS).n_items))
    return replace(low_rank(n_users=USERS), titles=titles)


@pytest.fixture
def parts(
    films: Ratings, catalogue: Callable[..., None], tmp_path: Path
) -> tuple[PartitionedRatings, CountedParts]:
    """In the catalogue as "parts", beside the same in one memory as "whole"."""
    (tmp_path / "kept").mkdir()
    parts_data = in_files(films, 4, tmp_path / "kept")
    reads = CountedParts(parts_data.parts)  # type: ignore[arg-type]
    data = replace(parts_data, parts=reads)
    catalogue(whole=films, parts=data)
    filters._known_counts.clear()
    return data, reads


def spec(data_id: str, **data: Any) -> RunSpec:
    return RunSpec.parse(
        data={"id": data_id, **data}, algorithm="spectral", budget={"epsilon": 5.0, "delta": 1e-6}
    )


def both(**data: Any) -> tuple[Run, Run]:
    """The same run on ratings in one memory, and in parts."""
    return run(spec("whole", **data)), run(spec("parts", **data))


@pytest.mark.parametrize(
    "data", [{}, {"top_items": 12}, {"most_per_user": 9}, PRIVATE_ROWS], ids="-".join
)
def test_everybodys_list_is_the_one_in_memory(data: dict[str, Any], parts: Any) -> None:
    whole, there = both(**data)
    for user in range(USERS):
        here, same = recommend(there, user, 5), recommend(whole, user, 5)
        assert [(it.item, it.title) for it in here] == [(it.item, it.title) for it in same]
        assert [it.rating for it in here] == pytest.approx([it.rating for it in same], rel=1e-5)
        assert top_rated(there, user) == top_rated(whole, user)


@pytest.mark.parametrize("user", [-1, USERS])
def test_nobody_has_another_number(user: int, parts: Any) -> None:
    finished_run = run(spec("parts"))
    with pytest.raises(BadInput):
        recommend(finished_run, user)


# ---- items that exact counts choose --------------------------------------------------------------


@pytest.mark.parametrize("public", [True, False])
def test_of_private_items_the_counts_are_forgotten_too(public: bool, parts: Any) -> None:
    data, reads = parts
    own, few = replace(data, public=public), DataSpec(id="parts", top_items=12)
    filters.filtered_parts(own, few)
    reads.read.clear()
    data_access.forget()
    filters.filtered_parts(own, few)
    assert reads.read == ([] if public else [0, 1, 2, 3])


# ---- refused before anything is read ------------------------------------------------------------


def test_one_part_is_read_for_a_user_and_remembered(parts: Any) -> None:
    data, reads = parts
    finished_run = run(spec("parts"))
    reads.read.clear()
    recommend(finished_run, 7)
    top_rated(finished_run, 7)
    assert reads.read == [data.parts.place_of(7)]


@pytest.mark.parametrize("data", [{}, PRIVATE_ROWS], ids=["given", "released"])
def test_somebody_with_a_rich_history_is_in_one_part(data: dict[str, Any], parts: Any) -> None:
    ratings, reads = parts
    finished_run = run(spec("parts", **data))
    reads.read.clear()
    user = someone(finished_run)
    place = ratings.parts.place_of(0)
    assert reads.read == [place] and user in ratings.parts[place].ids
    whole = run(spec("whole", **data))
    counts = np.diff(data_access.split_of(whole).history.by_user)[data_access.rows_of(whole)]
    inside = ratings.parts[place].ids
    rich = inside[counts[inside] >= 40]
    assert user == (rich[0] if len(rich) else inside[np.argmax(counts[inside])])


@pytest.mark.parametrize("user", [0, 32_767, 32_768, 99_999])
def test_a_simulated_part_holds_whom_it_says(user: int) -> None:
    cinema = CinemaParts(100_000, 0, "cinema", Films.of(0))
    assert user in cinema[cinema.place_of(user)].ids


def test_items_are_counted_once(parts: Any) -> None:
    data, reads = parts
    data_access.open_anywhere(DataSpec(id="parts", top_items=12))
    assert reads.read == [0, 1, 2, 3]
    few = data_access.open_anywhere(DataSpec(id="parts", top_items=5))
    assert reads.read == [0, 1, 2, 3]
    counts = np.bincount(data.together().items, minlength=data.n_items)
    items = np.argsort(-counts, kind="stable")[:5]
    assert set(few.titles or ()) == {f"film {item}" for item in items}


def test_a_run_that_still_counts_items_can_be_cancelled(parts: Any) -> None:
    _, reads = parts
    reports: list[tuple[int, int] | None] = []
    with pytest.raises(Cancelled):
        run(
            spec("parts", top_items=12),
            report=lambda progress: reports.append(progress.part),
            stopped=lambda: len(reports) == 2,
        )
    assert reports == [(1, 4), (2, 4)] and reads.read == [0, 1]


def test_data_that_are_given_are_not_the_set_of_their_name(parts: Any, films: Ratings) -> None:
    data = replace(films, name="parts")
    result = sweep(data, ["slope-one"])
    assert len(result.runs) == 1
    with pytest.raises(BadInput, match="ratings"):
        sweep("parts", ["slope-one"])
