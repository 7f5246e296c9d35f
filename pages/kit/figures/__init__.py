"""Figures of all pages, and what draws them from runs and tables."""
