"""Errors a person can act on: what is wrong, where, what is allowed, what was found."""

import difflib
import inspect
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # commands that only list things do not need it
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound="BaseModel")

LONGEST = 200  # characters of a refused value that a message repeats
MOST_IN_ADVICE = 12  # columns
LONGEST_IN_LIST = 40  # characters of one text in a list


class BadInput(ValueError):
    """Something a person gave cannot be used; the message says what to do. Exit code 2."""


class RowsChanged(UserWarning):
    """Rows of data were left out or changed; their report has the details."""


class HoldsPrivateRatings(UserWarning):
    """A pickle, or a frame that was returned, holds people's private ratings."""


class Cancelled(Exception):
    """A run was stopped between two steps; it leaves nothing behind and has no epsilon."""


def warn_of_rows(message: str) -> None:
    """Warn of rows that were left out or changed, at the line of the program that read them."""
    package = __name__.partition(".")[0]
    depth = 1
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame = frame.f_back
        depth += 1
    warnings.warn(message, RowsChanged, stacklevel=depth)


def words_of(error: BaseException) -> str:
    """The kind and message of an unexpected error, with only the last part of file paths."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{type(error).__name__}: {error.strerror}: {PurePath(str(error.filename)).name}"
    return f"{type(error).__name__}: {error}"


def shortened(text: object, most: int = 80) -> str:
    """The beginning of a text from a file, on one line and without unprintable characters.

    A message repeats at most some 300 characters of a file in all.
    """
    beginning = str(text)[: most + 1]
    plain = "".join(letter if letter.isprintable() else " " for letter in beginning)
    if len(plain) <= most:
        return plain
    return f"{plain[: most - 3]}..."


def quoted(text: object, most: int = 80) -> str:
    """The beginning of a text from a file, in quotation marks."""
    return f"'{shortened(text, most)}'"


def listing(texts: Sequence[object], most: int = LONGEST) -> str:
    """The first of some texts from a file, with at most `most` characters, and how many follow."""
    beginnings: list[str] = []
    for text in texts:
        beginnings.append(shortened(text, LONGEST_IN_LIST))
        if len(", ".join(beginnings)) > most:
            beginnings.pop()
            break
    more = len(texts) - len(beginnings)
    return ", ".join(beginnings) + (f" and {more:,} more" if more else "")


def brief(names: str) -> str:
    """The first of some columns' names, separated by commas, as advice repeats them."""
    parts = names.split(",")[:MOST_IN_ADVICE]
    return ",".join(shortened(part, LONGEST_IN_LIST) for part in parts)


def closest(name: str, choices: Iterable[str]) -> str:
    """' Did you mean ...?' if a known name is close or begins so; else ''."""
    names = list(choices)
    longer = [candidate for candidate in names if name and candidate.startswith(name)]
    if len(longer) == 1:
        near = longer
    else:
        near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f" Did you mean {quoted(near[0])}?"
    return ""


def range_words(field: dict[str, object]) -> str:
    """The range or the choices of one JSON-schema property, in words; '' if it has none."""
    for choice in field.get("anyOf", []):  # type: ignore[attr-defined]
        if choice.get("type") != "null":
            return range_words(choice)
    if "enum" in field:
        return "one of " + ", ".join(str(choice) for choice in field["enum"])  # type: ignore[attr-defined]
    if field.get("type") == "boolean":
        return "true or false"
    low = field.get("exclusiveMinimum", field.get("minimum", "-inf"))
    high = field.get("exclusiveMaximum", field.get("maximum", "inf"))
    opening = "(" if "exclusiveMinimum" in field else "["
    closing = ")" if "exclusiveMaximum" in field else "]"
    if field.get("type") == "integer":
        kind = "a whole number "
    else:
        kind = ""
    is_bounded = (low, high) != ("-inf", "inf")
    return (
        kind + (f"in {opening}{low}, {high}{closing}" if is_bounded else "")
    ).strip()


def _short(value: object) -> str:
    """The value's `repr`, shortened."""
    text = repr(value)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}..."


def _sentence(
    problem: "ErrorDetails",
    owner: str,
    schema: dict[str, dict[str, object]],
    depth: int,
) -> str:
    place = problem["loc"][depth:]
    if not place and problem["type"] == "value_error":  # the values do not go together
        message = str(problem["ctx"]["error"])
        return f"{message[:1].upper()}{message[1:].rstrip('.')}."
    name = ".".join(str(part) for part in place)[:60] or "value"
    name = name if name.isprintable() else ascii(name)[1:-1]
    if problem["type"] == "extra_forbidden":
        parameters = ", ".join(schema) or "none"
        return (
            f"There is no parameter '{name}' of {owner}.{closest(name, schema)} Its parameters:"
            f" {parameters}."
        )
    words = range_words(schema.get(str(place[0]), {}) if place else {})
    if words:
        rule = f"must be {words}"
    else:
        rule = f"is not usable ({problem['msg']})"
    return f"The '{name}' parameter of {owner} {rule}. Got {_short(problem['input'])}."


def explain(
    error: "ValidationError",
    owner: str,
    schema: dict[str, dict[str, object]],
    depth: int = 0,
) -> BadInput:
    """Convert pydantic's refusals to sentences about `owner`'s parameters.

    Parameters
    ----------
    error : ValidationError
    owner : str
    schema : dict
        JSON-schema properties.
    depth : int
        The number of leading keys to leave out.
    """
    return BadInput(
        " ".join(
            _sentence(problem, owner, schema, depth) for problem in error.errors()[:3]
        )
    )


def checked(model: type[Model], owner: str, parts: Mapping[str, Any]) -> Model:
    """Make a pydantic model of its fields.

    Raises
    ------
    BadInput
        If a field is not valid. The message has sentences about `owner`.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(parts)
    except ValidationError as error:
        raise explain(
            error, owner, model.model_json_schema().get("properties", {})
        ) from None
