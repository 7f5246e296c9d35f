"""Documents and images: simulated, from files, from archives; and what is said of files that hold neither."""

import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix

import datasets
from datasets import images, sample_sets, text
from datasets.encodings import ENCODING_IS_PUBLIC, Reader
from datasets.faces import PARTS, drawn_parts
from datasets.news import TOPICS, WORDS
from dpmf_core.errors import BadInput
from dpmf_core.samples import WORDS_ARE_PUBLIC, Samples

REAL = Path(__file__).parents[3] / "shared/data"
DOCS = ["The cat sat on the mat.", "A dog chased the cat, and the dog barked.", "", "Dogs and cats: dog food, cat food."]
EMBEDDED = [entry for kind in ("documents", "images") for entry in datasets.samples(kind) if entry.kind == "simulated"]


def loaded(name: str) -> Samples:
    found = datasets.load(name)
    assert isinstance(found, Samples)
    return found


def real(name: str) -> Path:
    if not (REAL / name).exists():
        pytest.skip(f"{name} is not in {REAL}")
    return REAL / name


# ---- embedded ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", EMBEDDED, ids=lambda entry: entry.id)
def test_embedded_sets_are_as_declared(entry: datasets.SampleEntry) -> None:
    samples = loaded(entry.id)
    assert samples.X.shape == (entry.n_samples, entry.n_features)
    assert (samples.image, samples.name, samples.public, samples.assumptions) == (entry.image, entry.id, True, ())
    assert (samples.norms > 0).all()
    assert samples.fingerprint == loaded(entry.id).fingerprint


def test_invented_news_has_the_topics_it_says() -> None:
    news = loaded("news")
    assert news.vocabulary == WORDS
    assert news.parts is not None and news.parts.shape == (8, len(WORDS))
    np.testing.assert_allclose(news.parts.sum(axis=1), 1, rtol=1e-5)
    for row, words in zip(news.parts, TOPICS.values(), strict=True):
        assert {WORDS[j] for j in np.flatnonzero(row)} == set(words.split())
    shares = np.asarray(news.X.sum(axis=0)).ravel()
    topical = shares[news.parts.sum(axis=0) > 0].sum() / shares.sum()
    assert abs(topical - 0.6) < 0.06  # two words in five are everybody's
    assert news.texts is not None
    counted = np.bincount(news.texts.ids[news.texts.starts[7] : news.texts.starts[8]], minlength=len(WORDS))
    np.testing.assert_array_equal(counted, news.X[[7]].toarray()[0])


def test_invented_faces_are_sums_of_their_parts() -> None:
    faces, parts = loaded("faces"), drawn_parts()
    assert len(parts) == len(PARTS) == 13
    np.testing.assert_allclose(np.linalg.norm(parts, axis=1), 1)
    left = faces.X - (faces.X @ np.linalg.pinv(parts)) @ parts
    assert np.sqrt((left**2).mean()) < 0.002 * faces.X.max()


# ---- documents --------------------------------------------------------------------------------------------------------


def test_words_are_counted_in_reading_order() -> None:
    samples, report = text.documents(DOCS, name="pets")
    assert samples.vocabulary == ("barked", "cat", "cats", "chased", "dog", "dogs", "food", "mat", "sat")
    np.testing.assert_array_equal(samples.X.toarray()[1], [1, 1, 0, 1, 2, 0, 0, 0, 0])
    assert samples.texts is not None
    first = samples.texts.ids[: samples.texts.starts[1]]
    assert [samples.vocabulary[j] for j in first] == ["cat", "sat", "mat"]
    assert samples.assumptions == (WORDS_ARE_PUBLIC,)
    assert "1 x document without a word, kept as an empty row (line 3)" in report.words
    assert not samples.public


