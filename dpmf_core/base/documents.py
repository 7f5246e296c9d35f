"""Documents from the templates in `dpmf_core/base/templates`.

The ending of a template's name decides how values are written into it, so that other people's text
is never markup or code: escaped in HTML and Markdown, quoted in YAML and Graphviz, a literal in
Python.
"""

import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from jinja2 import Environment

MARKDOWN_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|"})
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.M)
LETTERS = 16  # in a row of a diagram's words
CODE: dict[str, Any] = {"cell_type": "code", "execution_count": None, "outputs": []}


def plain(value: object) -> str:
    """A value as text: fractions with four digits, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _yaml(value: object) -> str:
    """A value in flow style, on one line."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{_yaml(key)}: {_yaml(inner)}" for key, inner in value.items())
            + "}"
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, float):
        return str(yaml.safe_dump(value)).partition("\n")[0]
    return json.dumps(value, ensure_ascii=False)


def _dot(value: object) -> str:
    """A label of Graphviz, in short rows."""
    rows = textwrap.wrap(plain(value), LETTERS, break_long_words=False)
    escaped = "\\n".join(rows).replace('"', '\\"')
    return f'"{escaped}"'


WRITERS: dict[str, Callable[[object], str]] = {
    "dot": _dot,
    "md": lambda value: " ".join(plain(value).split()).translate(MARKDOWN_MARKS),
    "yaml": _yaml,
    "notebook": repr,
}


def to_json(value: Any, indent: int | None = None) -> str:
    """Convert to standard JSON: non-finite values become null, numpy numbers plain ones."""
    return json.dumps(
        _plain_values(value),
        indent=indent,
        ensure_ascii=False,
        allow_nan=False,
    )


def _plain_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain_values(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_values(part) for part in value]
    if hasattr(value, "tolist"):  # numpy's
        return _plain_values(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def render(template: str, **values: Any) -> str:
    """Write values into a template.

    Parameters
    ----------
    template
        Its name in `dpmf_core/base/templates`; the ending is html, svg, dot, md, yaml or
        notebook.
    values
        The template's variables.

    Raises
    ------
    jinja2.UndefinedError
        If a variable is missing.
    """
    language = template.rpartition(".")[2]
    return _environment(language).get_template(template).render(**values)


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None
) -> str:
    """A table as HTML, below its title."""
    return render(
        "table.html",
        title=title,
        head=head,
        rows=list(rows),
    )


def notebook(template: str, **values: Any) -> str:
    """A Jupyter notebook from a template that separates cells by `# %%` and `# %% [markdown]`.

    Every line of a Markdown cell is a comment.
    """
    _, *parts = CELL.split(render(template, **values))
    cells: list[dict[str, Any]] = []
    for markdown, source in zip(parts[::2], parts[1::2], strict=True):
        kind = CODE
        text = source
        if markdown:
            kind = {"cell_type": "markdown"}
            text = re.sub(r"^# ?", "", source, flags=re.M)
        lines = text.strip("\n").splitlines(keepends=True)
        cells.append(
            {**kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": lines}
        )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(
        book,
        ensure_ascii=False,
        indent=1,
        sort_keys=True,
    )


@cache
def _environment(language: str) -> "Environment":
    # imported with the first document, because it takes 50 ms
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def written(value: object) -> object:
        if hasattr(value, "__html__"):
            return value
        writer = WRITERS.get(language)
        if writer:
            return Markup(writer(value))
        return plain(value)

    environment = Environment(
        loader=PackageLoader("dpmf_core.base"),
        autoescape=True,  # for what `written` leaves: HTML
        finalize=written,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # for templates that others include
    )
    environment.filters["comment"] = _comment
    return environment


def _comment(text: str) -> Any:
    """Text as Python comments, line by line."""
    from markupsafe import Markup

    return Markup("\n".join(f"# {line}".rstrip() for line in text.splitlines()))
