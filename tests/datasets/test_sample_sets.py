"""Documents and images: simulated, from files, from archives; and what is said of files that
hold neither.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import dpmf_datasets as datasets
from dpmf_core.data.samples import Samples
from dpmf_core.errors import BadInput
from dpmf_datasets import sample_sets
from dpmf_datasets.readers import text
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
    for kind in ("documents", "images")
    for entry in datasets.samples(kind)
    if entry.kind == "simulated"
]


def portraits(count: int = 6, side: int = 12) -> np.ndarray:
    """Pictures (count, side, side), alike to the left and to the right, bright above, dark
    below.
    """
    rng = np.random.default_rng(0)
    half = rng.random((count, side, side // 2)) * np.linspace(3, 0.2, side)[:, None]
    return np.concatenate([half, half[:, :, ::-1]], axis=2)


def load_samples(name: str) -> Samples:
    samples = datasets.load(name)
    assert isinstance(samples, Samples)
    return samples


def real(name: str) -> Path:
    if not (REAL / name).exists():
        pytest.skip(f"{name} is not in {REAL}")
    return REAL / name


# ---- embedded ------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", NAMED_SETS, ids=lambda entry: entry.id)
def test_embedded_sets_are_as_declared(entry: datasets.SampleEntry) -> None:
    samples = load_samples(entry.id)
    assert samples.X.shape == (entry.n_samples, entry.n_features)
    assert (samples.image, samples.name, samples.public, samples.assumptions) == (
        entry.image,
        entry.id,
        True,
        (),
    )
    assert (samples.norms > 0).all()
    assert samples.fingerprint == load_samples(entry.id).fingerprint


def test_invented_news_has_the_topics_it_says() -> None:
    news = load_samples("news")
    assert news.vocabulary == WORDS
    assert news.parts is not None and news.parts.shape == (8, len(WORDS))
    np.testing.assert_allclose(news.parts.sum(axis=1), 1, rtol=1e-5)
    for row, words in zip(news.parts, TOPICS.values(), strict=True):
        assert {WORDS[j] for j in np.flatnonzero(row)} == set(words.split())
    shares = np.asarray(news.X.sum(axis=0)).ravel()
    topical = shares[news.parts.sum(axis=0) > 0].sum() / shares.sum()
    assert abs(topical - 0.6) < 0.06  # two words in five are everybody's
    assert news.texts is not None
    counts = np.bincount(
        news.texts.ids[news.texts.starts[7] : news.texts.starts[8]], minlength=len(WORDS)
    )
    np.testing.assert_array_equal(counts, news.X[[7]].toarray()[0])


def test_invented_faces_are_sums_of_their_parts() -> None:
    faces, parts = load_samples("faces"), drawn_parts()
    assert len(parts) == len(PARTS) == 13
    np.testing.assert_allclose(np.linalg.norm(parts, axis=1), 1)
    residuals = faces.X - (faces.X @ np.linalg.pinv(parts)) @ parts
    assert np.sqrt((residuals**2).mean()) < 0.002 * faces.X.max()


# ---- kept, fetched -------------------------------------------------------------------------------


def test_what_is_imported_is_what_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    (tmp_path / "g.txt").write_text("\n".join(DOCS), "utf-8")
    datasets.import_("guardian", tmp_path / "g.txt")
    samples = text.documents([doc for doc in DOCS if doc], name="guardian")[0].assuming(
        sample_sets.NUMBER_IS_PUBLIC
    )
    assert load_samples("guardian").fingerprint == samples.fingerprint
    savemat(tmp_path / "faces.mat", {"fea": np.tile(portraits().reshape(6, -1), (1, 1))})
    with pytest.raises(BadInput, match="Images of 32 x 32 have 1,024 pixels"):
        datasets.import_("yaleb", tmp_path / "faces.mat")


# ---- real ----------------------------------------------------------------------------------------


def test_other_files_under_a_published_name_are_private(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(
        "\n".join(f"secret diary entry about topic{k % 3} and weather" for k in range(5))
    )
    samples, _report = sample_sets.read(
        datasets.sample_sets.ENTRIES[[it.id for it in sample_sets.ENTRIES].index("guardian")],
        tmp_path / "mine.txt",
    )
    assert not samples.public


# ---- official layouts ----------------------------------------------------------------------------


def entry_of(name: str) -> datasets.SampleEntry:
    return next(entry for entry in sample_sets.ENTRIES if entry.id == name)


@pytest.mark.parametrize(
    ("name", "key", "count"), [("olivetti", "faces", 400), ("cbcl", "X", 2_429)]
)
@pytest.mark.parametrize("official", [True, False])
def test_official_matrices_hold_pixels_by_samples(
    tmp_path: Path, name: str, key: str, count: int, official: bool
) -> None:
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
    message = (
        f"'{key}' has {height * width:,} rows and {count:,} columns. Its rows are the features, so"
        " it was turned"
    )
    assert (message in report.words) == official
