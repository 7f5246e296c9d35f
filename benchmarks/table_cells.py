"""What the tables of docs/RESULTS.md are made with: figures of benchmarks/results, and Markdown."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchmarks.report import RESULTS

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
    """A number as it is printed; a dash for none."""
    return "-" if pd.isna(value) else f"{value:.{digits}f}"


def bold_smallest(rows: Rows) -> Rows:
    """The smallest number of every column but the first in bold, all of them where several tie."""
    smallest = [min(column, key=number) for column in list(zip(*rows, strict=True))[1:]]

    def in_bold(cell: str, best: str) -> str:
        return f"**{cell}**" if number(cell) == number(best) else cell

    return [[row[0], *map(in_bold, row[1:], smallest)] for row in rows]


def number(cell: str) -> float:
    """The number that a cell begins with; infinity for a dash."""
    first = cell.split()[0]
    return float("inf") if first == "-" else float(first)


def by_epsilon(
    frame: pd.DataFrame, metric: str, names: Mapping[str, str], digits: int = 3
) -> tuple[list[str], Rows]:
    """Head and rows of a table with a column for each epsilon, methods in the order of names."""
    table = medians(frame[frame["label"].isin(names)], metric)
    head = [f"{epsilon:g}" for epsilon in table.columns]
    rows = [
        [title, *(decimals(value, digits) for value in table.loc[label].tolist())]
        for label, title in names.items()
    ]
    return ["ε", *head], rows


def without_epsilon(frame: pd.DataFrame, metric: str, names: Mapping[str, str]) -> str:
    """`ALS 0.833, SGD-MF 0.849`: medians of methods that take no epsilon."""
    rows = frame[frame["label"].isin(names) & frame["epsilon"].isna()]
    values = rows.groupby("label")[metric].median()
    return ", ".join(f"{title} {values[label]:.3f}" for label, title in names.items())
