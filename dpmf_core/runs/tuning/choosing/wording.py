"""An answer in sentences: plain text for pages, terminals and reports."""

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.conclusions import share_text
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.question import Question
from dpmf_core.runs.tuning.choosing.unpaid_range import RIVALS, Span, UnpaidRange

USE = "Use"
NO_DIFFERENCE = "No difference found"
WITH = "With"
STARTS = (USE, NO_DIFFERENCE, WITH)  # of titles; they have a small letter after a colon
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
        which = "the recommended one"
        if answer.is_first_by_median:
            which = "the first by its median"
        return f"{no_difference(answer)}: {best.label}, {which}, {kept}"
    return f"{USE} {best.label} at ε = {budget_text(best.epsilon or 0.0)}: it {kept}"


def no_difference(answer: Answer) -> str:
    """Which methods are not told apart, and where; the answer has a best and rivals."""
    best = answer.best
    assert best is not None
    names = conclusions.names_text(
        [one.label for one in (best, *answer.rivals)], most=4
    )
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
    spend = answer.question.spend
    front = answer.judgement.front
    return [one for one in front if spend is None or (one.epsilon or 0.0) <= spend]


def claim(question: Question) -> str:
    """What an attacker may suspect of the people whom the question must protect."""
    return {
        "person": "that a given person took part",
        "group": f"that a given group of up to {question.group} people took part",
    }[question.protect]


# ---- the evidence --------------------------------------------------------------------------------


def sentences(answer: Answer) -> list[str]:
    """The evidence for the title: the scale, intervals, the next best, less epsilon."""
    best = answer.best
    judgement = answer.judgement
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
    other = answer.next_best
    gap = answer.gap(answer.next_best)
    if other is None or gap is None:
        return ""
    words = (
        f"Next best at the same ε: {other.label}, which {_share_words(answer, other)}"
    )
    count = len(gap.differences)
    if not gap.clear:
        return f"{words}; no difference was found in {count} draws."
    verdict = "worse" if gap.clear > 0 else "better"
    return f"{words}; it is {verdict} beyond chance (95%, {count} draws)."


def _less(answer: Answer) -> str:
    """What the next smaller epsilon gives."""
    best = answer.best
    cheaper = answer.cheaper
    gap = answer.gap(answer.cheaper)
    if best is None or cheaper is None:
        return ""
    is_other = cheaper.algorithm != best.algorithm
    which = best.label
    if is_other:
        which = f"the best, {cheaper.label},"
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


# ---- private data, before anything is paid -------------------------------------------------------

WORLDS = "simulated worlds of the declared shape"
# The most that the recommended method loses, as a share of what sharing is worth: over the data
# sets of benchmarks/results/advice.csv, against the best of `worlds.RIVALS`; rounded up.
DATA_SETS = "twelve"
MOST_LOST = 0.10
LARGEST_STARS = 10.0  # a scale that ends above is not of stars


def range_headline(expected: UnpaidRange, epsilon: float) -> str:
    """What the recommended method may bring, as a title."""
    title = algorithms.find(expected.method).title
    gain = _gain_words(expected, expected.gain(epsilon))
    return f"{WITH} {title} at ε = {budget_text(epsilon)}, {gain} on data of this shape"


def range_words(expected: UnpaidRange, epsilon: float) -> str:
    """What the method and sharing may bring, in a sentence."""
    low = max(expected.worth.low, 0.0)
    high = max(expected.worth.high, 0.0)
    return (
        f"On data of this shape {_gain_words(expected, expected.gain(epsilon))} compared with what"
        f" needs no sharing; sharing may be worth {low:.2f} to {high:.2f}{unit_of(expected)};"
        " nothing public tells which."
    )


def range_sentences(expected: UnpaidRange, epsilon: float) -> list[str]:
    """The range, the share, the worlds, why this method, and who chooses the epsilon."""
    parts = [
        range_words(expected, epsilon),
        _share_range_words(expected.share(epsilon)),
        worlds_words(expected),
        _recommendation_words(expected),
        "The choice of ε is yours: the table has what each may bring.",
    ]
    return [part for part in parts if part]


