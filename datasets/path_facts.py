"""The facts that may follow the '?' of a path to private data, and how they are read."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import ROLE_NAMES
from dpmf_core.data.facts import FACTS, ITEM_TABLE, value
from dpmf_datasets.readers import databases

UPLOADS = "dpmf-uploads-"  # the first part of the name of the uploads' folder


def facts_in(query: str, known_facts: Collection[str] = FACTS) -> dict[str, str]:
    """The facts after the '?' of a path. Raises BadInput on unknown ones."""
    facts = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := set(facts) - set(known_facts):
        raise BadInput(
            f"The options after the '?' of a path are {', '.join(known_facts)}. Got"
            f" {', '.join(sorted(unknown))}."
        )
    return facts


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
