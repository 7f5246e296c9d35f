"""Corrections of Vallet, Friedman & Berkovsky 2014: concessions, measured, and open points."""

import math

import numpy as np

from dpmf_core.algorithms.retention_server import Biases
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.papers.erratum import Attack, Comparison, Means, Reading
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


MEANS: dict[str, Means] = {
    "vallet-retention": Attack(
        AuditSpec(algorithm="no-retention", runs=400, parameters={"variant": "new"}),
        Reading("ratings that the server keeps", 0.0, "{:.0f} ratings"),
    ),
    "vallet-item-biases": _with_and_without,
}
