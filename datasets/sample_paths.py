"""Documents and images at a path: `docs.txt`, a folder, `news.csv?text=TITLE`, `X.mat?key=fea`."""

import dataclasses
import posixpath
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.base.errors import BadInput
from dpmf_core.data.facts import value
from dpmf_core.data.report import Report
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, PEOPLE_ARE_COUNTED, Samples, is_sparse
from dpmf_datasets.readers import matlab, picture_files, text
from dpmf_datasets.readers.archives import members_of
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.table import file_name

FOLDER = "folder"
TABLES, ARCHIVES = (".csv", ".tsv"), (".zip", ".tar", ".tgz")  # whose sub-folders may be people
ANOTHER_ENCODING = (
    "If that is wrong, declare another encoding (after a path, e.g. encoding=cp1251)."
)


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
