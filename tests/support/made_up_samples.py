"""Samples with parts to find."""

import numpy as np

from dpmf_core.data.samples import Samples


def blocks(
    seed: int = 0, *, n_samples: int = 60, n_features: int = 20, parts: int = 3
) -> Samples:
    """Sums of non-negative parts, and a little noise."""
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.3, 1.0, (parts, n_features))
    H = rng.gamma(0.6, 1.0, (n_samples, parts))
    X = H @ W + 0.01 * rng.random((n_samples, n_features))
    components = W / np.linalg.norm(W, axis=1, keepdims=True)
    return Samples.of(
        X,
        unit="image",
        public=True,
        parts=components,
    )
