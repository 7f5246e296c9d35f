"""The words of a document: what is a word, and which words are left out.

Each document is read by itself, with the declared rules.
"""

import contextlib
import functools
import html
import importlib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput, quoted
from dpmf_datasets import sandbox
from dpmf_datasets.readers.encodings import Reader

SHORTEST = 3  # letters of a word
LONGEST = 1_000_000  # characters of a document; the rest is cut off
# invisible characters that may stand inside a word
INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
ENGLISH = "english"
NONE = "none"
# Without its semicolon a reference such as &not may be the beginning of a word: salt&notes.
ENTITY = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE
)
NUMBERS = "numbers"
STOP_WORDS = "stop words"
ADDRESSES = {"link": "web addresses", "mail": "e-mail addresses", "handle": "@names"}
# A web address ends before Chinese, Japanese and Korean letters, which need no blank before them.
# The look-behinds make each run of letters be read once, however long it is.
ADDRESS = re.compile(
    r"(?P<link>(?<![a-z0-9])(?:https?://|ftp://|www\.)"
    r"[^\s<>\"\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]+)"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<handle>(?<!\w)@\w+)",
    re.IGNORECASE,
)


@functools.cache
def _token() -> re.Pattern[str]:
    """A run of letters of any script with their marks, or a number."""
    kinds = {
        chr(code): unicodedata.category(chr(code)) for code in range(0x80, 0x1F000)
    }
    marks = re.escape(
        "".join(letter for letter, kind in kinds.items() if kind[0] == "M")
    )
    numbers = "".join(letter for letter, kind in kinds.items() if kind in ("No", "Nl"))
    letter = rf"[^\W\d_{re.escape(numbers)}]"
    return re.compile(rf"{letter}(?:{letter}|[{marks}])*|\d+")


def tokens(text: str) -> list[str]:
    """Words of any script and numbers, in lower case and composed (NFC), in order."""
    if text.isascii():
        return re.findall(r"[a-z]+|\d+", text.lower())
    return _token().findall(
        unicodedata.normalize("NFC", text.translate(INVISIBLE).lower())
    )


@dataclass(frozen=True)
class WordRules:
    """The rules by which words of a document are kept.

    Attributes
    ----------
    stop_words : frozenset of str
        The words that are left out.
    shortest : int
        The least number of letters.
    keeps_addresses : bool
        Whether the parts of web and e-mail addresses, of @names and of references such as &amp; are
        words. They are words in the counts that sources of published documents print.
    """

    stop_words: frozenset[str]
    shortest: int = SHORTEST
    keeps_addresses: bool = False

    def words(self, text: str, left_out: Counter[str]) -> list[str]:
        """The kept words of a text in order; the others are counted by their kind."""
        text = text[:LONGEST]
        if not self.keeps_addresses:
            text = ENTITY.sub(lambda match: html.unescape(match[0]), text)
            text = ADDRESS.sub(lambda match: _without(match, left_out), text)
        kept_words = []
        for word in tokens(text):
            if word[0].isdecimal():
                left_out[NUMBERS] += 1
            elif len(word) < self.shortest:
                left_out[self.too_short] += 1
            elif word in self.stop_words:
                left_out[STOP_WORDS] += 1
            else:
                kept_words.append(word)
        return kept_words

    @property
    def too_short(self) -> str:
        """What words below the shortest length are called."""
        return f"words of fewer than {self.shortest} letters"


def _without(match: re.Match[str], left_out: Counter[str]) -> str:
    left_out[ADDRESSES[match.lastgroup or "link"]] += 1
    return " "


def stop_words(name: str) -> frozenset[str]:
    """A list of stop words.

    Parameters
    ----------
    name : str
        `english` (the list of scikit-learn), `none`, a language of the package stop-words, which
        people may install, or the path of a text file with one word per line.

    Returns
    -------
    frozenset of str
        The words.

    Raises
    ------
    BadInput
        If there is no such list.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if name == ENGLISH:
        return frozenset(ENGLISH_STOP_WORDS)
    if name == NONE:
        return frozenset()
    # an upload names no file of the server
    if not sandbox.is_inside and Path(name).is_file():
        return frozenset(tokens(Reader().text(Path(name).read_bytes())))
    languages: Any = ()
    with contextlib.suppress(ImportError):
        package = importlib.import_module("stop_words")
        languages = package.AVAILABLE_LANGUAGES
    if name in languages:
        return frozenset(tokens(" ".join(package.get_stop_words(name))))
    raise BadInput(
        f"There is no list of stop words {quoted(name, 40)}. 'stop_words' must be {ENGLISH},"
        f" {NONE}, the path of a text file with one word a line, or a language of the package"
        f" stop-words ({', '.join(languages) or 'pip install stop-words'})."
    )
