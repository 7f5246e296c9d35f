"""Private data at a path: `ratings.csv?bounds=1,5`, or documents or images."""

import dataclasses
import io
import posixpath
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

import numpy as np
import numpy.typing as npt

from dpmf_core.base.errors import BadInput
from dpmf_core.data.facts import ITEM_TABLE, RATING_FACTS, SAMPLE_FACTS, TABLE_FACTS, value
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import Report
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, PEOPLE_ARE_COUNTED, Samples, is_sparse
from dpmf_datasets.path_facts import facts_in, path_of, split_path, ways
from dpmf_datasets.readers import databases, matlab, picture_files, text
from dpmf_datasets.readers.archives import fingerprint_of, members_of
from dpmf_datasets.readers.arrow_tables import melted
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.ratings_tables import Advice, after_path, read_table
from dpmf_datasets.readers.table import Table, file_name, report_damage
from dpmf_datasets.readers.tables import open_table, ratings_tables, read_item_table
from dpmf_datasets.registry import SOURCES, source_of

FOLDER = "folder"
TABLES, ARCHIVES = (".csv", ".tsv"), (".zip", ".tar", ".tgz")  # whose sub-folders may be people
Read = tuple[dict[str, str], tuple[Ratings | Samples, Report]]
OF_SAMPLES = set(SAMPLE_FACTS)  # for documents and images only
ANOTHER_ENCODING = (
    "If that is wrong, declare another encoding (after a path, e.g. encoding=cp1251)."
)


def from_a_file(path_and_facts: str) -> Ratings | Samples:
    """Private data at a path, with the fingerprint of their source, or in a database.

    The account of ratings in a database goes by the ratings themselves. Repairs are printed to a
    person at a terminal only: counts follow from private rows, and a log or a notebook's output
    would carry them away.
    """
    path: Path | None = None
    if databases.is_address(path_and_facts):
        facts, (data, report) = _in_database(path_and_facts)
    else:
        path, query = split_path(path_and_facts)
        facts, (data, report) = _at_path(path, query)
    if ITEM_TABLE in facts:
        data, report = _with_item_table(data, report, path_of(facts[ITEM_TABLE]))
    if (report.problems or report.assumed) and sys.stderr.isatty():
        print(report.words, file=sys.stderr)
    return data if path is None else dataclasses.replace(data, origin=fingerprint_of(path))


def _in_database(address_and_facts: str) -> Read:
    """The facts after an address, and the ratings of a table in a database."""
    address, _, query = address_and_facts.partition("?")
    arguments = dict(parse_qsl(query, keep_blank_values=True))
    known_facts = {*RATING_FACTS, *TABLE_FACTS}
    facts = {name: it for name, it in arguments.items() if name in known_facts}
    options = {name: it for name, it in arguments.items() if name not in facts}
    table = databases.read(address, options, facts.get("table"))
    name = facts.get("table", "the database")
    return facts, _ratings_of_table(table, name, facts, after_path(address, arguments))


def _at_path(file: Path, query: str) -> Read:
    """The facts after a path, and the ratings, documents or images there."""
    if not (file.suffix or len(file.parts) > 1 or file.is_file()):
        source_of(str(file))  # neither a path nor an id: the message lists the ids
    if not file.exists():
        raise BadInput(
            f"There is no file {file_name(file)}. Give the path of a ratings table, or one of"
            f" {', '.join(SOURCES)}."
        )
    facts = facts_in(query)
    return facts, (_ratings_within(file, facts) or samples_at(file, facts) or _ratings(file, facts))


def _with_item_table(
    ratings: Ratings | Samples, report: Report, table: Path
) -> tuple[Ratings, Report]:
    """The ratings with a public table of their items, and its report.

    Which items have the rows is read from the ratings.
    """
    if not isinstance(ratings, Ratings):
        raise BadInput(
            f"{ITEM_TABLE} can be used only with ratings; {ratings.name} holds {ratings.unit}s."
            " Leave it out."
        )
    item_table = read_item_table(table, ratings.labels or ())
    assumptions = tuple(dict.fromkeys((*ratings.assumptions, ITEMS_ARE_PUBLIC)))
    return (
        dataclasses.replace(ratings, item_features=item_table.features, assumptions=assumptions),
        dataclasses.replace(
            report, assumed=(*report.assumed, *item_table.sentences(file_name(table)))
        ),
    )


