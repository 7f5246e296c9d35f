"""The share of the gain over guessing that private runs keep, and the epsilon that reaches a goal.

Every page, table and command that answers "which epsilon is enough?" uses this module.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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


def needed_epsilon(
    line: Iterable[Measured],
    goal: float,
    of_draws: Callable[[tuple[float, ...]], float] = statistics.median,
    digits: int = 2,
) -> NeededEpsilon | None:
    """The smallest epsilon whose value is at least the goal, such as a share of the gain.

    Linear along log epsilon between measured points, never extrapolated; None if no point is good
    enough. of_draws: which draw at each epsilon counts. digits: decimals that are compared.
    """
    points = sorted((it.epsilon, of_draws(it.values)) for it in line)
    for place, (epsilon, at) in enumerate(points):
        if round(at, digits) < round(goal, digits):
            continue
        if place == 0 or at <= goal:
            return NeededEpsilon(epsilon, is_first=place == 0)
        before, was = points[place - 1]
        share = (goal - was) / (at - was)
        between = before * math.exp(share * math.log(epsilon / before))
        return NeededEpsilon(between, is_measured=False)
    return None


def answer(line: Sequence[Measured], share: float) -> tuple[str, str]:
    """The epsilon that keeps a share of the gain, in words, with its uncertainty.

    If none does, the best that was measured. line: shares, not empty.
    """
    needed = needed_epsilon(line, share)
    beyond = budget_text(max(it.epsilon for it in line))
    if needed is None:
        top = max(line, key=lambda it: it.median)
        best = f"; the best is {share_text(top.median)}, at ε = {budget_text(top.epsilon)}"
        return f"no ε up to {beyond}", best
    if needed.is_first:
        return f"ε = {budget_text(needed.epsilon)}", ", the smallest measured"
    value = f"ε {'=' if needed.is_measured else '≈'} {budget_text(needed.rounded)}"
    low, high = (needed_epsilon(line, share, of_draws) for of_draws in (max, min))
    if low is None:
        return value, ""
    least = budget_text(low.rounded)
    most = f"more than {beyond}" if high is None else budget_text(high.rounded)
    return value, "" if least == most else f", {least} to {most} over draws"
