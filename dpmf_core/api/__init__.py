"""Data, training, and estimators with the conventions of scikit-learn, for Python programs."""
