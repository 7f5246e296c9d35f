"""Matrices of users by items in the text format of Matrix Market; each entry is read by itself."""

import re
from collections.abc import Iterable, Iterator
from itertools import dropwhile
from typing import BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import REQUIRED_ROLES
from dpmf_datasets.readers.arrow_tables import NUMBERING, table_of_rows
from dpmf_datasets.readers.table import RAGGED_SHOWN, RaggedLines, Table

MAGIC = b"%%MatrixMarket"
HEADER = re.compile(
    rb"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|pattern)\s+general",
    re.I,
)
COMMENT = re.compile(rb"%|\s*$")
SIZE = re.compile(rb"\s*(\d+)\s+\d+")


def matrix_market(stream: BinaryIO, name: str) -> Table:
    """Read a matrix with a row for each user and a column for each item, both counted from 1.

    A line that is not an entry is left out. Raises BadInput.
    """
    header = HEADER.match(stream.readline())
    lines = dropwhile(lambda numbered: COMMENT.match(numbered[1]), enumerate(stream, 2))
    above, first = next(lines, (0, b""))
    size = SIZE.match(first)
    if header is None or size is None:
        raise BadInput(
            f"{name} is no Matrix Market file of ratings. Its first line should be"
            " '%%MatrixMarket matrix coordinate real general', and the first line without % should"
            " hold the numbers of users, items and ratings."
        )
    has_values = header[2].lower() != b"pattern"
    names = REQUIRED_ROLES[: 2 + has_values]
    n_users = 0
    if header[1].lower() == b"array":
        n_users = int(size[1])
    ragged_lines: RaggedLines = []
    rows = _entries(lines, len(names), n_users, ragged_lines)
    table = table_of_rows(
        names, rows, "of a matrix", unit="line", ragged_lines=ragged_lines
    )
    table.above = above
    table.read_as = lambda: (NUMBERING.format(1),)
    return table


def _entries(
    lines: Iterable[tuple[int, bytes]],
    width: int,
    n_users: int,
    ragged_lines: RaggedLines,
) -> Iterator[list[str]]:
    """User, item and value of each line.

    If each line holds only a value, `n_users` gives the users: one after another, item by item.
    """
    for place, (number, line) in enumerate(lines):
        cells = line.decode("ascii", "replace").split()
        if n_users:
            item, user = divmod(place, n_users)
            cells = [str(user + 1), str(item + 1), *cells]
        if len(cells) == width:
            yield cells
        else:
            ragged_lines.append((number, " ".join(cells)[:RAGGED_SHOWN]))
