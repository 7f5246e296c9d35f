"""The facts that may follow the '?' of a path to private data, and how they are read."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from pydantic import BeforeValidator, Field, TypeAdapter

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import ROLE_NAMES
from dpmf_datasets.readers import databases
from dpmf_datasets.readers.report import Order, Outside

ITEM_TABLE = "item_table"
UPLOADS = "dpmf-uploads-"  # the first part of the name of the uploads' folder


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip()]


@dataclass(frozen=True)
class Fact:
    """kind: the type of its value, which pydantic makes of its text. words: its rule."""

    kind: Any = str
    words: str = ""


Count = Annotated[int, Field(ge=1, lt=10**15)]
COUNT = Fact(Count, "must be a whole number of at least 1, with at most 15 digits")
RATING_FACTS = {
    "bounds": Fact(
        Annotated[tuple[float, float], BeforeValidator(_parts)],
        "must be two numbers separated by a comma, lowest first, e.g. bounds=0.5,5",
    ),
    "users": COUNT,
    "items": COUNT,
    **dict.fromkeys(ROLE_NAMES, Fact()),
    "dates": Fact(
        Order,
        "must be the order in dates such as 03/04/2021: dmy (day first) or mdy (month first)",
    ),
    "outside": Fact(
        Outside,
        "must be clamp or leave-out: whether a rating outside the bounds is set to the nearest one,"
        " or its row is left out",
    ),
    ITEM_TABLE: Fact(),
}
TABLE_FACTS = {  # of a table that is read whole
    "sheet": Fact(),
    "layout": Fact(
        Literal["long", "wide"],
        "must be long (one row per rating) or wide (one row per user, one column per item)",
    ),
    "table": Fact(),
}
SAMPLE_FACTS = {  # of documents and images
    "text": Fact(),
    "key": Fact(),
    "image": Fact(
        Annotated[tuple[Count, Count], BeforeValidator(lambda it: _parts(it.replace("x", ",")))],
        "must be height and width separated by a comma, e.g. image=32,32",
    ),
    "drop": Fact(
        Annotated[tuple[Count, ...], BeforeValidator(_parts)],
        "must be columns counted from 1, separated by commas",
    ),
    "order": Fact(
        Literal["columns", "lines"],
        "must be the order of pixels: columns (as in MATLAB) or lines",
    ),
    "transpose": Fact(
        Literal["0", "1"],
        "must be 1 if the rows of a matrix are the pixels or words and its columns are the samples",
    ),
    "group": Fact(),
    "people": COUNT,
}
FACTS = {**RATING_FACTS, **TABLE_FACTS, **SAMPLE_FACTS, "encoding": Fact()}


def facts_in(query: str, known_facts: Collection[str] = FACTS) -> dict[str, str]:
    """The facts after the '?' of a path. Raises BadInput on unknown ones."""
    facts = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := set(facts) - set(known_facts):
        raise BadInput(
            f"The options after the '?' of a path are {', '.join(known_facts)}. Got"
            f" {', '.join(sorted(unknown))}."
        )
    return facts


def value(facts: Mapping[str, str], name: str, default: Any = None) -> Any:
    """The value of one fact, or the default. Raises BadInput."""
    if name not in facts:
        return default
    fact = FACTS[name]
    try:
        return TypeAdapter(fact.kind).validate_python(facts[name])
    except ValueError:
        raise BadInput(f"'{name}' {fact.words}. Got '{facts[name][:50]}'.") from None


def ways(facts: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of `read_table` from the facts after a path. Raises BadInput."""
    return {
        "bounds": value(facts, "bounds"),
        "columns": {role: facts[role] for role in ROLE_NAMES if role in facts},
        "n_users": value(facts, "users"),
        "n_items": value(facts, "items"),
        "dates": value(facts, "dates"),
        "encoding": value(facts, "encoding"),
        "outside": value(facts, "outside", "clamp"),
    }


def path_of(text: str) -> Path:
    """Convert text to a path. Raises BadInput on text that no system accepts as one."""
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


def split_path(path_and_facts: str) -> tuple[Path, str]:
    """Split a path from the facts after its '?'. Raises BadInput.

    If a file's own name has a question mark, it is not split.
    """
    whole = path_of(path_and_facts)
    if whole.is_file():
        return whole, ""
    path, _, query = path_and_facts.partition("?")
    return path_of(path), query


def files_of(id_or_path: str) -> tuple[Path, ...]:
    """The files that a path and its facts name."""
    path, _, query = id_or_path.partition("?")
    if databases.is_address(path):
        file = databases.file_of(path)
        return (file,) if file else ()
    tables = dict(parse_qsl(query)).get(ITEM_TABLE)
    return (path_of(path), *((path_of(tables),) if tables else ()))


def is_own(data_id: str) -> bool:
    """Whether a data set's id is the path of a file."""
    return UPLOADS in data_id and any(
        part.startswith(UPLOADS) for part in Path(os.path.normpath(data_id)).parts[:-3]
    )
