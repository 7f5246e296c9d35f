"""Word vectors by skip-gram with negative samples (Mikolov et al. 2013), in compiled code.

It uses one thread and one stream of random numbers, so equal texts give equal vectors.
"""

import math

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel

STEEPEST = 6.0  # logits beyond this are almost certain and are not learned from
# drawn words for each neighbouring one
SEED = 1
NEGATIVES = 5
FREQUENT = 1e-3  # a share of all tokens; words above it are left out at random, the more the more
RATES = 0.025, 0.0001  # the first and the last learning rate


@compile_kernel
def _next(state):  # type: ignore[no-untyped-def]
    """The next state and a number in [0, 1): splitmix64 (Steele, Lea & Flood 2014)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    x = state
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return state, np.float64(x >> np.uint64(11)) * 2.0**-53


# sums over dimensions may be vectorised
@compile_kernel(fastmath={"reassoc", "contract"})
def _learn_pair(inside, outside, label, rate, change):  # type: ignore[no-untyped-def]
    """One word with one target: moves `outside`; adds to `change` the later move of `inside`."""
    dot = np.float32(0)
    for f in range(len(inside)):
        dot += inside[f] * outside[f]
    if abs(dot) >= STEEPEST:
        return
    step = np.float32((label - 1 / (1 + math.exp(-dot))) * rate)
    for f in range(len(inside)):
        change[f] += step * outside[f]
        outside[f] += step * inside[f]


@compile_kernel
def _learn_word(inside, word, cumulative, Y, negatives, rate, change, state):  # type: ignore[no-untyped-def]
    """One vector with one neighbouring word and with drawn words; returns the next state."""
    change[:] = 0
    _learn_pair(inside, Y[word], 1.0, rate, change)
    for _ in range(negatives):
        state, u = _next(state)
        negative = np.searchsorted(cumulative, u * cumulative[-1], side="right")
        if negative != word:
            _learn_pair(inside, Y[negative], 0.0, rate, change)
    for f in range(len(change)):
        inside[f] += change[f]
    return state


@compile_kernel
def _subsample(words, keep_chances, out, state):  # type: ignore[no-untyped-def]
    """Write a text with random omissions into `out`; returns the next state and the length."""
    n = 0
    for word in words:
        state, u = _next(state)
        if u < keep_chances[word]:
            out[n] = word
            n += 1
    return state, n


@compile_kernel
def _train(  # type: ignore[no-untyped-def]
    words,
    starts,
    keep_chances,
    cumulative,
    X,
    Y,
    window,
    negatives,
    epochs,
    rates,
    seed,
):
    state = np.uint64(seed)
    total = epochs * max(len(words), 1)
    text = np.empty(max(len(words), 1), np.int64)
    change = np.empty(X.shape[1], np.float32)
    for epoch in range(epochs):
        for d in range(len(starts) - 1):
            progress = (epoch * len(words) + starts[d]) / total
            rate = rates[0] + (rates[1] - rates[0]) * progress
            state, n = _subsample(
                words[starts[d] : starts[d + 1]], keep_chances, text, state
            )
            for i in range(n):
                state, u = _next(state)
                reach = 1 + int(u * window)
                for j in range(max(0, i - reach), min(n, i + reach + 1)):
                    if i != j:
                        state = _learn_word(
                            X[text[j]],
                            text[i],
                            cumulative,
                            Y,
                            negatives,
                            rate,
                            change,
                            state,
                        )


@compile_kernel
def _start(n_words, dimensions, seed):  # type: ignore[no-untyped-def]
    """Small random vectors (n_words, dimensions), float32."""
    state = np.uint64(seed)
    out = np.empty((n_words, dimensions), np.float32)
    for k in range(n_words):
        for f in range(dimensions):
            state, u = _next(state)
            out[k, f] = (2 * u - 1) / dimensions
    return out


def word_vectors(
    words: Array,
    starts: Array,
    counts: Array,
    *,
    dimensions: int,
    window: int,
    epochs: int,
) -> Array:
    """Vectors (n_words, dimensions), float32, of words by number.

    Parameters
    ----------
    words : (n_tokens,)
        The texts one after the other. Text d is between starts[d] and starts[d + 1].
    starts : (n_texts + 1,)
    counts : (n_words,)
        Occurrences of each word, 1 or more.
    dimensions : int
    window : int
        The most words to each side that are used.
    epochs : int
    """
    share = counts / max(float(counts.sum()), 1.0) / FREQUENT
    keep_chances = np.minimum(1.0, (np.sqrt(share) + 1) / share)
    X: Array = _start(len(counts), dimensions, SEED)
    Y = np.zeros_like(X)
    cumulative = np.cumsum(counts.astype(np.float64) ** 0.75)
    texts = words.astype(np.int64), starts.astype(np.int64), keep_chances, cumulative
    _train(*texts, X, Y, window, NEGATIVES, epochs, np.array(RATES), SEED)
    return X
