"""The facts that a person may declare of a file or table: their types and rules.

They follow a path (`ratings.csv?bounds=1,5`), or are options of commands and functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import ROLE_NAMES
from dpmf_core.data.report import Order, Outside

ITEM_TABLE = "item_table"


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
        "must be leave-out, clamp or refuse: whether the row of a rating outside the bounds is left"
        " out, the rating is set to the nearest bound, or the whole table is refused",
    ),
    "missing": Fact(
        Annotated[tuple[float, ...], BeforeValidator(_parts)],
        "must be the numbers that mean 'not rated', separated by commas, e.g. missing=0 or"
        " missing=-1,99",
    ),
    ITEM_TABLE: Fact(),
}
TABLE_FACTS = {  # of a table that is read whole
    "sheet": Fact(),
    "header": Fact(
        Annotated[int, Field(ge=0, le=1000)],
        "must be the line (or row of a sheet) that names the columns, counted from 1; 0 for none",
    ),
    "leave": Fact(
        Annotated[tuple[str, ...], BeforeValidator(_parts)],
        "must be the columns of a wide table that hold no ratings, separated by commas",
    ),
    "multiline": Fact(
        bool,
        "must be true or false: whether a quoted cell may reach over several lines",
    ),
    "member": Fact(),
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
    "shortest": Fact(
        Annotated[int, Field(ge=1, le=20)],
        "must be the least number of letters of a word, from 1 to 20",
    ),
    "stop_words": Fact(),
}
FACTS = {**RATING_FACTS, **TABLE_FACTS, **SAMPLE_FACTS, "encoding": Fact()}


def value(facts: Mapping[str, str], name: str, default: Any = None) -> Any:
    """The value of one fact, or the default. Raises BadInput."""
    if name not in facts:
        return default
    fact = FACTS[name]
    try:
        return TypeAdapter(fact.kind).validate_python(facts[name])
    except ValueError:
        raise BadInput(f"'{name}' {fact.words}. Got '{facts[name][:50]}'.") from None
