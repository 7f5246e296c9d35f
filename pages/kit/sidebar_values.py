"""The values of the sidebar in the session and in the page's address.

A session starts from the address; after that the widgets lead and the address follows. A value of
the address that cannot be used is named in a sentence and replaced by the default. What a lesson
fixes is set anew in every run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.errors import BadInput
from dpmf_core.privacy import default_delta
from dpmf_core.registry import by_id
from dpmf_core.serving import limits
from pages.kit import data_sets, lesson, links
from pages.kit.data_sets import session_key

# where the slider stops, 0.05 to 100, twenty in each decade
EPSILONS = tuple(round(10 ** (step / 20), 1 + (step < 0) + (step < -20)) for step in range(-26, 41))
RULES = ["exact", "source"]
NOISES = ["continuous", "discrete"]
SHAPES = ["given", "released"]
FEATURES = ["none", "public"]
COMPLAINTS = "sidebar.complaints"  # in the session: what was wrong with the address


@dataclass(frozen=True)
class Control:
    """One value of the sidebar.

    id: its name in an address. first: of a session that has had none. read: from the address's
    text; raises ValueError, or BadInput with a sentence. allowed_values: in words.
    is_silent: whether the address leaves it out where it is the first one.
    """

    id: str
    first: Any
    read: Callable[[str], Any]
    allowed_values: str
    is_silent: bool = False


def _number(low: float, high: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def _whole_number(low: float, high: float) -> Callable[[str], int]:
    number = _number(low, high)
    return lambda text: int(number(text))


def _one_of(options: Callable[[], list[str]]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in options():
            raise ValueError
        return text

    return read


def _data_set(text: str) -> str:
    """Raises ValueError, and BadInput where whoever runs the server does not allow it, or it is too
    large for a page.
    """
    if text not in data_sets.usable():
        if any(entry.id == text for entry in data_sets.entries()):
            limits.data_set(text)
        if any(entry.id == text for entry in datasets.in_parts()) and limits.allowed_here(text):
            raise BadInput(
                f"{text} is too large for a page: pages take up to about"
                f" {data_sets.LARGEST_IN_PARTS:,} ratings in parts. The command line trains"
                f" on it: dpmf fit --dataset {text}."
            )
        raise ValueError
    return text


# fmt: off
CONTROLS = by_id((
    Control("data", "cinema", _data_set, "a data set on this machine"),
    Control("top", None, _whole_number(2, 1e6), "a whole number from 2"),
    Control("features", "none", _one_of(lambda: FEATURES), "none or public", True),
    Control("algo", "dpals", _one_of(data_sets.private_algorithms), "a private algorithm"),
    Control("eps", 5.0, _number(1e-4, 1000), "a number from 0.0001 to 1000"),
    Control("delta", None, _number(1e-15, 0.49), "a number from 1e-15 to 0.49"),
    Control("seed", 0, _whole_number(0, 2**31), "a whole number from 0"),
    Control("rule", "exact", _one_of(lambda: RULES), "exact or source", True),
    Control("noise_kind", "continuous", _one_of(lambda: NOISES), "continuous or discrete",
            True),
    Control("shape", "given", _one_of(lambda: SHAPES), "given or released", True),
))
# fmt: on


def value(name: str) -> Any:
    """What the sidebar says now."""
    return st.session_state[session_key(name)]


def put(name: str, new: Any) -> None:
    st.session_state[session_key(name)] = new


def chosen_entry() -> Any:
    """The data set that is chosen."""
    return data_sets.find(value("data"))


def usual_delta() -> float:
    """1/(10 n) of the data set that is chosen."""
    return default_delta(data_sets.privacy_units(chosen_entry()))


def prepare() -> None:
    """Before widgets are drawn: every value is there, is what a lesson fixes, and may be used."""
    if any(session_key(name) not in st.session_state for name in CONTROLS):
        _start_from_address()
    _enforce_lesson()
    # removed meanwhile, or not allowed here
    if value("data") not in data_sets.usable():
        put("data", _first_values()["data"])
    if value("algo") not in data_sets.private_algorithms():  # these data do not suit it
        put("algo", data_sets.FIRST[data_sets.data_kind()]["algo"])


def _first_values() -> dict[str, Any]:
    """The values of a session that has not had any; of the data sets the usual one, where that
    may be computed on.
    """
    first = {control.id: control.first for control in CONTROLS.values()}
    first |= data_sets.FIRST[data_sets.data_kind()]
    usable = data_sets.usable()
    return first if first["data"] in usable else first | {"data": usable[0]}


def _start_from_address() -> None:
    """Values from the address, or first ones, for what this session has not had before."""
    complaints: list[str] = []
    first = _first_values()
    for control in CONTROLS.values():
        if session_key(control.id) not in st.session_state:
            put(control.id, _from_address(control, first[control.id], complaints))
    _fill_delta()
    st.session_state[COMPLAINTS] = complaints


def _from_address(control: Control, first: Any, complaints: list[str]) -> Any:
    text = st.query_params.get(control.id)
    if text is None:
        return first
    try:
        return control.read(text)
    except BadInput as error:
        complaints.append(error.args[0])
    except (ValueError, OverflowError):
        complaints.append(
            f"'{control.id}' in the link must be {control.allowed_values}; got '{text[:40]}'."
            " The default is used instead."
        )
    return first


def _enforce_lesson() -> None:
    """What a lesson fixes, whatever the address or the browser says."""
    first = _first_values()
    for control in CONTROLS.values():
        text = lesson.fixed_value(control.id)
        if text is not None:
            fixed = _of_lesson(control, text, first[control.id])
            if st.session_state.get(session_key(control.id)) != fixed:
                put(control.id, fixed)
    _fill_delta()


def _of_lesson(control: Control, text: str, first: Any) -> Any:
    try:
        return control.read(text) if text else first
    except (ValueError, OverflowError):
        st.session_state[COMPLAINTS].append(
            f"The lesson fixes '{control.id}' to what is not here ({control.allowed_values}"
            " is needed). The default is used instead."
        )
        return first


def _fill_delta() -> None:
    if value("delta") is None:
        put("delta", usual_delta())


def write_to_address() -> None:
    links.put_in_address({control.id: _text(control) for control in CONTROLS.values()})


def _text(control: Control) -> str | None:
    """A value as the address says it; None where it is left out."""
    setting = value(control.id)
    if setting is None or (control.is_silent and setting == control.first):
        return None
    if control.id == "data" and datasets.is_own(setting):
        return None
    return f"{setting:.12g}" if isinstance(setting, float) else str(setting)
