"""Ledgers as rows of a table, as text in a link, and the figures that are drawn of them."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers.source_noise import SourceNoise
from dpmf_core.privacy import (
    Event,
    Gaussian,
    Ledger,
    Relation,
    Repeat,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.failing_mechanisms import FailingGaussian
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.mechanisms import MECHANISMS, Mechanism

# of a ledger made by hand
KINDS: dict[str, type[Mechanism]] = {
    name: kind for name, kind in MECHANISMS.items() if not issubclass(kind, FailingGaussian)
}
COLUMNS = ("noise", "noise multiplier", "times", "released", "replace-one factor")
LETTERS = {kind[0].lower(): kind for kind in KINDS}
START = "g:10:5,g:20:1"
MOST = 100_000  # releases of one row
MOST_ROWS = 40
NOTHING = "nothing"
RELATIONS = {
    Relation.ADD_REMOVE: "add-remove",
    Relation.REPLACE_ONE: "replace-one",
}
# in all: releases, and the sum of times / multiplier; composed while the page waits
MOST_LAPLACE, MOST_LOSS = 10_000, 100.0


def columns() -> dict[str, Any]:
    """How each column is edited."""
    of = st.column_config
    return {
        "noise": of.SelectboxColumn(
            "noise",
            options=list(KINDS),
            required=True,
            default="Gaussian",
            format_func=str,
        ),
        "noise multiplier": of.NumberColumn(
            "noise multiplier",
            help="Noise scale over sensitivity",
            format="%.4g",
            default=10.0,
            required=True,
        ),
        "times": of.NumberColumn(
            "times",
            help="How often it is released",
            format="%.15g",
            default=1.0,
            required=True,
        ),
        "released": of.TextColumn("released", help="A name for the statistic"),
        "replace-one factor": of.NumberColumn(
            "replace-one factor",
            help="How much more replacing a unit moves it, 1 to 2",
            format="%.4g",
            default=2.0,
        ),
    }


# ---- as text -------------------------------------------------------------------------------------


def table(text: str) -> pd.DataFrame:
    """Rows of `g:multiplier:times[:replace-one factor]`, l for Laplace, with commas between.

    Raises BadInput.
    """
    parts = list(filter(None, text.split(",")))
    if len(parts) > MOST_ROWS:
        raise BadInput(f"A ledger in a link has at most {MOST_ROWS} rows. Got {len(parts)}.")
    return pd.DataFrame(
        [_release_row(part, number) for number, part in enumerate(parts, 1)], columns=list(COLUMNS)
    )


def from_link(text: str) -> tuple[pd.DataFrame, str]:
    """The table of a link, or an example and what is wrong with the link."""
    try:
        return table(text), ""
    except BadInput as error:
        return table(START), error.args[0]


def _release_row(part: str, number: int) -> tuple[str, float, float, str, float]:
    kind, *numbers = part.split(":")
    try:
        z, times, factor = (
            float(text) for text in ([*numbers, "2"] if len(numbers) == 2 else numbers)
        )
        name = f"statistic {number}"
        return LETTERS[kind.lower()[:1]], z, times, name, factor
    except (ValueError, KeyError):
        raise BadInput(
            "A release in a link is written g:10:5, for Gaussian noise of multiplier 10, five"
            f" times; l for Laplace. Got '{part[:40]}'."
        ) from None


def text_of(rows: pd.DataFrame) -> str:
    """The link's text of a table that `event_of` accepts."""
    return ",".join(
        f"{row[0][0].lower()}:{row[1]:.8g}:{row[2]:.0f}" + ("" if row[4] == 2 else f":{row[4]:.8g}")
        for row in rows.itertuples(index=False)
    )


# ---- as a table ----------------------------------------------------------------------------------


def _within(value: Any, low: float, high: float, place: str, what: str) -> float:
    """The number in a cell. place, what: its row and its column, in phrases."""
    number = float("nan") if pd.isna(value) else float(value)
    if not low <= number <= high:
        raise BadInput(
            "{place}: the {what} must be from {low:,g} to {high:,.0f}. Got {got}.".format(
                place=place,
                what=what,
                low=low,
                high=high,
                got=NOTHING if math.isnan(number) else f"{number:,g}",
            )
        )
    return number


def event_of(rows: pd.DataFrame) -> Event:
    """The event that a table describes.

    Raises BadInput naming the row and the column that cannot be used.
    """
    if not len(rows):
        raise BadInput("The ledger is empty: add a release with the + of the table.")
    return sequence(
        *(
            _release(number, *row)
            for number, row in enumerate(rows[list(COLUMNS)].itertuples(index=False), 1)
        )
    )


def _release(
    number: int, noise: Any, multiplier: Any, times: Any, statistic: Any, factor: Any
) -> Event:
    place = f"Row {number}"
    if noise not in KINDS:
        raise BadInput(
            "{place}: the noise must be one of {kinds}. Got {got}.".format(
                place=place, kinds=", ".join(KINDS), got=NOTHING if pd.isna(noise) else repr(noise)
            )
        )
    name = str(statistic)[:80]
    if pd.isna(statistic) or not name:
        name = f"row {number}"
    z = _within(multiplier, 1e-3, 1e9, place, "noise multiplier")
    count = _within(times, 1, MOST, place, "number of times")
    if count != int(count):
        raise BadInput(f"{place}: the number of times must be a whole number. Got {count:g}.")
    moves = _within(factor, 1, 2, place, "replace-one factor")
    return Repeat(KINDS[noise](z, name, 1.0, moves), int(count))


def rows_of(ledger: Ledger) -> pd.DataFrame:
    """The table of a ledger."""
    rows = [
        (
            leaf.mechanism,
            leaf.noise_multiplier,
            float(count),
            leaf.statistic,
            leaf.replace_one_factor,
        )
        for leaf, count in ledger
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


# ---- figures of it -------------------------------------------------------------------------------


def laplace(event: Event) -> tuple[int, float]:
    """How many Laplace releases there are, and the sum of their epsilons when a unit is
    replaced.
    """
    parts = [
        (count, leaf.replace_one_factor * count / leaf.noise_multiplier)
        for leaf, count in normal_form(event)
        if not isinstance(leaf, Gaussian)
    ]
    return sum(count for count, _ in parts), sum(loss for _, loss in parts)


def check(event: Event) -> Event:
    """The event, if it can be composed while a person waits. Raises BadInput."""
    releases, loss = laplace(event)
    if releases > MOST_LAPLACE or loss > 2 * MOST_LOSS:
        raise BadInput(
            f"Laplace noise is composed numerically: at most {MOST_LAPLACE:,} such releases,"
            f" with times / multiplier at most {MOST_LOSS:g} in all. Raise a multiplier or"
            " lower the number of times."
        )
    return event


def costs_of(claims: Sequence[SourceNoise], nominal: float) -> pd.DataFrame:
    """What each claim's noise costs over a whole run."""
    return pd.DataFrame(
        [
            {
                "the same noise": claim.title,
                "nominal ε": budget_text(nominal),
            }
            | _exact(claim)
            for claim in claims
        ]
    )


def _exact(claim: SourceNoise) -> dict[str, str]:
    return {
        f"exact total ε, {words}": f"{epsilon_of(claim.event, claim.delta, relation):.3f}"
        for relation, words in RELATIONS.items()
    }
