"""Ratings tables of all forms: each is read as the same ratings, or refused."""

import gzip
import io
import re
import tracemalloc
from urllib.parse import parse_qsl

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, LAYOUT_IS_PUBLIC, USERS_ARE_PUBLIC
from dpmf_core.data.report import Kind
from dpmf_datasets import load, session_files
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import after_path, detect_columns, read_table
from dpmf_datasets.readers.table import report_damage
from dpmf_datasets.readers.tables import table_in
from dpmf_datasets.readers.text_tables import QUOTING_IS_PUBLIC

GOOD = [
    f"{user},{item},{1 + (user * item) % 5}"
    for user in range(1, 6)
    for item in range(10, 14)
]
EPOCH = 978_300_000
HEADER = "user,item,rating"


def table(*rows, header=HEADER):
    return "\n".join([header, *rows, ""]).encode()


def filled(header, row):
    """The good ratings and a time each, in rows of this form."""
    rows = []
    if header:
        rows.append(header)
    for at, line in enumerate(GOOD):
        user, item, rating = line.split(",")
        rows.append(
            row.format(
                u=user,
                i=item,
                r=rating,
                t=EPOCH + 1000 * at,
            )
        )
    return "\n".join([*rows, ""]).encode()


def read(source, **options):
    declared = Declared(**{"bounds": (1, 5), **options})
    with report_damage("ratings.csv"):
        table = table_in(io.BytesIO(source), "ratings.csv")
    advice = after_path("ratings.csv", {})
    return read_table(
        table,
        name="ratings.csv",
        declared=declared,
        advice=advice,
    )


def problems(report):
    return {problem.kind: (problem.count, problem.lines) for problem in report.problems}


BAD_ROWS = {
    **dict.fromkeys(("9,10,good", "9,10,NaN"), Kind.NOT_A_NUMBER),
    **dict.fromkeys(("9,10,inf", "9,10,-Infinity"), Kind.INFINITE),
    **dict.fromkeys(("9,10,", "9,10,NA", ",10,3", "9,,3"), Kind.MISSING),
    **dict.fromkeys(("9,10", "9,10,3,4"), Kind.RAGGED_LINE),
}


@pytest.mark.parametrize(("row", "kind"), BAD_ROWS.items())
def test_a_bad_row_is_left_out_and_told(row, kind):
    ratings, report = read(table(*GOOD[:7], row, *GOOD[7:], row))
    assert problems(report)[kind] == (2, (9, 23))
    assert len(ratings) == 20
    assert report.read == 22


def test_lines_are_those_of_the_file_and_five_are_named():
    _, report = read(table(*GOOD, *(["1,10,x"] * 7)))
    assert problems(report)[Kind.NOT_A_NUMBER] == (7, (22, 23, 24, 25, 26))
    blanks = (
        b"\nuser,item,rating\n1,1,3\n\n   \n2,1,3\n1,2,x\n2,2,3\n2,3,4,5\n2,4,y\n\n"
    )
    expected = {Kind.NOT_A_NUMBER: (2, (7, 10)), Kind.RAGGED_LINE: (1, (9,))}
    assert problems(read(blanks)[1]) == expected


CLAMPED_TWO = {Kind.CLAMPED_VALUE: (2, (22, 23))}
LEFT_OUT_TWO = {Kind.OUTSIDE: (2, (22, 23))}
NO_NUMBER = {Kind.NOT_A_NUMBER: (1, (22,))}
REPAIRED = {
    "clamped": (["6,10,11", "6,11,-3"], "clamp", CLAMPED_TWO, (6, 22), [5, 1]),
    "left out": (["1,10,11", "9,11,-3"], "leave-out", LEFT_OUT_TWO, (5, 20), []),
    "left out by default": (["1,10,11", "9,11,-3"], None, LEFT_OUT_TWO, (5, 20), []),
    "averaged": (
        ["8,10,2", "8,10,5"],
        "clamp",
        {Kind.DUPLICATE: (1, (23,))},
        (6, 21),
        [3.5],
    ),
    "a user without ratings is none": (["9,10,x"], "clamp", NO_NUMBER, (5, 20), []),
}


