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

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data.report import Tally
from dpmf_core.data.samples import Samples, SamplesAndReport, samples_report
from dpmf_datasets.readers.archives import ArchiveMembers, members_of
from dpmf_datasets.readers.matlab import IMAGE_SIZE_IS_PUBLIC
from dpmf_datasets.readers.table import file_name

if TYPE_CHECKING:
    from PIL import Image

PICTURES = (".png", ".jpg", ".jpeg", ".pgm", ".bmp", ".gif", ".tif", ".tiff", ".webp")
UNREADABLE = "file that is no picture, left out"
RESIZED_PICTURE = "picture of another size, brought to the commonest"
STRETCHED_PICTURE = "picture of other proportions, stretched"
DEEP = "picture of more than 8 bits, scaled by its depth"
TURNED_PICTURE = "picture turned upright, as its EXIF data say"
FIRST_FRAME = "animation or stack of pages, of which the first picture is taken"
TRANSPARENT = "picture with transparent parts, laid on white"
NO_WHITE = "picture of fractions or 32 bits, which do not define white (save it with 16), left out"
DAMAGED_PICTURE = "picture that is cut short or damaged, left out"
TOO_LARGE = "picture of more than 40 million pixels, left out"
STRETCH = 0.05  # relative change of proportions, below which it is rounding
MOST_FILES = 200_000
LARGEST = 10_000  # pixels of a picture for factorisation
MOST_PIXELS = 40_000_000
WHITE = 255.0  # in the result
# tags of EXIF and TIFF
ORIENTATION = 0x0112
BITS_PER_SAMPLE = 258
SIDEWAYS = (5, 6, 7, 8)


class Unusable(ValueError):
    """Why a picture is left out: a kind of problem."""


def pictures(
    path: Path, *, name: str, image: tuple[int, int] | None = None
) -> SamplesAndReport:
    """Read every picture of a folder or archive in shades of grey, upright, at one size.

    The size is declared or the most common one. The report counts all changes. Raises BadInput if
    most pictures are damaged or fewer than three are left.
    """
    with members_of(path) as members:
        names = sorted(members.names)
        if len(names) > MOST_FILES:
            raise BadInput(
                f"{file_name(path)} holds {len(names):,} files; at most {MOST_FILES:,} are read."
            )
        size = image or _commonest(members, names) or (1, 1)
        if size[0] * size[1] > LARGEST:
            raise BadInput(
                f"The pictures have {size[0]} x {size[1]} pixels; the limit is {LARGEST:,}. Declare"
                " a smaller size: image=H,W."
            )
        rows, tally = _grey_rows(members, names, size, image is not None)
    if len(rows) < 3:
        raise BadInput(
            f"{file_name(path)} holds {len(rows)} pictures ({', '.join(PICTURES)}); at least 3 are"
            f" needed. Other files: {len(names) - len(rows)}."
        )
    problems = tuple(tally.problems("file"))
    n_damaged = sum(
        problem.count for problem in problems if problem.kind == DAMAGED_PICTURE
    )
    if n_damaged > len(rows):
        raise BadInput(
            f"{n_damaged:,} of the {n_damaged + len(rows):,} pictures of {file_name(path)} are cut"
            " short or damaged. Copy them again."
        )
    samples = Samples.of(
        np.stack(list(rows.values())),
        image=size,
        unit="image",
        name=name,
        titles=tuple(rows),
        assumptions=() if image else (IMAGE_SIZE_IS_PUBLIC,),
    )
    return samples, samples_report(samples, problems=problems, read=len(names))


def _grey_rows(
    members: ArchiveMembers, names: list[str], size: tuple[int, int], is_declared: bool
) -> tuple[dict[str, Array], Tally]:
    """The pixels of every picture among some files by its name, and counts of changes."""
    rows = {}
    tally = Tally()
    for place, name in enumerate(names):
        try:
            picture, changes = _grey(members, name)
        except (Unusable, OSError) as why:
            changes = [_left_out(name, why)]
        else:
            picture, resized = _fit_to_size(picture, size, is_declared)
            rows[name] = np.clip(np.asarray(picture, np.float64), 0, WHITE).ravel()
            changes += resized
        for kind in changes:
            tally.add(kind, np.array([place]), name)
    return rows, tally


