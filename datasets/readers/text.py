"""Documents from files: one per line, one per file, or a column of a table.

Words are counted and kept in reading order; `words.py` says what is left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from dpmf_core.base.errors import BadInput, listing, quoted, shortened
from dpmf_core.base.extras import extra
from dpmf_core.data.report import Problem, Report, Tally
from dpmf_core.data.samples import (
    WORDS_ARE_PUBLIC,
    Samples,
    SamplesAndReport,
    Texts,
    samples_report,
)
from dpmf_datasets.readers.archives import members_of
from dpmf_datasets.readers.encodings import LOOKED_AT, Reader, encoding_of
from dpmf_datasets.readers.table import Table, as_texts, file_name
from dpmf_datasets.readers.words import (
    ENGLISH,
    LONGEST,
    STOP_WORDS,
    WordRules,
    stop_words,
)

NEW_LINE = re.compile(r"\r\n|\r|\n")
BYTES_OF_NEW_LINE = re.compile(NEW_LINE.pattern.encode())
# in which a byte of a new line may be half of another character
WIDE = (
    "utf-16",
    "utf-32",
)
EMPTY = "document without a word, kept as an empty row"
CUT = "document longer than a million characters, cut off"
NO_LETTER = "character that cannot be read"
MOST_BYTES = 2_000_000_000
MOST_DOCUMENTS = 300_000
LONGEST_TITLE = 80  # characters
TEXT_FILES = (".txt", ".text", ".md", "")
# kinds of headlines: business, technology, entertainment, medicine
KINDS = (
    "b",
    "t",
    "e",
    "m",
)
HEADLINES = ("newscorpora.csv", "uci-news-aggregator.csv")


def documents(
    texts: Sequence[str],
    *,
    name: str,
    titles: Sequence[str] | None = None,
    public: bool = False,
    reader: Reader | None = None,
    rules: WordRules | None = None,
) -> SamplesAndReport:
    """Count the words of texts.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    name : str
        The name of the samples.
    titles : sequence of str or None
        The titles of the documents; by default taken from the texts.
    public : bool
        Whether the documents are public.
    reader : Reader or None
        The reader that decoded the texts, for the report.
    rules : WordRules or None
        The words to keep; by default those of published documents.

    Returns
    -------
    samples : Samples
        The word counts, one row per document.
    report : Report
        The report of the reading.

    Raises
    ------
    BadInput
        If there are fewer than three documents, or fewer than two different words.
    """
    from scipy.sparse import csr_array  # needed for documents only

    if not 3 <= len(texts) <= MOST_DOCUMENTS:
        noun = "document" if len(texts) == 1 else "documents"
        raise BadInput(
            f"{name} holds {len(texts):,} {noun}. From 3 to {MOST_DOCUMENTS:,} can be used."
        )
    if rules is None:  # as published documents are counted
        rules = WordRules(stop_words(ENGLISH), keeps_addresses=True)
    reader = reader or Reader()
    reading, left_out = _read(texts, rules)
    if len(reading.words) < 2:
        raise _too_few_words(name, reading.words, rules, left_out)
    X = csr_array(
        (np.ones(len(reading.ids)), reading.ids, reading.starts),
        shape=(len(texts), len(reading.words)),
    )
    X.sum_duplicates()
    samples = Samples.of(
        X,
        vocabulary=reading.words,
        unit="document",
        name=name,
        public=public,
        titles=tuple(titles or map(_title, texts)),
        texts=reading,
        assumptions=(WORDS_ARE_PUBLIC, *(() if public else reader.assumptions)),
    )
    return samples, _report(samples, texts, reading, left_out, reader)


def _read(texts: Sequence[str], rules: WordRules) -> tuple[Texts, Counter[str]]:
    """The kept words of each text in order, with a sorted vocabulary; and counts of the others."""
    place: dict[str, int] = {}
    ids: list[int] = []
    starts = [0]
    left_out: Counter[str] = Counter()
    for text in texts:
        ids += [
            place.setdefault(word, len(place)) for word in rules.words(text, left_out)
        ]
        starts.append(len(ids))
    order = sorted(place)
    rank = np.empty(len(order), np.int32)
    rank[[place[word] for word in order]] = np.arange(len(order))
    reading = Texts(
        tuple(order), rank[np.array(ids, np.int64)], np.array(starts, np.int64)
    )
    return reading, left_out


def _too_few_words(
    name: str, words: Sequence[str], rules: WordRules, left_out: Counter[str]
) -> BadInput:
    """The refusal of documents without two different words, with what would keep more words."""
    count = "1 word" if len(words) == 1 else "no words"
    sentences = [
        f"{name} holds {count} of {rules.shortest} or more letters that are not stop words. At"
        " least 2 are needed."
    ]
    if n_short := left_out[rules.too_short]:
        sentences.append(
            f"{n_short:,} shorter words were left out: shortest=1 keeps them."
        )
    if n_stop_words := left_out[STOP_WORDS]:
        sentences.append(
            f"{n_stop_words:,} stop words were left out: stop_words=none keeps them."
        )
    return BadInput(" ".join(sentences))


def _report(
    samples: Samples,
    texts: Sequence[str],
    reading: Texts,
    left_out: Counter[str],
    reader: Reader,
) -> Report:
    notes = list(reader.words)
    if removals := [f"{what} ({count:,})" for what, count in left_out.items() if count]:
        notes.append(
            f"Left out: {', '.join(removals)}. Kept: {len(reading.ids):,} words."
        )
    tally = Tally()
    tally.add(EMPTY, np.flatnonzero(np.diff(reading.starts) == 0))
    tally.add(CUT, np.flatnonzero([len(text) > LONGEST for text in texts]))
    problems = tally.problems("document")
    if reader.n_damaged:
        problems.insert(0, Problem(NO_LETTER, reader.n_damaged))
    return samples_report(samples, problems=tuple(problems), assumed=tuple(notes))


def _title(text: str) -> str:
    """The first line with a letter or digit, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "(empty)")
    return shortened(line, LONGEST_TITLE)


