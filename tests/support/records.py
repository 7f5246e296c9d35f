"""Finished runs that nothing has computed, and computed ones with something changed."""

from typing import Any

from dpmf_core.runs.record import Run, RunRecord

LEAST: dict[str, Any] = {
    "title": "a run",
    "guarantee": {"status": "PROVEN", "words": "Proved."},
    "public": True,
}


def run_of(**parts: Any) -> Run:
    """A run whose record has these parts; spec is one of them."""
    return Run(RunRecord.model_validate(LEAST | parts))


def altered(run: Run, **parts: Any) -> Run:
    """The same run with parts of its record changed."""
    return Run(RunRecord.model_validate(run.record.to_dict() | parts), run.arrays)
