"""Quantities and statements for the claims of Saha & Imtiaz 2022."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.data.catalogue import catalogue
from dpmf_core.papers.clauses import (
    MissingResult,
    Results,
    above,
    between,
)
from dpmf_core.papers.compared_figures import MeasuredFigure
from dpmf_core.papers.figures import Measure
from dpmf_core.papers.saha_2022.methods import DOCUMENTS, FACES, PLAIN, PRIVATE, RANDOM
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.inspection import basis, image_size
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import Run, Runs, value_of

REST = 0.01  # of a curve's fall, at which it counts as having come down


# ---- what is measured ----------------------------------------------------------------------------


def epochs(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The first observed step within 1% of a curve's fall to its lowest value."""

    def steps(run: Run) -> float:
        curve = [
            (row["step"] or 0.0, value_of(row, metric)) for row in run.record.curves
        ]
        lowest = min(value for _, value in curve)
        settled = lowest + REST * (curve[0][1] - lowest)
        return next(step for step, value in curve if value <= settled)

    return _each(points, runs, steps)


def roughness(points: Sequence[Point], runs: Runs, _: str) -> list[Measured]:
    """How noisy parts are as pictures, averaged over the parts.

    It is the mean squared difference of neighbouring pixels, relative to the mean square of all.
    """
    return _each(
        points, runs, lambda run: picture_roughness(basis(run), image_size(run))
    )


def picture_roughness(parts: Array, size: tuple[int, int]) -> float:
    """The roughness of parts (K, height * width); 0 for a part without any pixel."""
    pictures = parts.astype(np.float64).reshape(len(parts), *size)
    squares = [
        np.mean(np.diff(pictures, axis=axis) ** 2, axis=(1, 2)) for axis in (1, 2)
    ]
    energy = np.maximum(np.mean(pictures**2, axis=(1, 2)), 1e-300)
    return float(np.mean((squares[0] + squares[1]) / 2 / energy))


def _each(
    points: Sequence[Point], runs: Runs, figure: Callable[[Run], float]
) -> list[Measured]:
    return [
        _summary(point, figure(runs[point.key]))
        for point in points
        if point.key in runs
    ]


def compared_with_plain(compare: Callable[[Run, Run], float]) -> Measure:
    """A figure of each private run and of the run without privacy on the same data."""

    def measure(points: Sequence[Point], runs: Runs, _: str) -> list[Measured]:
        there = [(point, runs[point.key]) for point in points if point.key in runs]
        plain = {
            point.grid["data"]: run for point, run in there if point.label == PLAIN
        }
        return [
            _summary(point, compare(run, plain[point.grid["data"]]))
            for point, run in there
            if point.label != PLAIN and point.grid["data"] in plain
        ]

    return measure


def _summary(point: Point, figure: float) -> Measured:
    return Measured(
        point.label, point.spec.algorithm, point.epsilon, point.grid, (figure,)
    )


# ---- what is judged ------------------------------------------------------------------------------


def costs(results: Results, ids: Sequence[str]) -> list[float]:
    """The relative increase of the objective at 0.5 a step, on these data sets."""
    titles = [entry.title for entry in catalogue().catalogue() if entry.id in ids]
    shares = [
        MeasuredFigure(
            label=PRIVATE,
            epsilon=0.5,
            grid={"data": title},
        )(results)
        / MeasuredFigure(label=PLAIN, grid={"data": title})(results)
        - 1
        for title in titles
        if any(result.grid.get("data") == title for result in results)
    ]
    if not shares:
        raise MissingResult(f"there is no result of {', '.join(ids)}")
    return shares


IMAGES_COST_MORE = above(  # of all images than of any documents
    "at ε = 0.5 a step privacy adds a larger share to the objective of images than of documents",
    lambda results: min(costs(results, (*FACES, "faces"))),
    lambda results: max(costs(results, (*DOCUMENTS, "news"))),
    "{:.0%} of images, {:.0%} of documents",
)


def _remark(results: Results, ids: Sequence[str]) -> str:
    """The results of a start without private data, and which source data are missing."""
    random = [result for result in results if result.label == RANDOM]
    titles = {entry.id: entry.title for entry in catalogue().catalogue()}
    present = {result.grid["data"] for result in results}
    missing = [titles[name] for name in ids if titles[name] not in present]
    words = "With the source's start, which is computed from the private data, nothing is proved."
    if random:
        at = ", ".join(f"{result.median:.4f}" for result in random)
        epsilon = budget_text(random[0].epsilon or 0)
        words = f"From a random start it is {at} at ε = {epsilon} a step. {words}"
    if 0 < len(missing) < len(ids):  # otherwise the size names the stand-in
        words = f"{words} Not measured on {', '.join(missing)}."
    return words


remark_on_documents = functools.partial(_remark, ids=DOCUMENTS)
remark_on_faces = functools.partial(_remark, ids=FACES)


def remark_on_words(results: Results) -> str:
    at = ", ".join(
        f"{result.median:.1f}" for result in results if result.label == RANDOM
    )
    return f"From a random start {at} of ten words are shared."


def spread(results: Results) -> float:
    """The relative range of the figures, without the random start."""
    medians = [result.median for result in results if result.label != RANDOM]
    if not medians:
        raise MissingResult("there is no result")
    return max(medians) / min(medians) - 1


ALL_ALIKE = between(
    "all scores, with privacy and without, are within 1% of each other",
    spread,
    -1,
    0.01,
    "largest over smallest, less 1,",
)
