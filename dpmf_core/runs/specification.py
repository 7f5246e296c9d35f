"""The specification of a run (data, algorithm, budget, split, seed), its key and random streams.

`PARAMETERS` holds every parameter of a run by its one name. The arguments of `fit`, the options of
the command line, the sidebar and the links to pages are made from it.
"""

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic.fields import FieldInfo

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.base.errors import BadInput, closest, explain
from dpmf_core.base.frozen import Frozen
from dpmf_core.data.preparation import Preparation
from dpmf_core.data.splits import SplitSpec
from dpmf_core.privacy import Budget, Calibration, NoiseKind, Relation, default_delta

Value = bool | int | float | str  # of a parameter
ParameterValues = dict[str, Value]  # of parameters, by their names
# version of accounting with discrete noise or under replace-one; raise it when noise changes there
ACCOUNTING = 2
# version of DPALS with a noisy global mean; raise it when results change there
GLOBAL_MEAN = 2
# version of the sources' noise rules; raise it when one of them changes
SOURCE_RULES = 3
# the seeded privacy stream of the shape, separate from the streams of the algorithm's releases
SHAPE_STREAM = 1 << 20
# fields of `DataSpec` that are left out if they have their defaults
_OPTIONAL_OF_DATA = (
    *Preparation.model_fields,
    "item_features",
    "item_choice",
    "row_count",
)


@functools.cache
def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    """The default of each field. Reading one from a model's fields takes far longer."""
    return {name: field.default for name, field in model.model_fields.items()}


def _without_defaults(
    model: BaseModel, content: dict[str, Any], names: Iterable[str]
) -> dict[str, Any]:
    """The model's content without the named fields that have their defaults."""
    defaults = _defaults(type(model))
    for name in names:
        if getattr(model, name) == defaults[name]:
            content.pop(name, None)  # defaults may be left out already
    return content


class DataSpec(Preparation):
    """The ratings or samples of a run, and their preparation before splitting or factorising."""

    id: str = Field(description="an id from the catalogue or a path")
    top_items: int | None = Field(None, ge=1)
    """keep only this many of the most rated items"""
    min_user_count: int = Field(0, ge=0)
    """ignore the ratings of users with fewer ratings than this"""
    min_item_count: int = Field(
        0, ge=0, description="keep items with at least this many ratings"
    )
    most_per_user: int | None = Field(None, ge=1)
    """keep at most this many ratings per user, chosen by a hash"""
    positives_above: float | None = Field(None, allow_inf_nan=False)
    """recall task: ratings above this become 1, others are left out"""
    item_features: Literal["none", "public"] = Field(
        "none",
        description=(
            "what algorithms may know about items besides ratings: nothing, or the data set's"
            " public item table"
        ),
    )
    item_choice: Literal["exact", "private"] = Field(
        "exact",
        description=(
            "how items or words are chosen. exact: by exact counts, and treated as public; private:"
            " by noisy counts above a threshold, which is a release"
        ),
    )
    row_count: Literal["given", "private"] = "given"
    """number of users or samples. given: public; private: a noisy release"""

    @model_serializer(mode="wrap")
    def _serialise(self, whole: Any) -> dict[str, Any]:
        """Leave out unused options, so that a run keeps its key when options are added."""
        return _without_defaults(self, whole(self), _OPTIONAL_OF_DATA)

    def suited_to(self, algorithm: str) -> "DataSpec":
        """The specification without item features if the algorithm does not use them.

        The run is the same without them.
        """
        if (
            self.item_features == "none"
            or algorithms.find(algorithm).uses_item_features
        ):
            return self
        return self.model_copy(update={"item_features": "none"})

    @property
    def releases_shape(self) -> bool:
        """Whether the run releases its items, its words or its number of rows."""
        return self.item_choice == "private" or self.row_count == "private"

    def set_for(self, kind: str) -> list[str]:
        """The changed fields that apply only to `kind` ("ratings" or "samples")."""
        neutral = {"id", "item_choice", "row_count"}
        changed = self.model_dump(exclude_defaults=True, exclude=neutral)
        of_samples = Preparation.model_fields
        return [name for name in changed if (name in of_samples) == (kind == "samples")]


