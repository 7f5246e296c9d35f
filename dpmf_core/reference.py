"""Whether the run without privacy, beside which a private one is shown, is itself worth anything."""

from collections.abc import Mapping


def weak_reference(title: str, figure: float, guesses: Mapping[str, float], metric: str = "RMSE", *, larger_is_better: bool = False) -> str:
    """A sentence where a method without privacy is no better than the best of these trivial predictors, by title; else ''."""
    sign = -1.0 if larger_is_better else 1.0
    if not guesses:
        return ""
    best = min(guesses, key=lambda name: sign * guesses[name])
    if sign * figure < sign * guesses[best]:
        return ""
    return (
        f"{title}, which is not private, does no better than {best} here ({metric} {figure:.3f} against {guesses[best]:.3f}): "
        "it shows little of what can be learned from these data, and nothing of what privacy costs."
    )