@pytest.mark.parametrize(
    ("texts", "said"),
    [(["one", "two"], "holds 2 documents"), (["of the"] * 4, "holds no word"), (["apple"] * 4, "holds 1 word of"), ([""] * 3, "holds no word")],
)
def test_what_has_no_topics_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
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
    table.write_text("id,TITLE\n" + "\n".join(f'{place},"{doc}"' for place, doc in enumerate(DOCS)), "utf-8")
    words = loaded(str(lines)).vocabulary
    for path in (str(folder), str(tmp_path / "docs.zip"), str(tmp_path / "docs.tar"), f"{table}?text=title"):
        found = loaded(path)
        assert found.vocabulary == words
        assert found.unit == "document"
        assert not found.public
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
    rows = [f"{place}\theadline {place} of {kind}\turl\tpub\t{kind}\tstory\thost\t1" for kind in "bmte" for place in range(5)]
    file = tmp_path / "newsCorpora.csv"
    file.write_text("\n".join(rows), "utf-8")
    assert len(text.headlines(file, Reader(), each=3)) == 12
    file.write_text("just text", "utf-8")
    with pytest.raises(BadInput, match=r"Line 1 .* has 1 columns"):
        text.headlines(file, Reader())


# ---- images -----------------------------------------------------------------------------------------------------------


def portraits(count: int = 6, side: int = 12) -> np.ndarray:
    """Pictures (count, side, side), alike to the left and to the right, bright above, dark below."""
    rng = np.random.default_rng(0)
    half = rng.random((count, side, side // 2)) * np.linspace(3, 0.2, side)[:, None]
    return np.concatenate([half, half[:, :, ::-1]], axis=2)


@pytest.mark.parametrize("turned", [False, True])
def test_matlab_images_are_put_upright(tmp_path: Path, turned: bool) -> None:
    faces = portraits()
    savemat(tmp_path / "faces.mat", {"fea": (faces.swapaxes(1, 2) if turned else faces).reshape(6, -1), "gnd": np.arange(6)[:, None]})
    samples, report = images.from_matlab(tmp_path / "faces.mat", name="faces", public=True)
    np.testing.assert_allclose(samples.X, faces.reshape(6, -1), rtol=1e-6)
    assert ("put upright" in report.note) == turned
    declared = loaded(str(tmp_path / "faces.mat") + f"?key=fea&order={'columns' if turned else 'lines'}")
    np.testing.assert_allclose(declared.X, samples.X, rtol=1e-6)
    with pytest.raises(BadInput, match="order is how pixels are stored"):
        datasets.load(str(tmp_path / "faces.mat") + "?order=sideways")


def test_how_private_images_are_stored_is_not_read_off_them(tmp_path: Path) -> None:
    """The mean picture would tell, and one image can turn it: everybody's row would change with hers."""
    faces = portraits()
    for place, rows in enumerate((faces, faces.swapaxes(1, 2), np.concatenate([faces[:1] * 0, faces[1:]]))):
        savemat(tmp_path / f"{place}.mat", {"fea": rows.reshape(6, -1)})
    lying, standing, without = (loaded(str(tmp_path / f"{place}.mat")) for place in range(3))
    assert not lying.public
    np.testing.assert_allclose(standing.X, faces.reshape(6, -1), rtol=1e-6)  # as MATLAB stores them
    np.testing.assert_allclose(lying.X, faces.swapaxes(1, 2).reshape(6, -1), rtol=1e-6)
    assert np.array_equal(without.X[1:], lying.X[1:])


def test_images_that_are_no_square_need_their_size(tmp_path: Path) -> None:
    rows = np.concatenate([portraits().reshape(6, -1), np.ones((6, 1))], axis=1)
    savemat(tmp_path / "faces.mat", {"fea": rows})
    path = str(tmp_path / "faces.mat")
    with pytest.raises(BadInput, match="145 columns, which is no square image"):
        datasets.load(path)
    assert loaded(path + "?drop=145").image == (12, 12)
    with pytest.raises(BadInput, match="10 x 10 have 100 pixels"):
        datasets.load(path + "?image=10,10")
    with pytest.raises(BadInput, match="There is no column 146"):
        datasets.load(path + "?drop=146")
    with pytest.raises(BadInput, match="Whole numbers with commas"):
        datasets.load(path + "?image=twelve")


def test_the_wrong_key_names_the_right_ones(tmp_path: Path) -> None:
    savemat(tmp_path / "faces.mat", {"pictures": portraits().reshape(6, -1)})
    path = str(tmp_path / "faces.mat")
    with pytest.raises(BadInput, match=r"no matrix 'fea'. It has pictures \(6 x 144\)"):
        datasets.load(path + "?key=fea")
    assert loaded(path).X.shape == (6, 144)


@pytest.mark.parametrize("content", [b"", b"not matlab", b"MATLAB 5.0 MAT-file" + bytes(200)])
def test_what_is_no_matlab_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "faces.mat").write_bytes(content)
    with pytest.raises(BadInput, match=r"faces\.mat"):
        datasets.load(str(tmp_path / "faces.mat"))


def test_negative_pixels_are_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "faces.mat", {"fea": portraits().reshape(6, -1) - 5})
    with pytest.raises(BadInput, match="must be 0 or more"):
        datasets.load(str(tmp_path / "faces.mat"))


