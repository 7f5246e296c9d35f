"""Evaluation of a fitted model. Computed on raw data, never released."""
