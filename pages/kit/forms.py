"""Widgets from an algorithm's parameter schema. The link holds what a person sets, as `p.NAME`."""

import functools
from collections.abc import Mapping
from typing import Any

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from dpmf_core.algorithms import Algorithm, find
from dpmf_core.privacy import Budget
from dpmf_core.runs.sweep import typed_parameters
from dpmf_core.teaching.glossary import linked
from pages.kit import lesson, links
from pages.kit.session_widgets import UNBOUNDED, optional_number
from pages.kit.sidebar_values import COMPLAINTS
from pages.kit.sweep_charts import parameter, value_text

# in the session: a method, and its parameters as the address holds them
WRITTEN = "forms.written"


def _widget(name: str, field: dict[str, Any], recommendation: Any, key: str) -> Any:
    """Draw the widget of one parameter. Return None for the recommended value."""
    label = str(field.get("title", name))
    if label[:1].isascii():  # no symbol
        label = label[:1].upper() + label[1:]
    placeholder = f"recommended: {value_text(_short(recommendation))}"
    help_text = linked(field.get("description") or "") or None
    values = field.get("enum")
    if field.get("type") == "boolean":
        values = [True, False]
    if values:
        return st.selectbox(
            label,
            values,
            index=None,
            format_func=value_text,
            key=key,
            persist_state="session",
            placeholder=placeholder,
            help=help_text,
        )
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    if field.get("type") == "integer":
        return st.number_input(
            label,
            low,
            high,
            value=None,
            step=1,
            key=key,
            persist_state="session",
            placeholder=placeholder,
            help=help_text,
        )
    return optional_number(
        st.container(),
        label,
        key,
        -UNBOUNDED if low is None else low,
        UNBOUNDED if high is None else high,
        placeholder=placeholder,
        help=help_text,
    )


def write_to_address(algorithm_id: str, values: Mapping[str, Any]) -> None:
    """Put these parameters of a method into the address, and no others."""
    texts = {f"p.{name}": str(value) for name, value in values.items()}
    st.session_state[WRITTEN] = (algorithm_id, texts)
    links.put_in_address(dict.fromkeys(_in_address()) | texts)


def _in_address() -> dict[str, str]:
    return {
        name: text for name, text in st.query_params.items() if name.startswith("p.")
    }


def _lesson_texts(kind: type[Algorithm]) -> dict[str, str]:
    return {
        name[2:]: text
        for name, text in lesson.link_values().items()
        if name.startswith("p.") and name[2:] in kind.model_fields
    }


def _of_lesson(kind: type[Algorithm]) -> dict[str, Any]:
    """Draw and return only the parameters that a lesson fixes; raises BadInput."""
    texts = _lesson_texts(kind)
    if not lesson.is_hidden("parameters"):
        values = ", ".join(f"{name} {text}" for name, text in texts.items())
        st.caption(f"Fixed by the lesson: {values or 'all as recommended'}.")
    return typed_parameters(kind, texts)


@functools.cache
def _fields(kind: type[Algorithm]) -> dict[str, Any]:
    """The read-only schema of every parameter by name."""
    fields: dict[str, Any] = kind.model_json_schema().get("properties", {})
    return fields


def read_address(algorithm_id: str, prefix: str = "explore") -> None:
    """Take a method's parameters from the address unless this session has set them.

    Parameters that this session has written for another method are not taken.
    """
    kind = find(algorithm_id)
    # parameters of several methods may have the same name
    method, texts = st.session_state.get(WRITTEN, (algorithm_id, {}))
    if method != algorithm_id and texts == _in_address():
        return
    for name, info in kind.model_fields.items():
        key = f"{prefix}.{algorithm_id}.{name}"
        text = st.query_params.get(f"p.{name}")
        if text is None or key in st.session_state:
            continue
        try:
            st.session_state[key] = TypeAdapter(
                info.rebuild_annotation()
            ).validate_python(text)
        except ValidationError as error:
            complaint = (
                f"'p.{name}' in the link is invalid ({error.errors()[0]['msg']}). Got"
                f" '{text[:40]}'. The recommended value is used instead."
            )
            st.session_state.setdefault(COMPLAINTS, []).append(complaint)
            st.session_state[key] = None
            st.rerun()  # shows the complaint above the page


def set_parameters(algorithm_id: str, prefix: str = "explore") -> dict[str, Any]:
    """The parameters that this session has set; the others are as recommended."""
    values = {}
    for name in _fields(find(algorithm_id)):
        value = st.session_state.get(f"{prefix}.{algorithm_id}.{name}")
        if value is not None:
            values[name] = value
    return values


def of_address(algorithm_id: str, prefix: str = "explore") -> dict[str, Any]:
    """The parameters that the page below will use, before it is drawn; raises BadInput."""
    if lesson.fixed_value("parameters") is not None:
        kind = find(algorithm_id)
        return typed_parameters(kind, _lesson_texts(kind))
    read_address(algorithm_id, prefix)
    return set_parameters(algorithm_id, prefix)


def choose(algorithm_id: str, values: Mapping[str, Any]) -> None:
    """Set these parameters on every page, and no others. Call it before widgets are drawn."""
    for name in _fields(find(algorithm_id)):
        st.session_state[f"explore.{algorithm_id}.{name}"] = values.get(name)


def in_words(algorithm: str, values: Mapping[str, Any]) -> str:
    texts = [
        f"{parameter(name, [algorithm])} {value_text(_short(value))}"
        for name, value in values.items()
    ]
    return ", ".join(texts)


def _short(value: Any) -> Any:
    """A number with three digits; any other value as it is."""
    if isinstance(value, float):
        return float(f"{value:.3g}")
    return value


def linked_parameters(algorithm_id: str) -> dict[str, Any]:
    """Parameters set by a link, a lesson or Tune; raises BadInput.

    They have no widgets. Differences from the recommendation are shown with a button that resets
    them.
    """
    kind = find(algorithm_id)
    if lesson.fixed_value("parameters") is not None:
        return _of_lesson(kind)
    read_address(algorithm_id)
    values = set_parameters(algorithm_id)
    write_to_address(algorithm_id, values)
    if values:
        with st.container(horizontal=True, vertical_alignment="center"):
            text = f"Changed parameters: **{in_words(algorithm_id, values)}**."
            st.markdown(text, width="content")
            st.button(
                "Use recommended values",
                key="explore.recommended",
                on_click=choose,
                args=(algorithm_id, {}),
            )
    return values


def parameters(
    algorithm_id: str,
    shape: Any,
    budget: Budget,
    prefix: str,
    suggestion: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Draw widgets of all parameters; return those that a person or the page has set.

    The rest follow the recommendation for this shape and budget.
    """
    kind = find(algorithm_id)
    usual = suggestion or {}
    if lesson.fixed_value("parameters") is not None:
        return usual | _of_lesson(kind)
    read_address(algorithm_id, prefix)
    session_values = set_parameters(algorithm_id, prefix)
    recommendation = kind.recommend(shape, budget, usual | session_values) | usual
    columns = st.columns(3)
    widget_values = {}
    for place, (name, field) in enumerate(_fields(kind).items()):
        hint = recommendation.get(name, field.get("default"))
        with columns[place % 3]:
            value = _widget(name, field, hint, f"{prefix}.{algorithm_id}.{name}")
        if value is not None:
            widget_values[name] = value
    write_to_address(algorithm_id, widget_values)
    return usual | widget_values
