"""docs/PRIVACY.md covers every statistic that a plan can hold, and every algorithm's guarantee."""

import math
import re
from collections.abc import Iterator

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.algorithms.base import Algorithm
from dpmf_core.curator import Statistic
from dpmf_core.privacy import Status, normal_form
from dpmf_core.testing.homes import homes_of
from dpmf_core.testing.parameters import corners
from tests.docs.markdown import ROOT

TEXT = (ROOT / "docs" / "PRIVACY.md").read_text("utf-8")
LEDGER = set(re.findall(r"^Ledger: `([^`]+)`", TEXT, re.M))
TABLE = TEXT.split("## Guarantee of each algorithm")[1].split("## Corrections")[0]


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=list(REGISTRY))
def test_every_statistic_has_a_section(kind: type[Algorithm]) -> None:
    shape = homes_of(kind)[0].world().shape
    for parameters in ({}, *corners(kind, shape)):
        statistics = {
            leaf.statistic for leaf, _ in normal_form(kind(**parameters).plan(shape, 1.0))
        }
        assert statistics <= LEDGER, f"{kind.id} with {parameters}"


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=list(REGISTRY))
def test_the_table_of_guarantees_says_what_the_code_says(kind: type[Algorithm]) -> None:
    status = kind().guarantee().status
    rows = [row for row in TABLE.splitlines() if f"`{kind.id}`" in row]
    if status is Status.NONE:
        assert rows == []
    else:
        assert rows and str(status) in rows[0]


def kinds_of(base: type[Statistic]) -> Iterator[type[Statistic]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def test_every_statistic_cites_its_section() -> None:
    """`tests/docs/test_links.py` sees that the section is there. What has no bound is never
    released.
    """
    ours = [
        kind
        for kind in kinds_of(Statistic)
        if kind.__module__.startswith("dpmf_core") and kind.sensitivity != math.inf
    ]
    assert len(ours) >= 6
    for kind in ours:
        assert 'docs/PRIVACY.md, "' in (kind.__doc__ or ""), kind.__name__
