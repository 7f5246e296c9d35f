"""The runs that come with the package.

`python -m benchmarks.shipped` computes all of them anew and replaces the file. `--check` computes
and compares them. `--check --sample` compares only the first and then every tenth run of an
algorithm on a data set, without what pages show of arrays.

Compared are, for every run: the specification's key (which holds the data's fingerprint and the
version of the algorithm), epsilon by every rule and the releases, to a relative 1e-9; figures and
released models to a relative 1e-4; pictures to 2 of 255 shades; lists, words and the order of
parts, which must be equal. Times, memory and versions of libraries are not compared. Linear algebra
uses the instructions of one processor on every x86-64. Other processors round differently, and
parts found from numbers that were rounded differently can differ by more than these tolerances.
"""

import argparse
import base64
import io
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

if platform.machine() in ("x86_64", "AMD64"):
    os.environ["OPENBLAS_CORETYPE"] = "Haswell"  # read when numpy is imported

import numpy as np
from PIL import Image

from dpmf_core.algorithms import Recommender
from dpmf_core.base.documents import to_json
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import first_views, shipped_runs
from dpmf_core.runs.comparison import BEST_KNOWN, TRIVIAL, grid_points, references
from dpmf_core.runs.data_access import open_anywhere, open_ratings
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.first_views import View
from dpmf_core.runs.recommendations import recommend, someone
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.shipped_runs import ShippedRun, ViewData, identity
from dpmf_core.runs.specification import RunSpec
from pages.explore.person_shown import LIST_LENGTH, LISTS, PERSON
from pages.kit.first_views.matched_parts import MATCHED_PARTS, match_parts
from pages.start.you import FILMS, films_to_rate

# relative tolerances
EXACT = 1e-9
CLOSE = 1e-4
# parts of a record that say where and when it was made
OWN = frozenset({"seconds", "peak_mb", "created", "versions", "cached"})
PNG = "iVBOR"  # how a picture begins
SHADES = 2  # tolerance of its pixels, of 255
EXACTLY = frozenset({"epsilon", "ledger", "delta"})


def sample() -> list[RunSpec]:
    """The first and then every tenth run of each algorithm on each data set."""
    groups: dict[tuple[str, str], list[RunSpec]] = {}
    for spec in first_views.every_run():
        groups.setdefault((spec.data.id, spec.algorithm), []).append(spec)
    return [spec for group in groups.values() for spec in group[::10]]


def compute(wanted: Iterable[RunSpec]) -> dict[str, RunRecord]:
    """Records by identity, computed where the store lacks them."""
    specs = {identity(spec): spec for spec in wanted}
    records = {}
    for spec, outcome in engine().sweep(specs.values()):
        if isinstance(outcome, Exception):
            raise outcome
        records[identity(spec)] = outcome.record
        print(
            len(records),
            "of",
            len(specs),
            spec.data.id,
            outcome.record.title,
            flush=True,
        )
    return records


def _shown(view: View) -> list[RunSpec]:
    """The first draws whose arrays a first view shows: the best method at each epsilon.

    With its method without noise, and on documents and images the best known method.
    """
    run = first_views.usual_run(view.kind, view.data)
    points = grid_points(run, open_anywhere(run.data).shape)
    summaries = engine().known_runs.find_all([point.spec for point in points])
    judgement = Draws.of(points, summaries).by(first_views.METRICS[view.kind])
    best = {(one.label, one.epsilon) for one in judgement.best_line}
    shown = [
        point.spec
        for point in points
        if point.spec.seed == run.seed and (point.label, point.epsilon) in best
    ]
    if view.kind == "ratings":
        shown += [spec.open() for spec in shown]
    else:
        shown.append(references(run)[BEST_KNOWN])
    return list({identity(spec): spec for spec in shown}.values())


def _first_view_values() -> Iterator[tuple[str, ViewData]]:
    """What first views show of the arrays of the first draw, at each epsilon of a grid."""
    for view in first_views.VIEWS:
        run = first_views.usual_run(view.kind, view.data)
        if view.kind == "ratings":
            trivial = references(run)[TRIVIAL]
            user = someone(_whole(trivial))
            values: ViewData = {PERSON: user}
            if view.data == first_views.USUAL_DATA["ratings"]:
                with_genres = run.data.model_copy(update={"item_features": "public"})
                values[FILMS] = films_to_rate(open_ratings(with_genres))
            yield identity(trivial), values
            for spec in _shown(view):
                recommendations = recommend(_whole(spec), user, LIST_LENGTH)
                items = [
                    {"id": one.item, "title": one.title} for one in recommendations
                ]
                yield identity(spec), {LISTS: {str(user): items}}
        else:
            best = references(run)[BEST_KNOWN]
            for spec in _shown(view):
                parts = asdict(match_parts(view.page, spec, best))
                yield identity(spec), {MATCHED_PARTS: parts}


