"""The facts about every data set with a name, from catalogue.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dpmf_core.data.catalogue import Entry

FILE = Path(__file__).with_name("catalogue.toml")
CATALOGUE: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))


def entry_from(facts: Mapping[str, Any], kind: type[Any] = Entry) -> Any:
    """The entry with these facts, and those of the entry that they are `like`."""
    whole = {**CATALOGUE["like"].get(facts.get("like", ""), {}), **facts}
    names = {field.name for field in fields(kind)} & set(whole)
    values = {name: whole[name] for name in names}
    return kind(**{name: tuple(it) if isinstance(it, list) else it for name, it in values.items()})
