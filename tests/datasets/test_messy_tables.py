"""Tables as people have them: from each come the same ratings, or a sentence that says why not."""

import pytest

from dpmf_core.data.ratings import Ratings
from dpmf_datasets import read_table, session_files

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
    assert f"{first}" in session_files.layout(content, "a.csv")
