"""Runs for the figures of Vallet et al. 2014, and its variants with the published settings."""

from collections.abc import Iterator

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import Preset, first_present, texts
from dpmf_core.papers.shared_methods import MethodParameters, alike
from dpmf_core.papers.vallet_2014.retention_excess import BASELINE, LEAST_PAIRS
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

WEIGHTED = "Rated, weighted"
RANDOM_ORDER = "Rated, random order"
SLOPE_ONE = Method(algorithm="slope-one", label="Slope One")
PUBLISHED: MethodParameters = texts(__package__)["settings"]
VARIANTS: dict[str, MethodParameters] = texts(__package__)["variants"]
EVALUATED = ("Static", "Rated", "New", "Online")
TENTHS = tuple(tenth / 10 for tenth in range(10))
STATIC_SHARE = 0.3  # of Fig. 2
MONTHS = 72
FIRST_MONTHS = 4
PREDICTED_MONTHS = (5, 12, 24, 38, 40, 48, 55, 68, 72)


def method(label: str, **more: Value) -> Method:
    """A method with its published settings."""
    parameters = {**PUBLISHED, **VARIANTS[label], **more}
    return Method(
        algorithm="no-retention",
        label=label,
        parameters=parameters,
    )


def films() -> DataSpec:
    """MovieLens 10M, otherwise MovieLens 100K or the nearest available set."""
    return DataSpec(id=first_present("ml-10m", "ml-100k", "cinema-small"))


def dated_films() -> DataSpec:
    """Ratings with times that are known to the day."""
    return DataSpec(id=first_present("netflix", "cinema-small"))


def shares(data: DataSpec) -> tuple[float, ...]:
    """The static shares R_s of Fig. 1; fewer on data that cannot test the source."""
    if data.id in ("ml-10m", "netflix"):
        return TENTHS
    return (0.0, 0.3, 0.4, 0.9)


def _by_share(
    data: DataSpec, labels: tuple[str, ...], split: SplitSpec
) -> tuple[Sweep, ...]:
    """The baseline and Slope One, which have no share, and the variants at every share."""
    if split.kind == "time":
        variants = tuple(method(label, arrival="time") for label in labels)
    else:
        variants = tuple(map(method, labels))
    return alike(
        ((method(BASELINE), SLOPE_ONE), {}),
        (variants, {"static_share": shares(data)}),
        data=data,
        seeds=tuple(range(LEAST_PAIRS)),
        split=split,
    )


def random_split() -> tuple[Sweep, ...]:
    """The runs of Fig. 1a and the first row of Table 1."""
    return _by_share(films(), EVALUATED, SplitSpec())


def time_split() -> tuple[Sweep, ...]:
    """The runs of Fig. 1b and Table 1's second row, also with section 3.3's weighting."""
    return _by_share(dated_films(), (*EVALUATED, WEIGHTED), SplitSpec(kind="time"))


def _by_activity(
    data: DataSpec, label: str, split: SplitSpec, arrived: tuple[float, ...]
) -> tuple[Sweep, ...]:
    order = "time" if split.kind == "time" else "random"
    rated = method(label, static_share=STATIC_SHARE, arrival=order)
    return alike(
        ((method(BASELINE),), {}),
        ((rated,), {"arrived_share": arrived}),
        data=data,
        seeds=tuple(range(LEAST_PAIRS)),
        split=split,
    )


def activity_random() -> tuple[Sweep, ...]:
    """The runs of Fig. 2a."""
    arrived = (0.0, 0.25, 0.5, 0.75, 1.0)
    return _by_activity(films(), "Rated", SplitSpec(), arrived)


def activity_time() -> tuple[Sweep, ...]:
    """The runs of Fig. 2b, and the random split of the same data for comparison."""
    data = dated_films()
    arrived = (0.0, 0.5, 1.0)
    by_time = _by_activity(data, "Rated", SplitSpec(kind="time"), arrived)
    return (*by_time, *_by_activity(data, RANDOM_ORDER, SplitSpec(), arrived))


def by_month() -> tuple[Sweep, ...]:
    """The runs of Fig. 3: some periods, each predicted from those before it.

    The first four are known from the start.
    """

    def methods(month: int) -> Iterator[Method]:
        yield method(BASELINE)
        for label in ("Rated", "New"):
            yield method(label, static_share=FIRST_MONTHS / (month - 1), arrival="time")

    return tuple(
        Sweep(
            data=dated_films(),
            methods=tuple(methods(month)),
            seeds=(0, 1, 2),
            split=SplitSpec(
                kind="window",
                windows=MONTHS,
                window=month - 1,
            ),
        )
        for month in PREDICTED_MONTHS
    )


# ---- the method as published ---------------------------------------------------------------------


def _preset(label: str) -> Preset:
    def sweeps() -> tuple[Sweep, ...]:
        return alike(
            ((method(BASELINE),), {}),
            ((method(label),), {"static_share": TENTHS}),
            data=films(),
            seeds=tuple(range(10)),
        )

    name = f"vallet-preset-{label.lower()}"
    return Preset.of(__package__, name, sweeps=sweeps)


PRESETS = (_preset("Rated"), _preset("New"))
