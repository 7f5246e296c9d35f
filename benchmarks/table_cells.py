"""Helpers for the tables of docs/RESULTS.md: recorded figures and claims, and Markdown."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchmarks.report import RESULTS
from dpmf_core.papers import results
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS, PAPERS
from dpmf_core.papers.results import ClaimResult

Rows = list[list[str]]


def read_csv(name: str) -> pd.DataFrame:
    """A table of benchmarks/results."""
    return pd.read_csv(RESULTS / name)


def read_json(name: str) -> dict[str, Any]:
    """A record of benchmarks/results."""
    record: dict[str, Any] = json.loads((RESULTS / name).read_text("utf-8"))
    return record


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def medians(frame: pd.DataFrame, metric: str, along: str = "epsilon") -> pd.DataFrame:
    """Median over seeds, by label and the values of a column; -1 stands for no value."""
    without_gaps = frame.assign(**{along: frame[along].fillna(-1)})
    return without_gaps.pivot_table(metric, "label", along, aggfunc="median")


def decimals(value: float, digits: int) -> str:
    """A printed number; a dash for None."""
    return "-" if pd.isna(value) else f"{value:.{digits}f}"


def bold_smallest(rows: Rows) -> Rows:
    """Set the smallest number of every column but the first in bold, ties included."""
    smallest = [min(column, key=number) for column in list(zip(*rows, strict=True))[1:]]

    def in_bold(cell: str, best: str) -> str:
        return f"**{cell}**" if number(cell) == number(best) else cell

    return [[row[0], *map(in_bold, row[1:], smallest)] for row in rows]


def number(cell: str) -> float:
    """The number at the start of a cell; infinity for a dash."""
    first = cell.split()[0]
    return float("inf") if first == "-" else float(first)


def by_epsilon(
    frame: pd.DataFrame, metric: str, names: Mapping[str, str], digits: int = 3
) -> tuple[list[str], Rows]:
    """Head and rows of a table with one column per epsilon; methods in the order of names."""
    table = medians(frame[frame["label"].isin(names)], metric)
    head = [f"{epsilon:g}" for epsilon in table.columns]
    rows = [
        [title, *(decimals(value, digits) for value in table.loc[label].tolist())]
        for label, title in names.items()
    ]
    return ["ε", *head], rows


def with_ceilings(
    frame: pd.DataFrame, metric: str, names: Mapping[str, str], digits: int = 3
) -> tuple[list[str], Rows]:
    """`by_epsilon` with a last column for the same methods without noise, if any was run."""
    head, rows = by_epsilon(frame, metric, names, digits)
    levels = medians(frame, metric)[-1.0]
    ceilings = [levels.get(f"{label}, without noise") for label in names]
    if not any(ceilings):
        return head, rows
    last = [decimals(it, digits) for it in ceilings]
    return [*head, "no noise"], [[*row, it] for row, it in zip(rows, last, strict=True)]


def references(frame: pd.DataFrame, metric: str, names: Mapping[str, str]) -> str:
    """Guessing, the best known method without privacy, and others without privacy.

    names: their titles by label, in this order.
    """
    guess, best, *others = without_epsilon(frame, metric, names).split(", ")
    also = f" Others without privacy: {', '.join(others)}." if others else ""
    return f"Guessing: {guess}. Best known without privacy: {best}.{also}"


def without_epsilon(frame: pd.DataFrame, metric: str, names: Mapping[str, str]) -> str:
    """`ALS 0.833, SGD-MF 0.849`: medians of methods that take no epsilon."""
    levels = medians(frame, metric)[-1.0]
    return ", ".join(f"{title} {levels[label]:.3f}" for label, title in names.items())


# ---- the claims of the source papers -------------------------------------------------------------


def claims() -> str:
    """All claims by paper: the verdict, and how many of its statements hold."""
    outcomes = [
        result.verdict(claim).outcome
        for claim in CLAIMS.values()
        if (result := recorded_result(claim))
    ]
    first = (
        f"{len(CLAIMS)} claims, {len(outcomes)} of them measured:"
        f" {outcomes.count(Outcome.REPRODUCED)} reproduced,"
        f" {outcomes.count(Outcome.DIFFERS)} differ,"
        f" {outcomes.count(Outcome.CANNOT_BE_JUDGED)} cannot be judged on the data at hand."
    )
    head = ["claim", "verdict", "statements that hold"]
    papers = [
        f"### {paper.short}\n\n{markdown(head, [_claim(claim) for claim in paper.claims])}"
        for paper in PAPERS.values()
    ]
    return "\n\n".join([first, *papers])


def recorded_result(claim: Claim) -> ClaimResult | None:
    """The recorded result of the larger size."""
    return results.recorded_result(claim.id, "full") or results.recorded_result(claim.id, "page")


def _claim(claim: Claim) -> list[str]:
    """A claim as a row."""
    place = claim.source.partition(", ")[2]
    result = recorded_result(claim)
    if result is None:
        return [f"{place}: {claim.title}", "not measured", "-"]
    verdict = result.verdict(claim)
    hold = sum(clause.holds for clause in verdict.clauses)
    statements = f"{hold} of {len(verdict.clauses)}"
    return [f"{place}: {claim.title}", verdict.outcome.lower(), statements]
