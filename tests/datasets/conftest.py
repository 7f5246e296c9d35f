"""Files are read in this process, which takes less time than a child; test_hostile_files starts
children.
"""

import pytest

from dpmf_datasets import sandbox


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "is_inside", True)