class RunSpec(Frozen):
    """One complete run: on public data, equal specifications give equal results, bit for bit.

    Attributes
    ----------
    without_noise
        Whether a private algorithm computes on exact sums, without a budget. Elsewhere this is
        `noise="none"`.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    data: DataSpec
    algorithm: str = Field(description="an id from the list of algorithms")
    parameters: ParameterValues = Field(default_factory=dict)
    budget: Budget | None = None
    without_noise: bool = False
    split: SplitSpec = SplitSpec()
    seed: int = Field(0, ge=0, lt=2**63)
    """seed of the split, the starting values and, on public data, the noise"""
    curve_points: int = Field(12, ge=2, le=1000)
    """largest number of points in the error by step, including the first and last"""

    def __hash__(self) -> int:
        """Of all that is hashable, which the parameters are not."""
        return hash((self.data, self.algorithm, self.budget, self.split, self.seed))

    @model_serializer(mode="wrap")
    def _serialise(self, whole: Any) -> dict[str, Any]:
        """Leave out default noise and the default number of points, which has changed."""
        return _without_defaults(self, whole(self), ("curve_points", "without_noise"))

    @model_validator(mode="after")
    def _has_noise_or_no_budget(self) -> Self:
        if self.without_noise and self.budget is not None:
            raise ValueError("A run without noise has no privacy and no budget.")
        return self

    @classmethod
    def parse(cls, **parts: Any) -> "RunSpec":
        """A checked specification, without item features if the algorithm does not use them.

        Raises BadInput with the first problem.
        """
        try:
            spec = cls.model_validate(parts)
        except ValidationError as error:
            raise bad_input(error) from None
        return spec.model_copy(update={"data": spec.data.suited_to(spec.algorithm)})

    @classmethod
    def of(cls, **choices: Any) -> "RunSpec":
        """Make a checked specification from values by the names of `PARAMETERS`.

        Other names are parameters of the algorithm. Raises BadInput if a value is invalid or does
        not fit the others.
        """
        if "algorithm" in choices:
            kind = algorithms.find(choices["algorithm"])
            known = {*PARAMETERS, *SECTIONS, "parameters", *kind.model_fields}
            if wrong := next((name for name in choices if name not in known), ""):
                raise BadInput(
                    f"There is no parameter '{wrong}' of a run or of {kind.title}."
                    f"{closest(wrong, known)} Parameters of {kind.title}:"
                    f" {', '.join(kind.model_fields) or 'none'}."
                )
        return cls.parse(**sections(choices))

    def on(self, algorithm: str, **changed: Any) -> "RunSpec":
        """The run with another algorithm, which may know the same item features."""
        data = self.data.suited_to(algorithm)
        return self.model_copy(update={"algorithm": algorithm, "data": data, **changed})

    def canonical(self) -> "RunSpec":
        """The canonical form of the run: no budget and no noise option if nothing is released."""
        kind = algorithms.find(self.algorithm)
        private = issubclass(kind, PrivateAlgorithm)
        if private:
            return self
        return self.model_copy(update={"budget": None, "without_noise": False})

    @property
    def epsilon(self) -> float | None:
        """The epsilon of the budget; None without one."""
        if self.budget is None:
            return None
        return self.budget.epsilon

    def require_budget(self) -> Budget:
        """The budget. Raises BadInput if there is none."""
        if self.budget is None:
            raise BadInput(
                f"{self.algorithm} has no epsilon here. Choose a private algorithm."
            )
        return self.budget

    def at_epsilon(self, epsilon: float) -> "RunSpec":
        """The same run at another epsilon. Raises BadInput if it has no budget."""
        budget = self.require_budget().model_copy(update={"epsilon": epsilon})
        return self.model_copy(update={"budget": budget})

    @property
    def is_private(self) -> bool:
        """Whether the algorithm is private and adds noise."""
        return self.budget is not None and self.canonical().budget is not None

    @property
    def kind(self) -> type[Algorithm]:
        """The algorithm, or what it is without noise."""
        kind = algorithms.find(self.algorithm)
        if self.without_noise:
            return algorithms.without_noise(kind)
        return kind

    def open(self) -> "RunSpec":
        """The run without noise."""
        return self.model_copy(
            update={"budget": None, "without_noise": True}
        ).canonical()


class Parameter(NamedTuple):
    """A field of a section of `RunSpec` ("" for the run itself), with its declaration."""

    section: str
    field: str
    info: FieldInfo


Models = dict[str, type[BaseModel]]
SECTIONS: Models = {"data": DataSpec, "split": SplitSpec, "budget": Budget}
_OWN_NAMES = {("data", "id"): "dataset", ("split", "kind"): "split"}
# `judged` belongs to the search, and `noise` says whether there is noise
_NEVER_CHOSEN = {*SECTIONS, "parameters", "judged", "without_noise"}
PARAMETERS = {
    _OWN_NAMES.get((section, field), field): Parameter(section, field, info)
    for section, model in (SECTIONS | Models({"": RunSpec})).items()
    for field, info in model.model_fields.items()
    if field not in _NEVER_CHOSEN
}


def sections(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `RunSpec` from names and values.

    Without an epsilon, or with noise="none", there is no budget. A mapping, such as split={"kind":
    "users", "fold_in": 0.5}, is replaced by its content. ParameterValues in `parameters` go to the
    algorithm, whatever their names. split=None holds nothing out.
    """
    parts: dict[str, Any] = {
        "data": {},
        "split": {},
        "budget": {},
        "parameters": dict(choices.get("parameters", {})),
    }
    for name, value in _flat(choices).items():
        known = PARAMETERS.get(name)
        if name == "judged":  # only inside a mapping of the split
            parts["split"][name] = value
        elif known is None:
            parts["parameters"][name] = value
        elif known.section:
            parts[known.section][known.field] = value
        else:
            parts[name] = value
    if parts["budget"].get("noise") == NoiseKind.NONE:
        parts["without_noise"] = True
        for name in ("epsilon", "delta"):
            if parts["budget"].get(name) is not None:
                raise BadInput(
                    "noise=none runs the same method without noise: it has no privacy and no"
                    f" budget. Leave out {name}, or noise=none. Got {name} ="
                    f" {parts['budget'][name]}."
                )
    if parts["budget"].get("epsilon") is None:
        parts["budget"] = None
    return parts


