"""What a released model promises, as a statement that machines and people read: the fields of the
OpenDP registry of deployments, and answers to what NIST SP 800-226 says one should ask.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import yaml

from dpmf_core import algorithms
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC
from dpmf_core.errors import BadInput, closest
from dpmf_core.html_text import text
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.guarantee import VALUE
from dpmf_core.privacy.rules import RULE_TITLES
from dpmf_core.runs.html_report import STYLE
from dpmf_core.runs.record import RunRecord
from dpmf_core.runs.summary import to_json

NOT_STATED = "not stated by the publisher"
# what only the publisher knows, by name, and what it says
ABOUT = {
    "name": "of the product",
    "data_curators": "who holds the data",
    "intended_use": "what the model is for",
    "data_product_region": "whose data they are, by region",
    "data_product_sector": "e.g. media",
    "description": "of the product, in a sentence or two",
    "resources": "addresses, with blanks between them",
}
WARNING = (
    "Not for publication: no proof limits what this model tells about one person in its training"
    " data."
)
FLOATING_POINT = (
    "Noise is continuous and computed in floating-point numbers (64 bits). The low bits of such"
    " numbers can tell more than the theory of real numbers says; discrete noise on a grid"
    " (noise=discrete) does not have this weakness."
)
ON_A_GRID = (
    "Statistics were rounded to a grid and the noise is an exact discrete Gaussian on it: the low"
    " bits of floating-point numbers tell nothing. What was rounded is part of the sensitivity."
)
Section = dict[str, Any]


def warning_of(record: RunRecord) -> str:
    """'' where a proof, whole or conditional, limits what the run tells of one person."""
    return "" if record.guarantee.has_epsilon else WARNING


def check_about(about: Mapping[str, str]) -> None:
    """Raises BadInput on what is no field that a publisher fills in, and on an empty text."""
    for name, value in about.items():
        if name not in ABOUT:
            raise BadInput(
                f"A publisher states {', '.join(ABOUT)}. Got '{name}'.{closest(name, ABOUT)}"
            )
        if not (isinstance(value, str) and value.strip()):
            raise BadInput(
                f"What is stated as {name} ({ABOUT[name]}) is a text. Got {value!r}: leave it out"
                " where nothing is to be said."
            )


def statement(record: RunRecord, about: Mapping[str, str] | None = None) -> Section:
    """The statement of a run, of private data without what was computed from raw rows. about: what
    only the publisher knows (`ABOUT`).
    """
    facts = dict(about or {})
    public_record = record.exported()
    sections = {
        "product": _product(public_record, facts),
        "dp_flavor": _flavor(public_record),
        "privacy_loss": _privacy_loss(public_record),
        "model": _trust(public_record),
        "accounting": _accounting(public_record),
        "implementation": _implementation(public_record),
        "resources": facts.get("resources", "").split() or [NOT_STATED],
        "nist_sp_800_226": _evaluation(public_record),
        "software": {
            "versions": dict(public_record.versions),
            "random_source": public_record.noise or "no noise was drawn",
            "floating_point": _floating_point(public_record),
        },
    }
    sections = (
        {"warning": warning_of(public_record), **sections}
        if warning_of(public_record)
        else sections
    )
    plain: Section = json.loads(
        to_json(sections)
    )  # texts and numbers alone, as every format has them
    return plain


def _product(record: RunRecord, facts: Mapping[str, str]) -> Section:
    whose = "published or simulated data" if record.public else "private data"
    return {
        "name": facts.get("name", f"{record.full_title} on {record.spec.data.id}"),
        "data_curators": facts.get("data_curators", NOT_STATED),
        "intended_use": facts.get("intended_use", NOT_STATED),
        "data_product_type": "machine learning model: item side of a recommender",
        "data_product_region": facts.get("data_product_region", NOT_STATED),
        "description": facts.get(
            "description", f"Item factors and offsets, fitted to ratings ({whose})."
        ),
        "publication_date": datetime.now(UTC).date().isoformat(),
        "data_product_sector": facts.get("data_product_sector", NOT_STATED),
    }


def _flavor(record: RunRecord) -> Section:
    low, high = bounds_of(record)
    promise = record.guarantee
    return {
        "name": _flavor_name(record),
        "input_metric": _input_metric(record),
        "bound_on_input_distance": 1,
        "output_measure": (
            "hockey-stick divergence" if promise.has_epsilon else "none: nothing is proved"
        ),
        "bound_on_output_distance": _parameters(record),
        "data_domain": (
            f"sets of ratings between {low:g} and {high:g}, of any users, each item at most once"
            " for a user; "
            + (
                "which items there are was read off the ratings, and is taken as public"
                if ITEMS_ARE_PUBLIC in promise.assumptions
                else "the items are a set known beforehand"
            )
        ),
        "unprotected_quantities": [*promise.taken_as_public, *promise.assumptions],
    }


def _flavor_name(record: RunRecord) -> str:
    if not record.guarantee.has_epsilon:
        return "none"
    epsilon = record.epsilon.exact
    return (
        "pure differential privacy"
        if not (record.delta and epsilon)
        else ("approximate differential privacy")
    )


def _input_metric(record: RunRecord) -> str:
    unit = record.guarantee.unit
    if unit == VALUE:
        return "number of ratings whose value differs; who rated what is the same"
    if record.relation == "replace-one":
        return f"number of {unit}s whose data are replaced"
    return f"number of {unit}s who are added or removed, with all their data"


def _parameters(record: RunRecord) -> Section:
    """Epsilon and delta; None where nothing is proved."""
    if not record.guarantee.has_epsilon:
        return {"epsilon": None, "delta": None}
    return {"epsilon": record.epsilon.exact, "delta": record.delta or 0.0}


def _privacy_loss(record: RunRecord) -> Section:
    promise = record.guarantee
    return {
        "privacy_unit": promise.unit,
        "privacy_unit_description": promise.words,
        "privacy_parameters": _parameters(record),
        "privacy_parameters_description": (
            f"Total of all releases of this run, {record.neighbours}, by the rule: {record.rule}."
            if promise.has_epsilon
            else "None is given, for none is proved."
        ),
    }


def _trust(record: RunRecord) -> Section:
    local = algorithms.find(record.spec.algorithm).trusts_nobody
    return {
        "model_name": "local" if local else "central",
        "actors": (
            "Every person adds noise to her own message and keeps her ratings: nobody is trusted"
            " with them."
            if local
            else "The curator holds all ratings and is trusted with them. Whoever reads the model"
            " is not. A person who is recommended to keeps her ratings: her own side is computed"
            " where they are."
        ),
        "release_type": "one-off",
        "data_source_type": "static",
        "access_type": "the whole model, without any query to the data",
    }


def _accounting(record: RunRecord) -> Section:
    epsilons = record.epsilon
    by_rule = {
        title: getattr(epsilons, rule)
        for rule, title in (RULE_TITLES | {"exact": record.rule}).items()
        if getattr(epsilons, rule) is not None
    }
    return {
        "post_processing": (
            "The item factors, offsets and columns are computed from the noisy releases below and"
            " public facts alone, which costs nothing. What a person computes from the model and"
            " her own ratings is hers; if she shows it, it tells of her."
            if record.guarantee.has_epsilon
            else "The model is computed from exact data."
        ),
        "composition": {
            "rule": record.rule if record.guarantee.has_epsilon else "none",
            "epsilon_by_rule": by_rule,
            "not_included": (
                "other releases from the same data, such as other models that were trained on"
                " them: their losses add up with this one"
            ),
        },
    }


def _implementation(record: RunRecord) -> Section:
    spec = record.spec
    preparation = spec.data.model_dump(exclude_defaults=True, exclude={"id"})
    return {
        "pre_processing_eda_hyperparameter_tuning": (
            f"Preparation of the data: {_listing(preparation) or 'none'}. Held out for judging:"
            f" {record.split or 'nothing'}. Parameters: {_listing(record.parameters) or 'none'}."
            " Whether they were chosen by looking at these data is for the publisher to state: each"
            " look is another release."
        ),
        "mechanisms": [
            {
                "released": row.title,
                "noise": row.mechanism,
                "sensitivity": row.sensitivity,
                "noise_multiplier": row.noise_multiplier,
                "count": row.count,
            }
            for row in record.ledger
        ],
        "justification": (
            f"{record.guarantee.words} Algorithm: {record.full_title} (source:"
            f" {algorithms.find(spec.algorithm).source}); the documentation of dpmf proves the"
            " sensitivity of each statistic."
            if record.guarantee.has_epsilon
            else record.guarantee.words
        ),
    }


def _evaluation(record: RunRecord) -> list[dict[str, str]]:
    """Questions along the pyramid of NIST SP 800-226, in our own words, with this run's answers."""
    promise = record.guarantee
    relation = record.neighbours
    budget = (
        f"epsilon = {epsilon_text(record.epsilon.exact or 0.0)}, delta = {record.delta or 0.0:g}"
        if promise.has_epsilon
        else "none: nothing is proved"
    )
    noise = ", ".join(dict.fromkeys(row.mechanism for row in record.ledger)) or "none"
    answers = {
        "How large is the privacy loss?": budget,
        "Whose data does one unit of privacy hold?": (
            f"one {promise.unit}; neighbours: {relation}. A person with several accounts is several"
            " units."
        ),
        "Which definition of differential privacy?": _flavor_name(record),
        "Which mechanisms, and what bounds their sensitivity?": (
            f"noise: {noise}. Each statistic is clipped; its bound is in the ledger."
            if record.ledger
            else "nothing was released with noise"
        ),
        "How does the loss compose, and is everything counted?": (
            "Every release of this run is counted. Other uses of the same data are not."
        ),
        "What does the proof take as known?": "; ".join(
            (*promise.taken_as_public, *promise.assumptions)
        )
        or "nothing",
        "How useful is the result, and for whom is it worse?": _utility(record),
        "Who must be trusted?": (
            "nobody: each person adds noise to what she sends"
            if algorithms.find(record.spec.algorithm).trusts_nobody
            else "the curator, who holds the ratings; nobody who reads the model"
        ),
        "Where does the randomness come from?": record.noise or "no noise was drawn",
        "Is the arithmetic safe?": _floating_point(record),
        "Are side channels covered?": (
            "No: how long training took and how much memory it used are not considered, and are"
            " not in these files."
        ),
        "Are the raw data secured, and was less collected than could be?": (
            "for the curator to state: this software neither collects nor deletes them"
        ),
    }
    return [{"question": question, "answer": answer} for question, answer in answers.items()]


