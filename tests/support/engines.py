"""Runs to be computed elsewhere, short and long, and waiting for what becomes of them."""

from typing import Any

from dpmf_core.runs.specification import RunSpec

CATALOGUE = "tests.support.two_sets"
QUICK: dict[str, Any] = {
    "data": {"id": "small"},
    "algorithm": "private-bias",
    "budget": {"epsilon": 2.0, "delta": 1e-5},
}
LONG: dict[str, Any] = {
    "data": {"id": "medium"},
    "algorithm": "als",
    "parameters": {"rank": 32, "steps": 200},
}


def spec(parts: dict[str, Any], **more: Any) -> RunSpec:
    return RunSpec.parse(**{**parts, **more})
