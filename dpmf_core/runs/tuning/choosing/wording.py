"""An answer in sentences: plain text for pages, terminals and reports."""

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.conclusions import share_text
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.question import Question

USE, NO_DIFFERENCE = "Use", "No difference found"
STARTS = (USE, NO_DIFFERENCE)  # of titles; they have a small letter after a colon
MORE = "More people and more ratings make the noise matter less. More draws narrow the intervals."


# ---- the title -----------------------------------------------------------------------------------


def headline(answer: Answer) -> str:
    """The recommendation as a title, or why no method is recommended."""
    best = answer.best
    if best is None:
        return _why_none(answer)
    share = answer.judgement.share(best)
    kept = conclusions.kept_words(answer.judgement, best)
    if share is not None:
        kept = conclusions.share_words(answer.judgement, share)
    if answer.is_undecided:
        return f"{no_difference(answer)}: {best.label}, the first by its median, {kept}"
    return f"{USE} {best.label} at ε = {budget_text(best.epsilon or 0.0)}: it {kept}"


def no_difference(answer: Answer) -> str:
    """Which methods are not told apart, and where; the answer has a best and rivals."""
    best = answer.best
    assert best is not None
    names = conclusions.names_text([one.label for one in (best, *answer.rivals)], most=4)
    return f"{NO_DIFFERENCE} between {names} at ε = {budget_text(best.epsilon or 0.0)}"


def _why_none(answer: Answer) -> str:
    judgement = answer.judgement
    if answer.question.keep is not None and not judgement.is_sharing_worth:
        nothing = conclusions.NOTHING_MEASURABLE
        return f"{nothing[:1].upper()}{nothing[1:]}, so there is no share to keep"
    within = _within(answer)
    last = f"ε = {budget_text(within[-1].epsilon or 0.0)}"
    if any(answer.beats_floor(one) for one in within):
        return f"No method reaches this up to {last}"
    return f"Up to {last} no method clearly beats {conclusions.floor_words(judgement)}"


def _within(answer: Answer) -> list[Measured]:
    """The front up to the largest epsilon that was allowed; never empty."""
    spend, front = answer.question.spend, answer.judgement.front
    return [one for one in front if spend is None or (one.epsilon or 0.0) <= spend]


def claim(question: Question) -> str:
    """What an attacker may suspect of those that the question must protect."""
    return {
        "person": "that a given person took part",
        "group": f"that a given group of up to {question.group} people took part",
        "rating": "which of two ratings a person gave",
    }[question.protect]


# ---- the evidence --------------------------------------------------------------------------------


def sentences(answer: Answer) -> list[str]:
    """The evidence for the title: the scale, intervals, the next best, less epsilon."""
    best, judgement = answer.best, answer.judgement
    scale = conclusions.scale_words(judgement)
    if best is None:
        return [_closest(answer), scale, MORE]
    cost = judgement.cost(best)
    parts = [
        _meaning(answer),
        scale,
        _between(answer, best),
        "" if cost is None else conclusions.cost_words(judgement, cost),
        _next_best(answer),
        _less(answer),
    ]
    return [part for part in parts if part]


def _meaning(answer: Answer) -> str:
    """What the metric of lists is; '' for ratings."""
    if answer.question.goal == "ratings":
        return ""
    return f"{answer.metric.title} is the {answer.metric.help}."


def _between(answer: Answer, one: Measured) -> str:
    """The figure of a method, the interval of its share, and whether that misses the goal."""
    figure = f"{one.label} has {answer.metric.title} {answer.metric.text(one.median)}"
    over = f"Over {len(one.draws)} draws of split and noise, {figure}"
    interval = answer.interval(one)
    if interval is None:
        return f"{over}."
    low, high = interval
    words = f"{over} and keeps {share_text(low)} to {share_text(high)} (95% interval of the mean)."
    keep = answer.question.keep
    if keep is None or low >= keep:
        return words
    if high < keep:
        return f"{words} You asked for {keep:.0%}, which is more."
    return f"{words} You asked for {keep:.0%}: it may be a little less."


def _next_best(answer: Answer) -> str:
    """The next best at the same epsilon, and whether chance can explain the difference."""
    other, gap = answer.next_best, answer.gap(answer.next_best)
    if other is None or gap is None:
        return ""
    which = "Best" if other == answer.measured_best else "Next best"
    words = f"{which} at the same ε: {other.label}, which {_share_words(answer, other)}"
    count = len(gap.differences)
    if not gap.clear:
        return f"{words}; no difference was found in {count} draws."
    verdict = "worse" if gap.clear > 0 else "better"
    return f"{words}; it is {verdict} beyond chance (95%, {count} draws)."


def _less(answer: Answer) -> str:
    """What the next smaller epsilon gives."""
    best, cheaper, gap = answer.best, answer.cheaper, answer.gap(answer.cheaper)
    if best is None or cheaper is None:
        return ""
    is_other = cheaper.algorithm != best.algorithm
    which = f"the best, {cheaper.label}," if is_other else best.label
    words = f"At ε = {budget_text(cheaper.epsilon or 0.0)} {which} {_share_words(answer, cheaper)}"
    if gap is None:
        return f"{words}."
    if not gap.clear:
        return f"{words}; no difference was found in {len(gap.differences)} draws."
    shares = answer.judgement.share(best), answer.judgement.share(cheaper)
    if shares[0] is None or shares[1] is None:
        return f"{words}."
    direction = "less" if shares[0] >= shares[1] else "more"
    return f"{words}: {conclusions.points_words(shares[0], shares[1])} {direction}."


def _share_words(answer: Answer, one: Measured) -> str:
    """The share that a method keeps or else its figure, without its range."""
    share = answer.judgement.share(one)
    if share is None:
        return f"has {answer.metric.title} {answer.metric.text(one.median)}"
    if conclusions.is_worse(share):
        return "is worse than no model"
    return f"keeps {share_text(share)}"


def _closest(answer: Answer) -> str:
    """The end of the front, if nothing on it is good enough."""
    last = _within(answer)[-1]
    kept = conclusions.kept_words(answer.judgement, last)
    figure = f"{answer.metric.title} {answer.metric.text(last.median)}"
    at = f"at ε = {budget_text(last.epsilon or 0.0)} with {figure}"
    return f"{last.label} comes closest, {at}: it {kept}."
