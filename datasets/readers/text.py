"""Documents from files: one per line, one per file, or a column of a table.

Words are counted and kept in reading order; only stop words are left out.
"""

import csv
import functools
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.data.report import Problem, Report
from dpmf_core.data.samples import WORDS_ARE_PUBLIC, Samples, Texts, samples_report
from dpmf_datasets.readers.archives import members_of
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.table import file_name

SHORTEST = 3  # letters of a word
# invisible characters that may stand inside a word
INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
NEW_LINE = re.compile(r"\r\n|\r|\n")
EMPTY, CUT, NO_LETTER = (
    "document without a word, kept as an empty row",
    "document longer than a million characters, cut off",
    "character that cannot be read",
)
LONGEST = 1_000_000
MOST_BYTES, MOST_DOCUMENTS = 2_000_000_000, 300_000
TEXT_FILES = (".txt", ".text", ".md", "")
SHORT = "words of one or two letters"
KINDS = ("b", "t", "e", "m")  # of headlines: business, technology, entertainment, medicine
HEADLINES = ("newscorpora.csv", "uci-news-aggregator.csv")


@functools.cache
def _token() -> re.Pattern[str]:
    """A run of letters of any script with their marks, or a number."""
    kinds = {chr(code): unicodedata.category(chr(code)) for code in range(0x80, 0x1F000)}
    marks = re.escape("".join(letter for letter, kind in kinds.items() if kind[0] == "M"))
    numbers = "".join(letter for letter, kind in kinds.items() if kind in ("No", "Nl"))
    letter = rf"[^\W\d_{re.escape(numbers)}]"
    return re.compile(rf"{letter}(?:{letter}|[{marks}])*|\d+")


def tokens(text: str) -> list[str]:
    """Words of any script and numbers, in lower case and composed (NFC), in order."""
    if text.isascii():
        return re.findall(r"[a-z]+|\d+", text.lower())
    return _token().findall(unicodedata.normalize("NFC", text.translate(INVISIBLE).lower()))


def documents(
    texts: Sequence[str],
    *,
    name: str,
    titles: Sequence[str] | None = None,
    public: bool = False,
    reader: Reader | None = None,
) -> tuple[Samples, Report]:
    """Count the words of texts.

    Words have three letters or more of any script, in lower case, without English stop words
    (scikit-learn's list). reader: what decoded the texts, for the report. Raises BadInput with
    fewer than three documents, or without two different words.
    """
    from scipy.sparse import csr_array  # needed for documents only

    if not 3 <= len(texts) <= MOST_DOCUMENTS:
        raise BadInput(
            f"{name} holds {len(texts):,} document{'s' * (len(texts) != 1)}. From 3 to"
            f" {MOST_DOCUMENTS:,} can be used."
        )
    reading, left_out = _read(texts)
    if len(reading.words) < 2:
        raise BadInput(
            f"{name} holds {len(reading.words) or 'no'} word{'s' * (len(reading.words) != 1)} of"
            " three letters or more that are not stop words. At least 2 are needed."
        )
    X = csr_array(
        (np.ones(len(reading.ids)), reading.ids, reading.starts),
        shape=(len(texts), len(reading.words)),
    )
    X.sum_duplicates()
    display_titles = tuple(_title(text) for text in texts) if titles is None else tuple(titles)
    assumptions = (WORDS_ARE_PUBLIC, *(() if public or reader is None else reader.assumptions))
    samples = Samples.of(
        X,
        vocabulary=reading.words,
        unit="document",
        name=name,
        public=public,
        titles=display_titles,
        texts=reading,
        assumptions=assumptions,
    )
    return samples, _report(samples, texts, reading, left_out, reader or Reader())


def _read(texts: Sequence[str]) -> tuple[Texts, Counter[str]]:
    """The kept words of each text in order, with a sorted vocabulary; and counts of the others."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    place: dict[str, int] = {}
    ids: list[int] = []
    starts = [0]
    left_out: Counter[str] = Counter()
    for text in texts:
        every_word = tokens(text[:LONGEST])
        numbers = sum(word[0].isdecimal() for word in every_word)
        words = [word for word in every_word if len(word) >= SHORTEST and not word[0].isdecimal()]
        kept_words = [word for word in words if word not in ENGLISH_STOP_WORDS]
        left_out["numbers"] += numbers
        left_out[SHORT] += len(every_word) - numbers - len(words)
        left_out["English stop words"] += len(words) - len(kept_words)
        ids += [place.setdefault(word, len(place)) for word in kept_words]
        starts.append(len(ids))
    order = sorted(place)
    rank = np.empty(len(order), np.int32)
    rank[[place[word] for word in order]] = np.arange(len(order))
    reading = Texts(tuple(order), rank[np.array(ids, np.int64)], np.array(starts, np.int64))
    return reading, left_out


def _report(
    samples: Samples,
    texts: Sequence[str],
    reading: Texts,
    left_out: Counter[str],
    reader: Reader,
) -> Report:
    problems = [Problem(NO_LETTER, reader.n_damaged)] if reader.n_damaged else []
    notes = list(reader.words)
    if removals := [f"{what} ({count:,})" for what, count in left_out.items() if count]:
        notes.append(f"Left out: {', '.join(removals)}. Kept: {len(reading.ids):,} words.")
    for kind, rows in (
        (EMPTY, np.flatnonzero(np.diff(reading.starts) == 0)),
        (CUT, np.flatnonzero([len(text) > LONGEST for text in texts])),
    ):
        if len(rows):
            problems.append(Problem(kind, len(rows), tuple(int(row) + 1 for row in rows[:5])))
    return samples_report(samples, problems=tuple(problems), assumed=tuple(notes))


def _title(text: str) -> str:
    """The first line with a letter or digit, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "(empty)")
    return line if len(line) <= 80 else line[:77] + "..."


