"""Documents: words, letters of every script, and encodings."""

import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.data.samples import WORDS_ARE_PUBLIC, Samples
from dpmf_core.errors import BadInput
from dpmf_datasets import sample_paths
from dpmf_datasets.readers import text
from dpmf_datasets.readers.encodings import ENCODING_IS_PUBLIC, Reader
from tests.datasets.test_sample_sets import DOCS, load_samples

# ---- documents -----------------------------------------------------------------------------------


def test_words_are_counted_in_reading_order() -> None:
    samples, report = text.documents(DOCS, name="pets")
    assert samples.vocabulary == (
        "barked",
        "cat",
        "cats",
        "chased",
        "dog",
        "dogs",
        "food",
        "mat",
        "sat",
    )
    np.testing.assert_array_equal(samples.X.toarray()[1], [1, 1, 0, 1, 2, 0, 0, 0, 0])
    assert samples.texts is not None
    first = samples.texts.ids[: samples.texts.starts[1]]
    assert [samples.vocabulary[j] for j in first] == ["cat", "sat", "mat"]
    assert samples.assumptions == (WORDS_ARE_PUBLIC,)
    assert "1 x document without a word, kept as an empty row (line 3)" in report.words
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
def test_what_has_no_topics_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        text.documents(texts, name="tiny")


def test_documents_come_from_lines_folders_archives_and_columns(tmp_path: Path) -> None:
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
        "id,TITLE\n" + "\n".join(f'{place},"{doc}"' for place, doc in enumerate(DOCS)), "utf-8"
    )
    words = load_samples(str(lines)).vocabulary
    for path in (
        str(folder),
        str(tmp_path / "docs.zip"),
        str(tmp_path / "docs.tar"),
        f"{table}?text=title",
    ):
        samples = load_samples(path)
        assert samples.vocabulary == words
        assert samples.unit == "document"
        assert not samples.public
    with pytest.raises(BadInput, match=r"no column 'body'. Its columns: id, TITLE"):
        datasets.load(f"{table}?text=body")


def test_latin_1_and_a_byte_order_mark_are_read() -> None:
    assert Reader().text("\ufeffcafé".encode()) == "café"
    assert Reader().text("café".encode("latin-1")) == "café"


def test_posts_lose_headers_and_quotations() -> None:
    post = "From: someone\nSubject: Re: cats\n\nI agree.\n> quoted words\nCats are fine."
    texts, subjects = text.posts([("rec.pets/123", post)])
    assert texts == ["I agree.\nCats are fine."]
    assert subjects == ["rec.pets: Re: cats"]


def test_headlines_are_taken_evenly_from_four_categories(tmp_path: Path) -> None:
    rows = [
        f"{place}\theadline {place} of {kind}\turl\tpub\t{kind}\tstory\thost\t1"
        for kind in "bmte"
        for place in range(5)
    ]
    file = tmp_path / "newsCorpora.csv"
    file.write_text("\n".join(rows), "utf-8")
    assert len(text.headlines(file, Reader(), each=3)) == 12
    file.write_text("just text", "utf-8")
    with pytest.raises(BadInput, match=r"Line 1 .* has 1 columns"):
        text.headlines(file, Reader())


# ---- letters and encodings -----------------------------------------------------------------------


RUSSIAN = (
    "Москва отвергла предложение о переговорах.\nПравительство утвердило новый бюджет"
    " страны.\nСборная России выиграла матч чемпионата мира.\n"
)


GERMAN = (
    "Die Größe des Bären überraschte.\nÄpfel und Öl für schöne Mädchen.\nStraße und Fußball über"
    " München\n"
)


CYRILLIC = {"москва", "переговорах", "правительство", "сборная", "чемпионата"}


def of_lines(tmp_path: Path, content: bytes, facts: str = "") -> tuple[Samples, str]:
    (tmp_path / "a.txt").write_bytes(content)
    result = sample_paths.at(
        tmp_path / "a.txt", dict(pair.split("=") for pair in facts.split("&") if pair)
    )
    assert result is not None
    return result[0], result[1].words


