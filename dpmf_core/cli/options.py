"""Options, their completion in a shell, and lists in texts.

Options are made from the fields of a model. This module loads little.
"""

import os
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from dpmf_core.base.errors import BadInput

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Decorator = Callable[..., Any]

# ---- completion ----------------------------------------------------------------------------------


def _completed(place: str) -> Callable[..., list[str]]:
    """Completion of the last part of a comma list by the names in a table, module:attribute."""

    def complete(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
        return _starting(incomplete, resolve_name(place))

    return complete


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in names if name.startswith(last)]


algorithm_ids = _completed("dpmf_core.algorithms:REGISTRY")
claim_ids = _completed("dpmf_core.papers.registry:CLAIMS")
figure_ids = _completed("dpmf_core.papers.registry:FIGURES")


def dataset_ids(
    context: click.Context, option: click.Parameter, incomplete: str
) -> list[str] | list[CompletionItem]:
    """Ids of the catalogue, or else files."""
    from dpmf_core.data.catalogue import catalogue

    entries = (*catalogue().catalogue(), *catalogue().in_parts())
    matches = _starting(incomplete, [entry.id for entry in entries])
    return matches or [CompletionItem(incomplete, type="file")]


def run_keys(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    from dpmf_core.runs.store import Store

    return _starting(incomplete, [str(key)[:8] for key in Store().run_keys()])


# ---- options -------------------------------------------------------------------------------------


def field_option(name: str, info: "FieldInfo", **changes: Any) -> Decorator:
    """The option --name of a field, with the field's type, default and description."""
    default = None if info.is_required() else info.default
    facts: dict[str, Any] = {
        "type": _click_type(info.annotation),
        "show_default": default is not None,
        "help": _sentence(info.description or info.title or ""),
    }
    if default is not None:  # click takes None as a given value
        facts["default"] = default.value if isinstance(default, StrEnum) else default
    return click.option(f"--{name.replace('_', '-')}", name, **facts | changes)


def _sentence(words: str) -> str:
    """A text with a capital letter, unless it begins with the name of a value, as `random: ...`."""
    first, _, _ = words.partition(" ")
    return words if first.endswith(":") else words[:1].upper() + words[1:]


def _click_type(annotation: Any) -> Any:
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation))
    if isinstance(annotation, type):
        names = [str(it) for it in annotation] if issubclass(annotation, StrEnum) else []
        return click.Choice(names) if names else annotation
    return next(_click_type(it) for it in get_args(annotation) if it is not type(None))


def file_option(flag: str, *name: str, **facts: Any) -> Decorator:
    """An option that takes the path of a file."""
    return click.option(flag, *name, type=click.Path(path_type=Path, dir_okay=False), **facts)


def _use_ledger(context: click.Context, option: click.Parameter, file: Path | None) -> None:
    """Use a ledger for this command and its workers."""
    from dpmf_core.privacy.accounts import LEDGER

    if file is not None:
        before = {LEDGER: os.environ[LEDGER]} if LEDGER in os.environ else {}
        os.environ[LEDGER] = str(file.expanduser().absolute())
        context.call_on_close(lambda: (os.environ.pop(LEDGER), os.environ.update(before)))


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on standard output, nothing else."
)
ledger_option = file_option(
    "--ledger",
    expose_value=False,
    callback=_use_ledger,
    help="The file of the account that private data enter; by default the data folder's.",
)


def repeatable(flag: str, name: str, metavar: str, words: str) -> Decorator:
    """An option that may be given several times."""
    return click.option(
        flag, name, multiple=True, metavar=metavar, help=f"{words.removesuffix('.')}; repeatable."
    )


own_param_option = repeatable("--param", "params", "NAME=VALUE", "A parameter of the algorithm.")

# ---- lists in texts ------------------------------------------------------------------------------


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE texts as a dictionary."""
    out: dict[str, str] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise BadInput(f"{option} takes NAME=VALUE, e.g. {option} rank=4. Got {text!r}.")
        out[name] = value
    return out


def split_list(text: str, option: str) -> list[str]:
    """The parts of a list separated by commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadInput(f"{option} takes a list with commas between its parts. Got {text!r}.")
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