def _ratings_within(path: Path, facts: dict[str, str]) -> tuple[Ratings, Report] | None:
    """The one table of ratings in a folder, archive or text file that could hold documents.

    Raises BadInput if there are several.
    """
    is_text = path.is_file() and path.suffix.lower() == ".txt"
    may_be = is_text or path.is_dir() or path.suffix.lower() in ARCHIVES
    if set(facts) & OF_SAMPLES or not may_be:
        return None
    tables = ratings_tables(path)
    if is_text and (tables or set(facts) & {*RATING_FACTS, *TABLE_FACTS}):
        return _ratings(path, facts)
    if not tables:
        return None
    if len(tables) > 1:
        raise BadInput(
            f"{file_name(path)} holds {len(tables)} tables of ratings:"
            f" {', '.join(map(file_name, tables[:5]))}. Name one of them, with its bounds."
        )
    if "bounds" not in facts:
        raise BadInput(
            f"{file_name(path)} holds a table of ratings, {file_name(tables[0])}. Declare its"
            f" bounds, e.g. '{file_name(path)}?bounds=1,5'; give documents in a separate folder."
        )
    with members_of(path) as members, members.open(tables[0]) as stream:
        return _ratings(path, facts, io.BytesIO(stream.read()))


def _ratings(
    path: Path, facts: dict[str, str], source: BinaryIO | Table | None = None
) -> tuple[Ratings, Report]:
    """The ratings table at a path with its facts. source: the open table."""
    with report_damage(path.name):
        if source is None and databases.is_sqlite(path):
            source = databases.read(f"sqlite:///{path}", {}, facts.get("table"))
        elif "table" in facts:
            raise BadInput(
                f"'table' names a table of a database; {file_name(path)} is not a database. Leave"
                " it out."
            )
        table = open_table(source or path, path.name, facts.get("encoding"), facts.get("sheet"))
    return _ratings_of_table(table, path.name, facts, after_path(str(path), facts))


def _ratings_of_table(
    table: Table, name: str, facts: dict[str, str], advice: Advice
) -> tuple[Ratings, Report]:
    """The ratings of an open table with its facts."""
    options = ways(facts)
    if value(facts, "layout") == "wide":
        table, options["columns"] = melted(table, options["columns"].get("user"), name), {}
    return read_table(table, name=name, advice=advice, **options)


# ---- documents and images ------------------------------------------------------------------------


def samples_at(path: Path, facts: dict[str, str]) -> tuple[Samples, Report] | None:
    """Documents or images at a path; None if it holds neither.

    Examples are `docs.txt`, a folder, `news.csv?text=TITLE`, `X.mat?key=fea&image=32,32&drop=1025`.
    group: names the person of each row (`_with_people`).
    """
    result = _samples(path, facts)
    if result is None:
        if wrong := [fact for fact in ("group", "people") if fact in facts]:
            raise BadInput(
                f"'{wrong[0]}' is for documents and images; {path.name} is read as ratings, which"
                " are always grouped by user. Leave it out."
            )
        return None
    samples, report = _with_people(path, *result, facts)
    return samples.assuming(NUMBER_IS_PUBLIC), report


def _samples(path: Path, facts: dict[str, str]) -> tuple[Samples, Report] | None:
    ending = path.suffix.lower()
    if ending == ".mat":
        return matlab.samples_of(
            path,
            name=path.name,
            key=value(facts, "key"),
            image=value(facts, "image"),
            drop=value(facts, "drop", ()),
            order=value(facts, "order", "columns"),
            transpose=value(facts, "transpose") == "1",
        )
    reader = Reader(value(facts, "encoding"), advice=ANOTHER_ENCODING)
    if "text" in facts:
        texts = text.column(path, facts["text"], reader)
        return text.documents(texts, name=path.name, reader=reader)
    if ending == ".txt":
        return text.documents(text.lines(path, reader), name=path.name, reader=reader)
    if path.is_dir() or ending in (".zip", ".tar", ".tgz"):
        return _samples_in(path, facts, reader)
    return None


