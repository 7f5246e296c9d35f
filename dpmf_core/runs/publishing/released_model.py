"""A released recommender: read from its folder and applied to one person's own ratings.

It needs numpy alone: a copy of this file is saved with every model as `recommend.py`.

    from recommend import load_model, recommend
    model = load_model(".")
    print(recommend(model, {"an item's id": 5, "another": 2}))

A person's factors are computed here, from their ratings and the released model, and are not stored.
"""

import difflib
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from dpmf_core.base.errors import BadInput
except ImportError:  # next to a model, without the package

    class BadInput(ValueError):  # type: ignore[no-redef]
        """Something a person gave cannot be used; the message says what to do."""


Array = npt.NDArray[Any]
FORMAT = 1
ARRAYS_FILE, SETTINGS_FILE = "model.npz", "model.json"
INSIDE = 1 - 1e-6  # keeps a clipped row inside its bound after rounding
REQUIRED_ARRAYS = {"item_ids", "item_offsets", "item_factors", "local_columns"}
FOR_ITEMS = {
    *REQUIRED_ARRAYS,
    "item_titles",
    "item_features",
    "probe",
    "directions",
    "draw_offsets",
    "loadings",
}  # these have a row per item


@dataclass(frozen=True, eq=False)
class ReleasedModel:
    """The shared side of a recommender.

    local_step: how a person finds their own side, one of LOCAL_STEPS. bounds: lowest and highest
    rating. item_ids: one per item. settings: other values for the local step. arrays: item_offsets
    (n_items,), item_factors (n_items, r), local_columns (n_items, c) and others that some local
    steps need. titles: of the items, if public. privacy: recorded epsilon, delta, unit and status.
    warning: '' if a proof limits what the model reveals about a person.
    """

    local_step: str
    bounds: tuple[float, float]
    item_ids: tuple[str, ...]
    settings: Mapping[str, Any]
    arrays: Mapping[str, Array]
    titles: tuple[str, ...] = ()
    privacy: Mapping[str, Any] | None = None
    warning: str = ""

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    @property
    def centre(self) -> float:
        return float(self.settings["centre"])

    @property
    def item_sides(self) -> Array:
        """Item factors and local columns side by side (n_items, r + c), float64."""
        return np.hstack([self.arrays["item_factors"], self.arrays["local_columns"]]).astype(float)


@dataclass(frozen=True)
class OwnSide:
    """What a person computes from their own ratings: an offset, and factors (r + c,)."""

    offset: float
    factors: Array


