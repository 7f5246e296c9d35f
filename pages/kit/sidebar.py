"""The sidebar that every page shares, and its two-way tie to the URL. What is factorised (ratings, documents, images) has a data set and an algorithm each.

A session starts from the URL; after that the widgets lead and the URL follows. A value in the URL that cannot be used is named
in a sentence and replaced by the default.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

import datasets
from dpmf_core import algorithms, limits
from dpmf_core.algorithms import Algorithm
from dpmf_core.data import ITEM_SET_IS_PUBLIC, Shape
from dpmf_core.errors import BadInput
from dpmf_core.experiment import RunSpec
from dpmf_core.glossary import linked
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.printed import budget_text
from dpmf_core.samples import VOCABULARY_IS_PUBLIC, WORDS_ARE_PUBLIC, SampleShape
from pages.kit import lesson, links, said
from pages.kit.tied import followed, tied

EPSILONS = tuple(round(0.1 * 10 ** (step / 20), 2 if step < 20 else 1) for step in range(51))  # 0.1 to 31.6
DEFAULTS: dict[str, Any] = {
    "data": "cinema", "top": None, "algo": "dpals", "eps": 5.0, "delta": None, "seed": 0, "rule": "exact", "noise_kind": "continuous", "shape": "given",
}  # fmt: skip
FIRST: dict[str, dict[str, Any]] = {"documents": {"data": "news", "algo": "oneshot-nmf"}, "images": {"data": "faces", "algo": "oneshot-nmf"}}
OWN = ("data", "top", "algo", "delta", "shape")  # what each kind of data has for itself; epsilon, seed and rule are shared
RULES = ["exact", "source"]
NOISES = ["continuous", "discrete"]
SHAPES = ["given", "released"]
UNKNOWN_DELTA = 1e-6  # where 1/(10 n) would say how many there are
Holds = Literal["ratings", "documents", "images"]
DEPLOYED = (
    "For comparison: the 2020 US Census redistricting data were published at a total ε of 19.61 with δ = 1e-10 (US Census Bureau, 2021). "
    "Textbooks call ε of 1 or below strong."
)


def released(shape_is: str, holds: Holds = "ratings") -> dict[str, str]:
    """What a run's data say of a shape that is released; nothing where it is given."""
    if shape_is == "given":
        return {}
    return {"row_count": "private"} | ({} if holds == "images" else {"item_choice": "private"})


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
    noise: str = "continuous"
    shape_is: str = "given"

    @property
    def entry(self) -> datasets.Entry:
        found: datasets.Entry = _entry(self.data)
        return found

    @property
    def shape(self) -> Shape:
        """The public shape, without opening the data."""
        return Shape(self.entry.n_users, min(self.top_items or self.entry.n_items, self.entry.n_items), self.entry.bounds)

    @property
    def kept_items(self) -> int | None:
        """How many of the most rated items are kept; None for all."""
        return self.top_items if self.shape.n_items < self.entry.n_items else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        return self.entry.assumptions + ((ITEM_SET_IS_PUBLIC,) if self.kept_items and self.shape_is == "given" else ())

    def spec(self, algorithm: str | None = None, parameters: dict[str, Any] | None = None, **changed: Any) -> RunSpec:
        """The run that is chosen, or a relative of it. Raises BadInput."""
        budget = {
            "epsilon": changed.get("epsilon", self.epsilon), "delta": self.delta, "calibration": changed.get("calibration", self.calibration),
            "noise": self.noise,
        }  # fmt: skip
        return RunSpec.parse(
            data={"id": self.data, "top_items": self.kept_items, **released(self.shape_is)}, algorithm=algorithm or self.algorithm,
            parameters=parameters or {}, budget=budget, seed=changed.get("seed", self.seed),
        )  # fmt: skip


