"""A table on standard input, as a file: readers rewind it, and worker processes open it."""

import functools
import shutil
import sys
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import workplace

NAMES = ("-", "/dev/stdin")  # of standard input, in place of a path
FILE = "standard-input.csv"  # the content tells the format, whatever the ending


@functools.cache
def file_of_standard_input() -> Path:
    """All of standard input in a file that only this user can read, until this process ends.

    Raises
    ------
    BadInput
        If standard input is a terminal, closed or empty.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise BadInput(
            "'-' reads a table from standard input, as in: dpmf check - < ratings.csv."
        )
    file = workplace() / FILE
    with file.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    if not file.stat().st_size:
        raise BadInput("Standard input is empty. Give a table with a header.")
    return file
