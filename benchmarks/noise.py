"""Nanoseconds a draw of each source and kind of noise, on one thread, chunk by chunk as a run
draws it: `python -m benchmarks.noise`.
"""

import time

import numpy as np
from randomgen import ChaCha

from benchmarks.report import save
from dpmf_core.privacy import DiscreteGaussian, Gaussian, Noise
from dpmf_core.privacy.mechanisms import Mechanism

SIZE, REPEATS = 1 << 20, 7


def nanoseconds(leaf: Mechanism, seed: np.random.SeedSequence | None) -> float:
    """The quickest of a few whole releases."""
    best = float("inf")
    for _ in range(REPEATS):
        noise = Noise(leaf, seed)
        began = time.perf_counter()
        noise.vector("sums", np.zeros(SIZE), sensitivity=1.0)
        best = min(best, time.perf_counter() - began)
    return best / SIZE * 1e9


def chacha() -> float:
    """ChaCha20 of the same library, for comparison."""
    generator, out = np.random.Generator(ChaCha(key=2**255 + 1, rounds=20)), np.empty(SIZE)
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        generator.standard_normal(out=out)
        best = min(best, time.perf_counter() - began)
    return best / SIZE * 1e9


def main() -> None:
    continuous, discrete = Gaussian(2.0, "sums"), DiscreteGaussian(2.0, "sums")
    rows = {
        "Gaussian, seeded (SFC64)": nanoseconds(continuous, np.random.SeedSequence(0)),
        "Gaussian, secret (AES-128 in counter mode)": nanoseconds(continuous, None),
        "Gaussian, ChaCha20 (not used)": chacha(),
        "discrete Gaussian, seeded (SFC64)": nanoseconds(discrete, np.random.SeedSequence(0)),
        "discrete Gaussian, secret (AES-128 in counter mode)": nanoseconds(discrete, None),
    }
    for name, value in rows.items():
        print(f"{name:55s} {value:7.1f} ns a draw")
    save("noise", rows)


if __name__ == "__main__":
    main()
