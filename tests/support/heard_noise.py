"""Noise that is heard while it is added, and what of it is independent."""

from typing import Any

import numpy.typing as npt

from dpmf_core.privacy import Noise

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
