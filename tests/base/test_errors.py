"""What messages repeat of a file is short and printable."""

from dpmf_core.base.errors import listing, quoted


def test_a_quoted_text_is_on_one_line_and_shortened():
    assert quoted("film\n\x00name") == "'film  name'"
    assert quoted("x" * 500, 10) == "'xxxxxxx...'"
    assert quoted("x" * 10, 10) == "'xxxxxxxxxx'"


def test_a_list_says_how_many_texts_it_leaves_out():
    assert listing(["user", "item"]) == "user, item"
    long = listing(["x" * 100] * 50, 100)
    assert len(long) < 120
    assert long.endswith(" and 48 more")
    assert listing([]) == ""
