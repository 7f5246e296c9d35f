"""Ledgers as rows of a table and as text in a link; figures of a ledger that is repeated."""

import functools
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import BaseModel, Field

from dpmf_core.base.errors import BadInput, checked
from dpmf_core.privacy import Event, Gaussian, Ledger, Repeat, normal_form, sequence
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.failing_mechanisms import FailingGaussian
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.mechanisms import MECHANISMS, Mechanism
from pages.kit.controls.session_widgets import read_decimal
from pages.kit.figures import charts, colours

# mechanisms of a ledger made by hand
KINDS: dict[str, type[Mechanism]] = {
    name: kind
    for name, kind in MECHANISMS.items()
    if not issubclass(kind, FailingGaussian)
}
COLUMNS = ("noise", "noise multiplier", "times", "released", "replace-one factor")
LETTERS = {kind[0].lower(): kind for kind in KINDS}
START = "g:10:5,g:20:1"
MOST = 100_000  # releases of one row
MOST_ROWS = 40
# limits of all Laplace releases, which are composed while the page waits
MOST_LAPLACE = 10_000  # releases
MOST_LOSS = 100.0  # sum of their times / multiplier
# 0.001, 0.003, 0.01 ... 1000, 3000: so that an axis of any span has some
TICKS = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 3)]
TICK_TEXTS = [f"{tick:g}" for tick in TICKS]


def columns() -> dict[str, Any]:
    """The table's columns; decimal numbers are texts, as in `number_within`."""
    return {
        "noise": st.column_config.SelectboxColumn(
            options=list(KINDS),
            required=True,
            default="Gaussian",
            format_func=str,
        ),
        "noise multiplier": st.column_config.TextColumn(
            help="Noise scale divided by sensitivity",
            default="10",
            required=True,
            alignment="right",
        ),
        "times": st.column_config.NumberColumn(
            help="How often it is released",
            format="%.15g",
            default=1,
            required=True,
        ),
        "released": st.column_config.TextColumn(help="A name for the statistic"),
        "replace-one factor": st.column_config.TextColumn(
            help="Sensitivity to replacing a unit divided by that to removing one, 1 to 2",
            default="2",
            alignment="right",
        ),
    }


def _cell_text(number: float) -> str:
    return f"{number:.8g}"


def _cell_number(cell: Any) -> Any:
    """The number that a cell says, or the cell if it says none."""
    try:
        return read_decimal(cell)
    except ValueError:
        return cell


def table(text: str) -> pd.DataFrame:
    """Rows from `g:multiplier:times[:replace-one factor]`. Raises BadInput.

    Commas separate rows; g stands for Gaussian noise, l for Laplace noise.
    """
    parts = list(filter(None, text.split(",")))
    if len(parts) > MOST_ROWS:
        raise BadInput(
            f"A ledger in a link has at most {MOST_ROWS} rows. Got {len(parts)}."
        )
    return pd.DataFrame(
        [_release_row(part, number) for number, part in enumerate(parts, 1)],
        columns=list(COLUMNS),
    )


def checked_text(text: str) -> str:
    """A link's text that `table` reads. Raises ValueError."""
    table(text)
    return text


def _release_row(part: str, number: int) -> tuple[str, str, float, str, str]:
    kind, *texts = part.split(":")
    if len(texts) == 2:
        texts.append("2")
    try:
        multiplier, times, factor = map(float, texts)
        noise = LETTERS[kind.lower()[:1]]
        return (
            noise,
            _cell_text(multiplier),
            times,
            f"statistic {number}",
            _cell_text(factor),
        )
    except (ValueError, KeyError):
        raise BadInput(
            "Write a release in a link as g:10:5 for Gaussian noise of multiplier 10, five times;"
            f" use l for Laplace. Got '{part[:40]}'."
        ) from None


def text_of(rows: pd.DataFrame) -> str:
    """The link's text of a table that `event_of` accepts."""
    releases = []
    for noise, multiplier, times, _, factor in rows.itertuples(index=False):
        release = (
            f"{noise[0].lower()}:{_cell_text(read_decimal(multiplier))}:{times:.0f}"
        )
        replace_one_factor = read_decimal(factor)
        if replace_one_factor != 2:
            release += f":{_cell_text(replace_one_factor)}"
        releases.append(release)
    return ",".join(releases)


class _Release(BaseModel):
    """The numbers in a row of the table."""

    noise_multiplier: float = Field(ge=1e-3, le=1e9)
    times: int = Field(ge=1, le=MOST)
    replace_one_factor: float = Field(ge=1, le=2)


def event_of(rows: pd.DataFrame) -> Event:
    """The event of a table. Raises BadInput with the row and column at fault."""
    if not len(rows):
        raise BadInput("The ledger is empty: add a release with the + of the table.")
    table = rows[list(COLUMNS)].itertuples(index=False)
    return sequence(*(_release(number, *row) for number, row in enumerate(table, 1)))


def _release(number: int, noise: Any, *cells: Any) -> Event:
    if noise not in KINDS:
        got = "nothing" if pd.isna(noise) else repr(noise)
        raise BadInput(
            f"Row {number}: the noise must be one of {', '.join(KINDS)}. Got {got}."
        )
    multiplier, times, statistic, factor = (
        "" if pd.isna(cell) else cell for cell in cells
    )
    numbers = {
        "noise_multiplier": _cell_number(multiplier),
        "times": times,
        "replace_one_factor": _cell_number(factor),
    }
    row = checked(_Release, f"row {number}", numbers)
    name = str(statistic or f"row {number}")[:80]
    leaf = KINDS[noise](row.noise_multiplier, name, 1.0, row.replace_one_factor)
    return Repeat(leaf, row.times)


