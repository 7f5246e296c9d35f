"""Private data at a path: `ratings.csv?bounds=1,5`, or documents or images."""

from dataclasses import replace
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.data.addresses import is_database, path_of, require_known, split
from dpmf_core.data.column_names import Advice
from dpmf_core.data.facts import (
    ITEM_TABLE,
    RATING_FACTS,
    SAMPLE_FACTS,
    TABLE_FACTS,
    Facts,
    value,
)
from dpmf_core.data.rating_bounds import checked_bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Report
from dpmf_core.data.samples import Samples
from dpmf_datasets.readers import databases
from dpmf_datasets.readers.archives import fingerprint_of
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import after_path, read_table
from dpmf_datasets.readers.table import Table, file_name, report_damage, report_size
from dpmf_datasets.readers.tables import open_table, ratings_tables, read_item_table
from dpmf_datasets.readers.wide_tables import as_long
from dpmf_datasets.registry import SOURCES, source_of
from dpmf_datasets.sample_paths import may_be_files, may_be_lines, samples_at

DataAndReport = tuple[Ratings | Samples, Report]


def from_a_file(path_and_facts: str) -> Ratings | Samples:
    """Private data at a path, with the fingerprint of their source, or in a database.

    The account of ratings in a database goes by the ratings themselves.
    """
    path: Path | None = None
    place, facts = split(path_and_facts)
    if is_database(place):
        data, report = _in_database(place, facts)
    else:
        path = path_of(place)
        with report_size(path):
            data, report = read(path, facts)
    if ITEM_TABLE in facts:
        data, report = _with_item_table(data, report, facts)
    data = replace(data, report=report)
    if path is None:
        return data
    return replace(data, origin=fingerprint_of(path))


def _in_database(address: str, declared: Facts) -> DataAndReport:
    """The ratings of a table in a database, from declared facts and options of its driver."""
    known_facts = {*RATING_FACTS, *TABLE_FACTS}
    facts = {name: text for name, text in declared.items() if name in known_facts}
    options = {name: text for name, text in declared.items() if name not in facts}
    table = databases.read(address, options, facts.get("table"))
    name = facts.get("table", "the database")
    return _ratings_of_table(table, name, facts, after_path(address, declared))


def read(file: Path, facts: Facts, advice: Advice | None = None) -> DataAndReport:
    """The ratings, documents or images at a path.

    Parameters
    ----------
    file : Path
        The path.
    facts : dict of str to str
        The declared facts.
    advice : Advice or None
        How to declare more, for messages; by default after the path.

    Returns
    -------
    DataAndReport
        The data, and the report of the reading.
    """
    if not (file.suffix or len(file.parts) > 1 or file.is_file()):
        source_of(str(file))  # neither a path nor an id: the message lists the ids
    if not file.exists():
        raise BadInput(
            f"There is no file {file_name(file)}. Give the path of a ratings table, or one of"
            f" {', '.join(SOURCES)}."
        )
    require_known(facts)
    if not _holds_ratings(file, facts):
        return samples_at(file, facts)
    if wrong := [fact for fact in ("group", "people") if fact in facts]:
        raise BadInput(
            f"'{wrong[0]}' is for documents and images; {file.name} is read as ratings, which are"
            " always grouped by user. Leave it out."
        )
    with report_damage(file.name):
        table = open_table(file, file.name, facts)
    return _ratings_of_table(
        table, file.name, facts, advice or after_path(str(file), facts)
    )


def _with_item_table(
    ratings: Ratings | Samples, report: Report, facts: Facts
) -> tuple[Ratings, Report]:
    """The ratings with a public table of their items, and its report."""
    if not isinstance(ratings, Ratings):
        raise BadInput(
            f"{ITEM_TABLE} can be used only with ratings; {ratings.name} holds {ratings.unit}s."
            " Leave it out."
        )
    path = path_of(facts[ITEM_TABLE])
    encoding = facts.get("item_encoding")
    table = read_item_table(path, ratings.item_ids, encoding=encoding)
    assumed = (*report.assumed, *table.sentences(file_name(path)))
    return ratings.with_items(table), replace(report, assumed=assumed)


def _holds_ratings(path: Path, facts: Facts) -> bool:
    """Whether the file at a path, or in a folder or archive, is read as ratings.

    A file that could also hold documents or images is, if facts of ratings are declared. Raises
    BadInput if there are tables of ratings in a folder or archive and nothing is declared.
    """
    if path.suffix.lower() == ".mat":
        return "bounds" in facts
    if "text" in facts or not (may_be_lines(path) or may_be_files(path)):
        return "text" not in facts
    if facts.keys() & SAMPLE_FACTS.keys():
        return False
    if facts.keys() & {*RATING_FACTS, *TABLE_FACTS}:
        return True
    tables = ratings_tables(path)
    if tables and not may_be_lines(path):
        raise BadInput(
            f"{file_name(path)} holds a table of ratings, {file_name(tables[0])}. Declare its"
            f" bounds, e.g. '{file_name(path)}?bounds=1,5'; give documents in a separate folder."
        )
    return bool(tables)


def _ratings_of_table(
    table: Table, name: str, facts: Facts, advice: Advice
) -> tuple[Ratings, Report]:
    """The ratings of an open table with its facts."""
    declared = Declared.of(facts)
    if value(facts, "layout") == "wide":
        checked_bounds(declared.bounds, name, advice({"bounds": "1,5"}))
        table = as_long(table, declared, name, advice)
        declared = replace(declared, columns={})
    elif declared.leave:
        raise BadInput(
            f"'leave' names columns of a wide table, and {name} is read as one row per rating."
            " Declare layout=wide, or leave it out: other columns are ignored anyway."
        )
    return read_table(
        table,
        name=name,
        declared=declared,
        advice=advice,
    )
