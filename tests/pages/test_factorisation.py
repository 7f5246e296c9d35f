"""The Topics page, driven as a person would, without a browser."""

import pytest

from dpmf_core.runs.planning import account_of
from dpmf_datasets import session_files
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    brought,
    component,
    forget,
    settled,
    widget_of,
)

pytestmark = pytest.mark.usefixtures("short_grid")


def story(app):
    return component(app, "matched_parts")


def point(app, epsilon):
    (match,) = [point for point in story(app)["points"] if point["epsilon"] == epsilon]
    return match


@pytest.fixture
def mine():
    """Documents that a visitor brought."""
    subjects = (
        "apple pear plum quince",
        "goal match team coach",
        "rain snow wind cloud",
    )
    lines = [f"{subjects[n % 3]} {subjects[n % 3].split()[n % 4]}" for n in range(240)]
    upload = session_files.read("\n".join(lines).encode(), "notes.txt", {})
    yield upload
    forget(upload)


def test_on_private_documents_only_what_was_bought_is_shown(mine):
    chosen = {"sidebar.documents.most_words": None, "sidebar.documents.delta": 1e-5}
    state = brought(mine.entry, "documents") | chosen
    app = app_of(behind_sidebar("topics/page.py"), state)
    settled(app)
    widget_of(app.text_input, "sidebar.epsilon").set_value("3")
    settled(app)
    account = account_of(mine.entry.id)
    assert not account.entries
    for label in ("This run", "Without privacy"):
        next(button for button in app.button if button.label.startswith(label)).click()
        settled(app)
    assert [point["epsilon"] for point in story(app)["points"]] == [3.0]
    assert "3.00" in point(app, 3.0)["sentence"]
    entry_count = len(account.entries)
    widget_of(app.text_input, "sidebar.epsilon").set_value("2")
    settled(app)
    # nothing was bought at 2
    assert [point["epsilon"] for point in story(app)["points"]] == [3.0]
    assert len(account.entries) == entry_count
    assert story(app)["words"]["pending"] == ""
