"""Results as a terminal shows them: JSON, tables, and runs in words. It loads little."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpmf_core.runs.privacy_record import PrivacyRecord
    from dpmf_core.runs.record import RunRecord

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on standard output, nothing else."
)
# colours of a guarantee's status; `click.echo` removes them if the output is not a terminal
COLOURS = {"PROVEN": "green", "CONDITIONAL": "yellow", "UNPROVEN": "red"}


def show(as_json: bool, value: Any, words: str) -> None:
    """Print a result as one JSON value or in words."""
    from dpmf_core.base.documents import to_json  # not needed to serve the app

    click.echo(to_json(value) if as_json else words)


def number(value: Any, digits: int = 3) -> str:
    """At most `digits` decimals; a dash if there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as their widest cell, numbers aligned right."""
    columns = []
    for title, *cells in zip(head, *rows, strict=True):
        texts = [str(cell) for cell in cells]
        width = max(map(len, (title, *texts)))
        is_right = texts and all(text[:1].isdigit() or text in ("-", "") for text in texts)
        line = [title, "-" * width, *texts]
        columns.append([it.rjust(width) if is_right else it.ljust(width) for it in line])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def minute(moment: str) -> str:
    """A moment in ISO format, to the minute."""
    return moment[:16].replace("T", " ")


def privacy(record: "PrivacyRecord", *more: str) -> str:
    """Epsilon in full, further lines about it, every rule's figure, the ledger, the guarantee."""
    parts = [record.loss.replace("ε", "epsilon").replace("δ", "delta"), *more]
    if rules := record.rules:
        parts.append("by every rule: " + "; ".join(map(" ".join, rules)))
    if record.ledger:
        head = ["released", "noise", "sensitivity", "noise multiplier", "count"]
        rows = [
            [
                *(it.statistic, it.mechanism, f"{it.sensitivity:.4g}"),
                *(f"{it.noise_multiplier:.4g}", it.count),
            ]
            for it in record.ledger
        ]
        parts.append(table(head, rows))
    if record.guarantee.has_epsilon and record.epsilon.exact is None:
        return "\n".join(parts)  # nothing is proved at this delta
    status = record.guarantee.status
    tint = COLOURS.get(status)
    parts.append(f"{click.style(status, fg=tint, bold=True)}: {record.guarantee.words}")
    return "\n".join(parts)


def sentence(record: "RunRecord") -> str:
    """What was done, in one sentence with numbers."""
    shape, spec, figures = record.shape, record.spec, record.metrics
    counts = (
        f"{shape['n_users']:,} users, {shape['n_items']:,} items"
        if "n_users" in shape
        else f"{shape['n_samples']:,} x {shape['n_features']:,}"
    )
    what = f"{record.title} on {spec.data.id} ({counts}; {record.split}), seed {spec.seed}"
    if "rmse" in figures:
        return f"{what}: held-out RMSE {number(figures['rmse'])}."
    if "objective" in figures:
        trivial = number(figures["trivial_objective"], 4)
        return f"{what}: objective {number(figures['objective'], 4)}, the mean row {trivial}."
    return f"{what}."


def _measurement(record: "RunRecord") -> list[str]:
    """What the model brought, if it was measured."""
    if record.fall is None:
        return []
    text = "\n".join(record.fall.sentences)
    return [text.replace("ε", "epsilon").replace("δ", "delta")]


def run(record: "RunRecord") -> str:
    """One run, readable: the sentence, figures, privacy, timings."""
    from dpmf_core.evaluation.registry import title_of  # slow to load, needed only for runs

    figures = [[title_of(name), number(value)] for name, value in record.metrics.items()]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in record.seconds.items())
    parameters = ", ".join(f"{name} = {value}" for name, value in record.parameters.items())
    origin = " (from the store)" if record.cached else ""
    parts = [
        sentence(record),
        *([table(["figure", ""], figures)] if figures else []),
        *_measurement(record),
        f"{privacy(record)}\n{record.noise}".rstrip(),
        f"parameters: {parameters or 'none'}",
        f"{seconds}; peak {record.peak_mb or 0:.0f} MB; key {record.key}{origin}",
    ]
    return "\n\n".join(parts)
