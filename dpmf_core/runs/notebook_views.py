"""Runs and sweeps as a notebook shows them.

Notebooks are stored and shared with their output, so nothing computed from raw private rows is
shown.
"""

import sys
from typing import TYPE_CHECKING

from dpmf_core.base.documents import html_table, render
from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.evaluation.registry import METRICS, title_of
from dpmf_core.runs.draws import NOISY_ERROR, Draws
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
BY_EPSILON = ("rmse", NOISY_ERROR, "objective")


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
        figures=[
            (title_of(name), value)
            for name, value in record.metrics.items()
            if name in METRICS
        ],
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
    import pandas as pd

    curves = pd.DataFrame(run.record.exported().curves)
    names = sorted(str(name) for name in curves if name != "step")
    if not names:
        raise BadInput(
            f"{run.title} has no figures by step to draw. {RAW if not run.record.public else ''}"
        )
    figure = metric or next((name for name in BY_STEP if name in names), names[0])
    if figure not in names:
        raise BadInput(f"The figures by step are {', '.join(names)}. Got '{figure}'.")
    line = curves[["step", figure]].dropna().assign(method=run.title)
    return _lines(line, "step", figure, title_of(figure))


def chart_of_draws(draws: Draws, metric: str | None = None) -> "Figure":
    """Plot medians of a figure against epsilon in Plotly.

    Each method and grid point has a line. Methods that release nothing are level. Methods without a
    proof are left out.

    Parameters
    ----------
    draws
        The draws, without raw figures of private data.
    metric
        The name of the figure.

    Returns
    -------
    Figure
        The chart.

    Raises
    ------
    BadInput
        If there is nothing to show.
    """
    import pandas as pd

    names = dict.fromkeys(name for row in draws.rows for name in row.metrics)
    available = [name for name in names if name in METRICS or name in BY_EPSILON]
    figure = metric or next((name for name in BY_EPSILON if name in available), "")
    if figure not in available:
        raise BadInput(
            f"The figures of this sweep are {', '.join(available) or 'none'}. Got '{figure}'."
            " Of private data they can be released with noise: sweep(..., noisy_errors=0.5)."
        )
    measured = draws.measured(figure)
    proven = [one for one in measured if one.epsilon is None or None not in one.totals]
    epsilons = sorted({one.epsilon for one in proven if one.epsilon is not None})
    if not epsilons:
        raise BadInput(
            f"No run of this sweep with a proven epsilon has the figure '{figure}', so there is"
            " nothing to plot. Add a private algorithm and epsilons."
        )
    rows = list[tuple[str, float, float]]()
    for one in proven:
        name = ", ".join(
            [one.label, *(f"{name} = {value}" for name, value in one.grid.items())]
        )
        ends = dict.fromkeys((epsilons[0], epsilons[-1]))
        rows += [
            (name, at, one.median)
            for at in (ends if one.epsilon is None else [one.epsilon])
        ]
    table = pd.DataFrame(rows, columns=["method", "epsilon", figure])
    title = figure
    if figure in METRICS:
        title = METRICS[figure].label
    chart = _lines(
        table.sort_values("epsilon", kind="stable"), "epsilon", figure, title
    )
    ticks = [f"{epsilon:g}" for epsilon in epsilons]
    return chart.update_xaxes(
        type="log",
        title="ε",
        tickvals=epsilons,
        ticktext=ticks,
    )


def _lines(table: "pd.DataFrame", x: str, y: str, title: str) -> "Figure":
    """A line for each method, with markers."""
    with extra("plot"):
        import plotly.express as px
    figure: Figure = px.line(
        table,
        x=x,
        y=y,
        color="method",
        markers=True,
        template="simple_white",
        labels={y: title},
    )
    return figure


def html_of_sweep(title: str, frame: "pd.DataFrame") -> str:
    """A row for every run, with epsilon if it is proved, from a table with a row for every run."""
    visible = frame.assign(
        epsilon=frame["epsilon"].where(frame["exact_epsilon"].notna())
    )
    rows = [
        ["" if cell != cell else cell for cell in row]
        for row in visible.itertuples(index=False)
    ]
    return html_table(list(visible.columns), rows, title)
