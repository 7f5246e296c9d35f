"""Results in words, as a terminal shows them."""

from typing import TYPE_CHECKING

import click

from dpmf_core.cli import tables
from dpmf_core.runs.privacy_record import PrivacyRecord, ReleaseRecord

if TYPE_CHECKING:
    from dpmf_core.runs.record import RunRecord

# colours of a guarantee's status; `click.echo` removes them if the output is not a terminal
COLOURS = {"PROVEN": "green", "CONDITIONAL": "yellow", "UNPROVEN": "red"}


def privacy(record: PrivacyRecord, *more: str) -> str:
    """Epsilon in full, further lines about it, every rule's figure, the ledger, the guarantee."""
    parts = [record.loss.replace("ε", "epsilon").replace("δ", "delta"), *more]
    if rules := record.rules:
        parts.append("by every rule: " + "; ".join(map(" ".join, rules)))
    if record.ledger:
        head = ["released", "noise", "sensitivity", "noise multiplier", "count"]
        parts.append(tables.table(head, [_release(entry) for entry in record.ledger]))
    status = record.guarantee.status
    tint = COLOURS.get(status)
    parts.append(f"{click.style(status, fg=tint, bold=True)}: {record.guarantee.words}")
    return "\n".join(parts)


def _release(entry: ReleaseRecord) -> list[str]:
    sizes = [f"{entry.sensitivity:.4g}", f"{entry.noise_multiplier:.4g}", str(entry.count)]
    return [entry.statistic, entry.mechanism, *sizes]


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
        return f"{what}: held-out RMSE {tables.number(figures['rmse'])}."
    if "objective" in figures:
        return (
            f"{what}: objective {tables.number(figures['objective'], 4)}, the mean row"
            f" {tables.number(figures['trivial_objective'], 4)}."
        )
    return f"{what}."


def run(record: "RunRecord") -> str:
    """One run, readable: the sentence, figures, privacy, timings."""
    from dpmf_core.evaluation.registry import title_of  # slow to load, needed only for runs

    figures = [[title_of(name), tables.number(value)] for name, value in record.metrics.items()]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in record.seconds.items())
    parameters = (
        ", ".join(f"{name} = {value}" for name, value in record.parameters.items()) or "none"
    )
    last = (
        f"{seconds}; peak {record.peak_mb or 0:.0f} MB; key"
        f" {record.key}{' (from the store)' if record.cached else ''}"
    )
    return "\n\n".join(
        [
            sentence(record),
            tables.table(["figure", ""], figures),
            f"{privacy(record)}\n{record.noise}".rstrip(),
            f"parameters: {parameters}",
            last,
        ]
    )
