"""Every word of the app that is translated at all has its translation, with the same places."""

import ast
import re
import string
from pathlib import Path

import pytest

import dpmf_datasets as datasets
from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.language import ENGLISH, FIGURE, LANGUAGES, figure, translated, translations
from dpmf_core.papers.registry import figures_of
from dpmf_core.teaching.course import texts
from dpmf_core.teaching.deployments import DEPLOYMENTS
from dpmf_core.teaching.glossary import TERMS
from dpmf_core.teaching.lessons import LESSONS
from dpmf_datasets import parts_folder
from dpmf_datasets.registry import LARGE
from pages.kit.page_table import PAGES, SECTIONS
from tests.laws.test_architecture import CORE, sources, tree

SPEAKS = {"say", "phrase"}
FIGURES_ON = (
    "topics",
    "faces",
    "trade-off",
    "retention",
)  # pages that are translated, with published figures
OTHERS = sorted(set(LANGUAGES) - {ENGLISH})


def places(text: str) -> list[tuple[str, str]]:
    """The named places of a template and how each is written."""
    return sorted(
        (name, spec or "")
        for _, name, spec, _ in string.Formatter().parse(text)
        if name is not None
    )


def speaking(path: Path) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in SPEAKS
        and node.args
    ]


def templates() -> set[str]:
    """Every template in the code, of the lessons and of the navigation, that has words."""
    calls = [call for path in sources("pages", CORE) for call in speaking(path)]
    texts_found = {str(it.args[0].value) for it in calls if isinstance(it.args[0], ast.Constant)}
    texts_found |= {text for lesson in LESSONS.values() for text in texts(lesson)}
    texts_found |= {it.title for it in PAGES} | set(SECTIONS)
    texts_found |= {text for it in TERMS.values() for text in (it.name, it.words, it.source)}
    texts_found |= {text for it in REGISTRY.values() for text in (it.title, it.words, it.source)}
    texts_found |= {text for it in REGISTRY.values() for text in of_parameters(it)}
    texts_found |= {text for it in METRICS.values() for text in (it.title, it.help)}
    texts_found |= {text for it in catalogue() for text in (it.title, it.words)} | {
        parts_folder.WORDS
    }
    texts_found |= {it.item_features for it in datasets.ratings()}
    figures = [it for page in FIGURES_ON for it in figures_of(page).values()]
    texts_found |= {text for it in figures for text in (it.source, it.title)}
    texts_found |= {
        text
        for it in DEPLOYMENTS.values()
        for text in (it.name, it.unit, it.relation, it.period, it.source)
    }
    return {
        text for text in texts_found if re.search(r"[^\W\d_]{2}", re.sub(r"\{[^}]*\}", "", text))
    }


def of_parameters(kind: type[Algorithm]) -> set[str]:
    """Titles and descriptions of an algorithm's parameters, as their widgets show them."""
    fields = kind.model_json_schema().get("properties", {})
    return {
        text
        for name, field in fields.items()
        for text in (field.get("title", name), field.get("description", ""))
    }


def catalogue() -> list[datasets.Entry | datasets.SampleEntry]:
    """Every data set that there may be on this machine."""
    samples = (*datasets.samples("documents"), *datasets.samples("images"))
    return [*datasets.ratings(), *LARGE.values(), *samples]


@pytest.mark.parametrize("language", OTHERS)
def test_every_template_is_translated_and_nothing_else(language: str) -> None:
    assert set(translations(language)) == templates()


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_places_of_its_template(language: str) -> None:
    for text, translation in translations(language).items():
        assert translation.strip() and places(translation) == places(text), text


@pytest.mark.parametrize("path", sources("pages", CORE), ids=str)
def test_templates_are_whole_sentences(path: Path) -> None:
    """None is put together from parts, for another language would put them together otherwise."""
    assert not [
        it.lineno for it in speaking(path) if isinstance(it.args[0], ast.JoinedStr | ast.BinOp)
    ]


def test_a_sentence_stands_once_in_a_file() -> None:
    for language in OTHERS:
        file = Path(translated.__code__.co_filename).parent / f"{language}.toml"
        keys = re.findall(r'^("(?:[^"\\]|\\.)*") = ', file.read_text("utf-8"), re.M)
        assert len(keys) == len(set(keys)) == len(translations(language))


def test_figures_are_written_as_the_language_writes_them() -> None:
    assert figure("1,234.5", "de") == "1.234,5" and figure("1,234.5", "en") == "1,234.5"
    assert (
        translated("de", "52%") == "52\N{NARROW NO-BREAK SPACE}%"
        and translated("en", "52%") == "52%"
    )
    template = "{share:.1%} of {people:,}, {text}, {figure}"
    values = {"share": 0.5, "people": 2000, "text": "a, b.", "figure": "0.25"}
    assert translated("en", template, **values) == "50.0% of 2,000, a, b., 0.25"
    narrow = "\N{NARROW NO-BREAK SPACE}"
    assert translated("de", template, **values) == f"50,0{narrow}% of 2.000, a, b., 0,25"
    assert FIGURE.fullmatch("1e-5") and not FIGURE.fullmatch("2 of 3")
