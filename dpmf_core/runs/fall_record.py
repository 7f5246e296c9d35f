"""The record of a measurement: what a model brought its people, and what knowing it cost."""

from typing import Self

from pydantic import ConfigDict

from dpmf_core.base.frozen import Frozen
from dpmf_core.privacy import Relation, neighbours
from dpmf_core.privacy.events import event_of_rows, normal_form
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.receipts import Receipt
from dpmf_core.runs.paired_errors import Floor
from dpmf_core.runs.privacy_record import (
    GuaranteeRecord,
    NotNegative,
    ReleaseRecord,
)

TITLE = "Fall of the error, a person"
COUNTS = (
    "Every person with held-out ratings counts once, however many they have, and a mean squared"
    " error above the square of half the rating range counts as that."
)


class FallPrice(Frozen):
    """The cost of a measurement.

    Attributes
    ----------
    epsilon, delta, relation
        The guarantee of the measurement alone.
    together
        The epsilon of run and measurement, by the rule.
    ledger
        The releases of the measurement.
    rule
        The id of the composition rule.
    """

    epsilon: NotNegative
    delta: NotNegative
    relation: Relation
    together: NotNegative
    ledger: tuple[ReleaseRecord, ...]
    rule: str = "exact"

    @property
    def words(self) -> str:
        """The prices, as printed."""
        together = epsilon_text(self.together, 3)
        relation = neighbours("user", self.relation)
        return (
            f"The measurement cost ε = {budget_text(self.epsilon)}. Run and measurement together"
            f" cost ε = {together} (δ = {delta_text(self.delta)}, {relation}, {self.rule})."
        )


class FallRecord(Frozen):
    """How far a model's held-out error lies below that of what needs no model of others.

    All errors are root mean squares over people with held-out ratings, in units of a rating.

    Attributes
    ----------
    value, low, high : float
        The fall, and an interval that contains it in at least 95% of draws of the noise. On public
        data all three are exact and equal.
    floor : str
        What the model is compared with: the better of each person's own mean and one constant.
    constant : float
        The constant: the mean of people's means, released with noise on private data.
    error, error_low, error_high : float
        The model's error.
    own_clip, constant_clip : float or None
        Where one person's difference of squared errors from each floor is cut off, in squared units
        of a rating; None if it is not.
    price : Price or None
        None on public data.
    receipt : Receipt or None
        The charge; it stays on the machine.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    value: float
    low: float
    high: float
    floor: Floor
    constant: float
    error: NotNegative
    error_low: NotNegative
    error_high: NotNegative
    own_clip: NotNegative | None = None
    constant_clip: NotNegative | None = None
    price: FallPrice | None = None
    receipt: Receipt | None = None

    @property
    def is_exact(self) -> bool:
        """Whether it was computed without noise, on public data."""
        return self.price is None

    @property
    def floor_words(self) -> str:
        """What the model is compared with, as printed."""
        if self.floor == "own mean":
            return "each person's own mean"
        return f"guessing {self.constant:.2f} for everyone"

    @property
    def headline(self) -> str:
        """The figure with its interval, in one sentence."""
        value = f"{self.value:z.3f}"
        if self.is_exact:
            return f"{TITLE}: {value} against {self.floor_words}."
        if self.is_unknown:
            return f"{TITLE}: unknown. There are too few people for so much noise."
        ends = f"{self.low:z.3f} to {self.high:z.3f}"
        return f"{TITLE}: {value} ({ends}) against {self.floor_words}."

    @property
    def is_unknown(self) -> bool:
        """Whether the noise hides everything, so that the interval contains all possible falls."""
        return not self.value and self.low == -self.high < 0

    @property
    def meaning(self) -> str:
        """What the figure counts, and what noise and clips do to it."""
        if self.is_exact:
            return (
                f"{COUNTS} The data are public, so the figure is exact: it has no noise, and no"
                " difference is cut off."
            )
        clip = self.constant_clip
        if self.floor == "own mean":
            clip = self.own_clip
        return (
            f"{COUNTS} One person's difference of squared errors counts as ±{clip:.2g} at most,"
            " which mostly makes the figure smaller: it is what people gain whose gain is not"
            " extreme. The interval contains the figure in 95% of draws of the noise."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything that is printed about it, in order."""
        prices = () if self.price is None else (self.price.words,)
        return self.headline, self.meaning, *prices

    def charge(self, title: str, guarantee: GuaranteeRecord) -> Charge | None:
        """Its charge to an account, for a run of this title and guarantee; None if it is exact."""
        if self.price is None:
            return None
        ledger = normal_form(
            event_of_rows([row.model_dump() for row in self.price.ledger])
        )
        return Charge(
            charge_title(title),
            ledger,
            guarantee.status,
            guarantee.unit,
            self.price.delta,
            self.price.relation,
        )

    def exported(self) -> Self:
        """The record as it may leave the machine."""
        return self.model_copy(update={"receipt": None})


def charge_title(title: str) -> str:
    """The name of a measurement's charge, for the run of this title."""
    return f"fall of the error, {title}"
