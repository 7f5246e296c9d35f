"""A privacy statement of a released model, for machines and people, and a model card.

The statement has the fields of the OpenDP registry of deployments and answers what NIST SP 800-226
asks. The words are in the templates `statement.yaml`, `statement.html` and `card.md`.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy.typing as npt
import yaml

from dpmf_core import algorithms
from dpmf_core.base.documents import render, to_json
from dpmf_core.base.errors import BadInput, closest
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.guarantee import VALUE
from dpmf_core.runs.record import RunRecord

# facts that only the publisher knows: name, and description
ABOUT = {
    "name": "of the product",
    "data_curators": "who holds the data",
    "intended_use": "what the model is for",
    "data_product_region": "region of the people in the data",
    "data_product_sector": "e.g. media",
    "description": "of the product, in a sentence or two",
    "resources": "addresses, separated by spaces",
}
WARNING = (
    "Not for publication: no proof limits what this model reveals about one person in its training"
    " data."
)
FLOATING_POINT = (
    "Noise is continuous and computed in 64-bit floating-point numbers. Their low bits can reveal"
    " more than the theory of real numbers allows; discrete noise on a grid (noise=discrete) does"
    " not have this weakness."
)
ON_A_GRID = (
    "Statistics were rounded to a grid and the noise is an exact discrete Gaussian on it: the low"
    " bits of floating-point numbers reveal nothing. The sensitivity includes the rounding."
)
StatementSection = dict[str, Any]


def warning_of(record: RunRecord) -> str:
    """The warning of a run without a proof; '' if a proof, whole or conditional, exists."""
    if record.guarantee.has_epsilon:
        return ""
    return WARNING


def check_about(about: Mapping[str, str]) -> None:
    """Raise BadInput on an unknown field of a publisher, and on an empty text."""
    for name, value in about.items():
        if name not in ABOUT:
            raise BadInput(
                f"The options of a statement are {', '.join(ABOUT)}. Got"
                f" '{name}'.{closest(name, ABOUT)}"
            )
        if not (isinstance(value, str) and value.strip()):
            raise BadInput(
                f"The statement's {name} ({ABOUT[name]}) must be a text that is not empty. Got"
                f" {value!r}. Leave it out if there is nothing to state."
            )


def statement(
    record: RunRecord, about: Mapping[str, str] | None = None
) -> StatementSection:
    """The statement of a run; for private data without anything computed from raw rows.

    Parameters
    ----------
    record
        The record of the run.
    about
        The publisher's facts (`ABOUT`).
    """
    public_record = record.exported()
    # plain numbers; infinite ones become null
    facts = json.loads(to_json(_facts(public_record)))
    sections: StatementSection = yaml.safe_load(
        render(
            "statement.yaml",
            about=defaultdict(str, about or {}),
            today=datetime.now(UTC).date().isoformat(),
            record=public_record,
            promise=public_record.guarantee,
            algorithm=algorithms.find(public_record.spec.algorithm),
            warning=warning_of(public_record),
            **facts,
        )
    )
    return sections


def _facts(record: RunRecord) -> dict[str, Any]:
    """The computed values in the statement."""
    promise = record.guarantee
    epsilons = record.epsilon
    low, high = bounds_of(record)
    preparation = record.spec.data.model_dump(exclude_defaults=True, exclude={"id"})
    delta = record.delta or 0.0
    exact = epsilons.exact if promise.has_epsilon else None
    return {
        "low": low,
        "high": high,
        "local": algorithms.find(record.spec.algorithm).trusts_nobody,
        "items_are_public": ITEMS_ARE_PUBLIC in promise.assumptions,
        "known": [*promise.taken_as_public, *promise.assumptions],
        "flavor": _flavor(record),
        "input_metric": _input_metric(record),
        "parameters": {
            "epsilon": exact,
            "delta": delta if promise.has_epsilon else None,
        },
        "budget": f"epsilon = {epsilon_text(epsilons.exact or 0.0)}, delta = {delta:g}",
        "epsilon_by_rule": {
            name: epsilon
            for name, epsilon in record.by_rule.items()
            if epsilon is not None
        },
        "preparation": _listing(preparation) or "none",
        "parameter_text": _listing(record.parameters) or "none",
        "mechanisms": [
            {"released": row.statistic, "noise": row.mechanism}
            | row.model_dump(include={"sensitivity", "noise_multiplier", "count"})
            for row in record.ledger
        ],
        "noises": ", ".join(dict.fromkeys(row.mechanism for row in record.ledger)),
        "floating_point": _floating_point(record),
        "usefulness": _usefulness(record),
        "versions": dict(record.versions),
    }


def _flavor(record: RunRecord) -> str:
    if not record.guarantee.has_epsilon:
        return "none"
    approximate = record.delta and record.epsilon.exact
    return f"{'approximate' if approximate else 'pure'} differential privacy"


def _input_metric(record: RunRecord) -> str:
    unit = record.guarantee.unit
    if unit == VALUE:
        return (
            "number of ratings with a different value; "
            "which items each user rated does not change"
        )
    if record.relation == "replace-one":
        return f"number of {unit}s whose data are replaced"
    return f"number of {unit}s who are added or removed, with all their data"


def _floating_point(record: RunRecord) -> str:
    kinds = {row.mechanism for row in record.ledger}
    if not kinds:
        return "no noise was drawn"
    if kinds == {"discrete Gaussian"}:
        return ON_A_GRID
    return FLOATING_POINT


def bounds_of(record: RunRecord) -> tuple[float, float]:
    """The lowest and the highest rating of a run on ratings."""
    bounds: Any = record.shape["bounds"]  # two numbers in every shape of ratings
    return float(bounds[0]), float(bounds[1])


def _usefulness(record: RunRecord) -> str:
    """How well the model predicts, in sentences, as far as it may be stated."""
    if record.fall is not None:
        return " ".join(record.fall.sentences)
    if not record.public:
        return "Not stated: errors on held-out ratings of private people would be another release."
    rmse = record.metrics.get("rmse")
    if rmse is None:
        return "Not measured."
    return f"Held-out RMSE {rmse:.4f}."


def _listing(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def card(
    record: RunRecord,
    sections: StatementSection,
    arrays: Mapping[str, npt.NDArray[Any]],
) -> str:
    """A model card in Markdown: what the model is, what it holds, how to use it, its limits.

    Parameters
    ----------
    record
        The record of the run. On private data only its exported part is used.
    sections
        The run's privacy statement.
    arrays
        The arrays of the model.

    Returns
    -------
    str
        The card.
    """
    public = record.exported()
    promise = public.guarantee
    name = public.spec.data.id
    low, high = bounds_of(public)
    entry = next(
        (dataset for dataset in catalogue().catalogue() if dataset.id == name), None
    )
    if public.epsilon.exact is None or public.delta is None:
        total = ""
    else:
        total = public.loss
    return render(
        "card.md",
        record=public,
        promise=promise,
        product=sections["product"],
        warning=warning_of(public),
        algorithm=algorithms.find(public.spec.algorithm),
        n_items=len(arrays["item_factors"]),
        n_factors=int(arrays["item_factors"].any(axis=0).sum()),
        n_columns=arrays["local_columns"].shape[1],
        low=low,
        high=high,
        entry=entry if public.public else None,
        total=total,
        figures=[
            f"{METRICS[metric].title} {METRICS[metric].text(value)}"
            for metric, value in public.metrics.items()
            if value is not None and metric in METRICS and METRICS[metric].ranks
        ],
        floating_point=sections["software"]["floating_point"],
        missing=[
            field
            for field, text in sections["product"].items()
            if text.startswith("not stated")
        ],
    )
