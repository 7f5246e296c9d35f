"""Runs for the claims and presets of Chien et al. 2021.

Section 6.1: parameters are chosen on validation ratings and evaluated on test ratings. The searched
ranges are in its appendix D, which is not available here, so the grids are ours.
"""

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import first_present, texts
from dpmf_core.papers.shared_methods import (
    ALS,
    CLEANSING,
    DPALS,
    DPALS_SOURCE,
    DPFW,
    EXACT,
    FEW,
    FRANK_WOLFE_GRID,
    FRESH,
    LOWRANK_ROW,
    MEAN,
    PLAIN,
    SOURCE_DPFW,
    Grid,
    MethodParameters,
    alike,
    dpfw_as_printed,
    films,
    largest_row,
    on_lowrank,
)
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep

TUNED = SplitSpec(validation_fraction=0.1)
AS_PRINTED: MethodParameters = texts(__package__)["settings"]
DPALS_GRID: Grid = {
    "rank": (2, 8),
    "regularisation": (10.0, 100.0, 1000.0),
    "frequent_fraction": (0.5, 1.0),
}
SEEDS = (0, 1)


def _with_label(
    method: Method, label: str, parameters: MethodParameters | None = None
) -> Method:
    """The method under a label, with further parameters."""
    every = {**method.parameters, **(parameters or {})}
    return method.model_copy(update={"label": label, "parameters": every})


PRINTED = _with_label(DPALS, "DPALS", AS_PRINTED)
PRINTED_SOURCE = _with_label(DPALS_SOURCE, "DPALS, source's noise", AS_PRINTED)


def every_film() -> DataSpec:
    return films(None)


def tuned(
    data: DataSpec,
    dpals: tuple[Method, ...],
    others: tuple[Method, ...],
    epsilons: tuple[float, ...],
) -> tuple[Sweep, ...]:
    """DPALS over a grid of rank, item ridge and share of frequent items, and others.

    Every draw chooses on its validation ratings.
    """
    return alike(
        (dpals, DPALS_GRID),
        (others, {}),
        data=data,
        split=TUNED,
        epsilons=epsilons,
        seeds=SEEDS,
    )


MOST_PER_USER = 80  # ratings, in the figures of Jain et al. that Fig. 3a repeats


def top_films() -> tuple[Sweep, ...]:
    """DPALS and others on all ratings, and DPFW on at most 80 of each user."""
    few = films(most_per_user=MOST_PER_USER)
    frank_wolfe = Sweep(
        data=few,
        methods=(dpfw_as_printed(largest_row(few)),),
        grid=dict(FRANK_WOLFE_GRID),
        split=TUNED,
        epsilons=FEW,
        seeds=SEEDS,
    )
    return (
        *tuned(films(), (PRINTED, PRINTED_SOURCE), (CLEANSING, ALS, MEAN), FEW),
        frank_wolfe,
    )


FREQUENT = Method(
    algorithm="dpfw",
    label="DPFW on frequent films",
    parameters={"frequent_fraction": 0.1},
)
DPALS_TOP = "DPALS, 400 films"
ALS_TOP = "ALS, 400 films"


def all_films() -> tuple[Sweep, ...]:
    """Every film, and the 400 most rated ones for comparison."""
    epsilons = (1.0, 20.0)
    dpals_top = _with_label(PRINTED, DPALS_TOP)
    als_top = _with_label(ALS, ALS_TOP)
    return (
        *tuned(films(None), (PRINTED,), (FREQUENT, ALS, MEAN), epsilons),
        *tuned(films(), (dpals_top,), (als_top,), epsilons),
    )


