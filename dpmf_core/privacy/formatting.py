"""Privacy losses as text: on pages, in terminals, tables, files and links."""

import math
from decimal import ROUND_CEILING, Decimal

from dpmf_core.privacy.guarantee import neighbours


def epsilon_text(epsilon: float | None, decimals: int = 2) -> str:
    """A computed epsilon, rounded up, so that it never reads lower than it is.

    It has this many decimals, or two digits below 0.1. A dash stands for none.
    """
    if epsilon is None:
        return "-"
    if not 0 < epsilon < math.inf:
        return f"{epsilon:.{decimals}f}"
    small = epsilon < 0.1
    # without floating-point error
    exact = Decimal(f"{epsilon:.{'6g' if small else '5f'}}")
    last = exact.adjusted() - 1 if small else -decimals
    above = exact.quantize(Decimal(1).scaleb(last), ROUND_CEILING)
    if small:
        return f"{float(above):.2g}"
    return f"{above:.{decimals}f}"


def budget_text(epsilon: float) -> str:
    """A chosen epsilon as a person types it: 2, 0.5, 19.61; at most six digits."""
    text = f"{epsilon:.6g}"
    if "e" not in text:
        return text
    if epsilon < 1:
        return f"{epsilon:.12f}".rstrip("0").rstrip(".")
    return f"{epsilon:.0f}"


def epsilon_number(epsilon: float | None) -> float | None:
    """An epsilon for a table or a file, rounded to six digits to hide floating-point error."""
    if epsilon is None:
        return None
    return float(f"{epsilon:.6g}")


def delta_text(delta: float) -> str:
    """1e-5, 1.67e-5: at most three significant digits; 0 stays 0."""
    if not delta:
        return "0"
    mantissa, _, exponent = f"{delta:.2e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def epsilon_in_full(
    epsilon: float,
    delta: float,
    unit: str = "user",
    relation: str = "add-remove",
    rule: str = "exact",
) -> str:
    """Epsilon with all its terms: "ε = 2.00 (δ = 1e-6, per user, add/remove, exact)".

    The relation is a `Relation` or its text in a record.
    """
    # what earlier records call an upper bound
    if relation == "replace-one" and rule == "exact":
        rule = "at most"
    return (
        f"ε = {epsilon_text(epsilon)} (δ = {delta_text(delta)}, per {unit},"
        f" {neighbours(unit, relation)}, {rule})"
    )
