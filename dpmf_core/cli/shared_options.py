"""Options, made from the fields of models, and lists in texts."""

import functools
import os
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from dpmf_core.base.errors import BadInput
from dpmf_core.cli.shell_completion import COMPLETIONS
from dpmf_core.privacy.accounts import LEDGER

Decorator = Callable[..., Any]


class Options(BaseModel):
    """The options of a command: the text below a field is its help, one in its type its metavar.

    A truth is a flag, and an option with several values is repeatable.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)


def with_options(model: type[Options]) -> Decorator:
    """Give a command the options of a model's fields."""
    flag = {"is_flag": True, "type": None, "show_default": False}
    return combined(
        *(
            field_option(name, info, **flag if info.annotation is bool else {})
            for name, info in model.model_fields.items()
        )
    )


def combined(*options: Decorator) -> Decorator:
    """One decorator that adds these options in their order."""
    return lambda command: functools.reduce(
        lambda optioned, add: add(optioned), reversed(options), command
    )


def field_option(name: str, info: FieldInfo, **changes: Any) -> Decorator:
    """The option of a field, with the field's type, default and description."""
    facts: dict[str, Any] = {"help": _sentence(info.description or info.title or "")}
    if metavar := [text for text in info.metadata if isinstance(text, str)]:
        facts["metavar"] = metavar[0]
    if get_origin(info.annotation) is tuple:
        facts |= {
            "multiple": True,
            "help": f"{facts['help'].removesuffix('.')}; repeatable.",
        }
    else:
        facts["type"] = _click_type(info.annotation)
        # click takes None as a value
        if not info.is_required() and info.default is not None:
            default = info.default
            if isinstance(info.default, StrEnum):
                default = info.default.value
            facts |= {"default": default, "show_default": True}
    if name in COMPLETIONS:
        facts["shell_complete"] = COMPLETIONS[name]
    return click.option(
        f"--{(info.alias or name).replace('_', '-')}", name, **facts | changes
    )


def _sentence(words: str) -> str:
    """A text with a capital letter, unless it begins with the name of a value (`random: ...`)."""
    first, _, _ = words.partition(" ")
    return " ".join(
        (words if first.endswith(":") else words[:1].upper() + words[1:]).split()
    )


def _click_type(annotation: Any) -> Any:
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation))
    if annotation is Path:
        return click.Path(path_type=Path)
    if isinstance(annotation, type):
        if issubclass(annotation, StrEnum):
            return click.Choice([str(choice) for choice in annotation])
        return annotation
    return next(
        _click_type(option)
        for option in get_args(annotation)
        if option is not type(None)
    )


def _use_ledger(
    context: click.Context, option: click.Parameter, file: Path | None
) -> None:
    """Use a ledger for this command and its workers."""
    if file is not None:
        if LEDGER in os.environ:
            before = {LEDGER: os.environ[LEDGER]}
        else:
            before = {}
        os.environ[LEDGER] = str(file.expanduser().absolute())
        context.call_on_close(
            lambda: (os.environ.pop(LEDGER), os.environ.update(before))
        )


ledger_option = click.option(
    "--ledger",
    type=click.Path(path_type=Path, dir_okay=False),
    expose_value=False,
    callback=_use_ledger,
    help="The file of the account that private data enter; by default the data folder's.",
)


# ---- lists in texts ------------------------------------------------------------------------------


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE texts as a dictionary."""
    out: dict[str, str] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise BadInput(
                f"{option} takes NAME=VALUE, e.g. {option} rank=4. Got {text!r}."
            )
        out[name] = value
    return out


def split_list(text: str, option: str) -> list[str]:
    """The parts of a list separated by commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadInput(
            f"{option} takes a list with commas between its parts. Got {text!r}."
        )
    return list(dict.fromkeys(parts))


def numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in split_list(text, option)]
    except ValueError:
        raise BadInput(
            f"{option} takes numbers with commas between them, e.g. 1,5,10. Got {text!r}."
        ) from None


def whole_numbers(text: str, option: str) -> list[int]:
    """`0-4`, `1,3,5`, or both."""
    out: list[int] = []
    for part in split_list(text, option):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise BadInput(
                f"{option} takes whole numbers from 0, as in 0-4 or 1,3,5. Got {text!r}."
            )
        if not 0 <= int(last or first) - int(first) < 10_000:
            raise BadInput(
                f"{option} takes at most 10,000 numbers, the lower end first. Got {text!r}."
            )
        out += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(out))