def png(picture: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray((picture / picture.max() * 255).astype(np.uint8)).save(out, "png")
    return out.getvalue()


def test_pictures_come_from_an_archive_and_what_is_none_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "faces.zip", "w") as archive:
        for place, face in enumerate(portraits()):
            archive.writestr(f"faces/{place}.png", png(face))
        archive.writestr("faces/readme.txt", "not a picture")
        archive.writestr("faces/broken.png", png(portraits()[0])[:60])
    samples, report = images.pictures(tmp_path / "faces.zip", name="faces")
    assert samples.X.shape == (6, 144)
    assert samples.image == (12, 12)
    assert "1 x file that is no picture, left out (file 8)" in report.words
    assert "1 x picture that is cut short or damaged, left out (file 7)" in report.words
    assert (report.read, report.kept) == (8, 6)
    assert samples.assumptions == (images.IMAGE_SIZE_IS_PUBLIC,)  # it is that of somebody's picture
    declared = loaded(str(tmp_path / "faces.zip") + "?image=6x6")
    assert declared.X.shape == (6, 36) and declared.assumptions == (sample_sets.NUMBER_IS_PUBLIC,)


def test_an_archive_without_pictures_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "faces.zip", "w") as archive:
        archive.writestr("notes.md", "nothing")
    with pytest.raises(BadInput, match="neither pictures"):
        datasets.load(str(tmp_path / "faces.zip"))


def test_members_outside_the_archive_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "faces.zip", "w") as archive:
        archive.writestr("../../evil.png", png(portraits()[0]))
    with pytest.raises(BadInput, match="outside its own folder"):
        datasets.load(str(tmp_path / "faces.zip"))


# ---- kept, fetched ----------------------------------------------------------------------------------------------------


def test_what_is_imported_is_what_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    (tmp_path / "g.txt").write_text("\n".join(DOCS), "utf-8")
    datasets.import_("guardian", tmp_path / "g.txt")
    made = text.documents([doc for doc in DOCS if doc], name="guardian")[0].assuming(sample_sets.NUMBER_IS_PUBLIC)
    assert loaded("guardian").fingerprint == made.fingerprint
    savemat(tmp_path / "faces.mat", {"fea": np.tile(portraits().reshape(6, -1), (1, 1))})
    with pytest.raises(BadInput, match="Images of 32 x 32 have 1,024 pixels"):
        datasets.import_("yaleb", tmp_path / "faces.mat")


