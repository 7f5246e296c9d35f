"""Documents and images at a path, with what is said of them after its '?'."""

import math
from pathlib import Path
from typing import Literal

from dpmf_core.data.samples import NUMBER_IS_PUBLIC, Samples
from dpmf_core.errors import BadInput
from dpmf_datasets.readers import images, people, text
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.report import Report
from dpmf_datasets.readers.table import file_name

Read = tuple[Samples, Report]
ANOTHER_ENCODING = "Not so? Declare another encoding (after a path: encoding=cp1251 or the like)."
FACTS = ("text", "encoding", "key", "image", "drop", "order", "transpose", "white", *people.FACTS)


def at(path: Path, facts: dict[str, str]) -> tuple[Samples, Report] | None:
    """Documents or images at a path, or None where it holds neither: `docs.txt`, a folder,
    `news.csv?text=TITLE`, `X.mat?key=fea&image=32,32&drop=1025`.

    group: where it says whose each row is (`people.with_people`). white: of pictures of more than 8
    bits.
    """
    result = _at(path, facts)
    if result is None:
        if wrong := [fact for fact in people.FACTS if fact in facts]:
            raise BadInput(
                f"'{wrong[0]}' is for documents and images; {path.name} is read as ratings, of"
                " which a user's are taken together anyway. Leave it out."
            )
        return None
    samples, report = people.with_people(path, *result, facts)
    return samples.assuming(NUMBER_IS_PUBLIC), report


def _at(path: Path, facts: dict[str, str]) -> tuple[Samples, Report] | None:
    ending = path.suffix.lower()
    if ending == ".mat":
        drop = _numbers(facts.get("drop", ""))
        return images.from_matlab(
            path,
            name=path.name,
            key=facts.get("key"),
            image=_image(facts),
            drop=drop,
            order=_order(facts),
            transpose=_transpose(facts),
        )
    reader = Reader(facts.get("encoding"), advice=ANOTHER_ENCODING)
    if "text" in facts:
        return text.documents(
            text.column(path, facts["text"], reader), name=path.name, reader=reader
        )
    if ending == ".txt":
        return text.documents(text.lines(path, reader), name=path.name, reader=reader)
    if path.is_dir() or ending in (".zip", ".tar", ".tgz"):
        return _folder(path, facts)
    return None


def _folder(path: Path, facts: dict[str, str]) -> tuple[Samples, Report]:
    from dpmf_datasets.readers.archives import members_of

    with members_of(path) as members:
        pictures = sum(name.lower().endswith(images.PICTURES) for name in members.names)
        texts = sum(name.lower().endswith(".txt") for name in members.names)
    if pictures or "image" in facts:
        return images.pictures(path, name=path.name, image=_image(facts), white=_white(facts))
    if not texts:
        raise BadInput(
            f"{file_name(path)} holds neither pictures ({', '.join(images.PICTURES)}) nor text"
            " files (.txt). Of ratings name the table itself, or use `import`."
        )
    reader = Reader(facts.get("encoding"), advice=ANOTHER_ENCODING)
    files = text.files(path, reader)
    return text.documents(
        [content for _, content in files],
        name=path.name,
        titles=[name for name, _ in files],
        reader=reader,
    )


def _image(facts: dict[str, str]) -> tuple[int, int] | None:
    if "image" not in facts:
        return None
    sides = _numbers(facts["image"].replace("x", ","))
    if len(sides) != 2 or min(sides) < 1:
        raise BadInput(
            "image is height and width with a comma between them, e.g. image=32,32. Got"
            f" '{facts['image']}'."
        )
    return sides[0], sides[1]


def _white(facts: dict[str, str]) -> float | None:
    if "white" not in facts:
        return None
    try:
        value = float(facts["white"])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise BadInput(
            "white is the number that stands for white in pictures of more than 8 bits, above 0,"
            f" e.g. white=1. Got '{facts['white'][:40]}'."
        )
    return value


def _order(facts: dict[str, str]) -> Literal["columns", "lines"] | None:
    match facts.get("order"):
        case None:
            return None
        case "columns" | "lines" as order:
            return order
        case other:
            raise BadInput(
                f"order is how pixels are stored: columns (as MATLAB does) or lines. Got '{other}'."
            )


def _transpose(facts: dict[str, str]) -> bool:
    if facts.get("transpose", "0") not in ("0", "1"):
        raise BadInput(
            "transpose=1 says that the rows of a matrix are the pixels or words, and its columns"
            f" the samples. Got '{facts['transpose']}'."
        )
    return facts.get("transpose") == "1"


def _numbers(number_list: str) -> tuple[int, ...]:
    parts = [part.strip() for part in number_list.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise BadInput(f"Whole numbers with commas between them are needed. Got '{number_list}'.")
    return tuple(int(part) for part in parts)
