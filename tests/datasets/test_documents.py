"""Documents: words, letters of every script, and encodings."""

import bz2
import gzip
import lzma
import sqlite3
import sys
import tarfile
import types
import zipfile
from collections import Counter

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import LAYOUT_IS_PUBLIC
from dpmf_core.data.samples import WORDS_ARE_PUBLIC
from dpmf_datasets import sandbox
from dpmf_datasets.readers import text, words
from dpmf_datasets.readers.encodings import ENCODING_IS_PUBLIC
from dpmf_datasets.readers.text_tables import QUOTING_IS_PUBLIC
from tests.datasets.test_sample_sets import DOCS


def test_words_are_counted_in_reading_order():
    samples, _report = text.documents(DOCS, name="pets")
    assert (
        " ".join(samples.vocabulary) == "barked cat cats chased dog dogs food mat sat"
    )
    assert_array_equal(samples.X.toarray()[1], [1, 1, 0, 1, 2, 0, 0, 0, 0])
    first = samples.texts.ids[: samples.texts.starts[1]]
    assert [samples.vocabulary[j] for j in first] == ["cat", "sat", "mat"]
    assert samples.assumptions == (WORDS_ARE_PUBLIC,)
    assert not samples.public


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["one", "two"], "holds 2 documents"),
        (["of the"] * 4, "holds no word"),
        (["apple"] * 4, "holds 1 word of"),
        ([""] * 3, "holds no word"),
    ],
)
def test_what_has_no_topics_is_refused(texts, message):
    with pytest.raises(BadInput, match=message):
        text.documents(texts, name="tiny")


