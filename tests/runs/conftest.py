"""Data that several tests of runs share."""

from pathlib import Path

import pytest

from tests.support.clinic import write_clinic


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a private table of 400 users; runs are in a folder of this test."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    return write_clinic(tmp_path)
