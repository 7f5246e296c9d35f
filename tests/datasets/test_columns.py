"""Which column is which: names in every spelling, times that are no ratings, and advice that
the same command takes.
"""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

import dpmf_datasets as datasets
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


def true_values(ratings: Ratings) -> None:
    assert sorted(ratings.values.tolist()) == sorted(float(rating) for *_, rating in PAIRS)


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
    with pytest.raises(BadInput, match="is recognised as the rating"):
        read(content)
    with pytest.raises(BadInput):
        session_files.ratings(content, "a.csv", {}, (1.0, 5.0))


@pytest.mark.parametrize("name", ["rating_id", "ratings_count", "score_name", "points_user"])
def test_what_counts_or_names_ratings_is_none(name: str) -> None:
    assert (
        "rating" not in session_files.preview(table(f"user,item,{name}", "{u},{i},{t}"), "a.csv")[1]
    )


@pytest.mark.parametrize("header", ["", "user,item,rating"])
@pytest.mark.parametrize(
    "time", ["{t}", "{t}000", "2021-03-04", "2021-03-04 10:00:00", "3 Mar 2021", "12/25/2020"]
)
def test_times_in_the_third_column_are_not_guessed_to_be_ratings(header: str, time: str) -> None:
    row = "{u},{i}," + time + ("" if header else ",{r}")
    with pytest.raises(BadInput, match=r"would be the rating, and holds times"):
        read(table(header, row))
    assert session_files.preview(table(header, row), "a.csv")[1].get("rating") == (
        None if header else "column 4"
    )


def test_columns_without_a_header_are_named_by_their_place() -> None:
    ratings, report = read(
        table("", "{u},{i},{t},{r}"), columns={"rating": "column 4", "time": "3"}
    )
    true_values(ratings)
    assert report.columns == (
        ("user", "column 1"),
        ("item", "column 2"),
        ("rating", "column 4"),
        ("time", "column 3"),
    )
    assert ratings.order is not None and ratings.order.min() == EPOCH
    assert read(table("", "{r},{i},{u}"), columns={"user": "3", "rating": "1"})[0].n_users == 8


@pytest.mark.parametrize(
    "name",
    [
        "ReviewDate",
        "reviewTime",
        "rated_at",
        "rating_timestamp",
        "Created On",
        "unixReviewTime",
        "WatchedDate",
        "event_ts",
    ],
)
def test_a_column_of_times_is_found_by_name(name: str) -> None:
    ratings, report = read(table(f"user,item,rating,{name}", "{u},{i},{r},{t}"))
    assert dict(report.columns)["time"] == name and ratings.order is not None


@pytest.mark.parametrize(
    "name", ["release_date", "BirthDate", "member_since_date", "published_on", "play_count"]
)
def test_when_something_was_released_is_no_time_of_a_rating(name: str) -> None:
    assert "time" not in dict(read(table(f"user,item,rating,{name}", "{u},{i},{r},{t}"))[1].columns)


def test_of_two_times_the_ratings_own_is_taken() -> None:
    _, report = read(table("user,item,rating,event_date,review_date", "{u},{i},{r},{t},{t}"))
    assert dict(report.columns)["time"] == "review_date"


def test_a_role_may_be_given_to_nobody_and_a_column_to_one_role_only() -> None:
    content = table("user,item,rating,timestamp", "{u},{i},{r},{t}")
    assert read(content, columns={"time": ""})[0].order is None
    with pytest.raises(BadInput, match="'item' was chosen for the user and for the item"):
        read(content, columns={"user": "item", "item": "item"})


# ---- bounds --------------------------------------------------------------------------------------


def test_more_than_a_tenth_clamped_is_refused_and_a_tenth_is_told() -> None:
    good = [f"{user},{item},{rating}" for user, item, rating in PAIRS[:36]]
    bad = [f"9,{item},{8 + item}" for item in range(5)]
    _, report = read("\n".join(["user,item,rating", *good, *bad[:4], ""]).encode())
    assert {problem.kind: problem.count for problem in report.problems} == {CLAMPED_VALUE: 4}
    with pytest.raises(
        BadInput,
        match=(
            r"5 of the 41 ratings of ratings\.csv, more than a tenth, lie outside the declared"
            r" bounds 1 to 5\. The first is line 38: '8'"
        ),
    ):
        read("\n".join(["user,item,rating", *good, *bad, ""]).encode())


def test_a_time_that_is_asked_for_as_the_rating_is_refused_too() -> None:
    with pytest.raises(
        BadInput,
        match=(
            r"40 of the 40 .*in the column 'when'\. They look like times\. .*columns=\{'rating':"
            r" 'r'\}"
        ),
    ):
        read(table("user,item,when,r", "{u},{i},{t},{r}"), columns={"rating": "when"})


def test_clamping_is_refused_in_official_layouts_as_well(tmp_path: Path) -> None:
    lines = ["1:", *(f"{user},{user + 5},2005-01-0{user}" for user in range(1, 9))]
    (tmp_path / "combined_data_1.txt").write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput, match=r"8 of the 8 ratings, more than a tenth"):
        datasets.import_("netflix", tmp_path)


