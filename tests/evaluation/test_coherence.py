"""Coherence by our own skip-gram: topics that are planted, and gensim's Word2Vec beside it."""

import itertools
import zlib

import numpy as np
import pytest

from dpmf_core.evaluation.coherence import coherence, learn_vectors, sentences_of
from dpmf_datasets.readers.text import documents

SUBJECTS = [
    [f"{name}{one}{other}" for one in "abcdef" for other in "abcdefghij"]
    for name in ("star", "food", "law")
]


def corpus(public=True):
    """Documents of 25 words, each about one subject."""
    draw = np.random.default_rng(0)
    texts = []
    for document in range(1500):
        words = draw.choice(SUBJECTS[document % 3], 25)
        texts.append(" ".join(words))
    planted, _ = documents(texts, name="planted", public=public)
    return planted


def of_gensim(samples, seed=1):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    model = models.Word2Vec(
        list(sentences_of(samples)),
        vector_size=100,
        window=10,
        min_count=1,
        sg=1,
        workers=1,
        seed=seed,
        epochs=5,
        hashfxn=lambda word: zlib.crc32(word.encode()),
    )
    return model.wv.index_to_key, model.wv.get_normed_vectors()


def test_words_of_one_subject_lie_near_each_other_and_equal_texts_give_equal_vectors():
    words, vectors = learn_vectors(corpus())
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.allclose(lengths, 1, atol=1e-5)
    again = learn_vectors(corpus(public=False))
    assert again[0] == words
    assert np.array_equal(again[1], vectors)
    mixture = [[subject[place] for subject in SUBJECTS for place in (0, 1)]]
    pure = coherence(SUBJECTS, corpus())
    impure = coherence(mixture, corpus())
    assert pure is not None
    assert impure is not None
    assert pure > 0.9 > impure + 0.15
    unknown = [["unknown", "staraa"]]
    assert coherence(unknown, corpus()) is None


@pytest.mark.slow
def test_cosines_are_gensims_as_nearly_as_two_seeds_of_gensim():
    words, vectors = learn_vectors(corpus())
    pairs = itertools.combinations(sorted(words), 2)
    pairs = list(pairs)

    def cosines(names, V):
        place = {word: j for j, word in enumerate(names)}
        return np.array([V[place[a]] @ V[place[b]] for a, b in pairs])

    ours = cosines(words, vectors)
    theirs = cosines(*of_gensim(corpus()))
    others = cosines(*of_gensim(corpus(), 2))
    distance = abs(ours - theirs).mean()
    distance_of_seeds = abs(theirs - others).mean()
    assert distance < 1.5 * distance_of_seeds + 0.01
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95
