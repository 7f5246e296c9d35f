"""Pages under test: a page's script behind the shared sidebar, and waiting until its runs have ended."""

import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def behind_sidebar(page: str, holds: str = "ratings") -> str:
    """A script that draws the sidebar, of a page about ratings, documents or images, and then the page at `pages/...`."""
    return f"import runpy\nfrom pages.kit import sidebar\nsidebar.draw({holds!r})\nrunpy.run_path({str(ROOT / 'pages' / page)!r})\n"


def plain(text: str) -> str:
    """A text as it is read: its terms without their links."""
    return re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", text)


def words(app: AppTest) -> str:
    """All that a page says, in its order by kind."""
    said = (*app.title, *app.markdown, *app.caption, *app.warning, *app.error, *app.info, *app.success)
    return plain("\n".join(str(element.value) for element in said))


def settled(app: AppTest) -> AppTest:
    """The page after its last run; fails on an exception, and after a minute and a half."""
    app.run()
    for _ in range(450):
        assert not app.exception, [error.value for error in app.exception]
        if app.error or not any(str(button.key).endswith(".cancel") for button in app.button):
            return app
        time.sleep(0.2)
        app.run()
    raise AssertionError("the runs did not finish")


def everything_asked(app: AppTest) -> AppTest:
    """The page on private data after each of its buttons with a price was pressed."""
    for _ in range(8):
        button = next((it for it in app.button if ".buy." in str(it.key) and not it.disabled), None)
        if button is None:
            return app
        button.click()
        settled(app)
    raise AssertionError("there are buttons without end")


def held(widgets: Iterable[Any], key: str) -> Any:
    """The widget that shows the session's value under a key: one that follows others has a number after it."""
    return next(it for it in widgets if re.fullmatch(rf"{re.escape(key)}\.\d+", str(it.key)))
