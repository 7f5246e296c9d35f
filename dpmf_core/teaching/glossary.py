"""The glossary: terms with their meaning, a formula and a source."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from dpmf_core.base.frozen import Frozen
from dpmf_core.teaching.text_files import content_of


class Term(Frozen):
    """One term.

    Attributes
    ----------
    formula
        LaTeX.
    also
        Other names of the term.
    """

    name: str
    words: str
    formula: str
    source: str
    also: tuple[str, ...] = ()


_TERMS = tuple(map(Term.model_validate, content_of("glossary")["term"]))
TERMS: dict[str, Term] = {term.name: term for term in _TERMS}


def matching_terms(text: str) -> tuple[Term, ...]:
    """The terms that match the text, nearest first; all terms for an empty text."""
    places = {
        term: nearness(text, (term.name, *term.also), term.words) for term in _TERMS
    }
    matches = (term for term, place in places.items() if place is not None)
    return tuple(sorted(matches, key=lambda term: places[term] or 0))


def nearness(text: str, names: Sequence[str], words: str) -> int | None:
    """How well an entry matches the text, or None.

    0: its name. 1: a word of its names. 2: a word of its description. 3: part of a word.
    """
    query = text.strip().lower()
    if not query or query in (name.lower() for name in names):
        return 0
    whole = re.compile(rf"(?<!\w){re.escape(query)}(?!\w)")
    name_text = " ".join(names).lower()
    word_text = words.lower()
    matches = (
        whole.search(name_text),
        whole.search(word_text),
        query in f"{name_text} {word_text}",
    )
    return next((level for level, is_match in enumerate(matches, 1) if is_match), None)


_NAMES = {
    word.lower(): term.name
    for term in _TERMS
    for word in (term.name, *term.also)
    if term.name not in ("epsilon", "RMSE", "rank", "canary")
}
_WORD = "|".join(re.escape(word) for word in sorted(_NAMES, key=len, reverse=True))
_MENTION = re.compile(
    rf"(\[[^\]]*\]\([^)]*\)|`[^`]*`|\$[^$]*\$)|(?<![\w-])({_WORD})(?![\w-])",
    re.IGNORECASE,
)


def linked(text: str) -> str:
    """Markdown in which the first mention of each term links to the glossary.

    Links, code and formulas do not change.
    """
    linked_names: set[str] = set()

    def one(match: re.Match[str]) -> str:
        name = _NAMES.get((match[2] or "").lower())
        if name is None or name in linked_names:
            return match[0]
        linked_names.add(name)
        return f"[{match[2]}](glossary?term={quote(name)})"

    return _MENTION.sub(one, text)
