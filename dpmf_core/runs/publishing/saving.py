"""Save a run's model as a folder for publication.

It contains only releases in the ledger and public facts. If nothing is proved, every file has a
warning.
"""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpmf_core import algorithms
from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.bayesian import PosteriorDraws
from dpmf_core.algorithms.frank_wolfe import FrankWolfeModel
from dpmf_core.algorithms.item_lists import Projection
from dpmf_core.algorithms.iterates import GradientModel
from dpmf_core.algorithms.sgd import LearntUsers
from dpmf_core.algorithms.svd import Subspace
from dpmf_core.base.errors import BadInput
from dpmf_core.runs import data_access
from dpmf_core.runs.publishing import released_model
from dpmf_core.runs.publishing.privacy_statement import (
    as_html,
    as_yaml,
    card,
    check_about,
    statement,
    warning_of,
)
from dpmf_core.runs.publishing.released_model import (
    ARRAYS_FILE,
    FORMAT,
    SETTINGS_FILE,
    ReleasedModel,
    checked_model,
)
from dpmf_core.runs.record import ItemNames, Run
from dpmf_core.runs.summary import to_json

PEOPLE = {"user_factors", "user_offsets"}  # what some models without a guarantee hold of users
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


def require_saveable(algorithm: str) -> None:
    """Raise BadInput if the algorithm's model is more than items' factors and offsets."""
    if algorithms.find(algorithm).model_type not in SAVEABLE_MODELS:
        usable = [
            name for name, kind in algorithms.REGISTRY.items() if kind.model_type in SAVEABLE_MODELS
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


def save(run: Run, folder: str | Path, *, about: Mapping[str, str] | None = None) -> Path:
    """Write a run's model into a new folder that can be published, all of its files or none.

    The folder holds the items' factors, offsets and ids, a card and a privacy statement. If nothing
    is proved, every file has a warning. about: what only the publisher knows
    (`privacy_statement.ABOUT`). Returns the folder. Raises BadInput if it is taken or cannot be
    written, or the run has no model of items.
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


def released(run: Run, items: ItemNames) -> ReleasedModel:
    """The model that `save` would write and `load_model` read, without the files."""
    return checked_model(_settings(run), _arrays(run, items))


def _files(run: Run, items: ItemNames, about: Mapping[str, str] | None) -> dict[str, bytes]:
    """All files except the arrays, by name."""
    sections = statement(run.record, about)
    warning = warning_of(run.record)
    reader = Path(released_model.__file__).read_text("utf-8")
    texts = {
        SETTINGS_FILE: to_json(_settings(run), indent=1),
        "MODEL_CARD.md": card(run.record, sections, run.model.arrays),
        "privacy.yaml": as_yaml(sections),
        "privacy.html": as_html(sections),
        "recommend.py": f"# {warning}\n{reader}" if warning else reader,
    }
    return {name: content.encode() for name, content in texts.items()}


def _settings(run: Run) -> dict[str, Any]:
    record = run.record.exported()
    model = run.model
    settings = {name: it for name, it in model.settings.items() if name != "bounds"}
    return {
        "format": FORMAT,
        "warning": warning_of(record),
        "local_step": _local_step(model),
        "bounds": list(model.bounds),
        "settings": settings,
        "privacy": {
            "status": str(record.guarantee.status),
            "words": record.guarantee.words,
            "epsilon": record.epsilon.exact,
            "delta": record.delta,
            "unit": record.guarantee.unit,
            "relation": str(record.relation),
            "rule": record.rule,
            "noise": record.noise,
        },
        "algorithm": record.spec.algorithm,
        "parameters": record.parameters,
        "versions": record.versions,
        "record": {**record.to_dict(), "shape": {"bounds": list(model.bounds)}, "model": {}},
    }


def _local_step(model: Recommender) -> str:
    """How a person computes their own side, as in `released_model.LOCAL_STEPS`."""
    if isinstance(model, FrankWolfeModel) and not model.refit:
        return "frank-wolfe"
    if isinstance(model, GradientModel):
        return "gradient"
    if isinstance(model, PosteriorDraws):
        return "posterior"
    if isinstance(model, Subspace) and model.projection and model.item_factors.shape[1]:
        return "projection"
    if isinstance(model, Projection) and model.probe.size:
        return "probe"
    return "regression"


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
