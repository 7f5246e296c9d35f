"""Audits: lower bounds on epsilon, measured by attacks."""
