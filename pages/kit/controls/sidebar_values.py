"""The sidebar's values in the session and in the address.

They are parameters of a run: a link may contain what the parameter's field of `RunSpec` allows. A
session starts from the address; then the widgets lead and the address follows. Invalid values are
reported and replaced by the default. What a lesson fixes is set again on every rerun.
"""

import functools
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

import streamlit as st
from pydantic import TypeAdapter

import dpmf_datasets as datasets
from dpmf_core import algorithms
from dpmf_core.algorithms.base import Parameters
from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput, range_words
from dpmf_core.base.registry import by_id
from dpmf_core.data.ratings import ITEM_SET_IS_PUBLIC
from dpmf_core.data.samples import VOCABULARY_IS_PUBLIC, WORDS_ARE_PUBLIC
from dpmf_core.data.splits import SplitSpec
from dpmf_core.privacy import NoiseKind, default_delta
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.first_views import DEFAULT_EPSILON, DataKind
from dpmf_core.runs.specification import PARAMETERS, RunSpec
from pages.kit.base import data_sets, lesson, links
from pages.kit.base.data_sets import session_key


def _slider_stops() -> tuple[float, ...]:
    """The slider's stops, 0.05 to 100, twenty in each decade."""
    stops = []
    for step in range(-26, 41):
        digits = 1
        if step < 0:
            digits = 2
        if step < -20:
            digits = 3
        stops.append(round(10 ** (step / 20), digits))
    return tuple(stops)


EPSILONS = _slider_stops()
EPSILON = "sidebar.epsilon"  # in the session: the epsilon of all pages
UNMOVED = "sidebar.epsilon.unmoved"  # in the session: a page's default, not moved yet
# in the session: what was wrong with the address or a box
COMPLAINTS = "sidebar.complaints"
COMPLAINED_AT = "sidebar.complained"  # in the session: the choice at the complaint
MOST = 2**53 - 1  # the largest integer that a browser represents exactly


# ---- the chosen run ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SidebarChoice:
    """The sidebar's values, named as a run's parameters, in the order of the address."""

    dataset: str
    top_items: int | None = None
    most_words: int | None = None
    item_features: str = "none"
    algorithm: str
    epsilon: float
    delta: float
    seed: int = 0
    calibration: str = "exact"
    noise: str = "continuous"
    row_count: str = "given"  # if it is private, so is the set of items or words
    most_per_user: int | None = None
    test_fraction: float = SplitSpec().test_fraction
    outlier_rows: float = 0.0
    outlier_cells: float = 0.0
    is_best: bool = False  # whether the algorithm is the best one known at this epsilon

    @functools.cached_property
    def entry(self) -> Any:
        return data_sets.find(self.dataset)

    @functools.cached_property
    def shape(self) -> Any:
        """The public shape, without opening the data."""
        return self.entry.shape(self.top_items or self.most_words)

    @property
    def title(self) -> str:
        """The title of the method."""
        return algorithms.find(self.algorithm).title

    @property
    def words(self) -> str:
        return f"{self.title} at ε = {budget_text(self.epsilon)}"

    @property
    def kept_items(self) -> int | None:
        """The number of most rated items that are kept; None for all."""
        if self.shape.n_items == self.entry.n_items:
            return None
        return self.top_items

    @property
    def known_features(self) -> str:
        """What algorithms may know of the items: "public" for the public table, or "none"."""
        if not self.entry.item_features:
            return "none"
        return self.item_features

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed of the data, and of columns kept by exact counts."""
        is_exact = self.row_count == "given"
        if self.entry.holds == "ratings":
            if self.kept_items and is_exact:
                return (*self.entry.assumptions, ITEM_SET_IS_PUBLIC)
            return tuple(self.entry.assumptions)
        assumptions = []
        if self.entry.holds == "documents" and self.entry.kind != "simulated":
            assumptions.append(WORDS_ARE_PUBLIC)
        if (
            is_exact
            and self.most_words is not None
            and self.most_words < self.entry.n_features
        ):
            assumptions.append(VOCABULARY_IS_PUBLIC)
        assumptions += [
            one for one in self.entry.assumptions if one != WORDS_ARE_PUBLIC
        ]
        return tuple(dict.fromkeys(assumptions))

    def spec(
        self,
        parameters: Parameters | None = None,
        data: dict[str, Any] | None = None,
        **changes: Any,
    ) -> RunSpec:
        """The chosen run or a variant.

        Parameters
        ----------
        parameters
            The parameters of the algorithm.
        data
            The preparation of samples.
        **changes
            Other fields of the run that differ from the choice.

        Raises
        ------
        BadInput
            If the run is not valid.
        """
        choices = asdict(self) | (data or {}) | changes
        del choices["is_best"]
        if self.entry.holds == "ratings":
            choices |= {
                "top_items": self.kept_items,
                "item_features": self.known_features,
            }
        if self.row_count == "private" and self.entry.holds != "images":
            choices["item_choice"] = "private"
        spec = RunSpec.of(**choices, parameters=parameters or {})
        if self.entry.holds == "ratings":
            return spec
        return spec.canonical()


def link_of(run: RunSpec) -> dict[str, str]:
    """The address parameters that open a run with all its settings."""
    fields: dict[str, Any] = {
        "": run,
        "data": run.data,
        "split": run.split,
        "budget": run.budget,
    }
    texts = {f"p.{name}": str(setting) for name, setting in run.parameters.items()}
    for control in CONTROLS.values():
        section, field, _ = PARAMETERS[control.id]
        setting = getattr(fields[section], field, None)
        if setting not in (None, control.first):
            texts[control.id] = str(setting)
    return texts


def forget(kind: DataKind) -> None:
    """Let the pages of a kind of data read their values from the next address."""
    for name in CONTROLS:
        st.session_state.pop(session_key(name, kind), None)


def source_rule(algorithm: str) -> str:
    """The name of the source's rule, with what its epsilon is for."""
    kind = algorithms.find(algorithm)
    assert issubclass(kind, algorithms.PrivateAlgorithm)
    if not kind.source_epsilon_of:
        return "the source's rule"
    return f"the source's rule, for {kind.source_epsilon_of}"