@pytest.mark.parametrize("case", REPAIRED.values(), ids=REPAIRED)
def test_what_is_repaired(case):
    rows, outside, expected, kept_counts, last = case
    ratings, report = read(table(*GOOD, *rows), outside=outside)
    assert problems(report) == expected
    assert (ratings.n_users, len(ratings)) == kept_counts
    assert ratings.values[len(ratings) - len(last) :].tolist() == last


def test_more_than_a_tenth_outside_the_bounds_is_refused_unless_it_is_declared_what_they_become():
    outside = [f"9,{item},{8 + item}" for item in range(3)]
    assert problems(read(table(*GOOD, *outside[:2]))[1]) == {
        Kind.OUTSIDE: (2, (22, 23))
    }
    with pytest.raises(BadInput, match="3 of the 23"):
        read(table(*GOOD, *outside))
    for way, kind in (("leave-out", Kind.OUTSIDE), ("clamp", Kind.CLAMPED_VALUE)):
        _, report = read(table(*GOOD, *outside), outside=way)
        assert problems(report)[kind] == (3, (22, 23, 24))


def test_one_rating_outside_the_bounds_refuses_the_table_if_that_is_declared():
    with pytest.raises(BadInput, match="1 of the 21"):
        read(table(*GOOD, "1,10,6"), outside="refuse")


def test_declared_values_are_not_rated_however_many_they_are():
    zeros = [f"9,{item},0" for item in range(30)]
    ratings, report = read(table(*GOOD, *zeros, "9,99,99"), missing=(0.0, 99.0))
    assert problems(report) == {Kind.NOT_RATED: (31, (22, 23, 24, 25, 26))}
    assert ratings.n_users == 5
    assert ratings.n_items == 4


def test_a_value_that_most_ratings_outside_have_is_suggested_as_not_rated():
    with pytest.raises(BadInput, match="missing"):
        read(table(*GOOD, *(f"9,{item},0" for item in range(30))))


@pytest.mark.parametrize(("outside", "mean"), [("clamp", 7 / 3), ("leave-out", 1.0)])
def test_what_stays_of_a_persons_rows_follows_from_her_rows_alone(outside, mean):
    """With other rows of person 5 the ratings of everyone else stay the same."""
    hers = (
        ["5,10,3", "5,11,2"],
        ["5,10,11"],
        ["5,10,-3", "5,11,2"],
        ["5,10,5", "5,13,1"],
    )
    others = ["1,10,9", "2,11,-1", *(row for row in GOOD if row[0] != "5"), *GOOD[:16]]
    rests = []
    for rows in hers:
        ratings, _ = read(
            table(*others, *rows, "5,12,3"),
            outside=outside,
            n_items=4,
        )
        assert ratings.n_users == 5
        rest = ratings.only(ratings.users < 4)
        rests.append([part.tolist() for part in (rest.users, rest.items, rest.values)])
    assert all(rest == rests[0] for rest in rests)
    assert rests[0][2][0] == pytest.approx(mean)  # of 1, 1, and 9 as 5 or not at all


REFUSED = {
    "nothing": (b"", "empty"),
    "blank lines": (b"\n\n", "empty"),
    "a header alone": (table(), "header"),
    "one user": (table(*GOOD[:4]), "one user"),
    "hardly a rating": (table("1,1,bad", "2,1,worse", "2,2,3"), "'bad'"),
    "no user": (table("1,1,3", "2,1,3", header="who,what,how"), "the user"),
    "no header and no number": (b"1,2,x\n2,2,3\n", "first row"),
    "half a zip": (b"PK\x03\x04rest", "damaged"),
    "half a Parquet file": (b"PAR1 and no more", "Parquet"),
    "a gzip cut short": (gzip.compress(table(*GOOD * 50))[:-20], "cut short"),
    "a header that lacks a column": (filled(HEADER, "7,{u},{i},{r}"), "3 columns"),
    "fractions": (filled(HEADER, "{u},{i},{r}/5"), "half"),
    "thousands": (filled(HEADER, '{u},{i},"1,234"'), "half"),
    "one column": (b"rating\n1\n2\n", "the user"),
    "another scale": (filled(HEADER, "{u},{i},8{r}"), "bounds"),
}


