"""Tables kept in parts: what they hold is what the same table holds in memory, whatever is in it;
imports that were stopped go on; what is wrong is said.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.paths import held_alone
from dpmf_datasets import parts_folder
from dpmf_datasets.readers import tables

COLUMNS = ("users", "items", "values", "order")
FACTS = ("n_users", "n_items", "bounds", "titles", "labels", "assumptions", "public", "origin")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "home"))


def lines(count: int = 900, users: int = 60, seed: int = 0) -> list[str]:
    """Rows of a table, some of a pair that was there before."""
    random = np.random.default_rng(seed)
    return [
        f"{random.integers(users)},{random.integers(25)},{random.integers(1, 6)},"
        f"{1_000_000_000 + random.integers(10**6)}"
        for _ in range(count)
    ]


def table(path: Path, rows: list[str], header: str = "user,item,rating,time") -> str:
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return f"{path}?bounds=1,5"


def in_parts(name: str, source: str, **options: Any) -> PartitionedRatings:
    datasets.import_parts(name, source, **options)
    ratings = datasets.load(name)
    assert isinstance(ratings, PartitionedRatings)
    return ratings


def assert_same(parts: PartitionedRatings, whole: Any) -> None:
    ratings = parts.together()
    assert isinstance(whole, Ratings)
    for column in COLUMNS:
        assert np.array_equal(getattr(ratings, column), getattr(whole, column)), column
    for fact in FACTS:
        assert getattr(ratings, fact) == getattr(whole, fact), fact


MESSY = ["a,film 1,4,", "007,film 1,5,", "7,film 1,1,", "b,film 2,x,", "c,,3,", "7,film 1,4,"]


@pytest.mark.parametrize("parts", [None, 1, 4, 61])
@pytest.mark.parametrize("batch", [1 << 11, 8 << 20])
def test_parts_hold_what_the_table_holds(
    parts: int | None, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BATCH", batch)
    source = table(tmp_path / "some.csv", lines())
    assert_same(in_parts("some", source, parts=parts), datasets.load(source))


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("user,item,rating", [row.rstrip(",") for row in MESSY]),
        ("user,item,rating,title", [f"{row}Title of {row.split(',')[1]}" for row in MESSY]),
        ("who,what,score", ["x,1,0.5", "y,2,9", *(f"{k},3,4.5" for k in range(30))]),
    ],
    ids=["texts", "titles", "outside"],
)
def test_messy_rows_end_as_they_do_in_memory(header: str, rows: list[str], tmp_path: Path) -> None:
    source = table(tmp_path / "messy.csv", rows, header) + (
        "&user=who&item=what&rating=score" if header.startswith("who") else ""
    )
    assert_same(in_parts("messy", source, parts=3), datasets.load(source))


@pytest.mark.parametrize("stage", ["reading some.csv", "gathering", "writing parts"])
def test_an_import_that_was_stopped_goes_on(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "BATCH", 1 << 11)
    source = table(tmp_path / "some.csv", lines())

    def stop(at: str, count: int, total: int) -> None:
        if at == stage and (count >= 3 or at.startswith("reading")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.import_parts("some", source, parts=6, progress=stop)
    assert not parts_folder.is_there("some")
    steps: list[tuple[str, int]] = []
    datasets.import_parts(
        "some", source, parts=6, progress=lambda at, count, total: steps.append((at, count))
    )
    stages = {at for at, _ in steps}
    assert ("reading some.csv" in stages) == (stage == "reading some.csv")
    assert ("gathering" in stages) == (stage != "writing parts")
    ratings = datasets.load("some")
    assert isinstance(ratings, PartitionedRatings)
    assert_same(ratings, datasets.load(source))
    files = sorted(it.name for it in parts_folder.folder_of("some").iterdir())
    assert files == [*(f"0000{k}.parquet" for k in range(6)), "manifest.json"]


def test_another_file_begins_anew(tmp_path: Path) -> None:
    def stop(at: str, count: int, total: int) -> None:
        if at == "writing parts":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.import_parts("some", table(tmp_path / "some.csv", lines()), progress=stop)
    source = table(tmp_path / "some.csv", lines(seed=1))
    assert_same(in_parts("some", source), datasets.load(source))


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    ratings = in_parts("some", table(tmp_path / "some.csv", lines()), parts=3)
    file = parts_folder.file_of(parts_folder.folder_of("some"), 1)
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(bytes(content))
    assert len(ratings.parts[0].ids)
    with pytest.raises(BadInput):
        ratings.item_counts()
    file.unlink()
    with pytest.raises(BadInput):
        datasets.load("some").together()  # type: ignore[union-attr]
    manifest = parts_folder.folder_of("some") / "manifest.json"
    manifest.write_text(manifest.read_text()[:-5])
    with pytest.raises(BadInput):
        datasets.load("some")


@pytest.mark.parametrize(
    ("name", "rows", "options", "words"),
    [
        ("cinema", lines(), {}, "is a data set of the catalogue"),
        ("../some", lines(), {}, "small letters, digits"),
        ("some", lines(), {"parts": 0}, "--parts is a whole number from 1"),
        ("some", [], {}, "has no rows below its header"),
        ("some", ["1,2,3,4", "1,3,3,4"], {}, "of one user only"),
        ("some", ["1,2,70,4", "2,3,80,4"], {}, "lie outside the declared bounds"),
        ("some", ["1,2,a,4", "2,3,b,4", "2,3,4,4"], {}, "cannot be used, more than half"),
        ("some", ["1,2,4,03/04/2021", "2,3,4,03/05/2021"], {}, "dates=dmy or dates=mdy"),
    ],
)
def test_bad_input_is_refused_and_nothing_stays(
    name: str, rows: list[str], options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=words):
        datasets.import_parts(name, table(tmp_path / "some.csv", rows), **options)
    assert not list((tmp_path / "home").rglob("*.parquet"))
    assert not list((tmp_path / "home").rglob("*.arrow"))


def test_two_imports_of_one_name_do_not_meet(tmp_path: Path) -> None:
    source = table(tmp_path / "some.csv", lines())
    parts_folder.root().mkdir(parents=True)
    with (
        held_alone(parts_folder.root() / ".some.lock", "the import of some"),
        pytest.raises(BadInput),
    ):
        datasets.import_parts("some", source)
