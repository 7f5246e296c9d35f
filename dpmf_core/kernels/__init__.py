"""Compiled inner loops. No privacy here.

Compiled code is loaded when first used, because numba takes longer to load than a trivial fit runs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpmf_core.kernels.compilation import compile_kernel
    from dpmf_core.kernels.conjugate_gradients import (
        CG_STEPS,
        RowSolver,
        WarmStart,
        refine_rows,
    )
    from dpmf_core.kernels.least_squares import solve_psd, solve_rows
    from dpmf_core.kernels.lists import best_unseen, best_unseen_products
    from dpmf_core.kernels.normal_equations import right_sides, weighted_grams
    from dpmf_core.kernels.posterior import draw_rows
    from dpmf_core.kernels.rows import (
        error_sums,
        predict_pairs,
        predict_ratings,
        rank_segments,
        residuals,
        round_towards_zero,
        segment_sums,
        unfold,
    )

__all__ = [
    "CG_STEPS",
    "RowSolver",
    "WarmStart",
    "best_unseen",
    "best_unseen_products",
    "compile_kernel",
    "draw_rows",
    "error_sums",
    "predict_pairs",
    "predict_ratings",
    "rank_segments",
    "refine_rows",
    "residuals",
    "right_sides",
    "round_towards_zero",
    "segment_sums",
    "solve_psd",
    "solve_rows",
    "unfold",
    "weighted_grams",
]
# the module of each compiled name
PLACES = {
    name: module
    for module, names in {
        "compilation": ("compile_kernel",),
        "conjugate_gradients": ("CG_STEPS", "RowSolver", "WarmStart", "refine_rows"),
        "least_squares": ("solve_psd", "solve_rows"),
        "lists": ("best_unseen", "best_unseen_products"),
        "normal_equations": ("right_sides", "weighted_grams"),
        "posterior": ("draw_rows",),
        "rows": (
            *("predict_pairs", "predict_ratings", "rank_segments", "residuals"),
            *("segment_sums", "unfold", "error_sums", "round_towards_zero"),
        ),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module 'dpmf_core.kernels' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"dpmf_core.kernels.{PLACES[name]}"), name)
    globals()[name] = value  # asked for once
    return value
