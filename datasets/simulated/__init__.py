"""Simulated data sets, which need no download."""
