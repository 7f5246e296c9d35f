"""Private data at a path: `ratings.csv?bounds=1,5`, or documents or images."""

import dataclasses
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.data.addresses import is_database, path_of, require_known, split
from dpmf_core.data.facts import ITEM_TABLE, RATING_FACTS, SAMPLE_FACTS, TABLE_FACTS, value
from dpmf_core.data.ratings import Ratings, checked_bounds
from dpmf_core.data.report import Report
from dpmf_core.data.samples import Samples
from dpmf_datasets.readers import databases
from dpmf_datasets.readers.archives import fingerprint_of
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.ratings_tables import Advice, after_path, read_table
from dpmf_datasets.readers.table import Table, file_name, report_damage, report_size
from dpmf_datasets.readers.tables import open_table, ratings_tables, with_item_table
from dpmf_datasets.readers.wide_tables import as_long
from dpmf_datasets.registry import SOURCES, source_of
from dpmf_datasets.sample_paths import is_lines, samples_at

ARCHIVES = (".zip", ".tar", ".tgz")
Read = tuple[Ratings | Samples, Report]
OF_SAMPLES = set(SAMPLE_FACTS)  # for documents and images only


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
    data = dataclasses.replace(data, report=report)
    return data if path is None else dataclasses.replace(data, origin=fingerprint_of(path))


def _in_database(address: str, declared: dict[str, str]) -> Read:
    """The ratings of a table in a database. declared: facts, and options of its driver."""
    known_facts = {*RATING_FACTS, *TABLE_FACTS}
    facts = {name: text for name, text in declared.items() if name in known_facts}
    options = {name: text for name, text in declared.items() if name not in facts}
    table = databases.read(address, options, facts.get("table"))
    name = facts.get("table", "the database")
    return _ratings_of_table(table, name, facts, after_path(address, declared))


def read(file: Path, facts: dict[str, str], advice: Advice | None = None) -> Read:
    """The ratings, documents or images at a path.

    advice: how to declare more, for messages; by default after the path.
    """
    if not (file.suffix or len(file.parts) > 1 or file.is_file()):
        source_of(str(file))  # neither a path nor an id: the message lists the ids
    if not file.exists():
        raise BadInput(
            f"There is no file {file_name(file)}. Give the path of a ratings table, or one of"
            f" {', '.join(SOURCES)}."
        )
    require_known(facts)
    advice = advice or after_path(str(file), facts)
    return (
        _ratings_within(file, facts, advice)
        or samples_at(file, facts)
        or _ratings(file, facts, advice)
    )


def _with_item_table(
    ratings: Ratings | Samples, report: Report, facts: dict[str, str]
) -> tuple[Ratings, Report]:
    """The ratings with a public table of their items, and its report."""
    if not isinstance(ratings, Ratings):
        raise BadInput(
            f"{ITEM_TABLE} can be used only with ratings; {ratings.name} holds {ratings.unit}s."
            " Leave it out."
        )
    path = path_of(facts[ITEM_TABLE])
    encoding = facts.get("item_encoding")
    ratings, sentences = with_item_table(ratings, path, encoding=encoding)
    return ratings, dataclasses.replace(report, assumed=(*report.assumed, *sentences))


def _ratings_within(path: Path, facts: dict[str, str], advice: Advice) -> Read | None:
    """The ratings in a folder, archive, text or MATLAB file, which could also hold samples.

    They are ratings if facts of ratings are declared. Raises BadInput if there are tables of
    ratings and nothing is declared.
    """
    if path.suffix.lower() == ".mat":
        return _ratings(path, facts, advice) if "bounds" in facts else None
    is_text = is_lines(path)
    may_be = is_text or path.is_dir() or path.suffix.lower() in ARCHIVES
    if set(facts) & OF_SAMPLES or not may_be:
        return None
    if (is_text and ratings_tables(path)) or set(facts) & {*RATING_FACTS, *TABLE_FACTS}:
        return _ratings(path, facts, advice)
    if not (tables := ratings_tables(path)):
        return None
    raise BadInput(
        f"{file_name(path)} holds a table of ratings, {file_name(tables[0])}. Declare its bounds,"
        f" e.g. '{file_name(path)}?bounds=1,5'; give documents in a separate folder."
    )


def _ratings(path: Path, facts: dict[str, str], advice: Advice) -> tuple[Ratings, Report]:
    """The ratings table at a path with its facts."""
    with report_damage(path.name):
        if databases.is_sqlite(path):
            table = databases.read(f"sqlite:///{path}", {}, facts.get("table"))
        elif "table" in facts:
            raise BadInput(
                f"'table' names a table of a database; {file_name(path)} is not a database. Leave"
                " it out."
            )
        else:
            table = open_table(path, path.name, facts)
    return _ratings_of_table(table, path.name, facts, advice)


def _ratings_of_table(
    table: Table, name: str, facts: dict[str, str], advice: Advice
) -> tuple[Ratings, Report]:
    """The ratings of an open table with its facts."""
    declared = Declared.of(facts)
    if value(facts, "layout") == "wide":
        checked_bounds(declared.bounds, name, advice({"bounds": "1,5"}))
        table = as_long(table, declared, name, advice)
        declared = dataclasses.replace(declared, columns={})
    return read_table(table, name=name, declared=declared, advice=advice)
