"""Tables kept in parts: what they hold is what the same table holds in memory, whatever is in it;
imports that were stopped go on; what is wrong is said.
"""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import dpmf_datasets as datasets
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.paths import held_alone
from dpmf_datasets import parts_folder, parts_import
from dpmf_datasets.readers import text_tables

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
    monkeypatch.setattr(text_tables, "BATCH", batch)
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


def test_gzip_and_parquet_are_read_too(tmp_path: Path) -> None:
    rows = [row.split(",") for row in lines()]
    names = ("user", "item", "rating", "time")
    columns = {name: [int(row[at]) for row in rows] for at, name in enumerate(names)}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "some.parquet")
    gzip_file = tmp_path / "some.csv.gz"
    gzip_file.write_bytes(gzip.compress("\n".join(["user,item,rating,time", *lines()]).encode()))
    for place, file in enumerate((tmp_path / "some.parquet", gzip_file)):
        source = f"{file}?bounds=1,5"
        assert_same(in_parts(f"some-{place}", source, parts=3), datasets.load(source))


@pytest.mark.parametrize("how", ["days", "days/*.csv"])
def test_several_files_are_one_set(how: str, tmp_path: Path) -> None:
    rows = lines()
    whole = datasets.load(table(tmp_path / "some.csv", rows))
    (tmp_path / "days").mkdir()
    for day, some in enumerate((rows[:300], rows[300:301], rows[301:])):
        table(tmp_path / f"days/{day}.csv", some)
    parts = in_parts("some", f"{tmp_path}/{how}?bounds=1,5", parts=4)
    assert isinstance(whole, Ratings)
    for column in COLUMNS:
        assert np.array_equal(getattr(parts.together(), column), getattr(whole, column))
    assert parts.origin
    assert parts.origin != whole.origin


def test_a_public_item_table_comes_with_them(tmp_path: Path) -> None:
    films = tmp_path / "films.csv"
    films.write_text("item,year\n" + "".join(f"{j},{1950 + j}\n" for j in range(25)))
    source = table(tmp_path / "some.csv", lines()) + f"&item_table={films}"
    parts, whole = in_parts("some", source), datasets.load(source)
    assert isinstance(whole, Ratings)
    assert whole.item_features
    assert parts.item_features
    assert parts.item_features.fingerprint == whole.item_features.fingerprint
    assert parts.parts[0].rows.item_features is not None
    assert parts.assumptions == whole.assumptions


@pytest.mark.parametrize("stage", ["reading some.csv", "gathering", "writing parts"])
def test_an_import_that_was_stopped_goes_on(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_tables, "BATCH", 1 << 11)
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


def test_parts_that_were_written_are_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = table(tmp_path / "some.csv", lines())

    def stop(at: str, count: int, total: int) -> None:
        if at == "writing parts" and count == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.import_parts("some", source, parts=6, progress=stop)
    file_names: list[str] = []
    write = parts_import.write_part
    monkeypatch.setattr(
        parts_import,
        "write_part",
        lambda file, *rest: (file_names.append(file.name), write(file, *rest))[1],
    )
    datasets.import_parts("some", source, parts=6)
    assert file_names == ["00004.parquet", "00005.parquet"]


def test_another_file_begins_anew(tmp_path: Path) -> None:
    def stop(at: str, count: int, total: int) -> None:
        if at == "writing parts":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.import_parts("some", table(tmp_path / "some.csv", lines()), progress=stop)
    source = table(tmp_path / "some.csv", lines(seed=1))
    assert_same(in_parts("some", source), datasets.load(source))


def test_another_set_is_replaced_where_that_is_said(tmp_path: Path) -> None:
    first, second = (table(tmp_path / f"{k}.csv", lines(seed=k)) for k in range(2))
    one = in_parts("some", first)
    with pytest.raises(BadInput, match="ratings"):
        datasets.import_parts("some", second)
    assert_same(one, datasets.load(first))
    other = in_parts("some", second, replace=True)
    assert_same(other, datasets.load(second))
    assert one.fingerprint != other.fingerprint


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    ratings = in_parts("some", table(tmp_path / "some.csv", lines()), parts=3)
    file = parts_folder.file_of(parts_folder.folder_of("some"), 1)
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(bytes(content))
    assert len(ratings.parts[0].ids)
    with pytest.raises(BadInput, match="part"):
        ratings.item_counts()
    file.unlink()
    with pytest.raises(BadInput, match="part"):
        datasets.load("some").together()  # type: ignore[union-attr]
    manifest = parts_folder.folder_of("some") / "manifest.json"
    manifest.write_text(manifest.read_text()[:-5])
    with pytest.raises(BadInput, match="manifest"):
        datasets.load("some")


@pytest.mark.parametrize(
    ("name", "rows", "options", "words"),
    [
        ("cinema", lines(), {}, "catalogue"),
        ("../some", lines(), {}, "small letters, digits"),
        ("some", lines(), {"parts": 0}, "--parts"),
        ("some", [], {}, "header"),
        ("some", ["1,2,3,4", "1,3,3,4"], {}, "user"),
        ("some", ["1,2,70,4", "2,3,80,4"], {}, "outside"),
        ("some", ["1,2,a,4", "2,3,b,4", "2,3,4,4"], {}, "used"),
        ("some", ["1,2,4,03/04/2021", "2,3,4,03/05/2021"], {}, "dates"),
    ],
)
def test_bad_input_is_refused_and_nothing_stays(
    name: str, rows: list[str], options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=words):
        datasets.import_parts(name, table(tmp_path / "some.csv", rows), **options)
    assert not list((tmp_path / "home").rglob("*.parquet"))
    assert not list((tmp_path / "home").rglob("*.arrow"))


def test_paths_that_hold_nothing_are_refused(tmp_path: Path) -> None:
    for path in ("none.csv", "none/*.csv", "."):
        with pytest.raises(BadInput, match="table"):
            datasets.import_parts("some", f"{tmp_path}/{path}?bounds=1,5")
    with pytest.raises(BadInput, match="are not declared"):
        datasets.import_parts("some", table(tmp_path / "some.csv", lines()).partition("?")[0])
    with pytest.raises(BadInput, match="image"):
        datasets.import_parts("some", table(tmp_path / "some.csv", lines()) + "&image=3,4")


def test_two_imports_of_one_name_do_not_meet(tmp_path: Path) -> None:
    source = table(tmp_path / "some.csv", lines())
    parts_folder.root().mkdir(parents=True)
    with (
        held_alone(parts_folder.root() / ".some.lock", "the import of some"),
        pytest.raises(BadInput, match="Another"),
    ):
        datasets.import_parts("some", source)


def test_times_read_in_two_ways_make_no_order(tmp_path: Path) -> None:
    (tmp_path / "days").mkdir()
    table(tmp_path / "days/1.csv", ["1,2,3,1000000000", "2,2,3,1000000001"])
    table(tmp_path / "days/2.csv", ["1,3,3,2020-01-02", "2,3,3,2020-01-03"])
    datasets.import_parts("some", f"{tmp_path}/days?bounds=1,5")
    assert datasets.load("some").together().order is None  # type: ignore[union-attr]
