"""Whether the run without privacy, beside which a private one is shown, is itself worth
anything.
"""

from collections.abc import Mapping

from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.language import phrase


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
    return phrase(
        "{title}, which is not private, does no better than {best} here ({metric} {figure} against"
        " {guess}): it shows little of what can be learned from these data, and nothing of what"
        " privacy costs.",
        title=phrase(title),
        best=phrase(best),
        metric=phrase(metric.title),
        figure=metric.text(figure),
        guess=metric.text(guesses[best]),
    )
