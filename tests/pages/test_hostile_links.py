"""Hostile text in every parameter of a link ends in a sentence, on every page."""

import re

import numpy as np
import pytest

from tests.pages.driving import app_of, behind_sidebar, page_at

pytestmark = pytest.mark.slow
TEXTS = (
    "", " ", "0", "-1", "1e999", "nan", "inf", "-inf", "9" * 400, "1e-400", "0x10", "1,2", "1;2",
    "true", "None", "null", "[]", "{}", "../../../etc/passwd", "/dev/zero", "file:///etc/passwd",
    "a" * 5000, "\x00", "\x1b[31m", "\u202e", "😀", "Ж", "<script>alert(1)</script>",
    "![x](http://example.org/x.png)", "$\\frac{1}{0}$", "=1+1", "@SUM(A1)",
    "'; DROP TABLE runs; --", "%s%n", "{0}", "${HOME}", "g:1e308:99999999", "g:5:1," * 300,
    "dpals,dpals,als", "rank = 1, 2, 1e9", "5" + "0" * 30,
)  # fmt: skip
PAGES = {
    "explore/page.py": (
        "dataset", "top_items", "algorithm", "epsilon", "delta", "seed", "calibration",
        "p.rank", "p.steps",
        "p.clip_norm", "p.sampling", "p.biases", "class",
    ),
    "compare/page.py": (
        "fig", "methods", "epsilons", "draws", "grid", "calibrations", "judge", "metric",
    ),
    "topics/page.py": ("dataset", "algorithm", "p.n_components", "p.start"),
    "faces/page.py": ("dataset", "algorithm", "p.n_components"),
    "accountant/page.py": ("models", "years", "total"),
    "ledger/page.py": ("from", "ledger"),
    "audit/page.py": ("attack", "epsilon", "runs", "fault", "canary", "aseed"),
    "runs/page.py": ("whose",),
    "tune/page.py": ("algorithm", "epsilon"),
    "lessons/page.py": ("lesson",),
    "glossary/page.py": ("term",),
}  # fmt: skip


def text_for(name):
    """One of the texts, always the same for a parameter."""
    return TEXTS[np.random.default_rng(list(name.encode())).integers(len(TEXTS))]


@pytest.mark.parametrize("page", PAGES)
def test_no_link_breaks_a_page(page):
    """With one hostile value, otherwise on the smallest data set."""
    usual = {"dataset": "cinema-small"} if page_at(page).data_kind == "ratings" else {}
    usual |= {"runs": "40"} if page == "audit/page.py" else {}
    for name in PAGES[page]:
        text = text_for(name)
        app = app_of(behind_sidebar(page), **(usual | {name: text})).run()
        assert not app.exception, (
            name,
            text[:60],
            [error.value for error in app.exception],
        )
        texts = [
            str(element.value)
            for element in (
                *app.error,
                *app.warning,
                *app.title,
                *app.markdown,
                *app.caption,
            )
        ]
        assert texts, (name, text[:60])
        assert not any(
            re.search(r"(?<!\\)(<script>|\[x\]\(http)", value) for value in texts
        ), (
            name,
            text[:60],
        )
