"""Runs for the claims and presets of Chien et al. 2021.

Section 6.1: parameters are chosen on validation ratings and evaluated on test ratings. The searched
ranges are in its appendix D, which is not available here, so the grids are ours.
"""

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import first_present
from dpmf_core.papers.methods import (
    ALS,
    CLEANSING,
    DPALS,
    DPALS_SOURCE,
    DPFW,
    EPSILONS,
    EXACT,
    FEW,
    LOWRANK_ROW,
    MEAN,
    PLAIN,
    SOURCE_DPFW,
    Grid,
    alike,
    dpfw_as_printed,
    films,
    frank_wolfe_grid,
    largest_row,
    on_lowrank,
)
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

UNIFORM, ADAPTIVE = "50 a user, uniform", "50 a user, adaptive"  # as `popularity_skew` names them
TUNED = SplitSpec(validation_fraction=0.1)
# Algorithm 1 with the heuristics of section 5: a global mean, the k rarest items, equal noise on
# Grams and right-hand sides; no item biases and no ridge that follows the noise
AS_PRINTED: dict[str, Value] = {
    "biases": False,
    "centring": "global",
    "sampling": "adaptive",
    "gram_share": 0.5,
    "noise_ridge": 0.0,
    "ratings_per_user": 50,
    "steps": 5,
}
RANKS, RIDGES, SHARES = (2, 8), (10.0, 100.0, 1000.0), (0.5, 1.0)


def _with_label(method: Method, label: str, **parameters: Value) -> Method:
    return method.model_copy(
        update={"label": label, "parameters": {**method.parameters, **parameters}}
    )


PRINTED = _with_label(DPALS, "DPALS", **AS_PRINTED)
PRINTED_SOURCE = _with_label(DPALS_SOURCE, "DPALS, source's noise", **AS_PRINTED)


def _seeds(full: bool, n_draws: int) -> tuple[int, ...]:
    return tuple(range(n_draws if full else 2))


def every_film(full: bool) -> DataSpec:
    return films(full, None)


def tuned(
    data: DataSpec,
    dpals: tuple[Method, ...],
    others: tuple[Method, ...],
    epsilons: tuple[float, ...],
    full: bool,
) -> tuple[Sweep, ...]:
    """Return DPALS over a grid of rank, item ridge and share of frequent items, and others.

    Every draw chooses on its validation ratings.
    """
    grid: Grid = {
        "rank": (*RANKS, 32, 128) if full else RANKS,
        "regularisation": (1.0, *RIDGES) if full else RIDGES,
        "frequent_fraction": (0.25, *SHARES) if full else SHARES,
    }
    seeds = _seeds(full, 5)
    return alike(
        (dpals, grid), (others, {}), data=data, split=TUNED, epsilons=epsilons, seeds=seeds
    )


MOST_PER_USER = 80  # ratings, in the figures of Jain et al. that Fig. 3a repeats


def top_films(full: bool) -> tuple[Sweep, ...]:
    """Return DPALS and others on all ratings, and DPFW on at most 80 of each user."""
    epsilons = EPSILONS if full else FEW
    few = films(full).model_copy(update={"most_per_user": MOST_PER_USER})
    frank_wolfe = dpfw_as_printed(largest_row(few)), frank_wolfe_grid(full)
    seeds = _seeds(full, 5)
    return (
        *tuned(films(full), (PRINTED, PRINTED_SOURCE), (CLEANSING, ALS, MEAN), epsilons, full),
        *alike(
            ((frank_wolfe[0],), frank_wolfe[1]),
            data=few,
            split=TUNED,
            epsilons=epsilons,
            seeds=seeds,
        ),
    )


FREQUENT = Method(
    algorithm="dpfw", label="DPFW on frequent films", parameters={"frequent_fraction": 0.1}
)
DPALS_TOP, ALS_TOP = "DPALS, 400 films", "ALS, 400 films"


def all_films(full: bool) -> tuple[Sweep, ...]:
    """Return every film, and the 400 most rated ones for comparison."""
    epsilons = EPSILONS if full else (1.0, 20.0)
    dpals_top, als_top = _with_label(PRINTED, DPALS_TOP), _with_label(ALS, ALS_TOP)
    return (
        *tuned(films(full, None), (PRINTED,), (FREQUENT, ALS, MEAN), epsilons, full),
        *tuned(films(full), (dpals_top,), (als_top,), epsilons, full),
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
    | {"unobserved_weight": 0.1, "rank": 32, "regularisation": 5.0, "regularisation_exponent": 0.0},
)
POPULARITY = Method(algorithm="popularity", label="Popularity")


