"""The sidebar that every page shares, and its two-way tie to the URL.

A session starts from the URL; after that the widgets lead and the URL follows. A value in the URL that cannot be used is named
in a sentence and replaced by the default.
"""

import math
from dataclasses import dataclass
from typing import Any

import streamlit as st

import datasets
from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.data import ITEM_SET_IS_PUBLIC, Shape
from dpmf_core.experiment import RunSpec
from dpmf_core.privacy import default_delta

EPSILONS = tuple(round(0.1 * 10 ** (step / 20), 2 if step < 20 else 1) for step in range(51))  # 0.1 to 31.6
DEFAULTS: dict[str, Any] = {"data": "cinema", "top": None, "algo": "dpals", "eps": 5.0, "delta": None, "seed": 0, "rule": "exact"}
DEPLOYED = (
    "For comparison: the 2020 US Census redistricting data were published at a total ε of 19.61 with δ = 1e-10 (US Census Bureau, 2021). "
    "Textbooks call ε of 1 or below strong."
)


@dataclass(frozen=True)
class Choice:
    """What the sidebar says: everything a run needs except advanced parameters."""

    data: str
    top_items: int | None
    algorithm: str
    epsilon: float
    delta: float
    seed: int
    calibration: str

    @property
    def entry(self) -> datasets.Entry:
        return _entry(self.data)

    @property
    def shape(self) -> Shape:
        """The public shape, without opening the data."""
        return Shape(self.entry.n_users, min(self.top_items or self.entry.n_items, self.entry.n_items), self.entry.bounds)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (ITEM_SET_IS_PUBLIC,) if self.shape.n_items < self.entry.n_items else ()

    def spec(self, algorithm: str | None = None, parameters: dict[str, Any] | None = None, **changed: Any) -> RunSpec:
        """The run that is chosen, or a relative of it. Raises BadInput."""
        budget = {"epsilon": changed.get("epsilon", self.epsilon), "delta": self.delta, "calibration": changed.get("calibration", self.calibration)}
        return RunSpec.parse(
            data={"id": self.data, "top_items": self.top_items if self.assumptions else None}, algorithm=algorithm or self.algorithm,
            parameters=parameters or {}, budget=budget, seed=changed.get("seed", self.seed),
        )  # fmt: skip


def private_algorithms() -> list[str]:
    """Ids of what takes a budget."""
    return [name for name, kind in algorithms.REGISTRY.items() if kind.plan is not Algorithm.plan]


def _entry(data_id: str) -> datasets.Entry:
    return next(entry for entry in datasets.catalogue() if entry.id == data_id)


def _usable_data() -> list[str]:
    return [entry.id for entry in datasets.catalogue() if datasets.present(entry.id)]


# ---- from the URL -----------------------------------------------------------------------------------------------------


def _number(text: str, low: float, high: float) -> float:
    value = float(text)
    if not low <= value <= high:
        raise ValueError
    return value


def _one_of(text: str, allowed: list[str]) -> str:
    if text not in allowed:
        raise ValueError
    return text


_READERS: dict[str, tuple[Any, str]] = {
    "data": (lambda text: _one_of(text, _usable_data()), "a data set on this machine"),
    "top": (lambda text: int(_number(text, 2, 1e6)), "a whole number from 2"),
    "algo": (lambda text: _one_of(text, private_algorithms()), "a private algorithm"),
    "eps": (lambda text: _number(text, 1e-4, 1000), "a number from 0.0001 to 1000"),
    "delta": (lambda text: _number(text, 1e-15, 0.49), "a number from 1e-15 to 0.49"),
    "seed": (lambda text: int(_number(text, 0, 2**31)), "a whole number from 0"),
    "rule": (lambda text: _one_of(text, ["exact", "source"]), "exact or source"),
}


def _restore() -> None:
    """Streamlit drops the value of a widget that the browser had not yet reported when the page changed."""
    for name, value in st.session_state["sidebar.kept"].items():
        st.session_state.setdefault(f"sidebar.{name}", value)


def _start_from_url() -> None:
    complaints = []
    for name, (read, allowed) in _READERS.items():
        value = DEFAULTS[name]
        if name in st.query_params:
            try:
                value = read(st.query_params[name])
            except (ValueError, OverflowError):
                complaints.append(f"'{name}' in the link must be {allowed}; got '{st.query_params[name][:40]}'. The default is used instead.")
        st.session_state[f"sidebar.{name}"] = value
    if st.session_state["sidebar.delta"] is None:
        st.session_state["sidebar.delta"] = default_delta(_entry(st.session_state["sidebar.data"]).n_users)
    st.session_state["sidebar.complaints"] = complaints
    _slide()


