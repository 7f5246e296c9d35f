"""Images: from MATLAB files and archives of pictures."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

import dpmf_datasets as datasets
from dpmf_core.errors import BadInput
from dpmf_datasets.readers import images
from tests.datasets.test_sample_sets import load_samples, portraits


@pytest.mark.parametrize("by_columns", [False, True])
def test_matlab_images_are_put_upright(tmp_path: Path, by_columns: bool) -> None:
    faces = portraits()
    savemat(
        tmp_path / "faces.mat",
        {
            "fea": (faces.swapaxes(1, 2) if by_columns else faces).reshape(6, -1),
            "gnd": np.arange(6)[:, None],
        },
    )
    samples, report = images.from_matlab(tmp_path / "faces.mat", name="faces", public=True)
    np.testing.assert_allclose(samples.X, faces.reshape(6, -1), rtol=1e-6)
    assert ("put upright" in report.note) == by_columns
    with_order = load_samples(
        str(tmp_path / "faces.mat") + f"?key=fea&order={'columns' if by_columns else 'lines'}"
    )
    np.testing.assert_allclose(with_order.X, samples.X, rtol=1e-6)
    with pytest.raises(BadInput):
        datasets.load(str(tmp_path / "faces.mat") + "?order=sideways")


@pytest.mark.parametrize("content", [b"", b"not matlab", b"MATLAB 5.0 MAT-file" + bytes(200)])
def test_what_is_no_matlab_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "faces.mat").write_bytes(content)
    with pytest.raises(BadInput, match=r"faces\.mat"):
        datasets.load(str(tmp_path / "faces.mat"))


def test_negative_pixels_are_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "faces.mat", {"fea": portraits().reshape(6, -1) - 5})
    with pytest.raises(BadInput, match="must be 0 or more"):
        datasets.load(str(tmp_path / "faces.mat"))


def png(picture: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray((picture / picture.max() * 255).astype(np.uint8)).save(out, "png")
    return out.getvalue()


def test_members_outside_the_archive_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "faces.zip", "w") as archive:
        archive.writestr("../../evil.png", png(portraits()[0]))
    with pytest.raises(BadInput):
        datasets.load(str(tmp_path / "faces.zip"))
