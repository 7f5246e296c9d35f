"""Parameter schema to widgets: one declaration validates, documents and draws."""

from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.data import Shape
from dpmf_core.privacy import Budget


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _widget(name: str, field: dict[str, Any], recommended: Any, key: str) -> Any:
    """The widget of one schema property; None means: as recommended."""
    title = str(field.get("title", name)).replace("_", " ")
    label, text = title[:1].upper() + title[1:], field.get("description")
    hint = f"recommended: {_shown(recommended)}"
    if field.get("type") == "boolean":
        picked = st.selectbox(label, ["on", "off"], index=None, placeholder=hint, key=key, help=text)
        return None if picked is None else picked == "on"
    if "enum" in field:
        return st.selectbox(label, field["enum"], index=None, placeholder=hint, key=key, help=text)
    kind: Any = int if field.get("type") == "integer" else float
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    return st.number_input(
        label, None if low is None else kind(low), None if high is None else kind(high), value=None, placeholder=hint, key=key, help=text,
        step=1 if kind is int else None, format=None if kind is int else "%g",
    )  # fmt: skip


def parameters(algorithm_id: str, shape: Shape, budget: Budget, prefix: str) -> dict[str, Any]:
    """The parameters that a person set; the others follow the recommendation for this shape and budget."""
    kind = algorithms.find(algorithm_id)
    fields = kind.model_json_schema().get("properties", {})
    given = {name: value for name in fields if (value := st.session_state.get(f"{prefix}.{algorithm_id}.{name}.held")) is not None}
    recommended = kind.recommend(shape, budget, given)
    columns = st.columns(3)
    chosen = {}
    for place, (name, field) in enumerate(fields.items()):
        with columns[place % 3]:
            value = _widget(name, field, recommended.get(name, field.get("default")), f"{prefix}.{algorithm_id}.{name}")
        st.session_state[f"{prefix}.{algorithm_id}.{name}.held"] = value
        if value is not None:
            chosen[name] = value
    return chosen
