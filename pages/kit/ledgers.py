"""Ledgers as rows of a table and as text in a link."""

import math
from typing import Any

import pandas as pd

from dpmf_core.errors import BadInput
from dpmf_core.privacy import Event, Gaussian, Laplace, Ledger, Repeat, normal_form, sequence

COLUMNS = ("noise", "noise multiplier", "times", "released", "replace-one factor")
KINDS = {"Gaussian": Gaussian, "Laplace": Laplace}
MOST = 100_000  # releases of one row
START = "Gaussian:10:5,Gaussian:20:1"


def table(text: str) -> pd.DataFrame:
    """Rows of `noise:multiplier:times[:factor]`, with commas between. Raises BadInput."""
    rows = []
    for part in filter(None, text.split(",")):
        noise, *numbers = part.split(":")
        try:
            z, times, factor = (float(number) for number in (*numbers, "2")[:3])
        except ValueError:
            raise BadInput(f"A release in the link is written like Gaussian:10:5. Got '{part[:40]}'.") from None
        rows.append((noise, z, int(times) if math.isfinite(times) else 0, f"statistic {len(rows) + 1}", factor))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def text_of(rows: pd.DataFrame) -> str:
    """The link's text of a table."""
    return ",".join(f"{row[0]}:{row[1]:g}:{row[2]:.0f}" + ("" if row[4] == 2 else f":{row[4]:.6g}") for row in rows.itertuples(index=False))


def _within(value: Any, low: float, high: float, place: str, what: str) -> float:
    number = float("nan") if value is None else float(value)
    if not low <= number <= high:
        raise BadInput(f"{place}: the {what} must be from {low:g} to {high:g}. Got {'nothing' if math.isnan(number) else f'{number:g}'}.")
    return number


def event_of(rows: pd.DataFrame) -> Event:
    """The event that a table describes. Raises BadInput naming the row and the column that cannot be used."""
    if not len(rows):
        raise BadInput("The ledger is empty: add a release with the + of the table.")
    return sequence(*(_release(f"Row {number}", *row) for number, row in enumerate(rows[list(COLUMNS)].itertuples(index=False), 1)))


def _release(place: str, noise: str, multiplier: Any, times: Any, statistic: Any, factor: Any) -> Event:
    if noise not in KINDS:
        raise BadInput(f"{place}: the noise must be Gaussian or Laplace. Got {noise!r}.")
    name = place.lower() if pd.isna(statistic) or not str(statistic) else str(statistic)[:80]
    count = _within(times, 1, MOST, place, "number of times")
    z = _within(multiplier, 1e-3, 1e9, place, "noise multiplier")
    return Repeat(KINDS[noise](z, name, 1.0, _within(factor, 1, 2, place, "replace-one factor")), int(count))


def rows_of(ledger: Ledger) -> pd.DataFrame:
    """The table of a ledger."""
    rows = [(leaf.mechanism, leaf.noise_multiplier, count, leaf.statistic, leaf.replace_one_factor) for leaf, count in ledger]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def rows_of_record(record: dict[str, Any]) -> pd.DataFrame:
    """The table of a stored run's ledger."""
    rows = [(row["mechanism"], row["noise_multiplier"], row["count"], row["statistic"], row["replace_one_factor"]) for row in record["ledger"]]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def all_gaussian(event: Event) -> bool:
    return all(isinstance(leaf, Gaussian) for leaf, _ in normal_form(event))
