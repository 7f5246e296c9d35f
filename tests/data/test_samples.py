"""Documents and images before they are factorised: checked, chosen, weighted, contaminated."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from dpmf_core.base.errors import BadInput
from dpmf_core.data.preparation import Preparation, contaminated, prepared
from dpmf_core.data.samples import (
    VOCABULARY_IS_PUBLIC,
    WEIGHTS_ARE_PUBLIC,
    WORDS_ARE_PUBLIC,
    Samples,
    of_ratings,
)
from dpmf_core.evaluation.coherence import word_vectors
from dpmf_core.testing import rating_worlds
from dpmf_core.testing.sample_worlds import of, table
from dpmf_datasets.readers.text import documents as documents_of

COUNTS = np.array(
    [
        [2.0, 0, 1, 0],
        [0, 3, 0, 0],
        [1, 1, 1, 0],
        [0, 0, 0, 0],
    ]
)
WORDS = ("apple", "bread", "cheese", "dill")


def documents(counts=COUNTS, **facts):
    return Samples.of(csr_array(counts), vocabulary=WORDS, unit="document", **facts)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (-1.0, "column"),
        (np.nan, "finite.*row 3, column 2"),
        (np.inf, "finite"),
    ],
)
def test_what_cannot_be_a_part_is_named(sparse, bad, words):
    X = COUNTS.copy()
    X[2, 1] = bad
    with pytest.raises(BadInput, match=words):
        Samples.of(csr_array(X) if sparse else X)


def test_the_fingerprint_sees_every_cell_word_and_declared_fact():
    one = documents()
    other = COUNTS.copy()
    other[0, 0] = 2.5
    assert one.fingerprint == documents().fingerprint
    different = [
        documents(other),
        replace(one, vocabulary=("x", *WORDS[1:])),
        replace(one, public=True),
        one.assuming("something"),
        one.rows(np.arange(3)),
    ]
    fingerprints = {samples.fingerprint for samples in different}
    assert len({one.fingerprint, *fingerprints}) == 6


def test_weights_are_scikit_learns():
    samples = prepared(documents(), Preparation())
    weights = TfidfTransformer(norm=None).fit_transform(COUNTS)
    expected = weights.toarray()
    assert_allclose(samples.X.toarray(), expected, rtol=1e-6)
    assert samples.assumptions == (WEIGHTS_ARE_PUBLIC,)


def test_word_shares_look_at_one_document_alone():
    shares = prepared(documents(), Preparation(weighting="tf"))
    expected = [2 / 3, 0, 1 / 3, 0]
    assert_allclose(shares.X.toarray()[0], expected, rtol=1e-6)
    assert shares.assumptions == ()
    first_alone = COUNTS * np.array([[1], [0], [0], [0]])
    alone = prepared(documents(first_alone), Preparation(weighting="tf"))
    assert_array_equal(shares.X.toarray()[0], alone.X.toarray()[0])


def test_a_hashed_vocabulary_needs_no_public_words():
    samples = prepared(
        documents(assumptions=(WORDS_ARE_PUBLIC,)),
        Preparation(hashed=2, weighting="none"),
    )
    assert samples.X.shape == (4, 2)
    assert samples.assumptions == ()
    expected = COUNTS.sum(axis=1)
    assert_allclose(samples.X.sum(axis=1), expected)
    # words of private documents name nothing
    assert samples.vocabulary == (
        "bucket 1",
        "bucket 2",
    )
    assert "/" in "".join(
        prepared(
            documents(public=True), Preparation(hashed=2, weighting="none")
        ).vocabulary
        or ()
    )


@pytest.mark.parametrize(
    ("how", "vocabulary"),
    [
        (Preparation(min_df=2, weighting="none"), ("apple", "bread", "cheese")),
        (Preparation(most_words=2, weighting="none"), ("apple", "bread")),
    ],
)
def test_words_chosen_by_exact_counts_are_assumed_public(how, vocabulary):
    samples = prepared(documents(), how)
    assert samples.vocabulary == vocabulary
    assert samples.assumptions == (VOCABULARY_IS_PUBLIC,)


def test_fewer_samples_are_drawn_by_their_place_alone():
    few = prepared(of(table(1), images=True), Preparation(most_samples=7))
    others = prepared(of(table(2), images=True), Preparation(most_samples=7))
    assert len(few) == 7
    assert len(others) == 7
    one = table(1).astype(np.float32)
    other = table(2).astype(np.float32)
    for row, theirs in zip(few.X, others.X, strict=True):
        if row.any():
            places = np.flatnonzero((one == row).all(axis=1))
            assert np.array_equal(other[places[0]], theirs)


def test_contamination_is_the_sources():
    """A tenth of the rows, 70% of their cells, uniform in [-1, 1] after scaling, cut at 0."""
    rng = np.random.default_rng(0)
    clean = Samples.of(5 * rng.random((3000, 40)), image=(5, 8), unit="image")
    dirty = contaminated(clean, 0.1, 0.7)
    assert_allclose(dirty.clean.max(axis=1), 1, rtol=1e-6)
    is_outlier = dirty.X != dirty.clean
    hit = is_outlier.any(axis=1)
    assert abs(hit.mean() - 0.1) < 0.02
    assert abs(is_outlier[hit].mean() - 0.7) < 0.02
    is_planted = is_outlier & (dirty.X > 0)
    outliers = (dirty.X - dirty.clean)[is_planted]
    assert -1 <= outliers.min()
    assert outliers.max() <= 1
    assert (dirty.X >= 0).all()
    first = np.flatnonzero(hit)[0]
    is_first = np.arange(3000)[:, None] == first
    only = np.where(is_first, clean.X, 0)
    alone = contaminated(Samples.of(only, image=(5, 8)), 0.1, 0.7)
    assert_array_equal(alone.X[first], dirty.X[first])


def test_ratings_become_rows_with_zeros():
    ratings = rating_worlds.world()
    rows = of_ratings(ratings)
    assert rows.X.shape == (rating_worlds.N_USERS, rating_worlds.N_ITEMS)
    values = rows.X.toarray()[ratings.users, ratings.items]
    assert_array_equal(values, ratings.values)
    expected = float(ratings.values.sum())
    assert rows.X.sum() == pytest.approx(expected, rel=1e-6)
    with pytest.raises(BadInput, match="-5"):
        of_ratings(rating_worlds.world(bounds=(-5.0, 5.0)))


@pytest.mark.parametrize("limit", [{"min_df": 2}, {"max_df": 0.9}])
def test_a_limit_on_words_is_told_whatever_it_drops(limit):
    """That it drops nothing is read off the documents too."""
    counts = np.array(
        [
            [1.0, 1, 0, 0],
            [1, 1, 0, 0],
            [0, 0, 1, 1],
            [0, 0, 1, 1],
        ]
    )
    samples = prepared(documents(counts), Preparation(weighting="tf", **limit))
    assert samples.X.shape == (4, 4)
    assert samples.assumptions == (VOCABULARY_IS_PUBLIC,)
    without_limit = prepared(documents(counts), Preparation(weighting="tf"))
    assumptions = without_limit.assumptions
    assert assumptions == ()


@pytest.mark.parametrize("cells", [0.3, 1.0])
def test_an_absent_row_stays_absent_where_outliers_are_planted(cells):
    recipe = Preparation(outlier_rows=1.0, outlier_cells=cells)
    counts = COUNTS + 1
    full = prepared(Samples.of(counts), recipe)
    without = prepared(Samples.of(counts * [[0], [1], [1], [1]]), recipe)
    rows = np.asarray(full.X)
    rows_without = np.asarray(without.X)
    assert not rows_without[0].any()
    assert rows[0].any()
    assert np.array_equal(rows_without[1:], rows[1:])


def test_word_vectors_of_private_documents_stay_in_memory(tmp_path, monkeypatch):
    """They name the words, and their file the text."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    texts = [
        "rocket orbit planet engine",
        "orbit planet rocket launch",
        "bread cheese apple butter",
    ] * 5
    for public in (False, True):
        samples, _ = documents_of(texts, name="diary", public=public)
        words, vectors = word_vectors(samples)
        assert "rocket" in words
        assert vectors.shape == (len(words), 100)
        assert len(list(tmp_path.rglob("*.npz"))) == public