def _flat(choices: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, choice in choices.items():
        if name == "parameters":
            continue
        if name == "split" and choice is None:
            flat |= _renamed("split", {"split": "none"})
        elif not isinstance(choice, Mapping):
            flat |= _renamed(name, {name: choice})
        elif name in SECTIONS:
            flat |= _renamed(name, choice)
        else:
            raise BadInput(
                f"Only {', '.join(SECTIONS)} and parameters can be mappings. Got one for '{name}'."
            )
    return flat


def _renamed(section: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _OWN_NAMES.get((section, field), field): value
        for field, value in fields.items()
    }


def with_delta(
    choices: Mapping[str, Any], algorithm_ids: Iterable[str], n_units: int
) -> dict[str, Any]:
    """The choices with a delta of 1/(10 n) if only epsilon is given.

    Raises BadInput if nothing uses a budget, if delta is given without epsilon, and if n is
    released with noise.
    """
    budget = {name: choices.get(name) for name in Budget.model_fields}
    algorithms.refuse_budget(algorithm_ids, **budget)
    if budget["epsilon"] is None and budget["delta"] is not None:
        raise BadInput("delta without epsilon is not a budget: add epsilon.")
    if budget["epsilon"] is None or budget["delta"] is not None:
        return dict(choices)
    if choices.get("row_count") == "private":
        raise BadInput(
            "The default delta, 1/(10 n), would reveal the number of rows, which row_count=private"
            " releases with noise. Give delta, e.g. 1e-6."
        )
    return {**choices, "delta": default_delta(n_units)}


def bad_input(error: ValidationError) -> BadInput:
    """The first problem of a specification, in words."""
    first = error.errors()[0]
    if not first["loc"]:  # the whole run
        return BadInput(str(first["ctx"]["error"]))
    section = str(first["loc"][0])
    owner = {"data": "the data set", "budget": "the budget", "split": "the split"}
    schema = SECTIONS.get(section, RunSpec).model_json_schema()
    depth = int(section in SECTIONS)
    return explain(
        error, owner.get(section, "the run"), schema.get("properties", {}), depth=depth
    )


class HasFingerprint(Protocol):
    """Data or their public facts."""

    @property
    def fingerprint(self) -> str: ...


def run_key(spec: RunSpec, data: HasFingerprint) -> str:
    """The key of every cache: canonical specification, data fingerprint, algorithm version."""
    canonical = spec.canonical()
    parts = [canonical.model_dump(mode="json"), data.fingerprint, spec.kind.version]
    budget = canonical.budget
    if budget and (
        budget.noise is NoiseKind.DISCRETE or budget.relation is Relation.REPLACE_ONE
    ):
        parts.append(ACCOUNTING)
    if budget and budget.calibration is Calibration.SOURCE:
        parts.append(SOURCE_RULES)
    if canonical.parameters.get("centring") == "global":
        parts.append(GLOBAL_MEAN)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


class Seeds(NamedTuple):
    """The start of each stream of a run; split and sampling are keys of hashed draws."""

    split: int
    init: np.random.SeedSequence
    sampling: int
    privacy: np.random.SeedSequence

    @property
    def shape(self) -> np.random.SeedSequence:
        """For the noise on the shape of public data."""
        return np.random.SeedSequence(
            self.privacy.entropy, spawn_key=(*self.privacy.spawn_key, SHAPE_STREAM)
        )


def seeds(seed: int) -> Seeds:
    """The streams of a run with this seed."""
    splitting, init, sampling, privacy = np.random.SeedSequence(seed).spawn(4)
    return Seeds(_key(splitting), init, _key(sampling), privacy)


def _key(source: np.random.SeedSequence) -> int:
    return int(source.generate_state(1, np.uint64)[0] >> 1)