def test_counts_from_matlab_are_documents(tmp_path: Path) -> None:
    savemat(tmp_path / "words.mat", {"fea": csc_matrix(np.eye(5))})
    found = loaded(str(tmp_path / "words.mat"))
    assert found.unit == "document"
    assert (found.vocabulary or ())[0] == "term 1"


def test_a_download_needs_consent_and_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="--accept-licence"):
        datasets.fetch("olivetti", accept_licence=False)

    def offline(folder: str) -> Samples:
        raise OSError("Name or service not known")

    monkeypatch.setitem(sample_sets._FETCHERS, "olivetti", offline)
    with pytest.raises(BadInput, match=r"could not be downloaded .*Name or service not known.*import olivetti"):
        datasets.fetch("olivetti", accept_licence=True)
    assert [file for file in tmp_path.rglob("*") if file.is_file() and file.name != ".lock"] == []


# ---- real -------------------------------------------------------------------------------------------------------------


def test_extended_yale_b_is_upright() -> None:
    samples, report = sample_sets.read(next(e for e in datasets.samples("images") if e.id == "yaleb"), real("yaleb-32x32"))
    assert samples.X.shape == (2414, 1024)
    assert "put upright" in report.note
    face = samples.X.mean(axis=0).reshape(32, 32)
    assert np.abs(face - face[:, ::-1]).mean() < np.abs(face - face[::-1]).mean() / 2
    assert face[8:14].mean() < face[15:22].mean()  # eyes are darker than cheeks


def test_tdt2_loses_its_two_extra_columns() -> None:
    samples, report = sample_sets.read(next(e for e in datasets.samples("documents") if e.id == "tdt2"), real("tdt2"))
    assert samples.X.shape == (9394, 36771)
    assert "Columns 36772, 36773 were left out" in report.note
    assert int((samples.X.sum(axis=0) == 0).sum()) == 678


def test_twenty_newsgroups_come_from_their_archive() -> None:
    samples, report = sample_sets.read(next(e for e in datasets.samples("documents") if e.id == "20newsgroups"), real("20newsgroups/20news-bydate.tar.xz"))
    assert len(samples) == 11_314 + 7_532
    assert samples.titles is not None and samples.titles[0].startswith("alt.atheism: ")
    assert "without a word" in report.words


