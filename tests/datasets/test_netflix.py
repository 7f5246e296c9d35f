"""Netflix Prize: the official layout on made files; memory grows with the compact arrays alone."""

from pathlib import Path

import pytest

import dpmf_datasets as datasets
from dpmf_core.data.ratings import Ratings

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
    assert ratings.order is not None
    assert ratings.order[1] - ratings.order[2] == 498  # days from 2004-01-01 to 2005-05-13
    assert report.problems == ()
    assert "not the whole" in report.note
    assert not ratings.public


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
