"""Tables as people have them: from each come the same ratings, or a sentence that says why not."""

import pytest

from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_datasets import read_table, session_files
from dpmf_datasets.readers.rating_scales import (
    HALF_STARS,
    PERCENT,
    STARS,
    TEN,
    Scale,
    scale_in_name,
)
from dpmf_datasets.readers.ratings_tables import AmbiguousDates

ROWS = [(f"k-{u}", f"Film {i}", 0.5 + ((u * i) % 10) / 2) for u in range(40) for i in range(10)]
BAD_RATINGS = {57: "n/a?", 157: "", 257: "four", 357: "-"}  # the ratings in these rows: 1 in 100
GOOD_ROWS = [row for place, row in enumerate(ROWS) if place not in BAD_RATINGS]


def lines(
    header: str, row: str, comma: bool = False, date: str = "{:02d}/{:02d}/2021"
) -> list[str]:
    """A table of RATED, with bad ratings in some rows."""
    table = [header]
    for place, (user, item, value) in enumerate(ROWS):
        text = BAD_RATINGS.get(place, f"{value:.1f}".replace(".", "," if comma else "."))
        when = date.format(1 + place % 28, 1 + place % 12)
        table.append(row.format(u=user, i=item, r=text, d=when))
    return table


def text(header: str, row: str, comma: bool = False) -> str:
    return "\n".join(lines(header, row, comma)) + "\n"


PLAIN = text("user,item,rating", "{u},{i},{r}")
GERMAN = text("Kundennr;Artikel;Bewertung;bewertet am;Filiale", "{u};{i};{r};{d};Wien", True)
CRLF = PLAIN.replace("\n", "\r\n")
MESSY = {
    "plain": PLAIN.encode(),
    "German, semicolons, decimal commas": GERMAN.encode(),
    "tabs, byte-order mark": b"\xef\xbb\xbf"
    + text("viewer\tmovie title\tmy stars\twatched on", "{u}\t{i}\t{r}\t{d}").encode(),
    "byte-order mark, semicolons, Windows lines": b"\xef\xbb\xbf"
    + GERMAN.replace("\n", "\r\n").encode(),
    "decimal commas in quotation marks": text("user,item,rating", '{u},{i},"{r}"', True).encode(),
    "all in quotation marks": text('"user","item","rating"', '"{u}","{i}","{r}"').encode(),
    "other order and names": text("when,film,opinion stars,member", "{d},{i},{r},{u}").encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "Windows lines": CRLF.encode(),
    "an old Macintosh's lines": PLAIN.replace("\n", "\r").encode(),
    "separators at the ends": text("user;item;rating", "{u};{i};{r};").encode(),
    "blank lines": PLAIN.replace("\n", "\n\n", 30).encode(),
}


def triples(ratings: Ratings, users: int) -> list[tuple[str, float]]:
    """Item and value of each rating, in the order of users."""
    assert ratings.n_users == users and ratings.labels is not None
    items = [ratings.labels[j] for j in ratings.items]
    return sorted(zip(items, ratings.values.tolist(), strict=True))


@pytest.mark.parametrize("content", MESSY.values(), ids=MESSY)
def test_the_same_ratings_come_out_of_every_table(content: bytes) -> None:
    name = "messy.csv"
    _, columns, _ = session_files.preview(content, name)
    upload = session_files.ratings(content, name, columns, (0.5, 5.0))
    try:
        assert isinstance(upload.data, Ratings)
        assert triples(upload.data, 40) == sorted((item, value) for _, item, value in GOOD_ROWS)
        assert (upload.report.read, upload.report.rows_left_out) == (400, 4)
        assert {problem.kind for problem in upload.report.problems} == {"missing", "not a number"}
        assert upload.report.columns and all(upload.report.values)
    finally:
        session_files.remove(upload.entry)


@pytest.mark.parametrize("above", ["sep=,\n", "My ratings of 2021\n\n", "# made by a shop\n"])
def test_what_stands_above_the_table_is_left_out_and_told(above: str) -> None:
    content = (above + PLAIN).encode()
    ratings, report = read_table(content, name="a.csv", bounds=(0.5, 5.0))
    assert len(ratings) == len(GOOD_ROWS) and report.rows_left_out == 4
    (bad,) = (problem for problem in report.problems if problem.kind == "missing")
    assert bad.lines == (157 + 2 + above.count("\n"),)
    first = 1 + above.count("\n")
    assert f"What stands above line {first} was left out" in session_files.layout(content, "a.csv")


def test_a_cell_of_several_lines_makes_no_row_of_its_own() -> None:
    content = text("user,item,rating,review", '{u},{i},{r},"good,\nvery good"').encode()
    columns, _, rows = session_files.preview(content, "a.csv")
    assert columns == ("user", "item", "rating", "review") and set(rows["user"][:10]) == {"k-0"}
    ratings, report = read_table(content, name="a.csv", bounds=(0.5, 5.0))
    assert len(ratings) == len(GOOD_ROWS)
    # rows as a spreadsheet counts them: lines would be others
    assert {problem.row["Where"] for problem in report.problems} == {
        "row 159",
        "row 59, 259, 359",
    }


REFUSALS = {
    "the header lacks a column": (
        text("user,item,rating", "7,{u},{i},{r}"),
        "names 3 columns, and its rows have 4",
    ),
    "fractions": (text("user,item,rating", "{u},{i},{r}/5"), "more than half"),
    "thousands": (text("user,item,rating", '{u},{i},"1,234"'), "more than half"),
    "one column": ("rating\n1\n2\n", "recognised as the user or the item"),
    "another scale": (text("user,item,rating", "{u},{i},8{r}"), "outside the declared bounds"),
}


@pytest.mark.parametrize(("content", "words"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_read_is_refused_in_words(content: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        session_files.ratings(content.encode(), "a.csv", {}, (0.5, 5.0))


@pytest.mark.parametrize("sign", "/.-")
def test_dates_that_do_not_tell_are_asked_about(sign: str) -> None:
    rows = lines(
        "user,item,rating,date", "{u},{i},{r},{d}", date=f"0{{1:d}}{sign}0{{1:d}}{sign}2021"
    )
    content = "\n".join(rows).replace("010", "10").replace("011", "11").replace("012", "12")
    with pytest.raises(AmbiguousDates, match="Say above whether the day or the month comes first"):
        session_files.ratings(content.encode(), "a.csv", {}, (0.5, 5.0))
    upload = session_files.ratings(content.encode(), "a.csv", {}, (0.5, 5.0), "dmy")
    session_files.remove(upload.entry)
    assert any("so it was declared" in sentence for sentence in upload.report.assumed)
    # elsewhere nobody can be asked: it is said what was assumed
    _, report = read_table(content.encode(), name="a.csv", bounds=(0.5, 5.0))
    assert any("so this was assumed" in sentence for sentence in report.assumed)


@pytest.mark.parametrize(
    ("column", "scale"),
    [
        ("score (1-10)", TEN),
        ("Sterne 1 bis 5", STARS),
        ("half_stars", HALF_STARS),
        ("rating_0.5_5", HALF_STARS),
        ("liking, -10 to 10", Scale(-10, 10, "-10 to 10")),
        ("points 0..20", Scale(0, 20, "0 to 20")),
        ("rating out of 100", PERCENT),
        ("percent", PERCENT),
        ("rating", None),
        ("stars", None),
        ("rating_2021-05", None),
        ("2020-12-01", None),
    ],
)
def test_a_columns_name_may_say_its_scale(column: str, scale: Scale | None) -> None:
    assert scale_in_name(column) == scale