@dataclass(frozen=True)
class SampleChoice:
    """What the sidebar says on a page about documents or images."""

    data: str
    most_words: int | None
    algorithm: str
    epsilon: float
    delta: float
    seed: int
    calibration: str
    noise: str = "continuous"
    shape_is: str = "given"

    @property
    def entry(self) -> datasets.SampleEntry:
        found: datasets.SampleEntry = _entry(self.data)
        return found

    @property
    def shape(self) -> SampleShape:
        """The public shape, without opening the data."""
        entry = self.entry
        return SampleShape(entry.n_samples, min(self.most_words or entry.n_features, entry.n_features), entry.image, entry.n_people)

    def assumptions(self, hashed: bool) -> tuple[str, ...]:
        """What the words assume: only an invented vocabulary, or a hashed one, learns nothing from documents."""
        chosen = self.most_words is not None and self.most_words < self.entry.n_features and self.shape_is == "given"
        learned = self.entry.holds == "documents" and self.entry.kind != "simulated"
        words = () if hashed else (WORDS_ARE_PUBLIC,) * learned + (VOCABULARY_IS_PUBLIC,) * chosen
        return tuple(dict.fromkeys((*words, *(it for it in self.entry.assumptions if it != WORDS_ARE_PUBLIC))))

    def spec(self, algorithm: str | None = None, parameters: dict[str, Any] | None = None, data: dict[str, Any] | None = None, **changed: Any) -> RunSpec:
        """The run that is chosen, or a relative of it. Raises BadInput."""
        budget = {
            "epsilon": changed.get("epsilon", self.epsilon), "delta": self.delta, "calibration": changed.get("calibration", self.calibration),
            "noise": self.noise,
        }  # fmt: skip
        return RunSpec.parse(
            data={"id": self.data, "most_words": self.most_words, **released(self.shape_is, self.entry.holds), **(data or {})},
            algorithm=algorithm or self.algorithm, parameters=parameters or {},
            budget=budget, seed=changed.get("seed", self.seed),
        ).canonical()  # fmt: skip


def holds() -> Holds:
    """What the page shown is about."""
    page_holds: Holds = st.session_state.get("sidebar.holds", "ratings")
    return page_holds


def _key(name: str) -> str:
    """Where a value lives in the session: one place for all pages, or one for each kind of data."""
    return f"sidebar.{holds()}.{name}" if name in OWN and holds() != "ratings" else f"sidebar.{name}"


def about_public_data() -> bool:
    """Whether the data chosen is published or simulated; so it is where none is."""
    data_id = st.session_state.get(_key("data"))
    return data_id is None or bool(_entry(data_id).public)


def bring(entry: Any) -> None:
    """A data set of this session alone, chosen on every page about its kind; call it before the sidebar is drawn."""
    held = getattr(entry, "holds", "ratings")
    st.session_state["data.own"] = {**st.session_state.get("data.own", {}), entry.id: entry}
    prefix = "sidebar." if held == "ratings" else f"sidebar.{held}."
    for name, value in (("data", entry.id), ("top", None), ("delta", default_delta(_units(entry)))):
        st.session_state[prefix + name] = value
    if held != "ratings":
        st.session_state.setdefault(f"{prefix}algo", FIRST[held]["algo"])


def drop(entry: Any) -> None:
    """Forget a data set of this session; pages that showed it go back to their first one."""
    st.session_state["data.own"] = {name: it for name, it in st.session_state.get("data.own", {}).items() if name != entry.id}
    for key in [key for key, value in st.session_state.items() if str(key).endswith(".data") and value == entry.id]:
        del st.session_state[key]


def private_algorithms() -> list[str]:
    """Ids of what takes a budget and suits the page's data."""
    task = "ratings" if holds() == "ratings" else "samples"
    return [name for name, kind in algorithms.REGISTRY.items() if kind.plan is not Algorithm.plan and kind.task == task]


def _entries() -> tuple[Any, ...]:
    """The catalogue's, and what this session brought."""
    own = tuple(entry for entry in st.session_state.get("data.own", {}).values() if getattr(entry, "holds", "ratings") == holds())
    return (*(datasets.ratings() if holds() == "ratings" else datasets.samples(holds())), *own)


def _entry(data_id: str) -> Any:
    return st.session_state.get("data.own", {}).get(data_id) or datasets.described(data_id)


def _units(entry: Any) -> int:
    """How many privacy units there are, known to everybody."""
    return int(entry.n_users if getattr(entry, "holds", "ratings") == "ratings" else entry.n_people or entry.n_samples)


def _usable_data() -> list[str]:
    """Those on this machine that may be computed on here; the usual one where there is none, of which the page then says so."""
    found = [entry.id for entry in _entries() if datasets.is_own(entry.id) or (datasets.present(entry.id) and limits.allowed_here(entry.id))]
    return found or [FIRST.get(holds(), DEFAULTS)["data"]]


