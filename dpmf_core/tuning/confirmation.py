"""A search's best parameters compared with the recommended ones, over fresh draws.

No trial has used these draws of split and noise.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dpmf_core.evaluation.paired_difference import PairedDifference, compare_pairs
from dpmf_core.runs.record import Run

FRESH = 5  # draws


@dataclass(frozen=True)
class Outcome:
    """The best and the recommended parameters over fresh draws.

    winner, default: the minimised figure, per draw.
    """

    winner: tuple[float, ...]
    default: tuple[float, ...]

    @property
    def gap(self) -> PairedDifference:
        """The best parameters' figure minus the recommended ones'."""
        return compare_pairs(self.winner, self.default)

    @property
    def verdict(self) -> Literal["better", "no different", "worse"]:
        """Better or worse, or "no different" if chance can explain the difference.

        That is so if some draw has it the other way, or the 95% interval contains 0.
        """
        return ("better", "no different", "worse")[self.gap.clear + 1]

    @property
    def words(self) -> str:
        """The result in a sentence."""
        low, high = self.gap.interval
        means = (
            f"{statistics.fmean(self.winner):.4f} with the winner,"
            f" {statistics.fmean(self.default):.4f} as recommended"
        )
        text = (
            f"difference {self.gap.mean:+.4f} ({low:+.4f} to {high:+.4f}, 95% over"
            f" {len(self.winner)} fresh draws of split and noise)"
        )
        if self.verdict == "no different":
            return (
                "The winner does not differ from the recommended parameters beyond chance:"
                f" {means}; {text}."
            )
        return f"The winner is {self.verdict} than the recommended parameters: {means}; {text}."

    def export(self) -> dict[str, Any]:
        """The result as JSON."""
        low, high = self.gap.interval
        return {
            "winner": self.winner,
            "default": self.default,
            "difference": self.gap.mean,
            "low": low,
            "high": high,
            "verdict": self.verdict,
        }


def outcome(runs: Mapping[str, Run], metric: str) -> Outcome | None:
    """The outcome from the finished runs of `TuneSpec.fresh`; None before all have finished.

    metric: the minimised figure.
    """
    if any(f"{who} {draw}" not in runs for who in ("winner", "default") for draw in range(FRESH)):
        return None
    winner, default = (
        tuple(runs[f"{who} {draw}"].record.metric(metric) for draw in range(FRESH))
        for who in ("winner", "default")
    )
    return Outcome(winner, default)
