"""What a person sees of a finished factorisation: topics as words, parts as pictures, one row as a sum of parts. Rows are private: for the curator's eyes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core import coherence, part_metrics
from dpmf_core.experiment import Run, data_of
from dpmf_core.samples import Samples, is_sparse

Array = npt.NDArray[Any]
GAP, SHADE = 1, 40  # between pictures of a sheet, in pixels; their grey


@dataclass(frozen=True)
class Pair:
    """A part and its partner in another factorisation (None without), with the cosine between them."""

    part: int
    partner: int | None
    cosine: float


@dataclass(frozen=True)
class Typical:
    """A row on which a part weighs heavily: its number, its name, the share of its coefficients that the part has."""

    row: int
    title: str
    share: float


@dataclass(frozen=True)
class Explained:
    """One image and what became of it, as pictures; the strongest parts with their coefficients."""

    seen: Array
    clean: Array | None
    explained: Array
    outliers: Array | None
    error: float
    strongest: tuple[tuple[int, float], ...]


def samples_of(run: Run) -> Samples:
    """The samples of a run. Its data must hold documents or images."""
    data = data_of(run)
    assert isinstance(data, Samples)
    return data


def basis(run: Run) -> Array:
    return run.arrays["basis"]


def topics(run: Run, count: int = coherence.TOP_WORDS) -> list[list[tuple[str, float]]]:
    """The heaviest words of every topic."""
    return coherence.top_words(basis(run), samples_of(run).vocabulary or (), count)


def pairs(run: Run, other: Run) -> list[Pair]:
    """The parts of a run with their partners in another, most alike first."""
    partner, cosine = part_metrics.matched(basis(run), basis(other))
    found = [Pair(part, int(mate) if mate >= 0 else None, float(value)) for part, (mate, value) in enumerate(zip(partner, cosine, strict=True))]
    return sorted(found, key=lambda pair: -pair.cosine)


def likeness(run: Run, other: Run) -> tuple[float, float]:
    """Mean cosine of matched parts, and the mean angle between the spaces that the parts span, degrees."""
    return part_metrics.match(basis(run), basis(other)), part_metrics.angle(basis(run), basis(other))


def typical(run: Run, part: int, count: int = 5) -> list[Typical]:
    """The rows in which a part has the largest share."""
    samples = samples_of(run)
    H = run.model.personal(samples).coefficients.astype(np.float64)
    share = H[:, part] / np.maximum(H.sum(axis=1), 1e-300)
    rows = np.argsort(-share, kind="stable")[:count]
    return [Typical(int(row), samples.titles[row] if samples.titles else f"row {row + 1}", float(share[row])) for row in rows]


def sheet(run: Run, order: list[int], zoom: int = 3) -> Array:
    """Parts as pictures on one sheet, in this order, uint8 (height, width); each part has its own scale from black to white."""
    height, width = samples_of(run).image or (1, basis(run).shape[1])
    return _laid_out([basis(run)[part].reshape(height, width) for part in order], max(4, math.ceil(math.sqrt(2 * len(order)))), zoom)


def _laid_out(pictures: list[Array], across: int, zoom: int) -> Array:
    height, width = pictures[0].shape
    down = -(-len(pictures) // across)
    out = np.full((down * (height + GAP) + GAP, across * (width + GAP) + GAP), SHADE, np.uint8)
    for place, picture in enumerate(pictures):
        y, x = (place // across) * (height + GAP) + GAP, (place % across) * (width + GAP) + GAP
        out[y : y + height, x : x + width] = picture_of(picture, 1)
    return out.repeat(zoom, axis=0).repeat(zoom, axis=1)


def picture_of(values: Array, zoom: int = 6, top: float | None = None) -> Array:
    """Non-negative values (height, width) from black to white, uint8; white is `top`, or the largest."""
    largest = float(values.max()) if top is None else top
    shades = (np.clip(values / max(largest, 1e-300), 0, 1) * 255).astype(np.uint8)
    return shades.repeat(zoom, axis=0).repeat(zoom, axis=1)


def explained(run: Run, row: int, strongest: int = 8) -> Explained:
    """One image as the run's parts explain it; all pictures share the brightness of what was seen."""
    samples = samples_of(run)
    one = samples.rows(np.array([row]))
    size = samples.image or (1, samples.shape.n_features)
    own = run.model.personal(one)
    norm = float(one.norms[0])
    seen = (one.X.toarray() if is_sparse(one.X) else one.X)[0].astype(np.float64)
    rebuilt = norm * (own.coefficients[0] @ basis(run))
    aim = seen if one.clean is None else one.clean[0].astype(np.float64)
    top = max(float(aim.max()), 1e-300)
    order = np.argsort(-own.coefficients[0], kind="stable")[:strongest]
    caught = None if own.outliers is None else picture_of(norm * np.abs(own.outliers[0]).reshape(size), top=top)
    return Explained(
        seen=picture_of(seen.reshape(size), top=top),
        clean=None if one.clean is None else picture_of(aim.reshape(size), top=top),
        explained=picture_of(rebuilt.reshape(size), top=top),
        outliers=caught,
        error=float(np.linalg.norm(aim - rebuilt) / max(float(np.linalg.norm(aim)), 1e-300)),
        strongest=tuple((int(part), float(own.coefficients[0][part])) for part in order),
    )
