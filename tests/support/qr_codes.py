"""What a QR code says, read from its picture as a phone reads it (ISO/IEC 18004)."""

import re
from html import unescape
from urllib.parse import unquote

import numpy as np

BORDER = 4  # modules of white around the code
LEVELS = {0b01: "L", 0b00: "M", 0b11: "Q", 0b10: "H"}  # of error correction
# number of blocks, whose bytes take turns, and bytes of data in each
BLOCKS = {
    "2L": (1, 34), "2M": (1, 28), "2Q": (1, 22), "2H": (1, 16),
    "3L": (1, 55), "3M": (1, 44), "3Q": (2, 17), "3H": (2, 13),
    "4L": (1, 80), "4M": (2, 32), "4Q": (2, 24), "4H": (4, 9),
    "5L": (1, 108), "5M": (2, 43),
}  # fmt: skip
FORMAT_MASK = 0b101010000010010
IN_BYTES = 0b0100
MASKS = (
    lambda row, column: (row + column) % 2,
    lambda row, column: row % 2,
    lambda row, column: column % 3,
    lambda row, column: (row + column) % 3,
    lambda row, column: (row // 2 + column // 3) % 2,
    lambda row, column: row * column % 2 + row * column % 3,
    lambda row, column: (row * column % 2 + row * column % 3) % 2,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2,
)


def text_of(image: str) -> str:
    """The text of a code of version 2 to 5. image: its <img>, an SVG of strokes."""
    modules = _modules(unquote(unescape(image)))
    size = len(modules)
    version = (size - 17) // 4
    format_bits = modules[8, [0, 1, 2, 3, 4, 5, 7, 8]].tolist()
    format_bits += modules[[7, 5, 4, 3, 2, 1, 0], 8].tolist()
    level_and_mask = (_number(format_bits) ^ FORMAT_MASK) >> 10
    mask = MASKS[level_and_mask & 0b111]
    bits = [
        int(modules[row, column]) ^ (not mask(row, column))
        for row, column in _data_places(size)
    ]
    n_blocks, length = BLOCKS[f"{version}{LEVELS[level_and_mask >> 3]}"]
    taken = [bits[at : at + 8] for at in range(0, 8 * n_blocks * length, 8)]
    data = []
    for block in range(n_blocks):
        for byte in taken[block::n_blocks]:
            data.extend(byte)
    assert _number(data[:4]) == IN_BYTES
    end = 12 + 8 * _number(data[4:12])
    letters = [_number(data[at : at + 8]) for at in range(12, end, 8)]
    return bytes(letters).decode("latin-1")


def _modules(svg: str) -> np.ndarray:
    """The dark modules of the drawing, without its border."""
    size = int(re.search(r"width='(\d+)'", svg)[1])
    modules = np.zeros((size, size), int)
    x = y = 0.0
    for command, text in re.findall(
        r"([Mmh])([-\d. ]+)", svg.split("class='qrline'")[1]
    ):
        numbers = [
            float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)
        ]
        if command == "M":
            x, y = numbers
        elif command == "m":
            x, y = x + numbers[0], y + numbers[1]
        else:
            modules[int(y), int(x) : int(x + numbers[0])] = 1
            x += numbers[0]
    return modules[BORDER:-BORDER, BORDER:-BORDER]


def _data_places(size: int) -> list[tuple[int, int]]:
    """The modules that hold data, in their order: two columns at a time, upwards and downwards."""
    is_function = np.zeros((size, size), bool)
    is_function[:9, :9] = is_function[:9, -8:] = is_function[-8:, :9] = True
    is_function[6] = is_function[:, 6] = True
    is_function[-9:-4, -9:-4] = True  # the alignment pattern
    places = []
    for turn, right in enumerate([*range(size - 1, 6, -2), 5, 3, 1]):
        if turn % 2:
            rows = range(size)
        else:
            rows = range(size - 1, -1, -1)
        places += [(row, column) for row in rows for column in (right, right - 1)]
    return [place for place in places if not is_function[place]]


def _number(bits: list[int]) -> int:
    return int("".join(map(str, bits)), 2)
