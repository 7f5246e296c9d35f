"""A table of items with ratings of one's own: in files, and in memory."""

import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dpmf_datasets as datasets
from dpmf import fit
from dpmf_core.base.errors import BadInput
from dpmf_core.data.addresses import file_of
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.planning import prepared_for
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets import session_files

ROWS = [(u, i, 1 + (u * i) % 5) for u in range(30) for i in range(1, 9)]
FILMS = pd.DataFrame(
    {
        "movieId": range(1, 9),
        "year": range(1990, 1998),
        "genre": ["Drama|War", "Comedy"] * 4,
    }
)
# 63 / 12: the variance of 8 whole numbers
YEARS = (np.arange(8) - 3.5) * 0.5 / np.sqrt(63 / 12)


@pytest.fixture
def folder(tmp_path):
    lines = "".join(f"{u},{i},{r}\n" for u, i, r in ROWS)
    (tmp_path / "ratings.csv").write_text(f"user,item,rating\n{lines}")
    FILMS.to_csv(tmp_path / "films.csv", index=False)
    FILMS.to_csv(
        tmp_path / "films.tsv.gz",
        index=False,
        sep="\t",
    )
    FILMS.assign(genre=FILMS.genre.str.split("|")).to_parquet(
        tmp_path / "films.parquet"
    )
    return tmp_path


def path(folder, table, more=""):
    return f"{folder}/ratings.csv?bounds=1,5{more}&item_table={folder}/{table}"


def load_with(folder, table, more=""):
    """The ratings of the folder with this table of items."""
    return datasets.load(path(folder, table, more))


@pytest.mark.parametrize("name", ["films.csv", "films.tsv.gz", "films.parquet"])
def test_a_table_of_any_kind(folder, name):
    ratings = load_with(folder, name, "&items=10")
    table = ratings.item_features
    assert table.names == ("year", "genre: Comedy", "genre: Drama", "genre: War")
    assert_allclose(table.values[:8, 0], YEARS, rtol=1e-6)
    assert table.values[:8, 1].tolist() == [0, 1] * 4
    assert not table.values[8:].any()
    # which items have the rows is read off the ratings, whatever number was declared
    assert ITEMS_ARE_PUBLIC in ratings.assumptions


def test_a_changed_table_is_other_data(folder):
    spec = RunSpec.parse(
        data={"id": path(folder, "films.csv"), "item_features": "public"},
        algorithm="spectral",
        budget={"epsilon": 1.0, "delta": 1e-5},
    )
    before = open_data(spec.data)
    guarantee = prepared_for(spec, before).guarantee
    assert "the items' features (year, genre)" in guarantee.taken_as_public
    table = folder / "films.csv"
    FILMS.assign(genre="Drama").to_csv(table, index=False)
    os.utime(table, (1e9, 1e9))  # older than it was: a change all the same
    after = open_data(spec.data)
    assert after.fingerprint != before.fingerprint
    assert after.item_features.names == ("year",)
    assert after.account == before.account  # the same people
    assert file_of(spec.data.id) == "ratings.csv?bounds=1,5&item_table=films.csv"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.csv", None, "There is no file none.csv for item_table"),
        ("one.csv", "id\n1\n", "needs 2 to"),
        ("ragged.csv", "id,year\n1,2,3\n", "ragged.csv names 2 columns"),
        ("empty.csv", "", "empty.csv is empty"),
        ("torn.parquet", "PAR1 and no more", "torn.parquet"),
    ],
)
def test_files_that_are_no_table_of_items(folder, name, content, words):
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(BadInput, match=words):
        load_with(folder, name)


def own_frame():
    return pd.DataFrame(ROWS, columns=["user", "item", "rating"])


def test_frames_of_ratings_and_items_fit_as_files_do(folder):
    by_path = fit(
        path(folder, "films.csv"),
        "content",
        seed=3,
        item_features="public",
        keep=False,
    )
    run = fit(
        own_frame(),
        "content",
        seed=3,
        item_features=FILMS,
        bounds=(1, 5),
    )
    assert run.arrays.keys() == by_path.arrays.keys()
    for name, array in run.arrays.items():
        assert np.array_equal(array, by_path.arrays[name])


# ---- tables of items as they are published -------------------------------------------------------

FLAGS = ["1|0", "0|1", "1|1", "0|0"] * 2
UITEM = [
    f"{item}|Amélie {item} (1990)|01-Jan-1995||http://example.org/{item}|{flags}"
    for item, flags in enumerate(FLAGS, 1)
]


def private_biases(**choices):
    return fit(
        own_frame(),
        "private-bias",
        **choices,
        bounds=(1, 5),
        epsilon=2.0,
        delta=1e-5,
        seed=3,
    )


def test_a_frame_of_items_is_taken_as_public():
    run = private_biases(item_features=FILMS)
    public = run.record.guarantee.taken_as_public
    assert "the items' features (year, genre)" in public
    assert run.record.key != private_biases().record.key


