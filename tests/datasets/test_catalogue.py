"""What the catalogue promises is there when it is made; a published set is not replaced in
silence; ratings are not taken for documents.
"""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpmf_datasets as datasets
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.errors import BadInput
from dpmf_datasets import npz_folder
from dpmf_datasets.registry import SOURCES

ROWS = [(user, item, 1 + (user * item) % 5) for user in range(1, 7) for item in range(10, 15)]
TABLE = "user,item,rating\n" + "".join(f"{user},{item},{rating}\n" for user, item, rating in ROWS)


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))


def entry_of(name: str) -> Any:
    return next(entry for entry in datasets.catalogue() if entry.id == name)


# ---- definition ----------------------------------------------------------------------------------


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
    with pytest.raises(BadInput):
        datasets.import_("ml-100k", own_table)
    assert datasets.load("ml-100k").public
    datasets.import_("ml-100k", own_table, replace=True)
    assert not datasets.load("ml-100k").public and not npz_folder.is_published("ml-100k")
    datasets.import_("ml-100k", own_table)  # one's own by one's own
    datasets.import_("ml-100k", own_table.parent / "official.csv")
    assert datasets.load("ml-100k").public


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
    with pytest.raises(BadInput):
        datasets.load(str(path))
    ratings = datasets.load(f"{path}?bounds=1,5")
    assert isinstance(ratings, Ratings) and len(ratings) == 30 and not ratings.public


def test_movielens_tables_without_a_header_are_known_by_name(tmp_path: Path) -> None:
    where = folder(
        tmp_path,
        README="words",
        ratings__dat="".join(
            f"{user}::{item}::{rating}::978300{user}{item}\n" for user, item, rating in ROWS
        ),
    )
    assert isinstance(datasets.load(f"{where}?bounds=1,5"), Ratings)


def test_documents_beside_other_tables_stay_documents(tmp_path: Path) -> None:
    texts = {f"doc{place}__txt": f"word{place * 'x'} shared common" for place in range(4)}
    samples = datasets.load(str(folder(tmp_path, index__csv="file,title\na,b\n", **texts)))
    assert isinstance(samples, Samples) and len(samples) == 4


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
