"""Widgets bound to a session value that a link, a lesson or another widget may set first."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.kit.base import lesson, links, safe_text

ReadText = Callable[[str], Any]  # turns a link's text into a value; raises ValueError
REPLACED_WIDGETS = 20  # replaced widgets of a key that a browser may still report
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # or three decimals
SMALLEST_ON_KEYPAD = 1e-4  # a smaller number is written with an exponent
UNBOUNDED = 1e9  # of a box without a limit of its own
# what a figure shows
SHARE = "share"
FIGURE = "metric"


def bind(
    key: str, options: Iterable[Any] | None = None, emptiable: bool = False
) -> dict[str, Any]:
    """Arguments that tie a widget to the session's value under `key`.

    Streamlit tells the browser only once that a value was set. A browser that has not drawn the
    widget by then falls back to the widget's default and reports it, so the value is also the
    default. A widget that may be empty has an empty default. There only persisting helps, which
    repeats the value until the browser has reported one.

    Parameters
    ----------
    key
        The key in the session.
    options
        The options of a widget that takes an index.
    emptiable
        Whether the widget may be empty.
    """
    value = st.session_state[key]
    bound = {"key": key, "persist_state": "session"}
    if options is not None:
        return bound | {"index": list(options).index(value)}
    if emptiable:
        value = None
    return bound | {"value": value}


@dataclass(frozen=True)
class PageValue:
    """A value of a page that the session and the address hold.

    The session's value leads, and the address follows. The address omits the default.

    Attributes
    ----------
    key
        The key in the session.
    name
        The name in the address.
    first
        The default.
    read
        Gives the value of a link's text.
    """

    key: str
    name: str
    first: Any
    read: ReadText = str

    def start(self) -> None:
        """Set the value before its widget is drawn.

        It is the lesson's if fixed, otherwise the previous one, the link's, or the default.
        Unreadable text becomes the default, with a warning.
        """
        values: Mapping[str, str] | None = lesson.page_values()
        if values is None:
            if self.key in st.session_state:
                return
            values = st.query_params
        value = self.first
        text = values.get(self.name)
        if text is not None:
            try:
                value = self.read(text)
            except (ValueError, OverflowError):
                got = f"'{self.name}' in the link is invalid. Got '{text[:40]}'."
                st.warning(safe_text.escape(f"{got} {self.first} is used instead."))
        if self.key not in st.session_state or st.session_state[self.key] != value:
            st.session_state[self.key] = value

    @property
    def value(self) -> Any:
        """The session's value; an empty box means the default."""
        value = st.session_state.get(self.key)
        if value is None:
            return self.first
        return value

    def text(self, value: Any) -> str | None:
        """A value as text for the address; None for the default."""
        if value is None or value == self.first:
            return None
        if isinstance(value, list):
            return ",".join(value)
        if isinstance(value, float):
            return f"{value:.12g}"
        return str(value)


def page_values(
    page: str, table: Mapping[str, tuple[Any, ReadText]]
) -> dict[str, PageValue]:
    """A page's values by name.

    Parameters
    ----------
    page
        The id of the page.
    table
        The default of each value, and the function that reads its text.
    """
    return {
        name: PageValue(f"{page}.{name}", name, first, read)
        for name, (first, read) in table.items()
    }


def write_to_address(values: Iterable[PageValue]) -> None:
    links.put_in_address({value.name: value.text(value.value) for value in values})


def within(kind: type, low: float, high: float) -> ReadText:
    def read(text: str) -> Any:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def one_of(names: Collection[str]) -> ReadText:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError
        return text

    return read


def segments(label: str, titles: Mapping[Any, str], key: str, **options: Any) -> Any:
    """Draw a bar of options by title, one of them always chosen, for the session's value.

    The label is only for screen readers. The options are further arguments of
    `st.segmented_control`.
    """
    options.setdefault("label_visibility", "collapsed")
    return st.segmented_control(
        label,
        titles,
        default=st.session_state[key],
        key=key,
        persist_state="session",
        format_func=titles.__getitem__,
        required=True,
        **options,
    )


def ask_of_shares(metric: str, key: str, **options: Any) -> bool:
    """Ask whether a figure shows the share kept, and not the metric itself."""
    scale = segments("Scale", {SHARE: "Share kept", FIGURE: metric}, key, **options)
    return bool(scale == SHARE)


# ---- boxes of decimal numbers --------------------------------------------------------------------


