"""The noise that Jain, Thakkar & Thakurta 2018 [J18] draw on second moments of rows.

Alg. 1: sigma^2 = 64 L^4 T ln(1/delta) / eps^2 on each of T sums of a a^T. Ratings and iterates are
rows within L there, so a residual is within 2L and moves the sum by 4 L^2. Alg. 4 draws the same
with T = 1, on rows that it projects to L. docs/PRIVACY.md, "Jain et al. 2018".
"""

import math
from typing import Any, Literal

from pydantic import Field

RowBound = Literal["2L", "L"]
SENSITIVITIES: dict[RowBound, float] = {"2L": 4.0, "L": 1.0}  # of the sum, in L^2


def noise_level(epsilon: float, delta: float, row_bound: RowBound) -> float:
    """sigma / sqrt(T), in units of what one user moves the sum by.

    row_bound: how long a row that enters the sum may be, in the source's L.
    """
    return 8 * math.sqrt(-math.log(delta)) / epsilon / SENSITIVITIES[row_bound]


def row_bound_field() -> Any:
    """The parameter that says which of the source's bounds an algorithm's row clip is."""
    return Field(
        "2L",
        title="row clip in the source's L",
        description=(
            "under the source's calibration only: 2L, which residuals cannot exceed there and for"
            " which its noise is made; or L, with noise four times as large"
        ),
    )
