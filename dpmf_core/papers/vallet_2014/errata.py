"""Corrections of Vallet, Friedman & Berkovsky 2014: concessions, measured, and open points."""

import math

import numpy as np

from dpmf_core.algorithms.retention_server import Biases
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.papers.erratum import Attack, Comparison, Erratum, Reading, Status
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec


def _with_and_without() -> Comparison:
    ratings = open_ratings(DataSpec(id="cinema-small"))
    alone, both = (
        math.sqrt(float(np.mean(Biases.of(ratings, of_items).residuals.astype(np.float64) ** 2)))
        for of_items in (False, True)
    )
    return Comparison(
        Reading("user biases alone", alone, "RMSE {:.3f}"),
        Reading("user and item biases", both, "RMSE {:.3f}"),
    )


ERRATA = (
    Erratum(
        id="vallet-retention",
        title="Data that are not stored are not hidden",
        place="Section 5",
        status=Status.CONCEDED,
        quote="this does not prevent possible leakages of item-related data [...] it could still be"
        " abused to derive personal information [...] addressing this risk would require the use of"
        " complementing privacy mechanisms, such as differential privacy",
        statement="Item factors on the server may reveal personal information, though such attacks"
        " need more effort and auxiliary data. The paper claims no differential privacy.",
        holds="They do. Item factors are computed from exact ratings without noise, and an"
        " attacker who sees them can tell whether a person took part.",
        section="Retention and privacy",
        means=Attack(
            AuditSpec(algorithm="no-retention", runs=400, parameters={"variant": "new"}),
            Reading("ratings that the server keeps", 0.0, "{:.0f} ratings"),
        ),
        stored_figures=("0 ratings", "ε ≥ 3.22"),
        settings="Variant new, δ = 1e-5; 400 runs on a small simulated world, half of them"
        " with one user more; 95% confidence.",
    ),
    Erratum(
        id="vallet-item-biases",
        title="Which item biases?",
        place="Section 4, parameters; section 3.3",
        status=Status.AMBIGUOUS,
        quote="We use the user and item biases as presented in Section 3.3.",
        statement="User and item biases are those of section 3.3. That section gives a formula"
        " only for user biases, and does not say how the server learns item biases without"
        " ratings.",
        holds="Here an item's bias is the mean of its ratings minus their users' means. The server"
        " keeps a sum and a count for each item. The choice matters: the figures are errors on the"
        " same ratings with user biases only and with both.",
        section="Item biases without ratings",
        means=_with_and_without,
        settings="All ratings of the simulated cinema of 2,000 people, no factors.",
    ),
)
