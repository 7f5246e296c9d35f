"""What a person sees of parts: pictures in rows, and each as a small file."""

import io

import numpy as np
import pytest
from PIL import Image

from dpmf_core.runs.inspection import GAP, LARGEST, SHADE, _laid_out, _png, picture_of, row_length


@pytest.mark.parametrize("count", range(1, 65))
def test_the_last_row_lacks_as_few_pictures_as_can_be(count: int) -> None:
    across = row_length(count)
    assert 1 <= across <= 8
    fewest = min(-count % it for it in range(4, 9)) if count > 4 else 0
    assert -count % across == fewest


@pytest.mark.parametrize(("count", "across"), [(13, 7), (16, 4), (3, 3), (5, 5)])
def test_a_sheet_has_no_blank_cells_and_a_short_row_stands_in_the_middle(
    count: int, across: int
) -> None:
    size, zoom = (4, 6), 2
    pictures = [np.full(size, 50 + place, np.uint8) for place in range(count)]
    sheet = _laid_out(pictures, across, zoom)
    down = -(-count // across)
    assert sheet.shape == (
        zoom * (down * (size[0] + GAP) + GAP),
        zoom * (across * (size[1] + GAP) + GAP),
        4,
    )
    greys, counts = np.unique(sheet[..., 0][sheet[..., 3] == 255], return_counts=True)
    by_grey = dict(zip(greys.tolist(), counts.tolist(), strict=True))
    assert by_grey.pop(SHADE[0]) > 0  # what is neither a picture nor between pictures is not drawn
    assert by_grey == {50 + place: size[0] * size[1] * zoom**2 for place in range(count)}
    last = sheet[-zoom * 3, :, 3] == 255  # a line through the last row
    left, right = int(np.argmax(last)), int(np.argmax(last[::-1]))
    assert abs(left - right) <= zoom


def test_a_large_picture_becomes_a_small_file_of_the_same_shape_and_brightness() -> None:
    values = np.random.default_rng(1).random((192, 96))
    whole = picture_of(values, 1)
    small = np.asarray(Image.open(io.BytesIO(_png(whole))))
    assert small.shape == (LARGEST, LARGEST // 2)
    means = whole.reshape(48, 4, 24, 4).mean(axis=(1, 3))
    assert np.abs(small - means).max() <= 1
    same = picture_of(values[:20, :10], 1)
    assert (np.asarray(Image.open(io.BytesIO(_png(same)))) == same).all()
