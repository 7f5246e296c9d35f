"""A store in which nothing is computed at first, for all pages."""

from tests.pages.conftest import accounts, own_store

__all__ = ["accounts", "own_store"]
