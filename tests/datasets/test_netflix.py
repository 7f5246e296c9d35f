"""Netflix Prize: the official layout on made files; memory grows with the compact arrays alone."""

import gzip
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_datasets.published import netflix

FIRST = "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n2:\n822109,4,2004-01-01\n"
SECOND = "17770:\n6,1,2003-02-02\n1488844,2,2005-12-31\n"


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))


def archive_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "combined_data_1.txt").write_text(FIRST)
    (folder / "combined_data_2.txt").write_text(SECOND)
    (folder / "movie_titles.csv").write_bytes(
        "1,2003,Dinosaur Planet\n2,2004,Être, avoir, et plus\n".encode("latin-1")
    )
    return folder


def triples(ratings: Ratings) -> list[tuple[int, int, float]]:
    return [
        (int(u), int(i), float(v))
        for u, i, v in zip(ratings.users, ratings.items, ratings.values, strict=True)
    ]


# users 6, 822109, 1488844
EXPECTED = [(0, 17_769, 1.0), (1, 0, 5.0), (1, 1, 4.0), (2, 0, 3.0), (2, 17_769, 2.0)]


def test_a_folder_is_read_with_users_renumbered_and_films_kept(tmp_path: Path) -> None:
    report = datasets.import_("netflix", archive_folder(tmp_path / "prize"))
    ratings = datasets.load("netflix")
    assert triples(ratings) == EXPECTED
    assert (ratings.n_users, ratings.n_items, ratings.bounds) == (3, 17_770, (1.0, 5.0))
    assert ratings.titles is not None
    assert ratings.titles[:3] == ("Dinosaur Planet (2003)", "Être, avoir, et plus (2004)", "Film 3")
    assert ratings.order is not None
    assert ratings.order[1] - ratings.order[2] == 498  # days from 2004-01-01 to 2005-05-13
    assert report.problems == ()
    assert "not the whole" in report.note
    assert not ratings.public


def test_a_zip_a_compressed_file_and_small_chunks_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = archive_folder(tmp_path / "prize")
    with zipfile.ZipFile(tmp_path / "prize.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"download/{file.name}")
    (tmp_path / "combined_data_1.txt.gz").write_bytes(gzip.compress((FIRST + SECOND).encode()))
    for chunk in (1, 2, 3, 1000):
        monkeypatch.setattr(netflix, "CHUNK", chunk)
        for source in (folder, tmp_path / "prize.zip", tmp_path / "combined_data_1.txt.gz"):
            datasets.import_("netflix", source)
            assert triples(datasets.load("netflix")) == EXPECTED


def test_what_is_wrong_is_told_with_its_lines_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "combined_data_1.txt").write_text(
        "5,3,2005-01-01\n1:\n7,9,2005-01-01\n8\n9,three,2005-01-01\n7,2,2005-06-01\nx:\n7,5,2005-01-01\n99999:\n7,5,2005-01-01\n"
        + "2:\n"
        + "".join(f"{user},4,2005-01-01\n" for user in range(20, 30))
    )
    report = datasets.import_("netflix", tmp_path / "combined_data_1.txt")
    lines = {problem.kind: problem.lines for problem in report.problems}
    assert lines["rating without a film of the catalogue before it"] == (1, 8, 10)
    assert lines["missing"] == (4,)
    assert lines["not a number"] == (5,)
    assert lines["out of declared bounds, clamped"] == (3,)
    assert lines["duplicate (user, item), averaged"]
    assert len(datasets.load("netflix")) == 11


@pytest.mark.parametrize("content", ["", "no ratings here\n", "1:\n2:\n"])
def test_a_file_without_ratings_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "combined_data_1.txt").write_text(content)
    with pytest.raises(BadInput, match="holds no rating"):
        datasets.import_("netflix", tmp_path / "combined_data_1.txt")


@pytest.mark.slow
def test_memory_grows_by_a_bounded_number_of_bytes_a_rating(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice the ratings cost at most 60 bytes more for each; the text alone has 25 and its
    objects far more.
    """
    monkeypatch.setattr(netflix, "CHUNK", 5_000)
    rng = np.random.default_rng(0)

    def peak(n: int) -> int:
        file = tmp_path / f"combined_data_{n}.txt"
        with file.open("w") as out:
            for film in range(1, 41):
                users = rng.choice(2_649_429, n // 40, replace=False) + 1
                out.write(
                    f"{film}:\n"
                    + "".join(f"{user},{user % 5 + 1},2005-0{film % 9 + 1}-10\n" for user in users)
                )
        tracemalloc.start()
        ratings, _ = netflix.read(netflix.ENTRY, file)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(ratings) == n
        return highest

    small, large = peak(60_000), peak(120_000)
    assert (large - small) / 60_000 < 60
