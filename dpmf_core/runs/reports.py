"""Runs as documents: an HTML report, and notebooks that repeat them.

Nothing computed from raw rows of private data is included.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from dpmf_core import algorithms
from dpmf_core.base.documents import notebook, render
from dpmf_core.evaluation.registry import title_of
from dpmf_core.runs.commands import fit_keywords, sweep_keywords
from dpmf_core.runs.comparison import differences, settings
from dpmf_core.runs.line_charts import line_chart
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.sweep import Sweep

BY_STEP = ("test_rmse", "objective")  # held-out figures that curves hold


def report(runs: Sequence[Run], title: str = "Runs") -> str:
    """A self-contained HTML page about up to six runs: differences, figures, curves, ledgers."""
    records = {
        f"{place}. {run.title}": run.record.exported()
        for place, run in enumerate(runs, 1)
    }
    metrics = dict.fromkeys(
        name for record in records.values() for name in record.metrics
    )
    return render(
        "runs.html",
        title=title,
        names=list(records),
        differing=[
            [row["setting"], *row["values"]]
            for row in differences(list(records.values()))
        ],
        figures=[
            [title_of(name), *(record.metrics.get(name) for record in records.values())]
            for name in metrics
        ],
        curves=[curve for metric in BY_STEP if (curve := _by_step(records, metric))],
        runs=[
            {"name": name, "record": record, "facts": _facts(record)}
            for name, record in records.items()
        ],
    )


def _by_step(records: Mapping[str, RunRecord], metric: str) -> dict[str, Any] | None:
    """A chart of a held-out figure, its best and last values; None if no run has it by step."""
    points = {
        name: [
            (float(point["step"] or 0), float(point[metric] or 0)) for point in curve
        ]
        for name, record in records.items()
        if (
            curve := [point for point in record.curves if point.get(metric) is not None]
        )
    }
    if not points:
        return None
    title = title_of(metric)
    return {
        "title": title,
        "chart": Markup(line_chart(points, "step", f"{title} by step")),
        "ends": [
            [name, min(y for _, y in line), line[-1][1]]
            for name, line in points.items()
        ],
    }


def _facts(record: RunRecord) -> list[tuple[str, object]]:
    """Everything needed to evaluate or repeat a run."""
    promise = record.guarantee
    facts: dict[str, object] = settings(record) | {
        "judged by": record.split,
        "privacy unit": f"one {promise.unit}",
        "taken as public": ", ".join(promise.taken_as_public) or "nothing",
        "made (UTC)": record.created,
        "versions": ", ".join(
            f"{name} {version}" for name, version in record.versions.items()
        ),
    }
    if not record.public:
        facts["data"] = f"{facts['data']} (private)"
        facts["errors"] = "hidden: they are computed on private data without noise"
    return [(name, fact) for name, fact in facts.items() if fact is not None]


# ---- made again ----------------------------------------------------------------------------------


def notebook_of_run(record: RunRecord) -> str:
    """A notebook that repeats a run, exactly on public data."""
    title = algorithms.find(record.spec.algorithm).title
    return notebook(
        "run.notebook",
        title=title,
        record=record,
        keywords=fit_keywords(record.spec),
    )


def notebook_of_sweep(sweep: Sweep, metric: str) -> str:
    """A notebook that repeats every run of a sweep and draws a metric."""
    methods = [
        method.model_dump(mode="json", exclude_defaults=True)
        for method in sweep.methods
    ]
    return notebook(
        "sweep.notebook",
        data=sweep.data.id,
        methods=methods,
        keywords=sweep_keywords(sweep),
        metric=metric,
    )


def script(record: RunRecord) -> str:
    """A Python script that repeats a run, exactly on public data.

    Values of the record enter it only as literals.
    """
    title = algorithms.find(record.spec.algorithm).title
    return render(
        "script.notebook",
        title=title,
        record=record,
        keywords=fit_keywords(record.spec),
    )
