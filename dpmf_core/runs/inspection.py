"""Views of a finished factorisation: topics as words, components as pictures, one row as a sum.

Rows are private and only for the curator.
"""

import io
import math
from dataclasses import dataclass

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.extras import extra
from dpmf_core.data.samples import Samples, is_sparse
from dpmf_core.evaluation import coherence, part_metrics
from dpmf_core.runs.data_access import data_of
from dpmf_core.runs.record import Run

GAP = 1  # pixels between the pictures of a sheet
# the grey of gaps; how many times a sheet is enlarged
SHADE = 40
ZOOM = 3
STRONGEST = 8  # components that explain an image
ACROSS = range(4, 9)  # the possible numbers of pictures in a row
LARGEST = 48  # pixels of a small picture's longer side


@dataclass(frozen=True)
class PartMatch:
    """A component, its partner in another factorisation (None without), and their cosine."""

    component: int
    partner: int | None
    cosine: float


@dataclass(frozen=True)
class Typical:
    """A row with much of a component: number, name, the component's share of its coefficients."""

    row: int
    title: str
    share: float


@dataclass(frozen=True)
class Explanation:
    """One image and its reconstruction as pictures; the strongest components with coefficients."""

    original: Array
    clean: Array | None
    reconstruction: Array
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


def pairs(run: Run, other: Run) -> list[PartMatch]:
    """The components of a run with their partners in another, most similar first."""
    partner, cosine = (
        column.tolist()
        for column in part_metrics.best_matches(basis(run), basis(other))
    )
    matched = enumerate(zip(partner, cosine, strict=True))
    matches = (
        PartMatch(component, None if mate < 0 else mate, cosine)
        for component, (mate, cosine) in matched
    )
    return sorted(matches, key=lambda pair: -pair.cosine)


def shared_words(run: Run, other: Run) -> float:
    """The mean number of heaviest words that a topic and its partner share."""
    mine, theirs = (
        [{word for word, _ in topic} for topic in topics(one)] for one in (run, other)
    )
    shared = [
        len(mine[pair.component] & theirs[pair.partner])
        for pair in pairs(run, other)
        if pair.partner is not None
    ]
    return float(np.mean(shared))


def typical(run: Run, component: int, count: int = 5) -> list[Typical]:
    """The rows in which a component has the largest share."""
    samples = samples_of(run)
    H = run.model.personal(samples).coefficients.astype(np.float64)
    share = H[:, component] / np.maximum(H.sum(axis=1), 1e-300)
    rows = np.argsort(-share, kind="stable")[:count].tolist()
    titles = {
        row: samples.titles[row] if samples.titles else f"row {row + 1}" for row in rows
    }
    return [Typical(row, titles[row], float(share[row])) for row in rows]


def sheet(run: Run, order: list[int]) -> Array:
    """Components as grey pictures on one sheet, in this order.

    Each has its own scale from black to white.

    Parameters
    ----------
    run
        The run.
    order
        The components, at most eight. They fill their rows.

    Returns
    -------
    uint8 (height, width)
        The sheet.
    """
    size = image_size(run)
    across = row_length(len(order))
    pictures = [picture_of(basis(run)[part].reshape(size), 1) for part in order]
    framed = [
        np.pad(picture, ((GAP, 0), (GAP, 0)), constant_values=SHADE)
        for picture in pictures
    ]
    rows = [np.hstack(framed[at : at + across]) for at in range(0, len(framed), across)]
    whole = np.pad(np.vstack(rows), ((0, GAP), (0, GAP)), constant_values=SHADE)
    return whole.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)


def image_size(run: Run) -> tuple[int, int]:
    """Height and width of a run's images in pixels."""
    return samples_of(run).image or (1, basis(run).shape[1])


def row_length(count: int) -> int:
    """The number of pictures in a row that leaves the fewest gaps in the last one."""
    if count <= ACROSS[0]:
        return max(1, count)
    usual = min(ACROSS[-1], max(ACROSS[0], math.ceil(math.sqrt(2 * count))))
    return min(ACROSS, key=lambda across: (-count % across, abs(across - usual)))


def small_pictures(run: Run) -> list[bytes]:
    """Each component as a PNG file, with its own scale from black to white."""
    height, width = image_size(run)
    return [_png(picture_of(part.reshape(height, width), 1)) for part in basis(run)]


def _png(picture: Array) -> bytes:
    """A grey picture (height, width) as PNG, reduced if it is large."""
    with extra("files"):
        from PIL import Image
    image = Image.fromarray(picture)
    out = io.BytesIO()
    image.thumbnail((LARGEST, LARGEST), Image.Resampling.BOX, reducing_gap=None)
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def picture_of(values: Array, zoom: int = 6, top: float | None = None) -> Array:
    """Non-negative values (height, width) from black to white (`top` or the largest), uint8."""
    largest = float(values.max()) if top is None else top
    shades = (np.clip(values / max(largest, 1e-300), 0, 1) * 255).astype(np.uint8)
    return shades.repeat(zoom, axis=0).repeat(zoom, axis=1)


def explanation(run: Run, row: int) -> Explanation:
    """One image as the components explain it; all pictures share the original's brightness."""
    samples = samples_of(run)
    one = samples.rows(np.array([row]))
    size = samples.image or (1, samples.shape.n_features)
    own = run.model.personal(one)
    norm = float(one.norms[0])
    pixels = (one.X.toarray() if is_sparse(one.X) else one.X)[0].astype(np.float64)
    rebuilt = norm * (own.coefficients[0] @ basis(run))
    if one.clean is None:
        aim = pixels
    else:
        aim = one.clean[0].astype(np.float64)
    top = max(float(aim.max()), 1e-300)
    order = np.argsort(-own.coefficients[0], kind="stable")[:STRONGEST]

    def picture(values: Array) -> Array:
        return picture_of(values.reshape(size), top=top)

    return Explanation(
        original=picture(pixels),
        clean=None if one.clean is None else picture(aim),
        reconstruction=picture(rebuilt),
        outliers=None
        if own.outliers is None
        else picture(norm * np.abs(own.outliers[0])),
        error=float(
            np.linalg.norm(aim - rebuilt) / max(float(np.linalg.norm(aim)), 1e-300)
        ),
        strongest=tuple(
            (int(part), float(own.coefficients[0][part])) for part in order
        ),
    )