LISTS: MethodParameters = {
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


def likes(*ids: str) -> DataSpec:
    """What people liked in the first of these sets that is here: at least five things."""
    return DataSpec(
        id=first_present(*ids),
        positives_above=3.5,
        min_user_count=5,
    )


def one_over_users(data: DataSpec) -> float:
    """The delta of section 6.1 for item recommendation: 1/n for the published n."""
    users = {"ml-20m": 136_677, "ml-1m": 6_040}
    return 1 / users.get(data.id, 6_040)


def recall() -> tuple[Sweep, ...]:
    """Runs with fixed settings: no measure here ranks lists of validation users."""
    data = likes("ml-20m", "ml-1m", "cinema")
    lists = _with_label(DPALS, "DPALS", LISTS)
    return (
        Sweep(
            data=data,
            split=SplitSpec(kind="users", test_fraction=0.1),
            methods=(lists, LIKES, POPULARITY),
            epsilons=(1.0, 5.0, 10.0, 20.0),
            delta=one_over_users(data),
            seeds=FRESH,
        ),
    )


def more_users() -> tuple[Sweep, ...]:
    names = ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")
    methods = on_lowrank(DPALS, DPFW, dpfw_as_printed(LOWRANK_ROW), EXACT, MEAN)
    return tuple(
        Sweep(
            data=DataSpec(id=name),
            methods=methods,
            epsilons=FEW,
            seeds=(0,),
        )
        for name in names
    )


def film_share() -> tuple[Sweep, ...]:
    data = films(None)
    # other data cannot test the source, so they need not have its rank
    rank = 128 if data.id == "ml-10m" else 16
    sample: MethodParameters = {"ratings_per_user": 50}
    common: MethodParameters = {
        **sample,
        "rank": rank,
        "biases": False,
        "noise_ridge": 0.0,
    }
    # without privacy predictions start from the user's mean
    own_mean: MethodParameters = {
        "biases": "user",
        "regularisation": 0.08,
        "rank": rank,
    }
    als = Method(
        algorithm="als",
        label="ALS",
        parameters=own_mean,
    )
    methods = (
        _with_label(DPALS, "Uniform sampling", {**common, "sampling": "uniform"}),
        _with_label(DPALS, "Adaptive sampling", {**common, "sampling": "adaptive"}),
        _with_label(
            DPALS,
            "Uniform, no PSD projection",
            {**common, "sampling": "uniform", "psd": False},
        ),
        als,
        _with_label(als, "ALS, uniform sample", {**sample, "sampling": "uniform"}),
        _with_label(als, "ALS, adaptive sample", {**sample, "sampling": "adaptive"}),
    )
    grid = {"frequent_fraction": (0.1, 0.3, 1.0)}
    return (
        Sweep(
            data=data,
            methods=methods,
            epsilons=(10.0,),
            seeds=SEEDS,
            grid=grid,
        ),
    )


def by_step() -> tuple[Sweep, ...]:
    walk: MethodParameters = {"steps": 20, "nuclear_norm": 0.447}
    methods = (
        *on_lowrank(
            _with_label(DPALS, "DPALS", {"steps": 10}),
            _with_label(dpfw_as_printed(LOWRANK_ROW), SOURCE_DPFW, walk),
            _with_label(DPFW, "DPFW", walk),
            _with_label(EXACT, "ALS", {"steps": 10}),
        ),
        Method(
            algorithm="fw",
            label="Frank-Wolfe",
            parameters={**walk, "biases": False},
        ),
    )
    return (
        Sweep(
            data=DataSpec(id="lowrank-50k"),
            methods=methods,
            epsilons=(20.0,),
            seeds=(0, 1),
        ),
    )


def fewer_users() -> tuple[Sweep, ...]:
    """A quarter of the users: the synthetic set exists at both sizes, with one law."""
    few, every, exact = on_lowrank(
        _with_label(DPALS, "DPALS, a quarter of the users"),
        dpfw_as_printed(LOWRANK_ROW, f"{SOURCE_DPFW}, all users"),
        _with_label(DPFW, "DPFW, all users"),
    )
    return tuple(
        Sweep(
            data=DataSpec(id=name),
            methods=methods,
            epsilons=(5.0, 20.0),
            seeds=SEEDS,
        )
        for name, methods in (("lowrank-5k", (few,)), ("lowrank", (every, exact)))
    )
