"""Corrections of Vallet, Friedman & Berkovsky 2014: concessions, measured, and open points."""

import math

import numpy as np

from dpmf_core.algorithms.no_retention import Biases
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.papers.erratum import Attack, Means, Values
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec


def without_and_with() -> Values:
    """Compare the errors of both biases and of user biases alone; the paper has no formula."""
    ratings = open_ratings(DataSpec(id="cinema-small"))
    residuals = (Biases.of(ratings, of_items).residuals for of_items in (False, True))
    alone, both = (math.sqrt(float(np.mean(it.astype(np.float64) ** 2))) for it in residuals)
    return 0.0, both, alone


MEANS: dict[str, Means] = {
    "vallet-retention": Attack(
        AuditSpec(algorithm="no-retention", runs=400, parameters={"variant": "new"}),
        0.0,
    ),
    "vallet-item-biases": without_and_with,
}
