"""From an attack's scores to a lower bound on epsilon, at 95% confidence.

The attack says "present" where a score is above a threshold. The threshold is chosen on one half of the scores and judged on the other, so that choosing
is paid for. Upper limits of both error rates (Clopper & Pearson 1934) bound epsilon from below (Kairouz, Oh & Viswanath 2015); where what is claimed is a
Gaussian trade-off, they bound its mu: mu >= Phi^-1(1 - FPR) - Phi^-1(FNR) (Dong, Roth & Su 2022).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, norm

from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.accounting import epsilon as exactly

Array = npt.NDArray[Any]
CONFIDENCE = 0.95
CUTS = 101  # thresholds at which error rates are told


@dataclass(frozen=True)
class Bound:
    """epsilon: at least this. false_alarms, misses: the error rates of the judged half, from the lowest threshold to the highest."""

    epsilon: float
    false_alarms: tuple[float, ...]
    misses: tuple[float, ...]


def upper_limit(count: int, of: int, confidence: float) -> float:
    """The largest rate under which `count` or fewer of `of` are not too rare; two rates hold together with `confidence`."""
    return 1.0 if count >= of else float(beta.ppf(1 - (1 - confidence) / 2, count + 1, of - count))


def at_threshold(out: Array, inside: Array, threshold: float, delta: float, gaussian: bool, confidence: float = CONFIDENCE) -> float:
    """Epsilon is at least this. out, inside: scores without and with the canary."""
    alarms, missed = int((out > threshold).sum()), int((inside <= threshold).sum())
    fpr, fnr = upper_limit(alarms, len(out), confidence), upper_limit(missed, len(inside), confidence)
    found = max((math.log((1 - delta - b) / a) for a, b in ((fpr, fnr), (fnr, fpr)) if 1 - delta - b > 0), default=0.0)
    if gaussian:
        mu = float(norm.ppf(1 - fpr) - norm.ppf(fnr))
        if mu > 0:
            found = max(found, exactly(Gaussian(1 / mu), delta))
    return max(found, 0.0)


def best_threshold(out: Array, inside: Array, delta: float, gaussian: bool, confidence: float = CONFIDENCE) -> float:
    cuts = np.unique(np.quantile(np.concatenate([out, inside]), np.linspace(0.01, 0.99, 99)))
    return float(cuts[int(np.argmax([at_threshold(out, inside, cut, delta, gaussian, confidence) for cut in cuts]))])


def judged(learn: tuple[Array, Array], judge: tuple[Array, Array], delta: float, gaussian: bool, confidence: float = CONFIDENCE) -> Bound:
    """Threshold from the first pair (without, with), bound from the second."""
    threshold = best_threshold(*learn, delta, gaussian, confidence)
    out, inside = judge
    cuts = np.quantile(np.concatenate(judge), np.linspace(0, 1, CUTS))
    alarms, misses = (tuple(float(rate) for rate in rates) for rates in zip(*(((out > cut).mean(), (inside <= cut).mean()) for cut in cuts), strict=True))
    return Bound(at_threshold(out, inside, threshold, delta, gaussian, confidence), alarms, misses)


def most(runs: int, delta: float, gaussian: bool, confidence: float = CONFIDENCE) -> float:
    """What an attack that never errs would show, judged on a quarter of the runs for each kind: about ln(runs / 4 / 4.4), or more for a Gaussian claim."""
    return at_threshold(np.zeros(runs // 4), np.ones(runs // 4), 0.5, delta, gaussian, confidence)


def direction(learn: tuple[Array, Array]) -> Array:
    """Where vectors (runs, size) without and with differ most, for their spread."""
    spread = np.concatenate([rows - rows.mean(axis=0) for rows in learn]).var(axis=0)
    return np.asarray((learn[1].mean(axis=0) - learn[0].mean(axis=0)) / (spread + 1e-9 * spread.mean() + 1e-300))
