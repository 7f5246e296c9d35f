"""One picture file in shades of grey: scaled by its depth, upright, its first frame.

Changes are reported, and damaged files are refused.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra

if TYPE_CHECKING:
    from PIL import Image

DEEP = "picture of more than 8 bits, scaled by its depth or the white declared"
TURNED_PICTURE = "picture turned upright, as its EXIF data say"
FIRST_FRAME = "animation or stack of pages, of which the first picture is taken"
TRANSPARENT = "picture with transparent parts, laid on white"
BEYOND = "picture with values below black or above white, cut off there"
DAMAGED_PICTURE = "picture that is cut short or damaged, left out"
TOO_LARGE = "picture of more than 40 million pixels, left out"

MOST_PIXELS = 40_000_000
WHITE = 255.0  # in the result
ORIENTATION, BITS_PER_SAMPLE = 0x0112, 258  # tags of EXIF and TIFF
SIDEWAYS = (5, 6, 7, 8)


class Unusable(ValueError):
    """Why a picture is left out: a kind of problem."""


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


def grey(
    content: bytes, name: str, white: float | None = None
) -> "tuple[Image.Image, tuple[str, ...]]":
    """A picture from 0 (black) to 255 (white), mode L or F, and the changes that were made.

    white: the declared value of white in deep pictures. Raises Unusable, and BadInput if the
    picture's numbers do not define white.
    """
    from PIL import ImageOps

    with _picture_in(content) as picture:
        repairs = _head_repairs(picture)
        brightest = _white(picture, name, white) if _is_deep(picture) else None
        upright = ImageOps.exif_transpose(picture)
        return (
            _on_white(upright, repairs)
            if brightest is None
            else _scale(upright, brightest, repairs)
        )


def _head_repairs(picture: "Image.Image") -> tuple[str, ...]:
    """The repairs that a picture's header asks for."""
    is_turned = picture.getexif().get(ORIENTATION, 1) in range(2, 9)
    # a photograph with a preview is no animation
    frames = picture.format != "MPO" and getattr(picture, "n_frames", 1) > 1
    return (TURNED_PICTURE,) * is_turned + (FIRST_FRAME,) * frames


def _is_deep(picture: "Image.Image") -> bool:
    return picture.mode == "F" or picture.mode.startswith("I")


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


def _scale(
    picture: "Image.Image", white: float, repairs: tuple[str, ...]
) -> "tuple[Image.Image, tuple[str, ...]]":
    import numpy as np
    from PIL import Image

    values = np.asarray(picture, np.float64) * (WHITE / white)
    if not np.isfinite(values).all():
        raise Unusable(DAMAGED_PICTURE)
    beyond = bool(((values < 0) | (values > WHITE)).any())
    return Image.fromarray(np.clip(values, 0, WHITE).astype(np.float32)), (
        *repairs,
        DEEP,
        *(BEYOND,) * beyond,
    )


def _on_white(
    picture: "Image.Image", repairs: tuple[str, ...]
) -> "tuple[Image.Image, tuple[str, ...]]":
    from PIL import Image

    if picture.has_transparency_data:
        layers = picture.convert("RGBA").convert("LA")
        if layers.getchannel("A").getextrema() != (255, 255):
            ground = Image.new("L", layers.size, 255)
            return Image.composite(layers.getchannel("L"), ground, layers.getchannel("A")), (
                *repairs,
                TRANSPARENT,
            )
    return picture.convert("L"), repairs
