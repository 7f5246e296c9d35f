"""TC-W2V, the coherence of topics: how close their top words are in a Word2Vec space.

The space is learned from the same corpus (O'Callaghan et al. 2015).
"""

import io
import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.base.paths import create_folder, data_folder, write_whole
from dpmf_core.data.samples import Samples, Texts

TOP_WORDS = 10
DIMENSIONS = 100
WINDOW = 10
EPOCHS = 5
TOKENS = 400_000  # words to learn from; from a larger corpus, documents are drawn


def top_words(
    basis: Array, vocabulary: Sequence[str], count: int = TOP_WORDS
) -> list[list[tuple[str, float]]]:
    """The heaviest words of every topic with their weights, heaviest first.

    Words without weight are left out.
    """
    order = np.argsort(-basis, axis=1, kind="stable")[:, :count]
    return [
        [(vocabulary[j], float(basis[k, j])) for j in row if basis[k, j] > 0]
        for k, row in enumerate(order)
    ]


def coherence(topics: Sequence[Sequence[str]], samples: Samples) -> float | None:
    """The mean over topics of the mean pairwise cosine of their words' vectors.

    None if no topic has two known words.
    """
    words, vectors = word_vectors(samples)
    place = {word: j for j, word in enumerate(words)}
    each = []
    for topic in topics:
        places = [place[word] for word in topic if word in place]
        if len(places) >= 2:
            cosines = vectors[places] @ vectors[places].T
            each.append(float(cosines[np.triu_indices(len(places), 1)].mean()))
    if each:
        return float(np.mean(each))
    return None


WordTable = tuple[tuple[str, ...], Array]
_LEARNING = threading.Lock()  # so that two runs on one corpus learn its vectors once
_LAST: dict[str, WordTable] = {}  # of the last corpus, by its reading


def word_vectors(samples: Samples) -> WordTable:
    """Words, and their unit vectors (n_words, 100).

    They are learned once per corpus and kept in the data folder; those of private documents stay in
    memory.
    """
    # 3: our own skip-gram
    path = data_folder() / "words" / f"{samples.reading[:32]}-3.npz"
    with _LEARNING:
        word_table = _LAST.get(samples.reading)
        if word_table is None and samples.public and path.is_file():
            with np.load(path, allow_pickle=False) as archive:
                word_table = tuple(archive["words"].tolist()), archive["vectors"]
        if word_table is None:
            word_table = learn_vectors(samples)
        if samples.public and not path.is_file():
            _keep(word_table, path)
        forget()
        _LAST[samples.reading] = word_table
    return word_table


def _keep(word_table: WordTable, path: Path) -> None:
    words, vectors = word_table
    content = io.BytesIO()
    np.savez_compressed(content, words=np.array(words), vectors=vectors)
    create_folder(path.parent)
    write_whole(path, content.getvalue())


def forget() -> None:
    """Drop the word vectors in memory."""
    _LAST.clear()


def learn_vectors(samples: Samples) -> WordTable:
    """Words, the most frequent first, and unit vectors by skip-gram; rare words are left out."""
    from dpmf_core.kernels import skip_gram  # compiled code is loaded when first needed

    sentences = list(sentences_of(samples))
    counts = Counter(itertools.chain.from_iterable(sentences))
    rare = max(1, min(5, len(sentences) // 1000))
    words = sorted(
        (word for word in counts if counts[word] >= rare),
        key=lambda word: (-counts[word], word),
    )
    place = {word: j for j, word in enumerate(words)}
    texts = [[place[word] for word in each if word in place] for each in sentences]
    vectors = skip_gram.word_vectors(
        np.array(list(itertools.chain.from_iterable(texts)), np.int64),
        np.cumsum([0, *map(len, texts)]),
        np.array([counts[word] for word in words], np.int64),
        dimensions=DIMENSIONS,
        window=WINDOW,
        epochs=EPOCHS,
    )
    return tuple(words), vectors / np.maximum(
        np.linalg.norm(vectors, axis=1)[:, None], 1e-30
    )


def sentences_of(samples: Samples) -> Iterator[list[str]]:
    """Documents in order: all, or as many as hold `TOKENS` words, drawn by a hash.

    They are drawn because corpora often come sorted by class.
    """
    from scipy.sparse import csr_array

    lengths = np.diff(
        samples.texts.starts
        if samples.texts is not None
        else csr_array(samples.X).indptr
    )
    order = np.argsort(keyed_uniform(3, np.arange(len(lengths))), kind="stable")
    mask = np.zeros(len(lengths), bool)
    mask[order[np.cumsum(lengths[order]) <= TOKENS]] = True
    if samples.texts is not None:
        every = _reading(samples.texts)
    else:
        every = _bags(samples)
    return (words for words, is_kept in zip(every, mask, strict=True) if is_kept)


def _reading(texts: Texts) -> Iterator[list[str]]:
    return (
        [texts.words[j] for j in texts.ids[first:last]]
        for first, last in itertools.pairwise(texts.starts)
    )


def _bags(samples: Samples) -> Iterator[list[str]]:
    """Each document's words once, in arbitrary order."""
    from scipy.sparse import csr_array

    X = csr_array(samples.X)
    words = samples.vocabulary or ()
    for row, (first, last) in enumerate(itertools.pairwise(X.indptr)):
        inside = X.indices[first:last]
        yield [words[j] for j in inside[np.argsort(keyed_uniform(2, row, inside))]]
