"""Privacy losses as printed, with all their terms."""

from dpmf_core.base.loss_text import (
    budget_text,
    certainty_text,
    delta_text,
    epsilon_number,
    epsilon_text,
)
from dpmf_core.privacy.guarantee import neighbours

__all__ = [
    "budget_text",
    "certainty_text",
    "delta_text",
    "epsilon_in_full",
    "epsilon_number",
    "epsilon_text",
]


def epsilon_in_full(
    epsilon: float,
    delta: float,
    unit: str = "user",
    relation: str = "add-remove",
    rule: str = "exact",
    *,
    ascii_only: bool = False,
) -> str:
    """Epsilon with all its terms: "ε = 2.00 (δ = 1e-6, per user, add/remove, exact)".

    relation: a `Relation` or its text in a record. ascii_only: spell out "epsilon" and "delta".
    """
    if relation == "replace-one" and rule == "exact":  # what earlier records call an upper bound
        rule = "at most"
    text = (
        f"ε = {epsilon_text(epsilon)} (δ = {delta_text(delta)}, per {unit},"
        f" {neighbours(unit, relation)}, {rule})"
    )
    return text.replace("ε", "epsilon").replace("δ", "delta") if ascii_only else text
