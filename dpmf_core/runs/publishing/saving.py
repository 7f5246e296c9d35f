"""Save a run's model as a folder for publication, and read such a folder.

It contains only releases in the ledger and public facts. If nothing is proved, every file has a
warning.
"""

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dpmf_core import algorithms
from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.bayesian import PosteriorDraws
from dpmf_core.algorithms.frank_wolfe import FrankWolfeModel
from dpmf_core.algorithms.item_lists import Projection
from dpmf_core.algorithms.projected_gradient import GradientModel
from dpmf_core.algorithms.sgd import LearntUsers
from dpmf_core.algorithms.svd import Subspace
from dpmf_core.base.documents import render, to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import workplace
from dpmf_core.runs import data_access
from dpmf_core.runs.publishing.privacy_statement import (
    card,
    check_about,
    statement,
    warning_of,
)
from dpmf_core.runs.record import ItemNames, Run, RunRecord

FORMAT = 1
ARRAYS_FILE = "model.npz"
SETTINGS_FILE = "model.json"
# what some models without a guarantee hold of users
PEOPLE = {
    "user_factors",
    "user_offsets",
}
SAVEABLE_MODELS = (
    Recommender,
    Subspace,
    Projection,
    FrankWolfeModel,
    GradientModel,
    LearntUsers,
    PosteriorDraws,
)
ALWAYS = ("item_offsets", "item_factors", "local_columns", "loadings")
# arrays next to the model's own
NAMES = {"item_ids", "item_titles", "item_feature_names", "item_features", "warning"}
OF_ITEMS = (  # arrays with a row for each item, or none at all
    "item_ids",
    "item_titles",
    "item_features",
    "item_offsets",
    "item_factors",
    "local_columns",
    "attention",
    "loadings",
    "probe",
    "directions",
    "draw_offsets",
)


def require_saveable(algorithm: str) -> None:
    """Raise BadInput if the algorithm's model is more than items' factors and offsets."""
    if algorithms.find(algorithm).model_type not in SAVEABLE_MODELS:
        usable = [
            name
            for name, kind in algorithms.REGISTRY.items()
            if kind.model_type in SAVEABLE_MODELS
        ]
        raise BadInput(
            f"{algorithms.find(algorithm).title} cannot be saved as a released model, because a"
            " released model consists of item factors and offsets. These can be saved:"
            f" {', '.join(usable)}."
        )


def require_free(folder: str | Path) -> Path:
    """The path of a new or empty folder in an existing one. Raises BadInput."""
    place = Path(folder).expanduser().absolute()
    try:
        is_occupied = place.exists() and (not place.is_dir() or any(place.iterdir()))
        inside = place.parent.is_dir()
    except (OSError, ValueError) as error:
        raise BadInput(
            f"The model cannot be saved in '{folder}' ({error}). Name another folder."
        ) from None
    if is_occupied:
        raise BadInput(
            f"A model needs an empty folder. '{folder}' is not empty: name another folder, or"
            " remove it first."
        )
    if not inside:
        raise BadInput(
            f"The model cannot be saved in '{folder}': there is no folder {place.parent}. Create it"
            " first."
        )
    return place


def save(
    run: Run, folder: str | Path, *, about: Mapping[str, str] | None = None
) -> Path:
    """Write a run's model into a new folder that can be published, all of its files or none.

    The folder holds the items' factors, offsets and ids, a card and a privacy statement. If nothing
    is proved, every file has a warning.

    Parameters
    ----------
    run
        The run.
    folder
        The new folder.
    about
        What only the publisher knows (`privacy_statement.ABOUT`).

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    BadInput
        If the folder exists or cannot be written, or if the run has no model of items.
    """
    require_saveable(run.spec.algorithm)
    if not run.arrays:
        raise BadInput(
            "This run came from a file that holds its record but not its model. Repeat the run here"
            " with the same command, then save it."
        )
    check_about(about or {})
    place = require_free(folder)
    items = run.items or ItemNames.of(data_access.ratings_anywhere(run))
    files = _files(run, items, about)
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
        try:
            for name, content in files.items():
                (aside / name).write_bytes(content)
            np.savez(aside / ARRAYS_FILE, **_arrays(run, items))
            aside.chmod(0o755)
            if place.exists():
                place.rmdir()  # empty: checked above
            aside.rename(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)  # absent after the rename
    except OSError as error:
        raise BadInput(
            f"The model cannot be saved in '{folder}' ({error.strerror}). Name a folder you can"
            " write to."
        ) from error
    return place


