"""Jester: the official layout on made files, and everything that may be wrong with one."""

import csv
import io
import zipfile
from pathlib import Path

import pytest

import dpmf_datasets as datasets
from dpmf_core.errors import BadInput


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))


def person(**jokes: object) -> list[object]:
    """A row with the given jokes (`j3=...`) rated."""
    row: list[object] = [99] * 100
    for name, value in jokes.items():
        row[int(name[1:])] = value
    return [len(jokes), *row]


def text(*rows: list[object], separator: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode()


def test_ratings_are_rescaled_and_jokes_nobody_gave_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "jester.csv").write_bytes(text(person(j0=-10, j99=10), person(j5=0.0)))
    report = datasets.import_("jester", tmp_path / "jester.csv")
    ratings = datasets.load("jester")
    assert list(zip(ratings.users, ratings.items, ratings.values, strict=True)) == [
        (0, 0, 0.0),
        (0, 99, 5.0),
        (1, 5, 2.5),
    ]
    assert (ratings.n_users, ratings.n_items, ratings.bounds) == (2, 100, (0.0, 5.0))
    assert report.problems == ()
    assert not ratings.public  # not the whole published set
    assert "not the whole" in report.note


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_of_a_zip_lie_one_below_the_other(tmp_path: Path, separator: str) -> None:
    with zipfile.ZipFile(tmp_path / "jester.zip", "w") as archive:
        archive.writestr("jester-data-2.csv", text(person(j2=2), separator=separator))
        archive.writestr(
            "jester-data-1.csv", text(person(j1=1), person(j1=-1), separator=separator)
        )
        archive.writestr("__MACOSX/._jester-data-1.csv", b"junk")
    datasets.import_("jester", tmp_path / "jester.zip")
    ratings = datasets.load("jester")
    assert ratings.users.tolist() == [0, 1, 2]
    assert ratings.items.tolist() == [1, 1, 2]


def test_what_is_wrong_is_repaired_or_left_out_and_told_with_its_rows(tmp_path: Path) -> None:
    short, wrong_count, far, words = (
        person(j1=1)[:-1],
        person(j1=1),
        person(j2=10.5),
        person(j3="funny", j4=4),
    )
    wrong_count[0] = 7
    (tmp_path / "j.csv").write_bytes(text(short, wrong_count, far, words, *[person(j0=0)] * 8))
    report = datasets.import_("jester", tmp_path / "j.csv")
    ratings = datasets.load("jester")
    assert list(zip(ratings.users, ratings.items, ratings.values, strict=True))[:3] == [
        (1, 1, 2.75),
        (2, 2, 5.0),
        (3, 4, 3.5),
    ]
    lines = {problem.kind: problem.lines for problem in report.problems}
    assert lines["wrong number of columns"] == (1,)
    assert lines["count that differs from the ratings in the row, the ratings are taken"] == (2,)
    assert lines["out of declared bounds, clamped"] == (3,)
    assert lines["not a number"] == (4,)
    assert ratings.n_users == 12


def test_a_spreadsheet_is_read_as_it_is_published() -> None:
    """The file holds two rows, person(j0=-10, j7=5) and person(j99=10), as xlwt writes them."""
    datasets.import_("jester", Path(__file__).parent / "jester-two-people.xls")
    ratings = datasets.load("jester")
    assert list(zip(ratings.users, ratings.items, ratings.values, strict=True)) == [
        (0, 0, 0.0),
        (0, 7, 3.75),
        (1, 99, 5.0),
    ]


@pytest.mark.parametrize(("name", "content"), [("j.xls", b"no spreadsheet"), ("j.pdf", b"x")])
def test_what_is_no_table_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=r"cannot be read as a spreadsheet|has no table of jokes"):
        datasets.import_("jester", tmp_path / name)
    assert not datasets.present("jester")


def test_it_is_not_fetched_for_it_has_no_checksum() -> None:
    with pytest.raises(BadInput, match="import jester PATH"):
        datasets.fetch("jester", accept_licence=True)