def lines(path: Path, reader: Reader) -> list[str]:
    """One document per line, without empty lines."""
    return [line for line in NEW_LINE.split(reader.text(path.read_bytes())) if line.strip()]


def files(path: Path, reader: Reader) -> list[tuple[str, str]]:
    """(name, text) of every text file in a folder or archive, in order of names.

    Nothing is unpacked to disk.
    """
    with members_of(path) as members:
        names = sorted(
            name
            for name in members.names
            if Path(name).suffix.lower() in TEXT_FILES or Path(name).suffix[1:].isdigit()
        )
        read, size = list[bytes](), 0
        for name in names:
            with members.open(name) as stream:
                content = stream.read(MOST_BYTES - size + 1)
            size += len(content)
            if size > MOST_BYTES:
                raise BadInput(
                    f"{file_name(path)} holds more than {MOST_BYTES / 1e9:.0f} GB of text. Use a"
                    " part of it."
                )
            read.append(content)
    if not read:
        raise BadInput(
            f"{file_name(path)} has no text file"
            f" ({', '.join(suffix or 'no ending' for suffix in TEXT_FILES)}). Found:"
            f" {members.some}."
        )
    return list(zip(names, reader.texts(read), strict=True))


def column(path: Path, heading: str, reader: Reader) -> list[str]:
    """The texts of one column of a CSV or TSV file with a header.

    Raises BadInput, which lists the columns.
    """
    text = reader.text(path.read_bytes())
    first = text.partition("\n")[0]
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ",",
    )
    csv.field_size_limit(LONGEST * 10)
    head = [cell.strip() for cell in next(rows, [])]
    place = next((j for j, cell in enumerate(head) if cell.lower() == heading.lower()), None)
    if place is None:
        raise BadInput(
            f"{path.name} has no column '{heading[:40]}'. Its columns:"
            f" {', '.join(cell[:40] for cell in head[:20]) or 'none'}."
        )
    return [row[place] if place < len(row) else "" for row in rows if row]


def posts(named_texts: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """News posts without headers and quotations, and their subjects, as in 20 Newsgroups.

    Each post is a file.
    """
    texts, subjects = [], []
    for name, text in named_texts:
        head, _, body = text.partition("\n\n")
        subject = re.search(r"^Subject:\s*(.+)$", head, re.M)
        group = name.split("/")[-2] if "/" in name else ""
        subjects.append(f"{group}: {subject.group(1).strip()[:80]}" if subject else name)
        texts.append(
            "\n".join(
                line for line in body.splitlines() if not line.lstrip().startswith((">", "|"))
            )
        )
    return texts, subjects


def headlines(path: Path, reader: Reader, each: int = 750) -> list[str]:
    """Titles of the UCI News Aggregator, the first `each` of every category (Saha & Imtiaz 2022).

    Columns: ID, TITLE, URL, PUBLISHER, CATEGORY, STORY, HOSTNAME, TIMESTAMP, with tabs between them
    and no header, or with commas, quotes and a header.
    """
    import pandas as pd  # opening other data does not need it

    with members_of(path) as members:
        names = [
            name for name in members.names if PurePosixPath(name).name.lower() in HEADLINES
        ] or list(members.names)
        if len(names) != 1:
            raise BadInput(
                f"{file_name(path)} has no {' or '.join(HEADLINES)}. Found: {members.some}."
            )
        with members.open(names[0]) as stream:
            text = reader.text(stream.read(MOST_BYTES))
    has_tabs = "\t" in text.partition("\n")[0]
    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep="\t" if has_tabs else ",",
            quoting=csv.QUOTE_NONE if has_tabs else csv.QUOTE_MINIMAL,
            header=None,
            dtype=str,
            keep_default_na=False,
        ).rename(columns=str)
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        table = pd.DataFrame()
    first = [str(cell).strip().lower() for cell in table.iloc[:1].to_numpy().ravel()]
    has_header = {"title", "category"} <= set(first)
    places = (first.index("title"), first.index("category")) if has_header else (1, 4)
    title, kind = map(str, places)
    table = table[table[kind].isin(KINDS)] if kind in table else table[:0]
    if table.empty:
        raise BadInput(
            f"No line of {path.name} has one of the categories {', '.join(KINDS)} of the UCI News"
            " Aggregator in its fifth column of eight, separated by tabs or commas. Give the"
            " original file."
        )
    return list(table.groupby(kind).head(each).sort_values(kind, kind="stable")[title])
