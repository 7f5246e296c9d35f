"""Parameter sets drawn from an algorithm's own schema; nothing else is known about it.

`corners` visits every combination of its choices (booleans, literals, and numbers whose lowest
value 0 or highest value 1 switches something off). `from_whole_range` draws every number between
the ends of its range.
"""

import functools
import itertools
from typing import Any

import numpy as np

from dpmf_core.algorithms import Algorithm

Field = dict[str, Any]
MOST_STEPS = 12  # of numbers that only repeat a release, so that fits stay short
REPEATED = ("steps", "rounds", "passes", "iterations", "points")


@functools.cache
def fields(kind: type[Algorithm]) -> dict[str, Field]:
    return dict(kind.model_json_schema().get("properties", {}))


def choices_of(field: Field) -> list[Any] | None:
    if field.get("type") == "boolean":
        return [False, True]
    if "enum" in field:
        return list(field["enum"])
    return None


def _switch(field: Field) -> Any:
    """The value at which a number switches its part off: an inclusive end that is the default."""
    ends = [field[end] for end in ("minimum", "maximum") if end in field]
    if field["type"] == "number" and field["default"] in ends:
        return field["default"]
    return None


def _range(name: str, field: Field, shape: Any) -> tuple[float, float]:
    """A small part of the field's domain around its default; clips near 0 take effect."""
    default = float(field["default"])
    low = float(field["minimum"] if "minimum" in field else field["exclusiveMinimum"])
    high = float(field["maximum"] if "maximum" in field else field["exclusiveMaximum"])
    if field["type"] == "integer":
        top = 5 if name != "rank" else min(5, shape.n_items)
        return low, min(high, max(low, top))
    if "clip" in name:
        return 0.02, 0.2
    return max(low, default / 8 or 0.05), min(high, max(4 * default, 0.5))


def _draw(name: str, field: Field, shape: Any, rng: np.random.Generator) -> Any:
    low, high = _range(name, field, shape)
    if field["type"] == "integer":
        return int(rng.integers(int(low), int(high) + 1))
    return float(low + (high - low) * rng.uniform(0.05, 0.95))


def corners(kind: type[Algorithm], shape: Any, seed: int = 0) -> list[dict[str, Any]]:
    """Every combination of choices; every switch off and on; other numbers drawn anew for each."""
    rng = np.random.default_rng(seed)
    choices_by_name = {
        name: choices
        for name, field in fields(kind).items()
        if (choices := choices_of(field))
    }
    switches = [
        name
        for name, field in fields(kind).items()
        if name not in choices_by_name and _switch(field) is not None
    ]
    out = []
    for combination in itertools.product(*choices_by_name.values()):
        corner = dict(zip(choices_by_name, combination, strict=True))
        for name, field in fields(kind).items():
            if name not in choices_by_name:
                on = name not in switches or bool(rng.integers(2))
                if on:
                    corner[name] = _draw(name, field, shape, rng)
                else:
                    corner[name] = _switch(field)
        out.append(corner)
    return out


def from_whole_range(
    kind: type[Algorithm], shape: Any, rng: np.random.Generator
) -> dict[str, Any]:
    """Parameters drawn from the whole of every field's range, log-uniform up to its ends.

    A number with a range from 0 is 0 one time in four. Whole numbers that only repeat a release are
    few, and a rank is no larger than the number of items.
    """
    return {
        name: _from_whole_range(name, field, shape, rng)
        for name, field in fields(kind).items()
    }


def _from_whole_range(
    name: str, field: Field, shape: Any, rng: np.random.Generator
) -> Any:
    if choices := choices_of(field):
        return choices[int(rng.integers(len(choices)))]
    low = float(field["minimum"])
    high = float(field["maximum"])
    if name == "rank" or name == "n_components":
        high = float(getattr(shape, "n_items", 0) or shape.n_features)
    elif any(word in name for word in REPEATED):
        high = max(low, MOST_STEPS)
    if low <= 0 and rng.random() < 0.25:
        return type(field["default"])(0)
    if low > 0:
        least = low
    elif field["type"] == "integer":
        least = 1.0
    else:
        least = 1e-6
    value = float(np.exp(rng.uniform(np.log(least), np.log(max(high, least)))))
    if low < 0 and rng.random() < 0.5:
        value *= low / high
    value = min(max(value, low), high)
    if field["type"] == "integer":
        return round(value)
    return value
