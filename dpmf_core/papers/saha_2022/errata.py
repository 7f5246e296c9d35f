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
from dpmf_core.papers.erratum import EXACT, Attack, Comparison, Erratum, Reading, Status, nominal
from dpmf_core.privacy import Gaussian, Relation, Repeat, normal_form, sequence
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.renyi import rdp_source
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


SETTINGS = "ε = .5 for each of two statistics in each step at δ = 1e-5, per sample."
FIRST_STEP = f"{SAMPLES} simulated faces of 576 pixels, K {PARTS}, W and H of the first step."
ERRATA = (
    Erratum(
        id="saha-neighbours",
        title="One sample changes the other columns of H",
        place="section 3.2, derivation of Δ_A; section 4.1",
        status=Status.ERROR,
        quote="By definition, they differ by only one user data. [...] we follow Non negative"
        " Double Singular Value Decomposition",
        statement="The coefficients of neighbouring data sets differ in one column, so A moves by"
        " at most 2/N.",
        holds="W₀ and H₀ come from NNDSVD of all samples. In the first step, one sample changes"
        " the columns of all others, and A moves further than 2/N. A start without private data"
        " avoids this: a column then depends only on its own sample and on earlier releases.",
        section="Neighbours at the start",
        means=neighbours_at_the_start,
        stored_figures=("2.0/N", "26.3/N"),
        settings=FIRST_STEP
        + " Samples and columns of H of norm 1 at most; an image of a single pixel replaces one.",
    ),
    Erratum(
        id="saha-start",
        title="A start from the data is a release",
        place="sections 3.3 and 4.1",
        status=Status.ERROR,
        quote="we follow Non negative Double Singular Value Decomposition",
        statement="W and H start from NNDSVD of the data; only the steps are accounted.",
        holds="NNDSVD is computed from the private samples without noise. Every later step depends"
        " on it, so no ε covers the run. A random start is free; a noisy one is one more release.",
        section="Start from the data",
        means=Attack(
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
        stored_figures=("ε = 1", "ε ≥ 3.05"),
        settings="Two steps with ε = 1 in total at δ = 1e-5, per sample; 400 runs on a small"
        " simulated world, half of them with one sample more (the source replaces one); 95%"
        " confidence.",
    ),
    Erratum(
        id="saha-coherence",
        title="Coherence does not always increase with ε",
        place="section 4.2, Table 3",
        status=Status.ERROR,
        quote="topic coherence score increases with increasing the privacy budget",
        statement="On the Guardian articles coherence increases with the ε of a step.",
        holds="In the source's Table 3 it rises from .5 to .8 and falls from .8 to .9 and to .999.",
        section="Coherence of Table 3",
        means=coherence_of_table_3,
        settings="The figures are printed in the source.",
    ),
    Erratum(
        id="saha-normalisation",
        title="Algorithm 2 does not list the normalisation",
        place="section 3.2 and Algorithm 2",
        status=Status.AMBIGUOUS,
        quote="One way to do that is by normalizing each column of [...] To get a constant [...]"
        " sensitivity value in (14), we normalized both the columns of",
        statement="The columns of V and R are normalised; normalising those of H is one way to"
        " bound a sample's contribution to A.",
        holds="Algorithm 2 lists no such step: as listed, coefficients are longer than 1. With the"
        " normalisation of section 3.2 the bounds hold. Our version clips samples, coefficients"
        " and cleaned samples to norm 1.",
        section="Normalisation in Algorithm 2",
        means=coefficients_of_the_listing,
        stored_figures=("norm 1.0", "norm 8.6"),
        settings=FIRST_STEP + " Samples of maximum 1, as section 4 scales them.",
    ),
    Erratum(
        id="saha-scaling",
        title="Two ways to scale a sample",
        place="section 3.2 and section 4",
        status=Status.AMBIGUOUS,
        quote="we normalized both the columns of [...] we normalized each data sample of [...] so"
        " that it has a unit maximum index value",
        statement="Section 3.2 normalises the columns of V, for Δ_B; section 4 scales each sample"
        " to a largest entry of 1.",
        holds="The sensitivities need an L2 norm of at most 1. With a largest entry of 1, a sample"
        " is longer and moves B further, by up to the root of its number of entries. With an L2"
        " norm of 1 the bounds hold.",
        section="Scaling of rows",
        means=scaled_to_maximum,
        stored_figures=("ε = 3.05", "ε = 40.57"),
        settings=SETTINGS + " 100 steps without outliers, add/remove, sensitivities that hold;"
        " simulated faces of 576 pixels.",
    ),
    Erratum(
        id="saha-total",
        title="ε is for one statistic in one step",
        place="section 4.3, Fig. 7",
        status=Status.AMBIGUOUS,
        quote="In the case of [...] DP Private, the facial features are noisy",
        statement="Results after all steps are described as (0.5, 1e-5)-DP.",
        holds="That ε is for each of two statistics in each step (Algorithm 2). The source plots"
        " the total next to it in Figures 3 and 6; its tables and the text of Fig. 7 print ε"
        " without the total. A run costs the total.",
        section="Epsilon of a step",
        means=total,
        settings=SETTINGS
        + " 100 steps with the sensitivities of the source, accounted exactly; the"
        " formula of section 3.3 gives more.",
    ),
    Erratum(
        id="saha-units",
        title="Table 4 seems to mix units",
        place="section 4.4, Table 4",
        status=Status.AMBIGUOUS,
        quote="is the number of user-item pairs",
        statement="On MovieLens 1M the method has an RMSE of .0675, the method next to it 1.1953.",
        holds="By section 4.4 V contains ratings, so both would be in stars. The first has the"
        " size of an error of scaled rows, where predicting 0 everywhere also errs little: by"
        " .0777 in rows of norm 1. The second has the size of an error in stars. Section 4 scales"
        " the samples of its six data sets to a largest entry of 1, section 3.2 normalises them;"
        " for MovieLens 1M neither the scaling nor K nor the number of steps is printed.",
        section="Units of Table 4",
        means=units_of_table_4,
        settings="MovieLens 1M by its published counts: 6,040 users, 3,706 films with ratings,"
        " 1,000,209 ratings.",
    ),
    Erratum(
        id="saha-vocabulary",
        title="A document's weights depend on other documents",
        place="section 3.2 and Appendix A.2",
        status=Status.AMBIGUOUS,
        quote="we use scikit-learn default function TfidfVectorizer() to produce TF-IDF normalized"
        " document-term matrix",
        statement="A sample is a column of TF-IDF weights, and neighbours differ in one column.",
        holds="Vocabulary and weights are fitted on all documents, so one document changes columns"
        " of others. The source does not say whether they are public. If they are, the bounds"
        " hold; if not, they are one more release. A hashed vocabulary with local weights needs no"
        " such assumption.",
        section="Fitted vocabulary",
        means=weights_of_others,
        stored_figures=("0%", "100%"),
        settings="Simulated news; one document is replaced by an empty one.",
    ),
    Erratum(
        id="saha-sensitivities",
        title="2/N and 4/N are larger than necessary",
        place="section 3.2",
        status=Status.LOOSE,
        quote="In the case of excluding the outlier effect, we can stop the update of outlier"
        " matrix",
        statement="For normalised columns A moves by at most 2/N, and B by 2/N, or by 4/N with"
        " outliers.",
        holds="These bounds hold. Since entries of H and V are not negative, replacing a sample"
        " moves A and B by at most √2/N, and B by (2 + √2)/N with outliers; adding or removing one"
        " moves them by half of the source's bounds. So the same noise costs less.",
        section="Sensitivities of A and B",
        means=sensitivities,
        settings=SETTINGS + " 100 steps; both figures without outliers.",
    ),
)