@pytest.mark.parametrize(("source", "fact"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_ratings_table_is_refused(source, fact):
    with pytest.raises(BadInput, match=fact):
        read(source)


def test_rows_without_users_are_refused_with_no_word_of_a_column_of_ratings():
    likes = table("a,1", ",2", ",3", ",4", "b,", header="user,item")
    with pytest.raises(BadInput, match="Every row needs a user and an item") as error:
        read(likes, bounds=None, columns={"rating": ""})
    assert "column" not in str(error.value)


@pytest.mark.parametrize("bounds", [None, (5, 1), (float("nan"), 5), (1, 2, 3)])
def test_bounds_are_declared_or_the_table_refused(bounds):
    with pytest.raises(BadInput, match="bounds"):
        read(table(*GOOD), bounds=bounds)


def test_a_declared_number_of_users_ends_an_assumption():
    ratings, _ = read(
        table(*GOOD),
        n_users=10,
        n_items=6,
    )
    assert ratings.n_users == 10
    assert ratings.n_items == 6
    assert len(ratings.titles) == 6
    without_users = (ITEMS_ARE_PUBLIC, LAYOUT_IS_PUBLIC)
    assert ratings.assumptions == without_users  # how many items does not say which
    ratings, _ = read(table(*GOOD), n_users=5)
    assert ratings.assumptions == without_users
    ratings, _ = read(table(*GOOD), n_items=4)
    assert ratings.assumptions == (USERS_ARE_PUBLIC, *without_users)
    with pytest.raises(BadInput, match="4 users"):
        read(table(*GOOD), n_users=4)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", "::", " "])
@pytest.mark.parametrize("header", [True, False])
def test_separators_and_headers(separator, header):
    rows = [HEADER, *GOOD] if header else GOOD
    content = "\n".join(rows).replace(",", separator)
    ratings, report = read(content.encode())
    expected, _ = read(table(*GOOD))
    assert ratings.fingerprint == expected.fingerprint
    assert report.problems == ()
    assert report.read == 20


def lines(header, row, decimal_mark="."):
    """A table in which one rating of a hundred is none."""
    bad = {57: "n/a?", 157: "", 257: "four", 357: "-"}
    out = [header]
    for at in range(400):
        halves = (at // 10 * (at % 10)) % 10
        rating = f"{0.5 + halves / 2:.1f}".replace(".", decimal_mark)
        cells = {
            "u": f"k-{at // 10}",
            "i": f"Film {at % 10}",
            "r": bad.get(at, rating),
            "d": f"{1 + at % 28:02d}/{1 + at % 12:02d}/2021",
        }
        out.append(row.format(**cells))
    return "\n".join(out) + "\n"


BYTE_ORDER_MARK = b"\xef\xbb\xbf"


PLAIN = lines(HEADER, "{u},{i},{r}")
GERMAN = lines(
    "Kundennr;Artikel;Bewertung;bewertet am;Filiale", "{u};{i};{r};{d};Wien", ","
)
TABS = lines("viewer\tmovie title\tmy stars\twatched on", "{u}\t{i}\t{r}\t{d}")
QUOTED = lines('"user","item","rating"', '"{u}","{i}","{r}"')


REVIEWS = lines("user,item,rating,review", '{u},{i},{r},"good,\nvery good"')


MESSY = {
    "plain": PLAIN.encode(),
    "German, semicolons, decimal commas": GERMAN.encode(),
    "tabs, byte-order mark": BYTE_ORDER_MARK + TABS.encode(),
    "Windows lines, byte-order mark": BYTE_ORDER_MARK
    + GERMAN.replace("\n", "\r\n").encode(),
    "decimal commas in quotation marks": lines(HEADER, '{u},{i},"{r}"', ",").encode(),
    "all in quotation marks": QUOTED.encode(),
    "other order": lines("when,film,opinion stars,member", "{d},{i},{r},{u}").encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "Windows lines": PLAIN.replace("\n", "\r\n").encode(),
    "an old Macintosh's lines": PLAIN.replace("\n", "\r").encode(),
    "separators at the ends": lines("user;item;rating", "{u};{i};{r};").encode(),
    "blank lines": PLAIN.replace("\n", "\n\n", 30).encode(),
    "a separator above": b"sep=,\n" + PLAIN.encode(),
    "a title above": b"My ratings of 2021\n\n" + PLAIN.encode(),
    "a comment above": b"# made by a shop\n" + PLAIN.encode(),
    "cells of several lines": REVIEWS.encode(),
}


# what must be declared of them
FACTS_OF_MESSY = {
    "tabs, byte-order mark": "&user=viewer&rating=my+stars&time=watched+on",
    "other order": "&user=member&rating=opinion+stars",
    "cells of several lines": "&multiline=true",
}


@pytest.mark.parametrize("case", MESSY)
def test_the_same_ratings_come_out_of_every_table(case, tmp_path):
    file = tmp_path / "messy.csv"
    file.write_bytes(MESSY[case])
    ratings = load(f"{file}?bounds=0.5,5{FACTS_OF_MESSY.get(case, '')}")
    expected, _ = read(PLAIN.encode(), bounds=(0.5, 5.0))
    for part in ("users", "items", "values"):
        assert_array_equal(getattr(ratings, part), getattr(expected, part))
    assert ratings.labels == tuple(f"Film {j}" for j in range(10))
    assert ratings.report.read == 400
    assert ratings.report.rows_left_out == 4
    kinds = {problem.kind for problem in ratings.report.problems}
    assert kinds == {Kind.MISSING, Kind.NOT_A_NUMBER}


def test_cells_of_several_lines_are_left_out_and_said_unless_they_are_declared(
    tmp_path,
):
    file = tmp_path / "reviews.csv"
    rows = [f'{row},"good"' for row in GOOD]
    two_lines = ('7,10,5,"good,', 'very good"')
    file.write_bytes(table(*rows, *two_lines, header=f"{HEADER},review"))
    ratings = load(f"{file}?bounds=1,5")
    assert ratings.n_users == 5
    assert problems(ratings.report) == {Kind.RAGGED_LINE: (2, (22, 23))}
    assert "multiline=true" in ratings.report.words
    declared = load(f"{file}?bounds=1,5&multiline=true")
    assert declared.n_users == 6
    assert declared.report.problems == ()
    assert QUOTING_IS_PUBLIC in declared.assumptions
    assert QUOTING_IS_PUBLIC not in ratings.assumptions


@pytest.mark.parametrize(
    ("encoding", "film"),
    [
        ("cp1251", "Москва слезам не верит"),
        ("utf-16", "Москва слезам не верит"),
        ("utf-8-sig", "Москва слезам не верит"),
        ("latin-1", "Amélie"),
    ],
)
@pytest.mark.parametrize("declared", [True, False])
def test_titles_in_other_encodings_are_read(tmp_path, encoding, film, declared):
    rows = ["user;item;rating;movietitle"]
    for row in GOOD:
        user, item, rating = row.split(",")
        rows.append(f"{user};{item};{rating};{film} {item}")
    file = tmp_path / "a.csv"
    file.write_bytes("\n".join(rows).encode(encoding))
    address = f"{file}?bounds=1,5"
    if declared:
        address += f"&encoding={encoding}"
    ratings = load(address)
    assert ratings.titles == tuple(f"{film} {item}" for item in range(10, 14))
    assert LAYOUT_IS_PUBLIC in ratings.assumptions


# roles of a fourth column, next to user, item and rating
COLUMNS = {
    "ReviewDate": "time",
    "reviewTime": "time",
    "rated_at": "time",
    "rating_timestamp": "time",
    "Created On": "time",
    "event_ts": "time",
    "unixReviewTime": "time",
    "WatchedDate": "time",
    "timestamp": "time",
    "movie_title": "title",
    "productName": "title",
    "Artikelname": "title",
}


# of other events, of a person, or perhaps of a review
WITHOUT_ROLE = (
    "release_date",
    "BirthDate",
    "member_since_date",
    "published_on",
    "play_count",
    "rating_id",
    "ratings_count",
    "points_user",
    "title",
    "name",
    "Titel",
)


THREE_ROLES = {
    "user": "user",
    "item": "item",
    "rating": "rating",
}


@pytest.mark.parametrize(("name", "role"), COLUMNS.items())
def test_a_fourth_column_has_the_role_of_its_name(name, role):
    _, report = read(filled(f"user,item,rating,{name}", "{u},{i},{r},{t}"))
    assert dict(report.columns) == THREE_ROLES | {role: name}


NO_RATINGS = [
    "rating_time",
    "ratingTime",
    "RatingTimestamp",
    "rating-at",
    "score_datetime",
    "stars_day",
    "rated_on",
    "rating date",
    "rating_id",
    "score_name",
    "points_user",
]


@pytest.mark.parametrize("name", WITHOUT_ROLE)
def test_a_fourth_column_of_another_name_has_no_role(name):
    _, report = read(filled(f"user,item,rating,{name}", "{u},{i},{r},{t}"))
    assert dict(report.columns) == THREE_ROLES


def rating_column(content):
    return detect_columns(table_in(io.BytesIO(content), "a.csv")).get("rating")


@pytest.mark.parametrize("name", NO_RATINGS)
def test_a_time_an_id_or_a_count_is_never_the_rating(name):
    assert rating_column(filled(f"user,item,{name}", "{u},{i},{t}")) is None


TIMES = pytest.mark.parametrize(
    "time",
    ["{t}", "{t}000", "2021-03-04", "2021-03-04 10:00:00", "3 Mar 2021", "12/25/2020"],
)


@TIMES
def test_times_under_the_name_of_ratings_are_refused(time):
    content = filled(HEADER, "{u},{i}," + time)
    with pytest.raises(BadInput, match="times"):
        read(content)
    assert rating_column(content) is None


@TIMES
# as test_times_in_the_third_column_are_not_guessed_to_be_ratings
def test_times_in_the_third_column_are_not_guessed_to_be_ratings(time):
    content = filled("", "{u},{i}," + time + ",{r}")
    with pytest.raises(BadInput, match="times"):
        read(content)
    assert rating_column(content) == "column 4"


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("userId,movieId,rating,timestamp", "{u},{i},{r},{t}", {}),
        ("User-ID,ISBN,Book-Rating,Date", "{u},{i},{r},{t}", {}),
        ("reviewerID,asin,overall,unixReviewTime", "{u},{i},{r},{t}", {}),
        ("customer id,film,Stars,rank", "{u},{i},{r},{t}", {}),
        ("uid,film,stars,ts", "{u},{i},{r},{t}", {}),
        ("", "{u},{i},{t},{r}", {"rating": "column 4", "time": "3"}),
        ("", "{r},{i},{u},{t}", {"user": "3", "rating": "1"}),
        (
            "a,b,c,d",
            "{r},{i},{u},{t}",
            {"user": "c", "item": "b", "rating": "a", "time": "d"},
        ),
        ("user,item,rating,event_date,review_date", "{u},{i},{r},1,{t}", {}),
    ],
)
def test_columns_go_by_name_by_place_or_as_they_are_chosen(header, row, columns):
    ratings, _ = read(filled(header, row), columns=columns)
    expected, _ = read(filled("user,item,rating,time", "{u},{i},{r},{t}"))
    assert ratings.fingerprint == expected.fingerprint
    assert ratings.order is not None


def test_the_exported_facts_of_a_report_follow_from_no_row():
    """Nobody's value, and no count of what was read, kept or repaired."""
    (_, one) = read(table(*GOOD))
    (_, other) = read(table(*GOOD, "1,11,secret", "1,10,3"))
    assert one.words != other.words
    assert one.facts == other.facts
    for secret in ("secret", "11"):
        assert secret not in str(other.facts)


def test_repeats_are_counted_and_averaged():
    rows = ("1,1,3", "1,1,3", "1,2,3", "2,1,2", "1,2,5", "2,2,4", "1,1,3")
    ratings, report = read(table(*rows))
    assert problems(report)[Kind.DUPLICATE][0] == 3
    assert sorted(ratings.values.tolist()) == [2, 3, 4, 4]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("time", ["yesterday", "1e300", "-1e15", "25/13/2020"])
def test_a_rating_whose_time_cannot_be_read_counts_as_the_earliest(time):
    rows = ("1,1,3,5.5", f"2,1,3,{time}", "2,2,3,7.5")
    ratings, report = read(table(*rows, header="user,item,rating,time"))
    assert ratings.order.tolist() == [5_500_000, 0, 7_500_000]
    assert problems(report)[Kind.NO_TIME] == (1, (3,))


@pytest.mark.parametrize("sign", "/.-")
def test_dates_that_do_not_tell_day_from_month_are_read_as_declared(sign):
    rows = [
        f"{row},0{1 + at % 9}{sign}0{1 + at % 7}{sign}2021"
        for at, row in enumerate(GOOD)
    ]
    content = table(*rows, header="user,item,rating,date")
    orders = []
    for dates in ("dmy", "mdy"):
        upload = session_files.read(content, "a.csv", {"bounds": "1,5", "dates": dates})
        orders.append(upload.data.order.argsort().tolist())
    assert orders[0] != orders[1]
    with pytest.raises(BadInput, match="two ways"):
        read(content)


def test_a_path_declares_bounds_sizes_and_dates(tmp_path):
    path = tmp_path / "mine.csv"
    rows = [f"{row},0{1 + at % 9}/0{1 + at % 7}/2021" for at, row in enumerate(GOOD)]
    path.write_bytes(table(*rows, header="user,item,rating,date"))
    ratings = load(f"{path}?bounds=0.5,5&users=9&dates=dmy")
    assert ratings.bounds == (0.5, 5.0)
    assert ratings.name == "mine.csv"
    assert ratings.n_users == 9
    orders = [
        load(f"{path}?bounds=1,5&dates={order}").order for order in ("mdy", "dmy")
    ]
    assert not np.array_equal(orders[0], orders[1])
    for bad, fact in {
        str(path): "declared",
        f"{path}?bounds=5": "two numbers",
        f"{path}?bound=1,5": "outside",
        f"{path}?bounds=1,5&users=-1": "number",
        f"{path}?bounds=1,5&dates=us": "dmy",
        f"{path}?bounds=1,5&outside=no": "leave-out",
        f"{path}?bounds=1,5&dates=mdy&missing=nan": "numbers that mean",
        f"{path}?bounds=1,5&dates=mdy&leave=date": "layout=wide",
        f"{path}?bounds=1,5": "dates=dmy",
        str(tmp_path): "mine.csv",
        str(tmp_path / "none.csv"): "no file",
    }.items():
        with pytest.raises(BadInput, match=fact):
            load(bad)


@pytest.mark.parametrize(
    ("header", "row", "facts"),
    [
        ("who,what,how much", "{u},{i},{r}", "bounds=1,5"),
        ("", "{u},{i},{t},{r}", "bounds=1,5"),
        (HEADER, "{u},{i},{r}", ""),
        ("who,what,grade", "{u},{i},{r}", "user=who&item=what"),
    ],
)
def test_a_refusal_advises_a_path_that_is_read(tmp_path, header, row, facts):
    file = tmp_path / "a.csv"
    file.write_bytes(filled(header, row))
    with pytest.raises(BadInput) as error:
        load(f"{file}{'?' if facts else ''}{facts}")
    advice = re.search(r"'(/[^']*\?[^']*)'", str(error.value))[1]
    assert (
        dict(parse_qsl(facts)).items()
        <= dict(parse_qsl(advice.partition("?")[2])).items()
    )
    expected = sorted(float(good.rpartition(",")[2]) for good in GOOD)
    assert sorted(load(advice).values.tolist()) == expected


@pytest.mark.parametrize(
    "fact",
    ["items=2000000000", "items=1000001", f"items={'9' * 30}", f"users={'9' * 200}"],
)
def test_absurd_sizes_are_refused_before_anything_is_allocated(tmp_path, fact):
    (tmp_path / "r.csv").write_bytes(table(*GOOD))
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match=r"At most|at most|options"):
            load(f"{tmp_path}/r.csv?bounds=1,5&{fact}")
        assert tracemalloc.get_traced_memory()[1] < 20e6  # bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("header", ["user,name,asset,score", "user,title,isin,rating"])