def test_other_files_under_a_published_name_are_private(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("\n".join(f"secret diary entry about topic{k % 3} and weather" for k in range(5)))
    samples, report = sample_sets.read(datasets.sample_sets.ENTRIES[[it.id for it in sample_sets.ENTRIES].index("guardian")], tmp_path / "mine.txt")
    assert not samples.public
    assert "not the whole of Guardian articles, which has 4,551 documents: it is treated as private data" in report.note


# ---- letters and encodings --------------------------------------------------------------------------------------------

RUSSIAN = "Москва отвергла предложение о переговорах.\nПравительство утвердило новый бюджет страны.\nСборная России выиграла матч чемпионата мира.\n"
GERMAN = "Die Größe des Bären überraschte.\nÄpfel und Öl für schöne Mädchen.\nStraße und Fußball über München\n"
CYRILLIC = {"москва", "переговорах", "правительство", "сборная", "чемпионата"}


def of_lines(tmp_path: Path, content: bytes, facts: str = "") -> tuple[Samples, str]:
    (tmp_path / "a.txt").write_bytes(content)
    found = sample_sets.at(tmp_path / "a.txt", dict(pair.split("=") for pair in facts.split("&") if pair))
    assert found is not None
    return found[0], found[1].words


def test_words_have_letters_of_every_script(tmp_path: Path) -> None:
    lines = ["Die Größe, naïve Grö\u00adße", "Москва 2024 и Київ", "हिन्दी भाषा km² ½", "ÉTE\u0301 étÉ snake_case"]
    samples, _ = of_lines(tmp_path, "\n".join(lines).encode())
    assert samples.vocabulary == tuple(sorted(["die", "größe", "naïve", "москва", "київ", "हिन्दी", "भाषा", "été", "snake", "case"]))
    assert samples.X[[0]].sum() == 4 and samples.X[[3]].sum() == 4  # größe and été twice: composed, in lower case, without what cannot be seen


@pytest.mark.parametrize("encoding", ["koi8-r", "cp1251", "cp866", "utf-8", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
def test_russian_comes_out_right_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    samples, words = of_lines(tmp_path, (RUSSIAN * 2).encode(encoding))
    assert set(samples.vocabulary or ()) >= CYRILLIC
    found = encoding not in ("utf-8", "utf-16", "utf-8-sig", "utf-32")
    assert ("the likeliest encoding. Not so? Declare another encoding" in words) == found
    assert (ENCODING_IS_PUBLIC in samples.assumptions) == found


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_german_keeps_its_letters(tmp_path: Path, encoding: str) -> None:
    samples, _ = of_lines(tmp_path, GERMAN.encode(encoding))
    assert {"größe", "bären", "äpfel", "mädchen", "straße", "fußball", "münchen"} <= set(samples.vocabulary or ())


def test_a_dash_of_windows_ends_no_document(tmp_path: Path) -> None:
    """0x85 is an ellipsis there, and a new line to whoever reads it as Latin-1."""
    samples, _ = of_lines(tmp_path, "première soirée… déjà passée\nles élèves français\nun café fermé\n".encode("cp1252"))
    assert len(samples) == 3 and "passée" in (samples.vocabulary or ())


def test_a_declared_encoding_is_taken(tmp_path: Path) -> None:
    samples, words = of_lines(tmp_path, GERMAN.encode("mac_roman"), "encoding=mac_roman")
    assert "größe" in (samples.vocabulary or ()) and ENCODING_IS_PUBLIC not in samples.assumptions and "likeliest" not in words
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
    samples = loaded(str(folder))
    assert set(samples.vocabulary or ()) == {word.lower() for word in words if len(word) > 2}
    assert ENCODING_IS_PUBLIC in samples.assumptions


def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    broken = GERMAN.encode().replace("ß".encode(), "ß".encode()[:1], 1)
    samples, words = of_lines(tmp_path, broken)
    assert "1 x character that cannot be read" in words and "No problem found" not in words
    assert "münchen" in (samples.vocabulary or ())  # the others' letters stay
    _, words = of_lines(tmp_path, b"The cat of 9 by 12 is on it\nthe dog sat here\na mouse ran away\n")
    assert "Left out: numbers (2), words of one or two letters (6), English stop words (3). Kept: 6 words." in words


def test_scripts_without_spaces_are_told(tmp_path: Path) -> None:
    _, words = of_lines(tmp_path, "今日は良い天気\n東京都\n大阪府\n".encode())
    assert "3 words of the vocabulary are runs of a script without spaces" in words


def test_published_posts_are_latin_1_as_their_source_reads_them() -> None:
    reader = Reader(otherwise="latin-1")
    assert reader.texts(["Москва".encode("koi8-r"), "café".encode(), b"plain"]) == ["Москва".encode("koi8-r").decode("latin-1"), "café", "plain"]
    assert reader.assumptions == ()


# ---- official layouts -------------------------------------------------------------------------------------------------


def entry_of(name: str) -> datasets.SampleEntry:
    return next(entry for entry in sample_sets.ENTRIES if entry.id == name)


@pytest.mark.parametrize(("name", "key", "count"), [("olivetti", "faces", 400), ("cbcl", "X", 2_429)])
@pytest.mark.parametrize("official", [True, False])
def test_official_matrices_hold_pixels_by_samples(tmp_path: Path, name: str, key: str, count: int, official: bool) -> None:
    entry = entry_of(name)
    assert entry.image is not None
    height, width = entry.image
    half = portraits(count, 2 * height)[:, ::2, : width - width // 2]
    faces = np.concatenate([half, half[:, :, ::-1][:, :, width % 2 :]], axis=2).astype(np.float32)
    rows = faces.swapaxes(1, 2).reshape(count, -1)  # column by column, as MATLAB stores them
    savemat(tmp_path / "a.mat", {key: rows.T if official else rows}, do_compression=False)
    samples, report = sample_sets.read(entry, tmp_path / "a.mat")
    assert samples.public and samples.X.shape == (count, height * width)
    np.testing.assert_allclose(samples.X[7].reshape(height, width), faces[7], rtol=1e-6)
    said = f"'{key}' has {height * width:,} rows and {count:,} columns. Its rows are the features, so it was turned"
    assert (said in report.words) == official


def test_a_matrix_of_ones_own_is_turned_where_it_is_declared(tmp_path: Path) -> None:
    faces = portraits(25)
    savemat(tmp_path / "a.mat", {"fea": faces.swapaxes(1, 2).reshape(25, -1).T})
    path = str(tmp_path / "a.mat")
    found, report = sample_sets.at(tmp_path / "a.mat", {}) or (None, None)
    assert found is not None and report is not None and len(found) == 144  # 5 x 5 pixels: the numbers cannot tell
    assert "Each of the 144 rows of 'fea' was taken as an image. If its rows are the pixels, declare it (after a path: transpose=1)." in report.words
    for facts in ("?transpose=1", "?image=12,12"):
        np.testing.assert_allclose(loaded(path + facts).X, faces.reshape(25, -1), rtol=1e-6)
    assert len(loaded(path + "?transpose=0")) == 144
    with pytest.raises(BadInput, match="transpose=1 says"):
        datasets.load(path + "?transpose=yes")
    savemat(tmp_path / "b.mat", {"fea": faces[:7].reshape(7, -1).T})
    with pytest.raises(BadInput, match=r"or that its rows are the pixels \(after a path: .*transpose=1\)"):
        datasets.load(str(tmp_path / "b.mat"))


HEADLINES = [(place, f'Title {place}, of "kind" {kind}', kind) for kind in "bmte" for place in range(5)]


def headlines_file(tmp_path: Path, form: str) -> Path:
    import csv

    rows = [[place, title, "url", "pub", kind, "story", "host", 1] for place, title, kind in HEADLINES]
    head = [["ID", "TITLE", "URL", "PUBLISHER", "CATEGORY", "STORY", "HOSTNAME", "TIMESTAMP"]]
    file = tmp_path / "newsCorpora.csv"
    if "tabs" in form:
        file.write_text("\n".join("\t".join(map(str, row)) for row in (head if "header" in form else []) + rows), "utf-8")
    else:
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows((head if "header" in form else []) + rows)
    if "zip" not in form:
        return file
    with zipfile.ZipFile(tmp_path / "NewsAggregatorDataset.zip", "w") as archive:
        archive.write(file, "newsCorpora.csv")
        archive.writestr("2pageSessions.csv", "a\tb\n")
        archive.writestr("readme.txt", "about")
    return tmp_path / "NewsAggregatorDataset.zip"


@pytest.mark.parametrize("form", ["tabs", "tabs, header", "commas", "commas, header", "commas, header, zip", "tabs, zip"])
def test_headlines_in_every_official_form(tmp_path: Path, form: str) -> None:
    titles = text.headlines(headlines_file(tmp_path, form), Reader(), each=3)
    assert titles == [title for kind in "bemt" for place, title, its in HEADLINES if its == kind and place < 3]
    samples, _ = sample_sets.read(entry_of("uci-news"), headlines_file(tmp_path, form))
    assert len(samples) == 20


def test_a_file_of_other_categories_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\ttitle\turl\tpub\tsport\tstory\thost\t1\n")
    with pytest.raises(BadInput, match=r"No line of a\.csv is of one of the categories b, t, e, m"):
        text.headlines(tmp_path / "a.csv", Reader())
