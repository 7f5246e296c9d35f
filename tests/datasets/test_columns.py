"""Which column is which: names in every spelling, times that are no ratings, and advice that
the same command takes.
"""

from pathlib import Path

import pytest

from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_datasets import read_table, session_files
from dpmf_datasets.readers.report import CLAMPED_VALUE, Report

PAIRS = [(user, item, 1 + (user * item) % 5) for user in range(1, 9) for item in range(10, 15)]
EPOCH = 978_300_000


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))


def table(header: str, row: str) -> bytes:
    """A row for each pair, `row` filled with its user, item, rating and a time."""
    rows = [
        row.format(u=user, i=item, r=rating, t=EPOCH + 1000 * place)
        for place, (user, item, rating) in enumerate(PAIRS)
    ]
    return "\n".join([*([header] if header else []), *rows, ""]).encode()


def read(content: bytes, **options: object) -> tuple[Ratings, Report]:
    return read_table(content, name="ratings.csv", **{"bounds": (1, 5), **options})  # type: ignore[arg-type]


# ---- times are no ratings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "rating_time",
        "ratingTime",
        "RatingTimestamp",
        "rating date",
        "rating-at",
        "score_datetime",
        "stars_day",
        "rated_on",
    ],
)
def test_a_column_named_like_a_time_is_never_the_rating(name: str) -> None:
    content = table(f"user,item,{name}", "{u},{i},{t}")
    assert session_files.preview(content, "a.csv")[1].get("rating") is None
    with pytest.raises(BadInput):
        read(content)
    with pytest.raises(BadInput):
        session_files.ratings(content, "a.csv", {}, (1.0, 5.0))


def test_of_two_times_the_ratings_own_is_taken() -> None:
    _, report = read(table("user,item,rating,event_date,review_date", "{u},{i},{r},{t},{t}"))
    assert dict(report.columns)["time"] == "review_date"


def test_a_role_may_be_given_to_nobody_and_a_column_to_one_role_only() -> None:
    content = table("user,item,rating,timestamp", "{u},{i},{r},{t}")
    assert read(content, columns={"time": ""})[0].order is None
    with pytest.raises(BadInput):
        read(content, columns={"user": "item", "item": "item"})


# ---- bounds --------------------------------------------------------------------------------------


def test_more_than_a_tenth_clamped_is_refused_and_a_tenth_is_told() -> None:
    good = [f"{user},{item},{rating}" for user, item, rating in PAIRS[:36]]
    bad = [f"9,{item},{8 + item}" for item in range(5)]
    _, report = read("\n".join(["user,item,rating", *good, *bad[:4], ""]).encode())
    assert {problem.kind: problem.count for problem in report.problems} == {CLAMPED_VALUE: 4}
    with pytest.raises(BadInput):
        read("\n".join(["user,item,rating", *good, *bad, ""]).encode())


# ---- what the report says ------------------------------------------------------------------------


def test_what_leaves_follows_from_no_row() -> None:
    """Nobody's value, and no count of what was read, kept or repaired."""
    clean = table("user,item,rating", "{u},{i},{r}")
    (_, one), (_, other) = read(clean), read(clean + b"1,11,secret\n1,10,3\n")
    assert one.words != other.words and one.facts == other.facts


def test_decimal_commas_and_points_are_told() -> None:
    rows = [f"{user};{item};{('1.234', '2,5')[item % 2]}" for user, item, _ in PAIRS]
    ratings, report = read("\n".join(["user;item;rating", *rows, ""]).encode())
    assert sorted(set(ratings.values.tolist())) == [pytest.approx(1.234), 2.5]
    assert "1.234" in report.words


# ---- advice is what the same command takes -------------------------------------------------------
