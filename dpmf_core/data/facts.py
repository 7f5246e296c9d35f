"""The facts that a person may declare of a file or table: their types and rules.

They follow a path (`ratings.csv?bounds=1,5`, see `addresses`), or are options of commands and
keywords of functions.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter

from dpmf_core.base.errors import BadInput
from dpmf_core.data.report import DateOrder, Outside

Facts = Mapping[str, str]  # texts of values by the names of facts
ITEM_TABLE = "item_table"
STOP_WORDS = "stop_words"


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip()]


@dataclass(frozen=True)
class Fact:
    """A fact that an address may declare about its data.

    Attributes
    ----------
    kind : type
        The type of its value, which pydantic makes of its text.
    words : str
        Its rule.
    meaning : str
        What it declares, if the rule does not say so.
    metavar : str
        Its value in lists of options.
    """

    kind: Any = str
    words: str = ""
    meaning: str = ""
    metavar: str = ""

    @property
    def help(self) -> str:
        """Its meaning and its rule in one sentence."""
        rule = re.sub(r"\b\w+=(?=[-\d])", "", self.words.removeprefix("must be "))
        text = ": ".join(filter(None, [self.meaning, rule]))
        return f"{text[:1].upper()}{text[1:]}."


Finite = Annotated[float, Field(allow_inf_nan=False)]
PositiveCount = Annotated[int, Field(ge=1, lt=10**15)]
COUNT_RULE = "must be a whole number of at least 1, with at most 15 digits"
COLUMN = "NAME"  # a column by its name, or by its number as in `column 3`
RATING_FACTS = {
    "bounds": Fact(
        Annotated[tuple[float, float], BeforeValidator(_parts)],
        "must be two numbers separated by a comma, lowest first, e.g. bounds=0.5,5",
        "the lowest and highest possible rating",
        "LOW,HIGH",
    ),
    "users": Fact(PositiveCount, COUNT_RULE, "the public number of users", "N"),
    "items": Fact(PositiveCount, COUNT_RULE, "the public number of items", "N"),
    "user": Fact(
        meaning="the column that names the person of each row", metavar=COLUMN
    ),
    "item": Fact(meaning="the column that names the item of each row", metavar=COLUMN),
    "rating": Fact(
        meaning="the column of ratings; empty if a row only says that a user had an item",
        metavar=COLUMN,
    ),
    "time": Fact(meaning="the column of times", metavar=COLUMN),
    "title": Fact(meaning="the column of the items' names", metavar=COLUMN),
    "dates": Fact(
        DateOrder,
        "must be the order in dates such as 03/04/2021: dmy (day first) or mdy (month first)",
    ),
    "outside": Fact(
        Outside,
        "must be leave-out (its row is left out), clamp (it is set to the nearest bound) or refuse"
        " (the whole table is refused)",
        "what becomes of a rating outside the bounds",
    ),
    "missing": Fact(
        Annotated[tuple[Finite, ...], BeforeValidator(_parts)],
        "must be the numbers that mean 'not rated', separated by commas, e.g. missing=0 or"
        " missing=-1,99",
        metavar="NUMBERS",
    ),
    ITEM_TABLE: Fact(
        meaning="a public table of the items, one row per item", metavar="FILE"
    ),
    "item_encoding": Fact(meaning="the encoding of the table of items", metavar="NAME"),
}
TABLE_FACTS = {  # of a table that is read whole
    "sheet": Fact(meaning="the sheet of a spreadsheet", metavar="NAME"),
    "header": Fact(
        Annotated[int, Field(ge=0, le=1000)],
        "must be the line (or row of a sheet) that names the columns, counted from 1; 0 for none",
        metavar="N",
    ),
    "leave": Fact(
        Annotated[tuple[str, ...], BeforeValidator(_parts)],
        "must be the columns of a wide table that hold no ratings, separated by commas",
        metavar="NAMES",
    ),
    "multiline": Fact(
        bool,
        "must be true or false",
        "whether a quoted cell may reach over several lines",
    ),
    "member": Fact(meaning="the file in an archive or folder", metavar="NAME"),
    "layout": Fact(
        Literal["long", "wide"],
        "must be long (one row per rating) or wide (one row per user, one column per item)",
        "the layout of the table",
    ),
    "table": Fact(meaning="the table of a database", metavar="NAME"),
}
SAMPLE_FACTS = {  # of documents and images
    "text": Fact(meaning="the column of documents", metavar=COLUMN),
    "key": Fact(meaning="the variable of a MATLAB file", metavar="NAME"),
    "image": Fact(
        Annotated[
            tuple[PositiveCount, PositiveCount],
            BeforeValidator(lambda text: _parts(text.replace("x", ","))),
        ],
        "must be height and width separated by a comma, e.g. image=32,32",
        "the size of pictures",
        "HEIGHT,WIDTH",
    ),
    "drop": Fact(
        Annotated[tuple[PositiveCount, ...], BeforeValidator(_parts)],
        "must be columns counted from 1, separated by commas",
        "columns of a matrix that are left out",
        "NUMBERS",
    ),
    "order": Fact(
        Literal["columns", "lines"],
        "must be the order of pixels: columns (as in MATLAB) or lines",
    ),
    "transpose": Fact(
        Literal["0", "1"],
        "must be 1 if the rows of a matrix are the pixels or words and its columns are the samples",
    ),
    "group": Fact(
        meaning="the column with the person of each document or image", metavar=COLUMN
    ),
    "people": Fact(PositiveCount, COUNT_RULE, "the public number of people", "N"),
    "shortest": Fact(
        Annotated[int, Field(ge=1, le=20)],
        "must be the least number of letters of a word, from 1 to 20",
        metavar="N",
    ),
    STOP_WORDS: Fact(
        meaning="words that are not counted: english, none, another language's, or a file of them",
        metavar="NAME|FILE",
    ),
}
ENCODING = Fact(meaning="the encoding of a text file, e.g. cp1251", metavar="NAME")
FACTS = {**RATING_FACTS, **TABLE_FACTS, **SAMPLE_FACTS, "encoding": ENCODING}


def value(facts: Facts, name: str, default: Any = None) -> Any:
    """The value of one fact, or the default.

    Raises
    ------
    BadInput
        If the text is against the fact's rule.
    """
    if name not in facts:
        return default
    fact = FACTS[name]
    try:
        return TypeAdapter(fact.kind).validate_python(facts[name])
    except ValueError:
        raise BadInput(f"'{name}' {fact.words}. Got '{facts[name][:50]}'.") from None
