"""Every word on the pages that a lesson opens goes through the file of translations.

The pages are drawn in German, with a file in which every translation is written without its
letters. A word that still stands there has not come from the file.
"""

import ast
import re
from functools import cache

import pytest
from streamlit.testing.v1 import AppTest

import dpmf_core.language
from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.language import LANGUAGES, translations
from dpmf_core.teaching import linkage
from dpmf_core.teaching.deployments import DEPLOYMENTS
from dpmf_core.teaching.glossary import TERMS
from dpmf_core.teaching.lessons import LESSONS
from dpmf_datasets.simulated import news
from pages.kit import language
from tests.laws.test_architecture import sources, tree
from tests.pages.driving import ROOT, behind_sidebar, page_at, settled
from tests.support.page_texts import texts

WORD = re.compile(r"[^\W\d_]{2,}")
PLACES = re.compile(r"(\{[^}]*\})")
QUOTATION = re.compile(r"„[^“]*“")  # what a link or a person says


def choices(kind: type[Algorithm]) -> set[str]:
    """The values that an algorithm's parameters choose from."""
    fields = kind.model_json_schema().get("properties", {})
    return {value for field in fields.values() for value in field.get("enum", ())}


# one name everywhere have languages, invented people, films with their year and weights of words;
# a result that is recorded with its paper keeps its own words
FILM, RECORD_NOTE = r"^.* \\?\(\d{4}\\?\)$", r"(?:Page|Full) size, on [^.]*\."
NAMES = re.compile("|".join((*LANGUAGES.values(), *linkage.NAMES, FILM, RECORD_NOTE, "TF-IDF")))
# what documents say: a topic's words, alone or with commas between them
_WORDS = "|".join(news.WORDS)
DOCUMENTS = re.compile(rf"(?<![\w‹])(?:{_WORDS})(?:, (?:{_WORDS}))*(?=$|[,*])")
# values of parameters, alone or behind a colon: they stand in links and scripts as on the page
_CHOICES = "|".join({re.escape(it) for kind in REGISTRY.values() for it in choices(kind)})
CODES = re.compile(rf"(?:^|(?<=: ))(?:{_CHOICES})(?=$|‹)")
# whose sections are numbered 2.5
CITATIONS = {it.source for it in (*TERMS.values(), *REGISTRY.values(), *DEPLOYMENTS.values())}
SECTION = re.compile(r"Abschnitt \d+\.\d+")
DECIMAL_POINT = re.compile(r"(?<![\w.])\d+\.\d{1,2}(?![\d.])")


def wordless(text: str) -> str:
    """A template with its places, figures and signs, and not one word."""
    return "".join(
        part if part.startswith("{") else WORD.sub("_", part) for part in PLACES.split(text)
    )


@cache
def without_words(language: str) -> dict[str, str]:
    """The file of a language; a number keeps apart what differs in its words alone."""
    entries = enumerate(translations(language).items())
    return {
        text: f"{'' if text in CITATIONS else wordless(SECTION.sub('', translation))}‹{place}›"
        for place, (text, translation) in entries
    }


@pytest.fixture
def no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    without_words("de")
    monkeypatch.setattr(dpmf_core.language, "translations", without_words)
    # options of widgets are also read between two drawings, outside the session
    monkeypatch.setattr(language, "current", lambda: "de")


def english(app: AppTest) -> list[str]:
    """What stands on a page and does not come from the file; a browser fills in places."""
    rest = {text: text for text in texts(app)}
    for pattern in (PLACES, QUOTATION, NAMES, CODES, DOCUMENTS):
        rest = {text: pattern.sub("", remainder) for text, remainder in rest.items()}
    return sorted(
        text for text, words in rest.items() if WORD.search(words) or DECIMAL_POINT.search(words)
    )


def german(path: str, **link: str) -> AppTest:
    """A page in German."""
    app = (
        AppTest.from_file(str(ROOT / "pages" / path), default_timeout=120)
        if page_at(path).data_kind is None
        else AppTest.from_string(behind_sidebar(path), default_timeout=120)
    )
    for name, value in {**link, "lang": "de"}.items():
        app.query_params[name] = value
    return settled(app)


PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "audit": ("audit/page.py", {"attack": "private-bias", "runs": "100"}),
    "audit, caught": (
        "audit/page.py",
        {"attack": "private-bias", "runs": "400", "fault": "small-noise"},
    ),
    "audit, a secret": ("audit/page.py", {"attack": "spectral", "runs": "100", "fault": "secret"}),
    "glossary": ("glossary/page.py", {}),
    "explore": ("explore/page.py", {"data": "cinema-small"}),
    "start": ("start/page.py", {}),
    "retention": ("retention/page.py", {"data": "cinema-small"}),
    "explore, a wrong link": ("explore/page.py", {"data": "cinema-small", "eps": "x"}),
    "explore, refused": (
        "explore/page.py",
        {"data": "cinema-small", "algo": "svd-cleansing", "rule": "source"},
    ),
    "topics": ("topics/page.py", {}),
    "faces": ("faces/page.py", {}),
    "trade-off": ("tradeoff/page.py", {"data": "cinema-small"}),
    "trade-off, both rules": (
        "tradeoff/page.py",
        {"data": "cinema-small", "noise": "both", "epsilons": "1,5", "draws": "1"},
    ),
    "accountant": ("accountant/page.py", {"data": "cinema-small"}),
    "accountant, a plan": ("accountant/page.py", {"data": "cinema-small", "from": "plan"}),
    "accountant, a claim": ("accountant/page.py", {"data": "cinema-small", "from": "claim"}),
    "trade-off, Fig. 2": ("tradeoff/page.py", {"data": "cinema-small", "fig": "chien-fig2"}),
}


def test_every_page_that_a_lesson_leads_to_is_among_them() -> None:
    """By the links of the lessons' own code; terms lead to the glossary."""
    calls = [call for path in sources("pages/lessons") for call in ast.walk(tree(path))]
    targets = {
        call.args[0].value
        for call in calls
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) == "links.to"
        and isinstance(call.args[0], ast.Constant)
    }
    assert targets and {*targets, "glossary"} <= {name.partition(",")[0] for name in PAGES}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.usefixtures("no_words")
def test_a_page_that_a_lesson_opens_is_translated(name: str) -> None:
    path, link = PAGES[name]
    assert english(german(path, **link)) == []


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.usefixtures("no_words")
def test_a_lesson_is_translated(name: str) -> None:
    """Walked to its end, each prediction wrong."""
    app, lesson = german("lessons/page.py", lesson=name), LESSONS[name]
    assert english(app) == []
    for part in lesson.parts:
        app.radio(key=f"learn.predict.{name}.{part.id}").set_value(
            (part.right + 1) % len(part.answers)
        )
        press(app, f"learn.{name}.{part.id}")
        assert english(app) == []
    app.text_area(key=f"learn.words.{name}").set_value("123")
    press(app, f"learn.{name}.own")
    assert english(app) == []


def press(app: AppTest, form: str) -> None:
    """The button of a form."""
    next(it for it in app.button if it.proto.form_id == form).click()
    settled(app)
