"""Large tables: batches, order of rows and spelling of ids do not change the result."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

from dpmf_core.data.frames import ratings_of
from dpmf_datasets.readers import text_tables
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import after_path, read_table
from dpmf_datasets.readers.tables import table_in

BEYOND = str(2**63)  # no 64 bits hold it
LARGEST = str(2**63 - 1)
BLANK = chr(0x2003)  # a wide blank, which is no ASCII


def table(rows, times=None):
    out = io.StringIO()
    writer = csv.writer(out)
    if times is None:
        writer.writerow(["user", "item", "rating"])
        writer.writerows(rows)
    else:
        writer.writerow(["user", "item", "rating", "time"])
        for row, time in zip(rows, times, strict=True):
            writer.writerow([*row, time])
    return out.getvalue().encode()


def read(content):
    table = table_in(io.BytesIO(content), "it.csv")
    declared = Declared((1, 5), outside="clamp")
    return read_table(
        table,
        name="it.csv",
        declared=declared,
        advice=after_path("it.csv", {}),
    )


def by_hand(rows):
    """The mean of each pair's clamped ratings, of rows that can be used."""
    ratings = {}
    for user, item, value in rows:
        pair = (user.strip(), item.strip())
        digits = value.strip().replace(".", "", 1).lstrip("-")
        if all(pair) and digits.isdecimal():
            clamped = min(max(float(value), 1), 5)
            ratings.setdefault(pair, []).append(clamped)
    means = {}
    for pair, values in ratings.items():
        means[pair] = float(np.float32(np.mean(values)))
    return means


def place_of(user):
    """Whole numbers by size, then texts by alphabet."""
    if re.fullmatch(r"-?(0|[1-9]\d*)", user) and len(user) <= 18:
        return 0, int(user), ""
    return 1, 0, user


def with_names(ratings, users):
    assert len(users) == ratings.n_users
    named = {}
    places = zip(ratings.users, ratings.items, ratings.values, strict=True)
    for user, item, value in places:
        named[users[user], ratings.labels[item]] = float(value)
    return named


KINDS = {
    "whole numbers": ["1", "7", "12", "120"],
    "zeros before": ["007", "7", "07", "12"],
    "beyond 64 bits": [BEYOND, LARGEST, "7", "12"],
    "text among numbers": ["7", "12", "tt0012", "x y"],
    "blanks around": ["7", " 12 ", f"{BLANK}8", "9"],
    "signs and points": ["-7", ".5", "+12", "12"],
}


@pytest.fixture(params=[200, text_tables.BATCH], ids=["small batches", "one batch"])
def _batches(request, monkeypatch):
    monkeypatch.setattr(text_tables, "BATCH", request.param)


@pytest.mark.usefixtures("_batches")
class TestIds:
    """A first part of whole numbers, so that small batches are of both kinds."""

    def rows(self, kind):
        rng = np.random.default_rng(5)
        plain = [("1", str(1 + at % 9), "3") for at in range(60)]
        ids = KINDS[kind]
        several_kinds = []
        for _ in range(80):
            user = ids[rng.integers(4)]
            item = ids[rng.integers(4)]
            several_kinds.append((user, item, f"{rng.integers(2, 11) / 2}"))
        bad = [("7", "12", "none"), ("", "12", "3"), ("12", "7", "9.5"), ("7", "7", "")]
        return plain + several_kinds + bad

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_same_as_row_by_row_in_any_order(self, kind):
        rows = self.rows(kind)
        order = np.random.default_rng(6).permutation(len(rows))
        ratings, report = read(table(rows, range(1, 1 + len(rows))))
        users = {user for user, _ in by_hand(rows)}
        names = sorted(users, key=place_of)
        assert with_names(ratings, names) == by_hand(rows)
        assert report.read == len(rows)
        shuffled = [rows[at] for at in order]
        other, again = read(table(shuffled, (1 + order).tolist()))
        assert ratings.fingerprint == other.fingerprint
        assert ratings.labels == other.labels
        assert counts_of(again) == counts_of(report)

    def test_007_and_7_stay_two(self):
        ratings, report = read(
            table([("1", "007", "1"), ("2", "7", "5"), ("1", "7", "3")])
        )
        assert ratings.labels == ("7", "007")
        assert "as 01 and 1" in report.words

    def test_7_and_7_point_0_are_one(self):
        ratings, _ = read(
            table([("1", "7.0", "1"), ("2", "7", "5"), ("1.00", "7", "3")])
        )
        assert ratings.labels == ("7",)
        assert ratings.values.tolist() == [2, 5]


class TestDuplicates:
    ROWS = (
        ("2", "b", "1"),
        ("1", "a", "2"),
        ("2", "b", "5"),
        ("1", "c", "4"),
        ("1", "a", "3"),
        ("2", "b", "3"),
    )

    def test_lines_are_those_of_the_file(self):
        ratings, report = read(table(self.ROWS, [5, 9, 4, 3, 1, 7]))
        problem = report.problems[0]
        assert problem.count == 3
        assert problem.lines == (4, 6, 7)
        assert problem.example == "2,b"
        assert ratings.values.tolist() == [2.5, 4, 3]
        assert ratings.order.tolist() == [9, 3, 7]


def test_titles_are_of_the_first_row_that_has_an_item(monkeypatch):
    monkeypatch.setattr(text_tables, "BATCH", 40)
    lines = ["user,item,rating,filmtitle"]
    for at in range(20):
        title = f"film {at}" if at >= 2 else ""
        lines.append(f"{1 + at // 5},{at % 5},3,{title}")
    ratings, _ = read("\n".join(lines).encode())
    assert ratings.titles == ("0", "1", "film 2", "film 3", "film 4")


SAME = {
    "in two cases": ("Anna", "anna"),
    "composed and decomposed": ("Zo\u00eb", "Zoe\u0308"),
    "with a zero-width blank": ("zoe", "zo\u200be"),
    "as numbers": ("007", "07"),
}


def counts_of(report):
    """How often each kind of problem came."""
    return {problem.kind: problem.count for problem in report.problems}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_one_id_written_in_two_ways_stays_two_and_is_noted(pair):
    rows = [(user, item, "3") for user in (*pair, "other") for item in "abc"]
    ratings, report = read(table(rows))
    assert ratings.n_users == 3
    assert "1 user may be another written differently" in report.words
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    in_memory = ratings_of(frame.astype({"rating": float}), (1, 5))
    assert in_memory.n_users == 3
    assert "1 user may be another written differently" in in_memory.report.words
