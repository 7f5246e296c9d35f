"""Privacy losses as text: on pages, in terminals, tables, files and links."""


def epsilon_text(epsilon: float | None) -> str:
    """A computed epsilon: two decimals, or two digits if small; a dash if there is none."""
    if epsilon is None:
        return "-"
    return f"{epsilon:.2f}" if epsilon >= 0.01 or not epsilon else f"{epsilon:.2g}"


def budget_text(epsilon: float) -> str:
    """A chosen epsilon as a person types it: 2, 0.5, 19.61; at most six digits."""
    text = f"{epsilon:.6g}"
    if "e" not in text:
        return text
    return f"{epsilon:.12f}".rstrip("0").rstrip(".") if epsilon < 1 else f"{epsilon:.0f}"


def epsilon_number(epsilon: float | None) -> float | None:
    """An epsilon for a table or a file, rounded to six digits to hide floating-point error."""
    return None if epsilon is None else float(f"{epsilon:.6g}")


def delta_text(delta: float) -> str:
    """1e-5, 1.67e-5: at most three significant digits; 0 stays 0."""
    if not delta:
        return "0"
    mantissa, _, exponent = f"{delta:.2e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
