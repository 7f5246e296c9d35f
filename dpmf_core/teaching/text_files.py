"""The text files of this package."""

import tomllib
from importlib.resources import files
from typing import Any


def content_of(name: str) -> dict[str, Any]:
    """The content of the text file of this name."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))