def packed(run: Run, name: str, *, about: Mapping[str, str] | None = None) -> bytes:
    """The folder that `save` writes as a ZIP file, in which it has this name. Raises BadInput."""
    content = io.BytesIO()
    with tempfile.TemporaryDirectory(dir=workplace()) as place:
        folder = save(run, Path(place) / name, about=about)
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(folder.iterdir()):
                file.write(path, f"{name}/{path.name}")
    return content.getvalue()


def read(folder: str | Path) -> Run:
    """The run that `save` wrote into a folder, with the items' names and without metrics.

    No pickles are read. Raises BadInput if the folder holds no such model, or if its files do not
    fit together.
    """
    place = Path(folder).expanduser()
    for name in (SETTINGS_FILE, ARRAYS_FILE):
        if not (place / name).is_file():
            raise BadInput(
                f"There is no released model in the folder '{place}': it has no {name}. Name the"
                " folder that save(run, folder) or `fit --save folder` wrote."
            )
    try:
        content = json.loads((place / SETTINGS_FILE).read_text("utf-8"))
        with np.load(place / ARRAYS_FILE, allow_pickle=False) as file:
            return _run_of(content, dict(file))
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        zipfile.BadZipFile,
        EOFError,
    ) as error:
        raise BadInput(
            f"The model in '{place}' cannot be read: {str(error)[:200] or type(error).__name__}."
            " Save or fetch it again."
        ) from None


def _run_of(content: dict[str, Any], arrays: dict[str, Any]) -> Run:
    """Raises KeyError, TypeError or ValueError if settings and arrays do not fit together."""
    if content["format"] != FORMAT:
        raise ValueError(
            f"its format is {content['format']!r}, and this version reads {FORMAT}"
        )
    ids = tuple(map(str, arrays["item_ids"].tolist()))
    if len(set(ids)) < len(ids):
        raise ValueError("two items have the same id")
    wrong = [
        array for array in OF_ITEMS if len(arrays.get(array, ())) not in (0, len(ids))
    ]
    if wrong:
        raise ValueError(f"its array {wrong[0]} does not have a row for each item")
    low, high = content["bounds"]
    if not low < high:
        raise ValueError(f"its bounds are {low} and {high}")
    titles = tuple(map(str, arrays.get("item_titles", ())))
    settings = {**content["settings"], "bounds": (low, high)}
    record = RunRecord.model_validate({**content["record"], "model": settings})
    own = {name: array for name, array in arrays.items() if name not in NAMES}
    run = Run(record, own, ItemNames(ids, titles))
    if not isinstance(run.model, Recommender):
        raise TypeError(f"{record.title} has no model of items")
    if (
        run.model.attention.size
        and run.model.attention.shape[1] != run.model.item_sides.shape[1] + 1
    ):
        raise ValueError(
            "its attention does not have a column for each factor and column"
        )
    return run


def _files(
    run: Run, items: ItemNames, about: Mapping[str, str] | None
) -> dict[str, bytes]:
    """All files except the arrays, by name."""
    sections = statement(run.record, about)
    title = f"Privacy statement: {sections['product']['name']}"
    texts = {
        SETTINGS_FILE: to_json(_settings(run), indent=1),
        "MODEL_CARD.md": card(run.record, sections, run.model.arrays),
        "privacy.yaml": yaml.safe_dump(
            sections,
            sort_keys=False,
            allow_unicode=True,
            width=100,
        ),
        "privacy.html": render("statement.html", title=title, sections=sections),
    }
    return {name: content.encode() for name, content in texts.items()}


def _settings(run: Run) -> dict[str, Any]:
    record = run.record.exported()
    model = run.model
    settings = {
        name: value for name, value in model.settings.items() if name != "bounds"
    }
    return {
        "format": FORMAT,
        "warning": warning_of(record),
        "bounds": list(model.bounds),
        "settings": settings,
        "record": {
            **record.to_dict(),
            "shape": {"bounds": list(model.bounds)},
            "model": {},
        },
    }


def _arrays(run: Run, items: ItemNames) -> dict[str, Any]:
    """The public or released facts about items, and nothing about people."""
    model = run.model
    arrays = {
        name: array
        for name, array in model.arrays.items()
        if name not in PEOPLE and (name in ALWAYS or array.size)
    }
    if not arrays["local_columns"].size:
        arrays["local_columns"] = np.zeros((len(items.ids), 0), np.float32)
    arrays["item_ids"] = np.array(items.ids)
    if items.titles:
        arrays["item_titles"] = np.array(items.titles)
    if run.spec.data.item_features == "public" and items.features is not None:
        arrays["item_feature_names"] = np.array(items.features.names)
        arrays["item_features"] = items.features.values
    if warning_of(run.record):
        arrays["warning"] = np.array(warning_of(run.record))
    return arrays
