"""Simulated news: documents from eight topics with known words, to check what is found."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from dpmf_core.base.arrays import Array, Doubles, Ints
from dpmf_core.data.samples import Samples, Texts

N_DOCUMENTS = 4_000
_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
TOPICS: dict[str, str] = _WORDS["topics"]
COMMON: str = _WORDS["common"]["news"]
WORDS = tuple(dict.fromkeys(" ".join([*TOPICS.values(), COMMON]).split()))


def news(seed: int) -> Samples:
    """4,000 documents of about 60 words, with one or two topics each.

    Two words in five are from a shared vocabulary. The field `parts` of the samples has each
    topic's word shares.
    """
    rng = np.random.default_rng([seed, 8])
    share = _shares(TOPICS.values())  # (topics, words)
    lengths = rng.lognormal(np.log(55), 0.45, N_DOCUMENTS).astype(int).clip(12, 400)
    document = np.repeat(np.arange(N_DOCUMENTS), lengths)
    mixture = rng.dirichlet(np.full(len(TOPICS), 0.08), N_DOCUMENTS)
    topic = _picked_columns(mixture, document, rng)
    everyday = rng.random(len(document)) < 0.4
    word = np.where(
        everyday,
        _picked_columns(_shares([COMMON]), np.zeros(len(document), int), rng),
        _picked_columns(share, topic, rng),
    )
    from scipy.sparse import csr_array  # needed for documents only

    counts = csr_array(
        (np.ones(len(word)), (document, word)), shape=(N_DOCUMENTS, len(WORDS))
    )
    counts.sum_duplicates()
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    texts = Texts(WORDS, word.astype(np.int32), starts)
    titles = tuple(
        " ".join(WORDS[j] for j in word[start : start + 8]) + " ..."
        for start in starts[:-1]
    )
    return Samples.of(
        counts,
        vocabulary=WORDS,
        unit="document",
        name="news",
        public=True,
        titles=titles,
        parts=share.astype(np.float32),
        texts=texts,
    )


def _shares(texts: Iterable[str]) -> Doubles:
    """Word shares (n_texts, words): each text's own words, the first most often."""
    rows = []
    for text in texts:
        own = [WORDS.index(word) for word in text.split()]
        weights = 1 / (np.arange(len(own)) + 3.0)
        rows.append(np.bincount(own, weights / weights.sum(), len(WORDS)))
    return np.stack(rows)


def _picked_columns(shares: Doubles, row: Array, rng: np.random.Generator) -> Ints:
    """One column for each entry of `row`, drawn by that row's shares."""
    edges = np.cumsum(shares, axis=1)
    width = edges.shape[1]
    # one search over all rows laid end to end
    flat = (edges / edges[:, -1:] + np.arange(len(edges))[:, None]).ravel()
    picks = (
        np.searchsorted(flat, row + rng.random(len(row)), side="right") - row * width
    )
    return np.asarray(np.minimum(picks, width - 1))
