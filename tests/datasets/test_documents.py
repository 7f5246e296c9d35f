"""Documents: words, letters of every script, and encodings."""

import tarfile
import zipfile

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.samples import WORDS_ARE_PUBLIC
from dpmf_datasets.readers import text
from dpmf_datasets.readers.encodings import ENCODING_IS_PUBLIC
from tests.datasets.test_sample_sets import DOCS


def test_words_are_counted_in_reading_order():
    samples, _report = text.documents(DOCS, name="pets")
    assert " ".join(samples.vocabulary) == "barked cat cats chased dog dogs food mat sat"
    np.testing.assert_array_equal(samples.X.toarray()[1], [1, 1, 0, 1, 2, 0, 0, 0, 0])
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
        "id,TITLE\n" + "\n".join(f'{place},"{doc}"' for place, doc in enumerate(DOCS)), "utf-8"
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
    post = "From: someone\nSubject: Re: cats\n\nI agree.\n> quoted words\nCats are fine."
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
    words = {"die", "größe", "naïve", "москва", "київ", "हिन्दी", "भाषा", "été", "snake", "case"}
    assert set(samples.vocabulary) == words
    # größe and été twice: composed, in lower case, without what cannot be seen
    assert samples.X[[0]].sum() == samples.X[[3]].sum() == 4


@pytest.mark.parametrize(
    ("text_", "words", "encodings"),
    [
        (RUSSIAN * 2, CYRILLIC, "koi8-r cp1251 cp866 utf-8 utf-16 utf-16-le utf-8-sig utf-32"),
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
        assert set(samples.vocabulary) >= words and len(samples) == text_.count("\n"), encoding
        assert (ENCODING_IS_PUBLIC in samples.assumptions) == (encoding in GUESSED), encoding


@pytest.mark.parametrize("name", ["klingon", "zlib"])
def test_an_encoding_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(BadInput, match=f"'{name}'"):
        of_lines(tmp_path, b"a", f"?encoding={name}")
