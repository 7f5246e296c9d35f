"""Our own tables: comparisons that no source has measured."""

from collections.abc import Callable, Iterator

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.balu_2016.protocol import sketch_table
from dpmf_core.papers.chien_2021.sweeps import LIKES, LISTS, POPULARITY, likes
from dpmf_core.papers.figures import Figure, Sweeps, first_present
from dpmf_core.papers.saha_2022.methods import faces, parts_of, text
from dpmf_core.papers.shared_methods import (
    DPALS,
    DPALS_SOURCE,
    DPFW,
    EPSILONS,
    EXACT,
    FEW,
    FRESH,
    LOWRANK_ROW,
    MEAN,
    SPECTRAL,
    SVD,
    MethodParameters,
    dpfw_as_printed,
    on_lowrank,
)
from dpmf_core.privacy import Calibration
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep, with_open

PRIVATE = (
    "private-bias",
    "dpals",
    "ada-dpals",
    "spectral",
    "dpfw",
    "dpfw-oja",
    "private-svd",
    "svd-cleansing",
    "private-pgd",
    "dp-sgd",
    "sgld",
    "input-perturbation",
    "dpnmf-laplace",
)
PLAIN = ("bmf", "als", "fw", "pgd", "sgd-mf", "bias", "user-mean", "global-mean")
EVERY = with_open(Method(algorithm=name, label=name) for name in (*PRIVATE, *PLAIN))
# on every film
BEST = (
    "private-bias",
    "spectral",
    "dp-sgd",
    "dpals",
    "ada-dpals",
    "bmf",
    "als",
)
GUESSES = ("user-mean", "global-mean")


# with a public table of the films: in a table of their own, with non-private methods that know it
KNOWING = (
    "private-bias",
    "dpals",
    "ada-dpals",
    "spectral",
    "bmf",
    "als",
    "bias",
    "content",
)


def with_features(sweep: Sweep) -> tuple[Sweep, Sweep]:
    """The sweep, and one of methods that know the items' public features."""
    data = sweep.data.model_copy(update={"item_features": "public"})
    knowing = with_open(
        Method(algorithm=name, label=f"{name}, features") for name in KNOWING
    )
    return sweep, sweep.model_copy(update={"data": data, "methods": knowing})


def _lowrank_table() -> Iterator[Sweep]:
    pgd = Method(algorithm="private-pgd", label="Private PGD")
    sgd = Method(algorithm="dp-sgd", label="DP-SGD")
    others = (DPFW, SVD, pgd)
    by_source = (
        dpfw_as_printed(LOWRANK_ROW, f"{DPFW.label}, source's noise"),
        *(
            method.model_copy(
                update={
                    "label": f"{method.label}, source's noise",
                    "calibration": Calibration.SOURCE,
                }
            )
            for method in (SVD, pgd)
        ),
    )
    own = with_open((SPECTRAL, sgd, DPALS, *others))
    methods = on_lowrank(*own, DPALS_SOURCE, *by_source, EXACT, MEAN)
    yield Sweep(
        data=DataSpec(id="lowrank"),
        methods=methods,
        epsilons=EPSILONS,
        seeds=FRESH[:3],
    )


def _films_table() -> tuple[Sweep, ...]:
    data = DataSpec(id=first_present("ml-1m", "cinema"), top_items=400)
    return with_features(
        Sweep(
            data=data,
            methods=EVERY,
            epsilons=EPSILONS,
            seeds=FRESH[:5],
        )
    )


def _all_films_table() -> tuple[Sweep, ...]:
    methods = tuple(method for method in EVERY if method.algorithm in (*BEST, *GUESSES))
    data = DataSpec(id=first_present("ml-1m", "cinema"))
    return with_features(
        Sweep(
            data=data,
            methods=methods,
            epsilons=FEW,
            seeds=FRESH[:5],
        )
    )


EASE = Method(algorithm="ease", label="EASE")


def _lists_table() -> Iterator[Sweep]:
    """Yield DPALS and ALS with parameters for lists, then our own with public features."""
    data = likes("ml-1m", "cinema")
    dpals = DPALS.model_copy(update={"parameters": LISTS})
    with_features = SPECTRAL.model_copy(update={"label": "Spectral, public features"})
    public = data.model_copy(update={"item_features": "public"})
    for data_spec, methods in (
        (data, (SPECTRAL, dpals, LIKES, EASE, POPULARITY)),
        (public, (with_features,)),
    ):
        yield Sweep(
            data=data_spec,
            split=SplitSpec(kind="users", test_fraction=0.1),
            methods=with_open(methods),
            epsilons=(0.5, 1.0, 5.0, 10.0, 20.0),
            seeds=FRESH,
        )


MANY_WORDS = ("tdt2", "20newsgroups")  # too many for a second moment of all of them


def newsgroups() -> DataSpec:
    """A tenth of the words of 20 Newsgroups, drawn by a hash."""
    name = first_present("20newsgroups", "news")
    return DataSpec(id=name, drawn_words=10_670 if name == "20newsgroups" else None)


def _table(data: Callable[[], DataSpec]) -> Sweeps:
    """Compare our method with the source's at equal total epsilon, by the same rule."""

    def sweeps() -> Iterator[Sweep]:
        data_spec = data()
        starts: dict[str, MethodParameters] = {
            "DP-NMF": {},
            "DP-NMF, random start": {"start": "random"},
            "DP-NMF, private start": {"start": "private-svd"},
        }
        if data_spec.id in MANY_WORDS:
            del starts["DP-NMF, private start"]
            starts["DP-NMF, random start, 10 steps"] = {"start": "random", "steps": 10}
        lines = [
            ("oneshot-nmf", "One-shot NMF", {}),
            *(("dp-nmf", label, parameters) for label, parameters in starts.items()),
            ("nmf", "NMF", {}),
        ]
        K = parts_of(data_spec.id)
        methods = with_open(
            Method(
                algorithm=name,
                label=label,
                parameters={"n_components": K, **parameters},
            )
            for name, label, parameters in lines
        )
        epsilons = (0.5, 1.0, 2.0, 5.0, 10.0)
        yield Sweep(
            data=data_spec,
            methods=methods,
            epsilons=epsilons,
            seeds=FRESH[:3],
        )

    return sweeps


TABLES = (
    Figure(
        id="lowrank-table",
        title="Every method on simulated low rank, by both rules",
        sweeps=_lowrank_table,
        axis="users",
    ),
    Figure(
        id="films-table",
        title="Every method on the 400 most rated films",
        sweeps=_films_table,
    ),
    Figure(
        id="all-films-table",
        title="The best methods on every film",
        sweeps=_all_films_table,
    ),
    Figure(
        id="lists-table",
        title="Lists: every method",
        sweeps=_lists_table,
    ),
    Figure(
        id="faces-table",
        title="Faces at equal total epsilon",
        sweeps=_table(faces),
    ),
    Figure(
        id="topics-table",
        title="Topics at equal total epsilon",
        sweeps=_table(text),
    ),
    Figure(
        id="newsgroups-table",
        title="Topics of 20 Newsgroups at equal total epsilon",
        sweeps=_table(newsgroups),
    ),
    Figure(
        id="sketch-table",
        title="Every size and threshold",
        sweeps=sketch_table,
        axis="threshold",
    ),
)
