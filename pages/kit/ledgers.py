"""Ledgers as rows of a table, as text in a link, and the figures that are drawn of them."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.privacy import Event, Gaussian, Guarantee, Ledger, Relation, Repeat, Status, normal_form, sequence
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.claims import Claim
from dpmf_core.privacy.events import MECHANISMS, FailingGaussian, Mechanism, event_of_rows
from dpmf_core.privacy.printed import budget_text

KINDS: dict[str, type[Mechanism]] = {name: kind for name, kind in MECHANISMS.items() if not issubclass(kind, FailingGaussian)}  # of a ledger made by hand
COLUMNS: dict[str, Any] = {
    "noise": st.column_config.SelectboxColumn(options=list(KINDS), required=True, default="Gaussian"),
    "noise multiplier": st.column_config.NumberColumn(help="Noise scale over sensitivity", format="%.4g", default=10.0, required=True),
    "times": st.column_config.NumberColumn(help="How often it is released", format="%.15g", default=1.0, required=True),
    "released": st.column_config.TextColumn(help="A name for the statistic"),
    "replace-one factor": st.column_config.NumberColumn(help="How much more replacing a unit moves it, 1 to 2", format="%.4g", default=2.0),
}
LETTERS = {kind[0].lower(): kind for kind in KINDS}
START = "g:10:5,g:20:1"
MOST = 100_000  # releases of one row
MOST_ROWS = 40
MOST_LAPLACE, MOST_LOSS = 10_000, 100.0  # in all: releases, and the sum of times / multiplier; composed while the page waits


# ---- as text --------------------------------------------------------------------------------------------------------


def table(text: str) -> pd.DataFrame:
    """Rows of `g:multiplier:times[:replace-one factor]`, l for Laplace, with commas between. Raises BadInput."""
    parts = list(filter(None, text.split(",")))
    if len(parts) > MOST_ROWS:
        raise BadInput(f"A ledger in a link has at most {MOST_ROWS} rows. Got {len(parts)}.")
    return pd.DataFrame([_parsed(part, number) for number, part in enumerate(parts, 1)], columns=list(COLUMNS))


def linked(text: str) -> tuple[pd.DataFrame, str]:
    """The table of a link, or an example and what is wrong with the link."""
    try:
        return table(text), ""
    except BadInput as error:
        return table(START), str(error)


def _parsed(part: str, number: int) -> tuple[str, float, float, str, float]:
    kind, *numbers = part.split(":")
    try:
        z, times, factor = (float(text) for text in ([*numbers, "2"] if len(numbers) == 2 else numbers))
        return LETTERS[kind.lower()[:1]], z, times, f"statistic {number}", factor
    except (ValueError, KeyError):
        raise BadInput(f"A release in a link is written g:10:5, for Gaussian noise of multiplier 10, five times; l for Laplace. Got '{part[:40]}'.") from None


def text_of(rows: pd.DataFrame) -> str:
    """The link's text of a table that `event_of` accepts."""
    return ",".join(f"{row[0][0].lower()}:{row[1]:.8g}:{row[2]:.0f}" + ("" if row[4] == 2 else f":{row[4]:.8g}") for row in rows.itertuples(index=False))


# ---- as a table -----------------------------------------------------------------------------------------------------


def _within(value: Any, low: float, high: float, place: str, what: str) -> float:
    number = float("nan") if pd.isna(value) else float(value)
    if not low <= number <= high:
        raise BadInput(f"{place}: the {what} must be from {low:,g} to {high:,.0f}. Got {'nothing' if math.isnan(number) else f'{number:,g}'}.")
    return number


def event_of(rows: pd.DataFrame) -> Event:
    """The event that a table describes. Raises BadInput naming the row and the column that cannot be used."""
    if not len(rows):
        raise BadInput("The ledger is empty: add a release with the + of the table.")
    return sequence(*(_release(f"Row {number}", *row) for number, row in enumerate(rows[list(COLUMNS)].itertuples(index=False), 1)))


