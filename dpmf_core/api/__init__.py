"""Data, training, and estimators that follow scikit-learn's conventions, for Python programs."""
