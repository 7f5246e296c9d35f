"""What the catalogue promises is there when it is made; a published set is not replaced in
silence; ratings are not taken for documents.
"""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpmf_datasets as datasets
from dpmf_core.cli import main
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.errors import BadInput
from dpmf_datasets import npz_folder, session_files
from dpmf_datasets.registry import SOURCES, registry
from dpmf_datasets.source import Source

ROWS = [(user, item, 1 + (user * item) % 5) for user in range(1, 7) for item in range(10, 15)]
TABLE = "user,item,rating\n" + "".join(f"{user},{item},{rating}\n" for user, item, rating in ROWS)


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))


def entry_of(name: str) -> Any:
    return next(entry for entry in datasets.catalogue() if entry.id == name)


# ---- definition ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("like", "kind", "missing"),
    [
        ("ml-100k", "file", "read"),
        ("ml-100k", "download", "read"),
        ("cinema", "simulated", "make"),
        ("guardian", "file", "read"),
        ("olivetti", "download", "read"),
        ("news", "simulated", "make"),
    ],
)
def test_a_new_entry_without_what_its_kind_needs_is_an_error(
    like: str, kind: Any, missing: str
) -> None:
    new = replace(entry_of(like), id="brandnew", kind=kind)
    with pytest.raises(
        ValueError, match=rf"The data set 'brandnew' of kind '{kind}' has no {missing}"
    ):
        Source(new)


@pytest.mark.parametrize("like", ["ml-100k", "olivetti"])
def test_a_download_needs_its_archive_or_fetcher_too(like: str) -> None:
    with pytest.raises(ValueError, match="of kind 'download' has no archive or fetch"):
        Source(entry_of(like), read=SOURCES[like].read)


@pytest.mark.parametrize("like", ["ml-100k", "guardian"])
def test_an_unknown_kind_is_an_error(like: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"kind of the data set '.*' must be one of simulated, download, file\. Got 'archive'",
    ):
        replace(entry_of(like), kind="archive")


def test_an_id_is_listed_once() -> None:
    with pytest.raises(ValueError, match="'cinema' is listed twice"):
        registry((*SOURCES.values(), SOURCES["cinema"]))
    assert {type(entry) for entry in datasets.catalogue()} == {Entry, SampleEntry}


# ---- what is kept under a published name ---------------------------------------------------------


