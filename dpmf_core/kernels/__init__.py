"""Compiled inner loops. No privacy here.

Compiled code is loaded when first used, because numba takes longer to load than a trivial fit runs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpmf_core.kernels.conjugate_gradients import CG_STEPS as CG_STEPS
    from dpmf_core.kernels.conjugate_gradients import WarmStart as WarmStart
    from dpmf_core.kernels.conjugate_gradients import refine_rows as refine_rows
    from dpmf_core.kernels.least_squares import solve_psd as solve_psd
    from dpmf_core.kernels.least_squares import solve_rows as solve_rows
    from dpmf_core.kernels.lists import best_unseen as best_unseen
    from dpmf_core.kernels.lists import best_unseen_products as best_unseen_products
    from dpmf_core.kernels.normal_equations import right_sides as right_sides
    from dpmf_core.kernels.normal_equations import weighted_grams as weighted_grams
    from dpmf_core.kernels.posterior import draw_rows as draw_rows
    from dpmf_core.kernels.rating_loops import error_sums as error_sums
    from dpmf_core.kernels.rating_loops import predict_pairs as predict_pairs
    from dpmf_core.kernels.rating_loops import predict_ratings as predict_ratings
    from dpmf_core.kernels.rating_loops import residuals as residuals
    from dpmf_core.kernels.rating_loops import round_towards_zero as round_towards_zero
    from dpmf_core.kernels.rating_loops import segment_sums as segment_sums

# the module of each compiled name
PLACES = {
    name: module
    for module, names in {
        "conjugate_gradients": ("CG_STEPS", "WarmStart", "refine_rows"),
        "least_squares": ("solve_psd", "solve_rows"),
        "lists": ("best_unseen", "best_unseen_products"),
        "normal_equations": ("right_sides", "weighted_grams"),
        "posterior": ("draw_rows",),
        "rating_loops": (
            "predict_pairs",
            "predict_ratings",
            "residuals",
            "segment_sums",
            "error_sums",
            "round_towards_zero",
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
