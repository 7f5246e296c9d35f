"""Sentences about the table of measured draws, the same on every page, in print and in terminals.

All are plain text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.along_epsilon import needed_epsilon
from dpmf_core.runs.draws import AVERAGE, Judgement
from dpmf_core.runs.measurements import Measured, PrivacyCost, shared_draws
from dpmf_core.runs.references import GLOBAL_MEAN, OWN_MEAN, floors, is_of_lists

FLOORS = {GLOBAL_MEAN: "the mean of all ratings", OWN_MEAN: "each person's own mean"}
RANDOM_ORDER = "a random order"
NO_BETTER = "No better proven method is known at this ε."
NOTHING_MEASURABLE = "sharing is worth nothing measurable here"


# ---- words ---------------------------------------------------------------------------------------


def share_text(share: float) -> str:
    """A share in percent without decimals; a share that rounds to 0 has no sign."""
    return f"{share:z.0%}"


def names_text(names: Sequence[str], most: int | None = None) -> str:
    """Names in a list: "A, B and C". Names beyond the first `most` are only counted."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    *others, last = names
    if others:
        return f"{', '.join(others)} and {last}"
    return last


def floor_words(judgement: Judgement, row: str = "user") -> str:
    """What 0% of the scale means. `row` is the word for a row of the data, such as "document"."""
    floor = judgement.floor
    if floor is None or floor.algorithm == AVERAGE:
        return f"the average {row}"
    if is_of_lists(judgement.metric.id):
        return RANDOM_ORDER
    return FLOORS.get(floor.algorithm, floor.label)


def worth_words(judgement: Judgement, row: str = "user") -> str:
    """The whole of the scale: what 100% is more than 0%."""
    floor = judgement.floor
    best = judgement.best_known
    if floor is not None and best is not None:
        is_other = floor.algorithm == AVERAGE or not judgement.has_best_known
        if is_other:
            return f"what {best.label} gains over {floor_words(judgement, row)}"
    if is_of_lists(judgement.metric.id):
        return "what sharing is worth for lists"
    return "what sharing ratings is worth"


def best_known_words(judgement: Judgement) -> str:
    """The method that is 100% of the scale; '' without one."""
    best = judgement.best_known
    if best is None:
        return ""
    if judgement.has_best_known:
        return f"{best.label}, the best known method without privacy"
    return f"{best.label} without privacy"


def scale_words(judgement: Judgement, row: str = "user") -> str:
    """Both ends of the scale with their figures, in a sentence; '' without them."""
    floor = judgement.floor
    best = judgement.best_known
    if floor is None or best is None:
        return ""
    at_floor, at_best = (judgement.metric.text(one.median) for one in (floor, best))
    return (
        f"0% is {floor_words(judgement, row)} ({judgement.metric.title} {at_floor}); 100% is"
        f" {best_known_words(judgement)} ({at_best})."
    )


# ---- one method at one epsilon -------------------------------------------------------------------


def kept_words(judgement: Judgement, one: Measured, row: str = "user") -> str:
    """What a method keeps, as the end of a sentence: the median draw and the range of all."""
    shares = judgement.shares(one)
    if shares is None:
        figure = f"has {judgement.metric.title} {judgement.metric.text(one.median)}"
        has_ends = judgement.floor is not None and judgement.best_known is not None
        # or no draw is shared with both ends
        if not has_ends or judgement.is_sharing_worth:
            return figure
        return f"{figure}; {NOTHING_MEASURABLE}"
    words = share_words(judgement, shares.median, row)
    is_part = 0 <= shares.median < 1 or share_text(shares.median) == "0%"
    if is_part:
        return words + range_words(shares)
    return words


def share_words(
    judgement: Judgement, share: float, row: str = "user", about: str = ""
) -> str:
    """What a share means, as the end of a sentence.

    Parameters
    ----------
    judgement
        The measured methods.
    share
        The share, from 0 to 1.
    row
        The word for a row of the data.
    about
        "about " if the share is interpolated.

    Returns
    -------
    str
        The end of a sentence.
    """
    if is_worse(share):
        alone = ""
        if judgement.floor:
            alone = judgement.metric.text(judgement.floor.median)
        return (
            f"is worse than no model: {floor_words(judgement, row)} alone has"
            f" {judgement.metric.title} {alone}"
        )
    if share >= 1:
        return f"does at least as well as {best_known_words(judgement)}"
    return f"keeps {about}{share_text(share)} of {worth_words(judgement, row)}"