def _samples_in(path: Path, facts: dict[str, str], reader: Reader) -> tuple[Samples, Report]:
    with members_of(path) as members:
        endings = {Path(name).suffix.lower() for name in members.names}
    if "image" in facts or endings & set(picture_files.PICTURES):
        return picture_files.pictures(path, name=path.name, image=value(facts, "image"))
    if ".txt" not in endings:
        raise BadInput(
            f"{file_name(path)} holds neither pictures ({', '.join(picture_files.PICTURES)}) nor"
            " text files (.txt). For ratings, name the table itself or use `import`."
        )
    names, texts = zip(*text.files(path, reader), strict=True)
    return text.documents(texts, name=path.name, titles=names, reader=reader)


# ---- the person of each document or image, who then is the privacy unit --------------------------


def _with_people(
    path: Path, samples: Samples, report: Report, facts: dict[str, str]
) -> tuple[Samples, Report]:
    """Samples with a person for each row, by the fact `group`.

    `people` declares the number of people; otherwise they are counted. Raises BadInput if `group`
    cannot be read, names fewer than two people, or leaves a row without one, which might be
    anyone's.
    """
    if "group" not in facts:
        if "people" in facts:
            raise BadInput(
                "people=N declares the number of people the rows belong to, so it needs group=NAME,"
                " the column with the person of each row."
            )
        return samples, report
    labels = _labels(path, samples, facts["group"], facts.get("encoding"))
    if len(labels) != len(samples):
        raise BadInput(
            f"'{facts['group']}' of {path.name} names a person for {len(labels):,} rows, but"
            f" {len(samples):,} rows were read. One name per row is needed."
        )
    if nameless := [place + 1 for place, label in enumerate(labels) if not label]:
        raise BadInput(
            f"'{facts['group']}' of {path.name} names no person for {len(nameless):,} of the rows,"
            f" first row {nameless[0]:,}. A person's rows are protected together, so each row needs"
            " a person: fill in a name, or leave these rows out."
        )
    names, people = np.unique(np.array(labels), return_inverse=True)
    declared = facts.get("people", str(len(names)))
    if not (declared.isdecimal() and int(declared) >= len(names)):
        raise BadInput(
            f"people= must be a whole number of at least {len(names):,}, the number of people in"
            f" the file. Got '{declared[:20]}'."
        )
    if len(names) < 2:
        raise BadInput(
            f"All rows of {path.name} belong to one person by '{facts['group']}'. At least 2 people"
            " are needed."
        )
    most = int(np.bincount(people).max())
    note = (
        f"{len(names):,} people by '{facts['group']}', with up to {most:,} of the {report.what[0]}"
        f" each: all of a person's {report.what[0]} are protected together."
    )
    result = samples.of_people(people, int(declared))
    result = result if "people" in facts else result.assuming(PEOPLE_ARE_COUNTED)
    return result, dataclasses.replace(report, assumed=(*report.assumed, note))


def _labels(path: Path, samples: Samples, group: str, encoding: str | None) -> list[str]:
    """A name for each row; '' if there is none. encoding: of a table, if declared."""
    ending = path.suffix.lower()
    if ending == ".mat":
        return _of_vector(matlab.table(path, group)[0], path, group)
    if ending in TABLES:
        return [cell.strip() for cell in text.column(path, group, Reader(encoding))]
    if not path.is_dir() and ending not in ARCHIVES:
        raise BadInput(
            f"{path.name} does not name the person of each document. Give a table with a column for"
            " it (text=COLUMN&group=COLUMN), or a folder for each person."
        )
    if group != FOLDER:
        raise BadInput(
            f"Whose the files of {path.name} are can be read only from their sub-folders:"
            f" group={FOLDER}. Got group={group[:40]}."
        )
    return folders(samples.titles or ())


def _of_vector(values: Any, path: Path, group: str) -> list[str]:
    array = np.asarray(values.toarray() if is_sparse(values) else values)
    if min(array.shape) != 1:
        raise BadInput(
            f"'{group}' of {path.name} has {array.shape[0]:,} x {array.shape[1]:,} entries; a"
            " vector with the person of each row is needed. Name another variable with group=."
        )
    numbers: npt.NDArray[np.float64] = array.ravel().astype(np.float64)
    return [f"{number:.17g}" if np.isfinite(number) else "" for number in numbers]


def folders(names: Sequence[str]) -> list[str]:
    """Each file's first folder below the common one; '' for a file outside these folders."""
    parents = [PurePosixPath(name).parent for name in names]
    depth = len(PurePosixPath(posixpath.commonpath(parents)).parts) if parents else 0
    return ["".join(parent.parts[depth : depth + 1]) for parent in parents]
