"""Whether the run without privacy, beside which a private one is shown, is itself worth
anything.
"""

from collections.abc import Mapping

from dpmf_core.evaluation.registry import METRICS, Metric


def weak_reference(
    title: str,
    figure: float,
    guesses: Mapping[str, float],
    metric: Metric = METRICS["rmse"],
) -> str:
    """A sentence where a method without privacy is no better than the best of these trivial
    predictors, by title; else ''.
    """
    if not guesses:
        return ""
    best = min(guesses, key=lambda name: metric.sign * guesses[name])
    if metric.sign * figure < metric.sign * guesses[best]:
        return ""
    return (
        f"{title}, which is not private, does no better than {best} here ({metric.title}"
        f" {metric.text(figure)} against {metric.text(guesses[best])}): it shows little of what"
        " can be learned from these data, and nothing of what privacy costs."
    )
