"""Ratings tables as people have them: what is recognised, repaired, refused, and said about it."""

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpmf_core.errors import BadInput
from dpmf_datasets import load, read_table
from dpmf_datasets.readers.report import (
    CLAMPED_VALUE,
    DUPLICATE,
    EMPTY_USER,
    INFINITE,
    MISSING,
    NOT_A_NUMBER,
    RAGGED_LINE,
)

GOOD = [f"{user},{item},{1 + (user * item) % 5}" for user in range(1, 6) for item in range(10, 14)]


def table(*rows: str, header: str = "user,item,rating") -> bytes:
    return "\n".join([header, *rows, ""]).encode()


def read_ratings(source: bytes, **options):
    ratings, report = read_table(source, name="ratings.csv", **{"bounds": (1, 5), **options})
    return (
        ratings,
        {problem.kind: (problem.count, problem.lines) for problem in report.problems},
        report,
    )


def test_a_clean_table():
    ratings, problems, report = read_ratings(table(*GOOD))
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (5, 4, 20)
    assert problems == {} and (report.read, report.kept) == (20, 20)
    assert ratings.bounds == (1.0, 5.0) and not ratings.public and ratings.order is None
    assert ratings.titles == ("10", "11", "12", "13")
    assert ratings.values[ratings.by_user[2] + 1] == 1 + (3 * 11) % 5


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("9,10,good", NOT_A_NUMBER),
        ("9,10,NaN", NOT_A_NUMBER),
        ("9,10,inf", INFINITE),
        ("9,10,-Infinity", INFINITE),
        ("9,10,", MISSING),
        ("9,10,NA", MISSING),
        (",10,3", MISSING),
        ("9,,3", MISSING),
        ("9,10", RAGGED_LINE),
        ("9,10,3,4", RAGGED_LINE),
    ],
)
def test_a_bad_row_is_left_out_and_told(row, kind):
    ratings, problems, report = read_ratings(table(*GOOD[:7], row, *GOOD[7:], row))
    assert problems[kind] == (2, (9, 23))
    assert (len(ratings), report.read) == (20, 22)
    assert f"2 x {kind} (line 9, 23)" in report.words


def test_out_of_bounds_is_clamped_and_told():
    ratings, problems, _ = read_ratings(table(*GOOD, "6,10,11", "6,11,-3"))
    assert problems == {CLAMPED_VALUE: (2, (22, 23))}
    assert ratings.values[-2:].tolist() == [5, 1]


def test_too_many_out_of_bounds_are_refused_whatever_is_to_be_done_with_them():
    for rows in (["9,10,11", "9,11,-3", "9,12,7"], ["9,10,11"] * 60):
        with pytest.raises(BadInput):
            read_ratings(table(*GOOD, *rows), outside="leave-out")


@pytest.mark.parametrize(("outside", "mean"), [("clamp", 7 / 3), ("leave-out", 1.0)])
def test_what_stays_of_a_persons_rows_follows_from_her_rows_alone(outside, mean):
    """Neighbouring tables, one of which has other rows of person 5, or none that can be used:
    everybody else's ratings are the same, and a rating left out takes nothing of anybody else's.
    """
    hers = (["5,10,3", "5,11,2"], ["5,10,11"], ["5,10,-3", "5,11,2"], ["5,10,5", "5,13,1"])
    others = ["1,10,9", "2,11,-1", *(row for row in GOOD if row[0] != "5"), *GOOD[:16]]
    rests = []
    for rows in hers:
        ratings, _, _ = read_ratings(table(*others, *rows, "5,12,3"), outside=outside, n_items=4)
        assert ratings.n_users == 5
        rest = ratings.only(ratings.users < 4)
        rests.append([part.tolist() for part in (rest.users, rest.items, rest.values)])
    assert all(rest == rests[0] for rest in rests)
    assert rests[0][2][0] == pytest.approx(mean)  # of 1, 1, and 9 as 5 or not at all


def test_duplicates_are_averaged_and_told():
    ratings, problems, report = read_ratings(table("8,10,5", *GOOD, "8,10,2"))
    assert problems == {DUPLICATE: (1, (23,))}
    assert ratings.values[-1] == 3.5 and (report.read, report.kept) == (22, 21)


