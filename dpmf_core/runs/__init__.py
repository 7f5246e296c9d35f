"""Runs: what is asked, what comes out, and where finished runs are kept."""
