"""A teacher's link: what a page shows, what is locked or hidden, a title and a question. The server keeps it, so that editing the link unlocks nothing."""

import json
import re
import secrets
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dpmf_core.errors import BadInput
from dpmf_core.home import data_folder, made, workplace

CONTROLS = {
    "data": "data set", "top": "most rated items", "algo": "algorithm", "eps": "ε", "delta": "δ", "seed": "seed", "rule": "noise rule",
    "shape": "item set and number of rows", "noise_kind": "kind of noise",
    "parameters": "parameters", "page": "the page's own controls",
}  # fmt: skip
PAGES = ("explore", "trade-off", "sketch", "retention", "topics", "faces", "accountant", "audit", "tune")
MOST = 10_000  # links kept
IDENT = re.compile(r"[A-Za-z0-9_-]{8,32}")


class LessonLink(BaseModel):
    """page: its address. query: what its link says. locked: shown and fixed; hidden: fixed and not shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str
    query: dict[str, str] = Field(default_factory=dict)
    locked: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    title: str = Field("", max_length=120)
    question: str = Field("", max_length=600)

    @field_validator("page")
    @classmethod
    def _known_page(cls, page: str) -> str:
        if page not in PAGES:
            raise ValueError(f"the page must be one of {', '.join(PAGES)}")
        return page

    @field_validator("query")
    @classmethod
    def _short(cls, query: dict[str, str]) -> dict[str, str]:
        if len(query) > 60 or any(len(name) > 60 or len(value) > 4000 for name, value in query.items()):
            raise ValueError("the link is too long to be kept")
        return {name: value for name, value in query.items() if name != "class"}

    @model_validator(mode="after")
    def _known_controls(self) -> Self:
        if unknown := [name for name in (*self.locked, *self.hidden) if name not in CONTROLS]:
            raise ValueError(f"there is no control {unknown[0]!r}; there are {', '.join(CONTROLS)}")
        return self

    @property
    def fixed(self) -> frozenset[str]:
        """The controls that nobody may move."""
        return frozenset((*self.locked, *self.hidden))

    @classmethod
    def parse(cls, **parts: object) -> "LessonLink":
        """Raises BadInput with the first thing that is wrong."""
        try:
            return cls.model_validate(parts)
        except ValidationError as error:
            raise BadInput(f"The lesson link cannot be made: {error.errors()[0]['msg'].removeprefix('Value error, ')}.") from None


def _folder() -> Path:
    return data_folder() / "lessons"


def keep(link: LessonLink) -> str:
    """Its name for the address. Raises BadInput where there are too many."""
    made(_folder())
    if sum(1 for _ in _folder().iterdir()) >= MOST:
        raise BadInput(f"This server keeps at most {MOST:,} lesson links. Ask who runs it to clear old ones.")
    ident = secrets.token_urlsafe(9)
    aside = workplace() / ident
    aside.write_text(link.model_dump_json(), "utf-8")
    aside.replace(_folder() / f"{ident}.json")  # whole, or not at all
    return ident


def opened(ident: str) -> LessonLink:
    """The lesson of that name. Raises BadInput where there is none."""
    file = _folder() / f"{ident}.json"
    if not IDENT.fullmatch(ident) or not file.is_file():
        raise BadInput("There is no lesson of this link on this server. Ask whoever gave it to you for another; the page is shown as it always is.")
    try:
        return LessonLink.model_validate(json.loads(file.read_text("utf-8")))
    except (ValidationError, ValueError):
        raise BadInput("The lesson of this link was made by another version and cannot be read. The page is shown as it always is.") from None
