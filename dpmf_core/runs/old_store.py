"""Runs stored by earlier versions: a folder with one file per run, and an index.

They are imported once, when the store's file is created, because computing them again on private
data would be charged again. The folder itself is not changed.
"""

import io
import json
import logging
import zipfile
from collections.abc import Iterator
from pathlib import Path

from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.run_file import Label

log = logging.getLogger("dpmf.store")


def old_runs(folder: Path) -> Iterator[tuple[Run, Label]]:
    """Every readable run in the folder's files, with its label. Raises OSError."""
    for path in (folder / "artefacts").glob("*.npz"):
        content = path.read_bytes()
        try:
            run, label = unpack(content)
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            log.warning("%s holds no readable run (%s). It was left in place.", path, error)
        else:
            yield run, label


def unpack(content: bytes) -> tuple[Run, Label]:
    """The run of a file's bytes, and its label."""
    import numpy as np

    with zipfile.ZipFile(io.BytesIO(content)) as file:
        document = json.loads(file.read("run.json"))
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files if name != "run.json"}
    texts = {name: document["label"].get(name, "") for name in ("created", "note", "tags", "owner")}
    label = Label(**texts, pinned=bool(document["label"].get("pinned")))
    return Run(RunRecord.model_validate(document["record"]), arrays), label
