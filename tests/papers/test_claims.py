"""What claims refer to exists: their sources' data, the lines of their marks, their pages."""

import pytest

from dpmf_core.data.catalogue import catalogue
from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Figure
from dpmf_core.papers.registry import CLAIMS, FIGURES, TABLES
from pages.kit.page_table import page_meant

# published of methods that are not run here
PUBLISHED_ONLY = {
    "chien-fig3c": {"Auto-encoder"},
}


def unknown_sources(claim: Claim) -> set[str]:
    return set(claim.source_ids) - {entry.id for entry in catalogue().catalogue()}


def labels(claim: Claim) -> set[str]:
    """Of all that is run or was measured of it."""
    run = {
        method.name for full in (False, True) for it in claim.sweeps(full) for method in it.methods
    }
    stored_results = (results.recorded_result(claim.id, size) for size in results.SIZES)
    return run | {it.label for result in stored_results if result for it in result.measured}


def is_on_its_page(figure: Figure) -> bool:
    """Whether there is its page, which draws all of its figures; that of the papers has claims."""
    found_page = page_meant(figure.page)
    return found_page is not None and (found_page[0] != "papers" or figure.id not in TABLES)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_what_a_claim_refers_to_exists(claim: Claim) -> None:
    assert bool(claim.source_ids) <= bool(claim.source_data)
    assert not unknown_sources(claim), "the catalogue has no such data"
    strange = {mark.label for mark in claim.marks} - labels(claim)
    assert strange == PUBLISHED_ONLY.get(claim.id, set()), "no method of the claim has this label"


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES.keys())
def test_a_figure_is_drawn_on_its_page(figure: Figure) -> None:
    assert is_on_its_page(figure)