def _commonest(members: ArchiveMembers, names: list[str]) -> tuple[int, int] | None:
    """The most common size, the smaller of two; None if there is no picture.

    It becomes an assumption.
    """
    sizes: Counter[tuple[int, int]] = Counter()
    for name in names:
        try:
            with _picture_in(members, name) as picture:
                # the library has turned TIFF already
                turned = (
                    picture.format != "TIFF"
                    and picture.getexif().get(ORIENTATION) in SIDEWAYS
                )
                sizes[picture.size if turned else picture.size[::-1]] += 1
        except (Unusable, OSError):
            continue  # counted when it is read
    return min(
        sizes, key=lambda size: (-sizes[size], size[0] * size[1], size), default=None
    )


def _left_out(name: str, why: Exception) -> str:
    """The kind of problem of a file that gives no picture."""
    if not name.lower().endswith(PICTURES):
        return UNREADABLE
    if isinstance(why, Unusable):
        return str(why)
    return DAMAGED_PICTURE


def _fit_to_size(
    grey: "Image.Image", size: tuple[int, int], is_declared: bool
) -> "tuple[Image.Image, list[str]]":
    """A picture at a size (height, width), and the changes that this made."""
    height, width = size
    if grey.size == (width, height):
        return grey, []
    stretched = abs(grey.width * height / (grey.height * width) - 1) > STRETCH
    changes = [] if is_declared else [RESIZED_PICTURE]
    if stretched:
        changes = [STRETCHED_PICTURE]
    return grey.resize((width, height)), changes


@contextmanager
def _picture_in(members: ArchiveMembers, name: str) -> "Iterator[Image.Image]":
    """A picture, not decoded yet.

    Raises Unusable if it is not a picture, or is cut short, damaged or too large.
    """
    with extra("files"):
        from PIL import Image

    with members.open(name) as stream:
        content = stream.read()
    try:
        with Image.open(io.BytesIO(content)) as candidate:
            if candidate.width * candidate.height > MOST_PIXELS:
                raise Unusable(TOO_LARGE)
            if candidate.format == "PNG":
                candidate.verify()  # checksums and end of all parts; decoding does not check them
        with Image.open(io.BytesIO(content)) as picture:
            yield picture
    except Unusable:
        raise
    except Image.DecompressionBombError:
        raise Unusable(TOO_LARGE) from None
    except Exception as error:
        # a damaged header makes the library raise almost anything
        raise Unusable(DAMAGED_PICTURE) from error


def _grey(members: ArchiveMembers, name: str) -> "tuple[Image.Image, list[str]]":
    """A picture from 0 (black) to 255 (white), mode L or F, and the changes that were made.

    Raises Unusable.
    """
    from PIL import Image, ImageOps

    changes = []
    with _picture_in(members, name) as picture:
        if picture.getexif().get(ORIENTATION, 1) in range(2, 9):
            changes.append(TURNED_PICTURE)
        # a photograph with a preview is not an animation
        if picture.format != "MPO" and getattr(picture, "n_frames", 1) > 1:
            changes.append(FIRST_FRAME)
        is_deep = picture.mode == "F" or picture.mode.startswith("I")
        white = _white(picture) if is_deep else WHITE
        upright = ImageOps.exif_transpose(picture)
        if is_deep:
            values = np.asarray(upright, np.float64) * (WHITE / white)
            return Image.fromarray(values.astype(np.float32)), [*changes, DEEP]
        if upright.has_transparency_data:
            layers = upright.convert("RGBA").convert("LA")
            if layers.getchannel("A").getextrema() != (255, 255):
                ground = Image.new("L", layers.size, 255)
                laid = Image.composite(
                    layers.getchannel("L"), ground, layers.getchannel("A")
                )
                return laid, [*changes, TRANSPARENT]
        return upright.convert("L"), changes


def _white(picture: "Image.Image") -> float:
    """The number that stands for white, by a deep picture's format.

    Raises Unusable if only the pixels could tell, because reading it from private ones would leak.
    """
    if picture.format in ("PNG", "PPM") and picture.mode != "F":
        return 65535.0
    if picture.mode.startswith("I;16"):
        tags: Any = getattr(picture, "tag_v2", {})
        return float(2 ** max(tags.get(BITS_PER_SAMPLE, (16,))) - 1)
    raise Unusable(NO_WHITE)
