"""Corrections of Saha & Imtiaz 2022, private non-negative matrix factorisation."""

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.nmf import starting_factors
from dpmf_core.data.samples import Samples
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.kernels import components as kernel
from dpmf_core.papers import source_noise
from dpmf_core.papers.erratum import EXACT, Attack, Comparison, Means, Reading, nominal
from dpmf_core.privacy import Gaussian, Relation, Repeat, normal_form, sequence
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import rdp_source
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.specification import DataSpec

DELTA = 1e-5
ADD, REPLACE = Relation
Array = npt.NDArray[Any]
# Table 4, at .3 a step: DP-NMF, and DPNMF of Ran et al. next to it
TABLE_4_ERRORS = (0.0675, 1.1953)
# MovieLens 1M as published: how many users, films, and ratings of 1 to 5 stars
USERS, FILMS = 6040, 3706
RATINGS = (56_174, 107_557, 261_197, 348_971, 226_310)


def total() -> Comparison:
    """Account 0.5 for each of two statistics in each step."""
    hundred, more = (source_noise.saha(0.5, DELTA, steps).event for steps in (100, 500))
    return Comparison(
        nominal(0.5),
        Reading("exact total of 100 steps", exactly(hundred, DELTA)),
        (
            Reading("by its own rule, 100 steps", rdp_source(hundred, DELTA, ADD)),
            Reading("exact total of 500 steps", exactly(more, DELTA), "ε = {:.1f}"),
        ),
    )


def sensitivities() -> Comparison:
    """Account the same noise with the true sensitivities."""
    own, tight, with_outliers = (
        source_noise.saha(0.5, DELTA, 100, tight=tight, outliers=outliers).event
        for tight, outliers in ((False, False), (True, False), (True, True))
    )
    (first, steps), (second, _) = normal_form(own)
    of_any_sign = sequence(
        Repeat(Gaussian(math.sqrt(2) * first.noise_multiplier), steps),
        Repeat(Gaussian(second.noise_multiplier), steps),
    )
    return Comparison(
        Reading("exact total, sensitivities of the source", exactly(own, DELTA)),
        Reading(EXACT[REPLACE], exactly(tight, DELTA, REPLACE)),
        (
            Reading(EXACT[ADD], exactly(tight, DELTA)),
            Reading("with outliers, a unit replaced", exactly(with_outliers, DELTA, REPLACE)),
            Reading("rows of any sign, a unit replaced", exactly(of_any_sign, DELTA)),
        ),
    )


@functools.cache
def _faces() -> Array:
    """Return simulated faces, each scaled to a largest pixel of 1."""
    faces = open_data(DataSpec(id="faces"))
    assert isinstance(faces, Samples)
    X = np.asarray(faces.X, np.float64)
    return np.asarray(X / np.maximum(X.max(axis=1, keepdims=True), 1e-300))


def scaled_to_maximum() -> Comparison:
    """Account the noise for a face whose largest pixel is 1."""
    norms = np.linalg.norm(_faces(), axis=1)
    longest = float(norms.max())
    tight = source_noise.saha(0.5, DELTA, 100, tight=True).event
    (first, steps), (second, _) = normal_form(tight)
    longest_event = sequence(
        Repeat(first, steps), Repeat(Gaussian(second.noise_multiplier / longest), steps)
    )
    return Comparison(
        Reading("exact total, rows of norm 1", exactly(tight, DELTA)),
        Reading("exact total of the longest row", exactly(longest_event, DELTA)),
        (
            Reading("L2 norm of a row of maximum 1, median", float(np.median(norms)), "{:.1f}"),
            Reading("L2 norm of a row of maximum 1, largest", longest, "{:.1f}"),
        ),
    )


def _first_step(V: Array) -> tuple[Array, Array]:
    """Return coefficients and components when Algorithm 2 first releases A. Samples are rows.

    W comes from NNDSVD with columns in the unit ball, H is the argmin.
    """
    W = kernel.in_unit_ball(starting_factors(V, PARTS, "nndsvd", 0)[1])
    return kernel.coefficients(V @ W.T, W @ W.T, passes=5000, close=1e-12), W


PARTS, SAMPLES = 13, 400


