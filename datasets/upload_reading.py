"""The child process's reading of an uploaded file.

`look` returns the beginning of a file, and `write` leaves finished arrays, which are all that the
server opens.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import DateOrder, Report
from dpmf_core.data.samples import Samples
from dpmf_datasets import npz_folder, sandbox, table_paths
from dpmf_datasets.readers.archives import fingerprint_of
from dpmf_datasets.readers.dates import parse_dates
from dpmf_datasets.readers.ratings_tables import detect_columns, on_page
from dpmf_datasets.readers.table import (
    MOST_COLUMNS,
    PREVIEW,
    Table,
    file_name,
    report_damage,
)
from dpmf_datasets.readers.tables import (
    open_table,
    parts_of,
    ratings_tables,
    read_item_table,
)

LONGEST_CELL = 200  # letters that a person sees
MOST_PARTS = 200  # members of an archive
MOST_LETTERS = 1_000_000  # of all cells that a person sees


@dataclass(frozen=True)
class Preview:
    """The beginning of a table, for the person who declares what it holds.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, or `column 1` and so on.
    rows : tuple of tuple of str
        The first cells as text, cut short.
    layout : str
        How the columns were found, in a sentence.
    roles : mapping of str to str
        The detected columns, by role.
    dates : mapping of str to DateOrder or None
        The columns with dates such as 03/04/2021, and the order of day and month if some date shows
        it.
    members, sheets : tuple of str
        The tables of an archive or the sheets of a spreadsheet. The first one is read by default.
    problem : str
        Why there is no table, if another member or sheet may hold one.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    layout: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, DateOrder | None] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Written:
    """The description of the arrays that `write` left.

    Attributes
    ----------
    fingerprint : str
        The fingerprint of the file's content.
    report : Report
        The report of the reading.
    shape : mapping of str to value
        The facts of the data set's entry in the catalogue that follow from the arrays.
    """

    fingerprint: str
    report: Report
    shape: Mapping[str, Any]


PREVIEW_AS_JSON = TypeAdapter(Preview)
WRITTEN_AS_JSON = TypeAdapter(Written)


def look(path: str, name: str, facts: dict[str, str]) -> Any:
    """A `Preview` of a table as JSON."""
    file = Path(path)
    with _under_name(file, name), report_damage(name):
        members, sheets = parts_of(file)
        if len(members) > 1:
            of_ratings = ratings_tables(file)
            others = [member for member in members if member not in of_ratings]
            members = (*of_ratings, *others)[:MOST_PARTS]
        try:
            preview = _preview(open_table(file, file.name, facts), name)
        except BadInput as error:
            if len(members) + len(sheets) < 2:
                raise
            preview = Preview(problem=str(error).replace(file.name, file_name(name)))
        preview = replace(preview, members=members, sheets=sheets)
    return PREVIEW_AS_JSON.dump_python(preview, mode="json")


def _preview(table: Table, name: str) -> Preview:
    columns = table.shown_names
    if len(columns) > MOST_COLUMNS:
        raise BadInput(
            f"{name} has {len(columns):,} columns. The limit is {MOST_COLUMNS:,}: leave some out."
        )
    rows: list[tuple[str, ...]] = []
    letters = 0
    for row in table.head[:PREVIEW]:
        cells = tuple(cell[:LONGEST_CELL] for cell in row)
        letters += sum(map(len, cells))
        if letters > MOST_LETTERS:
            break
        rows.append(cells)
    orders: dict[str, DateOrder | None] = {}
    for place, column in enumerate(columns):
        dates = parse_dates(table.sample(place, PREVIEW))
        if dates.signs:
            orders[column] = dates.clear_order
    return Preview(columns, tuple(rows), table.layout, detect_columns(table), orders)


def write(path: str, name: str, facts: dict[str, str], target: str) -> Any:
    """Write the ratings, documents or images in a file as .npz; return `Written` as JSON."""
    file = Path(path)
    with _under_name(file, name), report_damage(name):
        if (
            "bounds" not in facts
            and "text" not in facts
            and (tables := ratings_tables(file))
        ):
            raise BadInput(
                f"{name} holds a table of ratings, {file_name(tables[0])}. Choose Ratings above."
            )
        data, report = table_paths.read(file, facts, on_page)
        if isinstance(data, Samples):
            sandbox.require_at_most("users", len(data), name)
        npz_folder.write(replace(data, name=name), Path(target))
    written = Written(fingerprint_of(file), replace(report, name=name), _shape(data))
    return WRITTEN_AS_JSON.dump_python(written, mode="json")


def _shape(data: Ratings | Samples) -> dict[str, Any]:
    if isinstance(data, Ratings):
        return {
            "n_users": data.n_users,
            "n_items": data.n_items,
            "n_ratings": len(data),
            "bounds": data.bounds,
            "assumptions": data.assumptions,
        }
    shape = data.shape
    return {
        "holds": "documents" if data.unit == "document" else "images",
        "n_samples": shape.n_samples,
        "n_features": shape.n_features,
        "image": data.image,
        "n_components": max(1, min(8, shape.n_samples, shape.n_features)),
        "n_people": data.n_people,
        "assumptions": data.assumptions,
    }


def add_item_table(
    path: str, name: str, ratings_path: str, target: str
) -> dict[str, Any]:
    """Write ratings with the features of their items from a table.

    Returns the columns of the table that are used, and sentences on the other columns.
    """
    ratings = npz_folder.read_file(Path(ratings_path), "your file")
    assert isinstance(ratings, Ratings)
    table = read_item_table(Path(path), ratings.item_ids, name)
    npz_folder.write(ratings.with_items(table), Path(target))
    return {
        "columns": table.features.columns,
        "sentences": table.sentences(file_name(name)),
    }


@contextmanager
def _under_name(file: Path, name: str) -> Iterator[None]:
    """Report errors under the name of the uploaded file."""
    try:
        yield
    except BadInput as error:
        raise BadInput(
            str(error).replace(file.name, file_name(name))
        ) from error.__cause__