def test_documents_come_from_lines_folders_archives_and_columns(tmp_path):
    lines = tmp_path / "docs.txt"
    lines.write_text("\n".join(DOCS), "utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    for place, doc in enumerate(DOCS):
        (folder / f"{place}.txt").write_text(doc, "utf-8")
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    with tarfile.open(tmp_path / "docs.tar", "w") as tar:
        tar.add(folder, "folder")
    table = tmp_path / "news.csv"
    table.write_text(
        "id,TITLE\n" + "\n".join(f'{place},"{doc}"' for place, doc in enumerate(DOCS)),
        "utf-8",
    )
    words = datasets.load(str(lines)).vocabulary
    for path in (
        str(folder),
        str(tmp_path / "docs.zip"),
        str(tmp_path / "docs.tar"),
        f"{table}?text=title",
    ):
        samples = datasets.load(path)
        assert samples.vocabulary == words
        assert samples.unit == "document"
        assert not samples.public
    with pytest.raises(BadInput, match="'body'"):
        datasets.load(f"{table}?text=body")


def test_posts_lose_headers_and_quotations():
    post = (
        "From: someone\nSubject: Re: cats\n\nI agree.\n> quoted words\nCats are fine."
    )
    texts, subjects = text.posts([("rec.pets/123", post)])
    assert texts == ["I agree.\nCats are fine."]
    assert subjects == ["rec.pets: Re: cats"]


RUSSIAN = (
    "Москва отвергла предложение о переговорах.\nПравительство утвердило новый бюджет"
    " страны.\nСборная России выиграла матч чемпионата мира.\n"
)
GERMAN = (
    "Die Größe des Bären überraschte.\nÄpfel und Öl für schöne Mädchen.\nStraße und Fußball über"
    " München\n"
)
FRENCH = "première soirée… déjà passée\nles élèves français\nun café fermé\n"
CYRILLIC = {"москва", "переговорах", "правительство", "сборная", "чемпионата"}
UMLAUTS = {"größe", "bären", "äpfel", "mädchen", "straße", "fußball", "münchen"}
GUESSED = {"koi8-r", "cp1251", "cp866", "utf-16-le", "latin-1", "cp1252"}


def of_lines(tmp_path, content, facts=""):
    (tmp_path / "a.txt").write_bytes(content)
    return datasets.load(f"{tmp_path / 'a.txt'}{facts}")


def test_words_have_letters_of_every_script(tmp_path):
    lines = [
        "Die Größe, naïve Grö\u00adße",
        "Москва 2024 и Київ",
        "हिन्दी भाषा km² ½",
        "ÉTE\u0301 étÉ snake_case",
    ]
    samples = of_lines(tmp_path, "\n".join(lines).encode())
    words = {
        "die",
        "größe",
        "naïve",
        "москва",
        "київ",
        "हिन्दी",
        "भाषा",
        "été",
        "snake",
        "case",
    }
    assert set(samples.vocabulary) == words
    # größe and été twice: composed, in lower case, without what cannot be seen
    assert samples.X[[0]].sum() == 4
    assert samples.X[[3]].sum() == 4


@pytest.mark.parametrize(
    ("text_", "words", "encodings"),
    [
        (
            RUSSIAN * 2,
            CYRILLIC,
            "koi8-r cp1251 cp866 utf-8 utf-16 utf-16-le utf-8-sig utf-32",
        ),
        (GERMAN, UMLAUTS, "latin-1 cp1252 utf-8 mac_roman"),
        # 0x85 is an ellipsis in cp1252, and a new line to whoever reads it as Latin-1
        (FRENCH, {"passée"}, "cp1252"),
    ],
    ids=["Russian", "German", "French"],
)
def test_letters_come_out_right_in_every_encoding(tmp_path, text_, words, encodings):
    for encoding in encodings.split():
        facts = "?encoding=mac_roman" if encoding == "mac_roman" else ""
        samples = of_lines(tmp_path, text_.encode(encoding), facts)
        assert set(samples.vocabulary) >= words, encoding
        assert len(samples) == text_.count("\n"), encoding
        assert (ENCODING_IS_PUBLIC in samples.assumptions) == (encoding in GUESSED), (
            encoding
        )


@pytest.mark.parametrize("name", ["klingon", "zlib"])
def test_an_encoding_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(BadInput, match=f"'{name}'"):
        of_lines(tmp_path, b"a", f"?encoding={name}")


# ---- documents in tables of every kind -----------------------------------------------------------

NOTES = pd.DataFrame(
    {
        "who": ["ana", "bo", "ana", "cem"],
        "Text": ["red lamp", "blue, blue chair", "", "green table"],
    }
)


def to_sqlite(frame, file):
    connection = sqlite3.connect(file)
    frame.to_sql("notes", connection, index=False)
    connection.close()


WRITERS = {
    "a.csv": lambda frame, file: frame.to_csv(file, index=False),
    "a.tsv": lambda frame, file: frame.to_csv(
        file,
        index=False,
        sep="\t",
    ),
    "a.csv.gz": lambda frame, file: frame.to_csv(file, index=False),
    "a.parquet": lambda frame, file: frame.to_parquet(file),
    "a.feather": lambda frame, file: frame.to_feather(file),
    "a.jsonl": lambda frame, file: frame.to_json(
        file,
        orient="records",
        lines=True,
    ),
    "a.json": lambda frame, file: frame.to_json(file, orient="records"),
    "a.xlsx": lambda frame, file: frame.to_excel(file, index=False),
    "a.db": to_sqlite,
}


@pytest.mark.parametrize("name", WRITERS)
def test_documents_are_a_column_of_a_table_of_any_kind(tmp_path, name):
    WRITERS[name](NOTES, tmp_path / name)
    samples = datasets.load(f"{tmp_path / name}?text=text&group=WHO")
    assert samples.vocabulary == ("blue", "chair", "green", "lamp", "red", "table")
    assert samples.X.toarray()[1].tolist() == [2, 1, 0, 0, 0, 0]
    assert len(samples) == 4
    assert not samples.X[[2]].sum()  # a document with an empty cell is an empty row
    assert samples.people.tolist() == [0, 1, 0, 2]


def test_a_quotation_mark_that_does_not_close_takes_no_other_document(tmp_path):
    lines = ["text\tlabel", '"red lamp\tpos', "blue chair\tneg", 'a "green" table\tpos']
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    samples = datasets.load(f"{tmp_path / 'a.tsv'}?text=text")
    assert [row.sum() for row in samples.X.toarray()] == [2, 2, 2]


def test_blanks_between_words_do_not_separate_columns(tmp_path):
    for separator in "\t,;|":
        lines = [f"text{separator}label", *[f"good phone battery{separator}a"] * 30]
        (tmp_path / "a.csv").write_text("\n".join(lines))
        samples = datasets.load(f"{tmp_path / 'a.csv'}?text=text")
        assert samples.X.toarray().tolist() == [[1, 1, 1]] * 30


def test_a_table_may_have_the_documents_alone(tmp_path):
    lines = ["Text", "red, blue lamp", '"green, ""old"" chair"', "a, b, grey table"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    samples = datasets.load(f"{tmp_path / 'a.csv'}?text=text")
    assert samples.X.toarray().sum(axis=1).tolist() == [3, 3, 2]


def test_texts_with_line_breaks_are_declared(tmp_path):
    rows = ["red lamp,a", '"blue\nchair",b', "green table,c", '"grey\n\ncat",d']
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *rows]))
    path = f"{tmp_path / 'a.csv'}?text=text"
    by_line = datasets.load(f"{path}&shortest=1")
    assert "multiline=true" in by_line.report.words
    assert QUOTING_IS_PUBLIC not in by_line.assumptions
    by_mark = datasets.load(f"{path}&multiline=true")
    assert by_mark.X.toarray().sum(axis=1).tolist() == [2, 2, 2, 2]
    assert QUOTING_IS_PUBLIC in by_mark.assumptions


