"""Quotes are the sources' own words: they are looked up in the text of the papers, where a folder
with it is named.
"""

import os
import re
import unicodedata
from pathlib import Path

import pytest

from dpmf_core.papers.paper import Paper
from dpmf_core.papers.registry import PAPERS

FOLDER = os.environ.get("DPMF_PAPERS", "")


def plain(text: str) -> str:
    """Letters and digits alone: line breaks, hyphens, ligatures and fonts of a printed page do not
    matter.
    """
    letters = unicodedata.normalize("NFKC", text).lower()
    return "".join(re.findall(r"[a-z0-9]+", letters))


@pytest.mark.skipif(not FOLDER, reason="DPMF_PAPERS does not name a folder with the papers' text")
@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS.keys())
def test_every_quote_is_in_the_text(paper: Paper) -> None:
    text = plain((Path(FOLDER) / f"{paper.id.replace('-', '_')}.txt").read_text(encoding="utf-8"))
    clauses = [clause for claim in paper.claims for clause in claim.clauses]
    quotes = [it.quote for it in (*clauses, *paper.errata)]
    pieces = [piece for quote in quotes for piece in quote.split("[...]")]
    assert not [piece for piece in pieces if plain(piece) not in text]
