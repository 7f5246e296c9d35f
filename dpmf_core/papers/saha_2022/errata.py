"""Errata of Saha & Imtiaz 2022, private non-negative matrix factorisation."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.audit.membership_inference import Audit, AuditSpec
from dpmf_core.data.samples import Samples
from dpmf_core.papers import source_noise
from dpmf_core.papers.erratum import (
    EXACT,
    Attack,
    Comparison,
    Erratum,
    Reading,
    Status,
    attack_could_show,
    attack_shows,
    epsilon_form,
    nominal,
)
from dpmf_core.privacy import Gaussian, Relation, Repeat, normal_form, sequence
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.renyi import rdp_source
from dpmf_core.runs.data_access import open_data, open_ratings
from dpmf_core.runs.specification import DataSpec

S22 = "Saha & Imtiaz 2022"
DELTA = 1e-5
ADD, REPLACE = Relation
Array = npt.NDArray[Any]
# Table 4, at .3 a step: DP-NMF, and DPNMF of Ran et al. beside it
TABLE_4_ERRORS = (0.0675, 1.1953)
# a row of norm 1 for each of 6,040 users, over 1,000,209 ratings
MOVIELENS_1M = math.sqrt(6040 / 1_000_209)


def total() -> Comparison:
    """What 0.5 for each of two statistics in each step adds up to."""
    hundred, more = (source_noise.saha(0.5, DELTA, steps).event for steps in (100, 500))
    return Comparison(
        nominal(0.5),
        Reading("exact total of 100 steps", exactly(hundred, DELTA)),
        (
            Reading("by its own rule, 100 steps", rdp_source(hundred, DELTA, ADD)),
            Reading("exact total of 500 steps", exactly(more, DELTA), epsilon_form(1)),
        ),
    )


def sensitivities() -> Comparison:
    """The same noise against the sensitivities that hold."""
    own, tight = (source_noise.saha(0.5, DELTA, 100, tight=tight).event for tight in (False, True))
    return Comparison(
        Reading("exact total, sensitivities of the source", exactly(own, DELTA)),
        Reading(EXACT[REPLACE], exactly(tight, DELTA, REPLACE)),
        (Reading(EXACT[ADD], exactly(tight, DELTA)),),
    )


def scaled_to_maximum() -> Comparison:
    """What the noise costs a face whose largest pixel is 1."""
    faces = open_data(DataSpec(id="faces"))
    assert isinstance(faces, Samples)
    X = np.asarray(faces.X)
    norms = np.linalg.norm(X, axis=1) / np.maximum(X.max(axis=1), 1e-300)
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


def units_of_table_4() -> Comparison:
    """Table 4 beside predicting 0 in its unit; two predictors of the cinema in both units."""
    ratings = open_ratings(DataSpec(id="cinema-small"))
    counts = np.maximum(np.diff(ratings.by_user), 1)
    lengths = np.sqrt(np.bincount(ratings.users, ratings.values**2.0, ratings.n_users))
    means = np.bincount(ratings.users, ratings.values, ratings.n_users) / counts
    residuals = ratings.values - means[ratings.users]

    def rmse(errors: Array) -> float:
        return math.sqrt(float(np.mean(np.square(errors, dtype=np.float64))))

    in_rows, stars = "{:.4f}", "{:.2f} stars"
    return Comparison(
        Reading("Table 4, its own method at .3 a step", TABLE_4_ERRORS[0], in_rows),
        Reading(
            "predicting 0 for all of MovieLens 1M, in this unit", MOVIELENS_1M, "zeros: {:.4f}"
        ),
        (
            Reading("Table 4, the method beside it at .3", TABLE_4_ERRORS[1], in_rows),
            Reading(
                "a user's own mean in the cinema, rows of norm 1",
                rmse(residuals / lengths[ratings.users]),
                in_rows,
            ),
            Reading("the same predictions, in stars", rmse(residuals), stars),
            Reading(
                "predicting 0 in the cinema, rows of norm 1",
                rmse(ratings.values / lengths[ratings.users]),
                in_rows,
            ),
            Reading("the same, in stars", rmse(ratings.values), stars),
        ),
    )


def fitted_weights() -> Comparison:
    """How many of a document's words are read off IDF weights that were fitted with it, by who
    knows all other documents.
    """
    documents = open_data(DataSpec(id="news", weighting="none"))
    assert isinstance(documents, Samples)
    present = np.asarray(documents.X.toarray() if hasattr(documents.X, "toarray") else documents.X)
    present = present > 0
    weights = _idf(present.sum(axis=0), len(present))
    others = _idf((present[1:]).sum(axis=0), len(present))
    revealing = weights != others
    share = float((revealing & present[0]).sum() / present[0].sum())
    assert not (revealing & ~present[0]).any()
    return Comparison(
        Reading("ε counted for vocabulary and weights", 0.0, epsilon_form(0)),
        Reading("read off the weights, of one document", share, "{:.0%} of its words"),
        (Reading("documents that are known besides", len(present) - 1, "{:,.0f}"),),
    )


def _idf(documents: Array, total: int) -> Array:
    """Inverse document frequency as scikit-learn fits it."""
    return np.log((1 + total) / (1 + documents)) + 1


def _start(audit: Audit) -> Comparison:
    return Comparison(nominal(1.0), attack_shows(audit), (attack_could_show(audit),))


SETTINGS = "ε = .5 for each of two statistics in each step at δ = 1e-5, per sample."
ERRATA = (
    Erratum(
        id="saha-total",
        title="ε is of one statistic in one step",
        source=S22,
        place="Algorithm 2; figures and tables of section 4",
        status=Status.AMBIGUOUS,
        statement="Results are shown and tabled against ε from .3 to .999.",
        holds="That ε is each of two statistics', in each step. The source plots a total beside it"
        " in its Figures 3 and 6; its tables and text name the ε of a step. A run costs the total.",
        section="Epsilon of a step",
        means=total,
        settings=SETTINGS + " With the sensitivities of the source.",
    ),
    Erratum(
        id="saha-sensitivities",
        title="2/N and 4/N are loose",
        source=S22,
        place="Sensitivity of A and B",
        status=Status.LOOSE,
        statement="A = HHᵀ/N moves by at most 2/N, B = (V − R)Hᵀ/N by at most 4/N.",
        holds="Both hold. Rows and coefficients within norm 1 move A and B by 1/N when one is added"
        " or removed; replaced, by √2/N and 2/N. The same noise costs a good deal less.",
        section="Sensitivities of A and B",
        means=sensitivities,
        settings=SETTINGS + " 100 steps.",
    ),
    Erratum(
        id="saha-start",
        title="A start from the data is a release",
        source=S22,
        place="Section 4, NNDSVD start",
        status=Status.ERROR,
        statement="W starts from NNDSVD of the data; the steps are accounted.",
        holds="NNDSVD is computed from the private rows without noise. What follows carries it"
        " along, so no ε covers the run. A random start is free; a noisy one is one more release.",
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
            _start,
        ),
        stored_figures=("ε = 1", "ε ≥ 3.05"),
        settings="Two steps with ε = 1 in total at δ = 1e-5, per sample; 400 trainings on a small"
        " simulated world, half of them with one sample more; 95% confidence.",
    ),
    Erratum(
        id="saha-scaling",
        title="A row of maximum 1 is longer than 1",
        source=S22,
        place="Section 4, preprocessing",
        status=Status.ERROR,
        statement="Each sample is scaled so that its largest entry is 1.",
        holds="The sensitivities need an L2 norm of at most 1. A row whose largest entry is 1 can"
        " be as long as the root of its number of entries, and moves B as far.",
        section="Scaling of rows",
        means=scaled_to_maximum,
        stored_figures=("ε = 2.34", "ε = 16.12"),
        settings=SETTINGS + " 100 steps, add/remove, sensitivities that hold; simulated faces of"
        " 576 pixels. With rows and coefficients clipped in L2 nothing is wrong.",
    ),
    Erratum(
        id="saha-units",
        title="Table 4 compares two units",
        source=S22,
        place="Table 4",
        status=Status.AMBIGUOUS,
        statement="On MovieLens 1M the method has an RMSE of .0675, the one beside it 1.1953.",
        holds="The first is measured on rows scaled to norm 1, the second is in stars by its size."
        " On rows of norm 1 predicting 0 for everything has a small error too, the root of users"
        " over ratings: .0777 on MovieLens 1M.",
        section="Units of Table 4",
        means=units_of_table_4,
        stored_figures=("0.0675", "zeros: 0.0777"),
        settings="MovieLens 1M by its published counts, 6,040 users and 1,000,209 ratings; the"
        " small simulated cinema with all its ratings, not held out.",
    ),
    Erratum(
        id="saha-vocabulary",
        title="A fitted vocabulary is a release",
        source=S22,
        place="Section 4, TF-IDF",
        status=Status.ERROR,
        statement="Vocabulary and TF-IDF weights are fitted on the documents that are protected.",
        holds="They are exact functions of private documents and cost privacy of their own. A proof"
        " may assume that they are public, and must say so. A hashed vocabulary with local weights"
        " needs no such assumption.",
        section="Fitted vocabulary",
        means=fitted_weights,
        stored_figures=("ε = 0", "100% of its words"),
        settings="Simulated news. Who knows all documents but one compares published weights with"
        " those of the others.",
    ),
)
