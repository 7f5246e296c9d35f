"""Files are read in this process, and each test has a data folder of its own."""

import pytest

from dpmf_datasets import sandbox


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    monkeypatch.setattr(sandbox, "is_inside", True)


@pytest.fixture(autouse=True)
def data_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))
    return tmp_path / "kept"