def read_decimal(text: str) -> float:
    """The number that a person typed, with a point or a comma for its decimals.

    Raises ValueError on other text, and on "1,000", which may mean 1000 or 1.0.
    """
    if THOUSANDS.fullmatch(text.strip()):
        raise ValueError
    if "." not in text:
        text = text.replace(",", ".")  # two commas do not make a number either
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


@dataclass(frozen=True)
class NumberRange:
    """The numbers that a box takes.

    Attributes
    ----------
    is_optional
        Whether the box may be empty, which means None.
    """

    low: float
    high: float
    is_optional: bool = False

    def read(self, text: str) -> float | None:
        """A box's number. Raises ValueError on any other text."""
        if self.is_optional and not text.strip():
            return None
        number = read_decimal(text)
        if not self.low <= number <= self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Refusal:
    """What a box did not take, and the number that it kept."""

    text: str
    number: float | None

    def words(self, label: str, allowed: NumberRange) -> str:
        if self.number is None:
            kept = "it stays empty"
        else:
            kept = f"{self.number:g} is used"
        words = f"{label}: give a number from {allowed.low:g} to {allowed.high:g}."
        if "," in self.text:
            words += " Write thousands without a comma, and decimals with a point."
        return safe_text.escape(f"{words} Got '{self.text[:40]}'; {kept}.")


def _number_text(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:g}".replace("e-0", "e-")


def _shows(text: str, number: float | None) -> bool:
    """Whether a box with this text shows the number."""
    if text == _number_text(number):
        return True
    try:
        return read_decimal(text) == number
    except ValueError:
        return False


def number_within(
    place: DeltaGenerator,
    label: str,
    key: str,
    low: float,
    high: float,
    below: DeltaGenerator | None = None,
    first: float | None = None,
    **options: Any,
) -> float:
    """Draw a box for the session's number under key that says in words why it refuses one.

    It is a box of text, because browsers drop the comma of "2,5" from a box of numbers.

    Parameters
    ----------
    place
        The place of the box.
    label
        The label of the box.
    key
        The key of the number in the session.
    low, high
        The range of the number.
    below
        The place of the refusal; by default the place of the box.
    first
        The number, if the session has none.
    **options
        Further arguments of `st.text_input`.

    Returns
    -------
    float
        The session's number.
    """
    if first is not None:
        st.session_state.setdefault(key, first)
    _draw_number(place, label, key, NumberRange(low, high), below, **options)
    number: float = st.session_state[key]
    return number


def optional_number(
    place: DeltaGenerator, label: str, key: str, low: float, high: float, **options: Any
) -> float | None:
    """Draw a box as `number_within` does, which may be empty."""
    st.session_state.setdefault(key, None)
    _draw_number(place, label, key, NumberRange(low, high, is_optional=True), **options)
    number: float | None = st.session_state[key]
    return number


def _draw_number(
    place: DeltaGenerator,
    label: str,
    key: str,
    allowed: NumberRange,
    below: DeltaGenerator | None = None,
    **options: Any,
) -> None:
    """Draw the box, and why it refused its last text.

    A browser repeats the values of all widgets with every request, even if it has not yet heard of
    a new value. So a box set by the server would be set back, and no value is ever set. A box that
    must show another number is a new widget.
    """
    state = st.session_state
    number: float | None = state[key]
    # the last text of each of the latest widgets, by number
    turns: dict[int, str] = state.setdefault(f"{key}.turns", {})
    turn = max(turns, default=0)
    text = turns.get(turn, _number_text(number))
    if not _shows(text, number):
        turn += 1
        text = _number_text(number)
    turns[turn] = text
    turns.pop(turn - REPLACED_WIDGETS, None)
    place.text_input(
        label,
        text,
        key=f"{key}.{turn}",
        # `pages/server/browser.js` shows a keypad for it, which has no minus and no exponent
        autocomplete="off" if allowed.low >= SMALLEST_ON_KEYPAD else None,
        on_change=_keep,
        args=(key, turn, allowed),
        **options,
    )
    refusal: Refusal | None = state.get(f"{key}.refused")
    if refusal is not None and refusal.number == number:
        (below or place).error(refusal.words(label, allowed))


def _keep(key: str, turn: int, allowed: NumberRange) -> None:
    """Take a box's new number, unless a replaced box repeats its last text or it is refused."""
    state = st.session_state
    text = state[f"{key}.{turn}"]
    turns = state[f"{key}.turns"]
    if turns.get(turn, text) == text:
        return
    turns[turn] = text
    try:
        state[key] = allowed.read(text)
    except ValueError:
        state[f"{key}.refused"] = Refusal(text, state[key])
    else:
        state.pop(f"{key}.refused", None)
