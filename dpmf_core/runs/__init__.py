"""Runs: their specification, their result, and the store of finished runs."""