def _first() -> dict[str, Any]:
    """The values of a session that has not had any; of the data sets the usual one, where that may be computed on."""
    first, usable = DEFAULTS | FIRST.get(holds(), {}), _usable_data()
    return first if first["data"] in usable else first | {"data": usable[0]}


def _data_set(text: str) -> str:
    """Raises ValueError, and BadInput where whoever runs the server does not allow it."""
    if text not in _usable_data():
        if any(entry.id == text for entry in _entries()):
            limits.data_set(text)
        raise ValueError
    return text


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
    "data": (_data_set, "a data set on this machine"),
    "top": (lambda text: int(_number(text, 2, 1e6)), "a whole number from 2"),
    "algo": (lambda text: _one_of(text, private_algorithms()), "a private algorithm"),
    "eps": (lambda text: _number(text, 1e-4, 1000), "a number from 0.0001 to 1000"),
    "delta": (lambda text: _number(text, 1e-15, 0.49), "a number from 1e-15 to 0.49"),
    "seed": (lambda text: int(_number(text, 0, 2**31)), "a whole number from 0"),
    "rule": (lambda text: _one_of(text, RULES), "exact or source"),
    "noise_kind": (lambda text: _one_of(text, NOISES), "continuous or discrete"),
    "shape": (lambda text: _one_of(text, SHAPES), "given or released"),
}


def _start_from_url() -> None:
    """Values from the link, or first ones, for what this session has not had before."""
    complaints = []
    first = _first()
    for name, (read, allowed) in _READERS.items():
        if _key(name) in st.session_state:
            continue
        value = first[name]
        if name in st.query_params:
            try:
                value = read(st.query_params[name])
            except BadInput as error:
                complaints.append(str(error))
            except (ValueError, OverflowError):
                complaints.append(f"'{name}' in the link must be {allowed}; got '{st.query_params[name][:40]}'. The default is used instead.")
        st.session_state[_key(name)] = value
    if st.session_state[_key("delta")] is None:
        st.session_state[_key("delta")] = default_delta(_units(_entry(st.session_state[_key("data")])))
    st.session_state["sidebar.complaints"] = complaints
    _slide()


def _enforce() -> None:
    """What a lesson fixes is set anew in every run, whatever the address or the browser says."""
    first = _first()
    for name, (read, allowed) in _READERS.items():
        text = lesson.fixed(name)
        if text is None:
            continue
        try:
            value = read(text) if text else first[name]
        except (ValueError, OverflowError):
            value = first[name]
            st.session_state["sidebar.complaints"].append(f"The lesson fixes '{name}' to what is not here ({allowed} is needed). The default is used instead.")
        if st.session_state.get(_key(name)) != value:
            st.session_state[_key(name)] = value
    if st.session_state[_key("delta")] is None:
        st.session_state[_key("delta")] = default_delta(_units(_entry(st.session_state[_key("data")])))
    if lesson.fixed("eps") is not None:
        _slide()


def _follow_in_url() -> None:
    links.tell({name: _in_url(name, st.session_state[_key(name)]) for name in _READERS})


def _in_url(name: str, value: Any) -> str | None:
    if value is None or (name in ("rule", "noise_kind", "shape") and value == DEFAULTS[name]) or (name == "data" and datasets.is_own(value)):
        return None
    return f"{value:.12g}" if isinstance(value, float) else str(value)


# ---- widgets ----------------------------------------------------------------------------------------------------------


def _complain() -> None:
    """What was wrong with the link, until something else is chosen."""
    state, now = st.session_state, chosen()
    if state["sidebar.complaints"] and state.setdefault("sidebar.complained", now) != now:
        state["sidebar.complaints"], state["sidebar.complained"] = [], now
    for complaint in dict.fromkeys(state["sidebar.complaints"]):
        st.warning(said.harmless(complaint))


def _slide() -> None:
    """The slider's nearest mark."""
    epsilon = st.session_state["sidebar.eps"]
    st.session_state["sidebar.slider"] = min(EPSILONS, key=lambda mark: abs(math.log(mark / epsilon)))


def _type() -> None:
    """The box follows the slider."""
    st.session_state["sidebar.eps"] = float(st.session_state["sidebar.slider"])


