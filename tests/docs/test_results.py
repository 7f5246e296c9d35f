"""docs/RESULTS.md is what `python -m benchmarks.tables` makes of benchmarks/results."""

from benchmarks import tables


def test_the_page_is_what_the_results_make() -> None:
    assert tables.PAGE.read_text("utf-8") == tables.page(), "run `python -m benchmarks.tables`"


def test_the_template_asks_for_every_table() -> None:
    template = tables.TEMPLATE.read_text("utf-8")
    assert [name for name in tables.TABLES if f"{{{{ {name} }}}}" not in template] == []
