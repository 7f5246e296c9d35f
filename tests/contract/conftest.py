"""Fast tests of the contract try a method on one small world; the slow suite on every kind of data.

Any three choices of parameters are tried on the small world alone: other worlds differ in their
rows, and not in what a choice does.

Privacy is also tried with people who have several rows: their laws are no others, their worst
cases are.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
OTHER_WORLDS = ("images", "of people")


def pytest_collection_modifyitems(config, items):
    # it is handed all tests
    contract = [item for item in items if item.path.parent == HERE]
    of_others = [
        item for item in contract if any(world in item.name for world in OTHER_WORLDS)
    ]
    for item in of_others:
        if not ("test_privacy" in item.nodeid and "documents of people" in item.nodeid):
            item.add_marker(pytest.mark.slow)
    repeats = [item for item in of_others if "-three" in item.nodeid]
    config.hook.pytest_deselected(items=repeats)
    items[:] = [item for item in items if item not in set(repeats)]
