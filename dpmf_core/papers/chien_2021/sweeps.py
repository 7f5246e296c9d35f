"""What is run for the claims of Chien et al. 2021."""

from typing import Any

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import first_present
from dpmf_core.papers.methods import (
    ALS,
    DPALS,
    DPALS_SOURCE,
    DPFW,
    DPFW_SOURCE,
    EPSILONS,
    EXACT,
    FEW,
    FRESH,
    MEAN,
    PLAIN,
    films,
    on_lowrank,
)
from dpmf_core.privacy import Calibration
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

UNIFORM, ADAPTIVE = "50 a user, uniform", "50 a user, adaptive"  # as `popularity_skew` names them
DPFW_L = Method(
    algorithm="dpfw",
    label="DPFW, source's noise, rows to L",
    calibration=Calibration.SOURCE,
    parameters={"source_bound": "L"},
)
CLEANSING = Method(
    algorithm="svd-cleansing", label="SVD after cleansing", parameters={"row_clip": 0.5}
)
OWN_USERS = "DPALS, users of their own for each step"
FREQUENT = Method(
    algorithm="dpfw", label="DPFW on frequent films", parameters={"frequent_fraction": 0.1}
)
# predictions start from the user's mean
OWN_MEAN: dict[str, Value] = {"biases": "user", "regularisation": 0.08}


def _with_label(method: Method, label: str, **parameters: Value) -> Method:
    return method.model_copy(
        update={"label": label, "parameters": {**method.parameters, **parameters}}
    )


def every_film(full: bool) -> DataSpec:
    return films(full, None)


def top_films(full: bool) -> tuple[Sweep, ...]:
    methods = (DPALS, DPALS_SOURCE, DPFW, DPFW_SOURCE, DPFW_L, CLEANSING, ALS, MEAN)
    return (
        Sweep(
            data=films(full),
            methods=methods,
            epsilons=EPSILONS if full else FEW,
            seeds=tuple(range(5 if full else 2)),
        ),
    )


def all_films(full: bool) -> tuple[Sweep, ...]:
    methods = (_with_label(DPALS, "DPALS", biases=False), FREQUENT, ALS, MEAN)
    return (
        Sweep(
            data=films(full, None),
            methods=methods,
            epsilons=EPSILONS if full else (1.0, 20.0),
            seeds=tuple(range(5 if full else 2)),
        ),
    )


LISTS: dict[str, Value] = {
    "biases": False,
    "centring": "none",
    "unobserved_weight": 0.4,
    "frequent_fraction": 0.1,
    "clip_norm": 0.1,
    "regularisation": 40.0,
    "steps": 3,
    "rank": 16,
}
LIKES = Method(
    algorithm="als",
    label="ALS",
    parameters=PLAIN
    | {
        "unobserved_weight": 0.1,
        "rank": 32,
        "regularisation": 5.0,
        "regularisation_exponent": 0.0,
    },
)
POPULARITY = Method(algorithm="popularity", label="Popularity")


def likes(full: bool) -> DataSpec:
    """What people liked, of those who liked at least five things."""
    name = first_present("ml-20m", "ml-1m", "cinema") if full else first_present("ml-1m", "cinema")
    return DataSpec(id=name, positives_above=3.5, min_user_count=5)


def recall(full: bool) -> tuple[Sweep, ...]:
    methods = (
        LIKES,
        _with_label(DPALS, "DPALS", **LISTS),
        POPULARITY,
    )
    return (
        Sweep(
            data=likes(full),
            split=SplitSpec(kind="users", test_fraction=0.1),
            methods=methods,
            epsilons=(1.0, 5.0, 10.0, 20.0) if full else (1.0, 20.0),
            seeds=FRESH if full else FRESH[:2],
        ),
    )


def more_users(full: bool) -> tuple[Sweep, ...]:
    names = (
        ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")
        if full
        else ("lowrank-5k", "lowrank-10k")
    )
    methods = on_lowrank(DPALS, DPFW, DPFW_SOURCE, EXACT, MEAN)
    return tuple(
        Sweep(
            data=DataSpec(id=name),
            methods=methods,
            epsilons=EPSILONS if full else (5.0, 20.0),
            seeds=tuple(range(3 if full else 2)),
        )
        for name in names
    )