def _utility(record: RunRecord) -> str:
    rmse = record.metrics.get("rmse")
    if rmse is None:
        return (
            "Not stated: errors on held-out ratings of private people would be another release."
            " Noise weighs most on items with few ratings."
        )
    return f"Held-out RMSE {rmse:.4f}. Noise weighs most on items with few ratings."


def _floating_point(record: RunRecord) -> str:
    kinds = {row.mechanism for row in record.ledger}
    if not kinds:
        return "no noise was drawn"
    return ON_A_GRID if kinds == {"discrete Gaussian"} else FLOATING_POINT


def bounds_of(record: RunRecord) -> tuple[float, float]:
    """The lowest and the highest rating of a run on ratings."""
    bounds: Any = record.shape["bounds"]  # two numbers, of every such shape
    return float(bounds[0]), float(bounds[1])


def _listing(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def as_yaml(sections: Section) -> str:
    """The statement as YAML, its sections in their order."""
    yaml_text: str = yaml.safe_dump(sections, sort_keys=False, allow_unicode=True, width=100)
    return yaml_text


def as_html(sections: Section) -> str:
    """The statement as a page that needs nothing else."""
    title = f"Privacy statement: {sections['product']['name']}"
    parts = [f"<h1>{text(title)}</h1>"]
    if "warning" in sections:
        parts.append(f"<p><strong>{text(sections['warning'])}</strong></p>")
    for name, section in sections.items():
        if name == "nist_sp_800_226":
            parts.append("<h2>What NIST SP 800-226 says one should ask</h2>")
            parts.append(_html({row["question"]: row["answer"] for row in section}))
        elif name != "warning":
            parts += [f"<h2>{text(name.replace('_', ' '))}</h2>", _html(section)]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width"><title>{text(title)}</title><style>{STYLE}</style>'
        f"<body>{''.join(parts)}</body></html>"
    )


def _html(value: object) -> str:
    """A part of the statement: tables of fields, lists, plain values."""
    if isinstance(value, Mapping):
        rows = (
            f"<tr><th>{text(str(name).replace('_', ' '))}</th><td>{_html(part)}</td></tr>"
            for name, part in value.items()
        )
        return f"<table>{''.join(rows)}</table>"
    if isinstance(value, list):
        return (
            f"<ul>{''.join(f'<li>{_html(part)}</li>' for part in value)}</ul>" if value else "none"
        )
    return text("none" if value is None else value)
