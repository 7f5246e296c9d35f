"""Golden files: what the project computes and shows today, in JSON that a diff can be read of."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
# relative tolerance of what accounting computes, and of the rest
EXACT = 1e-9
CLOSE = 1e-3
EXACTLY = ("epsilon", "ledger", "delta")
WIDTH = 100


def rounded(value: Any, digits: int) -> Any:
    """A value of JSON with that many significant digits."""
    if isinstance(value, Mapping):
        return {
            key: rounded(content, 10 if key in EXACTLY else digits)
            for key, content in value.items()
        }
    if isinstance(value, list | tuple):
        return [rounded(content, digits) for content in value]
    if isinstance(value, float):
        if math.isfinite(value):
            return float(f"{value:.{digits}g}")
        return str(value)
    return value


def dumped(value: Any, indent: int = 0) -> str:
    """JSON in which what fits on a line has one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 1)
    outer = " " * indent
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {dumped(content, indent + 1)}"
            for key, content in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{outer}}}"
    return (
        "[\n"
        + ",\n".join(inner + dumped(content, indent + 1) for content in value)
        + f"\n{outer}]"
    )


def differences(
    old: Any, new: Any, place: str = "", tolerance: float = CLOSE
) -> Iterator[str]:
    """Where two values of JSON differ by more than the tolerance, a line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            part = f"{place}.{key}".lstrip(".")
            if key not in old or key not in new:
                yield f"{part}: {'new' if key in new else 'gone'}"
            else:
                if key in EXACTLY:
                    within = EXACT
                else:
                    within = tolerance
                yield from differences(old[key], new[key], part, within)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}[{at}]", tolerance)
    elif not _same(old, new, tolerance):
        yield f"{place}: {_short(old)} -> {_short(new)}"


def _same(old: Any, new: Any, tolerance: float) -> bool:
    numbers = [
        side
        for side in (old, new)
        if isinstance(side, int | float) and not isinstance(side, bool)
    ]
    if len(numbers) == 2:
        return math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance / 100)
    return bool(old == new)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= WIDTH:
        return text
    return text[: WIDTH - 1] + "…"


def read(name: str) -> Any:
    """A golden file; None where there is none."""
    path = FOLDER / name
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    return None


def write(name: str, value: Any) -> None:
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(dumped(value) + "\n", "utf-8")
