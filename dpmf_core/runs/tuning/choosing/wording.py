"""An answer in sentences: plain text for pages, terminals and reports."""

import statistics
from collections.abc import Sequence

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.tuning.choosing.answer import Answer, Place, interval
from dpmf_core.runs.tuning.choosing.question import Question

MORE = "More people and more ratings make the noise matter less. More draws narrow the intervals."


def headline(answer: Answer) -> str:
    """The recommendation as a title, or why no method can be named."""
    best = answer.best
    if best is not None:
        return f"Use {best.title} at ε = {budget_text(best.epsilon)}: it {gain_words(answer, best)}"
    within = _within(answer)
    last = f"ε = {budget_text(within[-1].epsilon)}"
    if any(map(answer.beats_guessing, within)):
        return f"No method reaches this up to {last}"
    return f"Up to {last} no method clearly beats guessing"


def _within(answer: Answer) -> list[Place]:
    """The front up to the largest epsilon that was allowed; never empty."""
    spend = answer.question.spend
    return [it for it in answer.front if spend is None or it.epsilon <= spend]


def claim(question: Question) -> str:
    """What an attacker may suspect of those that the question must protect."""
    return {
        "person": "that a given person took part",
        "group": f"that a given group of up to {question.group} people took part",
        "rating": "which of two ratings a person gave",
    }[question.protect]


def sentences(answer: Answer) -> list[str]:
    """The evidence for the title: figures with intervals, the next best, less and more epsilon."""
    best = answer.best
    if best is None:
        return [_closest(answer), _levels(answer), MORE]
    costs = answer.cost(best).words(answer.reference_title, is_best=answer.is_best_known)
    parts = [_between(answer, best), _levels(answer, best), costs, _rival(answer), _less(answer)]
    return [it for it in parts if it]


def gain_words(answer: Answer, place: Place) -> str:
    """The result of a method at an epsilon, as the end of a sentence."""
    if place.share is None:
        return f"reaches a {answer.metric.title} of {answer.metric.text(place.value)}"
    if place.share <= 0:
        return "does no better than guessing"
    return f"keeps {place.share:.0%} of the gain of {answer.reference_title} without privacy"


def _between(answer: Answer, place: Place) -> str:
    if place.shares is None:
        return (
            f"On these data {answer.reference_title} without privacy does not beat guessing in"
            " every draw, so there is no gain to keep a share of."
        )
    low, high = interval(place.shares)
    keep, may_miss = answer.question.keep, ""
    if keep is not None and low < keep:
        more, less = "which is more", "which lies inside this interval: it may be a little less"
        may_miss = f" You asked for {keep:.0%}, {more if high < keep else less}."
    return (
        f"100% is {_reference(answer)}; 0% is guessing. Over"
        f" {len(place.shares)} draws of split and noise, {place.title} keeps {low:.0%} to"
        f" {high:.0%} (95% interval of the mean).{may_miss}"
    )


def _levels(answer: Answer, place: Place | None = None) -> str:
    """The metric with privacy, without noise, of the best known method, and by guessing."""
    of_lists = answer.question.goal == "lists"
    text = "{:.0%}".format if of_lists else answer.metric.text
    figures = []
    if place is not None:
        without_noise = text(statistics.median(answer.without_noise[place.method]))
        figures += [f"{text(place.value)} with privacy"]
        figures += [f"{without_noise} with {place.title} without noise"]
    plain, guess = (text(statistics.median(it)) for it in (answer.plain, answer.guesses))
    figures += [f"{plain} with {_reference(answer)}"]
    if of_lists:
        return (
            "A list of 20 finds this share of the held-out items that people liked:"
            f" {', '.join(figures)}, {guess} at random."
        )
    return f"Held-out error (RMSE): {', '.join(figures)}, {guess} by guessing."


def _reference(answer: Answer) -> str:
    """The method without privacy that figures are compared with."""
    best = ", the best known method without privacy" if answer.is_best_known else " without privacy"
    return f"{answer.reference_title}{best}"


def _rival(answer: Answer) -> str:
    """The next best at the same epsilon, and whether chance can explain the difference."""
    other, gap = answer.next_best, answer.gap
    if other is None or gap is None:
        return ""
    which = "Best" if other == answer.measured_best else "Next best"
    share = "" if other.share is None else f", which keeps {max(other.share, 0):.0%}"
    n_draws, word = len(gap.differences), "worse" if gap.clear > 0 else "better"
    verdict = f"it is {word} in each of the {n_draws} draws"
    if not gap.clear:
        verdict = f"{n_draws} draws cannot tell the two apart"
    return f"{which} at the same ε: {other.title}{share}; {verdict}."


def _less(answer: Answer) -> str:
    """What the next smaller epsilon would give."""
    best, cheaper = answer.best, answer.cheaper
    if best is None or cheaper is None:
        return ""
    own = best.title if answer.selected_method else "it"
    which = own if cheaper.method == best.method else f"the best, {cheaper.title},"
    at = f"At ε = {budget_text(cheaper.epsilon)} {which}"
    if best.share is None or cheaper.share is None:
        return f"{at} has {answer.metric.title} {answer.metric.text(cheaper.value)}."
    loss = round(100 * best.share) - round(100 * cheaper.share)
    points = "1 point" if abs(loss) == 1 else f"{abs(loss)} points"
    return f"{at} keeps {max(cheaper.share, 0):.0%}: {points} {'less' if loss >= 0 else 'more'}."


def _closest(answer: Answer) -> str:
    """The end of the front, if nothing on it is good enough."""
    last, text = _within(answer)[-1], answer.metric.text
    low, high = map(text, interval(last.values))
    return (
        f"{last.title} comes closest, at ε = {budget_text(last.epsilon)}: {answer.metric.title}"
        f" {text(last.value)} ({low} to {high}, 95% confidence)."
    )


def names(methods: Sequence[str]) -> str:
    """Titles of methods in a list."""
    *others, last = (algorithms.find(name).title for name in methods)
    return f"{', '.join(others)} and {last}" if others else last
