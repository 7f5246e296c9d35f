"""Noise that is heard while it is added, and what of it is independent."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms import Streams
from dpmf_core.privacy import Noise, normal_form
from tests.fitting import fit

Array = npt.NDArray[Any]


class HeardNoise(Noise):
    """releases: of each, the planned event, the exact figures and the noise."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.releases: list[tuple[Any, Array, Array]] = []

    def _open(self, leaf: Any, size: int) -> Any:
        release = super()._open(leaf, size)

        def publish(part: Array, noise: Array) -> Array:
            self.releases.append((leaf, part, noise))
            return part + noise

        release._publish = publish
        return release

    def squares(self) -> list[tuple[Any, Array]]:
        """Of everything that is released, the event and the squares of its independent draws, in
        units of the noise that the event says: of symmetric matrices one triangle, whose entries
        off the diagonal have half the variance.
        """
        return [
            (leaf, (independent_draws(noise) / (leaf.noise_multiplier * leaf.sensitivity)) ** 2)
            for leaf, _, noise in self.releases
        ]


def independent_draws(noise: Array) -> Array:
    """The draws of noise, (n,), those off the diagonal of symmetric matrices times sqrt(2)."""
    if noise.ndim < 2 or noise.shape[-1] != noise.shape[-2]:
        return noise.ravel()
    rows, columns = np.tril_indices(noise.shape[-1])
    return (np.where(rows == columns, 1.0, np.sqrt(2)) * noise[..., rows, columns]).ravel()


def check_declared_noise(algorithm: Any, data: Any, repeats: int, level: float = 0.7) -> None:
    """On nobody's data, every release has the variance of its event, by chi-square.

    From 14,000 draws on, noise that is 5% off lies beyond the four deviations allowed.
    """
    nobody, plan = data.only(np.zeros(len(data), bool)), algorithm.plan(data.shape, level)
    squares: dict[Any, list[Array]] = {}
    for seed in range(repeats):
        noise = HeardNoise(plan, np.random.SeedSequence(seed))
        fit(algorithm, nobody, noise, Streams(np.random.default_rng(0), 0))
        for leaf, values in noise.squares():
            squares.setdefault(leaf, []).append(values)
    assert squares.keys() == {leaf for leaf, _ in normal_form(plan)}
    for leaf, parts in squares.items():
        draws = np.concatenate(parts)
        spread = np.sqrt(2 * len(draws))
        assert abs(draws.sum() - len(draws)) < 4 * spread, leaf
        for off in (0.95, 1.05) if len(draws) > 14_000 else ():
            assert abs(off**2 * draws.sum() - len(draws)) > 4 * spread, leaf
