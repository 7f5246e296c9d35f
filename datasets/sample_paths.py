"""Documents and images at a path: `docs.txt`, a folder, `news.csv?text=TITLE`, `X.mat?key=fea`."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from dpmf_core.base.arrays import Doubles
from dpmf_core.base.errors import BadInput, quoted
from dpmf_core.data.facts import Facts, value
from dpmf_core.data.ids import canonical_text
from dpmf_core.data.ratings import LAYOUT_IS_PUBLIC
from dpmf_core.data.report import Report, Tally
from dpmf_core.data.samples import (
    NUMBER_IS_PUBLIC,
    PEOPLE_ARE_COUNTED,
    Samples,
    SamplesAndReport,
    is_sparse,
)
from dpmf_datasets.readers import matlab, picture_files, text
from dpmf_datasets.readers.archives import members_of, unpacked
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.table import file_name, report_damage
from dpmf_datasets.readers.tables import open_table
from dpmf_datasets.readers.words import ENGLISH, SHORTEST, WordRules, stop_words

FOLDER = "folder"
ARCHIVES = (".zip", ".tar", ".tgz")  # their sub-folders may be people
# names of files of such documents
LINES = re.compile(r"\.txt(\.(gz|bz2|xz))?$", re.IGNORECASE)
NAMELESS = "no person, row left out"
ANOTHER_ENCODING = (
    "If that is wrong, declare another encoding (after a path, e.g. encoding=cp1251)."
)


@dataclass(frozen=True)
class _Rows:
    """Documents or images as they were read.

    Attributes
    ----------
    people : sequence of str or None
        The name of each row's person by the fact `group`; "" for a row without one. Documents
        without a person are not among the samples, so their words are not kept. Images without a
        person are kept.
    """

    samples: Samples
    report: Report
    people: Sequence[str] | None = None


def samples_at(path: Path, facts: Facts) -> SamplesAndReport:
    """Documents or images at a path.

    Examples are `docs.txt`, a folder, `news.csv?text=TITLE`, `X.mat?key=fea&image=32,32&drop=1025`.
    The fact `group` names the person of each row (`_with_people`).
    """
    if path.suffix.lower() == ".mat":
        rows = _matrix(path, facts)
    elif "text" in facts:
        rows = _column(path, facts)
    elif may_be_lines(path):
        rows = _lines(path, facts)
    else:
        rows = _files(path, facts)
    samples, report = _with_people(path, rows, facts)
    return samples.assuming(NUMBER_IS_PUBLIC), report


def may_be_lines(path: Path) -> bool:
    """Whether a file may have a document on each line, by its name."""
    return path.is_file() and bool(LINES.search(path.name))


def may_be_files(path: Path) -> bool:
    """Whether each file of a folder or archive may be a document or image."""
    return path.is_dir() or path.suffix.lower() in ARCHIVES


def _matrix(path: Path, facts: Facts) -> _Rows:
    samples, report = matlab.samples_of(
        path,
        name=path.name,
        key=value(facts, "key"),
        image=value(facts, "image"),
        drop=value(facts, "drop", ()),
        order=value(facts, "order", "columns"),
        transpose=value(facts, "transpose") == "1",
    )
    if "group" not in facts:
        return _Rows(samples, report)
    with path.open("rb") as stream:
        vector, group = matlab.table(stream, path.name, facts["group"])
    people = _of_vector(vector, path, group)
    if len(people) != len(samples):
        raise BadInput(
            f"'{facts['group']}' of {path.name} names a person for {len(people):,} rows, but"
            f" {len(samples):,} rows were read. One name per row is needed."
        )
    return _Rows(samples, report, people)


def _lines(path: Path, facts: Facts) -> _Rows:
    if "group" in facts:
        raise BadInput(
            f"{path.name} does not name the person of each document. Give a table with a column for"
            " it (text=COLUMN&group=COLUMN), or a folder for each person."
        )
    reader = _reader(facts)
    with report_damage(path), path.open("rb") as stream:
        texts = text.lines(unpacked(stream).read(), reader)
    return _Rows(
        *text.documents(
            texts,
            name=path.name,
            reader=reader,
            rules=_rules(facts),
        )
    )


def _column(path: Path, facts: Facts) -> _Rows:
    """The documents in a column of a table of any kind, and the people in another one."""
    columns = [facts[name] for name in ("text", "group") if name in facts]
    with report_damage(path):
        table = open_table(path, path.name, facts)
        texts, *groups = text.cells(table, columns, path.name)
    people = None
    if groups:
        people = [canonical_text(cell.strip()) for cell in groups[0]]
        texts = list(compress(texts, people))
    samples, report = text.documents(texts, name=path.name, rules=_rules(facts))
    # the text of a document is not an example
    ragged = [replace(problem, example="") for problem in table.problems]
    report = replace(
        report,
        read=report.read + sum(problem.count for problem in ragged),
        problems=(*ragged, *report.problems),
        assumed=(table.layout, *table.read_as(), *report.assumed),
    )
    return _Rows(samples.assuming(LAYOUT_IS_PUBLIC, *table.assumptions), report, people)


def _files(path: Path, facts: Facts) -> _Rows:
    """Images or documents, each of them a file of a folder or archive."""
    if facts.get("group", FOLDER) != FOLDER:
        raise BadInput(
            f"Whose the files of {path.name} are can be read only from their sub-folders:"
            f" group={FOLDER}. Got group={facts['group'][:40]}."
        )
    with members_of(path) as members:
        endings = {Path(name).suffix.lower() for name in members.names}
    if "image" in facts or endings & set(picture_files.PICTURES):
        image = value(facts, "image")
        rows = _Rows(*picture_files.pictures(path, name=path.name, image=image))
        people = folders(rows.samples.titles or ())
    elif ".txt" in endings:
        reader = _reader(facts)
        files = text.files(path, reader)
        people = folders([name for name, _ in files])
        if "group" in facts:
            files = list(compress(files, people))
        names, texts = zip(*files, strict=True)
        rows = _Rows(
            *text.documents(
                texts,
                name=path.name,
                titles=names,
                reader=reader,
                rules=_rules(facts),
            )
        )
    else:
        raise BadInput(
            f"{file_name(path)} holds neither pictures ({', '.join(picture_files.PICTURES)}) nor"
            " text files (.txt). For ratings, name the table itself or use `import`."
        )
    if "group" not in facts:
        return rows
    # another file may be in another folder
    samples = rows.samples.assuming(LAYOUT_IS_PUBLIC)
    return _Rows(samples, rows.report, people)


def _reader(facts: Facts) -> Reader:
    return Reader(value(facts, "encoding"), advice=ANOTHER_ENCODING)


def _rules(facts: Facts) -> WordRules:
    words = stop_words(value(facts, "stop_words", ENGLISH))
    return WordRules(words, value(facts, "shortest", SHORTEST))


# ---- the person of each document or image, who then is the privacy unit --------------------------


def _with_people(path: Path, rows: _Rows, facts: Facts) -> SamplesAndReport:
    """Samples with a person for each row, by the fact `group`.

    A row without a person, which might be anyone's, is left out. `people` declares the number of
    people; otherwise they are counted. Raises BadInput if `group` names fewer than two people.
    """
    samples = rows.samples
    report = rows.report
    if rows.people is None:
        if "people" in facts:
            raise BadInput(
                "people=N declares the number of people the rows belong to, so it needs group=NAME,"
                " the column with the person of each row."
            )
        return samples, report
    group = quoted(facts["group"], 40)
    is_named = np.array([bool(person) for person in rows.people], np.bool_)
    tally = Tally()
    tally.add(NAMELESS, np.flatnonzero(~is_named))
    names, people = np.unique(list(filter(None, rows.people)), return_inverse=True)
    if len(names) < 2:
        raise BadInput(
            f"The rows of {path.name} belong to {len(names) or 'no'} person by {group}. At least 2"
            " people are needed."
        )
    declared = facts.get("people", str(len(names)))
    if not (declared.isdecimal() and int(declared) >= len(names)):
        raise BadInput(
            f"people= must be a whole number of at least {len(names):,}, the number of people in"
            f" the file. Got '{declared[:20]}'."
        )
    n_before = len(samples)
    if n_before > is_named.sum():
        samples = samples.rows(is_named)
    most = int(np.bincount(people).max())
    note = (
        f"{len(names):,} people by {group}, with up to {most:,} of the {report.what[0]} each: all"
        f" of a person's {report.what[0]} are protected together."
    )
    report = replace(
        report,
        read=report.read + len(rows.people) - n_before,
        kept=len(samples),
        n_users=len(samples),
        problems=(*tally.problems("row"), *report.problems),
        assumed=(*report.assumed, note),
    )
    samples = samples.of_people(people, int(declared))
    return samples if "people" in facts else samples.assuming(
        PEOPLE_ARE_COUNTED
    ), report


def _of_vector(values: Any, path: Path, group: str) -> list[str]:
    array = np.asarray(values.toarray() if is_sparse(values) else values)
    if min(array.shape) != 1:
        raise BadInput(
            f"'{group}' of {path.name} has {array.shape[0]:,} x {array.shape[1]:,} entries; a"
            " vector with the person of each row is needed. Name another variable with group=."
        )
    numbers: Doubles = array.ravel().astype(np.float64)
    return [f"{number:.17g}" if np.isfinite(number) else "" for number in numbers]


def folders(names: Sequence[str]) -> list[str]:
    """Each file's first folder below the common one; '' for a file outside these folders."""
    parents = [PurePosixPath(name).parent for name in names]
    if parents:
        depth = len(PurePosixPath(posixpath.commonpath(parents)).parts)
    else:
        depth = 0
    return ["".join(parent.parts[depth : depth + 1]) for parent in parents]
