"""Make docs/RESULTS.md from benchmarks/results: `python -m benchmarks.tables`.

The text is in results.md.in, a template whose tables are made by the functions in `TOOLS`.
`make lint` compares the page with what this module makes.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined

from benchmarks.local_noise import equal_errors
from benchmarks.report import RESULTS
from dpmf_core.papers import recorded_results
from dpmf_core.papers.deviations import cost_words
from dpmf_core.papers.figures import Claim, Outcome
from dpmf_core.papers.registry import CLAIMS, DEVIATIONS, PAPERS
from dpmf_core.teaching.demonstrations import part_epsilon

PAGE = RESULTS.parents[1] / "docs" / "RESULTS.md"
TEMPLATE = RESULTS.parent / "results.md.in"
Rows = list[list[str]]


def read_csv(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / name)


def read_json(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((RESULTS / name).read_text("utf-8"))
    return record


# ---- cells ---------------------------------------------------------------------------------------


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def medians(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Median over seeds, by label and epsilon; -1 stands for no epsilon."""
    without_gaps = frame.assign(epsilon=frame["epsilon"].fillna(-1))
    return without_gaps.pivot_table(metric, "label", "epsilon", aggfunc="median")


def decimals(value: float | None, digits: int) -> str:
    """A printed number; a dash for None."""
    if pd.isna(value):
        return "-"
    return f"{value:.{digits}f}"


def spread(interval: Sequence[float]) -> str:
    """The interval of a median ratio."""
    low, high = interval
    if high < 10:
        return f"{low:.1f} to {high:.1f}"
    return f"{low:.0f} to {high:.0f}"


