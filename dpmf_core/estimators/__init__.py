"""Factorisations as scikit-learn has them: private recommenders, non-private ones to compare
with, and non-negative components.
"""

from dpmf_core.estimators.model_selection import RatingFolds, privacy_price
from dpmf_core.estimators.nmf import PlainNMF, PrivateNMF
from dpmf_core.estimators.recommenders import PlainRecommender, PrivateRecommender

__all__ = [
    "PlainNMF",
    "PlainRecommender",
    "PrivateNMF",
    "PrivateRecommender",
    "RatingFolds",
    "privacy_price",
]
