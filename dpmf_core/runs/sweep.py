"""Sweeps: runs of methods x epsilons x seeds x a grid of one or two parameters; their results."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, ValidationError

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.base.errors import BadInput, checked, closest
from dpmf_core.base.frozen import Frozen
from dpmf_core.data.addresses import file_of
from dpmf_core.data.splits import SplitSpec
from dpmf_core.privacy import Calibration, NoiseKind, Relation
from dpmf_core.privacy.formatting import epsilon_number
from dpmf_core.runs import noisy_errors
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import (
    DataSpec,
    ParameterValues,
    RunSpec,
    Value,
    bad_input,
    sections,
)

MOST_RUNS = 5_000
ValueGrid = dict[str, tuple[Value, ...]]  # values of parameters, by their names


class Method(Frozen):
    """One method of a sweep: an algorithm, its fixed parameters, and the rule for its noise.

    Attributes
    ----------
    algorithm
        Its id.
    parameters
        The parameters that differ from their defaults, by name.
    label
        The method's name in tables and charts, "" for its title.
    calibration
        "exact" or "source"; None takes the sweep's.
    without_noise
        Whether there is neither noise nor budget.

    Examples
    --------
    >>> import dpmf
    >>> dpmf.Method(algorithm="als", parameters={"rank": 8}, label="ALS, rank 8").name
    'ALS, rank 8'
    """

    algorithm: str
    parameters: ParameterValues = Field(default_factory=dict)
    label: str = ""
    calibration: Calibration | None = None
    without_noise: bool = False

    @property
    def kind(self) -> type[Algorithm]:
        return algorithms.find(self.algorithm)

    @property
    def name(self) -> str:
        """The label, or the title with the parameters that differ."""
        parameters = ", ".join(
            f"{name} {value}" for name, value in self.parameters.items()
        )
        rule = ""
        if self.calibration is Calibration.SOURCE:
            rule = "the source's noise"
        kind = self.kind
        if self.without_noise:
            kind = algorithms.without_noise(self.kind)
        return self.label or ", ".join(
            part for part in (kind.title, parameters, rule) if part
        )

    @property
    def is_private(self) -> bool:
        """Whether it takes a budget."""
        return issubclass(self.kind, PrivateAlgorithm) and not self.without_noise


def _without_noise(method: Method) -> Method:
    if not method.is_private:
        return method
    label = method.label and f"{method.label}, without noise"
    return method.model_copy(update={"without_noise": True, "label": label})


def with_open(methods: Iterable[Method]) -> tuple[Method, ...]:
    """These methods, followed by each private one without noise."""
    own = tuple(methods)
    distinct = {
        (method.algorithm, tuple(method.parameters.items())): method
        for method in reversed(own)
        if method.is_private
    }
    return *own, *map(_without_noise, reversed(distinct.values()))


class Sweep(Frozen):
    """Every method at every epsilon, seed and grid point.

    Methods without the grid's parameters have one point.
    """

    data: DataSpec
    methods: tuple[Method, ...] = Field(min_length=1)
    epsilons: tuple[float, ...] = ()
    seeds: tuple[int, ...] = (0,)
    split: SplitSpec = SplitSpec()
    delta: float = 1e-5
    relation: Relation = Relation.ADD_REMOVE
    calibration: Calibration = Calibration.EXACT
    noise: NoiseKind = NoiseKind.CONTINUOUS
    grid: ValueGrid = Field(default_factory=dict)

    @classmethod
    def parse(cls, **parts: Any) -> "Sweep":
        """A checked sweep. Raises BadInput with the first problem."""
        try:
            return cls.model_validate(parts)
        except ValidationError as error:
            raise bad_input(error) from None

    @classmethod
    def of(cls, choices: Mapping[str, Any], **parts: Any) -> "Sweep":
        """A checked sweep from what the runs have in common, by a run's parameter names.

        Raises BadInput on an algorithm's parameter, which belongs to a method.
        """
        common = sections(choices)
        if common.pop("without_noise", False):
            parts["methods"] = tuple(map(_without_noise, parts["methods"]))
        others = [*common["parameters"], *(common.keys() - {"data", "split", "budget"})]
        if wrong := [name for name in others if name != "parameters"]:
            raise BadInput(
                f"A sweep has no parameter '{wrong[0]}'. Parameters of an algorithm belong in the"
                " grid or in a method; epsilons and seeds are lists."
            )
        budget = common["budget"] or {}
        shared = {name: value for name, value in budget.items() if name != "epsilon"}
        return cls.parse(data=common["data"], split=common["split"], **shared, **parts)

    def points(self) -> list[Point]:
        """Every distinct run once, ordered by seed so that workers keep their split.

        A method that releases nothing is run once per seed. Raises BadInput.
        """
        self._check_size()
        distinct: dict[tuple[str, str], Point] = {}
        for seed, method in itertools.product(self.seeds, self.methods):
            grid = self._grid_of(method)
            for values in itertools.product(*grid.values()):
                place = dict(zip(grid, values, strict=True))
                for epsilon in self._epsilons_of(method):
                    spec = self._spec(method, place, epsilon, seed)
                    point = Point(spec, method.name, epsilon, place)
                    distinct.setdefault((point.label, point.key), point)
        return list(distinct.values())

    def points_named(self, epsilons: Mapping[float, float]) -> list[Point]:
        """`points`, each at the epsilon that stands for its own in the table."""
        return [
            point
            if point.epsilon is None
            else replace(point, epsilon=epsilons[point.epsilon])
            for point in self.points()
        ]

    def _grid_of(self, method: Method) -> ValueGrid:
        """The part of the grid that a method knows."""
        names = method.kind.model_fields
        return {name: values for name, values in self.grid.items() if name in names}

    def _epsilons_of(self, method: Method) -> tuple[float | None, ...]:
        if method.is_private:
            return self.epsilons or (None,)
        return (None,)

    def _check_size(self) -> None:
        """Raise BadInput on too many runs, or on a grid that none of the methods has."""
        count = len(self.seeds) * sum(
            len(self._epsilons_of(method))
            * math.prod(map(len, self._grid_of(method).values()))
            for method in self.methods
        )
        if count > MOST_RUNS:
            raise BadInput(
                f"A sweep may hold at most {MOST_RUNS:,} runs. Got {count:,}. Use fewer epsilons,"
                " seeds or grid values."
            )
        from dpmf_core.base import limits  # a single run has none

        limits.at_most("largest_sweep", count, "runs of a sweep")
        parameter_names = sorted(
            {name for method in self.methods for name in method.kind.model_fields}
        )
        if unknown := [name for name in self.grid if name not in parameter_names]:
            raise BadInput(
                "None of these algorithms has a parameter"
                f" '{unknown[0]}'.{closest(unknown[0], parameter_names)} Their parameters:"
                f" {', '.join(parameter_names) or 'none'}."
            )

    def _spec(
        self, method: Method, place: ParameterValues, epsilon: float | None, seed: int
    ) -> RunSpec:
        budget = {
            "epsilon": epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "calibration": method.calibration or self.calibration,
            "noise": self.noise,
        }
        return RunSpec.parse(
            data=self.data,
            algorithm=method.algorithm,
            parameters={**method.parameters, **place},
            budget=None if epsilon is None else budget,
            without_noise=method.without_noise,
            split=self.split,
            seed=seed,
        ).canonical()

    def points_on(self, shape: Any) -> list[Point]:
        """`points`, on data of this public shape.

        Raises BadInput for the first run that could not start, before any is started. If the runs
        release the shape themselves, the message reveals nothing about the true one.
        """
        points = self.points()
        if self.data.releases_shape:
            return points
        # another seed does not change a plan
        once = {
            point.key: point.spec
            for point in points
            if point.spec.seed == self.seeds[0]
        }
        for spec in once.values():
            prepare(spec, shape)
        return points


def typed_parameters(kind: type[Algorithm], texts: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters in their own types, so that `rank=4` here and 4 elsewhere are the same run.

    Raises BadInput on one that does not fit.
    """
    algorithm = checked(kind, kind.title, texts)
    return {name: getattr(algorithm, name) for name in texts}


