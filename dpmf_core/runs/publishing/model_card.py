"""A released model in words, as Markdown: what it is, what it holds, how to use it, its limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpmf_core import algorithms
from dpmf_core.data.catalogue import DatasetFacts, catalogue
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import epsilon_in_full
from dpmf_core.runs.publishing.privacy_statement import NOT_STATED, bounds_of, warning_of
from dpmf_core.runs.record import RunRecord

FILES = (
    ("model.npz", "item ids, offsets, factors and columns: arrays, no pickles"),
    ("model.json", "settings, and the privacy loss"),
    ("recommend.py", "reads the model and recommends; needs numpy alone"),
    ("privacy.yaml", "the privacy statement, for machines"),
    ("privacy.html", "the same, for people"),
)
USE = """\
```python
from recommend import load_model, recommend, score, similar_items

model = load_model(".")
mine = {model.item_ids[0]: model.bounds[1]}
print(recommend(model, mine, k=5))
```"""


def card(record: RunRecord, statement: Mapping[str, Any], n_items: int) -> str:
    """The card. record: of the run; of private data nothing is told that stays on the machine."""
    public_record = record.exported()
    product = statement["product"]
    low, high = bounds_of(public_record)
    parts = [
        f"# {_plain(product['name'])}",
        f"**{warning_of(public_record)}**" if warning_of(public_record) else "",
        _plain(product["description"]),
        f"{n_items:,} items, ratings from {low:g} to {high:g}. Made by"
        f" {_plain(public_record.full_title)}"
        f" ({algorithms.find(public_record.spec.algorithm).words};"
        f" {public_record.versions.get('dpmf', '?')} of dpmf). Intended use:"
        f" {_plain(product['intended_use'])}. Data:"
        f" {_plain(_data(public_record))}",
        "## Privacy",
        _privacy(public_record),
        "## What is in the folder",
        "\n".join(f"- `{name}`: {words}" for name, words in FILES),
        "No file holds factors or coefficients of people, their ratings, a fingerprint of the data"
        " or counts of private data.",
        "## How to use it",
        USE,
        "A person's own side is computed from her ratings and this model, where her ratings are.",
        "## How well it predicts",
        _quality(public_record),
        "## Limits",
        "\n".join(_limits(public_record, statement)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _plain(value: object) -> str:
    """Other people's text within Markdown: on one line, its marks escaped."""
    line = " ".join(str(value).split())
    return "".join(f"\\{mark}" if mark in "\\`*_[]<>#|" else mark for mark in line)


def _data(record: RunRecord) -> str:
    if not record.public:
        return f"private ratings ({record.spec.data.id})."
    name = record.spec.data.id
    entry = next((it for it in catalogue().catalogue() if it.id == name), None)
    return f"{name}, published or simulated.{_of_source(entry) if entry else ''}"


def _of_source(entry: DatasetFacts) -> str:
    licence, citation = entry.licence.rstrip("."), entry.citation.rstrip(".")
    return f" {entry.title}. Licence: {licence}. Source: {citation}."


def _privacy(record: RunRecord) -> str:
    promise, epsilon = record.guarantee, record.epsilon.exact
    words = f"{promise.status}. {promise.words}"
    if not promise.has_epsilon:
        return words
    if epsilon is None or record.delta is None:
        return f"{words} Nothing was released: epsilon = 0."
    total = epsilon_in_full(epsilon, record.delta, promise.unit, record.relation, record.rule)
    public = "; ".join(promise.taken_as_public) or "nothing"
    return f"{total}. {words} Taken as public: {public}. {record.noise}"


def _quality(record: RunRecord) -> str:
    if not record.public:
        return "Not stated: errors on held-out ratings of private people would be another release."
    figures = [
        f"{METRICS[name].title} {METRICS[name].text(value)}"
        for name, value in record.metrics.items()
        if value is not None and name in METRICS and METRICS[name].ranks
    ]
    return f"On held-out ratings: {', '.join(figures)}." if figures else "Not measured."


def _limits(record: RunRecord, statement: Mapping[str, Any]) -> Sequence[str]:
    missing = [name for name, value in statement["product"].items() if value == NOT_STATED]
    lines = [
        "- The loss is of this model alone. Other releases from the same data add to it.",
        "- Noise weighs most on items with few ratings; their predictions are the least certain.",
        f"- {statement['software']['floating_point']}",
    ]
    if missing:
        lines.append(f"- The publisher has not stated: {', '.join(missing)}.")
    return lines