def _follow_in_url() -> None:
    st.session_state["sidebar.kept"] = {name: st.session_state[f"sidebar.{name}"] for name in (*_READERS, "slider")}
    for name in _READERS:
        value = st.session_state[f"sidebar.{name}"]
        if value is None or (name == "rule" and value == "exact"):
            st.query_params.pop(name, None)
        else:
            text = f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
            if st.query_params.get(name) != text:
                st.query_params[name] = text


# ---- widgets ----------------------------------------------------------------------------------------------------------


def _filled(name: str, title: str) -> None:
    """An emptied box takes back its last value, and says so."""
    if st.session_state[f"sidebar.{name}"] is None:
        kept = st.session_state[f"sidebar.{name}"] = st.session_state["sidebar.kept"][name]
        st.session_state["sidebar.complaints"].append(f"{title} cannot be empty: give {_READERS[name][1]}. {kept:g} is kept.")


def _complain() -> None:
    """What was wrong with the link or with a box, until something else is chosen."""
    state, now = st.session_state, choice()
    if state["sidebar.complaints"] and state.setdefault("sidebar.complained", now) != now:
        state["sidebar.complaints"], state["sidebar.complained"] = [], now
    for complaint in dict.fromkeys(state["sidebar.complaints"]):
        st.warning(complaint)


def _exactly() -> None:
    """The slider follows the box, unless that was emptied."""
    _filled("eps", "ε")
    _slide()


def _slide() -> None:
    """The slider's nearest mark."""
    epsilon = st.session_state["sidebar.eps"]
    st.session_state["sidebar.slider"] = min(EPSILONS, key=lambda mark: abs(math.log(mark / epsilon)))


def _type() -> None:
    """The box follows the slider."""
    st.session_state["sidebar.eps"] = float(st.session_state["sidebar.slider"])


def _new_data() -> None:
    """Another number of users: another default for delta, all items again."""
    st.session_state["sidebar.delta"] = default_delta(_entry(st.session_state["sidebar.data"]).n_users)
    st.session_state["sidebar.top"] = None


def draw() -> None:
    """The sidebar; afterwards `choice()` says what it holds."""
    _restore() if "sidebar.kept" in st.session_state else _start_from_url()
    with st.sidebar:
        st.selectbox("Data set", _usable_data(), key="sidebar.data", format_func=lambda name: _entry(name).title, on_change=_new_data)
        entry = _entry(st.session_state["sidebar.data"])
        about = "about " if entry.kind == "simulated" else ""
        st.caption(f"{entry.n_users:,} users, {entry.n_items:,} items, {about}{entry.n_ratings:,} ratings. {entry.words}")
        st.number_input(
            "Most rated items only", 2, None, key="sidebar.top", placeholder=f"all {entry.n_items:,}", step=100,
            help="Keeps the most rated items. Choosing them by exact counts treats the item set as public, and the privacy card says so.",
        )  # fmt: skip
        st.selectbox("Private algorithm", private_algorithms(), key="sidebar.algo", format_func=lambda name: algorithms.REGISTRY[name].title)
        st.select_slider("Privacy loss ε, total", EPSILONS, key="sidebar.slider", on_change=_type, format_func=lambda mark: f"{mark:g}", help=DEPLOYED)
        left, right = st.columns(2)
        left.caption("← more private")
        right.caption("more accurate →", text_alignment="right")
        st.number_input("ε, exactly", 1e-4, 1000.0, None, key="sidebar.eps", on_change=_exactly, format="%g", step=0.5)
        st.number_input(
            "δ", 1e-15, 0.49, None, key="sidebar.delta", on_change=_filled, args=("delta", "δ"), format="%.1e", step=1e-6,
            help="The probability with which the promise may fail. Default 1/(10 n).",
        )  # fmt: skip
        if st.session_state["sidebar.delta"] >= 1 / entry.n_users:
            st.warning(f"δ of 1/n ({1 / entry.n_users:.0e}) or more would allow publishing one person's whole row.")
        st.number_input(
            "Seed", 0, 2**31, None, key="sidebar.seed", on_change=_filled, args=("seed", "The seed"), step=1,
            help="Split, start and noise. Another seed is another draw.",
        )  # fmt: skip
        st.radio(
            "Noise is set by", ["exact", "source"], key="sidebar.rule", horizontal=True,
            format_func=lambda rule: {"exact": "exact accounting", "source": "the source's rule"}[rule],
            help="The source's own rule asks for a different amount of noise at the same nominal ε; the card shows what it truly costs.",
        )  # fmt: skip
    _complain()
    _follow_in_url()


def choice() -> Choice:
    """What the sidebar says now."""
    held = {name: st.session_state[f"sidebar.{name}"] for name in _READERS}
    return Choice(held["data"], held["top"], held["algo"], float(held["eps"]), float(held["delta"]), int(held["seed"]), held["rule"] or "exact")
