"""A private class: counts of students' answers, published with noise.

Neighbours are classes in which one student gave a different answer; the number of answers is
public. A different answer changes two counts by 1 each, 2 in L1 norm, so Laplace noise of scale 2/ε
on every count has pure ε. One account adds up all publications of a class.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Laplace, Relation, Status, normal_form
from dpmf_core.privacy.account_files import accounts_file
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.teaching import class_records

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
MOST = 5.0  # ε of all publications of a class together
STATISTIC = "answers"
FEW = 10  # answers below which noise hides what a class answered
ROUNDING = 1e-9  # of a sum of epsilons


def spent_epsilon(class_id: str) -> float:
    """The total epsilon of all publications of a class."""
    entries = _account(class_id).entries
    leaves = [leaf for entry in entries for leaf in entry.charge.ledger]
    return sum(
        count * leaf.pure_epsilon(leaf.multiplier(Relation.REPLACE_ONE))
        for leaf, count in leaves
    )


def mechanism(epsilon: float) -> Laplace:
    """The mechanism of one publication."""
    return Laplace(2 / epsilon, STATISTIC, sensitivity=1.0, replace_one_factor=2.0)


SHARE = 0.95  # of counts that are within the printed range


def noise_range(epsilon: float) -> int:
    """The n for which the noise of a count is between -n and n with probability `SHARE`.

    Rounded Laplace noise of scale b is within n with probability 1 - exp(-(n + 1/2)/b).

    Parameters
    ----------
    epsilon
        The epsilon of the publication.
    """
    scale = mechanism(epsilon).noise_multiplier
    return max(0, math.ceil(-scale * math.log1p(-SHARE) - 0.5))


def counts_of(answers: Sequence[str], n_choices: int) -> list[int]:
    """How many answers chose each option. Answers are the indices of options, as text."""
    return [
        sum(answer == str(number) for answer in answers) for number in range(n_choices)
    ]


def publish(class_id: str, step: str, n_choices: int, epsilon: float) -> None:
    """Publish the answers to one question. Raises BadInput if the account has no room.

    The same answers at the same epsilon are drawn and charged only once.
    """

    def draw(answers: Sequence[str]) -> list[int]:
        return noisy_counts(class_id, step, counts_of(answers, n_choices), epsilon)

    class_records.publish(class_id, step, epsilon, draw)


def noisy_counts(
    class_id: str, step: str, counts: Sequence[int], epsilon: float
) -> list[int]:
    """Charge and draw the noise of one publication, which `publish` keeps.

    Counts are integers: the last digits of a floating-point sum would separate count and noise.
    Raises BadInput if all publications of the class would exceed `MOST`; nothing is drawn then.
    """
    total = spent_epsilon(class_id) + epsilon
    if total > MOST * (1 + ROUNDING):
        raise BadInput(
            f"All publications of a class cost at most ε = {epsilon_text(MOST)} together; this one"
            f" would make it {epsilon_text(total)}. Nothing was published. Choose a smaller ε."
        )
    leaf = mechanism(epsilon)
    title = f"answers to {step}"
    relation = Relation.REPLACE_ONE
    charge = Charge(
        title, normal_form(leaf), Status.PROVEN, "student", relation=relation
    )
    with _account(class_id).reserve(charge) as permit:
        noisy = permit.noise(leaf).vector(
            STATISTIC, np.array(counts, float), sensitivity=1.0
        )
    return [round(float(value)) for value in noisy]


def _account(class_id: str) -> Account:
    return Account(accounts_file(), f"class {class_id}")