def as_grid(values: Mapping[str, Any]) -> ValueGrid:
    """The values of a grid by name. Raises BadInput on what is no list."""
    for name, listed in values.items():
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise BadInput(
                f"The grid must hold a list of values for '{name}', e.g. {{'rank': [2, 4]}}. Got"
                f" {listed!r}."
            )
    return {name: tuple(listed) for name, listed in values.items()}


def typed_grid(
    methods: Sequence[Method], texts: Mapping[str, Sequence[str]]
) -> ValueGrid:
    """ValueGrid values in the type of the first method that has the parameter.

    Raises BadInput on a value that does not fit, or a name that none has.
    """
    out: ValueGrid = {}
    for name, values in texts.items():
        owner = next(
            (method.kind for method in methods if name in method.kind.model_fields),
            None,
        )
        if owner is None:
            out[name] = tuple(values)
        else:
            typed = (typed_parameters(owner, {name: value})[name] for value in values)
            out[name] = tuple(dict.fromkeys(typed))
    return out


# ---- what comes out ------------------------------------------------------------------------------


def rows(
    points: Iterable[Point],
    finished_runs: Mapping[str, Run],
    noisy: Mapping[str, noisy_errors.Score] | None = None,
    noisy_epsilon: float | None = None,
) -> list[dict[str, Any]]:
    """A flat row for every point with a finished run, for a CSV file.

    For private data it holds nothing computed from raw rows (see `Run.export`).

    Parameters
    ----------
    points
        The points.
    finished_runs
        The finished runs, by `Point.key`.
    noisy
        The errors on private data from `noisy_errors.release`.
    noisy_epsilon
        The epsilon of each of these errors.
    """
    noisy = noisy or {}
    out = []
    for point in points:
        if (run := finished_runs.get(point.key)) is None:
            continue
        record = run.record
        spec = run.spec
        raw: dict[str, Any] = {}
        if record.public:
            raw = {
                **record.metrics,
                "fit_seconds": record.seconds["fit"],
                "key": record.key,
            }
        else:
            raw["errors"] = noisy_errors.words(run, noisy_epsilon, point.key in noisy)
            if point.key in noisy:
                raw |= noisy[point.key].columns
        out.append(
            {
                "dataset": spec.data.id if record.public else file_of(spec.data.id),
                "label": point.label,
                "algorithm": spec.algorithm,
                "epsilon": epsilon_number(point.epsilon),
                "exact_epsilon": epsilon_number(record.epsilon.exact),
                "delta": record.delta,
                "calibration": record.calibration and str(record.calibration),
                "guarantee": str(record.guarantee.status),
                "seed": spec.seed,
                **{f"param.{name}": value for name, value in spec.parameters.items()},
                **raw,
                "created": record.created,
                "dpmf": record.versions.get("dpmf", ""),
            }
        )
    return out
