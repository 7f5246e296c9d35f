"""Widgets for the parameters of an algorithm. The address holds changed parameters as `p.NAME`."""

import functools
from collections.abc import Mapping
from typing import Any

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from dpmf_core.algorithms import Algorithm, find
from dpmf_core.algorithms.base import Parameters
from dpmf_core.privacy import Budget
from dpmf_core.runs.sweep import typed_parameters
from dpmf_core.teaching.glossary import linked
from pages.kit.base import data_sets, lesson, links
from pages.kit.controls.session_widgets import UNBOUNDED, optional_number
from pages.kit.controls.sidebar_values import COMPLAINTS
from pages.kit.figures.sweep_charts import parameter, value_text

# by kind of data: the page that holds the parameters that a person has set
PAGES = {"ratings": "explore", "documents": "topics", "images": "faces"}
# in the session: the method whose parameters were last put into the address, and these as texts
WRITTEN = "forms.written"


def _key(algorithm_id: str, name: str) -> str:
    """The session's key of a parameter; its value is None for the recommended one."""
    return f"{PAGES[data_sets.data_kind()]}.{algorithm_id}.{name}"


def _widget(name: str, field: dict[str, Any], recommendation: Any, key: str) -> None:
    """Draw the widget of one parameter."""
    label = str(field.get("title", name))
    if label[:1].isascii():  # a Greek symbol keeps its case
        label = label[:1].upper() + label[1:]
    placeholder = f"recommended: {value_text(_short(recommendation))}"
    help_text = linked(field.get("description") or "") or None
    values = field.get("enum")
    if field.get("type") == "boolean":
        values = [True, False]
    if values:
        st.selectbox(
            label,
            values,
            index=None,
            format_func=value_text,
            key=key,
            persist_state="session",
            placeholder=placeholder,
            help=help_text,
        )
        return
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    if field.get("type") == "integer":
        st.number_input(
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
        return
    optional_number(
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
    removed = dict.fromkeys(_in_address())  # None removes a parameter
    links.put_in_address(removed | texts)


def _in_address() -> dict[str, str]:
    return {
        name: text for name, text in st.query_params.items() if name.startswith("p.")
    }


def _lesson_texts(kind: type[Algorithm]) -> dict[str, str]:
    texts = {}
    for key, text in lesson.link_values().items():
        name = key.removeprefix("p.")
        if key.startswith("p.") and name in kind.model_fields:
            texts[name] = text
    return texts


def _of_lesson(kind: type[Algorithm]) -> Parameters:
    """Show the parameters that a lesson fixes, and return them. Raises BadInput."""
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


def read_address(algorithm_id: str) -> None:
    """Set a method's parameters from the address, except those already set in this session.

    Nothing is set if the address holds the parameters of another method.
    """
    kind = find(algorithm_id)
    # methods share names of parameters, so the address may still hold another method's values
    method, texts = st.session_state.get(WRITTEN, (algorithm_id, {}))
    if method != algorithm_id and texts == _in_address():
        return
    for name, info in kind.model_fields.items():
        key = _key(algorithm_id, name)
        text = st.query_params.get(f"p.{name}")
        if text is None or key in st.session_state:
            continue
        try:
            st.session_state[key] = TypeAdapter(
                info.rebuild_annotation()
            ).validate_python(text)
        except ValidationError as error:
            st.session_state.setdefault(COMPLAINTS, []).append(
                f"'p.{name}' in the link is invalid ({error.errors()[0]['msg']}). Got"
                f" '{text[:40]}'. The recommended value is used instead."
            )
            st.session_state[key] = None
            st.rerun()  # shows the complaint above the page


def set_parameters(algorithm_id: str) -> Parameters:
    """The parameters that are set in this session. The others keep their recommended values."""
    values = {}
    for name in _fields(find(algorithm_id)):
        value = st.session_state.get(_key(algorithm_id, name))
        if value is not None:
            values[name] = value
    return values


def of_address(algorithm_id: str) -> Parameters:
    """The parameters that the page will use, known before it is drawn. Raises BadInput."""
    if lesson.fixed_value("parameters") is not None:
        kind = find(algorithm_id)
        return typed_parameters(kind, _lesson_texts(kind))
    read_address(algorithm_id)
    return set_parameters(algorithm_id)


def choose(algorithm_id: str, values: Mapping[str, Any]) -> None:
    """Set these parameters on every page, and reset all others. Call before drawing widgets."""
    for name in _fields(find(algorithm_id)):
        st.session_state[_key(algorithm_id, name)] = values.get(name)


def in_words(algorithm: str, values: Mapping[str, Any]) -> str:
    texts = [
        f"{parameter(name, [algorithm])} {value_text(_short(value))}"
        for name, value in values.items()
    ]
    return ", ".join(texts)


def _short(value: Any) -> Any:
    """The value, rounded to three digits if it is a float."""
    if isinstance(value, float):
        return float(f"{value:.3g}")
    return value


def linked_parameters(algorithm_id: str) -> Parameters:
    """The parameters set by a link, a lesson or Tune. Raises BadInput.

    They have no widgets. The page names the changed parameters, next to a button that resets them.
    """
    if lesson.fixed_value("parameters") is not None:
        return _of_lesson(find(algorithm_id))
    values = of_address(algorithm_id)
    write_to_address(algorithm_id, values)
    if values:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"Changed parameters: **{in_words(algorithm_id, values)}**.",
                width="content",
            )
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
    suggestion: Parameters | None = None,
) -> Parameters:
    """Draw widgets for all parameters, and return those that are set.

    The others keep the values recommended for this shape and budget.

    Parameters
    ----------
    algorithm_id
        The id of the algorithm.
    shape
        The shape of the data.
    budget
        The budget of the run.
    suggestion
        Values that the page recommends instead of the method's own.

    Returns
    -------
    dict
        The values by parameter.

    Raises
    ------
    BadInput
        If the values do not fit.
    """
    kind = find(algorithm_id)
    suggested = suggestion or {}
    if lesson.fixed_value("parameters") is not None:
        return suggested | _of_lesson(kind)
    chosen = suggested | of_address(algorithm_id)
    recommendation = kind.recommend(shape, budget, chosen) | suggested
    columns = st.columns(3)
    for place, (name, field) in enumerate(_fields(kind).items()):
        hint = recommendation.get(name, field.get("default"))
        with columns[place % 3]:
            _widget(name, field, hint, _key(algorithm_id, name))
    values = set_parameters(algorithm_id)
    write_to_address(algorithm_id, values)
    return suggested | values
