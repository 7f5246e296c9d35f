"""Pictures of a folder or archive in shades of grey: scaled by depth, upright, of one size.

Changes are reported, and damaged files are left out.
"""

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data.samples import Samples
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.matlab import IMAGE_SIZE_IS_PUBLIC
from dpmf_datasets.readers.report import Report, Tally, samples_report
from dpmf_datasets.readers.table import file_name

if TYPE_CHECKING:
    from PIL import Image

Array = npt.NDArray[Any]
PICTURES = (".png", ".jpg", ".jpeg", ".pgm", ".bmp", ".gif", ".tif", ".tiff", ".webp")
UNREADABLE = "file that is no picture, left out"
RESIZED_PICTURE = "picture of another size, brought to the commonest"
STRETCHED_PICTURE = "picture of other proportions, stretched"
DEEP = "picture of more than 8 bits, scaled by its depth or the white declared"
TURNED_PICTURE = "picture turned upright, as its EXIF data say"
FIRST_FRAME = "animation or stack of pages, of which the first picture is taken"
TRANSPARENT = "picture with transparent parts, laid on white"
BEYOND = "picture with values below black or above white, cut off there"
DAMAGED_PICTURE = "picture that is cut short or damaged, left out"
TOO_LARGE = "picture of more than 40 million pixels, left out"
STRETCH = 0.05  # relative change of proportions, below which it is rounding
MOST_FILES = 200_000
LARGEST = 10_000  # pixels of a picture for factorisation
MOST_PIXELS = 40_000_000
WHITE = 255.0  # in the result
ORIENTATION, BITS_PER_SAMPLE = 0x0112, 258  # tags of EXIF and TIFF
SIDEWAYS = (5, 6, 7, 8)


class Unusable(ValueError):
    """Why a picture is left out: a kind of problem."""


def pictures(
    path: Path, *, name: str, image: tuple[int, int] | None = None, white: float | None = None
) -> tuple[Samples, Report]:
    """Read every picture of a folder or archive in shades of grey, upright, at one size.

    The size is declared or the most common one. The report counts all changes. white: the declared
    value of white in pictures with more than 8 bits. Raises BadInput if most pictures are damaged
    or fewer than three are left.
    """
    with members_of(path) as members:
        names = sorted(members.names)
        if len(names) > MOST_FILES:
            raise BadInput(
                f"{file_name(path)} holds {len(names):,} files; at most {MOST_FILES:,} are read."
            )
        size = image or _commonest(members, names)
        if size is not None and size[0] * size[1] > LARGEST:
            raise BadInput(
                f"The pictures have {size[0]} x {size[1]} pixels; the limit is {LARGEST:,}. Declare"
                " a smaller size: image=H,W."
            )
        rows, titles, tally = _grey_rows(
            members, names if size else [], size or (0, 0), image is not None, white
        )
    n_damaged = tally.count(DAMAGED_PICTURE)
    if len(rows) < 3 or size is None:
        raise BadInput(
            f"{file_name(path)} holds {len(rows)} pictures ({', '.join(PICTURES)}); at least 3 are"
            f" needed. Other files: {len(names) - len(rows)}."
        )
    if n_damaged > len(rows):
        raise BadInput(
            f"{n_damaged:,} of the {n_damaged + len(rows):,} pictures of {file_name(path)} are cut"
            " short or damaged. Copy them again."
        )
    problems = tuple(tally.problems(lambda place: place + 1, "file"))
    samples = Samples.of(
        np.stack(rows),
        image=size,
        unit="image",
        name=name,
        titles=tuple(titles),
        assumptions=() if image else (IMAGE_SIZE_IS_PUBLIC,),
    )
    return samples, samples_report(samples, problems=problems, read=len(names))


def _grey_rows(
    members: Members,
    names: list[str],
    size: tuple[int, int],
    is_declared: bool,
    white: float | None,
) -> tuple[list[Array], list[str], Tally]:
    """The pixels of every picture among some files, their names, and counts of changes."""
    rows, titles, tally = [], [], Tally()
    for place, name in enumerate(names):
        try:
            picture, repairs = grey(_content(members, name), name, white)
        except (Unusable, OSError) as why:
            tally.add(_left_out(name, why), np.array([place]), name)
            continue
        row, size_repairs = _fit_to_size(picture, size, is_declared)
        rows.append(row)
        titles.append(name)
        for kind in (*repairs, *size_repairs):
            tally.add(kind, np.array([place]), name)
    return rows, titles, tally


def _content(members: Members, name: str) -> bytes:
    with members.open(name) as stream:
        return stream.read()


def _commonest(members: Members, names: list[str]) -> tuple[int, int] | None:
    """The most common size, the smaller of two; None if there is no picture.

    It becomes an assumption.
    """
    sizes: Counter[tuple[int, int]] = Counter()
    for name in names:
        try:
            sizes[size(_content(members, name))] += 1
        except (Unusable, OSError):
            continue  # counted when it is read
    return min(sizes, key=lambda size: (-sizes[size], size[0] * size[1], size), default=None)