def likes(full: bool) -> DataSpec:
    """Return what people liked, for those who liked at least five things."""
    name = first_present("ml-20m", "ml-1m", "cinema") if full else first_present("ml-1m", "cinema")
    return DataSpec(id=name, positives_above=3.5, min_user_count=5)


def one_over_users(data: DataSpec) -> float:
    """Return the delta of section 6.1 for item recommendation: 1/n for the published n."""
    users = {"ml-20m": 136_677, "ml-1m": 6_040}
    return 1 / users.get(data.id, 6_040)


def recall(full: bool) -> tuple[Sweep, ...]:
    """Return runs with fixed settings: no measure here ranks lists of validation users."""
    data = likes(full)
    lists = _with_label(DPALS, "DPALS", **LISTS)
    return (
        Sweep(
            data=data,
            split=SplitSpec(kind="users", test_fraction=0.1),
            methods=(lists, LIKES, POPULARITY),
            epsilons=(1.0, 5.0, 10.0, 20.0) if full else (1.0, 20.0),
            delta=one_over_users(data),
            seeds=tuple(range(10, 20 if full else 12)),
        ),
    )


def more_users(full: bool) -> tuple[Sweep, ...]:
    names = ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")[: 4 if full else 2]
    methods = on_lowrank(DPALS, DPFW, dpfw_as_printed(LOWRANK_ROW), EXACT, MEAN)
    epsilons, seeds = EPSILONS if full else FEW, _seeds(full, 3)
    return tuple(
        Sweep(data=DataSpec(id=name), methods=methods, epsilons=epsilons, seeds=seeds)
        for name in names
    )


def film_share(full: bool) -> tuple[Sweep, ...]:
    rank = 128 if full else 16
    sample: dict[str, Value] = {"ratings_per_user": 50}
    common: dict[str, Value] = {**sample, "rank": rank, "biases": False, "noise_ridge": 0.0}
    # without privacy predictions start from the user's mean
    own_mean: dict[str, Value] = {"biases": "user", "regularisation": 0.08, "rank": rank}
    als = Method(algorithm="als", label="ALS", parameters=own_mean)
    methods = (
        _with_label(DPALS, "Uniform sampling", **common, sampling="uniform"),
        _with_label(DPALS, "Adaptive sampling", **common, sampling="adaptive"),
        _with_label(DPALS, "Uniform, no PSD projection", **common, sampling="uniform", psd=False),
        als,
        _with_label(als, "ALS, uniform sample", **sample, sampling="uniform"),
        _with_label(als, "ALS, adaptive sample", **sample, sampling="adaptive"),
    )
    shares = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0) if full else (0.1, 0.3, 1.0)
    data, grid, seeds = films(full, None), {"frequent_fraction": shares}, _seeds(full, 3)
    return (Sweep(data=data, methods=methods, epsilons=(10.0,), seeds=seeds, grid=grid),)


def by_step(full: bool) -> tuple[Sweep, ...]:
    walk: dict[str, Value] = {"steps": 20, "nuclear_norm": 0.447}
    methods = (
        *on_lowrank(
            _with_label(DPALS, "DPALS", steps=10),
            _with_label(dpfw_as_printed(LOWRANK_ROW), SOURCE_DPFW, **walk),
            _with_label(DPFW, "DPFW", **walk),
            _with_label(EXACT, "ALS", steps=10),
        ),
        Method(algorithm="fw", label="Frank-Wolfe", parameters={**walk, "biases": False}),
    )
    data = DataSpec(id="lowrank-50k" if full else "lowrank-5k")
    return (Sweep(data=data, methods=methods, epsilons=(20.0,), seeds=(0, 1)),)


def fewer_users(full: bool) -> tuple[Sweep, ...]:
    """Return a quarter of the users: the synthetic set exists at both sizes, with one law."""
    sizes = ("lowrank-10k", "lowrank-50k") if full else ("lowrank-5k", "lowrank")
    few, every, exact = on_lowrank(
        _with_label(DPALS, "DPALS, a quarter of the users"),
        dpfw_as_printed(LOWRANK_ROW, f"{SOURCE_DPFW}, all users"),
        _with_label(DPFW, "DPFW, all users"),
    )
    epsilons = EPSILONS if full else (5.0, 20.0)
    return tuple(
        Sweep(data=DataSpec(id=name), methods=methods, epsilons=epsilons, seeds=(0, 1))
        for name, methods in zip(sizes, ((few,), (every, exact)), strict=True)
    )