def share_figure(share: float, about: str = "") -> str:
    """A share as a figure that stands alone, such as "87% kept"."""
    if is_worse(share):
        return "Worse than no model"
    return f"{about}{share_text(share)} kept"


def is_worse(share: float) -> bool:
    """Whether a share is below 0 as it is printed."""
    return share < 0 and share_text(share) != "0%"


def range_words(shares: Measured) -> str:
    """The range of shares over draws, in brackets; '' for one draw."""
    if len(shares.draws) < 2:
        return ""
    low = share_text(shares.low)
    high = share_text(shares.high)
    count = len(shares.draws)
    if low == high:
        return f" (in each of {count} draws)"
    return f" ({low} to {high} over {count} draws)"


def cost_words(judgement: Judgement, cost: PrivacyCost, row: str = "user") -> str:
    """The costs of noise, of the method and of not sharing, in two sentences."""
    metric = judgement.metric
    direction = "more"
    if bool(metric.larger_is_better) == (cost.total >= 0):
        direction = "less"
    of_samples = judgement.floor is not None and judgement.floor.algorithm == AVERAGE
    without_model = "Not sharing at all"
    if of_samples:
        without_model = f"The average {row} alone"
    return (
        f"{metric.label} is {metric.text(abs(cost.total))} {direction} than with"
        f" {best_known_words(judgement)}: {signed_text(judgement, cost.noise)} from noise and"
        f" settings chosen for it, {signed_text(judgement, cost.method)} from the method."
        f" {without_model} would cost {signed_text(judgement, cost.not_sharing)}."
    )


def signed_text(judgement: Judgement, cost: float) -> str:
    """A cost in the metric's digits, with a proper minus sign; never minus zero."""
    return judgement.metric.text(cost + 0.0).replace("-", "−")


def points_words(more: float, less: float) -> str:
    """The difference of two shares as they are printed, in percentage points."""
    points = abs(round(100 * more) - round(100 * less))
    if points == 1:
        return "1 point"
    return f"{points} points"


def better_words(judgement: Judgement, one: Measured) -> str:
    """Which better proven method is known at the same epsilon, and by how much; '' if none is."""
    better = judgement.better(one)
    if better is None:
        return ""
    start = f"A better proven method is known at this ε: {better.label}"
    share = judgement.share(better)
    own = judgement.share(one)
    if share is not None and own is not None and not is_worse(share):
        text = share_text(share)
        return f"{start} keeps {text}, {points_words(share, own)} more."
    figure = judgement.metric.text(better.median)
    return f"{start} has {judgement.metric.title} {figure}."


def no_difference_words(judgement: Judgement, one: Measured, most: int = 3) -> str:
    """Which other proven methods chance may explain the difference to; '' if there is none."""
    others = judgement.no_different(one)
    if not others:
        return ""
    names = names_text([other.label for other in others], most)
    count = min(len(shared_draws(one, other)) for other in others)
    if count < 2:
        return f"One draw cannot show a difference from {names}."
    return f"No difference from {names} was found in {count} draws."


def not_ranked_words(judgement: Judgement) -> list[str]:
    """A sentence for each private method that is not ranked, with the reason."""
    return [
        caution_words(label, caution) for label, caution in judgement.cautions.items()
    ]


def caution_words(label: str, caution: str) -> str:
    """Why a private method is not ranked, in a sentence."""
    reason = caution
    if caution.startswith("protects"):
        reason = f"its ε {caution}"
    return f"{label} is not ranked: {reason}."


def best_words(judgement: Judgement, epsilon: float, row: str = "user") -> str:
    """The best proven method at an epsilon and what it keeps, in sentences; '' if unknown."""
    best = judgement.best(epsilon)
    if best is None:
        return ""
    values = [f"{name} = {value}" for name, value in best.grid.items()]
    method = best.label
    if values:
        method = f"{best.label} with {names_text(values)}"
    finding = (
        f"At ε = {budget_text(epsilon)}, {method} {kept_words(judgement, best, row)}."
    )
    return f"{finding} {no_difference_words(judgement, best)}".rstrip()


def conclusions_of(judgement: Judgement, row: str = "user") -> list[str]:
    """Sentences on the whole table: the best method at each epsilon, and the scale.

    It is empty for several data sets at once, and on private data, because their errors choose no
    method.
    """
    if not (judgement.table.is_public and judgement.table.has_one_scale):
        return []
    sentences = [best_words(judgement, epsilon, row) for epsilon in judgement.epsilons]
    if judgement.is_sharing_worth:
        sentences.append(scale_words(judgement, row))
    ends = floors(judgement.metric.id)
    if sentences and ends and judgement.floor is None:
        sentences.append(
            f"The share kept needs {names_text(ends)} among the algorithms."
        )
    return [*sentences, *not_ranked_words(judgement)]


