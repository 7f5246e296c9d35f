"""From an attack's scores to lower bounds on epsilon, which hold together with 95% confidence.

There are two rules. **Pair test** (`pair_test`), only for Gaussian trade-offs: the attack gets one
training run without the canary and one with it, and says which is which. The most that a mu-GDP
training run allows bounds mu, and with it epsilon. This rule needs no threshold.

**Error rates**, for anything: the attack says "present" if a score is above a threshold. The
threshold is chosen on one half of the training runs and judged on the other. Upper limits of both
error rates bound epsilon at delta (Kairouz, Oh & Viswanath 2015). The rule assumes nothing about
how noise was added.

The shares of the 5% are fixed by what is audited, before anything is trained (`shares`), so the
bounds hold together (Bonferroni).
"""

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betaincinv

from dpmf_core.base.arrays import Array
from dpmf_core.evaluation.audit import pair_test
from dpmf_core.privacy.gaussian import gaussian_epsilon

Scores = tuple[Array, Array]  # without the canary, with it
AttackKind = Literal["what is released", "what is shared"]
BoundRule = Literal["pair test", "error rates"]
CONFIDENCE = 0.95
# the share of the pair test on what is released: no attack on Gaussian releases scores better
# than its likelihood ratio
PAIRS_SHARE = 0.4
CUTS = 101  # thresholds at which error rates are reported


@dataclass(frozen=True)
class AuditBound:
    """epsilon is at least this, except with probability `error`.

    Attributes
    ----------
    words : str
        What was counted.
    false_alarms, misses : tuple of float
        Error rates on the judging half, from the lowest threshold to the highest.
    """

    attack: AttackKind
    rule: BoundRule
    epsilon: float
    error: float
    words: str
    false_alarms: tuple[float, ...]
    misses: tuple[float, ...]


def shares(
    attacks: tuple[AttackKind, ...], through_mu: bool
) -> dict[tuple[AttackKind, BoundRule], float]:
    """Every test that is run, with its share of the 5%.

    The pair test on what is released gets two fifths, the rest is shared equally; without it all
    tests get equal shares.
    """
    if through_mu:
        rules: tuple[BoundRule, ...] = ("pair test", "error rates")
    else:
        rules = ("error rates",)
    tests: list[tuple[AttackKind, BoundRule]] = [
        (attack, rule) for attack in attacks for rule in rules
    ]
    first: tuple[AttackKind, BoundRule] = ("what is released", "pair test")
    total = 1 - CONFIDENCE
    if first not in tests or len(tests) == 1:
        return {test: total / len(tests) for test in tests}
    rest = total * (1 - PAIRS_SHARE) / (len(tests) - 1)
    return {test: total * PAIRS_SHARE if test == first else rest for test in tests}


# ---- limits --------------------------------------------------------------------------------------


@functools.lru_cache(256)
def upper_limits(of: int, error: float) -> Array:
    """For counts from 0 to `of` (of + 1,), the largest rate that the count does not rule out.

    Under a larger rate so low a count has a probability below `error` (Clopper & Pearson 1934).
    """
    counts = np.arange(of)
    return np.append(betaincinv(counts + 1, of - counts, 1 - error), 1.0)


def epsilon_of_rates(
    alarms: Array, misses: Array, of: tuple[int, int], delta: float, error: float
) -> Array:
    """Lower bounds on epsilon for many pairs of counts.

    Parameters
    ----------
    alarms, misses : (...)
        Counts of both errors.
    of : (int, int)
        Training runs without and with the canary.
    delta : float
    error : float
        Each limit gets half of it.
    """
    fpr = upper_limits(of[0], error / 2)[alarms]
    fnr = upper_limits(of[1], error / 2)[misses]
    odds = np.maximum((1 - delta - fnr) / fpr, (1 - delta - fpr) / fnr)
    return np.log(np.maximum(odds, 1.0))


# ---- the two rules -------------------------------------------------------------------------------


