"""Fast tests of the contract try a method on one small world; the slow suite on every kind of data.

Privacy is also tried with people who have several rows: their laws are no others, their worst
cases are.
"""

import pytest

OTHER_WORLDS = ("images", "of people")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        is_other = any(world in item.nodeid for world in OTHER_WORLDS)
        if is_other and not (
            "test_privacy" in item.nodeid and "documents of people" in item.nodeid
        ):
            item.add_marker(pytest.mark.slow)