def _recommendation_words(expected: UnpaidRange) -> str:
    """Why this method; '' where the recommended one does not suit the shape, and for lists.

    The loss was measured for predicted ratings alone.
    """
    is_of_ratings = not expected.metric.larger_is_better
    if expected.method != RIVALS[0] or not is_of_ratings:
        return ""
    title = algorithms.find(expected.method).title
    return (
        f"{title} is recommended because it loses least: on {DATA_SETS} data sets at most"
        f" {conclusions.points_words(MOST_LOST, 0.0)} of what sharing is worth, compared with the"
        " best of three proven methods."
    )


def _gain_words(expected: UnpaidRange, gain: Span) -> str:
    """A change of the metric for the better, or for the worse where it is below 0."""
    if expected.metric.larger_is_better:
        name = expected.metric.title
        better = "rises"
        worse = "falls"
    else:
        name = "the error of a person"
        better = "falls"
        worse = "rises"
    unit = unit_of(expected)
    low = f"{gain.low:z.2f}"
    high = f"{gain.high:z.2f}"
    if not low.startswith("-"):
        if low == high:
            return f"{name} {better} by {low}{unit}"
        return f"{name} {better} by between {low} and {high}{unit}"
    most = low.removeprefix("-")
    if high.startswith("-") or not float(high):
        return f"{name} does not {better.removesuffix('s')}, and {worse} by up to {most}{unit}"
    return f"{name} {better} by up to {high}{unit} or {worse} by up to {most}"


def unit_of(expected: UnpaidRange) -> str:
    """The unit of a figure, after it."""
    if expected.metric.larger_is_better:
        return ""
    low, high = expected.runs.shape.bounds
    if low >= 0 and high <= LARGEST_STARS:
        return " stars"
    return " on the scale of the ratings"


def _share_range_words(share: Span | None) -> str:
    if share is None:
        return (
            f"In no world is there a share to keep: {conclusions.NOTHING_MEASURABLE}."
        )
    low = _clipped_share(share.low)
    high = _clipped_share(share.high)
    return f"Of what sharing is worth, it keeps between {low} and {high}."


def _clipped_share(share: float) -> str:
    """A share from 0% to 100%: a world's method may do better than its reference by chance."""
    return share_text(min(max(share, 0.0), 1.0))


def worlds_words(expected: UnpaidRange) -> str:
    """What the figures of a range are, in sentences."""
    shape = expected.runs.shape
    people = f"{shape.n_users:,} people"
    if shape.simulated_users < shape.n_users:
        people = f"{shape.simulated_users:,} people, with noise that weighs as much as for {people}"
    return (
        f"These are the least and the most over {len(expected.judgements)} {WORLDS} ({people};"
        f" {shape.n_items:,} items; about {shape.each:g} ratings a person), which differ in taste,"
        " noise and skew. They are no confidence interval, and real data may lie outside."
    )


def range_label(expected: UnpaidRange) -> str:
    """The label of a figure's axis."""
    if expected.metric.larger_is_better:
        return f"Rise of {expected.metric.title}"
    return f"Fall of the error, a person,{unit_of(expected)}"


def range_columns(expected: UnpaidRange) -> tuple[str, ...]:
    """The heads of `range_rows`."""
    label = range_label(expected)
    return "ε", f"{label}: least", "most", "share kept: least", "most of the share"


def range_rows(expected: UnpaidRange) -> list[tuple[str, ...]]:
    """What the method may bring at each epsilon, as text."""
    return [_range_row(expected, epsilon) for epsilon in expected.epsilons]


def _range_row(expected: UnpaidRange, epsilon: float) -> tuple[str, ...]:
    gain = expected.gain(epsilon)
    share = expected.share(epsilon)
    shares = ("", "")
    if share is not None:
        shares = (_clipped_share(share.low), _clipped_share(share.high))
    return budget_text(epsilon), f"{gain.low:z.2f}", f"{gain.high:z.2f}", *shares
