"""What the first view of Explore says, at measured epsilons and between them."""

from typing import Any

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.epsilon_grid import EpsilonGrid, Point
from dpmf_core.runs.needed_epsilon import share_kept
from dpmf_core.teaching.glossary import TERMS as GLOSSARY
from pages.kit.choice import Choice
from pages.kit.comparison import gain_kept, headline, median, median_text, purchase_text, twin_title

NO_BETTER = "does no better than guessing the mean"
RMSE = METRICS["rmse"]
# as they are said, in the order in which a headline says them, and where they are explained
_TERMS = {"ε": "epsilon", "gain over guessing": "gain over guessing", "RMSE": "RMSE"}
STARS = ((1.0, 5.0), (0.5, 5.0))  # bounds of ratings that are given in stars


def terms() -> list[dict[str, str]]:
    """The terms of a headline, each with its meaning."""
    return [{"term": term, "meaning": GLOSSARY[name].words} for term, name in _TERMS.items()]


def rating_unit(choice: Choice) -> str:
    in_stars = tuple(map(float, choice.entry.bounds)) in STARS
    return "stars" if in_stars else "points"


def stars(error: float) -> str:
    """An error in the unit of the ratings: two decimals, no zero before the point."""
    return f"{error:.2f}".removeprefix("0") if abs(error) < 1 else f"{error:.2f}"


def finding(choice: Choice, title: str, grid: EpsilonGrid, point: Point) -> tuple[str, str]:
    """Headline and sentence of a measured point; medians and ranges of draws that private run,
    twin and trivial predictor share.
    """
    if not point.beside:
        errs = f"errs by {point.median:.3f}"
        return headline(choice, point, title, errs), ""
    without = twin_title(choice.algorithm)
    private, twin, guess = (stars(median(point.beside, place)) for place in range(3))
    clause = gain_kept(point.beside, without, NO_BETTER)
    return headline(choice, point, title, clause), (
        f"Off by {private} {rating_unit(choice)} with privacy, {twin} without ({without}),"
        f" {guess} by guessing the mean. Held-out RMSE"
        f" {median_text(point.beside, 0, RMSE.digits)}."
    )


def point_label(choice: Choice, point: Point) -> str:
    """A point, for a screen reader and a pointer that rests on it."""
    text = f"ε = {budget_text(point.epsilon)}: held-out RMSE {point.median:.3f}"
    return ". ".join(filter(None, (text, purchase_text(choice, point))))


def cells(point: Point) -> list[str]:
    """A line of the table of numbers, without its epsilon."""
    share = share_kept(point.beside)
    ends = (min(point.values), max(point.values))
    return [
        *(f"{it:.3f}" for it in (point.median, *ends)),
        str(len(point.values)),
        "" if share is None else f"{share:.0%}",
    ]


def _columns() -> list[str]:
    return ["ε", "RMSE", "lowest", "highest", "draws", "gain kept"]


def alt(title: str, grid: EpsilonGrid) -> str:
    """The figure, for who does not see it."""
    first, last = grid.points[0], grid.points[-1]
    return (
        f"Held-out RMSE of {title} against epsilon: {first.median:.3f} at"
        f" {budget_text(first.epsilon)}, {last.median:.3f} at {budget_text(last.epsilon)};"
        f" without privacy {median([(it,) for it in grid.twin], 0):.3f}, guessing the mean"
        f" {median([(it,) for it in grid.trivial], 0):.3f}."
    )


def templates(choice: Choice, title: str) -> dict[str, Any]:
    """What the browser says while the slider is held; {..} is filled in there."""
    unit, mine = rating_unit(choice), not choice.entry.public
    epsilon = "{epsilon}"
    unknown = f"Nothing was measured at ε = {epsilon}"
    if mine:
        unknown = f"Nothing was trained on your data at ε = {epsilon}"
    return {
        "across": _across(choice),
        "price": f"+{{gap}} {unit}: the price",
        "nothing": "no price",
        "unknown": unknown,
        "between": f"At ε = {epsilon}, {title} keeps about {{share}} of the gain over guessing",
        "betweenWorse": f"At ε = {epsilon}, {title} does about no better than guessing the mean",
        "betweenBetter": (
            f"At ε = {epsilon}, {title} does about as well as {twin_title(choice.algorithm)},"
            " which has no privacy"
        ),
        "sentence": (
            f"Off by about {{private}} {unit} with privacy, {{twin}} without, {{trivial}} by"
            " guessing the mean."
        ),
        "interpolated": "≈ Drawn between two measured points, ε = {low} and {high}.",
        "pending": "" if mine else "This ε itself is being computed.",
        "stale": "",
        "caption": _caption(mine),
        "list": "Person {person} at ε = {epsilon}",
        "stay": "{stay} of {all} recommendations stay as they are without privacy.",
        "stayNear": "{stay} of {all} stay; measured at the nearest point, ε = {epsilon}.",
        "own": "Struck out: lost to privacy. →: what comes instead.",
        "numbers": "The numbers",
        "columns": _columns(),
    }


def _caption(mine: bool) -> str:
    dots = "Each dot is one run; the line is the median. Click to jump."
    if not mine:
        return dots
    raw = "Errors are computed on your raw data, without noise. Only you see them."
    return f"{dots} {raw}"


def _across(choice: Choice) -> dict[str, str]:
    """Along the axis: at its start, in its middle, at its end."""
    if choice.calibration == "source":
        return {"middle": "ε by the source's own rule, which is not the exact one"}
    return {
        "start": "← more private",
        "middle": "ε, total",
        "end": "more accurate →",
    }
