"""An answer in sentences: plain text, the same on a page, in a terminal and in a report."""

import statistics
from collections.abc import Sequence

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.tuning.choosing.answer import Answer, Place, interval

NOTHING_GAINED = (
    "On these data the best method without privacy is no better than guessing in every draw, so"
    " there is no gain of which a share could be kept."
)
MORE = (
    "Noise weighs less the more people there are and the more they rate. More draws make the"
    " intervals narrower."
)


def headline(answer: Answer) -> str:
    """What to use, in a title."""
    best = answer.best
    if best is None:
        return _none(answer)
    return f"Use {best.title} at ε = {budget_text(best.epsilon)}: {_gain_words(answer, best)}"


def sentences(answer: Answer) -> list[str]:
    """What the title rests on: figures with intervals, the next best, less and more epsilon."""
    best = answer.best
    if best is None:
        return [it for it in (_closest(answer), _levels(answer), MORE) if it]
    parts = [_between(answer, best), _levels(answer, best), _rival(answer), _less(answer)]
    return [it for it in parts if it]


def _gain_words(answer: Answer, place: Place) -> str:
    if place.share is None:
        return f"{answer.metric.title} {answer.metric.text(place.value)}"
    if place.share <= 0:
        return "it does no better than guessing"
    return f"it keeps {place.share:.0%} of the gain"


def _between(answer: Answer, place: Place) -> str:
    if place.shares is None:
        return NOTHING_GAINED
    low, high = interval(place.shares)
    return (
        f"The gain is what {_title(answer.reference)}, which has no privacy, gets right beyond"
        f" guessing. {place.title} keeps {low:.0%} to {high:.0%} of it: a 95%"
        f" confidence interval of the mean over {len(place.shares)} draws of split and noise, each"
        f" compared with the same split without privacy.{_may_miss(answer, low)}"
    )


def _may_miss(answer: Answer, low: float) -> str:
    """That chance alone may hide that less is kept than was asked for; '' where it does not."""
    keep = answer.question.keep
    if keep is None or low >= keep:
        return ""
    return f" The {keep:.0%} that you asked for lie within it, so that it may be a little less."


def _levels(answer: Answer, place: Place | None = None) -> str:
    """The metric with privacy, without it, and by guessing."""
    plain, guess = (statistics.median(it) for it in (answer.plain, answer.guesses))
    text = answer.metric.text
    if answer.question.goal == "lists":
        own = f"{place.value:.0%} with privacy, " if place else ""
        return (
            "Of the liked items that were held out, a list of 20 finds"
            f" {own}{plain:.0%} without, and an arbitrary list {guess:.0%}."
        )
    own = f"{text(place.value)} with privacy, " if place else ""
    return (
        f"Predictions are off by {own}{text(plain)} without and {text(guess)} by guessing (RMSE)."
    )


def _rival(answer: Answer) -> str:
    """The next best at the same epsilon, and whether chance can explain the difference."""
    other, gap = answer.next_best, answer.gap
    if other is None or gap is None:
        return ""
    name = f"Next best at the same ε: {other.title}"
    share = "" if other.share is None else f", which keeps {max(other.share, 0):.0%}"
    if gap.clear > 0:
        return f"{name}{share}; it is behind in each of the {len(gap.differences)} draws."
    return f"{name}{share}; over {len(gap.differences)} draws the two cannot be told apart."


def _less(answer: Answer) -> str:
    best, cheaper = answer.best, answer.cheaper
    if best is None or cheaper is None:
        return ""
    which = "it" if cheaper.method == best.method else f"the best, {cheaper.title},"
    at = f"At ε = {budget_text(cheaper.epsilon)} {which}"
    if best.share is None or cheaper.share is None:
        return f"{at} has {answer.metric.title} {answer.metric.text(cheaper.value)}."
    loss = round(100 * best.share) - round(100 * cheaper.share)
    points = "1 point" if loss == 1 else f"{loss} points"
    return f"{at} keeps {max(cheaper.share, 0):.0%}: {points} less."


def _none(answer: Answer) -> str:
    """What is so of every method where none can be named."""
    spend = answer.question.spend
    within = [it for it in answer.front if spend is None or it.epsilon <= spend]
    if not within:
        return "No method keeps these conditions"
    if any(map(answer.beats_guessing, within)):
        return f"No method does that, up to ε = {budget_text(within[-1].epsilon)}"
    return f"Up to ε = {budget_text(within[-1].epsilon)} nothing is clearly better than guessing"


def _closest(answer: Answer) -> str:
    """The end of the front, where nothing on it is good enough."""
    spend = answer.question.spend
    within = [it for it in answer.front if spend is None or it.epsilon <= spend]
    if not within:
        return ""
    last, text = within[-1], answer.metric.text
    low, high = interval(last.values)
    return (
        f"{last.title} comes closest, at ε = {budget_text(last.epsilon)}: {answer.metric.title}"
        f" {text(last.value)} ({text(low)} to {text(high)}, 95% confidence)."
    )


def _title(method: str) -> str:
    return algorithms.find(method).title


def names(methods: Sequence[str]) -> str:
    """Titles of methods in a list."""
    titles = [_title(name) for name in methods]
    return titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
