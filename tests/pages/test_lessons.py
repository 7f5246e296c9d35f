"""The course is walked through, each prediction before its result, and the glossary looks up."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.serving import completion
from dpmf_core.teaching.glossary import TERMS, matching_terms
from dpmf_core.teaching.lessons import LESSONS
from tests.pages.driving import frames, settled, words

PAGES = Path(__file__).parents[2] / "pages"


def page(lesson: str, language: str = "en") -> AppTest:
    app = AppTest.from_file(str(PAGES / "lessons/page.py"), default_timeout=60)
    app.query_params["lesson"], app.query_params["lang"] = lesson, language
    return settled(app)


@pytest.mark.parametrize("name", list(LESSONS))
def test_a_lesson_is_walked_to_its_code(name: str) -> None:
    """Nothing is shown before it is predicted; the first prediction is wrong, all others right."""
    app, lesson = page(name), LESSONS[name]
    assert app.title[0].value == lesson.title
    for place, part in enumerate(lesson.parts):
        assert part.because not in words(app) and lesson.model not in words(app)
        press(app, "Show what happens")
        assert "Predict first" in words(app)
        app.radio(key=f"learn.predict.{name}.{part.id}").set_value(
            (part.right + (place == 0)) % len(part.answers)
        )
        press(app, "Show what happens")
        assert part.because in words(app)
        assert ("Not quite." if place == 0 else "That is right.") in words(app)
    app.text_area(key=f"learn.words.{name}").set_value("because *I* say so")
    press(app, "Send")
    assert lesson.model in words(app) and r"because \*I\* say so" in words(app)
    code = completion.read(app.code[0].value)
    assert code.what == completion.mark(name)
    assert (code.right, code.n_questions) == (len(lesson.parts) - 1, len(lesson.parts))
    app.run()
    assert completion.read(app.code[0].value) == code  # it stays what it was


@pytest.mark.parametrize(
    ("holder", "reads", "present", "absent"),
    [
        ("server", None, ("You trust** the server, with", "no limit"), ("as much noise",)),
        ("hospitals", "parts", ("√20 = **4.47 times", "5.41"), ("sealed",)),
        ("hospitals", "sum", ("that parts cannot be opened", "1.47"), ("5.41",)),
        ("phones", "parts", ("nobody but your own phone", "122.12"), ("your hospital",)),
        ("phones", "sum", ("that messages cannot be opened", "1.47"), ("122.12",)),
    ],
)
def test_who_is_trusted_follows_who_holds_the_ratings_and_what_the_server_can_read(
    holder: str, reads: str | None, present: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    """The figures of the part of one block by hand: mu is .268 at epsilon 1, times the root of how
    many there are.
    """
    app = page("local")
    for part in LESSONS["local"].parts:
        app.radio(key=f"learn.predict.local.{part.id}").set_value(part.right)
        press(app, "Show what happens")
    app.button_group(key="learn.blocks").set_value(holder).run()
    if reads is not None:
        app.button_group(key="learn.blocks.reads").set_value(reads).run()
    assert not app.exception
    text = words(app) + " ".join(table.to_string() for table in frames(app))
    assert "measured; the rule says 122" in text
    assert [it for it in present if it not in text] == []
    assert [it for it in absent if it in text] == []


def press(app: AppTest, label: str) -> None:
    next(it for it in app.button if it.label == label).click()
    settled(app)


def test_next_leads_on_when_a_lesson_is_done() -> None:
    app = page("neighbours")
    assert not [it for it in app.button if str(it.key).startswith("learn.next")]
    app.radio(key="learn.predict.neighbours.neighbours").set_value(0)
    press(app, "Show what happens")
    app.text_area(key="learn.words.neighbours").set_value("hardly any difference")
    press(app, "Send")
    app.button(key="learn.next.neighbours").click().run()
    assert app.title[0].value == LESSONS["response"].title


def test_the_glossary_is_whole() -> None:
    assert set(TERMS) >= {
        "sensitivity",
        "clipping",
        "delta",
        "composition",
        "joint differential privacy",
        "Gaussian mechanism",
        "neighbouring relation",
    }
    assert "group privacy" in TERMS
    assert all(term.words.endswith(".") and term.source for term in TERMS.values())
    assert all(term.formula for name, term in TERMS.items() if not name.startswith("PROVEN"))
    assert next(term.name for term in matching_terms("rényi")).startswith("Rényi")
    assert matching_terms("no such thing") == () and len(matching_terms("")) == len(TERMS)


def test_the_glossary_page_looks_up() -> None:
    app = AppTest.from_file(str(PAGES / "glossary/page.py"), default_timeout=30)
    app.query_params["term"] = "clip norm"
    app.run()
    assert not app.exception
    assert app.text_input[0].value == "clip norm"
    app.text_input[0].set_value("zzz").run()
    assert "None of the" in app.info[0].value
