"""Contrast by WCAG 2.2, and colours that stay apart, also for a deuteranope."""

import itertools
import tomllib
from pathlib import Path

import numpy as np
import pytest

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from pages.kit.figures import colours

ROOT = Path(__file__).parents[2]
THEME = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
MODES = {"light": 0, "dark": 1}  # place of a mode's colour in a pair
TEXT = 4.5  # WCAG 2.2, 1.4.3
SHAPE = 3.0  # WCAG 2.2, 1.4.11
CAPTION = 0.7  # of the text's colour, in look.css
# Machado, Oliveira & Fernandes 2009, severity 1, on linear light
DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ]
)
# IEC 61966-2-1: linear sRGB to XYZ, and its white
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def rgb(colour):
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def linear(colour):
    return np.where(
        colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4
    )


def contrast(one, other):
    """From 1 to 21."""
    dark, bright = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (bright + 0.05) / (dark + 0.05)


def lab(light):
    """CIE 1976 L*a*b* of linear sRGB."""
    x, y, z = (
        np.cbrt(ratio) if ratio > 216 / 24389 else (24389 / 27 * ratio + 16) / 116
        for ratio in XYZ @ light.clip(0, 1) / WHITE
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distances(one, other):
    """CIE 1976 difference, for most people and for a deuteranope."""
    lights = [linear(rgb(colour)) for colour in (one, other)]
    seen = (lights, [DEUTERANOPIA @ light for light in lights])
    first, second = (float(np.linalg.norm(lab(a) - lab(b))) for a, b in seen)
    return first, second


def test_the_formulas_are_those_of_the_standards():
    """Black on white is 21 to 1 and #767676 4.54; red has the L*a*b* (53.24, 80.09, 67.20)."""
    white = rgb("#ffffff")
    black = rgb("#000000")
    assert contrast(white, black) == pytest.approx(21)
    assert contrast(rgb("#767676"), white) == pytest.approx(4.54, abs=0.005)
    assert lab(linear(rgb("#ff0000"))) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_words_of_the_theme_can_be_read(mode):
    theme = {name: rgb(colour) for name, colour in THEME[mode].items()}
    pages = theme["backgroundColor"], theme["secondaryBackgroundColor"]
    for page in pages:
        caption = CAPTION * theme["textColor"] + (1 - CAPTION) * page
        for words in (
            theme["textColor"],
            theme["linkColor"],
            theme["codeTextColor"],
            caption,
        ):
            assert contrast(words, page) >= TEXT
        assert contrast(theme["primaryColor"], page) >= SHAPE
    assert contrast(rgb("#ffffff"), theme["primaryColor"]) >= TEXT  # on primary buttons


@pytest.mark.parametrize("mode", MODES)
def test_figures_can_be_read(mode, monkeypatch):
    monkeypatch.setattr(colours, "is_dark", lambda: mode == "dark")
    page = rgb(THEME[mode]["backgroundColor"])
    for words in (colours.ink(), colours.text()):
        assert contrast(rgb(words), page) >= TEXT
    for pair in (*colours.PALETTE.values(), colours.NOT_PRIVATE):
        assert contrast(rgb(pair[MODES[mode]]), page) >= SHAPE


@pytest.mark.parametrize("mode", MODES)
def test_colours_stay_apart(mode):
    pairs = [pair[MODES[mode]] for pair in colours.PALETTE.values()]
    for one, other in itertools.combinations(pairs, 2):
        most_people, deuteranope = distances(one, other)
        assert most_people >= 25, (one, other)
        assert deuteranope >= 10, (one, other)


def test_rival_methods_have_colours_of_their_own():
    """Those for whole users, which figures draw together."""
    drawn = [
        kind.colour
        for kind in REGISTRY.values()
        if issubclass(kind, PrivateAlgorithm)
        and kind.task == "ratings"
        and kind.colour != "red"
    ]
    assert len(set(drawn)) == len(drawn)
