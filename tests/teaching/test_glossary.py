"""The glossary: whole, and linked from words without breaking them."""

import re

import pytest

from dpmf_core.teaching.glossary import TERMS, linked


def test_every_term_has_words_a_formula_and_a_source():
    assert len(TERMS) >= 20
    for term in TERMS.values():
        assert len(term.words) > 30
        assert term.formula
        assert term.source
        assert "$" not in term.formula


def test_the_first_mention_of_each_term_is_a_link_that_the_page_can_read():
    text = linked(
        "Clipping makes the sensitivity known; sensitivity is what noise is measured in. δ = 1e-5,"
        " add/remove."
    )
    links = dict(re.findall(r"\[([^\]]*)\]\(glossary\?term=([^)]*)\)", text))
    assert links == {
        "Clipping": "clipping",
        "sensitivity": "sensitivity",
        "δ": "delta",
        "add/remove": "neighbouring%20relation",
    }
    assert text.count("[sensitivity]") == 1


@pytest.mark.parametrize(
    "text",
    [
        "`clip_norm` and `sensitivity`",
        "$\\delta$ or $δ$",
        "[the ledger](elsewhere)",
        "multi-sensitivity",
        "ledgers",
        "no term here",
        "",
    ],
)
def test_code_formulas_links_and_other_words_stay(text):
    assert linked(text) == text