def test_a_frame_of_items_without_features_is_refused():
    plots = FILMS.assign(plot=list("abcdefgh"))
    with pytest.raises(BadInput, match="'plot'"):
        fit(
            own_frame(),
            "content",
            bounds=(1, 5),
            item_features=plots,
        )
    with pytest.raises(BadInput, match="item_table='films"):
        fit("cinema-small", "content", item_features=FILMS)


def test_a_table_of_items_without_a_header_is_read_by_place(folder):
    (folder / "u.item").write_bytes("\n".join(UITEM).encode("latin-1"))
    ratings = load_with(folder, "u.item")
    features = ratings.item_features
    assert features.names == ("column 6", "column 7")
    assert features.values[:, 0].tolist() == [1, 0, 1, 0] * 2
    words = "u.item has no header: its first column was taken as the item ids"
    assert words in ratings.report.words


def alternating(odd, even):
    """Items 1 to 8, and one of two words for each."""
    return [(item, odd if item % 2 else even) for item in range(1, 9)]


def test_a_table_of_items_without_numbers_may_lack_a_header(folder):
    lines = "".join(f"u{u},film {i},{r}\n" for u, i, r in ROWS)
    (folder / "ratings.csv").write_text(f"user,item,rating\n{lines}")
    rows = [f"film {item};{kind}" for item, kind in alternating("Buch", "Film")]
    (folder / "a.csv").write_text("\n".join(rows))
    features = load_with(folder, "a.csv").item_features
    assert features.names == ("column 2: Buch", "column 2: Film")
    assert features.values[:, 0].tolist() == [1, 0] * 4
    # not two numbers in a row
    (folder / "b.csv").write_text("\n".join(["film;1990", *rows]))
    features = load_with(folder, "b.csv").item_features
    assert features.names == ("1990: Buch", "1990: Film")


def test_the_encoding_of_a_table_of_items_is_declared_for_it_alone(folder):
    rows = [f"{item};{kind}" for item, kind in alternating("Größe", "Maß")]
    (folder / "a.csv").write_bytes("\n".join(["id;Sparte", *rows]).encode("mac_roman"))
    ratings = load_with(folder, "a.csv", "&item_encoding=mac_roman")
    assert ratings.item_features.names == ("Sparte: Größe", "Sparte: Maß")
    with pytest.raises(BadInput, match="no encoding 'klingon'"):
        load_with(folder, "a.csv", "&item_encoding=klingon")


def test_ids_are_matched_by_their_canonical_text(folder):
    films = FILMS.assign(movieId=FILMS.movieId.astype(float))
    films.to_csv(folder / "films.csv", index=False)
    assert load_with(folder, "films.csv").report is not None


def test_titles_with_the_half_of_a_separator_are_read(folder):
    rows = []
    for item, kind in alternating("War", "Film"):
        rows.append(f"{item}::Amélie: Part {item}::{kind}")
    (folder / "movies.dat").write_bytes("\n".join(rows).encode("latin-1"))
    features = load_with(folder, "movies.dat").item_features
    assert features.names == ("column 3: Film", "column 3: War")


def test_items_are_named_by_their_table(folder):
    films = FILMS.assign(Title=[f"Film: {item}" for item in FILMS.movieId])
    films.iloc[1:].to_csv(folder / "named.csv", index=False)
    ratings = load_with(folder, "named.csv")
    assert ratings.titles == ("1", *(f"Film: {item}" for item in range(2, 9)))
    assert ratings.item_features.columns == ("year", "genre")


def test_items_of_an_upload_are_named_by_their_table(folder):
    films = FILMS.assign(Title=[f"Film: {item}" for item in FILMS.movieId])
    ratings = (folder / "ratings.csv").read_bytes()
    entry = session_files.read(ratings, "mine.csv", {"bounds": "1,5"}).entry
    table = films.to_csv(index=False).encode()
    new_entry, notes = session_files.with_item_table(entry, table, "films.csv")
    data = session_files.load(new_entry.id)
    session_files.remove(new_entry)
    assert data.titles == tuple(films.Title)
    assert ITEMS_ARE_PUBLIC in data.assumptions
    assert ITEMS_ARE_PUBLIC in new_entry.assumptions
    assert notes == ("Items without a name in the ratings are named as in films.csv.",)


def test_items_are_named_by_the_ratings_before_their_table(folder):
    (folder / "u.item").write_bytes("\n".join(UITEM).encode("latin-1"))
    titles = load_with(folder, "u.item").titles
    assert titles == tuple(f"Amélie {item} (1990)" for item in range(1, 9))
    with_names = "".join(f"{u},{i},{r},Own {i}\n" for u, i, r in ROWS)
    (folder / "ratings.csv").write_text(f"user,item,rating,movie_title\n{with_names}")
    titles = load_with(folder, "u.item").titles
    assert titles == tuple(f"Own {item}" for item in range(1, 9))


def test_cells_of_an_item_table_may_contain_line_breaks(folder):
    rows = ["id,genre,plot"]
    for item, genre in alternating("Drama", "War"):
        rows.append(f'{item},"{genre}","a\nlong plot"')
    (folder / "films.csv").write_text("\n".join(rows))
    features = load_with(folder, "films.csv").item_features
    assert features.names == ("genre: Drama", "genre: War")
    assert features.values[:, 0].tolist() == [1, 0] * 4
