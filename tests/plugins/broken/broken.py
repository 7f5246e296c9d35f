"""Entry points that cannot be used, each for another reason."""

from typing import ClassVar

from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.privacy import Guarantee

NUMBER = 3
assert "als" in REGISTRY  # while entry points are being loaded, what is there can be asked for


class Fine(Algorithm):
    id: ClassVar[str] = "fine"
    title: ClassVar[str] = "Fine"
    words: ClassVar[str] = "nothing"
    source: ClassVar[str] = "an example"


class Silent(Algorithm):
    id: ClassVar[str] = "toy-silent"


class Raising(Fine):
    id: ClassVar[str] = "toy-raising"

    def guarantee(self) -> Guarantee:
        raise RuntimeError("no guarantee today")
