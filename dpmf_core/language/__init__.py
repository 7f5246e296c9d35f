"""The app's words in other languages: one file a language, in which a translation stands under its
English sentence.

A sentence with figures is a template with named places, `"{share:.0%} of it is kept"`; a
translation has the same places, in whatever order its grammar wants.
"""

import functools
import re
import string
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LANGUAGES = {"en": "English", "de": "Deutsch"}  # by code, each by its own name
ENGLISH = "en"
FIGURE = re.compile(r"[-−+]?([\d,]+(\.\d+)?|\.\d+)([eE][-+]?\d+)?%?")
_CONTINENTAL_MARKS = str.maketrans({",": ".", ".": ",", "%": "\N{NARROW NO-BREAK SPACE}%"})


class Message(str):
    """An English text that remembers its template and values, so that whoever shows it can say it
    in another language. Everywhere else it is a text.
    """

    template: str
    values: Mapping[str, Any]


def phrase(text: str, /, **values: Any) -> str:
    """A template with its values, in English; it is translated where it is shown, and so are those
    of its values that are messages themselves.
    """
    if isinstance(text, Message):
        return text
    message = Message(_ENGLISH.vformat(text, (), values) if values else text)
    message.template, message.values = text, values
    return message


def joined(messages: Iterable[str], /) -> str:
    """Messages in a row, this and that and a third; at least one."""
    return functools.reduce(
        lambda before, it: phrase("{before} and {last}", before=before, last=it),
        map(phrase, messages),
    )


@functools.cache
def translations(language: str) -> dict[str, str]:
    """The translation of every template; nothing for English. The tables of the file are for
    whoever translates.
    """
    if language == ENGLISH:
        return {}
    file = Path(__file__).parent / f"{language}.toml"
    tables = tomllib.loads(file.read_text("utf-8"))
    return {text: translation for table in tables.values() for text, translation in table.items()}


class _Figures(string.Formatter):
    """Figures as they are written on the continent: 1.234,5 and 12 %."""

    def format_field(self, value: Any, spec: str) -> str:
        text = str(super().format_field(value, spec))
        return figure(text, "de") if FIGURE.fullmatch(text) else text


_ENGLISH, _CONTINENTAL = string.Formatter(), _Figures()


def figure(text: str, language: str) -> str:
    """A figure that is written as in English, as the language writes it; there is a zero before
    its decimal mark.
    """
    if language == ENGLISH:
        return text
    whole = re.sub(r"^([-−+]?)\.(?=\d)", r"\g<1>0.", text)
    return whole.translate(_CONTINENTAL_MARKS)


def translated(language: str, text: str, /, **values: Any) -> str:
    """A template in a language, with its values; in English where there is no translation.

    A message brings its own values.
    """
    if isinstance(text, Message):
        values = {**text.values, **values}
        text = text.template
    if FIGURE.fullmatch(text):
        return figure(text, language)
    template = translations(language).get(text, str(text))
    if not values:
        return template
    values = {
        name: translated(language, it) if isinstance(it, Message) else it
        for name, it in values.items()
    }
    return (_ENGLISH if language == ENGLISH else _CONTINENTAL).vformat(template, (), values)