def _release(place: str, noise: Any, multiplier: Any, times: Any, statistic: Any, factor: Any) -> Event:
    if noise not in KINDS:
        raise BadInput(f"{place}: the noise must be one of {', '.join(KINDS)}. Got {'nothing' if pd.isna(noise) else repr(noise)}.")
    name = place.lower() if pd.isna(statistic) or not str(statistic) else str(statistic)[:80]
    z = _within(multiplier, 1e-3, 1e9, place, "noise multiplier")
    count = _within(times, 1, MOST, place, "number of times")
    if count != int(count):
        raise BadInput(f"{place}: the number of times must be a whole number. Got {count:g}.")
    return Repeat(KINDS[noise](z, name, 1.0, _within(factor, 1, 2, place, "replace-one factor")), int(count))


def rows_of(ledger: Ledger) -> pd.DataFrame:
    """The table of a ledger."""
    rows = [(leaf.mechanism, leaf.noise_multiplier, float(count), leaf.statistic, leaf.replace_one_factor) for leaf, count in ledger]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def event_of_record(record: Mapping[str, Any]) -> Event:
    """The event of a stored run."""
    return event_of_rows(record["ledger"])


def guarantee_of_record(record: Mapping[str, Any]) -> Guarantee:
    """The guarantee of a stored run; of its assumptions a record holds the words."""
    said = record["guarantee"]
    assumed = said["words"].partition("provided that ")[2].removesuffix(".")
    return Guarantee(Status(said["status"]), said["unit"], (assumed,) if assumed else (), tuple(said["taken_as_public"]))


# ---- figures of it --------------------------------------------------------------------------------------------------


def _laplace(event: Event) -> tuple[int, float]:
    """How many Laplace releases there are, and the sum of their epsilons when a unit is replaced."""
    parts = [(count, leaf.replace_one_factor * count / leaf.noise_multiplier) for leaf, count in normal_form(event) if not isinstance(leaf, Gaussian)]
    return sum(count for count, _ in parts), sum(loss for _, loss in parts)


def check(event: Event) -> Event:
    """The event, if it can be composed while a person waits. Raises BadInput."""
    releases, loss = _laplace(event)
    if releases > MOST_LAPLACE or loss > 2 * MOST_LOSS:
        raise BadInput(
            f"Laplace noise is composed numerically: at most {MOST_LAPLACE:,} such releases, with times / multiplier at most {MOST_LOSS:g} in all. "
            "Raise a multiplier or lower the number of times."
        )
    return event


def costs_of(claims: Sequence[Claim], nominal: float) -> pd.DataFrame:
    """What each claim's noise costs over a whole run."""
    return pd.DataFrame([{"the same noise": claim.title, "nominal ε": budget_text(nominal)} | _exact(claim) for claim in claims])


def _exact(claim: Claim) -> dict[str, str]:
    return {f"exact total ε, {relation}": f"{epsilon_of(claim.event, claim.delta, relation):.3f}" for relation in Relation}


@functools.lru_cache(64)
def _totals(ledger: Ledger, delta: float) -> pd.DataFrame:
    event = sequence(*(Repeat(leaf, count) for leaf, count in ledger))
    repeats = [n for n in ((1, 2, 5, 10) if _laplace(event)[0] else (1, 2, 3, 5, 10, 20, 50, 100)) if _laplace(Repeat(event, n))[0] <= MOST_LAPLACE]
    return pd.DataFrame({"times": repeats, "epsilon": [epsilon_of(Repeat(event, n), delta) for n in repeats]})


def totals(event: Event, delta: float) -> pd.DataFrame:
    """Exact epsilon of the whole ledger, repeated. Columns: times, epsilon."""
    return _totals(normal_form(event), delta).copy()


@functools.lru_cache(64)
def _deltas(ledger: Ledger, top: float, points: int) -> pd.DataFrame:
    event = sequence(*(Repeat(leaf, count) for leaf, count in ledger))
    floor = 1e-14 if _laplace(event)[0] else 1e-18  # numeric composition tells nothing below
    epsilons = [top * step / (points - 1) for step in range(points)]
    curve = pd.DataFrame({"epsilon": epsilons, "delta": [delta_of(event, eps) for eps in epsilons]})
    return curve[curve["delta"] > floor]


def deltas(event: Event, epsilon: float) -> pd.DataFrame:
    """delta(epsilon) from 0 to 2.5 times the given one, as far as it can be drawn. Columns: epsilon, delta."""
    return _deltas(normal_form(event), max(2.5 * epsilon, 1e-3), 25 if _laplace(event)[0] else 81).copy()