def load_model(folder: str | Path) -> ReleasedModel:
    """Read the model that `save` wrote into a folder. No pickles are read.

    Raises BadInput if there is none, or its files do not fit together.
    """
    place = Path(folder).expanduser()
    for name in (SETTINGS_FILE, ARRAYS_FILE):
        if not (place / name).is_file():
            raise BadInput(
                f"There is no released model in the folder '{place}': it has no {name}. Name the"
                " folder that save(run, folder) or `fit --save folder` wrote."
            )
    try:
        settings = json.loads((place / SETTINGS_FILE).read_text("utf-8"))
        with np.load(place / ARRAYS_FILE, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return checked_model(settings, arrays)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise BadInput(
            f"The model in '{place}' cannot be read: {str(error) or type(error).__name__}. Save or"
            " fetch it again."
        ) from None


def checked_model(settings: dict[str, Any], arrays: dict[str, Array]) -> ReleasedModel:
    """The model of these settings and arrays.

    Raises KeyError, TypeError or ValueError if they do not fit together.
    """
    if settings["format"] != FORMAT:
        raise ValueError(f"its format is {settings['format']!r}, and this version reads {FORMAT}")
    if settings["local_step"] not in LOCAL_STEPS:
        raise ValueError(f"its local step {settings['local_step']!r} is unknown")
    if missing := REQUIRED_ARRAYS - set(arrays):
        raise ValueError(f"{ARRAYS_FILE} lacks {', '.join(sorted(missing))}")
    rows = {name: len(arrays[name]) for name in FOR_ITEMS & set(arrays) if len(arrays[name])}
    if len(set(rows.values())) != 1:
        raise ValueError(f"its arrays are of different numbers of items: {rows}")
    ids = tuple(map(str, arrays["item_ids"].tolist()))
    if len(set(ids)) < len(ids):
        raise ValueError("two items have the same id")
    low, high = map(float, settings["bounds"])
    if not low < high:
        raise ValueError(f"its bounds are {low} and {high}")
    return ReleasedModel(
        settings["local_step"],
        (low, high),
        ids,
        dict(settings["settings"]),
        arrays,
        tuple(map(str, arrays.get("item_titles", np.array([])).tolist())),
        settings.get("privacy"),
        str(settings.get("warning", "")),
    )


def recommend(
    model: ReleasedModel, my_ratings: Mapping[Any, float], k: int = 10
) -> list[tuple[str, float]]:
    """The k best items that a person has not rated, best first, with predicted ratings.

    my_ratings: from item ids to ratings within the bounds; an empty mapping gives the default list.
    Equal scores keep the order of the items. Raises BadInput on an unknown item or a rating out of
    range.
    """
    if not (isinstance(k, int) and k >= 1):
        raise BadInput(
            f"k, the number of items to recommend, must be a whole number of at least 1. Got {k!r}."
        )
    items, values = _own_ratings(model, my_ratings)
    own = own_side(model, items, values)
    scores = model.arrays["item_offsets"] + model.item_sides @ own.factors
    order = np.argsort(-scores.astype(np.float32), kind="stable")
    best = order[~np.isin(order, items)][:k]
    ratings = _predictions(model, own, best)
    return [(model.item_ids[j], float(rating)) for j, rating in zip(best, ratings, strict=True)]


def predict(
    model: ReleasedModel, my_ratings: Mapping[Any, float], items: Iterable[Any] | None = None
) -> dict[str, float]:
    """The predicted rating of each of these items, by id; None takes all. Raises BadInput."""
    own = own_side(model, *_own_ratings(model, my_ratings))
    selection = range(model.n_items) if items is None else _places(model, items)
    places = np.array(list(selection), int)
    ratings = _predictions(model, own, places)
    return {model.item_ids[j]: float(it) for j, it in zip(places, ratings, strict=True)}


def similar_items(model: ReleasedModel, item: Any, k: int = 10) -> list[tuple[str, float]]:
    """The k items with the most similar factors and their cosines in [-1, 1], best first.

    Items whose factors are 0 are left out. Raises BadInput.
    """
    (place,) = _places(model, [item])
    near, cosines = nearest(model.arrays["item_factors"], place, k)
    return [(model.item_ids[j], float(it)) for j, it in zip(near, cosines, strict=True)]


def nearest(item_factors: Array, place: int, k: int) -> tuple[Array, Array]:
    """Places and cosines of the k items with the largest cosines to one (k,). Raises BadInput."""
    V = item_factors.astype(float)
    norms = np.linalg.norm(V, axis=1)
    if not norms[place] > 0:
        which = "this item" if norms.any() else "any item: it predicts from item offsets only"
        raise BadInput(
            f"The model has no factors for {which}, so similar items cannot be found. recommend"
            " works without factors."
        )
    cosines = V @ V[place] / np.where(norms > 0, norms * norms[place], 1.0)
    order = np.argsort(-cosines, kind="stable")
    near = order[(order != place) & (norms[order] > 0)][:k]
    return near, cosines[near]


# ---- one person's own side -----------------------------------------------------------------------


def own_side(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """A person's side from their own ratings: items (n,) by place, values (n,)."""
    return LOCAL_STEPS[model.local_step](model, items, values.astype(float))


def _predictions(model: ReleasedModel, own: OwnSide, items: Array) -> Array:
    """Ratings (len(items),) within the bounds."""
    raw = model.centre + own.offset + model.arrays["item_offsets"][items]
    return np.asarray(np.clip(raw + model.item_sides[items] @ own.factors, *model.bounds))


def _residuals(model: ReleasedModel, items: Array, values: Array) -> tuple[float, Array]:
    """The person's offset, and their ratings minus centre and offsets (n,)."""
    residuals = values - model.centre - model.arrays["item_offsets"][items]
    damping = model.settings.get("user_damping")
    if damping is None or not len(items):
        return 0.0, residuals
    mean = float(residuals.sum() / max(len(items) + damping, 1e-9))
    return mean, residuals - mean


def _unit(model: ReleasedModel) -> float:
    """A quarter of the rating range: the scale of an offset that is fitted with factors."""
    return (model.bounds[1] - model.bounds[0]) / 4


def _with_unit(model: ReleasedModel, columns: Array) -> Array:
    return np.column_stack([columns, np.full(len(columns), _unit(model))])


def _solve(
    columns: Array, items: Array, residuals: Array, ridge: float, weight: float = 0.0
) -> Array:
    """The person's regression on the columns (n_items, k). weight: of unrated cells."""
    F = columns[items]
    system = F.T @ F + ridge * np.eye(F.shape[1])
    if weight:
        system += weight * (columns.T @ columns)
    return np.asarray(np.linalg.solve(system, F.T @ residuals))


def _regress(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """Ridge regression on item factors and local columns."""
    offset, residuals = _residuals(model, items, values)
    V, settings = model.item_sides, model.settings
    if not V.shape[1] or not len(items):
        return OwnSide(offset, np.zeros(V.shape[1]))
    ridge = settings["ridge"] * max(len(items), 1) ** settings["ridge_exponent"]
    if not settings["mended"]:
        return OwnSide(offset, _solve(V, items, residuals, ridge, settings["unobserved_weight"]))
    solution = _solve(_with_unit(model, V), items, residuals, ridge, settings["unobserved_weight"])
    return OwnSide(offset + _unit(model) * float(solution[-1]), solution[:-1])


def _with_loadings(
    model: ReleasedModel, items: Array, values: Array, offset: float, factors: Array
) -> OwnSide:
    """Add the person's regression of the residuals on the local columns."""
    L = model.arrays["local_columns"].astype(float)
    if not L.shape[1] or not len(items):
        return OwnSide(offset, np.concatenate([factors, np.zeros(L.shape[1])]))
    item_part = model.arrays["item_factors"][items].astype(float) @ factors
    residuals = values - model.centre - offset - model.arrays["item_offsets"][items] - item_part
    solution = _solve(_with_unit(model, L), items, residuals, model.settings["ridge"])
    return OwnSide(offset + _unit(model) * float(solution[-1]), np.append(factors, solution[:-1]))


def _project(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """The person's residuals on orthonormal item factors, over their share of the items."""
    offset, residuals = _residuals(model, items, values)
    V = model.arrays["item_factors"].astype(float)
    factors = residuals @ V[items] * (model.n_items / max(len(items), 1))
    return _with_loadings(model, items, values, offset, factors)


def _add_probes(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """The sum of the probe's rows for the person's items."""
    factors = values @ model.arrays["probe"][items].astype(float)
    return OwnSide(0.0, np.append(factors, np.zeros(model.arrays["local_columns"].shape[1])))


def _take_frank_wolfe_steps(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """Repeat all steps of Frank-Wolfe for the person's row."""
    settings, V = model.settings, model.arrays["item_factors"].astype(float)
    offset, residuals = _residuals(model, items, values)
    mask = (V != 0).any(axis=1)[items] if settings["partial"] else np.ones(len(items), bool)
    bound = math.inf if settings["row_bound"] is None else float(settings["row_bound"])
    target, rows = residuals[mask], V[items[mask]]
    y, coefficients = np.zeros(len(target)), np.zeros(V.shape[1])
    steps = zip(model.arrays["rates"], model.arrays["inverse_singular"], strict=True)
    for t, (rate, inverse) in enumerate(steps):
        gap = y - target
        scale = min(1.0, bound * INSIDE / max(float(np.linalg.norm(gap)), 1e-300))
        step = -rate * settings["kappa"] * scale * float(gap @ rows[:, t]) * inverse
        y = (1 - rate) * y + step * rows[:, t]
        shrink = min(1.0, bound / max(float(np.linalg.norm(y)), 1e-300))
        y *= shrink
        coefficients[:t] *= (1 - rate) * shrink
        coefficients[t] = step * shrink
    return _with_loadings(model, items, values, offset, coefficients)


def _take_gradient_steps(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """Repeat all steps of projected gradient descent for the person's row."""
    settings, arrays = model.settings, model.arrays
    offset, residuals = _residuals(model, items, values)
    C, Q = np.zeros(0), np.zeros((model.n_items, 0))
    stops = np.cumsum(arrays["ranks"])
    for start, stop in zip(stops - arrays["ranks"], stops, strict=True):
        S = settings["rate"] * (residuals - Q[items] @ C)
        if settings["row_bound"] is not None:
            square = float(C @ (C + 2 * (S @ Q[items])) + S @ S)
            shrink = min(1.0, settings["row_bound"] * INSIDE / math.sqrt(max(square, 1e-300)))
            C, S = C * shrink, S * shrink
        D = arrays["directions"][:, start:stop].astype(float)
        C, Q = (C @ (Q.T @ D) + S @ D[items]) * arrays["shrinkages"][start:stop], D
    return _with_loadings(model, items, values, offset, C)


def _average_posterior_means(model: ReleasedModel, items: Array, values: Array) -> OwnSide:
    """The person's posterior mean given each draw of the items' side, averaged over draws."""
    arrays, unit, count = model.arrays, _unit(model), len(items)
    links, precisions = arrays["links"], arrays["precisions"]
    V = arrays["item_factors"].astype(float).reshape(model.n_items, len(links), -1)
    attention = arrays["loadings"][items].astype(float).sum(axis=0) / math.sqrt(max(count, 1))
    features = np.array([1, *attention, math.log1p(count) - model.settings["mean_log_count"]])
    sides = []
    for draw, noise in enumerate(arrays["noise_precisions"]):
        prior, columns = features @ links[draw], np.column_stack([V[items, draw], np.ones(count)])
        residuals = (values - model.centre) / unit - arrays["draw_offsets"][items, draw]
        system = precisions[draw] + noise * (columns.T @ columns)
        gap = noise * columns.T @ (residuals - columns @ prior)
        sides.append(prior + np.linalg.solve(system, gap))
    factors = np.concatenate([side[:-1] for side in sides]) * unit / len(sides)
    offset = unit * float(np.mean([side[-1] for side in sides]))
    return OwnSide(offset, np.append(factors, np.zeros(arrays["local_columns"].shape[1])))


LOCAL_STEPS: dict[str, Callable[[ReleasedModel, Array, Array], OwnSide]] = {
    "regression": _regress,
    "projection": _project,
    "probe": _add_probes,
    "frank-wolfe": _take_frank_wolfe_steps,
    "gradient": _take_gradient_steps,
    "posterior": _average_posterior_means,
}


# ---- what a person gives -------------------------------------------------------------------------


def _own_ratings(model: ReleasedModel, my_ratings: Mapping[Any, float]) -> tuple[Array, Array]:
    """Places (n,) and ratings (n,) of the rated items, in the order of the items."""
    if not isinstance(my_ratings, Mapping):
        raise BadInput(
            "my_ratings must map item ids to ratings, e.g."
            f" {{'{model.item_ids[0]}': {model.bounds[1]:g}}}. Got {type(my_ratings).__name__}."
        )
    places = np.array(_places(model, my_ratings), int)
    low, high = model.bounds
    values = []
    for item, value in my_ratings.items():
        try:
            rating = float(value)
        except (TypeError, ValueError):
            rating = math.nan
        if not low <= rating <= high:
            raise BadInput(
                f"A rating must lie between {low:g} and {high:g}. Got {value!r} for the item"
                f" '{str(item)[:60]}'."
            )
        values.append(rating)
    order = np.argsort(places, kind="stable")
    return places[order], np.array(values, float)[order]


def _places(model: ReleasedModel, items: Iterable[Any]) -> list[int]:
    """Places of items by id. Raises BadInput on an unknown or repeated one."""
    by_id = {name: place for place, name in enumerate(model.item_ids)}
    places: list[int] = []
    for item in items:
        name = str(item)
        if name not in by_id:
            near = difflib.get_close_matches(name, by_id, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise BadInput(
                f"The model has no item '{name[:60]}'.{hint} Its {model.n_items:,} ids are"
                f" model.item_ids: {', '.join(model.item_ids[:5])}, ..."
            )
        places.append(by_id[name])
    if len(set(places)) < len(places):
        raise BadInput("Give each item once, with its id either as text or as a number.")
    return places
