"""Factorisations as scikit-learn has them: private recommenders, their twins without privacy, and
non-negative components.
"""

from dpmf_core.estimators.model_selection import RatingFolds, privacy_price
from dpmf_core.estimators.nmf import PrivateNMF
from dpmf_core.estimators.recommenders import PlainRecommender, PrivateRecommender

__all__ = [
    "PlainRecommender",
    "PrivateNMF",
    "PrivateRecommender",
    "RatingFolds",
    "privacy_price",
]