# ---- the values ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Control:
    """One value of the sidebar, a parameter of a run. `first` is its default."""

    id: str
    first: Any = None

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(PARAMETERS[self.id].info.rebuild_annotation())

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        schema = self._adapter.json_schema()
        if "anyOf" in schema:
            return dict(schema["anyOf"][0])
        return schema

    @property
    def options(self) -> list[str]:
        return list(self.schema["enum"])

    @property
    def range(self) -> tuple[Any, Any]:
        """The smallest and largest number of a widget."""
        whole = self.schema["type"] == "integer"
        high = self.schema.get("maximum", self.schema.get("exclusiveMaximum", MOST))
        if "exclusiveMaximum" in self.schema and not whole:
            high = 0.98 * high
        convert = int if whole else float
        low = self.schema.get("minimum", self.schema.get("exclusiveMinimum", 0))
        return convert(low), convert(min(high, MOST))

    def read(self, text: str) -> Any:
        """A value from text. Raises ValueError, or BadInput with a message."""
        value = self._adapter.validate_python(text)
        if self.id in CHECKS:
            CHECKS[self.id](text)
        if self.schema["type"] == "string":
            return str(value)
        low, high = self.range
        if not low <= value <= high:
            raise ValueError
        return value

    @property
    def is_set(self) -> bool:
        """Whether the value differs from the default."""
        return bool(value(self.id) != self.first)


def _check_data_set(text: str) -> None:
    """Raise ValueError, or BadInput if the data set is too large or not allowed."""
    if text in data_sets.usable():
        return
    if data_sets.data_kind() == "ratings" and datasets.is_stand_in(text):
        limits.data_set(text)
        if data_sets.n_ratings(datasets.entry_of(text)) > data_sets.LARGEST_IN_ADDRESS:
            raise BadInput(
                f"A link may request at most {data_sets.LARGEST_IN_ADDRESS:,} synthetic ratings."
            )
        return
    if any(entry.id == text for entry in data_sets.entries()):
        limits.data_set(text)
    if any(entry.id == text for entry in datasets.in_parts()) and limits.allowed_here(
        text
    ):
        raise BadInput(
            f"{text} is too large for pages, which take up to about"
            f" {data_sets.LARGEST_IN_PARTS:,} ratings. Use the command line: dpmf fit --dataset"
            f" {text}."
        )
    raise ValueError


def _check_noise(text: str) -> None:
    if text == NoiseKind.NONE:
        raise BadInput(
            "Explore draws the method without noise as a line. To run it alone, use --noise none on"
            " the command line."
        )


def _check_algorithm(text: str) -> None:
    if text not in data_sets.offered_methods():
        raise ValueError


