"""Spreadsheets: which sheet and which row hold the header, and what the text of a cell is."""

import datetime
import zipfile

import openpyxl
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_datasets import load
from dpmf_datasets.readers.tables import open_table, parts_of

HEADER = ["user", "item", "rating"]
ROWS = [
    [f"u{user}", item, 1 + (user * item) % 5] for user in range(4) for item in range(3)
]
COVER = [["Ratings of the club"], ["spring 2024"]]


def book(file, **sheets):
    """Write sheets of rows."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    workbook.save(file)
    return file


def cells(file, **facts):
    """The rows of text of a table."""
    (batch,) = open_table(file, file.name, facts).batches(range(3))
    return list(zip(*(column.to_pylist() for column in batch), strict=True))


def test_the_header_may_stand_below_a_title_and_blank_rows(tmp_path):
    file = book(tmp_path / "a.xlsx", Sheet=[["Ratings, spring"], [], HEADER, *ROWS])
    ratings = load_rated(file)
    assert len(ratings) == 12
    assert ratings.n_users == 4
    assert ratings.labels == ("0", "1", "2")


def load_rated(file, more=""):
    return load(f"{file}?bounds=1,5{more}")


def test_a_problem_is_reported_with_its_row_in_the_sheet(tmp_path):
    rows = [["Title"], [], HEADER, *ROWS[:5], [], ["u0", 1, "good"], *ROWS[5:]]
    report = load_rated(book(tmp_path / "a.xlsx", Sheet=rows)).report
    (problem,) = report.problems
    assert problem.where == "row"
    assert problem.lines == (10,)
    assert problem.count == 1


def test_the_sheet_with_ratings_is_read_and_the_others_are_named(tmp_path):
    file = book(
        tmp_path / "a.xlsx",
        Cover=COVER,
        Ratings=[HEADER, *ROWS],
        Other=[HEADER, ROWS[0]],
    )
    ratings = load_rated(file)
    assert len(ratings) == 12
    words = "The sheet 'Ratings' was read. Other sheets: Cover, Other."
    assert words in ratings.report.assumed
    assert parts_of(file) == ((), ("Ratings", "Cover", "Other"))


def test_declared_columns_tell_the_sheet_and_the_header(tmp_path):
    rows = [["", "Title"], ["who", "what", "points"], *ROWS]
    file = book(
        tmp_path / "a.xlsx",
        Cover=[["a", "b", "c"]],
        Data=rows,
    )
    assert len(load_rated(file, "&user=who&item=what&rating=points")) == 12


def test_sheet_and_header_may_be_declared(tmp_path):
    rows = [HEADER, ["uX", 8, 5], ["User ID", "Item ID", "Score"], *ROWS]
    file = book(
        tmp_path / "a.xlsx",
        First=[HEADER, *ROWS[:6]],
        Second=rows,
    )
    assert len(load_rated(file)) == 6
    assert len(load_rated(file, "&sheet=Second&header=3")) == 12
    first, *_ = cells(file, sheet="Second", header="0")
    assert first == ("user", "item", "rating")
    with pytest.raises(BadInput, match="no row below its header"):
        load_rated(file, "&header=50")
    with pytest.raises(BadInput, match="Did you mean 'Second'"):
        load_rated(file, "&sheet=Secund")


def test_rows_without_a_header_are_taken_by_place(tmp_path):
    file = book(tmp_path / "a.xlsx", Sheet=[["Some title"], *ROWS])
    ratings = load_rated(file)
    assert len(ratings) == 12
    assert ratings.n_users == 4


def test_the_text_of_a_cell_follows_from_the_cell(tmp_path):
    texts = [
        (7, "7"),
        (7.0, "7"),
        (2.5, "2.5"),
        (True, "1"),
        ("007", "007"),
        (1e3, "1000"),
        (datetime.date(2024, 2, 1), "2024-02-01"),
        (None, ""),
    ]
    moment = datetime.datetime(2024, 2, 1, 10, 36)
    rows = [[value, "x", moment] for value, _ in texts]
    file = book(tmp_path / "a.xlsx", Sheet=[HEADER, *rows])
    for row, (_, text) in zip(cells(file), texts, strict=True):
        assert row == (text, "x", "2024-02-01 10:36:00")


@pytest.mark.parametrize("number", [7.6561198e16, 76561198000000017, 1234567890123456])
def test_a_number_of_sixteen_digits_is_marked_as_rounded(tmp_path, number):
    """Spreadsheet programs keep fifteen digits, so such ids of several people may be one number."""
    rows = [HEADER, [number, 1, 5], [str(number), 1, 5]]
    first, second = cells(book(tmp_path / "a.xlsx", Sheet=rows))
    assert float(first[0]) == pytest.approx(number)
    assert "e+" in first[0]
    assert second[0] == str(number)


def test_a_sheet_of_open_document_is_read_by_its_cells(tmp_path):
    """Written by hand, because no library for it is needed otherwise."""
    row = "".join(
        f'<table:table-cell office:value-type="{kind}" {value}/>'
        for kind, value in (
            ("float", 'office:value="3"'),
            ("boolean", 'office:boolean-value="true"'),
            ("date", 'office:date-value="2024-02-01"'),
        )
    )
    content = f"""<?xml version="1.0"?><office:document-content
        xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
        xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
        xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>
        <office:spreadsheet><table:table table:name="S"><table:table-row>{row}</table:table-row>
        </table:table></office:spreadsheet></office:body></office:document-content>"""
    file = tmp_path / "a.ods"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    ((number, flag, date),) = cells(file)
    assert number == "3"
    assert flag == "1"
    assert date.startswith("2024-02-01")


def test_two_columns_with_one_name_get_no_role(tmp_path):
    rows = [[*HEADER, "rating"]]
    for row in ROWS:
        rows.append([*row, 9])
    file = book(tmp_path / "a.xlsx", Sheet=rows)
    with pytest.raises(BadInput, match=r"rating \(column 3\), rating \(column 4\)"):
        load_rated(file)
    assert len(load_rated(file, "&rating=rating+(column+3)")) == 12


def test_rounded_ids_never_merge_people(tmp_path):
    """A row with such an id is left out; a table of them is refused with the remedy."""
    rounded = 7.6561198e16
    few = book(tmp_path / "few.xlsx", Sheet=[HEADER, *ROWS, [rounded, 1, 5]])
    ratings = load_rated(few)
    assert len(ratings) == 12
    assert ratings.n_users == 4
    (problem,) = ratings.report.problems
    assert problem.lines == (14,)
    assert problem.is_left_out is True
    rows = [HEADER]
    for user, (_, item, rating) in enumerate(ROWS):
        rows.append([rounded + 16 * user, item, rating])
    every = book(tmp_path / "every.xlsx", Sheet=rows)
    with pytest.raises(BadInput, match="Save the ids as text"):
        load_rated(every)