# ---- which epsilon is enough ---------------------------------------------------------------------


def needed_words(line: Sequence[Measured], share: float) -> tuple[str, str]:
    """The epsilon that keeps a share, in words, and its uncertainty.

    If no epsilon keeps the share, the words name the best one that was measured.

    Parameters
    ----------
    line
        The shares along epsilon, not empty.
    share
        The share to keep.
    """
    needed = needed_epsilon(line, share)
    beyond = budget_text(max(one.epsilon or 0.0 for one in line))
    if needed is None:
        top = max(line, key=lambda one: one.median)
        at = budget_text(top.epsilon or 0.0)
        if is_worse(top.median):
            best = "worse than no model"
        else:
            best = share_text(top.median)
        return f"no ε up to {beyond}", f"; the best is {best}, at ε = {at}"
    if needed.is_first:
        return f"ε = {budget_text(needed.epsilon)}", ", the smallest measured"
    value = f"ε {'=' if needed.is_measured else '≈'} {budget_text(needed.rounded)}"
    low, high = (needed_epsilon(line, share, of_draws) for of_draws in (max, min))
    if low is None:
        return value, ""
    least = budget_text(low.rounded)
    if high is None:
        most = f"more than {beyond}"
    else:
        most = budget_text(high.rounded)
    return value, "" if least == most else f", {least} to {most} over draws"


def kept_at_words(
    judgement: Judgement, line: Sequence[Measured], epsilon: float
) -> str:
    """How much a model keeps at an epsilon, measured there or on both sides; '' if unknown.

    Parameters
    ----------
    judgement
        The measured methods.
    line
        The shares, ascending by epsilon.
    epsilon
        The epsilon.
    """
    here = [one for one in line if one.epsilon == epsilon]
    below = [one for one in line if (one.epsilon or 0.0) < epsilon]
    above = [one for one in line if (one.epsilon or 0.0) > epsilon]
    if not here and not (below and above):
        return ""
    around = here or [below[-1], above[0]]
    at = " and ".join(budget_text(one.epsilon or 0.0) for one in around)
    lowest = min(one.median for one in around)
    highest = max(one.median for one in around)
    if is_worse(highest):
        return f"is worse than no model (measured at ε = {at})"
    shares = " to ".join(dict.fromkeys((share_text(lowest), share_text(highest))))
    if is_worse(lowest):
        shares = f"at most {share_text(highest)}"
    return f"keeps {shares} of {worth_words(judgement)} (measured at ε = {at})"


# ---- reference lines of figures ------------------------------------------------------------------


class Reference(StrEnum):
    """What a private figure is compared with; the value is the dash of its line."""

    WITHOUT_NOISE = "solid"
    BEST_KNOWN = "dash"
    FLOOR = "dot"


@dataclass(frozen=True)
class ReferenceLine:
    """A horizontal line that a private figure is compared with."""

    reference: Reference
    value: float
    label: str


def reference_lines(
    judgement: Judgement, one: Measured | None = None, *, of_shares: bool = False
) -> list[ReferenceLine]:
    """A method without noise, the best known one without privacy, and the floor.

    Parameters
    ----------
    judgement
        The measured methods.
    one
        The figures of the method. Without them its line is left out.
    of_shares
        Whether the lines are on the scale of shares. There are none where sharing is worth nothing
        measurable.
    """
    if of_shares and not judgement.is_sharing_worth:
        return []
    text = judgement.metric.text
    lines = list[ReferenceLine]()
    own = None if one is None else judgement.without_noise(one)
    if own is not None and one is not None:
        value = judgement.share(own) if of_shares else own.median
        if value is not None:
            label = f"{one.title} without noise {text(own.median)}"
            lines.append(ReferenceLine(Reference.WITHOUT_NOISE, value, label))
    if judgement.best_known is not None:
        median = judgement.best_known.median
        best = judgement.best_known.label
        name = f"{best}, not private"
        if judgement.has_best_known:
            name = f"best known, {best}"
        label = f"{name}: {text(median)}"
        value = 1.0 if of_shares else median
        lines.append(ReferenceLine(Reference.BEST_KNOWN, value, label))
    if judgement.floor is not None:
        median = judgement.floor.median
        label = f"{floor_words(judgement)} {text(median)}"
        value = 0.0 if of_shares else median
        lines.append(ReferenceLine(Reference.FLOOR, value, label))
    return lines