def test_a_column_is_read_under_the_layout_of_the_file(tmp_path):
    (tmp_path / "a.csv").write_text(
        "id,text\n1,red lamp\n2,blue chair\n3,green table\n"
    )
    assert (
        LAYOUT_IS_PUBLIC in datasets.load(f"{tmp_path / 'a.csv'}?text=text").assumptions
    )


def test_a_line_with_another_number_of_columns_is_left_out_and_reported(tmp_path):
    lines = [
        "text,label",
        "red lamp,a",
        "blue,chair,a",
        "green table,b",
        "grey chair,b",
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    samples = datasets.load(f"{tmp_path / 'a.csv'}?text=text")
    assert "blue" not in samples.vocabulary
    assert len(samples) == 3
    assert samples.report.read == 4
    assert (
        "1 x another number of columns, row left out (line 3)" in samples.report.words
    )


def test_a_column_without_a_name_goes_by_its_number(tmp_path):
    (tmp_path / "a.tsv").write_text("1\tred lamp\n2\tblue chair\n3\tgreen table\n")
    samples = datasets.load(f"{tmp_path / 'a.tsv'}?text=2")
    assert len(samples) == 3


PACKED = {gzip: "gz", bz2: "bz2", lzma: "xz"}


@pytest.mark.parametrize("pack", PACKED)
def test_lines_of_a_packed_text_are_documents(tmp_path, pack):
    path = tmp_path / f"a.txt.{PACKED[pack]}"
    path.write_bytes(pack.compress("\n".join(DOCS).encode()))
    (tmp_path / "b.txt").write_text("\n".join(DOCS))
    expected = datasets.load(str(tmp_path / "b.txt"))
    assert datasets.load(str(path)).reading == expected.reading


@pytest.mark.parametrize("pack", PACKED)
def test_a_packed_text_with_a_table_of_ratings_holds_no_documents(tmp_path, pack):
    path = tmp_path / f"a.txt.{PACKED[pack]}"
    rows = [
        f"{user},{item},{1 + (user * item) % 5}"
        for user in range(9)
        for item in range(5)
    ]
    path.write_bytes(pack.compress("\n".join(rows).encode()))
    assert len(datasets.load(f"{path}?bounds=1,5")) == 45
    path.write_bytes(pack.compress("\n".join(["user,item,rating", *rows]).encode()))
    with pytest.raises(BadInput, match="bounds"):
        datasets.load(str(path))


def test_another_document_in_another_encoding_changes_no_document(tmp_path):
    lines = ["café fermé".encode(), "déjà passée".encode(), b"red lamp"]
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    (tmp_path / "b.txt").write_bytes(
        b"\n".join([*lines, *["Größe und Bär".encode("cp1252")] * 9])
    )
    before = datasets.load(str(tmp_path / "a.txt"))
    after = datasets.load(str(tmp_path / "b.txt"))
    for row in range(3):
        words = [
            {samples.vocabulary[j] for j in samples.X[[row]].indices}
            for samples in (before, after)
        ]
        assert words[0] == words[1]


# ---- which words count ---------------------------------------------------------------------------


def test_short_words_are_kept_if_they_are_declared(tmp_path):
    lines = "我 喜欢 这部 电影\n餐厅 面条 好吃\n电影 音乐 很好\n面条 太 咸\n"
    (tmp_path / "zh.txt").write_text(lines, "utf-8")
    with pytest.raises(BadInput, match="shortest=1 keeps them"):
        datasets.load(str(tmp_path / "zh.txt"))
    samples = datasets.load(f"{tmp_path / 'zh.txt'}?shortest=1")
    assert len(samples) == 4
    assert {"我", "电影", "咸"} <= set(samples.vocabulary)
    assert len(datasets.load(f"{tmp_path / 'zh.txt'}?shortest=2").vocabulary) == 8


def test_stop_words_are_declared(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("the red lamp\nund der Tisch\nder red lamp\n")
    (tmp_path / "own.txt").write_text("Tisch\nRED\n")

    def words(stop_words):
        return set(
            datasets.load(f"{tmp_path / 'a.txt'}?stop_words={stop_words}").vocabulary
        )

    monkeypatch.setattr(sandbox, "is_inside", False)  # no upload
    every_word = {"the", "red", "lamp", "und", "der", "tisch"}
    assert words("english") == every_word - {"the"}
    assert words("none") == every_word
    assert words(tmp_path / "own.txt") == every_word - {"red", "tisch"}
    lists = types.ModuleType("stop_words")
    lists.AVAILABLE_LANGUAGES = ["german"]
    lists.get_stop_words = {"german": ["und", "der", "wäre"]}.__getitem__
    monkeypatch.setitem(sys.modules, "stop_words", lists)
    assert words("german") == every_word - {"und", "der"}
    with pytest.raises(BadInput, match=r"no list of stop words 'klingon'.*german"):
        words("klingon")


def test_an_upload_names_no_file_of_the_server(tmp_path, monkeypatch):
    (tmp_path / "own.txt").write_text("red\n")
    monkeypatch.setattr(sandbox, "is_inside", False)
    assert words.stop_words(str(tmp_path / "own.txt")) == {"red"}
    monkeypatch.setattr(sandbox, "is_inside", True)
    with pytest.raises(BadInput, match="no list of stop words"):
        words.stop_words(str(tmp_path / "own.txt"))


def test_an_own_list_that_changes_makes_other_data(tmp_path):
    (tmp_path / "a.txt").write_text("red lamp\nblue chair\nred table\n")
    (tmp_path / "own.txt").write_text("red\n")
    path = f"{tmp_path / 'a.txt'}?stop_words={tmp_path / 'own.txt'}"
    before = datasets.stamp(path)
    (tmp_path / "own.txt").write_text("blue chair\n")
    assert datasets.stamp(path) != before


def test_addresses_names_and_references_are_no_words(tmp_path):
    lines = [
        "See https://t.co/AbCdEf and www.example.org/path?x=spam now",
        "Ask Jane.Doe+news@mail.example.org or @somebody_else today",
        "salt&notes &amp; pepper&#39;s &lt;taste&gt; caf&eacute;",
        "看https://t.co/AbCdEf电影",
    ]
    (tmp_path / "a.txt").write_text("\n".join(lines), "utf-8")
    samples = datasets.load(f"{tmp_path / 'a.txt'}?shortest=1&stop_words=none")
    words = "see and now ask or today salt notes pepper s taste café 看 电影"
    assert set(samples.vocabulary) == set(words.split())
    assert "web addresses (3)" in samples.report.words
    assert "e-mail addresses (1)" in samples.report.words
    assert "@names (1)" in samples.report.words


@pytest.mark.parametrize(
    "run", ["a" * 900_000, "a." * 400_000, "@" * 900_000, "&" * 900_000]
)
def test_a_long_run_of_letters_is_read_in_linear_time(run):
    """In quadratic time it would take hours."""
    left_out = Counter()
    assert set(words.WordRules(frozenset()).words(run, left_out)) <= {"a" * 900_000}
    assert not set(left_out) & set(words.ADDRESSES.values())