def test_words_have_letters_of_every_script(tmp_path: Path) -> None:
    lines = [
        "Die Größe, naïve Grö\u00adße",
        "Москва 2024 и Київ",
        "हिन्दी भाषा km² ½",
        "ÉTE\u0301 étÉ snake_case",
    ]
    samples, _ = of_lines(tmp_path, "\n".join(lines).encode())
    assert samples.vocabulary == tuple(
        sorted(["die", "größe", "naïve", "москва", "київ", "हिन्दी", "भाषा", "été", "snake", "case"])
    )
    # größe and été twice: composed, in lower case, without what cannot be seen
    assert samples.X[[0]].sum() == 4 and samples.X[[3]].sum() == 4


@pytest.mark.parametrize(
    "encoding", ["koi8-r", "cp1251", "cp866", "utf-8", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"]
)
def test_russian_comes_out_right_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    samples, words = of_lines(tmp_path, (RUSSIAN * 2).encode(encoding))
    assert set(samples.vocabulary or ()) >= CYRILLIC
    uncertain = encoding not in ("utf-8", "utf-16", "utf-8-sig", "utf-32")
    assert ("the likeliest encoding. Not so? Declare another encoding" in words) == uncertain
    assert (ENCODING_IS_PUBLIC in samples.assumptions) == uncertain


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_german_keeps_its_letters(tmp_path: Path, encoding: str) -> None:
    samples, _ = of_lines(tmp_path, GERMAN.encode(encoding))
    assert {"größe", "bären", "äpfel", "mädchen", "straße", "fußball", "münchen"} <= set(
        samples.vocabulary or ()
    )


def test_a_dash_of_windows_ends_no_document(tmp_path: Path) -> None:
    """0x85 is an ellipsis there, and a new line to whoever reads it as Latin-1."""
    samples, _ = of_lines(
        tmp_path,
        "première soirée… déjà passée\nles élèves français\nun café fermé\n".encode("cp1252"),
    )
    assert len(samples) == 3 and "passée" in (samples.vocabulary or ())


def test_a_declared_encoding_is_taken(tmp_path: Path) -> None:
    samples, words = of_lines(tmp_path, GERMAN.encode("mac_roman"), "encoding=mac_roman")
    assert (
        "größe" in (samples.vocabulary or ())
        and ENCODING_IS_PUBLIC not in samples.assumptions
        and "likeliest" not in words
    )
    with pytest.raises(BadInput, match="no encoding 'klingon'"):
        of_lines(tmp_path, b"a", "encoding=klingon")
    with pytest.raises(BadInput, match="no encoding 'zlib'"):
        of_lines(tmp_path, b"a", "encoding=zlib")


def test_short_files_tell_their_encoding_together(tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    folder.mkdir()
    words = RUSSIAN.replace(".", "").split()
    for place in range(0, len(words) - 1, 2):
        (folder / f"{place}.txt").write_bytes(" ".join(words[place : place + 2]).encode("koi8-r"))
    samples = load_samples(str(folder))
    assert set(samples.vocabulary or ()) == {word.lower() for word in words if len(word) > 2}
    assert ENCODING_IS_PUBLIC in samples.assumptions


def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    content = GERMAN.encode().replace("ß".encode(), "ß".encode()[:1], 1)
    samples, words = of_lines(tmp_path, content)
    assert "1 x character that cannot be read" in words and "No problem found" not in words
    assert "münchen" in (samples.vocabulary or ())  # the others' letters stay
    _, words = of_lines(
        tmp_path, b"The cat of 9 by 12 is on it\nthe dog sat here\na mouse ran away\n"
    )
    assert (
        "Left out: numbers (2), words of one or two letters (6), English stop words (3). Kept: 6"
        " words." in words
    )


def test_scripts_without_spaces_are_told(tmp_path: Path) -> None:
    _, words = of_lines(tmp_path, "今日は良い天気\n東京都\n大阪府\n".encode())
    assert "3 words of the vocabulary are runs of a script without spaces" in words


def test_published_posts_are_latin_1_as_their_source_reads_them() -> None:
    reader = Reader(otherwise="latin-1")
    assert reader.texts(["Москва".encode("koi8-r"), "café".encode(), b"plain"]) == [
        "Москва".encode("koi8-r").decode("latin-1"),
        "café",
        "plain",
    ]
    assert reader.assumptions == ()
