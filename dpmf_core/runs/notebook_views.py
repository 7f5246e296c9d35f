"""Runs and sweeps as a notebook shows them.

Notebooks are stored and shared with their output, so nothing computed from raw private rows is
shown.
"""

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from dpmf_core.base.documents import html_table, render
from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.evaluation.registry import METRICS, title_of
from dpmf_core.runs.line_charts import Points
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import BY_STEP

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

RAW = (
    "Errors are hidden because they are computed on private data without noise"
    " (run.record.metrics)."
)
BY_EPSILON = ("rmse", "noisy_rmse", "objective")


def register() -> None:
    """Show runs and ledgers as tables if IPython runs."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        views = shell.display_formatter.formatters["text/html"]
        views.for_type(Run, html_of_run)
        views.for_type(PrivacyRecord, html_of_privacy)


def html_of_run(run: Run) -> str:
    """The specification of a run, its loss and guarantee, its figures and its ledger."""
    record = run.record.exported()
    return render(
        "run.html",
        summary=run.summary,
        figures=[(title_of(name), it) for name, it in record.metrics.items() if name in METRICS],
        without_figures=RAW,
        record=record,
    )


def html_of_privacy(record: PrivacyRecord) -> str:
    """A guarantee, the releases, and their cost by every rule."""
    return render("privacy.html", record=record)


def plot(run: Run, metric: str | None = None) -> "Figure":
    """Draw a figure of a run by step in Plotly.

    Parameters
    ----------
    run
        What `fit` returned.
    metric
        The name of a figure; by default the held-out error.

    Returns
    -------
    Figure
        A notebook shows it.

    Raises
    ------
    BadInput
        If the run has no such figure, for example because its data are private, or if plotly is not
        installed.

    Examples
    --------
    >>> import dpmf
    >>> model = dpmf.fit("cinema-small", "als", rank=2, steps=3, keep=False)
    >>> len(dpmf.plot(model).data)
    1
    """
    curves = run.record.exported().curves
    names = sorted({name for point in curves for name in point} - {"step"})
    if not curves:
        raise BadInput(
            f"{run.title} has no figures by step to draw. {RAW if not run.record.public else ''}"
        )
    figure = metric or next((it for it in BY_STEP if it in names), names[0])
    if figure not in names:
        raise BadInput(f"The figures by step are {', '.join(names)}. Got '{figure}'.")
    line = [
        (float(point["step"] or 0), float(value))
        for point in curves
        if (value := point.get(figure)) is not None
    ]
    return _plotly_lines({run.title: line}, "step", title_of(figure))


def chart_of_sweep(
    frame: "pd.DataFrame", metric: str | None = None, parameters: Collection[str] = ()
) -> "Figure":
    """Plot medians of a figure against epsilon in Plotly.

    There is a line for each method and grid point; methods that release nothing are level, and
    methods without a proof are left out. frame: a row for every run. parameters: the grid's
    parameters. Raises BadInput if there is nothing to show.
    """
    available = [name for name in frame.columns if name in METRICS or name in BY_EPSILON]
    figure = metric or next((name for name in BY_EPSILON if name in available), "")
    if figure not in available:
        raise BadInput(
            f"The figures of this sweep are {', '.join(available) or 'none'}. Got '{figure}'."
            " Of private data they can be released with noise: sweep(..., noisy_errors=0.5)."
        )
    proven_rows = frame[frame["epsilon"].isna() | frame["exact_epsilon"].notna()]
    epsilons = proven_rows["epsilon"].dropna()
    if not len(epsilons):
        raise BadInput(
            "No run of this sweep has a proven epsilon, so there is nothing to plot against. Add a"
            " private algorithm and epsilons."
        )
    ends = (float(epsilons.min()), float(epsilons.max()))
    lines: dict[str, Points] = {}
    keys = ["label", *(f"param.{name}" for name in parameters if f"param.{name}" in frame)]
    for key, rows in proven_rows.groupby(keys, sort=False, dropna=False):
        values = [f"{a.removeprefix('param.')} = {b}" for a, b in zip(keys, key, strict=True)][1:]
        if points := _medians(rows, figure, ends):
            lines[", ".join([str(key[0]), *values])] = points
    if not lines:
        raise BadInput(f"No run of this sweep has the figure '{figure}'. Choose another one.")
    title = METRICS[figure].label if figure in METRICS else figure
    at = sorted({x for line in lines.values() for x, _ in line})
    ticks = {"tickvals": at, "ticktext": [f"{x:g}" for x in at]}
    return _plotly_lines(lines, "ε", title).update_xaxes(type="log", **ticks)


def _plotly_lines(lines: dict[str, Points], across: str, upwards: str) -> "Figure":
    with extra("app"):
        import plotly.graph_objects as go
    figure = go.Figure()
    for name, points in lines.items():
        x, y = zip(*points, strict=True)
        figure.add_scatter(x=x, y=y, name=name, mode="lines+markers")
    figure.update_xaxes(title=across)
    figure.update_yaxes(title=upwards)
    return figure.update_layout(showlegend=True, template="simple_white")


def html_of_sweep(title: str, frame: "pd.DataFrame") -> str:
    """A row for every run, with epsilon if it is proved. frame: see `chart_of_sweep`."""
    visible = frame.assign(epsilon=frame["epsilon"].where(frame["exact_epsilon"].notna()))
    rows = [["" if it != it else it for it in row] for row in visible.itertuples(index=False)]
    return html_table(list(visible.columns), rows, title)


def _medians(rows: "pd.DataFrame", metric: str, ends: tuple[float, float]) -> Points:
    """Medians by epsilon, lowest first; if nothing is released, a level line between both ends."""
    valid_rows = rows.dropna(subset=[metric])
    level = valid_rows[valid_rows["epsilon"].isna()][metric]
    if len(level):
        return [(end, float(level.median())) for end in dict.fromkeys(ends)]
    at = sorted(set(valid_rows["epsilon"].tolist()))
    return [
        (float(it), float(valid_rows[valid_rows["epsilon"] == it][metric].median())) for it in at
    ]