def lines(content: bytes, reader: Reader) -> list[str]:
    """One document per line, without empty lines.

    A line that is UTF-8 is read as such, whatever the encoding of the others.
    """
    if reader.encoding or encoding_of(content[:LOOKED_AT])[0].startswith(WIDE):
        texts = NEW_LINE.split(reader.text(content))
    else:
        texts = reader.texts(BYTES_OF_NEW_LINE.split(content))
    return [text for text in texts if text.strip()]


def files(path: Path, reader: Reader) -> list[tuple[str, str]]:
    """(name, text) of every text file in a folder or archive, in order of names.

    Nothing is unpacked to disk.
    """
    with members_of(path) as members:
        names = sorted(
            name
            for name in members.names
            if Path(name).suffix.lower() in TEXT_FILES
            or Path(name).suffix[1:].isdigit()
        )
        read: list[bytes] = []
        size = 0
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


def cells(table: Table, columns: Sequence[str], name: str) -> list[list[str]]:
    """The cells of some columns of a table as text, a list for each column.

    Parameters
    ----------
    table : Table
        The table.
    columns : sequence of str
        The columns; see `Table.place_of`.
    name : str
        What messages call the table.

    Returns
    -------
    list of list of str
        The cells, by column.

    Raises
    ------
    BadInput
        If a column is missing; it lists the columns.
    """
    places = []
    for column in columns:
        place = table.place_of(column)
        if place is None:
            names = listing(table.shown_names) or "none"
            raise BadInput(
                f"{name} has no column {quoted(column, 40)}. Its columns: {names}."
            )
        places.append(place)
    texts: list[list[str]] = [[] for _ in columns]
    for batch in table.batches(places):
        for column_texts, part in zip(texts, batch, strict=True):
            column_texts.extend(as_texts(part))
    return texts


def posts(named_texts: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """News posts without headers and quotations, and their subjects, as in 20 Newsgroups.

    Each post is a file.
    """
    texts = []
    subjects = []
    for name, text in named_texts:
        head, _, body = text.partition("\n\n")
        subject = re.search(r"^Subject:\s*(.+)$", head, re.M)
        group = name.split("/")[-2] if "/" in name else ""
        subjects.append(
            f"{group}: {subject.group(1).strip()[:80]}" if subject else name
        )
        texts.append(
            "\n".join(
                line
                for line in body.splitlines()
                if not line.lstrip().startswith((">", "|"))
            )
        )
    return texts, subjects


def headlines(path: Path, each: int = 750) -> list[str]:
    """Titles of the UCI News Aggregator, the first `each` of every category (Saha & Imtiaz 2022).

    Columns: ID, TITLE, URL, PUBLISHER, CATEGORY, STORY, HOSTNAME, TIMESTAMP, with tabs between them
    and no header, or with commas, quotes and a header.
    """
    with extra("files"):
        from dpmf_datasets.readers.tables import is_archive, open_table

    with members_of(path) as members:
        files = [
            name
            for name in members.names
            if PurePosixPath(name).name.lower() in HEADLINES
        ]
    table = open_table(
        path, path.name, {"member": files[0]} if files and is_archive(path) else {}
    )
    if table.names:
        columns = ("TITLE", "CATEGORY")
    else:
        columns = ("2", "5")
    titles: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for title, kind in zip(*cells(table, columns, path.name), strict=True):
        if kind in titles and len(titles[kind]) < each:
            titles[kind].append(title)
    if not any(titles.values()):
        raise BadInput(
            f"No line of {path.name} has one of the categories {', '.join(KINDS)} of the UCI News"
            " Aggregator in its fifth column of eight, separated by tabs or commas. Give the"
            " original file."
        )
    return [title for kind in sorted(KINDS) for title in titles[kind]]
