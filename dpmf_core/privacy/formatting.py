"""Privacy losses as they are printed, with all that they rest on."""

from dpmf_core.language import phrase
from dpmf_core.language.losses import budget_text, delta_text, epsilon_number, epsilon_text
from dpmf_core.privacy.guarantee import neighbours

__all__ = ["budget_text", "delta_text", "epsilon_in_full", "epsilon_number", "epsilon_text"]


def epsilon_in_full(
    epsilon: float,
    delta: float,
    unit: str = "user",
    relation: str = "add-remove",
    rule: str = "exact",
    *,
    ascii_only: bool = False,
) -> str:
    """Epsilon with all that it rests on: "ε = 2.00 (δ = 1e-6, per user, add/remove, exact)".

    relation: a `Relation`, or as a record has it. ascii_only: "epsilon" and "delta" are spelled.
    """
    text = phrase(
        "ε = {epsilon} (δ = {delta}, per {unit}, {relation}, {rule})",
        epsilon=epsilon_text(epsilon),
        delta=delta_text(delta),
        unit=phrase(unit),
        relation=neighbours(unit, relation),
        rule=phrase(rule),
    )
    return text.replace("ε", "epsilon").replace("δ", "delta") if ascii_only else text
