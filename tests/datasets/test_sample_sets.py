"""Documents and images: simulated, from files and archives, and refusals."""

import csv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_datasets import sample_paths, sample_sets
from dpmf_datasets.readers import text
from dpmf_datasets.registry import SOURCES
from dpmf_datasets.simulated.faces import PARTS, drawn_parts
from dpmf_datasets.simulated.news import TOPICS, WORDS

REAL = Path(__file__).parents[3] / "shared/data"


DOCS = [
    "The cat sat on the mat.",
    "A dog chased the cat, and the dog barked.",
    "",
    "Dogs and cats: dog food, cat food.",
]


NAMED_SETS = [
    entry
    for entry in datasets.catalogue()
    if entry.holds != "ratings" and entry.kind == "simulated"
]


def portraits(count=6, side=12):
    """Symmetric pictures (count, side, side), bright above and dark below."""
    rng = np.random.default_rng(0)
    half = rng.random((count, side, side // 2)) * np.linspace(3, 0.2, side)[:, None]
    return np.concatenate([half, half[:, :, ::-1]], axis=2)


def real(name):
    if not (REAL / name).exists():
        pytest.skip(f"{name} is not in {REAL}")
    return REAL / name


@pytest.mark.parametrize("entry", NAMED_SETS, ids=lambda entry: entry.id)
def test_embedded_sets_are_as_declared(entry):
    samples = datasets.load(entry.id)
    assert samples.X.shape == (entry.n_samples, entry.n_features)
    assert (samples.image, samples.name, samples.public, samples.assumptions) == (
        entry.image,
        entry.id,
        True,
        (),
    )
    assert (samples.norms > 0).all()
    assert samples.fingerprint == datasets.load(entry.id).fingerprint


def test_invented_news_has_the_topics_it_says():
    news = datasets.load("news")
    assert news.vocabulary == WORDS
    assert news.parts.shape == (8, len(WORDS))
    assert_allclose(news.parts.sum(axis=1), 1, rtol=1e-5)
    for row, words in zip(news.parts, TOPICS.values(), strict=True):
        assert {WORDS[j] for j in np.flatnonzero(row)} == set(words.split())
    shares = np.asarray(news.X.sum(axis=0)).ravel()
    topical = shares[news.parts.sum(axis=0) > 0].sum() / shares.sum()
    assert abs(topical - 0.6) < 0.06  # two words in five are everybody's
    counts = np.bincount(
        news.texts.ids[news.texts.starts[7] : news.texts.starts[8]],
        minlength=len(WORDS),
    )
    assert_array_equal(counts, news.X[[7]].toarray()[0])


def test_invented_faces_are_sums_of_their_parts():
    faces = datasets.load("faces")
    parts = drawn_parts()
    assert len(parts) == 13
    assert len(PARTS) == 13
    assert_allclose(np.linalg.norm(parts, axis=1), 1)
    residuals = faces.X - (faces.X @ np.linalg.pinv(parts)) @ parts
    assert np.sqrt((residuals**2).mean()) < 0.002 * faces.X.max()


def read_as(name, path):
    """The official files of a set at a path."""
    source = SOURCES[name]
    return source.read(source.entry, path)


def test_what_is_imported_is_what_is_loaded(tmp_path):
    (tmp_path / "g.txt").write_text("\n".join(DOCS), "utf-8")
    datasets.import_("guardian", tmp_path / "g.txt")
    samples = text.documents([doc for doc in DOCS if doc], name="guardian")[0].assuming(
        sample_sets.NUMBER_IS_PUBLIC
    )
    assert datasets.load("guardian").fingerprint == samples.fingerprint
    savemat(
        tmp_path / "faces.mat", {"fea": np.tile(portraits().reshape(6, -1), (1, 1))}
    )
    with pytest.raises(BadInput, match="Images"):
        datasets.import_("yaleb", tmp_path / "faces.mat")


@pytest.mark.slow
def test_the_real_files_have_the_published_figures():
    """Extended Yale B upright, TDT2 without its two extra columns, 20 Newsgroups whole."""
    samples, report = read_as("yaleb", real("yaleb-32x32"))
    assert samples.X.shape == (2414, 1024)
    assert "column by column" in report.words
    face = samples.X.mean(axis=0).reshape(32, 32)
    assert np.abs(face - face[:, ::-1]).mean() < np.abs(face - face[::-1]).mean() / 2
    assert face[8:14].mean() < face[15:22].mean()  # eyes are darker than cheeks
    samples, report = read_as("tdt2", real("tdt2"))
    assert samples.X.shape == (9394, 36771)
    assert "36772, 36773" in report.words
    assert int((samples.X.sum(axis=0) == 0).sum()) == 678
    samples, _ = read_as("20newsgroups", real("20newsgroups/20news-bydate.tar.xz"))
    assert len(samples) == 11_314 + 7_532
    assert samples.titles[0].startswith("alt.atheism: ")


@pytest.mark.parametrize(
    ("name", "key", "count"), [("olivetti", "faces", 400), ("cbcl", "X", 2_429)]
)
@pytest.mark.parametrize("official", [True, False])
def test_official_matrices_hold_pixels_by_samples(tmp_path, name, key, count, official):
    entry = SOURCES[name].entry
    height, width = entry.image or (0, 0)
    half = portraits(count, 2 * height)[:, ::2, : width - width // 2]
    faces = np.concatenate([half, half[:, :, ::-1][:, :, width % 2 :]], axis=2).astype(
        np.float32
    )
    # column by column, as MATLAB stores them
    rows = faces.swapaxes(1, 2).reshape(count, -1)
    savemat(
        tmp_path / "a.mat", {key: rows.T if official else rows}, do_compression=False
    )
    samples, _report = read_as(name, tmp_path / "a.mat")
    assert samples.public
    assert samples.X.shape == (count, height * width)
    assert_allclose(samples.X[7].reshape(height, width), faces[7], rtol=1e-6)


def test_a_matrix_of_ones_own_is_turned_where_it_is_declared(tmp_path):
    faces = portraits(25)
    upright = faces.reshape(25, -1)
    path = tmp_path / "a.mat"
    savemat(path, {"fea": faces.swapaxes(1, 2).reshape(25, -1).T})
    samples, _ = sample_paths.samples_at(path, {})
    # 5 x 5 pixels: the numbers cannot tell
    assert len(samples) == 144
    for facts in ("transpose=1", "image=12,12"):
        assert_allclose(datasets.load(f"{path}?{facts}").X, upright, rtol=1e-6)
    assert len(datasets.load(f"{path}?transpose=0")) == 144
    with pytest.raises(BadInput, match="'transpose'"):
        datasets.load(f"{path}?transpose=yes")
    seven = tmp_path / "b.mat"
    savemat(seven, {"fea": faces[:7].reshape(7, -1).T})
    with pytest.raises(BadInput, match="transpose"):
        datasets.load(str(seven))


HEADLINES = [
    (place, f'Title {place}, of "kind" {kind}', kind)
    for kind in "bmte"
    for place in range(5)
]


HEAD = [
    "ID",
    "TITLE",
    "URL",
    "PUBLISHER",
    "CATEGORY",
    "STORY",
    "HOSTNAME",
    "TIMESTAMP",
]


def headlines_file(folder, separator, header):
    file = folder / "newsCorpora.csv"
    with file.open(
        "w",
        encoding="utf-8",
        newline="",
    ) as out:
        if separator == ",":
            writer = csv.writer(out)
        else:
            writer = csv.writer(
                out,
                delimiter=separator,
                quoting=csv.QUOTE_NONE,
                quotechar=None,
            )
        if header:
            writer.writerow(HEAD)
        for at, title, kind in HEADLINES:
            writer.writerow([at, title, "url", "pub", kind, "story", "host", 1])
    return file


def headlines_archive(file):
    """The official archive, with a file of headlines among others."""
    archive_file = file.parent / "NewsAggregatorDataset.zip"
    with zipfile.ZipFile(archive_file, "w") as archive:
        archive.write(file, "newsCorpora.csv")
        archive.writestr("2pageSessions.csv", "a\tb\n")
        archive.writestr("readme.txt", "about")
    return archive_file


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    ("header", "packed"), [(False, False), (True, False), (False, True)]
)
def test_headlines_in_every_official_form(tmp_path, separator, header, packed):
    file = headlines_file(tmp_path, separator, header)
    if packed:
        file = headlines_archive(file)
    expected = []
    for kind in "bemt":
        titles = [title for _, title, own_kind in HEADLINES if own_kind == kind]
        expected += titles[:3]
    assert text.headlines(file, each=3) == expected
    samples, _ = read_as("uci-news", file)
    assert len(samples) == 20
