"""EachMovie: its layout on made files, and what may be wrong with one."""

from pathlib import Path

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.errors import BadInput

VOTES = (
    "1\t10\t0\t1\t11/10/96 15:21:37\n1\t20\t0.8\t1\t11/10/96 15:21:39\n7\t20\t1\t0.2\t1/2/97"
    " 0:00:00\n"
)


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))


def folder(tmp_path: Path, votes: str, name: str = "Vote.txt") -> Path:
    (tmp_path / "em").mkdir()
    (tmp_path / "em" / name).write_text(votes)
    (tmp_path / "em" / "Movie.txt").write_text("10\tToy Story\t\n20\tJumanji\t\n")
    return tmp_path / "em"


@pytest.mark.parametrize("header", ["", "Person_ID\tMovie_ID\tScore\tWeight\tModified\n"])
def test_scores_become_grades_and_times_an_order(tmp_path: Path, header: str) -> None:
    report = datasets.import_("eachmovie", folder(tmp_path, header + VOTES))
    ratings = datasets.load("eachmovie")
    assert list(zip(ratings.users, ratings.items, ratings.values, strict=True)) == [
        (0, 0, 1.0),
        (0, 1, 5.0),
        (1, 1, 6.0),
    ]
    assert ratings.bounds == (1.0, 6.0)
    assert ratings.titles == ("Toy Story", "Jumanji")
    assert ratings.order is not None
    np.testing.assert_array_equal(np.diff(ratings.order), [2, 4_523_901])
    assert "not the whole" in report.note


def test_a_file_alone_without_times(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("1,10,0,1,\n2,10,0.4,1,\n")
    datasets.import_("eachmovie", tmp_path / "mine.csv")
    ratings = datasets.load("eachmovie")
    assert ratings.values.tolist() == [1.0, 3.0]
    assert ratings.order is None


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ("1\t10\t5\t1\tx\n", "from 0 to 1. Got 5 to 5"),
        ("1\t10\tgood\t1\tx\n", "no score"),
        ("1 10\n", "five columns"),
    ],
)
def test_what_is_wrong_is_a_sentence(tmp_path: Path, votes: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        datasets.import_("eachmovie", folder(tmp_path, votes))


def test_a_folder_without_votes(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no vote\.txt"):
        datasets.import_("eachmovie", folder(tmp_path, VOTES, "ballots.txt"))
