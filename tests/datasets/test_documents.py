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
from dpmf_datasets.readers.encodings import ENCODING_IS_PUBLIC
from tests.datasets.test_sample_sets import DOCS, load_samples

# ---- documents -----------------------------------------------------------------------------------


def test_words_are_counted_in_reading_order() -> None:
    samples, _report = text.documents(DOCS, name="pets")
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
    assert not samples.public


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
    with pytest.raises(BadInput):
        datasets.load(f"{table}?text=body")


def test_posts_lose_headers_and_quotations() -> None:
    post = "From: someone\nSubject: Re: cats\n\nI agree.\n> quoted words\nCats are fine."
    texts, subjects = text.posts([("rec.pets/123", post)])
    assert texts == ["I agree.\nCats are fine."]
    assert subjects == ["rec.pets: Re: cats"]


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


@pytest.mark.parametrize(
    "encoding", ["koi8-r", "cp1251", "cp866", "utf-8", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"]
)
def test_russian_comes_out_right_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    samples, words = of_lines(tmp_path, (RUSSIAN * 2).encode(encoding))
    assert set(samples.vocabulary or ()) >= CYRILLIC
    uncertain = encoding not in ("utf-8", "utf-16", "utf-8-sig", "utf-32")
    assert ("the likeliest encoding. Not so? Declare another encoding" in words) == uncertain
    assert (ENCODING_IS_PUBLIC in samples.assumptions) == uncertain


def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    content = GERMAN.encode().replace("ß".encode(), "ß".encode()[:1], 1)
    samples, words = of_lines(tmp_path, content)
    assert "No problem found" not in words
    assert "münchen" in (samples.vocabulary or ())  # the others' letters stay
    _, words = of_lines(
        tmp_path, b"The cat of 9 by 12 is on it\nthe dog sat here\na mouse ran away\n"
    )
