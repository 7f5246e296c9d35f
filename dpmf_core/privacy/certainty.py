"""How certain an attacker can become, in words. No other module puts a certainty into words.

A certainty holds under premises: the noise, delta, the privacy unit and the relation. So each
sentence states them. A bound has one decimal and is rounded up. The table in docs/PRIVACY.md,
"Sentences", lists where each sentence is shown.
"""

import functools
import math
from dataclasses import dataclass

from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.events import Event, normal_form
from dpmf_core.privacy.formatting import delta_text
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_mu
from dpmf_core.privacy.guarantee import PERSON, VALUE, neighbours
from dpmf_core.privacy.interpretation import exception_of
from dpmf_core.privacy.mechanisms import Gaussian, Relation

LEAST_DOUBT = 1e-6  # percent; smaller doubts are not shown
FEWEST_CASES = 10**5
MOST_CASES = 10**12
ROUNDING = 1e-9  # relative, of a number that is rounded up
GAUSSIAN_NOISE = "Gaussian noise"
WHAT_IS_AN_EXCEPTION = (
    "An exception is a case in which the attacker becomes more certain than the bound, often only"
    " a little. It does not mean that someone is revealed."
)
TOOK_PART = "that you took part"
# by privacy unit: what an attacker may suspect
CLAIMS = {
    "user": TOOK_PART,
    PERSON: TOOK_PART,
    "document": "that a document is in the data",
    "image": "that an image is in the data",
    VALUE: "which of two values a rating has",
}


@dataclass(frozen=True)
class Certainty:
    """The most that someone who starts at 50:50 can become certain, with its premises.

    Attributes
    ----------
    epsilon, delta : float
        Those of the releases together.
    exception : float or None
        A bound on the probability that the attacker becomes more certain. None if it is not known,
        for example if only the price of a private selection is known.
    unit : str
        The privacy unit.
    relation
        Which data sets are neighbours.
    noise : str
        The noise that the exception was computed for.
    """

    epsilon: float
    delta: float
    exception: float | None
    unit: str = "user"
    relation: Relation = Relation.ADD_REMOVE
    noise: str = GAUSSIAN_NOISE

    @property
    def percent(self) -> str:
        """The bound, such as "88.1%"; "almost 100%" if the remaining doubt is tiny.

        It has one decimal and is rounded up, with more decimals only where one would read 100%.
        """
        return bound_text(self.epsilon)

    @property
    def in_hundred(self) -> int:
        """The bound as a number of figures in a hundred, at most 99."""
        return min(99, round(100 - _doubt(self.epsilon)))

    @property
    def exceptions(self) -> str:
        """How often the attacker may become more certain; '' if unknown, or if they hardly can."""
        if self.exception is None or _doubt(self.epsilon) < LEAST_DOUBT:
            return ""
        if self.exception == 0.0:
            return "There are no exceptions"
        return f"In up to {cases_text(self.exception)} they may become more certain than that"

    @property
    def premises(self) -> str:
        """What the number was computed for."""
        if self.exception is not None:
            slack = ""
        else:
            slack = "up to a slack of "
        terms = [self.noise, f"{slack}δ = {delta_text(self.delta)}", f"per {self.unit}"]
        return ", ".join([*terms, neighbours(self.unit, self.relation)])

    def words(self, claim: str = "") -> str:
        """The bound, its exceptions and its premises in sentences.

        Parameters
        ----------
        claim : str
            What the attacker suspects, such as "that you took part"; by default that of the unit.
        """
        return self.with_premises(
            f"Someone who starts at 50:50 can become {self.verdict(claim)}"
        )

    @property
    def words_of_figure(self) -> str:
        """What `percent` is, as the rest of a sentence that begins with it.

        `words` states the premises in full, next to it.
        """
        what = "is the highest certainty that someone who starts at 50:50 can reach"
        if self.exception and self.exceptions:
            rarely = ", with rare exceptions"
        else:
            rarely = ""
        return f"{what} {self.claim}{rarely}."

    def with_premises(self, sentence: str) -> str:
        """A sentence about the bound, without its full stop, with exceptions and premises."""
        if not self.exceptions:
            return f"{sentence} ({self.premises})."
        return f"{sentence}. {self.exceptions} ({self.premises})."

    @property
    def claim(self) -> str:
        """What an attacker may suspect of the privacy unit."""
        return CLAIMS.get(self.unit, f"that one {self.unit} is in the data")

    def verdict(self, claim: str = "") -> str:
        """The bound as the end of a sentence, such as "at most 88.1% sure that you took part"."""
        sure = "almost certain"
        if _doubt(self.epsilon) >= LEAST_DOUBT:
            sure = f"at most {self.percent} sure"
        return f"{sure} {claim or self.claim}"


def _doubt(epsilon: float) -> float:
    """What an even suspicion leaves in doubt, in percent."""
    return 100 / (1 + math.exp(min(epsilon, 700.0)))


def bound_text(epsilon: float) -> str:
    """e^epsilon / (1 + e^epsilon) as "88.1%", rounded up; see `Certainty.percent`."""
    doubt = _doubt(epsilon)
    if doubt < LEAST_DOUBT:
        return "almost 100%"
    decimals = max(1, math.ceil(-math.log10(doubt)))
    most = math.ceil((100 - doubt) * 10**decimals - 1e-6) / 10**decimals
    return f"{most:.{decimals}f}%"


def cases_text(exception: float) -> str:
    """A probability above 0 as "9 of 100,000 cases", rounded up.

    Of as many cases as make it at least one, in powers of ten from 100,000.
    """
    n_cases = FEWEST_CASES
    while exception * n_cases < 1 and n_cases < MOST_CASES:
        n_cases *= 10
    count = math.ceil(exception * n_cases * (1 - ROUNDING))
    return f"{count:,} of {n_cases:,} cases"


def success_text(success: float) -> str:
    """How often the best attacker is right, as a sentence, for `success` in [1/2, 1]."""
    times = f"{100 * success:.0f}"
    if success >= 0.995:
        times = "over 99"
    return (
        f"The best attacker is right {times} times in 100; guessing is right 50 times."
    )


@functools.lru_cache(maxsize=1024)
def certainty_at(epsilon: float, delta: float, unit: str = "user") -> Certainty:
    """The certainty for Gaussian noise that costs exactly epsilon at delta."""
    gaussian = Gaussian(1 / gaussian_mu(epsilon, delta))
    return Certainty(epsilon, delta, exception_of(gaussian, epsilon), unit)


@functools.lru_cache(maxsize=256)
def certainty_of(event: Event, delta: float, unit: str = "user") -> Certainty:
    """The certainty for releases, by their exact curve."""
    epsilon = epsilon_of(event, delta)
    exception = exception_of(event, epsilon)
    return Certainty(epsilon, delta, exception, unit, noise=noise_of(event))


def noise_of(event: Event) -> str:
    """The kinds of noise in an event, such as "Gaussian noise"."""
    if all_gaussian(event):
        return GAUSSIAN_NOISE
    kinds = dict.fromkeys(leaf.mechanism for leaf, _ in normal_form(event))
    return " and ".join(f"{kind} noise" for kind in kinds)