def _models() -> dict[str, Mapping[str, Any]]:
    """Arrays of models by the identity of their runs, on the usual ratings.

    First draws of the best method at each epsilon, with privacy and without noise.
    """
    return {
        identity(spec): dict(_whole(spec).arrays)
        for spec in _shown(first_views.VIEWS[0])
    }


def _whole(spec: RunSpec) -> Run:
    run = engine().known_runs.whole(spec)
    assert run is not None, spec
    return run


# ---- comparing -----------------------------------------------------------------------------------


def differences(
    old: Mapping[str, ShippedRun], new: Mapping[str, ShippedRun]
) -> list[str]:
    """Differences between two sets of shipped runs beyond the tolerances, one line each."""
    lines = [f"{name}: only in one of them" for name in old.keys() ^ new.keys()]
    for name in old.keys() & new.keys():
        before = json.loads(to_json(old[name].record.to_dict()))
        after = json.loads(to_json(new[name].record.to_dict()))
        before["model"] = _as_read(before["model"], after["model"])
        for part in (before.keys() | after.keys()) - OWN:
            if part in EXACTLY:
                tolerance = EXACT
            else:
                tolerance = CLOSE
            lines += _apart(
                f"{name}: {part}", before.get(part), after.get(part), tolerance
            )
        lines += _apart(
            f"{name}: shown", old[name].view_data, new[name].view_data, CLOSE
        )
        arrays = (
            {key: array.tolist() for key, array in one[name].arrays.items()}
            for one in (old, new)
        )
        lines += _apart(f"{name}: model", *arrays, CLOSE)
    return sorted(lines)


def _as_read(settings: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's settings with the defaults with which one that lacks a newer setting is read."""
    kinds = (Recommender, *Recommender.__subclasses__())
    defaults = {field.name: field.default for kind in kinds for field in fields(kind)}
    missing = (new.keys() - settings.keys()) & defaults.keys()
    return {**settings, **{name: defaults[name] for name in missing}}


def _apart(place: str, old: Any, new: Any, tolerance: float) -> list[str]:
    """Where two JSON values differ."""
    both = [dict(_leaves(place, record)) for record in (old, new)]
    pairs = {
        key: (both[0].get(key), both[1].get(key))
        for key in both[0].keys() | both[1].keys()
    }
    return [
        f"{key}: {a!r:.60} and {b!r:.60}"
        for key, (a, b) in pairs.items()
        if not _same(a, b, tolerance)
    ]


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """All values in a JSON value by their places."""
    if isinstance(value, Mapping | list | tuple):
        for key, inner in (
            value.items() if isinstance(value, Mapping) else enumerate(value)
        ):
            yield from _leaves(f"{place}.{key}", inner)
    else:
        yield place, value


def _same(old: Any, new: Any, tolerance: float) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return bool(np.isclose(old, new, tolerance, tolerance, equal_nan=True))
    if isinstance(old, str) and isinstance(new, str) and old[:5] == new[:5] == PNG:
        return bool(np.abs(_pixels(old) - _pixels(new)).max() <= SHADES)
    return bool(old == new)


def _pixels(picture: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))), int)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--check", action="store_true", help="compare, and change nothing"
    )
    parser.add_argument("--sample", action="store_true", help="compare only a few runs")
    arguments = parser.parse_args()
    partly = arguments.check and arguments.sample
    with tempfile.TemporaryDirectory() as fresh:
        os.environ["DPMF_DATA"] = fresh
        records = compute(sample() if partly else first_views.every_run())
        old = shipped_runs.everything()
        if partly:  # what is not computed anew is taken as it is
            old = {name: run for name, run in old.items() if name in records}
            runs = {
                name: old[name]._replace(record=record)
                for name, record in records.items()
            }
        else:
            values = dict(_first_view_values())
            models = _models()
            runs = {
                name: ShippedRun(record, values.get(name, {}), models.get(name, {}))
                for name, record in records.items()
            }
        engine().close()
    if not arguments.check:
        shipped_runs.write(runs.values())
        print(f"{len(runs)} runs, {shipped_runs.FILE.stat().st_size / 1000:.0f} kB")
        return
    lines = differences(old, runs)
    print("\n".join(lines) or f"All {len(runs)} runs are the same.")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