def test_a_name_among_other_columns_is_no_item_unless_declared(header):
    content = filled(header, "{u},{i},B{i},{r}")
    with pytest.raises(BadInput, match="recognised as the item"):
        read(content)
    item = header.split(",")[1]
    assert dict(read(content, columns={"item": item})[1].columns)["item"] == item


@pytest.mark.parametrize(
    "header", ["user,title,rating", ",user,name,rating", "name,user,rating"]
)
def test_a_name_is_the_item_if_no_other_column_may_be(header):
    filling = {
        "user": "{u}",
        "title": "film {i}",
        "name": "film {i}",
        "rating": "{r}",
        "": "1",
    }
    rows = ",".join(filling[name] for name in header.split(","))
    assert read(filled(header, rows))[0].n_items > 1


def refusal(tmp_path, content, facts="bounds=1,5"):
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        load(f"{file}?{facts}")
    return str(caught.value).replace(str(tmp_path), "")


def test_advice_repeats_little_of_a_file(tmp_path):
    long = "a" * 5000
    assert (
        len(refusal(tmp_path, filled(f"{long},b{long},c{long}", "{u},{i},{r}"))) < 800
    )
    wide = [f"extra number {column}" for column in range(250)]
    rows = ",".join([f"{column}" for column in range(1000, 1250)])
    content = "\n".join(
        [",".join(["user", "film", *wide]), f"a,4,{rows}", f"b,3,{rows}"]
    )
    assert len(refusal(tmp_path, content.encode(), "bounds=1,5&layout=wide")) < 1200


