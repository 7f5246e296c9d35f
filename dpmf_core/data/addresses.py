"""The address of data: a path, an id or a database's address, and the facts after its '?'.

An example is `ratings.csv?bounds=1,5&user=who`. Options and keywords become part of the address, so
that runs are found by one text, however the facts were declared.
"""

import functools
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dpmf_core.base.errors import BadInput, closest
from dpmf_core.base.paths import workplace
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.facts import FACTS, Facts, value

STANDARD_INPUT = ("-", "/dev/stdin")  # in place of a path
# the copy of standard input; its content tells the format, whatever the ending
COPY = "standard-input.csv"
DATABASE = re.compile(r"[a-z][a-z0-9]*(\+[a-z0-9_]+)?://", re.I)


def is_database(text: str) -> bool:
    """Whether it is the address of a database rather than a path."""
    return bool(DATABASE.match(text))


def path_of(text: str) -> Path:
    """Convert text to a path.

    Raises
    ------
    BadInput
        On text that no system accepts as one.
    """
    path = Path(text)
    try:
        path = path.expanduser()
        path.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(
            f"'{text[:60]}' is not the path of a file ({error.args[-1]}). Give the path of a"
            " ratings table, or an id of the catalogue."
        ) from None
    return path


def split(address: str) -> tuple[str, dict[str, str]]:
    """The path or id of an address, and all that is declared after its '?'.

    A file's own name may have a question mark.

    Raises
    ------
    BadInput
        If a fact is declared twice with different values.
    """
    marks = [place for place, letter in enumerate(address) if letter == "?"]
    end = marks[0] if marks else len(address)
    for length in (len(address), *marks):
        if _is_file(address[:length]):
            end = length
            break
    declared: dict[str, str] = {}
    for name, text in parse_qsl(address[end + 1 :], keep_blank_values=True):
        _refuse_another(name, declared.get(name, text), text)
        declared[name] = text
    return address[:end], declared


def _is_file(text: str) -> bool:
    try:
        return path_of(text).is_file()
    except BadInput:  # an address with its facts may be too long for a path
        return False


def join(place: str, declared: Facts) -> str:
    """The address of a path or id with the facts declared about it."""
    if declared:
        return f"{place}?{urlencode(declared, safe=',/')}"
    return place


def require_known(declared: Facts, known_facts: Collection[str] = FACTS) -> None:
    """Raise BadInput on facts of another name."""
    if unknown := sorted(set(declared) - set(known_facts)):
        raise BadInput(
            f"A path may be followed by the facts {', '.join(known_facts)}. Got"
            f" {', '.join(unknown)[:80]}.{closest(unknown[0], known_facts)}"
        )


def address_of(data: str, facts: Mapping[str, Any]) -> str:
    """The one address of data with these facts, after those that it has.

    Parameters
    ----------
    data : str
        A path, an id or a database's address. "-" is a table on standard input.
    facts : mapping
        Values or texts by name; None for an undeclared one.

    Raises
    ------
    BadInput
        On an unknown fact, a value against its rule, a fact with two values, and facts of a data
        set with an id.
    """
    place, declared = split(data)
    if place in STANDARD_INPUT:
        place = str(file_of_standard_input())
        data = join(place, declared)
    further = {name: fact for name, fact in facts.items() if fact is not None}
    require_known(further)
    options = {name: text for name, text in declared.items() if name not in FACTS}
    if not is_database(place):
        if options and not further:
            # a simulated set of a declared shape, or one that its reader refuses
            return data
        require_known(options)
    if further and any(place == entry.id for entry in _entries()):
        raise BadInput(
            f"The facts of {place} are known, because it is a data set with an id. Leave"
            f" {', '.join(further)} out, or give the path of a file."
        )
    known = {
        name: written(name, text) for name, text in declared.items() if name in FACTS
    }
    for name, fact in further.items():
        text = written(name, fact)
        _refuse_another(name, known.get(name, text), text)
        known[name] = text
    in_order = {name: known[name] for name in FACTS if name in known}
    return join(place, in_order | options)


@functools.cache
def file_of_standard_input() -> Path:
    """All of standard input in a file that only this user can read, until this process ends.

    Readers rewind the file, and worker processes open it.

    Raises
    ------
    BadInput
        If standard input is a terminal, closed or empty.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise BadInput(
            "'-' reads a table from standard input, as in: dpmf check - < ratings.csv."
        )
    file = workplace() / COPY
    with file.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    if not file.stat().st_size:
        raise BadInput("Standard input is empty. Give a table with a header.")
    return file


def _entries() -> Iterable[Any]:
    return (*catalogue().catalogue(), *catalogue().in_parts())


def _refuse_another(name: str, before: str, text: str) -> None:
    if before != text:
        raise BadInput(
            f"'{name}' is declared twice: {before[:50]} and {text[:50]}. Declare it once, after the"
            " path or as an option."
        )


def written(name: str, fact: Any) -> str:
    """The text of a fact's value: one for all ways to write it.

    Raises
    ------
    BadInput
        If the value is against the fact's rule.
    """
    return _text(value({name: _text(fact)}, name))


def _text(fact: Any) -> str:
    if isinstance(fact, bool):
        return str(fact).lower()
    if isinstance(fact, float):
        return repr(float(fact)).removesuffix(".0")
    if isinstance(fact, Iterable) and not isinstance(fact, str):
        return ",".join(map(_text, fact))
    return str(fact)


def file_of(address: str) -> str:
    """An address of private data without the folders of its files, so that it may be shown."""
    path, mark, facts = address.rpartition("?")
    facts = re.sub(r"(?i)(item_table=|stop_words=)[^&]*(?:/|\\|%2f|%5c)", r"\1", facts)
    if mark:
        return f"{Path(path).name}{mark}{facts}"
    return Path(address).name
