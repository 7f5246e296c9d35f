"""A private class: how many students gave which answer, published with noise.

Neighbours are classes in which one student gave another answer; how many answered is public. A
publication moves two counts by 1 each, 2 in L1 norm, so Laplace noise of scale 2/ε on every count
has pure ε. All publications of a class are charged to one account, and their epsilons add up.
"""

from collections.abc import Sequence

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Laplace, Relation, Status, normal_form
from dpmf_core.privacy.account_files import accounts_file
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.odometer import Charge

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
MOST = 5.0  # ε of all publications of a class together
STATISTIC = "answers"
ROUNDING = 1e-9  # of a sum of epsilons


def spent_epsilon(class_id: str) -> float:
    """What all publications of a class cost a student together."""
    entries = _account(class_id).entries
    leaves = [leaf for entry in entries for leaf in entry.charge.ledger]
    return sum(
        count * leaf.pure_epsilon(leaf.multiplier(Relation.REPLACE_ONE)) for leaf, count in leaves
    )


def mechanism(epsilon: float) -> Laplace:
    """The release of one publication."""
    return Laplace(2 / epsilon, STATISTIC, sensitivity=1.0, replace_one_factor=2.0)


def counts_of(answers: Sequence[str], n_choices: int) -> list[int]:
    """How often each choice was the answer. answers: numbers of choices, from 0."""
    return [sum(answer == str(number) for answer in answers) for number in range(n_choices)]


def noisy_counts(class_id: str, step: str, counts: Sequence[int], epsilon: float) -> list[int]:
    """Draw the noise of one publication; it is charged before.

    Every call is another draw and another charge: `class_records.publish` keeps the counts, so that
    they are shown again for nothing. They are whole numbers: the last digits of a floating-point
    sum would tell count and noise apart.

    Parameters
    ----------
    step
        The question.

    Raises
    ------
    BadInput
        If all publications of the class would cost more than `MOST`; nothing is drawn then.
    """
    total = spent_epsilon(class_id) + epsilon
    if total > MOST * (1 + ROUNDING):
        raise BadInput(
            f"All publications of a class cost at most ε = {epsilon_text(MOST)} together; this one"
            f" would make it {epsilon_text(total)}. Nothing was published. Choose a smaller ε."
        )
    leaf = mechanism(epsilon)
    charge = Charge(
        f"answers to {step}",
        normal_form(leaf),
        Status.PROVEN,
        "student",
        relation=Relation.REPLACE_ONE,
    )
    with _account(class_id).reserve(charge) as permit:
        noisy = permit.noise(leaf).vector(STATISTIC, np.array(counts, float), sensitivity=1.0)
    return [round(float(it)) for it in noisy]


def _account(class_id: str) -> Account:
    return Account(accounts_file(), f"class {class_id}")
