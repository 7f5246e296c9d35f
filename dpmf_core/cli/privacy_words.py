"""A privacy loss in words, as a terminal shows it."""

import click

from dpmf_core.cli import tables
from dpmf_core.privacy.formatting import epsilon_in_full, epsilon_text
from dpmf_core.runs.privacy_record import PrivacyRecord, ReleaseRecord

# of a guarantee's status; `click.echo` leaves colours out where nobody looks at a terminal
COLOURS = {"PROVEN": "green", "CONDITIONAL": "yellow", "UNPROVEN": "red"}


def epsilon_words(record: PrivacyRecord) -> str:
    """epsilon = 2.00 (delta = 1e-6, per user, add/remove, exact), or why there is none."""
    exact = record.epsilon.exact
    if exact is None:
        return "epsilon: none"
    if record.delta is None:
        return "epsilon = 0.00 (nothing is released)"
    unit = record.guarantee.unit
    return epsilon_in_full(exact, record.delta, unit, record.relation, record.rule, ascii_only=True)


def privacy(record: PrivacyRecord, *more: str) -> str:
    """Epsilon in full, more lines about it, every rule's figure, the ledger, the guarantee."""
    parts = [epsilon_words(record), *more]
    if record.ledger and record.epsilon.exact is not None:
        parts.append("by every rule: " + "; ".join(_rules(record)))
    if record.ledger:
        head = ["released", "noise", "sensitivity", "noise multiplier", "count"]
        parts.append(tables.table(head, [_release(entry) for entry in record.ledger]))
    status = record.guarantee.status
    tint = COLOURS.get(status)
    parts.append(f"{click.style(status, fg=tint, bold=True)}: {record.guarantee.words}")
    return "\n".join(parts)


def _rules(record: PrivacyRecord) -> list[str]:
    return [
        f"{title} {'not valid here' if epsilon is None else epsilon_text(epsilon)}"
        for title, epsilon in record.by_rule.items()
    ]


def _release(entry: ReleaseRecord) -> list[str]:
    sizes = [f"{entry.sensitivity:.4g}", f"{entry.noise_multiplier:.4g}", str(entry.count)]
    return [entry.title, entry.mechanism, *sizes]