# ---- what the report says ------------------------------------------------------------------------


def test_the_report_shows_three_values_of_each_column_on_the_screen_alone() -> None:
    _, report = read(table("user,item,rating,ReviewDate", "{u},{i},{r},{t}"))
    for line in (
        "user: user (1, 2, 3)",
        "item: item (10, 11, 12)",
        "rating: rating (1, 2, 3)",
        f"time: ReviewDate ({EPOCH}, {EPOCH + 1000}, {EPOCH + 2000})",
    ):
        assert line in report.on_screen.replace("(1, 2, 3, 4)", "(1, 2, 3)"), report.on_screen
    assert str(EPOCH) not in report.words and str(EPOCH) not in str(report.facts)


def test_what_leaves_follows_from_no_row() -> None:
    """Nobody's value, and no count of what was read, kept or repaired."""
    clean = table("user,item,rating", "{u},{i},{r}")
    (_, one), (_, other) = read(clean), read(clean + b"1,11,secret\n1,10,3\n")
    assert one.words != other.words and one.facts == other.facts


def test_decimal_commas_and_points_are_told() -> None:
    rows = [f"{user};{item};{('1.234', '2,5')[item % 2]}" for user, item, _ in PAIRS]
    ratings, report = read("\n".join(["user;item;rating", *rows, ""]).encode())
    assert sorted(set(ratings.values.tolist())) == [pytest.approx(1.234), 2.5]
    assert "16 ratings have a comma, which was read as the decimal sign" in report.words
    assert (
        "24 ratings are written like 1.234. The point was read as the decimal sign" in report.words
    )


@pytest.mark.parametrize("separator", ["\t", ";", "|", "::"])
def test_a_comma_is_a_decimal_sign_wherever_it_separates_nothing(separator: str) -> None:
    rows = [
        separator.join((str(user), str(item), "1.003,5" if item == 10 else "1002,25"))
        for user, item, _ in PAIRS
    ]
    ratings, _ = read(
        "\n".join([separator.join(("user", "item", "rating")), *rows, ""]).encode(),
        bounds=(1000, 1005),
    )
    assert sorted(set(ratings.values.tolist())) == [1002.25, 1003.5]


def test_ids_written_in_two_ways_are_told() -> None:
    rows = [f"{user},{item}{'.0' if user % 2 else ''},{rating}" for user, item, rating in PAIRS]
    ratings, report = read("\n".join(["user,item,rating", *rows, "01,10,3", ""]).encode())
    assert (ratings.n_users, ratings.n_items) == (9, 10)
    assert (
        "5 items are numbers written in two ways, such as 1, 1.0 and 01. Ids are text: they were"
        " taken as different items." in report.words
    )
    assert "1 users are numbers written in two ways" in report.words
    assert "two ways" not in read(table("user,item,rating", "{u},{i},{r}"))[1].words


# ---- advice is what the same command takes -------------------------------------------------------


def path_in(error: BadInput) -> str:
    path = re.search(r"'(/[^']*\?[^']*)'", str(error))
    assert path is not None, str(error)
    return path.group(1)


@pytest.mark.parametrize(
    ("header", "row", "facts"),
    [
        ("who,what,how much", "{u},{i},{r}", "bounds=1,5"),
        ("user,item,how much", "{u},{i},{r}", "bounds=1,5&users=20"),
        ("", "{u},{i},{t},{r}", "bounds=1,5"),
        ("user,item,rating", "{u},{i},{r}", "bounds=1,5&user=usr"),
        ("user,item,rating", "{u},{i},{r}", ""),
        ("who,what,grade", "{u},{i},{r}", "user=who&item=what"),
    ],
)
def test_what_is_advised_of_a_path_works(tmp_path: Path, header: str, row: str, facts: str) -> None:
    (tmp_path / "a.csv").write_bytes(table(header, row))
    path = f"{tmp_path / 'a.csv'}{'?' if facts else ''}{facts}"
    with pytest.raises(BadInput) as error:
        datasets.load(path)
    assert "columns={" not in str(error.value)
    better = path_in(error.value)
    assert (
        dict(parse_qsl(facts)).items() - {("user", "usr")}
        <= dict(parse_qsl(better.partition("?")[2])).items()
    )
    ratings = datasets.load(better)
    assert isinstance(ratings, Ratings)
    true_values(ratings)


def test_python_pages_and_imports_advise_what_they_take(tmp_path: Path) -> None:
    content = table("who,what,how", "{u},{i},{r}")
    with pytest.raises(BadInput) as error:
        read(content)
    match = re.search(r"columns=(\{.*?\})", str(error.value))
    assert match is not None
    true_values(read(content, columns=dict(re.findall(r"'(\w+)': '(\w+)'", match.group(1))))[0])
    with pytest.raises(
        BadInput, match="Choose another column above, under Who and What and Rating"
    ):
        session_files.ratings(content, "a.csv", {}, (1.0, 5.0))
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(
        BadInput, match="In the file's header, rename the columns to user, item and rating"
    ) as error:
        datasets.import_("ml-100k", tmp_path / "a.csv")
    assert "columns=" not in str(error.value) and "?" not in str(error.value)