def rows_of(ledger: Ledger) -> pd.DataFrame:
    rows = [
        (
            leaf.mechanism,
            _cell_text(leaf.noise_multiplier),
            float(count),
            leaf.statistic,
            _cell_text(leaf.replace_one_factor),
        )
        for leaf, count in ledger
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def laplace(event: Event) -> tuple[int, float]:
    """The number of Laplace releases, and the sum of their epsilons for replacement."""
    releases = 0
    loss = 0.0
    for leaf, count in normal_form(event):
        if not isinstance(leaf, Gaussian):
            releases += count
            loss += leaf.replace_one_factor * count / leaf.noise_multiplier
    return releases, loss


def check(event: Event) -> Event:
    """The event if it can be composed quickly. Raises BadInput."""
    releases, loss = laplace(event)
    if releases > MOST_LAPLACE or loss > 2 * MOST_LOSS:
        raise BadInput(
            f"Laplace noise is composed numerically, for at most {MOST_LAPLACE:,} releases whose"
            f" times / multiplier add up to at most {MOST_LOSS:g}. Raise a multiplier or lower the"
            " number of times."
        )
    return event


# ---- figures -------------------------------------------------------------------------------------


@functools.lru_cache(64)
def totals(event: Event, delta: float) -> pd.DataFrame:
    """Times, epsilon: the exact epsilon of the repeated ledger."""
    n_laplace, _ = laplace(event)
    repeats = [1, 2, 3, 5, 10, 20, 50, 100]
    if n_laplace:  # numeric composition is slow
        repeats = [
            times for times in (1, 2, 5, 10) if times * n_laplace <= MOST_LAPLACE
        ]
    epsilons = [epsilon_of(Repeat(event, n), delta) for n in repeats]
    return pd.DataFrame({"times": repeats, "epsilon": epsilons})


@functools.lru_cache(64)
def deltas(event: Event, epsilon: float) -> pd.DataFrame:
    """Epsilon, delta: the curve from 0 to 2.5 times epsilon, above the numerical floor."""
    n_points = 81
    floor = 1e-18
    n_laplace, _ = laplace(event)
    if n_laplace:  # numeric composition is slow, and inaccurate below its floor
        n_points = 25
        floor = 1e-14
    top = max(2.5 * epsilon, 1e-3)
    epsilons = [top * step / (n_points - 1) for step in range(n_points)]
    curve = pd.DataFrame({"epsilon": epsilons})
    curve["delta"] = [delta_of(event, at) for at in epsilons]
    return curve[curve["delta"] > floor]


def draw_figures(event: Event, delta: float) -> None:
    table = totals(event, delta)
    left, right = st.columns(2, gap="large")
    with left:
        _draw_growth(table)
    with right:
        _draw_curve(deltas(event, table["epsilon"].iloc[0]), delta)


def _draw_growth(table: pd.DataFrame) -> None:
    """Draw the total epsilon by the number of repetitions, from the table of `totals`."""
    times = table["times"]
    once = table["epsilon"].iloc[0]
    last = int(times.iloc[-1])
    total = epsilon_text(table["epsilon"].iloc[-1])
    st.subheader(
        f"Repeated {last} times: ε = {total}, not {epsilon_text(last * once)}",
        anchor=False,
    )
    fig = charts.figure(
        "repetitions of the ledger",
        "total ε",
        300,
        xaxis={"type": "log", "tickvals": times},
        yaxis={"type": "log", "tickvals": TICKS, "ticktext": TICK_TEXTS},
    )
    fig.add_scatter(
        x=times,
        y=table["epsilon"],
        mode="lines+markers",
        name="exact",
        line=_exact_line(),
    )
    fig.add_scatter(
        x=times,
        y=times * once,
        mode="lines",
        name="sum of ε",
        line=_dashed_line(),
    )
    charts.show(
        fig,
        "accountant.growth",
        "Total epsilon as the ledger is repeated.",
        table,
        leaves=True,
        caption="The gap between the lines is what exact composition saves.",
    )


def _draw_curve(curve: pd.DataFrame, delta: float) -> None:
    """Draw delta by epsilon, from the curve of `deltas`."""
    st.subheader("Each ε has its own δ", anchor=False)
    fig = charts.figure("ε", "δ", 300, yaxis={"type": "log", "exponentformat": "power"})
    fig.add_scatter(
        x=curve["epsilon"],
        y=curve["delta"],
        mode="lines",
        name="δ(ε)",
        line=_exact_line(),
    )
    charts.level(fig, delta, f"δ = {delta_text(delta)}", _dashed_line())
    charts.show(
        fig,
        "accountant.delta",
        "Delta as a function of epsilon.",
        curve,
        leaves=True,
        caption="The curve meets the dashed line at the ε in the title.",
    )


def _exact_line() -> dict[str, str]:
    return {"color": colours.of("dpals")}


def _dashed_line() -> dict[str, str]:
    return {"dash": "dash", "color": colours.ink()}
