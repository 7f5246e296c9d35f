"""A method's colour comes from its class, and no two private families look alike by accident."""

from typing import ClassVar

import pytest

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.algorithms.baselines import PrivateBias
from pages.kit import colours


class ColourlessMethod(PrivateBias):
    id: ClassVar[str] = "uncoloured"
    colour: ClassVar[str] = ""


def test_every_colour_that_a_class_names_is_in_the_palette() -> None:
    names = {kind.colour for kind in REGISTRY.values() if kind.colour}
    assert names <= set(colours.PALETTE)


def test_a_new_private_method_has_a_colour_that_no_other_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = {colours.of(name) for name in REGISTRY}
    registry = {**REGISTRY, "uncoloured": ColourlessMethod}
    monkeypatch.setattr(colours, "REGISTRY", registry)
    assert colours.is_coloured("uncoloured") and colours.of("uncoloured") not in others


def test_what_is_not_private_is_grey_and_what_must_be_beaten_is_trivial() -> None:
    assert colours.of("als") == colours.of("sgd-mf") == colours.NOT_PRIVATE[0]
    assert not colours.is_coloured("als")
    assert {name for name in REGISTRY if colours.is_trivial(name)} == {
        "global-mean",
        "user-mean",
        "popularity",
        "content",
    }
    assert all(
        colours.is_coloured(name)
        for name, kind in REGISTRY.items()
        if issubclass(kind, PrivateAlgorithm)
    )
