"""How certain an attacker can become, in words: one bound, one value, with its premises."""

import ast
import math
import re
import tomllib
from pathlib import Path

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpmf_core.privacy import VALUE, Gaussian, Laplace, Repeat, sequence
from dpmf_core.privacy.certainty import (
    bound_text,
    cases_text,
    certainty_at,
    certainty_of,
    success_text,
)

ROOT = Path(__file__).parents[2]
HOME = "dpmf_core/privacy/certainty.py"


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (0.0, "50.0%"),
        (1.0, "73.2%"),
        (math.log(3), "75.0%"),
        (2.0, "88.1%"),
        (4.6, "99.1%"),
        (10.0, "99.996%"),
        (30.0, "almost 100%"),
    ],
)
def test_a_bound_has_one_decimal_rounded_up(epsilon, text):
    assert bound_text(epsilon) == text
    if "almost" not in text:
        assert (
            float(text.rstrip("%")) / 100
            >= math.exp(epsilon) / (1 + math.exp(epsilon)) - 1e-12
        )


def delta_at(mu, epsilon):
    """Balle & Wang 2018, Theorem 8, as written."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(
        -mu / 2 - epsilon / mu
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 5.0, 12.0])
def test_the_exceptions_are_those_of_gaussian_noise_and_the_sentence_says_so(epsilon):
    mu = brentq(lambda x: delta_at(x, epsilon) - 5e-6, 1e-4, 20.0, xtol=1e-14)
    exception = norm.cdf(mu / 2 - epsilon / mu)
    certainty = certainty_at(epsilon, 5e-6)
    assert certainty.exception == pytest.approx(exception, rel=1e-5)
    assert (
        f"In up to {math.ceil(1e5 * exception)} of 100,000 cases they may become more"
        in (certainty.words())
    )
    assert certainty.words().endswith(
        "(Gaussian noise, δ = 5e-6, per user, add/remove)."
    )


def test_an_exception_of_other_noise_is_a_bound_for_that_noise():
    words = certainty_of(sequence(Laplace(4.0), Gaussian(3.0)), 1e-6).words()
    assert "Laplace noise and Gaussian noise, δ = 1e-6" in words
    pure = certainty_of(Laplace(1.0), 0.0, VALUE)
    assert pure.exception == 0.0
    assert "There are no exceptions (Laplace noise, δ = 0," in pure.words()
    # a bound: the loss of Laplace noise exceeds this epsilon with the probability of its atom
    almost = certainty_of(Laplace(1.0), 1e-3)
    assert almost.epsilon < 1.0
    assert almost.exception >= 0.5


def test_equal_releases_have_one_sentence_however_they_are_composed():
    whole = certainty_of(Gaussian(1.0), 1e-5)
    parts = certainty_of(Repeat(Gaussian(3.0), 9), 1e-5)
    assert whole.words() == parts.words()


@pytest.mark.parametrize(
    ("exception", "text"),
    [
        (6.1e-4, "61 of 100,000 cases"),
        (6e-4, "60 of 100,000 cases"),
        (1e-5, "1 of 100,000 cases"),
        (9.2e-6, "10 of 1,000,000 cases"),
        (3.2e-9, "4 of 1,000,000,000 cases"),
        (0.25, "25,000 of 100,000 cases"),
    ],
)
def test_exceptions_have_one_form_rounded_up(exception, text):
    assert cases_text(exception) == text


def test_an_almost_certain_attacker_has_no_exceptions():
    words = certainty_at(40.0, 1e-5).words()
    assert "can become almost certain that you took part (Gaussian noise," in words
    assert "more certain" not in words


def test_a_figure_of_a_certainty_leaves_its_premises_to_the_sentence_in_full():
    words = certainty_at(2.0, 5e-6).words_of_figure
    assert words == (
        "is the highest certainty that someone who starts at 50:50 can reach that you took part,"
        " with rare exceptions."
    )
    assert certainty_at(40.0, 1e-5).words_of_figure.endswith("that you took part.")


def test_the_best_attacker_is_never_right_always():
    assert "over 99 times in 100" in success_text(0.9999)
    assert "60 times in 100" in success_text(0.6002)


# ---- no other place ------------------------------------------------------------------------------

# how a certainty or its exceptions would be written
STATED = re.compile(
    r"%\*{0,2} sure|\bsure (that|which)|almost certain|more certain|in 100,000|of 100,000"
    r"|except with probability|(?i:starts at 50:50 can)"
)
LOGISTIC = re.compile(r"\bexpit\b|1 \+ math\.exp|1 \+ Math\.exp")
# conversions between a pure epsilon and mu, and orders of a Renyi curve
COMPUTING = {
    HOME,
    "dpmf_core/privacy/odometer.py",
    "dpmf_core/privacy/accounting.py",
}


def product(*patterns):
    for folder in ("dpmf_core", "pages", "datasets"):
        for pattern in patterns:
            yield from sorted((ROOT / folder).rglob(pattern))


def texts_of(path):
    """String constants of a module without its docstrings; other files by line."""
    source = path.read_text("utf-8")
    if path.suffix != ".py":
        return source.splitlines()
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def test_no_other_place_puts_a_certainty_into_words():
    others = []
    for path in product("*.py", "*.js", "*.html", "*.md", "*.yaml", "*.notebook"):
        name = path.relative_to(ROOT).as_posix()
        for text in texts_of(path) if name != HOME else ():
            if STATED.search(text):
                others.append((name, text))
    assert not others


def test_no_other_place_computes_a_certainty_from_epsilon():
    others = []
    for path in product("*.py", "*.js"):
        name = path.relative_to(ROOT).as_posix()
        kernel = name.startswith(("dpmf_core/kernels", "dpmf_core/algorithms"))
        if (
            LOGISTIC.search(path.read_text("utf-8"))
            and name not in COMPUTING
            and not kernel
        ):
            others.append(name)
    assert not others


def test_percentages_in_lessons_are_the_bound_s():
    """A lesson is a text; its numbers are those of the function."""
    lessons = tomllib.loads(
        (ROOT / "dpmf_core/teaching/lessons.toml").read_text("utf-8")
    )
    (attacker,) = (lesson for lesson in lessons["lesson"] if lesson["id"] == "attacker")
    (part,) = attacker["parts"]
    assert part["answers"][part["right"]] == bound_text(1.0)
    assert bound_text(1.0) in part["because"]
    assert bound_text(5.0) in part["because"]
    assert bound_text(5.0) in attacker["model"]
    assert f"at most {bound_text(1.0).rstrip('%')} in 100" in str(lessons)