def by_pairs(scores: Scores, delta: float, error: float) -> tuple[float, str]:
    """The pair test's bound on mu as the epsilon of one Gaussian release, and what was counted.

    The i-th run without the canary is paired with the i-th run with it.
    """
    of = min(map(len, scores))
    out, inside = (part[:of] for part in scores)
    mu = pair_test.mu_at_least(int(pair_test.weighted_sum(out, inside)), of, error)
    return gaussian_epsilon(
        mu, delta
    ), f"{int((inside > out).sum()):,} of {of:,} pairs told apart"


def by_rates(
    learn: Scores, judge: Scores, delta: float, error: float
) -> tuple[float, str]:
    """The error rates' bound on epsilon and what was counted.

    The threshold comes from `learn`, counts from `judge`.
    """
    alarms, misses = _errors(judge, np.array([_threshold(learn, delta, error)]))
    of = len(judge[0]), len(judge[1])
    bound = float(epsilon_of_rates(alarms, misses, of, delta, error)[0])
    return bound, (
        f"{int(alarms[0]):,} false alarms in {of[0]:,} training runs, {int(misses[0]):,} misses"
        f" in {of[1]:,}"
    )


def _errors(scores: Scores, cuts: Array) -> tuple[Array, Array]:
    """The numbers of false alarms and misses at each threshold."""
    out, inside = (np.sort(part) for part in scores)
    return len(out) - np.searchsorted(out, cuts, "right"), np.searchsorted(
        inside, cuts, "right"
    )


def _threshold(scores: Scores, delta: float, error: float) -> float:
    """The threshold between the first and the last hundredth at which the bound is largest."""
    all_scores = np.sort(np.concatenate(scores))
    cuts = all_scores[len(all_scores) * np.arange(1, 100) // 100]
    of = len(scores[0]), len(scores[1])
    return float(
        cuts[np.argmax(epsilon_of_rates(*_errors(scores, cuts), of, delta, error))]
    )


# ---- all tests together --------------------------------------------------------------------------


def bounds_of(
    scores: dict[AttackKind, Scores], delta: float, through_mu: bool
) -> tuple[AuditBound, ...]:
    """All tests on the attacks' scores.

    The scores of what is shared were learned on the first half of the training runs, so only the
    other half judges them.
    """
    return tuple(
        _one(attack, rule, error, scores[attack], delta)
        for (attack, rule), error in shares(tuple(scores), through_mu).items()
    )


def _one(
    attack: AttackKind, rule: BoundRule, error: float, scores: Scores, delta: float
) -> AuditBound:
    half = min(map(len, scores)) // 2
    out, inside = scores
    learn = (out[:half], inside[:half])
    judge = (out[half:], inside[half:])
    if rule == "pair test":
        if attack == "what is released":
            judge = scores
        epsilon, words = by_pairs(judge, delta, error)
    else:
        epsilon, words = by_rates(learn, judge, delta, error)
    cuts = np.quantile(np.concatenate(judge), np.linspace(0, 1, CUTS))
    alarms, misses = (
        tuple(float(count) / len(side) for count in counts)
        for counts, side in zip(_errors(judge, cuts), judge, strict=True)
    )
    return AuditBound(attack, rule, epsilon, error, words, alarms, misses)


def most(
    runs: int, attacks: tuple[AttackKind, ...], delta: float, through_mu: bool
) -> float:
    """The bound from an attack that never errs."""
    perfect = np.zeros((runs + 1) // 2), np.ones(runs // 2)
    return max(
        bound.epsilon
        for bound in bounds_of(dict.fromkeys(attacks, perfect), delta, through_mu)
    )


def direction(learn: Scores) -> Array:
    """The direction in which vectors (runs, size) of both kinds differ most, over their spread."""
    spread = np.concatenate([rows - rows.mean(axis=0) for rows in learn]).var(axis=0)
    return np.asarray(
        (learn[1].mean(axis=0) - learn[0].mean(axis=0))
        / (spread + 1e-9 * spread.mean() + 1e-300)
    )
