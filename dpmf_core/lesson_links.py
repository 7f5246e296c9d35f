"""A teacher's link: what a page shows, what is locked or hidden, a title and a question. The server keeps it, so that editing the link unlocks nothing."""

import json
import os
import re
import secrets
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dpmf_core.errors import BadInput
from dpmf_core.home import data_folder, made, workplace
from dpmf_core.settings import WHOSE, settings

CONTROLS = {
    "data": "data set", "top": "most rated items", "algo": "algorithm", "eps": "ε", "delta": "δ", "seed": "seed", "rule": "noise rule",
    "shape": "item set and number of rows", "noise_kind": "kind of noise",
    "parameters": "parameters", "page": "the page's own controls",
}  # fmt: skip
PAGES = ("explore", "trade-off", "sketch", "retention", "topics", "faces", "accountant", "audit", "tune")
IDENT = re.compile(r"[A-Za-z0-9_-]{8,32}")


class LessonLink(BaseModel):
    """page: its address. query: what its link says. locked: shown and fixed; hidden: fixed and not shown. pinned: stays when older ones go."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str
    query: dict[str, str] = Field(default_factory=dict)
    locked: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    title: str = Field("", max_length=120)
    question: str = Field("", max_length=600)
    pinned: bool = False

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
    """Its name for the address. Beyond so many as a setting says the oldest that are not pinned go; raises BadInput where all are."""
    made(_folder())
    _make_room(settings().most_lessons)
    ident = secrets.token_urlsafe(9)
    _write(ident, link)
    return ident


def _write(ident: str, link: LessonLink) -> None:
    """The whole link or none of it."""
    aside = workplace() / ident
    aside.write_text(link.model_dump_json(), "utf-8")
    aside.replace(_folder() / f"{ident}.json")


def _make_room(most: int) -> None:
    """Room for one more."""
    files = sorted(_folder().glob("*.json"), key=lambda file: file.stat().st_mtime)
    excess = len(files) + 1 - most
    for file in files if excess > 0 else ():
        if not _pinned(file):
            file.unlink(missing_ok=True)
            excess -= 1
        if excess <= 0:
            return
    if excess > 0:
        raise BadInput(f"This server keeps at most {most:,} lesson links, and all of them are pinned. {WHOSE} Ask the operator to unpin old ones.")


def _pinned(file: Path) -> bool:
    try:
        return LessonLink.model_validate_json(file.read_text("utf-8")).pinned
    except (OSError, ValidationError):
        return False


def exists(ident: str) -> bool:
    return bool(IDENT.fullmatch(ident)) and (_folder() / f"{ident}.json").is_file()


def count() -> int:
    return len(list(_folder().glob("*.json")))


def pin(ident: str, pinned: bool = True) -> None:
    """Whether a link stays when older ones go to make room. Raises BadInput where there is none."""
    file = _folder() / f"{ident}.json"
    link, made_at = opened(ident), file.stat()
    _write(ident, link.model_copy(update={"pinned": pinned}))
    os.utime(file, ns=(made_at.st_atime_ns, made_at.st_mtime_ns))  # as old as before


def opened(ident: str) -> LessonLink:
    """The lesson of that name. Raises BadInput where there is none."""
    file = _folder() / f"{ident}.json"
    if not IDENT.fullmatch(ident) or not file.is_file():
        raise BadInput("There is no lesson of this link on this server. Ask whoever gave it to you for another; the page is shown as it always is.")
    try:
        return LessonLink.model_validate(json.loads(file.read_text("utf-8")))
    except (ValidationError, ValueError):
        raise BadInput("The lesson of this link was made by another version and cannot be read. The page is shown as it always is.") from None
