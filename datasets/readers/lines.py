"""Lines of text cut into cells, each line by itself.

A record never spans lines, and a quotation mark that does not close in its line is an ordinary
character. So each line is read by itself, with the separator.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

DRAWN_TABLE = "+|"
BLANKS = " "
UNIT_SEPARATOR = "\x1f"  # stands for a separator of two characters, and in no text
# the separators that are tried, the longer ones first
SEPARATORS = {
    "::": "two colons",
    "\t\t": "two tabs",
    "\t": "tabs",
    ",": "commas",
    ";": "semicolons",
    DRAWN_TABLE: "the bars of a drawn table",
    "|": "vertical bars",
    BLANKS: "blanks",
    UNIT_SEPARATOR: "nothing",
}
# what replaces a separator that is not one character
DELIMITERS = {
    "::": UNIT_SEPARATOR,
    "\t\t": UNIT_SEPARATOR,
    DRAWN_TABLE: "|",
    BLANKS: "\t",
}
FRAME = re.compile(rb"(?m)^[ \t]*\+[-+=]*\+[ \t]*$")
ROW_OF_DRAWING = re.compile(rb"(?m)^[ \t]*\|(.*)\|[ \t]*$")
RUN_OF_BLANKS = re.compile(rb"[ \t]+")
MARGIN = re.compile(rb"(?m)^[ \t]+|[ \t]+$")
# what stands between the marks of a quoted cell, and what stands before a mark that is in it
CONVENTIONS = ((r'(?:[^"]|"")*', '"'), (r'(?:[^"\\]|\\.|"")*', r'["\\]'))


def is_frame(line: str) -> bool:
    """Whether a line is drawn between rows, such as +----+----+."""
    return bool(FRAME.match(line.encode()))


@dataclass(frozen=True)
class Cutter:
    """Cuts lines of text into cells.

    Attributes
    ----------
    separator : str
        One of `SEPARATORS`.
    width : int
        The number of columns; 0 before it is known.
    """

    separator: str
    width: int = 0

    @cached_property
    def _delimiter(self) -> str:
        """The one character between cells after `_plain`."""
        return DELIMITERS.get(self.separator, self.separator)

    def _plain(self, block: bytes) -> bytes:
        """The block with one character between cells."""
        if self.separator == BLANKS:
            return RUN_OF_BLANKS.sub(b"\t", MARGIN.sub(b"", block))
        if self.separator == DRAWN_TABLE:
            return ROW_OF_DRAWING.sub(rb"\1", FRAME.sub(b"", block))
        if len(self.separator) == 1:
            return block
        return block.replace(self.separator.encode(), self._delimiter.encode())

    # ---- one line ----------------------------------------------------------------------------

    def cells(self, line: str) -> list[str]:
        """The cells of a line without its end.

        Quotation marks are doubled inside a quoted cell, or escaped by a backslash. The first
        convention in which every quoted cell closes and the line has `width` cells is taken.
        """
        return self._cells_of(self._plain(line.encode()).decode())

    def _cells_of(self, plain: str) -> list[str]:
        if not plain.strip():
            return [""] * self.width
        for inside, sign in CONVENTIONS:
            cells, all_close = self._cut(plain, inside, sign)
            if all_close and len(cells) == (self.width or len(cells)):
                return cells
        return self._cut(plain, *CONVENTIONS[0])[0]

    def _cut(self, line: str, inside: str, sign: str) -> tuple[list[str], bool]:
        """The cells of a line, and whether every mark that opens a cell closes it."""
        end = re.escape(self._delimiter)
        pattern = rf' *(?:"({inside})" *|([^{end}]*)){end}'
        cells = []
        all_close = True
        for quoted, plain in re.findall(pattern, line + self._delimiter):
            cell = re.sub(f"{sign}(.)", r"\1", quoted) or plain
            cells.append(cell.strip())
            all_close &= not plain.lstrip().startswith('"')
        return cells, all_close

    # ---- a block of lines --------------------------------------------------------------------

    def columns(
        self, block: bytes, places: Sequence[int]
    ) -> tuple[list[pa.Array], list[tuple[int, str]]]:
        """Columns of a block, and its lines that do not have `width` cells.

        Parameters
        ----------
        block
            Whole lines of UTF-8, which end in a line feed.
        places
            The columns that are wanted.

        Returns
        -------
        columns : list of pyarrow.StringArray
        ragged : list of (int, str)
            The place of a line in the block, from 0, and its text.
        """
        plain = self._plain(block)
        if b'"' not in plain:
            return self._parsed(plain, places, '"' in self._delimiter)
        lines = pc.split_pattern(
            pa.array([plain.decode()], pa.large_string()), "\n"
        ).flatten()
        lines = lines.cast(pa.string()).slice(0, len(lines) - 1)
        is_regular = pc.match_substring_regex(lines, self._regular)
        if pc.all(is_regular).as_py():
            return self._parsed(plain, places, True)
        return self._mixed(lines, is_regular, places)

    @cached_property
    def _regular(self) -> str:
        """Lines that a CSV parser reads as `cells` does: each quoted cell closes in the line."""
        delimiter = re.escape(self._delimiter)
        cell = rf'(?:"(?:[^"]|"")*"|[ ]*[^" {delimiter}][^{delimiter}]*|[ ]*)'
        return rf"^{cell}(?:{delimiter}{cell})*$"

    def _parsed(
        self, block: bytes, places: Sequence[int], has_quotes: bool
    ) -> tuple[list[pa.Array], list[tuple[int, str]]]:
        """Columns and ragged lines of lines that a CSV parser reads as `cells` does."""
        ragged: list[tuple[int, str]] = []

        def skip(row: pa.csv.InvalidRow) -> str:
            ragged.append((row.number - 1, row.text.strip()))
            return "skip"

        names = [str(place) for place in range(self.width)]
        column_names = [str(place) for place in places]
        if not block:
            return [pa.array([], pa.string()) for _ in column_names], []
        table = pa.csv.read_csv(
            pa.BufferReader(block),
            pa.csv.ReadOptions(
                use_threads=False,
                column_names=names,
                block_size=len(block) + 1,
            ),
            pa.csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char='"' if has_quotes else False,
                invalid_row_handler=skip,
                ignore_empty_lines=False,
            ),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(column_names, pa.string()),
                include_columns=list(dict.fromkeys(column_names)),
                check_utf8=False,
            ),
        )
        return [table[name].combine_chunks() for name in column_names], ragged

    def _mixed(
        self, lines: pa.Array, is_regular: pa.Array, places: Sequence[int]
    ) -> tuple[list[pa.Array], list[tuple[int, str]]]:
        """Columns and ragged lines; lines that are not regular are cut and quoted anew."""
        texts = lines.to_pylist()
        for place in pc.indices_nonzero(pc.invert(is_regular)).to_pylist():
            cells = [cell.replace('"', '""') for cell in self._cells_of(texts[place])]
            texts[place] = self._delimiter.join(f'"{cell}"' for cell in cells)
        block = "".join(f"{text}\n" for text in texts).encode()
        columns, ragged = self._parsed(block, places, True)
        return columns, [(place, lines[place].as_py().strip()) for place, _ in ragged]