def own_users(full: bool) -> tuple[Sweep, ...]:
    """DPALS as analysed, each step with users of its own, and as run, over more and more users."""
    names = (
        ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")
        if full
        else ("lowrank-5k", "lowrank")
    )
    methods = on_lowrank(_with_label(DPALS, OWN_USERS, disjoint_users=True), DPALS, MEAN)
    return tuple(
        Sweep(
            data=DataSpec(id=name),
            methods=methods,
            epsilons=EPSILONS if full else (5.0, 20.0),
            seeds=tuple(range(3 if full else 2)),
        )
        for name in names
    )


def film_share(full: bool) -> tuple[Sweep, ...]:
    rank = 128 if full else 16
    common: dict[str, Value] = {
        "rank": rank,
        "ratings_per_user": 50,
        "biases": False,
        "noise_ridge": 0.0,
    }
    open_: dict[str, Value] = {**OWN_MEAN, "rank": rank}
    als = Method(algorithm="als", label="ALS", parameters=open_)
    sample = {"ratings_per_user": 50}
    methods = (
        _with_label(DPALS, "Uniform sampling", **common, sampling="uniform"),
        _with_label(DPALS, "Adaptive sampling", **common, sampling="adaptive"),
        _with_label(DPALS, "Uniform, no PSD projection", **common, sampling="uniform", psd=False),
        als,
        _with_label(als, "ALS, uniform sample", **sample, sampling="uniform"),
        _with_label(als, "ALS, adaptive sample", **sample, sampling="adaptive"),
    )
    shares = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0) if full else (0.1, 0.3, 1.0)
    return (
        Sweep(
            data=films(full, None),
            methods=methods,
            epsilons=(10.0,),
            seeds=tuple(range(3 if full else 2)),
            grid={"frequent_fraction": shares},
        ),
    )


def by_step(full: bool) -> tuple[Sweep, ...]:
    walk: dict[str, Value] = {"steps": 20, "nuclear_norm": 0.447}
    methods = (
        *on_lowrank(
            _with_label(DPALS, "DPALS", steps=10),
            _with_label(DPFW_SOURCE, "DPFW, source's noise", **walk),
            _with_label(DPFW, "DPFW", **walk),
            _with_label(EXACT, "ALS", steps=10),
        ),
        Method(algorithm="fw", label="Frank-Wolfe", parameters={**walk, "biases": False}),
    )
    data = DataSpec(id="lowrank-50k" if full else "lowrank-5k")
    return (Sweep(data=data, methods=methods, epsilons=(20.0,), seeds=(0, 1)),)


def fewer_users(full: bool) -> tuple[Sweep, ...]:
    """About a quarter of the users: the synthetic set exists at sizes that far apart, of one
    law.
    """
    small, large = ("lowrank-10k", "lowrank-50k") if full else ("lowrank-5k", "lowrank")
    few, every, exact = on_lowrank(
        _with_label(DPALS, "DPALS, a quarter of the users"),
        _with_label(DPFW_SOURCE, "DPFW, all users, source's noise"),
        _with_label(DPFW, "DPFW, all users"),
    )
    common: dict[str, Any] = {
        "epsilons": EPSILONS if full else (5.0, 20.0),
        "seeds": (0, 1),
    }
    return (
        Sweep(data=DataSpec(id=small), methods=(few,), **common),
        Sweep(data=DataSpec(id=large), methods=(every, exact), **common),
    )


# the ridge of the source, without one that follows the noise
SOURCE_RIDGE_DPALS = _with_label(DPALS, "DPALS", noise_ridge=0.0)


def _one_parameter(
    full: bool, name: str, values: tuple[Value, ...], epsilons: tuple[float, ...], *more: Method
) -> tuple[Sweep, ...]:
    """One line an epsilon, and other methods along the same values."""
    lines = [
        (_with_label(SOURCE_RIDGE_DPALS, f"DPALS, ε = {budget_text(epsilon)}"), epsilon)
        for epsilon in epsilons
    ]
    return tuple(
        Sweep(
            data=films(full),
            methods=(method, *more) if at == 0 else (method,),
            epsilons=(epsilon,),
            seeds=tuple(range(5 if full else 2)),
            grid={name: values},
        )
        for at, (method, epsilon) in enumerate(lines)
    )


def ranks(full: bool) -> tuple[Sweep, ...]:
    values = (2, 4, 8, 16, 32, 64, 128) if full else (2, 8, 32)
    return _one_parameter(full, "rank", values, (1.0, 20.0) if full else (1.0,), ALS)


def ridges(full: bool) -> tuple[Sweep, ...]:
    values = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0) if full else (0.1, 1.0, 10.0, 100.0)
    return _one_parameter(full, "regularisation", values, (1.0, 1000.0))