# conditions beyond those of a run: raise ValueError, or BadInput with a message
CHECKS = {
    "dataset": _check_data_set,
    "noise": _check_noise,
    "algorithm": _check_algorithm,
}
# other values of a control in words
ALLOWED = {"dataset": "a data set on this machine", "algorithm": "a private method"}
OF_ONE_KIND = {
    "top_items": "ratings",
    "most_words": "documents",
    "most_per_user": "ratings",
    "test_fraction": "ratings",
    "outlier_rows": "images",
    "outlier_cells": "images",
}
# only a link sets these, and pages show them only then
OF_LINKS = ("most_per_user", "test_fraction", "outlier_rows", "outlier_cells")
CONTROLS = by_id(
    Control(field.name, None if field.default is MISSING else field.default)
    for field in fields(SidebarChoice)
    if field.name != "is_best"
)


def controls() -> list[Control]:
    kind = data_sets.data_kind()
    return [
        control
        for control in CONTROLS.values()
        if OF_ONE_KIND.get(control.id, kind) == kind
    ]


def value(name: str) -> Any:
    return st.session_state[session_key(name)]


def put(name: str, new: Any) -> None:
    st.session_state[session_key(name)] = new


def chosen_entry() -> Any:
    return data_sets.find(value("dataset"))


def usual_delta() -> float:
    """The default delta, 1/(10 n)."""
    return default_delta(chosen_entry().shape().n_units)


def prepare() -> None:
    """Set every value before widgets are drawn: from the address, a lesson, or a default."""
    first = {control.id: control.first for control in controls()}
    first |= data_sets.FIRST[data_sets.data_kind()]
    usable = data_sets.usable()
    if first["dataset"] not in usable:
        first["dataset"] = next(iter(usable))
    _start_from_address(first)
    dial(DEFAULT_EPSILON)
    # what a lesson fixes wins over the address and the browser
    for control in controls():
        text = lesson.fixed_value(control.id)
        if text is not None:
            fixed = _read(control, text, first[control.id], "lesson")
            if value(control.id) != fixed:
                put(control.id, fixed)
    if value("delta") is None:
        put("delta", usual_delta())
    # the data set may have been removed, or not be allowed here
    if value("dataset") not in usable and value("dataset") not in data_sets.usable():
        put("dataset", first["dataset"])
    # these data do not suit it
    if value("algorithm") not in data_sets.offered_methods():
        put("algorithm", data_sets.FIRST[data_sets.data_kind()]["algorithm"])


def _start_from_address(first: dict[str, Any]) -> None:
    """Set values that this session has not had yet, from the address or the defaults."""
    missing = [
        control
        for control in controls()
        if session_key(control.id) not in st.session_state
    ]
    if missing:
        st.session_state[COMPLAINTS] = []
    for control in missing:
        if control.id != "epsilon":
            text = st.query_params.get(control.id)
            put(control.id, _read(control, text, first[control.id], "link"))


def dial(first: float) -> float:
    """The epsilon of the session.

    Until it is moved, it is the value in the page's address, or `first`, the page's own default.
    """
    state = st.session_state
    state.setdefault(COMPLAINTS, [])
    if EPSILON not in state or state[EPSILON] == state.get(UNMOVED):
        text = st.query_params.get("epsilon")
        state[EPSILON] = _read(CONTROLS["epsilon"], text, first, "link")
        state[UNMOVED] = first
    if state[EPSILON] != state.get(UNMOVED):
        state.pop(UNMOVED, None)
    epsilon: float = state[EPSILON]
    return epsilon


def _read(control: Control, text: str | None, first: Any, source: str) -> Any:
    """A value from text, or the default; add a complaint for invalid text."""
    if not text:
        return first
    try:
        return control.read(text)
    except BadInput as error:
        complaint = error.args[0]
    except (ValueError, OverflowError):
        allowed = ALLOWED.get(control.id) or range_words(control.schema)
        complaint = (
            f"'{control.id}' in the {source} must be {allowed}; got '{text[:40]}'. The default is"
            " used instead."
        )
    if complaint not in st.session_state[COMPLAINTS]:
        st.session_state[COMPLAINTS].append(complaint)
    return first


def write_to_address() -> None:
    """Write the chosen values into the address."""
    now = st.query_params.to_dict()
    links.put_in_address(now | {control.id: _text(control) for control in controls()})


def _text(control: Control) -> str | None:
    """A value as text for the address, or None to omit it."""
    setting = value(control.id)
    is_omitted = isinstance(setting, str) or control.id in OF_LINKS
    if setting is None or (is_omitted and not control.is_set):
        return None
    if control.id == "dataset" and datasets.is_own(setting):
        return None
    if control.id == "algorithm" and setting == data_sets.BEST:
        return None
    if isinstance(setting, float):
        return f"{setting:.12g}"
    return str(setting)