def minutes(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def bold_smallest(rows: Rows) -> Rows:
    """Set the smallest number of every column but the first in bold, ties included."""
    smallest = [min(column, key=number) for column in list(zip(*rows, strict=True))[1:]]

    def in_bold(cell: str, best: str) -> str:
        if number(cell) == number(best):
            return f"**{cell}**"
        return cell

    return [[row[0], *map(in_bold, row[1:], smallest)] for row in rows]


def number(cell: str) -> float:
    """The number at the start of a cell; infinity for a dash."""
    first = cell.split()[0]
    if first == "-":
        return float("inf")
    return float(first)


# ---- accuracy ------------------------------------------------------------------------------------


def by_epsilon(
    frame: pd.DataFrame,
    metric: str,
    names: Mapping[str, str],
    digits: int = 3,
    best: bool = True,
    theirs: str = "",
) -> str:
    """A table with one column per epsilon, and one without noise if any such run was made.

    names: the methods' titles by label, in this order; best: whether the smallest figure of each
    column is bold; theirs: what follows a label whose figures are set in brackets.
    """
    table = medians(frame, metric)
    ceilings = [table[-1.0].get(f"{label}, without noise") for label in names]
    epsilons = [
        epsilon
        for epsilon in table.columns
        if table.loc[list(names), epsilon].notna().any()
    ]
    head = ["ε", *(f"{epsilon:g}" for epsilon in epsilons)]
    rows = [
        [title, *_cells(table, label, epsilons, digits)]
        for label, title in names.items()
    ]
    if any(ceilings):
        head.append("no noise")
        rows = [
            [*row, decimals(ceiling, digits)]
            for row, ceiling in zip(rows, ceilings, strict=True)
        ]
    if best:
        rows = bold_smallest(rows)
    if theirs:
        rows = [
            _with_brackets(row, _cells(table, f"{label}{theirs}", epsilons, digits))
            if f"{label}{theirs}" in table.index
            else row
            for label, row in zip(names, rows, strict=True)
        ]
    return markdown(head, rows)


def _cells(
    table: pd.DataFrame, label: str, epsilons: Sequence[float], digits: int
) -> list[str]:
    return [decimals(value, digits) for value in table.loc[label, epsilons].tolist()]


def _with_brackets(row: list[str], others: list[str]) -> list[str]:
    return [
        row[0],
        *(f"{own} ({other})" for own, other in zip(row[1:], others, strict=True)),
    ]


def levels(
    frame: pd.DataFrame, metric: str, names: Mapping[str, str], digits: int = 3
) -> str:
    """`ALS 0.833, SGD-MF 0.849`: medians of methods that take no epsilon."""
    of_label = medians(frame, metric)[-1.0]
    return ", ".join(
        f"{title} {of_label[label]:.{digits}f}" for label, title in names.items()
    )


def references(frame: pd.DataFrame, metric: str, names: Mapping[str, str]) -> str:
    """What needs no model, the best known method without privacy, and others without privacy.

    names: their titles by label, in this order.
    """
    floor, best, *others = levels(frame, metric, names).split(", ")
    if others:
        also = f" Others without privacy: {', '.join(others)}."
    else:
        also = ""
    return f"Without a model: {floor}. Best known without privacy: {best}.{also}"


def sketch() -> str:
    """RMSE and divergence of a count sketch by threshold and space gain."""
    frame = read_csv("sketch-table.csv")
    frame = frame[frame["param.rank"] == 16]
    sketches = frame[frame["label"] == "Count sketch, k = 4"]
    cells = sketches.groupby(["param.space_gain", "param.threshold"])[
        ["rmse", "kl"]
    ].median()
    gains, thresholds = cells.index.levels
    rows = [
        [
            f"γ = {gain:g}",
            *(
                f"{cell.rmse:.3f} ({cell.kl:.3f})"
                for cell in cells.loc[gain].itertuples()
            ),
        ]
        for gain in gains
    ]
    plain = frame[frame["label"] == "Regular MF"]["rmse"].median()
    head = [
        "threshold ε of the source",
        *(f"{at:g}" if at < 1e6 else "none" for at in thresholds),
    ]
    return f"{markdown(head, rows)}\n\nRegular factorisation: {plain:.3f}."


def audit() -> pd.DataFrame:
    """Lower bounds by algorithm, faults last; without those of the sketch."""
    frame = read_csv("audit.csv")
    private = frame[frame["algorithm"] != "sketch"]
    return private.sort_values(
        ["broken", "at least"], ascending=[True, False], kind="stable"
    )


# ---- the claims of the source papers -------------------------------------------------------------


def claims() -> str:
    """All claims by paper: the verdict, and how many of its statements hold."""
    outcomes = [
        result.verdict(claim).outcome
        for claim in CLAIMS.values()
        if (result := recorded_results.recorded_result(claim.id))
    ]
    first = (
        f"{len(CLAIMS)} claims, {len(outcomes)} of them measured:"
        f" {outcomes.count(Outcome.REPRODUCED)} reproduced,"
        f" {outcomes.count(Outcome.DIFFERS)} differ,"
        f" {outcomes.count(Outcome.CANNOT_BE_JUDGED)} cannot be judged on the data at hand,"
        f" {outcomes.count(Outcome.NEVER)} never."
    )
    head = ["claim", "verdict", "statements that hold"]
    papers = [
        f"### {paper.short}\n\n{markdown(head, [_claim(claim) for claim in paper.claims])}"
        for paper in PAPERS.values()
    ]
    return "\n\n".join([first, *papers])


def _claim(claim: Claim) -> list[str]:
    """A claim as a row."""
    place = claim.source.partition(", ")[2]
    result = recorded_results.recorded_result(claim.id)
    if result is None:
        return [f"{place}: {claim.title}", "not measured", "-"]
    verdict = result.verdict(claim)
    hold = sum(clause.holds for clause in verdict.clauses)
    statements = f"{hold} of {len(verdict.clauses)}"
    return [f"{place}: {claim.title}", verdict.outcome.lower(), statements]


def deviations() -> str:
    """Where our algorithms depart from those of each paper, and the cost of each."""
    head = ["algorithm", "place", "the paper", "ours", "cost"]
    tables = []
    for paper, by_algorithm in DEVIATIONS.items():
        rows = [
            [f"`{name}`", one.place, one.paper, one.ours, cost_words(name, one)]
            for name, several in by_algorithm.items()
            for one in several
        ]
        tables.append(
            f"### {PAPERS[paper].short}: deviations\n\n{markdown(head, rows)}"
        )
    return "\n\n".join(tables)


# ---- the page ------------------------------------------------------------------------------------

TOOLS = (
    read_csv,
    read_json,
    markdown,
    decimals,
    spread,
    minutes,
    by_epsilon,
    levels,
    references,
    sketch,
    audit,
    claims,
    deviations,
    equal_errors,
    part_epsilon,
)


def page() -> str:
    """The whole of docs/RESULTS.md."""
    environment = Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,
    )
    environment.globals |= {tool.__name__: tool for tool in TOOLS}
    return environment.from_string(TEMPLATE.read_text("utf-8")).render()


def main() -> None:
    """Write the page; with --check, exit with 1 if it differs."""
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(), "utf-8")
    elif PAGE.read_text("utf-8") != page():
        sys.exit("docs/RESULTS.md is not what `python -m benchmarks.tables` makes.")


if __name__ == "__main__":
    main()
