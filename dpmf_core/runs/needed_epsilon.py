"""The share of the gain over guessing that private runs keep, and the epsilon that reaches a goal.

Every page, table and command that answers "which epsilon is enough?" uses this module.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dpmf_core.evaluation.registry import Metric
from dpmf_core.privacy.formatting import budget_text

Draws = Sequence[tuple[float, ...]]  # errors (private, best, trivial) of one draw each


# ---- how much is kept ----------------------------------------------------------------------------


def shares_kept(draws: Draws) -> tuple[float, ...] | None:
    """The share of the gain that each draw keeps: 1 for all, below 0 for worse than guessing.

    None without draws, or if the best known algorithm gains nothing in one of them.
    """
    if not draws or any(trivial <= best for _, best, trivial in draws):
        return None
    return tuple((trivial - private) / (trivial - best) for private, best, trivial in draws)


def share_kept(draws: Draws) -> float | None:
    """The median share.

    If the best known algorithm gains nothing in some draw, the share between the medians; None if
    it gains nothing there either.
    """
    if (shares := shares_kept(draws)) is not None:
        return statistics.median(shares)
    if not draws:
        return None
    private, best, trivial = (statistics.median(column) for column in zip(*draws, strict=True))
    return (trivial - private) / (trivial - best) if best < trivial else None


def share_text(share: float) -> str:
    """A share in percent without decimals; a share that rounds to 0 has no sign."""
    return f"{share:.0%}".replace("-0%", "0%")


@dataclass(frozen=True)
class Measured:
    """An algorithm's figure at one epsilon: a value for each draw of split and noise."""

    epsilon: float
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def kept_at(epsilon: float, draws: Draws) -> Measured | None:
    """The shares of the gain that these draws keep; None if there are none."""
    shares = shares_kept(draws)
    if shares is None:
        share = share_kept(draws)
        shares = None if share is None else (share,)
    return None if shares is None else Measured(epsilon, shares)


# ---- which epsilon is enough ---------------------------------------------------------------------


@dataclass(frozen=True)
class Goal:
    """A figure to reach: a share of the gain over guessing, or a value of a metric.

    digits: printed decimals, to which a value is compared. text: prints a value.
    """

    value: float
    larger_is_better: bool
    digits: int
    text: Callable[[float], str]
    is_share: bool = False

    @classmethod
    def share(cls, share: float) -> "Goal":
        """A share of the gain over guessing, from 0 to 1."""
        return cls(share, True, 2, share_text, is_share=True)

    @classmethod
    def metric(cls, metric: Metric, value: float) -> "Goal":
        return cls(value, bool(metric.larger_is_better), metric.digits, metric.text)


@dataclass(frozen=True)
class NeededEpsilon:
    """The smallest epsilon that reaches a goal.

    is_measured: whether it was measured itself. is_first: whether nothing smaller was measured.
    """

    epsilon: float
    is_measured: bool = True
    is_first: bool = False

    @property
    def rounded(self) -> float:
        """The epsilon with two digits if it lies between measured points."""
        return self.epsilon if self.is_measured else float(f"{self.epsilon:.2g}")


def first_reaching(
    line: Iterable[tuple[float, float]],
    target: float,
    *,
    larger_is_better: bool = False,
    digits: int = 12,
) -> NeededEpsilon | None:
    """The smallest epsilon at which a line is as good as the target.

    Linear along log epsilon between measured points; None if no point is good enough. It is never
    extrapolated. line: (epsilon, value) of measured points.
    """
    sign = -1.0 if larger_is_better else 1.0
    points = sorted((epsilon, sign * value) for epsilon, value in line)
    threshold = sign * target
    for place, (epsilon, at) in enumerate(points):
        if round(at, digits) > round(threshold, digits):
            continue
        if place == 0 or at >= threshold:
            return NeededEpsilon(epsilon, is_first=place == 0)
        before, was = points[place - 1]
        share = (was - threshold) / (was - at)
        between = before * math.exp(share * math.log(epsilon / before))
        return NeededEpsilon(between, is_measured=False)
    return None


def needed_epsilon(
    line: Iterable[Measured],
    goal: Goal,
    of_draws: Callable[[tuple[float, ...]], float] = statistics.median,
) -> NeededEpsilon | None:
    """The smallest epsilon that reaches a goal. of_draws: which draw at each epsilon counts."""
    points = [(it.epsilon, of_draws(it.values)) for it in line]
    return first_reaching(
        points, goal.value, larger_is_better=goal.larger_is_better, digits=goal.digits
    )


def answer(line: Sequence[Measured], goal: Goal) -> tuple[str, str]:
    """The epsilon that a goal needs, in words, with its uncertainty.

    If no epsilon reaches it, the best that was measured. line: not empty.
    """
    needed = needed_epsilon(line, goal)
    best, worst = (max, min) if goal.larger_is_better else (min, max)
    if needed is None:
        top = best(line, key=lambda it: it.median)
        return (
            f"no ε up to {budget_text(max(it.epsilon for it in line))}",
            f"; the best is {goal.text(top.median)}, at ε = {budget_text(top.epsilon)}",
        )
    if needed.is_first:
        return f"ε = {budget_text(needed.epsilon)}", ", the smallest measured"
    value = f"ε {'=' if needed.is_measured else '≈'} {budget_text(needed.rounded)}"
    low, high = (needed_epsilon(line, goal, of_draws) for of_draws in (best, worst))
    if low is None:
        return value, ""
    beyond = f"more than {budget_text(max(it.epsilon for it in line))}"
    least, most = budget_text(low.rounded), beyond if high is None else budget_text(high.rounded)
    return value, "" if least == most else f", {least} to {most} over draws"
