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
from datasets.faces import PARTS, drawn_parts
from datasets.news import TOPICS, WORDS
from dpmf_core.errors import BadInput
from dpmf_core.samples import VOCABULARY_IS_PUBLIC, Samples

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
    assert samples.assumptions == (VOCABULARY_IS_PUBLIC,)
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
    assert text.decoded("\ufeffcafé".encode()) == "café"
    assert text.decoded("café".encode("latin-1")) == "café"


def test_posts_lose_headers_and_quotations() -> None:
    post = "From: someone\nSubject: Re: cats\n\nI agree.\n> quoted words\nCats are fine."
    texts, subjects = text.posts([("rec.pets/123", post)])
    assert texts == ["I agree.\nCats are fine."]
    assert subjects == ["rec.pets: Re: cats"]


def test_headlines_are_taken_evenly_from_four_categories(tmp_path: Path) -> None:
    rows = [f"{place}\theadline {place} of {kind}\turl\tpub\t{kind}\tstory\thost\t1" for kind in "bmte" for place in range(5)]
    file = tmp_path / "newsCorpora.csv"
    file.write_text("\n".join(rows), "utf-8")
    assert len(text.headlines(file, each=3)) == 12
    file.write_text("just text", "utf-8")
    with pytest.raises(BadInput, match=r"Line 1 .* has 1 columns"):
        text.headlines(file)


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
    assert "2 x file that is no picture, left out" in report.words
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
    assert list(tmp_path.iterdir()) == []


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
