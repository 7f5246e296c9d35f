"""Invented data sets, always there."""
