"""Compute runs: a queue and worker processes."""
