"""Packages that come with an extra of dpmf, such as pyarrow with `files`."""

import contextlib
from collections.abc import Iterator

from dpmf_core.base.errors import BadInput


class MissingPackage(BadInput, ImportError):
    """A package is not installed; the message names the extra that installs it."""


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Name the extra if an import inside the block finds no package.

    Raises
    ------
    MissingPackage
        If a package is missing.

    Examples
    --------
    >>> with extra("files"):
    ...     import pyarrow
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(str(error.name).partition(".")[0], name) from error


def missing(package: str, name: str) -> MissingPackage:
    """The error that names the extra of a package."""
    return MissingPackage(
        f"{package} is not installed. It comes with the extra '{name}': pip install"
        f' "dpmf[{name}]".'
    )
