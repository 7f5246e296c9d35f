"""Methods, data and sweeps of Saha & Imtiaz 2022 [S22]."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from dpmf_core.algorithms.private_nmf import SHARES
from dpmf_core.data.catalogue import SampleEntry, catalogue
from dpmf_core.papers.figures import Sweeps, first_present, texts
from dpmf_core.papers.shared_methods import MethodParameters
from dpmf_core.privacy import Calibration
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

FRESH = tuple(range(10, 13))  # seeds by which no default was chosen
# the source prints no step size: eta_W is ours; coefficients are solved for, so eta_H is not needed
THEIRS: MethodParameters = {"start": "nndsvd", "basis_rate": 0.2}
PRIVATE = "DP-NMF, source's noise"
RANDOM = "DP-NMF, random start"
PLAIN = "NMF"
SET_APART = "DP-NMF, outliers set apart, source's noise"
QUIET = "The same steps, hardly any noise"
STEPS = 100  # which the source does not print
PER_STEP = (0.3, 0.5, 0.7, 0.9)
TABLE_3 = (0.5, 0.6, 0.7, 0.8, 0.9, 0.999)
# no copy of the source's part of RCV1 is known
DOCUMENTS = (
    "guardian",
    "uci-news",
    "tdt2",
)
FACES = ("yaleb", "cbcl")
PREPARATION: dict[str, dict[str, int]] = texts(__package__)["preparation"]


def parts_of(name: str) -> int:
    entries = (
        entry for entry in catalogue().catalogue() if isinstance(entry, SampleEntry)
    )
    return next(entry.n_components for entry in entries if entry.id == name)


def text() -> DataSpec:
    name = first_present("guardian", "tdt2", "news")
    return DataSpec(id=name, drawn_words=3677 if name == "tdt2" else None)


def faces() -> DataSpec:
    return DataSpec(id=first_present("yaleb", "faces"))


def as_published(
    K: int, steps: int, label: str = PRIVATE, *, outliers: bool = False, **more: Value
) -> Method:
    """The source's method with its noise; epsilon is each statistic's, in each step.

    Delta_B is 2/N, or 4/N with outliers.
    """
    share = SHARES["4/N" if outliers else "2/N"]
    parameters = {
        "n_components": K,
        "steps": steps,
        "moment_share": share,
        **THEIRS,
        **more,
    }
    if outliers:
        parameters["outliers"] = True
    return Method(
        algorithm="dp-nmf",
        label=label,
        calibration=Calibration.SOURCE,
        parameters=parameters,
    )


def plain(K: int) -> Method:
    """Non-negative factorisation without privacy from the source's start."""
    return Method(
        algorithm="nmf",
        label=PLAIN,
        parameters={"n_components": K, "start": "nndsvd"},
    )


# ---- what is run ---------------------------------------------------------------------------------

Sets = Callable[[], tuple[DataSpec, ...]]


def present(
    ids: Sequence[str], stand_in: str, more: Mapping[str, float] | None = None
) -> tuple[DataSpec, ...]:
    """The source's data sets on this machine, otherwise the stand-in.

    Parameters
    ----------
    ids
        The ids of the source's data sets.
    stand_in
        The id of the stand-in.
    more
        Preparation in addition to the source's.
    """
    there = [name for name in ids if catalogue().present(name)] or [stand_in]
    return tuple(
        DataSpec.model_validate(
            {"id": name, **PREPARATION.get(name, {}), **(more or {})}
        )
        for name in there
    )


documents = functools.partial(present, DOCUMENTS, "news")
face_sets = functools.partial(present, FACES, "faces")
guardian = functools.partial(present, ("guardian",), "news")
headlines = functools.partial(present, ("uci-news",), "news", {"most_words": 93})


def every_set() -> tuple[DataSpec, ...]:
    return (*documents(), *face_sets())


def with_topics() -> tuple[DataSpec, ...]:
    """The sets with topics that the source shows as words."""
    return present(("guardian", "uci-news"), first_present("tdt2", "news"))


def by_epsilon(sets: Sets, epsilons: Sequence[float], K: int | None = None) -> Sweeps:
    """The source's method at every epsilon, from a random start, and without privacy.

    The random start has the largest epsilon. One draw, as in the source.
    """

    def sweeps() -> Iterator[Sweep]:
        for data in sets():
            parts = K or parts_of(data.id)
            yield _one_draw(data, epsilons, as_published(parts, STEPS), plain(parts))
            random = as_published(parts, STEPS, RANDOM, start="random")
            yield _one_draw(data, epsilons[-1:], random)

    return sweeps


def _one_draw(data: DataSpec, epsilons: Sequence[float], *methods: Method) -> Sweep:
    return Sweep(
        data=data,
        methods=methods,
        epsilons=tuple(epsilons),
        seeds=FRESH[:1],
    )


def with_quiet_steps() -> Iterator[Sweep]:
    """The source's method, and its steps with solved components and hardly any noise."""
    for data in every_set():
        K = parts_of(data.id)
        yield _one_draw(data, (0.5,), as_published(K, STEPS))
        yield _one_draw(data, (1000.0,), as_published(K, STEPS, QUIET, basis_rate=0.0))


CONTAMINATED = {"outlier_rows": 0.1, "outlier_cells": 0.7}


def with_outliers() -> tuple[Sweep, ...]:
    """The outlier method on contaminated faces, and the other method on clean faces."""
    (clean,), (contaminated,) = (
        present(("yaleb",), "faces", more) for more in ({}, CONTAMINATED)
    )
    K = parts_of(clean.id)
    return (
        _one_draw(clean, (0.5,), as_published(K, STEPS)),
        _one_draw(
            contaminated, (0.5,), as_published(K, STEPS, SET_APART, outliers=True)
        ),
    )


def topic_numbers() -> tuple[Sweep, ...]:
    method = Method(
        algorithm="nmf",
        label=PLAIN,
        parameters={"start": "nndsvd"},
    )
    return (
        Sweep(
            data=guardian()[0],
            methods=(method,),
            grid={"n_components": tuple(range(4, 13, 2))},
            seeds=FRESH,
        ),
    )
