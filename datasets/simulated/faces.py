"""Simulated faces: parts at known places, each more or less strong, under light from a side."""

import numpy as np

from dpmf_core.base.arrays import Doubles
from dpmf_core.data.samples import Samples

N_IMAGES = 4_000
SIDE = 24
# name: (x, y, width, height) of a soft ellipse, in sides of the picture; mirrored unless x is
# 0.5
ELLIPSES = {
    "head": (0.5, 0.52, 0.36, 0.44),
    "left eye": (0.34, 0.42, 0.08, 0.045),
    "right eye": (0.66, 0.42, 0.08, 0.045),
    "left brow": (0.33, 0.32, 0.11, 0.03),
    "right brow": (0.67, 0.32, 0.11, 0.03),
    "nose": (0.5, 0.55, 0.05, 0.13),
    "mouth": (0.5, 0.74, 0.15, 0.04),
    "left cheek": (0.27, 0.6, 0.09, 0.11),
    "right cheek": (0.73, 0.6, 0.09, 0.11),
    "forehead": (0.5, 0.18, 0.22, 0.08),
    "chin": (0.5, 0.89, 0.14, 0.06),
}
LIGHTS = ("light from the left", "light from the right")
PARTS = (*ELLIPSES, *LIGHTS)


def faces(seed: int) -> Samples:
    """4,000 images of 24 x 24 pixels: sums of parts, and a little noise.

    Strengths are gamma-distributed. The field `parts` of the samples has these parts, of norm 1.
    """
    rng = np.random.default_rng([seed, 13])
    parts = drawn_parts()  # (13, pixels)
    strength = rng.gamma(1.2, 1.0, (N_IMAGES, len(parts)))
    strength[:, 0] = 1.5 + rng.gamma(2.0, 0.5, N_IMAGES)
    strength[:, -2:] *= 1.5
    X = strength @ parts
    X = np.maximum(X + 0.001 * X.max() * rng.standard_normal(X.shape), 0)
    return Samples.of(
        X / X.max(),
        image=(SIDE, SIDE),
        unit="image",
        name="faces",
        public=True,
        parts=parts.astype(np.float32),
    )


def drawn_parts() -> Doubles:
    """Every part as a picture of norm 1 (parts, pixels)."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE + 0.5 / SIDE
    pictures = [
        _soft(((x - cx) / w) ** 2 + ((y - cy) / h) ** 2)
        for cx, cy, w, h in ELLIPSES.values()
    ]
    head = _soft(((x - 0.5) / 0.36) ** 2 + ((y - 0.52) / 0.44) ** 2)
    pictures += [head * np.maximum(0, 1 - 2.2 * x), head * np.maximum(0, 2.2 * x - 1.2)]
    rows = np.stack([picture.ravel() for picture in pictures])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _soft(distance: Doubles) -> Doubles:
    """1 inside, 0 outside, a soft edge between."""
    return (1.6 - distance).clip(0, 1)