def _left_out(name: str, why: Exception) -> str:
    """The kind of problem of a file that gives no picture."""
    if not name.lower().endswith(PICTURES):
        return UNREADABLE
    return str(why) if isinstance(why, Unusable) else DAMAGED_PICTURE


def _fit_to_size(
    grey: Any, size: tuple[int, int], is_declared: bool
) -> tuple[Array, tuple[str, ...]]:
    """The pixels of a picture at a size, line by line, and the changes that this made."""
    height, width = size
    repairs: tuple[str, ...] = ()
    if grey.size != (width, height):
        stretched = abs(grey.width * height / (grey.height * width) - 1) > STRETCH
        repairs = (STRETCHED_PICTURE,) if stretched else () if is_declared else (RESIZED_PICTURE,)
        grey = grey.resize((width, height))
    return np.clip(np.asarray(grey, np.float64), 0, WHITE).ravel(), repairs


# ---- one picture ---------------------------------------------------------------------------------


@contextmanager
def _picture_in(content: bytes) -> "Iterator[Image.Image]":
    """A picture, not decoded yet.

    Raises Unusable if it is no picture, cut short, damaged, or too large.
    """
    with extra("files"):
        from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as candidate:
            if candidate.width * candidate.height > MOST_PIXELS:
                raise Unusable(TOO_LARGE)
            if candidate.format == "PNG":
                candidate.verify()  # checksums and end of all parts; decoding does not check them
        with Image.open(io.BytesIO(content)) as picture:
            yield picture
    except (Unusable, BadInput):
        raise
    except Image.DecompressionBombError:
        raise Unusable(TOO_LARGE) from None
    except Exception as error:  # a damaged header makes the library raise almost anything
        raise Unusable(DAMAGED_PICTURE) from error


def size(content: bytes) -> tuple[int, int]:
    """Height and width of a picture once it is upright. Raises Unusable."""
    with _picture_in(content) as picture:
        width, height = picture.size
        # the library has turned TIFF already
        sideways = picture.format != "TIFF" and picture.getexif().get(ORIENTATION) in SIDEWAYS
        return (width, height) if sideways else (height, width)


def grey(content: bytes, name: str, white: float | None) -> "tuple[Image.Image, list[str]]":
    """A picture from 0 (black) to 255 (white), mode L or F, and the changes that were made.

    white: the declared value of white in deep pictures. Raises Unusable, and BadInput if the
    picture's numbers do not define white.
    """
    from PIL import ImageOps

    repairs = []
    with _picture_in(content) as picture:
        if picture.getexif().get(ORIENTATION, 1) in range(2, 9):
            repairs.append(TURNED_PICTURE)
        # a photograph with a preview is no animation
        if picture.format != "MPO" and getattr(picture, "n_frames", 1) > 1:
            repairs.append(FIRST_FRAME)
        is_deep = picture.mode == "F" or picture.mode.startswith("I")
        brightest = _white(picture, name, white) if is_deep else None
        upright = ImageOps.exif_transpose(picture)
        if brightest is None:
            return _on_white(upright, repairs), repairs
        return _scale(upright, brightest, repairs), repairs


def _white(picture: "Image.Image", name: str, white: float | None) -> float:
    """The number that stands for white.

    Raises BadInput if only the pixels could tell, because reading it from private ones would leak.
    """
    if white is not None:
        return white
    if picture.format in ("PNG", "PPM") and picture.mode != "F":
        return 65535.0
    if picture.mode.startswith("I;16"):
        tags: Any = getattr(picture, "tag_v2", {})
        return float(2 ** max(tags.get(BITS_PER_SAMPLE, (16,))) - 1)
    kind = "fractions" if picture.mode == "F" else "32 bits"
    raise BadInput(
        f"The pixels of {name} are numbers of {kind}, which do not define white, and reading it"
        " from private pictures would leak information. Declare it, e.g. white=1 (on the command"
        " line FOLDER?white=1), or save the pictures with 8 or 16 bits."
    )


def _scale(picture: "Image.Image", white: float, repairs: list[str]) -> "Image.Image":
    from PIL import Image

    values = np.asarray(picture, np.float64) * (WHITE / white)
    if not np.isfinite(values).all():
        raise Unusable(DAMAGED_PICTURE)
    repairs.append(DEEP)
    if ((values < 0) | (values > WHITE)).any():
        repairs.append(BEYOND)
    return Image.fromarray(np.clip(values, 0, WHITE).astype(np.float32))


def _on_white(picture: "Image.Image", repairs: list[str]) -> "Image.Image":
    from PIL import Image

    if picture.has_transparency_data:
        layers = picture.convert("RGBA").convert("LA")
        if layers.getchannel("A").getextrema() != (255, 255):
            repairs.append(TRANSPARENT)
            ground = Image.new("L", layers.size, 255)
            return Image.composite(layers.getchannel("L"), ground, layers.getchannel("A"))
    return picture.convert("L")
