"""The catalogue keeps its promises, and published sets are not replaced silently."""

import zipfile
from dataclasses import replace

import pytest

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_datasets import npz_folder, session_files
from dpmf_datasets.registry import SOURCES

ROWS = [
    (user, item, 1 + (user * item) % 5)
    for user in range(1, 7)
    for item in range(10, 15)
]
TABLE = "user,item,rating\n" + "".join(
    f"{user},{item},{rating}\n" for user, item, rating in ROWS
)


def entry_of(name):
    return next(entry for entry in datasets.catalogue() if entry.id == name)


@pytest.fixture
def own_table(tmp_path, monkeypatch):
    """A whole ml-100k, of a small size; the file of another set."""
    small = replace(
        entry_of("ml-100k"),
        n_users=6,
        n_items=5,
        n_ratings=30,
    )
    monkeypatch.setitem(SOURCES, "ml-100k", replace(SOURCES["ml-100k"], entry=small))
    (tmp_path / "official.csv").write_text(TABLE)
    datasets.import_("ml-100k", tmp_path / "official.csv")
    assert datasets.load("ml-100k").public
    (tmp_path / "mine.csv").write_text(TABLE.replace("6,14", "7,14"))
    return tmp_path / "mine.csv"


def test_another_set_does_not_replace_the_published_one_in_silence(own_table):
    with pytest.raises(BadInput, match="--replace"):
        datasets.import_("ml-100k", own_table)
    assert datasets.load("ml-100k").public
    datasets.import_("ml-100k", own_table, replace=True)
    assert not datasets.load("ml-100k").public
    assert not npz_folder.is_published("ml-100k")
    datasets.import_("ml-100k", own_table)  # one's own by one's own
    datasets.import_("ml-100k", own_table.parent / "official.csv")
    assert datasets.load("ml-100k").public


def folder(tmp_path, **files):
    where = tmp_path / "folder"
    where.mkdir()
    for name, content in files.items():
        (where / name.replace("__", ".")).write_text(content)
    return where


def archive(of):
    with zipfile.ZipFile(of.with_suffix(".zip"), "w") as out:
        for file in of.iterdir():
            out.write(file, f"inside/{file.name}")
    return of.with_suffix(".zip")


README = "These are ratings.\nThey were given.\nPlease cite us.\n"


@pytest.mark.parametrize("in_archive", [False, True])
@pytest.mark.parametrize("name", ["ratings__csv", "mine__tsv"])
def test_a_folder_with_a_table_of_ratings_is_ratings(tmp_path, in_archive, name):
    table = TABLE.replace(",", "\t") if name.endswith("tsv") else TABLE
    where = folder(
        tmp_path,
        README__txt=README,
        movies__csv="movieId,title\n10,Jumanji\n",
        **{name: table},
    )
    path = archive(where) if in_archive else where
    with pytest.raises(BadInput, match=rf"{name.replace('__', '.')}\. .*\?bounds=1,5'"):
        datasets.load(str(path))
    ratings = datasets.load(f"{path}?bounds=1,5")
    assert len(ratings) == 30
    assert not ratings.public


def test_ratings_are_no_articles_and_no_documents_of_ones_own(tmp_path):
    where = folder(
        tmp_path,
        README__txt=README,
        ratings__csv=TABLE,
    )
    for path in (where, archive(where)):
        with pytest.raises(BadInput, match="Guardian"):
            datasets.import_("guardian", path)
        with pytest.raises(BadInput, match="ratings"):
            session_files.read(archive(where).read_bytes(), "mine.zip", {})
    with pytest.raises(BadInput, match="ratings"):
        session_files.read(TABLE.encode(), "mine.txt", {})
    assert list(session_files.home().glob("*/*/")) == []