def test_a_user_without_a_usable_rating_stays_as_an_empty_row():
    ratings, problems, _ = read_ratings(table(*GOOD, "9,10,x"))
    assert problems[EMPTY_USER] == (1, ())
    assert ratings.n_users == 6 and np.diff(ratings.by_user).tolist() == [4, 4, 4, 4, 4, 0]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (table(), "no rows below its header"),
        (table(*GOOD[:4]), "one user only"),
        (
            table("1,1,bad", "2,1,worse", "2,2,3"),
            "'not a number' is line 2: 'bad' (the rating is read from the column 'rating')",
        ),
        (
            table("1,1,3", "2,1,3", header="who,what,how"),
            "No column of ratings.csv is recognised as the user",
        ),
        (b"1,2,x\n2,2,3\n", "its first row is not user, item, rating"),
        (b"PK\x03\x04rest", "damaged or cut short"),
        (b"PAR1 and no more", "Parquet"),
        (gzip.compress(table(*GOOD * 50))[:-20], "cut short"),
    ],
)
def test_what_is_no_ratings_table_is_refused(source, words):
    with pytest.raises(BadInput) as error:
        read_ratings(source)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "bounds", [None, (5, 1), (1, 1), (float("nan"), 5), (1, float("inf")), (1, 2, 3)]
)
def test_bounds_are_declared_or_the_table_refused(bounds):
    with pytest.raises(BadInput, match="bounds"):
        read_ratings(table(*GOOD), bounds=bounds)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", "::", " "])
@pytest.mark.parametrize("header", [True, False])
def test_separators_and_headers(separator, header):
    rows = [
        separator.join(row.split(",")) for row in (["user,item,rating"] if header else []) + GOOD
    ]
    ratings, problems, report = read_ratings("\n".join(rows).encode())
    assert len(ratings) == 20 and problems == {} and report.read == 20


def test_ids_are_text_and_numbers_sort_as_numbers():
    ratings, _, _ = read_ratings(table("7,b,1", "007,a,2", "10,a,3"))
    assert ratings.n_users == 3 and ratings.titles == ("a", "b")
    assert ratings.values.tolist() == [2, 1, 3]  # 007 and 7 are two people, both before 10


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings(encoding):
    ratings, _, _ = read_ratings("user,item,rating\nZoë,Amélie,4\nBob,Amélie,3\n".encode(encoding))
    assert ratings.titles == ("Amélie",) and ratings.n_users == 2


def test_many_batches_agree_with_one(monkeypatch):
    rows = table(
        *(f"{k % 97},{k // 97},{k % 5 + 1}" for k in range(5_000)),
        "x,y",
        *(f"{k % 97 + 100},{k // 97},bad" for k in range(9)),
    )
    whole, problems, _ = read_ratings(rows)
    monkeypatch.setattr("dpmf_datasets.readers.tables.BATCH", 1_000)
    parts, again, _ = read_ratings(rows)
    assert parts.fingerprint == whole.fingerprint
    assert (
        again
        == problems
        == {
            RAGGED_LINE: (1, (5002,)),
            NOT_A_NUMBER: (9, tuple(range(5003, 5008))),
            EMPTY_USER: (9, ()),
        }
    )


names = st.text("abcdefgh0123456789é_", min_size=1, max_size=6)
ratings_of = st.dictionaries(
    st.tuples(names, names), st.integers(2, 10).map(lambda half: half / 2), min_size=2, max_size=30
)


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(ratings_of.filter(lambda triples: len({user for user, _ in triples}) > 1))
def test_every_format_gives_the_same_ratings(tmp_path: Path, triples):
    frame = pd.DataFrame(
        [(user, item, value) for (user, item), value in triples.items()],
        columns=["user", "item", "rating"],
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    read = [
        read_table(tmp_path / file, name="a", bounds=(1, 5))
        for file in ("a.csv", "a.tsv.gz", "a.parquet")
    ]
    assert len({ratings.fingerprint for ratings, _ in read}) == 1
    ratings, report = read[0]
    users = sorted({user for user, _ in triples}, key=_order({user for user, _ in triples}))
    assert {
        (users[u], ratings.titles[i]): v
        for u, i, v in zip(ratings.users, ratings.items, ratings.values.tolist(), strict=True)
    } == triples
    assert report.problems == ()


def _order(labels):
    return (
        (lambda label: (int(label), label)) if all(label.isdecimal() for label in labels) else None
    )


@pytest.mark.parametrize(
    "fact",
    [
        "items=2000000000",
        "users=2000000000",
        "items=1000001",
        f"items={'9' * 30}",
        f"users={'9' * 200}",
    ],
)
def test_absurd_sizes_are_refused_before_anything_is_allocated(tmp_path: Path, fact: str) -> None:
    table = tmp_path / "r.csv"
    table.write_text(
        "user,item,rating\n" + "".join(f"u{k % 7},i{k % 5},{k % 5 + 1}\n" for k in range(35))
    )
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match=r"At most|at most|are known"):
            load(f"{table}?bounds=1,5&{fact}")
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "facts", ["image=2000000000,1&key=X", "image=100000,100000&key=X", "drop=2000000000&key=X"]
)
def test_absurd_sizes_of_pictures_are_refused(tmp_path: Path, facts: str) -> None:
    file = tmp_path / "x.mat"
    scipy.io.savemat(file, {"X": np.arange(64.0).reshape(4, 16)})
    with pytest.raises(BadInput):
        load(f"{file}?{facts}")
