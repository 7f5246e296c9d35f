"""Computes runs: queue and workers."""
