"""Every law holds for people with several rows too; what repeats the laws of single rows is
left to the slow suite.
"""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "of people" in item.nodeid and "test_privacy" not in item.nodeid:
            item.add_marker(pytest.mark.slow)
