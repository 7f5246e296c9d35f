"""Documents from files: a line each, a file each, or a column of a table; word counts in reading order, nothing left out but stop words."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from datasets.archives import opened
from datasets.report import Problem, Report
from dpmf_core.errors import BadInput
from dpmf_core.samples import VOCABULARY_IS_PUBLIC, Samples, Texts

WORD = re.compile(r"[a-z]{3,}")
EMPTY, CUT = "document without a word, kept as an empty row", "document longer than a million characters, cut off"
LONGEST = 1_000_000
MOST_BYTES, MOST_DOCUMENTS = 2_000_000_000, 300_000
TEXT_FILES = (".txt", ".text", ".md", "")


def documents(texts: Sequence[str], *, name: str, titles: Sequence[str] | None = None, public: bool = False) -> tuple[Samples, Report]:
    """Word counts of texts. Words: three letters or more, lower case, without accents or English stop words (scikit-learn's list).

    Raises BadInput with fewer than three documents, or without two different words.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, strip_accents_unicode

    if len(texts) > MOST_DOCUMENTS:
        raise BadInput(f"{name} holds {len(texts):,} documents; at most {MOST_DOCUMENTS:,} are read. Take a part of it.")
    if len(texts) < 3:
        raise BadInput(f"{name} holds {len(texts)} document{'s' * (len(texts) != 1)}. Topics are what documents share: at least 3 are needed.")
    place: dict[str, int] = {}
    ids: list[int] = []
    starts = [0]
    for text in texts:
        words = WORD.findall(strip_accents_unicode(text[:LONGEST]).lower())
        ids += [place.setdefault(word, len(place)) for word in words if word not in ENGLISH_STOP_WORDS]
        starts.append(len(ids))
    if len(place) < 2:
        raise BadInput(f"{name} holds {len(place) or 'no'} word{'s' * (len(place) != 1)} of three letters or more besides stop words. At least 2 are needed.")
    order = sorted(place)
    rank = np.empty(len(order), np.int32)
    rank[[place[word] for word in order]] = np.arange(len(order))
    reading = Texts(tuple(order), rank[np.array(ids, np.int64)], np.array(starts, np.int64))
    X = csr_array((np.ones(len(ids)), reading.ids, reading.starts), shape=(len(texts), len(order)))
    X.sum_duplicates()
    shown = tuple(_title(text) for text in texts) if titles is None else tuple(titles)
    samples = Samples.of(
        X, vocabulary=reading.words, unit="document", name=name, public=public, titles=shown, texts=reading, assumptions=(VOCABULARY_IS_PUBLIC,)
    )  # fmt: skip
    return samples, _report(name, texts, reading)


def _report(name: str, texts: Sequence[str], reading: Texts) -> Report:
    problems = []
    for kind, rows in ((EMPTY, np.flatnonzero(np.diff(reading.starts) == 0)), (CUT, np.flatnonzero([len(text) > LONGEST for text in texts]))):
        if len(rows):
            problems.append(Problem(kind, len(rows), tuple(int(row) + 1 for row in rows[:5])))
    return Report(
        name=name, read=len(texts), kept=len(texts), n_users=len(texts), n_items=len(reading.words), problems=tuple(problems), what=("documents", "words")
    )


def _title(text: str) -> str:
    """The first line that says something, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "(empty)")
    return line if len(line) <= 80 else line[:77] + "..."


def decoded(content: bytes) -> str:
    """UTF-8, or Latin-1 where it is none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def lines(path: Path) -> list[str]:
    """A document a line; empty lines are left out."""
    return [line for line in decoded(path.read_bytes()).splitlines() if line.strip()]


def files(path: Path) -> list[tuple[str, str]]:
    """(name, text) of every text file in a folder or archive, in the order of their names; nothing is unpacked to disk."""
    with opened(path) as members:
        found = sorted(name for name in members.names if Path(name).suffix.lower() in TEXT_FILES or Path(name).suffix[1:].isdigit())
        read, size = [], 0
        for name in (name for name in found if not Path(name).name.startswith(".")):
            with members.open(name) as stream:
                content = stream.read(MOST_BYTES - size + 1)
            size += len(content)
            if size > MOST_BYTES:
                raise BadInput(f"{path} holds more than {MOST_BYTES / 1e9:.0f} GB of text. Take a part of it.")
            read.append((name, decoded(content)))
    if not read:
        raise BadInput(
            f"{path} has no text file ({', '.join(suffix or 'no ending' for suffix in TEXT_FILES)}). Found: {', '.join(members.names[:5]) or 'nothing'}."
        )
    return read


def column(path: Path, wanted: str) -> list[str]:
    """The texts of one column of a CSV or TSV file with a header. Raises BadInput naming the columns there are."""
    text = decoded(path.read_bytes())
    first = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ",")
    csv.field_size_limit(LONGEST * 10)
    head = [cell.strip() for cell in next(rows, [])]
    place = next((j for j, cell in enumerate(head) if cell.lower() == wanted.lower()), None)
    if place is None:
        raise BadInput(f"{path.name} has no column '{wanted[:40]}'. Its columns: {', '.join(cell[:40] for cell in head[:20]) or 'none'}.")
    return [row[place] if place < len(row) else "" for row in rows if row]


def posts(found: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """News posts without their headers and quotations, and their subjects: one file each, as in 20 Newsgroups."""
    texts, subjects = [], []
    for name, text in found:
        head, _, body = text.partition("\n\n")
        subject = re.search(r"^Subject:\s*(.+)$", head, re.M)
        group = name.split("/")[-2] if "/" in name else ""
        subjects.append(f"{group}: {subject.group(1).strip()[:80]}" if subject else name)
        texts.append("\n".join(line for line in body.splitlines() if not line.lstrip().startswith((">", "|"))))
    return texts, subjects


def headlines(path: Path, each: int = 750) -> list[str]:
    """Titles of the UCI News Aggregator, the first `each` of every category (Saha & Imtiaz 2022): ID, TITLE, URL, PUBLISHER, CATEGORY, ..., with tabs."""
    taken: dict[str, list[str]] = {}
    for number, line in enumerate(decoded(path.read_bytes()).splitlines(), 1):
        cells = line.split("\t")
        if len(cells) < 5:
            raise BadInput(f"Line {number:,} of {path.name} has {len(cells)} columns; the UCI News Aggregator has 8, with tabs between them.")
        if cells[4] in ("b", "t", "e", "m") and len(some := taken.setdefault(cells[4], [])) < each:
            some.append(cells[1])
    return [title for category in sorted(taken) for title in taken[category]]
