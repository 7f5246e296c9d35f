"""A teacher's link: pages in order, each with its values, locks, title and question.

The link itself holds all of it, signed by the server, so editing it unlocks nothing and nothing
need be stored.
"""

import re
import secrets
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from dpmf_core.base.errors import BadInput
from dpmf_core.base.frozen import Frozen
from dpmf_core.teaching import signing

CONTROLS = {
    "dataset": "data set",
    "top_items": "most rated items",
    "most_words": "most frequent words",
    "item_features": "item features",
    "algorithm": "algorithm",
    "epsilon": "ε",
    "delta": "δ",
    "seed": "seed",
    "calibration": "noise rule",
    "row_count": "item set and number of rows",
    "noise": "kind of noise",
    "parameters": "parameters",
    "page": "the page's own controls",
}
IDENT = re.compile(r"[A-Za-z0-9_-]{8,32}")
# parameters of an address that belong to no page; `page` says which view is shown
OWN = ("class", "seat", "at", "teach", "sequence", "view", "step", "room", "preview")
MOST_STEPS = 20
PURPOSE = "lesson"
TEACHER = "teacher"
UNKNOWN = (
    "This server did not make this lesson link. Ask for a new one; the page is shown without a"
    " lesson."
)


class _Signed(Frozen):
    @classmethod
    def parse(cls, **parts: object) -> Self:
        """The checked content of a link. Raises BadInput with the first fault."""
        try:
            return cls.model_validate(parts)
        except ValidationError as error:
            raise BadInput(
                "The lesson link cannot be made:"
                f" {error.errors()[0]['msg'].removeprefix('Value error, ')}."
            ) from None


class LessonLink(_Signed):
    """One page of a lesson.

    Attributes
    ----------
    page
        The address of the page. The pages decide whether such a page exists.
    query
        The parameters of its link.
    locked
        Controls that are shown and fixed.
    hidden
        Controls that are fixed and not shown.
    title
        The title of the page in the lesson.
    question
        The question that the page asks.
    choices
        The answers to a private question, which are shown only as counts with noise. It is empty if
        students answer in their own words.
    """

    page: str = Field(pattern=r"^[a-z-]{1,30}$")
    query: dict[
        Annotated[str, Field(max_length=60)], Annotated[str, Field(max_length=4000)]
    ] = Field(default_factory=dict, max_length=60)
    locked: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    title: str = Field("", max_length=120)
    question: str = Field("", max_length=600)
    choices: tuple[str, ...] = Field((), max_length=7)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if unknown := [
            name for name in (*self.locked, *self.hidden) if name not in CONTROLS
        ]:
            raise ValueError(
                f"there is no control {unknown[0]!r}; the controls are {', '.join(CONTROLS)}"
            )
        if self.choices and self.page == "lessons":
            raise ValueError(
                "a lesson has questions of its own; put a private one on another page"
            )
        differ = len(set(self.choices)) == len(self.choices) > 1
        if self.choices and not (self.question and differ):
            raise ValueError(
                "a private question needs a text and at least two different answers"
            )
        return self

    @field_validator("query", mode="before")
    @classmethod
    def _of_the_page(cls, query: Any) -> Any:
        """Leave out the parameters of an address that belong to no page."""
        if not isinstance(query, dict):
            return query
        return {name: text for name, text in query.items() if name not in OWN}

    @property
    def fixed(self) -> frozenset[str]:
        """The locked and hidden controls."""
        return frozenset((*self.locked, *self.hidden))


class LessonSequence(_Signed):
    """The pages that a teacher's link opens, in their order.

    Attributes
    ----------
    id
        The id of this class, drawn when the link is made.
    steps
        The pages.
    title
        The title of the sequence.
    gathers
        Whether answers and steps are kept for the teacher's class view.
    """

    id: str = Field(
        default_factory=lambda: secrets.token_urlsafe(9), pattern=IDENT.pattern
    )
    steps: tuple[LessonLink, ...] = Field(min_length=1, max_length=MOST_STEPS)
    title: str = Field("", max_length=120)
    gathers: bool = False

    @model_validator(mode="after")
    def _gathered(self) -> Self:
        if not self.gathers and any(step.choices for step in self.steps):
            raise ValueError(
                "answers to a private question must be gathered; turn gathering on"
            )
        return self


def link_token(sequence: LessonSequence, purpose: str = PURPOSE) -> str:
    """The token of a sequence's link.

    Parameters
    ----------
    sequence
        The sequence.
    purpose
        TEACHER for the teacher's link; otherwise the class's.

    Raises
    ------
    BadInput
        If the token is too long for an address.
    """
    parts: dict[str, Any] = sequence.model_dump(mode="json", exclude_defaults=True)
    token = signing.sign(purpose, parts | {"id": sequence.id})
    if len(token) > signing.LONGEST // 4:
        raise BadInput(
            "The lesson link would be too long for a browser. Use fewer pages."
        )
    return token


def sequence_of(token: str, purpose: str = PURPOSE) -> LessonSequence:
    """The sequence of a link. Raises BadInput if this server did not sign it."""
    try:
        return LessonSequence.model_validate(signing.content(purpose, token))
    except signing.ForgedToken:
        raise BadInput(UNKNOWN) from None
    except ValidationError:
        raise BadInput(
            "A different version made this lesson link, so it cannot be read. The page is shown"
            " without a lesson."
        ) from None