def _new_data() -> None:
    """Another number of users: another default for delta, all items again."""
    st.session_state[_key("delta")] = default_delta(_units(_entry(st.session_state[_key("data")])))
    st.session_state[_key("top")] = None


def _fewer(entry: Any) -> None:
    """What the data hold, and how many of their columns are looked at."""
    fixed, seen = lesson.fixed("top") is not None, not lesson.hidden("top")
    if holds() == "ratings":
        about = "about " if entry.kind == "simulated" else ""
        st.caption(f"{entry.n_users:,} users, {entry.n_items:,} items, {about}{entry.n_ratings:,} ratings. {entry.words}")
        if seen:
            st.number_input(
                "Most rated items only", 2, None, **tied(_key("top"), emptiable=True), placeholder=f"all {entry.n_items:,}", step=100, disabled=fixed,
                help="Keeps the most rated items. Choosing them by exact counts treats the item set as public, and the privacy card says so.",
            )  # fmt: skip
        return
    whose = f" of {entry.n_people:,} people" if entry.n_people else ""
    st.caption(f"{entry.n_samples:,} {entry.holds}{whose}, {entry.n_features:,} {'words' if entry.holds == 'documents' else 'pixels'}. {entry.words}")
    if entry.holds == "documents" and seen:
        st.number_input(
            "Most frequent words only", 2, None, **tied(_key("top"), emptiable=True), placeholder=f"all {entry.n_features:,}", step=1000, disabled=fixed,
            help="Keeps the words in most documents. Choosing them by exact counts treats the vocabulary as public, and the privacy card says so.",
        )  # fmt: skip
    elif entry.holds != "documents":
        st.session_state[_key("top")] = None


def _loss(fixed: bool) -> None:
    """Epsilon: a slider and a box that follow each other."""
    st.select_slider(
        "Privacy loss ε, total",
        EPSILONS,
        **followed("sidebar.slider", _type),
        format_func=budget_text,
        help=linked(DEPLOYED),
        disabled=fixed,
    )
    if not EPSILONS[0] <= st.session_state["sidebar.eps"] <= EPSILONS[-1]:
        st.caption(f"ε = {budget_text(st.session_state['sidebar.eps'])} lies beyond the slider.")
    left, right = st.columns(2)
    left.caption("← more private")
    right.caption("more accurate →", text_alignment="right")
    st.number_input("ε, exactly", 1e-4, 1000.0, **followed("sidebar.eps", _slide), format="%g", step=0.5, disabled=fixed)


def _failing(fixed: bool) -> None:
    st.number_input(
        "δ", 1e-15, 0.49, **followed(_key("delta")), format="%.1e", step=1e-6, disabled=fixed,
        help=linked("δ is the probability with which the promise may fail. Default 1/(10 n)."),
    )  # fmt: skip


def _drawing(fixed: bool) -> None:
    st.number_input("Seed", 0, 2**31, **tied("sidebar.seed"), step=1, disabled=fixed, help="Split, start and noise. Another seed is another draw.")


def _ruling(fixed: bool) -> None:
    st.radio(
        "Noise is set by", RULES, **tied("sidebar.rule", RULES), horizontal=True, disabled=fixed,
        format_func=lambda rule: {"exact": "exact accounting", "source": "the source's rule"}[rule],
        help="The source's own rule asks for a different amount of noise at the same nominal ε; the card shows what it truly costs.",
    )  # fmt: skip


def _noising(fixed: bool) -> None:
    st.radio(
        "Noise", NOISES, **tied("sidebar.noise_kind", NOISES), horizontal=True, disabled=fixed,
        format_func=lambda kind: {"continuous": "floating-point", "discrete": "exact, on a grid"}[kind],
        help="Floating-point Gaussian noise leaves traces in the last digits (Mironov 2012). Exact: statistics are rounded to a grid, and a discrete Gaussian "
        "is drawn on it without any rounding. It is accounted by its Rényi curve, so the same ε asks for a little more noise.",
    )  # fmt: skip


