"""Readers of files that people bring."""
