"""Errors a person can act on: what is wrong, where, what is allowed, what was found."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails


class BadInput(ValueError):
    """Something a person gave cannot be used; the message says what to do. Exit code 2."""


class Cancelled(Exception):
    """A run was stopped between two steps; it leaves nothing behind and carries no epsilon."""


def _allowed(field: dict[str, object]) -> str:
    """The range or the choices of one JSON-schema property, in words; '' where it has none."""
    if "enum" in field:
        return "one of " + ", ".join(str(choice) for choice in field["enum"])  # type: ignore[attr-defined]
    if field.get("type") == "boolean":
        return "true or false"
    opening, low = ("(", field["exclusiveMinimum"]) if "exclusiveMinimum" in field else ("[", field.get("minimum", "-inf"))
    closing, high = (")", field["exclusiveMaximum"]) if "exclusiveMaximum" in field else ("]", field.get("maximum", "inf"))
    kind = "a whole number " if field.get("type") == "integer" else ""
    return f"{kind}in {opening}{low}, {high}{closing}" if (low, high) != ("-inf", "inf") else f"{kind}".strip()


def _sentence(problem: ErrorDetails, owner: str, schema: dict[str, dict[str, object]]) -> str:
    name = ".".join(str(part) for part in problem["loc"]) or "value"
    if problem["type"] == "extra_forbidden":
        known = ", ".join(sorted(schema)) or "none"
        return f"{owner} has no parameter '{name}'. Its parameters: {known}."
    allowed = _allowed(schema.get(name.split(".")[0], {}))
    wanted = f"must be {allowed}" if allowed else f"is not usable ({problem['msg']})"
    return f"The '{name}' parameter of {owner} {wanted}. Got {problem['input']!r}."


def explain(error: ValidationError, owner: str, schema: dict[str, dict[str, object]]) -> BadInput:
    """The first thing pydantic refused, as one sentence about `owner`'s parameters (`schema`: JSON-schema properties)."""
    return BadInput(" ".join(_sentence(problem, owner, schema) for problem in error.errors()[:3]))