def coefficients_of_the_listing() -> Comparison:
    """Compare the lengths of a sample's coefficients without normalisation."""
    norms = np.linalg.norm(_first_step(_faces()[:SAMPLES])[0], axis=1)
    form = "norm {:.1f}"
    return Comparison(
        Reading("the norm of h that the sensitivities assume", 1.0, form),
        Reading("largest norm of h in the first step", float(norms.max()), form),
        (Reading("median norm of h", float(np.median(norms)), form),),
    )


def neighbours_at_the_start() -> Comparison:
    """Compare how far A moves in the first step when one of 400 faces is replaced.

    The replacement is an image of a single pixel; coefficients longer than 1 are scaled to 1.
    """
    V = _faces()[:SAMPLES] / np.linalg.norm(_faces()[:SAMPLES], axis=1, keepdims=True)
    other = V.copy()
    other[0] = np.eye(1, V.shape[1])
    H, H_other = (kernel.in_unit_ball(_first_step(rows)[0]) for rows in (V, other))
    is_other = np.abs(H - H_other)[1:].max(axis=1) > 1e-9
    form = "{:.1f}/N"
    return Comparison(
        Reading("how far A moves, as counted", 2.0, form),
        Reading("how far A moves", float(np.linalg.norm(H.T @ H - H_other.T @ H_other)), form),
        (Reading("columns of other samples that differ", float(is_other.mean()), "{:.0%}"),),
    )


def units_of_table_4() -> Comparison:
    """Compare Table 4 with the error of predicting 0 for all of MovieLens 1M, in three units."""
    squares = sum(count * stars**2 for stars, count in enumerate(RATINGS, start=1))
    rated, every_pair = sum(RATINGS), USERS * FILMS
    rows, stars = "{:.4f}", "{:.2f} stars"
    return Comparison(
        Reading("Table 4, its own method at .3 a step", TABLE_4_ERRORS[0], rows),
        Reading("predicting 0, rows of norm 1, rated pairs", math.sqrt(USERS / rated), rows),
        (
            Reading("Table 4, the method next to it at .3", TABLE_4_ERRORS[1], rows),
            Reading("predicting 0, in stars, rated pairs", math.sqrt(squares / rated), stars),
            Reading("predicting 0, in stars, all pairs", math.sqrt(squares / every_pair), stars),
        ),
    )


def coherence_of_table_3() -> Comparison:
    """Compare two neighbouring rows of the table."""
    form = "{:.4f}"
    return Comparison(
        Reading("Table 3, Guardian, at .8 a step", 0.4547, form),
        Reading("Table 3, Guardian, at .999 a step", 0.4540, form),
        (Reading("Table 3, Guardian, at .9 a step", 0.4543, form),),
    )


def weights_of_others() -> Comparison:
    """Count the other documents whose TF-IDF weights change when the first one is emptied."""
    documents = open_data(DataSpec(id="news", weighting="none"))
    assert isinstance(documents, Samples)
    X: Any = documents.X
    present = np.asarray(X.toarray() if hasattr(X, "toarray") else X) > 0
    changed = _idf(present.sum(axis=0), len(present)) != _idf(present[1:].sum(axis=0), len(present))
    # a document of which all weights change by one factor would be scaled back: none is so here
    touched = (present[1:] & changed).any(axis=1)
    return Comparison(
        Reading("columns of other documents that change, as counted", 0.0, "{:.0%}"),
        Reading("columns of other documents that change", float(touched.mean()), "{:.0%}"),
        (Reading("documents", len(present), "{:,.0f}"),),
    )


def _idf(documents: Array, total: int) -> Array:
    """Return the inverse document frequency as scikit-learn fits it."""
    return np.log((1 + total) / (1 + documents)) + 1


MEANS: dict[str, Means] = {
    "saha-neighbours": neighbours_at_the_start,
    "saha-start": Attack(
        AuditSpec(
            algorithm="dp-nmf",
            epsilon=1.0,
            fault="exact-start",
            runs=400,
            seed=3,
            parameters={"steps": 2},
        ),
        nominal(1.0),
    ),
    "saha-coherence": coherence_of_table_3,
    "saha-normalisation": coefficients_of_the_listing,
    "saha-scaling": scaled_to_maximum,
    "saha-total": total,
    "saha-units": units_of_table_4,
    "saha-vocabulary": weights_of_others,
    "saha-sensitivities": sensitivities,
}
