"""A run and its privacy in plain text, as commands print them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from dpmf_core.base.text_tables import number, table

if TYPE_CHECKING:
    from dpmf_core.runs.privacy_record import PrivacyRecord
    from dpmf_core.runs.record import RunRecord

Mark = Callable[[str], str]  # highlights the status of a guarantee
LEDGER_HEAD = ("released", "noise", "sensitivity", "noise multiplier", "count")


def privacy_text(record: "PrivacyRecord", *more: str, mark: Mark = str) -> str:
    """Epsilon in full, further lines about it, every rule's figure, the ledger, the guarantee."""
    parts = [in_words(record.loss), *more]
    if rules := record.rules:
        parts.append("by every rule: " + "; ".join(map(" ".join, rules)))
    if record.ledger:
        rows = [
            [
                release.statistic,
                release.mechanism,
                f"{release.sensitivity:.4g}",
                f"{release.noise_multiplier:.4g}",
                release.count,
            ]
            for release in record.ledger
        ]
        parts.append(table(LEDGER_HEAD, rows))
    if record.guarantee.has_epsilon and record.epsilon.exact is None:
        return "\n".join(parts)  # nothing is proved at this delta
    parts.append(f"{mark(record.guarantee.status)}: {record.guarantee.words}")
    return "\n".join(parts)


def in_words(text: str) -> str:
    """The text with the names of epsilon and delta in place of their letters."""
    return text.replace("ε", "epsilon").replace("δ", "delta")


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


def run_text(record: "RunRecord", mark: Mark = str) -> str:
    """One run, readable: the sentence, figures, privacy, timings."""
    from dpmf_core.evaluation.registry import title_of  # slow to load, needed only for runs

    figures = [[title_of(name), number(value)] for name, value in record.metrics.items()]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in record.seconds.items())
    parameters = ", ".join(f"{name} = {value}" for name, value in record.parameters.items())
    origin = " (from the store)" if record.cached else ""
    parts = [sentence(record)]
    if figures:
        parts.append(table(["figure", ""], figures))
    if record.fall is not None:
        parts.append(in_words("\n".join(record.fall.sentences)))
    parts += [
        f"{privacy_text(record, mark=mark)}\n{record.noise}".rstrip(),
        f"parameters: {parameters or 'none'}",
        f"{seconds}; peak {record.peak_mb or 0:.0f} MB; key {record.key}{origin}",
    ]
    return "\n\n".join(parts)