@pytest.fixture
def own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole ml-100k, of a small size; the file of another set."""
    small = replace(entry_of("ml-100k"), n_users=6, n_items=5, n_ratings=30)
    monkeypatch.setitem(SOURCES, "ml-100k", replace(SOURCES["ml-100k"], entry=small))
    (tmp_path / "official.csv").write_text(TABLE)
    datasets.import_("ml-100k", tmp_path / "official.csv")
    assert datasets.load("ml-100k").public
    (tmp_path / "mine.csv").write_text(TABLE.replace("6,14", "7,14"))
    return tmp_path / "mine.csv"


def test_another_set_does_not_replace_the_published_one_in_silence(own_table: Path) -> None:
    with pytest.raises(
        BadInput, match=r"ml-100k is on this machine as published.*Nothing was changed.*--replace"
    ):
        datasets.import_("ml-100k", own_table)
    assert datasets.load("ml-100k").public
    datasets.import_("ml-100k", own_table, replace=True)
    assert not datasets.load("ml-100k").public and not npz_folder.is_published("ml-100k")
    datasets.import_("ml-100k", own_table)  # one's own by one's own
    datasets.import_("ml-100k", own_table.parent / "official.csv")
    assert datasets.load("ml-100k").public


def test_the_command_line_refuses_and_takes_what_it_advises(
    own_table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "ml-100k", str(own_table)]) == 2
    assert "--replace" in capsys.readouterr().err
    assert main(["import", "ml-100k", str(own_table), "--replace", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["present"] and not datasets.load("ml-100k").public


def test_values_are_printed_and_not_in_json(
    own_table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "ml-100k", str(own_table), "--replace"]) == 0
    assert "item: item (10, 11, 12)" in capsys.readouterr().out


# ---- ratings are no documents --------------------------------------------------------------------


def folder(tmp_path: Path, **files: str) -> Path:
    where = tmp_path / "folder"
    where.mkdir()
    for name, content in files.items():
        (where / name.replace("__", ".")).write_text(content)
    return where


def archive(of: Path) -> Path:
    with zipfile.ZipFile(of.with_suffix(".zip"), "w") as out:
        for file in of.iterdir():
            out.write(file, f"inside/{file.name}")
    return of.with_suffix(".zip")


README = "These are ratings.\nThey were given.\nPlease cite us.\n"


@pytest.mark.parametrize("in_archive", [False, True])
@pytest.mark.parametrize("name", ["ratings__csv", "mine__tsv"])
def test_a_folder_with_a_table_of_ratings_is_ratings(
    tmp_path: Path, in_archive: bool, name: str
) -> None:
    table = TABLE.replace(",", "\t") if name.endswith("tsv") else TABLE
    where = folder(
        tmp_path, README__txt=README, movies__csv="movieId,title\n10,Jumanji\n", **{name: table}
    )
    path = archive(where) if in_archive else where
    with pytest.raises(
        BadInput,
        match=(
            rf"holds a table of ratings, .*{name.replace('__', '.')}\. Declare its bounds, e\.g\."
            r" '.*\?bounds=1,5'"
        ),
    ):
        datasets.load(str(path))
    ratings = datasets.load(f"{path}?bounds=1,5")
    assert isinstance(ratings, Ratings) and len(ratings) == 30 and not ratings.public


def test_several_tables_of_ratings_take_a_choice(tmp_path: Path) -> None:
    where = folder(tmp_path, a__csv=TABLE, b__csv=TABLE)
    with pytest.raises(BadInput, match=r"holds 2 tables of ratings: a\.csv, b\.csv\. Name one"):
        datasets.load(f"{where}?bounds=1,5")
    assert isinstance(datasets.load(f"{where / 'a.csv'}?bounds=1,5"), Ratings)


def test_movielens_tables_without_a_header_are_known_by_name(tmp_path: Path) -> None:
    where = folder(
        tmp_path,
        README="words",
        ratings__dat="".join(
            f"{user}::{item}::{rating}::978300{user}{item}\n" for user, item, rating in ROWS
        ),
    )
    assert isinstance(datasets.load(f"{where}?bounds=1,5"), Ratings)


def test_a_text_file_of_ratings_is_ratings(tmp_path: Path) -> None:
    (tmp_path / "ratings.txt").write_text(TABLE)
    with pytest.raises(BadInput, match="not declared"):
        datasets.load(str(tmp_path / "ratings.txt"))
    assert isinstance(datasets.load(f"{tmp_path / 'ratings.txt'}?bounds=1,5"), Ratings)


def test_documents_beside_other_tables_stay_documents(tmp_path: Path) -> None:
    texts = {f"doc{place}__txt": f"word{place * 'x'} shared common" for place in range(4)}
    samples = datasets.load(str(folder(tmp_path, index__csv="file,title\na,b\n", **texts)))
    assert isinstance(samples, Samples) and len(samples) == 4


def test_ratings_are_no_articles_and_no_documents_of_ones_own(tmp_path: Path) -> None:
    where = folder(tmp_path, README__txt=README, ratings__csv=TABLE)
    for path in (where, archive(where)):
        with pytest.raises(
            BadInput, match=r"holds a table of ratings, .*that is not Guardian articles"
        ):
            datasets.import_("guardian", path)
        with pytest.raises(
            BadInput, match=r"mine\.zip holds a table of ratings, .*Choose Ratings above"
        ):
            session_files.samples(archive(where).read_bytes(), "mine.zip", {})
    with pytest.raises(
        BadInput, match=r"mine\.txt holds a table of ratings\. Choose Ratings above"
    ):
        session_files.samples(TABLE.encode(), "mine.txt", {})
    assert list(session_files.home().glob("*/*/")) == []


def test_titles_in_other_encodings_are_read(tmp_path: Path) -> None:
    film = "Москва слезам не верит"
    table = "user;item;rating;title\n" + "".join(
        f"{user};{item};{rating};{film} {item}\n" for user, item, rating in ROWS
    )
    for encoding in ("cp1251", "koi8-r", "utf-8", "utf-16"):
        (tmp_path / "a.csv").write_bytes(table.encode(encoding))
        for facts in ("?bounds=1,5", f"?bounds=1,5&encoding={encoding}"):
            ratings = datasets.load(f"{tmp_path / 'a.csv'}{facts}")
            assert isinstance(ratings, Ratings) and ratings.titles == tuple(
                f"{film} {item}" for item in range(10, 15)
            )
            assert ("the encoding of the text is public" in ratings.assumptions) == (
                encoding in ("cp1251", "koi8-r") and "encoding" not in facts
            )


def test_a_damaged_letter_changes_no_other() -> None:
    table = "user,item,rating,title\n" + "".join(
        f"{user},{item},{rating},Größe {item}\n" for user, item, rating in ROWS
    )
    content = table.encode().replace("Größe 14".encode(), b"Gr\xf6\xc3 14", 1)
    ratings, report = datasets.read_table(io.BytesIO(content), name="a.csv", bounds=(1, 5))
    assert (ratings.titles or ())[:4] == tuple(f"Größe {item}" for item in range(10, 14))
    assert "2 damaged characters were replaced" in report.words
