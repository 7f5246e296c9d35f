"""The encoding of a text: UTF-8 if it is valid, otherwise charset-normalizer's guess.

Damaged characters are counted.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra

UTF8 = "utf-8"
WESTERN = "cp1252"
UNICODE = {UTF8, "utf-8-sig"}
# assumed if the encoding was found in private texts
ENCODING_IS_PUBLIC = "the encoding of the text is public"
LOOKED_AT = 1 << 16  # bytes for the guess
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The usual encodings of files that are not UTF-8, and their names. With all encodings to choose
# from, the library takes Russian for Japanese.
USUAL = {
    WESTERN: "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Russian)",
    "koi8_u": "KOI8-U (Ukrainian)",
    "cp866": "CP866 (Cyrillic)",
    "iso8859_2": "ISO 8859-2 (Central European)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "CP949 (Korean)",
    "latin-1": "ISO 8859-1 (Western European)",
}
STATEFUL = ("iso2022", "hz", "utf-7", "idna", "punycode")
AS_WESTERN = "western"  # reads the bytes that are not UTF-8 in a file that began with ASCII alone
LATIN = (WESTERN, "cp1250", "iso8859_2", "cp1254")
CLOSE = 0.05  # two readings whose mess and coherence differ by at most this are equally likely


def _western(error: UnicodeError) -> tuple[str, int]:
    """Read one byte that is not UTF-8 as Windows-1252, so that its own line decides."""
    assert isinstance(error, UnicodeDecodeError)
    byte = error.object[error.start : error.start + 1]
    return byte.decode(WESTERN, "replace"), error.start + 1


codecs.register_error(AS_WESTERN, _western)


def require_encoding(name: str) -> str:
    """A declared encoding by its usual name. Raises BadInput.

    In a stateful encoding one line decides how the next ones are read, so it is refused.
    """
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        raise BadInput(
            f"There is no encoding '{name[:40]}'. Examples: utf-8, cp1252, cp1251, koi8-r,"
            " shift-jis, gb18030."
        ) from None
    encoding = codecs.lookup(name).name
    if encoding.startswith(STATEFUL):
        raise BadInput(
            f"Text in {encoding} cannot be read line by line. Save the file as UTF-8 and declare"
            " encoding=utf-8."
        )
    return encoding


def usual_name(encoding: str) -> str:
    if encoding.startswith("utf-"):
        return "-".join(encoding.upper().split("-")[:2])
    return USUAL.get(encoding, encoding)


def encoding_of(content: bytes, otherwise: str = "") -> tuple[str, bool]:
    """The encoding of some bytes, and whether it is only likely.

    UTF-8 with a few damaged characters counts as UTF-8.

    Parameters
    ----------
    content : bytes
        The bytes.
    otherwise : str
        The encoding of bytes that are not UTF-8.

    Returns
    -------
    encoding : str
        The encoding.
    is_likely : bool
        Whether it is only likely.
    """
    by_mark = next((name for mark, name in MARKS if content.startswith(mark)), None)
    if by_mark or (content.isascii() and b"\0" not in content):
        return by_mark or UTF8, False
    if wide := _wide(content):
        return wide, True
    text = content.decode(UTF8, "replace")
    bad = text.count("\ufffd") - content.count("\ufffd".encode())
    sound = sum(letter > "\x7f" for letter in text) - bad
    return (UTF8 if sound >= 2 * bad else otherwise), False


def _wide(content: bytes) -> str:
    """UTF-16 by the places of zero bytes in its spaces and ASCII letters, else "".

    Other text may also hold zero bytes, but not in most of its lines.
    """
    lines = content.split(b"\n")
    if 2 * sum(b"\0" in line for line in lines) < len(lines):
        return ""
    even = content[::2].count(0)
    odd = content[1::2].count(0)
    if 100 * max(even, odd) < max(len(content), 1) or 10 * min(even, odd) > max(
        even, odd
    ):
        return ""
    if odd > even:
        return "utf-16-le"
    return "utf-16-be"


def _likely(content: bytes) -> str:
    """The usual encoding in which lines that are not ASCII make most sense; ties go to Western."""
    with extra("files"):
        from charset_normalizer import from_bytes

    telling = b"\n".join(re.findall(rb"[^\r\n]*[\x80-\xff][^\r\n]*", content))[
        :LOOKED_AT
    ]
    matches = from_bytes(telling, cp_isolation=sorted(USUAL.keys() - {"latin-1"}))
    best = matches.best()
    if best is None:
        if fits(content, WESTERN):
            return WESTERN
        return "latin-1"
    candidates = [
        match
        for match in matches
        if match.chaos <= best.chaos + CLOSE
        and match.coherence >= best.coherence - CLOSE
    ]
    western = any(
        WESTERN in (match.encoding, *match.could_be_from_charset)
        for match in candidates
    )
    if (
        western
        and (best.encoding in LATIN or not best.coherence)
        and fits(content, WESTERN)
    ):
        return WESTERN
    return str(best.encoding)


def fits(content: bytes, encoding: str) -> bool:
    """Whether some bytes are text in an encoding."""
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


@dataclass
class Reader:
    """Decodes documents or a table, and remembers the encodings used and the damaged characters.

    Attributes
    ----------
    encoding : str or None
        The declared encoding of all documents.
    otherwise : str
        The encoding of documents that are not UTF-8, if their source states one. If it is "", their
        encoding is guessed.
    advice : str
        How to declare another encoding.
    """

    encoding: str | None = None
    otherwise: str = ""
    advice: str = ""
    # in the order of their first use
    encodings: dict[str, None] = field(default_factory=dict)
    n_damaged: int = 0
    uncertain: bool = False
    # what is done with bytes that are not UTF-8, once a table was begun
    errors: str = ""

    def __post_init__(self) -> None:
        if self.encoding:
            self.encoding = require_encoding(self.encoding)

    def texts(self, contents: Sequence[bytes]) -> list[str]:
        """Decode documents.

        Documents that are not UTF-8 share one encoding as far as they can, because a short one
        alone tells little.
        """
        pairs = [(content, self._encoding_of(content)) for content in contents]
        foreign = [content for content, (encoding, _) in pairs if not encoding]
        common = _likely(b"\n".join(foreign)) if foreign else ""
        return [
            self._text(content, encoding or common, uncertain or not encoding)
            for content, (encoding, uncertain) in pairs
        ]

    def text(self, content: bytes) -> str:
        return self.texts([content])[0]

    def blocks(self, stream: BinaryIO, size: int) -> Iterator[bytes]:
        """Whole lines of a file as UTF-8 with line feeds, about `size` bytes at a time.

        The encoding is declared, or follows from the first bytes.
        """
        head = stream.read(LOOKED_AT)
        stream.seek(0)
        if len(head) == LOOKED_AT:
            cut = head.rfind(b"\n") + 1
        else:
            cut = 0
        whole_lines = head[: cut or None]
        if not self.errors:  # later parts of a table are read as the first one
            encoding, uncertain = self._encoding_of(whole_lines)
            self.uncertain = uncertain or not encoding
            self.encodings = {encoding or _likely(whole_lines): None}
            is_western = whole_lines.isascii() and not self.encoding
            self.errors = AS_WESTERN if is_western else "replace"
        encoding = next(iter(self.encodings))
        self.n_damaged = 0
        if encoding not in UNICODE:
            blocks = self._foreign_lines(stream, encoding, size)
        else:
            blocks = self._lines(stream, self.errors, size)
        for block in blocks:
            if block.endswith(b"\n"):
                yield block
            else:
                yield block + b"\n"

    def _lines(self, stream: BinaryIO, errors: str, size: int) -> Iterator[bytes]:
        """Whole lines of a file in UTF-8; `errors` decides what becomes of other bytes."""
        mark = codecs.BOM_UTF8
        while raw := stream.read(size) + stream.readline():
            block = raw.removeprefix(mark)
            mark = b""
            if not (block.isascii() or fits(block, UTF8)):
                text = block.decode(UTF8, errors)
                block = text.encode()
                self.n_damaged += text.count("\ufffd")
                if errors == AS_WESTERN:
                    self.encodings[WESTERN] = None
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield block

    def _foreign_lines(
        self, stream: BinaryIO, encoding: str, size: int
    ) -> Iterator[bytes]:
        """Whole lines of a file in another encoding, as UTF-8.

        Each line of UTF-16 or UTF-32 is decoded alone, so that a byte too many ends with its line.
        """
        rest = stream.read(4)
        is_wide = encoding.startswith(("utf-16", "utf-32"))
        if is_wide:
            begins_big = rest.startswith((b"\xfe\xff", b"\0\0\xfe\xff"))
            is_big = encoding.endswith("be") or begins_big
            encoding = f"{encoding[:6]}-{'be' if is_big else 'le'}"
        end = "\n".encode(encoding)
        mark = "\ufeff"
        while raw := stream.read(size) or (rest and end):  # at last, end the last line
            *lines, rest = (rest + raw).split(end)
            if not lines:
                continue
            parts = lines if is_wide else [end.join(lines)]
            text = "".join(f"{part.decode(encoding, 'replace')}\n" for part in parts)
            self.n_damaged += text.count("\ufffd")
            text = text.removeprefix(mark).replace("\r\n", "\n").replace("\r", "\n")
            yield text.encode()
            mark = ""

    def _encoding_of(self, content: bytes) -> tuple[str, bool]:
        if self.encoding:
            return (self.encoding, False)
        return encoding_of(content, self.otherwise)

    def _text(self, content: bytes, encoding: str, uncertain: bool) -> str:
        if uncertain and not fits(content, encoding):
            encoding = _likely(content)
        text = content.decode(encoding, "replace").removeprefix("\ufeff")
        if not text.isascii():
            self.encodings[encoding] = None
            # undecodable bytes were replaced; control characters are not text either
            self.n_damaged += sum(
                map(text.count, ("\ufffd", *map(chr, range(0x80, 0xA0))))
            )
            self.uncertain |= uncertain
        return text

    @property
    def words(self) -> tuple[str, ...]:
        """How the bytes were read, in a sentence; nothing for plain UTF-8."""
        others = sorted(
            usual_name(encoding) for encoding in self.encodings.keys() - UNICODE
        )
        if self.uncertain:
            end = f", the likeliest encoding. {self.advice}"
        else:
            end = "."
        if others:
            return (f"The text was read as {' and '.join(others)}{end}".rstrip(),)
        return ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        if self.uncertain:
            return (ENCODING_IS_PUBLIC,)
        return ()
