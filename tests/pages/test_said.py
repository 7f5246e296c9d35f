"""Other people's text: no Markdown, no formula."""

import pytest

from pages.kit.base.safe_text import MOST_LETTERS, escape, escape_letters


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![x](http://a.b/c.png)", r"\!\[x\](`http://a.b/c.png`)"),
        ("Use `python -m x [--y]` now", "Use `python -m x [--y]` now"),
        ("plain, with ε = 1.", "plain, with ε = 1."),
        ("got 'www.a.b'. So", "got '`www.a.b`'. So"),
        ("`![x](u)", r"\`\!\[x\](u)"),
        ("``![x](u)`", "`![x](u)`"),
        ("<script>", r"\<script\>"),
        ("$x$ *b* _i_", r"\$x\$ \*b\* \_i\_"),
        ("a ` b `c` d", "a ` b `c\\` d"),
    ],
)
def test_markdown_is_shown_as_it_is(text, expected):
    assert escape(text) == expected


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "a@" * 50_000, "www." * 25_000, "`" * 100_000]
)
def test_an_endless_text_is_cut_before_it_is_looked_at(text):
    """Whatever a pattern takes for the rest, it takes for a text of this length at most."""
    assert len(escape(text)) <= 2 * MOST_LETTERS + 3
    assert len(escape_letters(text)) <= 2 * MOST_LETTERS + 3
