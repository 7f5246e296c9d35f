"""Options from the fields of a model, and lists in texts; loads little."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from dpmf_core.base.errors import BadInput

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


HEADINGS = {  # of options, in the order of `--help`
    "Data": ("dataset", "user", "n_users", "n_items", "bounds", "each"),
    "Privacy": (
        *("epsilon", "delta", "epsilons", "ledger", "relation", "noise", "unit", "group_size"),
        *("protect", "group", "spend", "on_data", "distribution", "score_noise"),
        *("budget", "no_budget", "allow_unprotected", "noisy_errors"),
    ),
    "Split": (),
    "Output": ("as_json", "out", "folder", "abouts", "page", "book", "script", "notebook"),
}


class GroupedCommand(click.Command):
    """A command whose help lists its options in groups, its own options first."""

    def heading(self, option: str) -> str:
        """The group of an option."""
        return next((name for name, it in HEADINGS.items() if option in it), "Options")

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Options", *HEADINGS)}
        for option in self.get_params(context):
            if (line := option.get_help_record(context)) is not None:
                groups[self.heading(str(option.name))].append(line)
        for heading, lines in groups.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)


def field_option(name: str, info: "FieldInfo", **changes: Any) -> Callable[..., Any]:
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


own_param_option = click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the algorithm; repeatable.",
)


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE texts as a dictionary."""
    out: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise BadInput(f"{option} takes NAME=VALUE, e.g. {option} rank=4. Got {text!r}.")
        out[name.strip()] = value.strip()
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