def _shaping(fixed: bool) -> None:
    """Whether the item set and the number of rows are taken as public."""
    rows, names = {"ratings": ("users", "items"), "documents": ("documents", "words"), "images": ("images", "")}[holds()]
    what = f"Which {names} there are, and how many {rows}" if names else f"How many {rows} there are"
    st.radio(
        what, SHAPES, **tied(_key("shape"), SHAPES), horizontal=True, disabled=fixed, on_change=_shape_changed,
        format_func=lambda it: {"given": "taken as public", "released": "released with noise"}[it],
        help=linked(
            "Released with noise: part of the budget pays for a noisy number of rows and for noisy counts, of which only those above a threshold are named. "
            "See partition selection. Runs without noise choose by exact counts, so what they are judged on is not quite the same."
        ),
    )  # fmt: skip


def _shape_changed() -> None:
    """A default of delta that says how many rows there are goes, or comes back."""
    usual = default_delta(_units(_entry(st.session_state[_key("data")])))
    if st.session_state[_key("shape")] == "released" and st.session_state[_key("delta")] == usual:
        st.session_state[_key("delta")] = UNKNOWN_DELTA
    elif st.session_state[_key("shape")] == "given" and st.session_state[_key("delta")] == UNKNOWN_DELTA:
        st.session_state[_key("delta")] = usual


def _what(fixed: bool) -> None:
    titles, usable = {entry.id: entry.title for entry in _entries()}, _usable_data()
    st.selectbox("Data set", usable, **tied(_key("data"), usable), format_func=titles.__getitem__, on_change=_new_data, disabled=fixed)


def _how(fixed: bool) -> None:
    ids = private_algorithms()
    st.selectbox("Private algorithm", ids, **tied(_key("algo"), ids), format_func=lambda name: algorithms.REGISTRY[name].title, disabled=fixed)


def _control(name: str, widget: Callable[[bool], None], idle: Collection[str]) -> None:
    """A widget, unless a lesson hides it or the page has no use for it; locked where the lesson fixes it."""
    if name not in idle and not lesson.hidden(name):
        widget(lesson.fixed(name) is not None)


def draw(page_holds: Holds = "ratings", idle: Collection[str] = (), instead: str = "") -> None:
    """The sidebar of a page about ratings, documents or images; afterwards `choice()` or `sample_choice()` says what it holds.

    idle: what plays no part on the page, by its name in a link. instead: said in place of all controls, where the page has settings of its own.
    """
    st.session_state["sidebar.holds"] = page_holds
    if any(_key(name) not in st.session_state for name in _READERS):
        _start_from_url()
    _enforce()
    if st.session_state[_key("data")] not in _usable_data():  # removed meanwhile, or not allowed here
        st.session_state[_key("data")] = _first()["data"]
    if instead:
        st.sidebar.info(instead)
    else:
        _widgets(idle)
    _complain()
    _follow_in_url()


def _widgets(idle: Collection[str]) -> None:
    with st.sidebar:
        _control("data", _what, idle)
        entry = _entry(st.session_state[_key("data")])
        _fewer(entry)
        if not entry.public:
            from pages.kit import odometer  # which stands on figures, and these on the sidebar

            odometer.panel(entry.id, "sidebar", _units(entry))
        _control("algo", _how, idle)
        _control("eps", _loss, idle)
        _control("delta", _failing, idle)
        if "delta" not in idle and st.session_state[_key("delta")] >= 1 / _units(entry):
            st.warning(f"δ of 1/n ({1 / _units(entry):.0e}) or more would allow publishing one person's whole row.")
        _control("seed", _drawing, idle)
        _control("rule", _ruling, idle)
        _control("noise_kind", _noising, idle)
        if not entry.public or st.session_state[_key("top")] or st.session_state[_key("shape")] != "given":
            _control("shape", _shaping, idle)


def choice() -> Choice:
    """What the sidebar of a page about ratings says now."""
    return Choice(*_held())


def sample_choice() -> SampleChoice:
    """What the sidebar of a page about documents or images says now."""
    return SampleChoice(*_held())


def chosen() -> Choice | SampleChoice:
    return choice() if holds() == "ratings" else sample_choice()


def _held() -> tuple[Any, ...]:
    held = {name: st.session_state[_key(name)] for name in _READERS}
    return (
        held["data"],
        held["top"],
        held["algo"],
        float(held["eps"]),
        float(held["delta"]),
        int(held["seed"]),
        held["rule"] or "exact",
        held["noise_kind"] or "continuous",
        held["shape"] or "given",
    )