@pytest.mark.parametrize(
    ("header", "row", "facts", "wrong"),
    [
        ("user,item,rating", "{u},{i},{t}", "", "rating=rating"),
        ("user,item,rating,tag", "{u},{i},{t},x", "", "rating=tag"),
        ("rating,item,who", "{r},{i},{u}", "&user=person", "user=rating"),
        ("A1,B1", "{u},{i}", "", "B1&rating=B1"),
        ("user,rating", "{u},{r}", "", "%3F"),
    ],
)
def test_advice_names_no_column_that_is_refused_or_in_use(
    tmp_path, header, row, facts, wrong
):
    assert wrong not in refusal(tmp_path, filled(header, row), f"bounds=1,5{facts}")


def test_the_title_of_a_review_is_no_items_name():
    content = filled("user_id,asin,rating,title", "{u},{i},{r},private words")
    ratings, report = read(content)
    assert ratings.titles == ratings.labels
    assert "title=title" in report.words
    named, report = read(content, columns={"title": "title"})
    assert set(named.titles) == {"private words"}
    assert "title=title" not in report.words


def test_times_are_not_ratings_even_where_they_are_chosen():
    content = filled("user,item,when,r", "{u},{i},{t},{r}")
    with pytest.raises(BadInput, match="20 of the 20"):
        read(content, columns={"rating": "when"})
