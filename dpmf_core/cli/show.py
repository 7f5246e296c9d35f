"""Results in words and tables, as a terminal shows them."""

import math
from collections.abc import Sequence
from typing import Any

from dpmf_core import algorithms
from dpmf_core.experiment import RunSpec
from dpmf_core.privacy import neighbours
from dpmf_core.privacy.printed import epsilon_text

RULES = {"exact": "exact", "rdp_source": "RDP (source) = zCDP", "rdp_tight": "RDP (tight)", "advanced": "advanced composition", "naive": "naive sum"}
METRICS = {"rmse": "RMSE", "mae": "MAE", "validation_rmse": "validation RMSE", "recall_at_20": "Recall@20", "ndcg_at_20": "NDCG@20", "coverage": "coverage"} | {
    "objective": "objective",
    "trivial_objective": "objective of the mean row",
    "objective_source": "objective, source's scale",
    "coherence": "TC-W2V",
    "parts_match": "match with the true parts",
    "outlier_precision": "outlier precision",
    "outlier_recall": "outlier recall",
    "outlier_f1": "outlier F1",
    "rmse_all_cells": "RMSE over all cells",
}
Record = dict[str, Any]


def number(value: Any, digits: int = 3) -> str:
    """At most `digits` decimals; a dash where there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def epsilon(value: float | None) -> str:
    """A dash where there is none."""
    return "-" if value is None else epsilon_text(value)


def scientific(value: float) -> str:
    """1e-05 as 1e-5, three significant digits."""
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as their widest cell; numbers to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in [list(head), *cells]) for column in range(len(head))]
    right = [bool(cells) and all(row[column][:1].isdigit() or row[column] in ("-", "") for row in cells) for column in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(cell.rjust(width) if r else cell.ljust(width) for cell, width, r in zip(row, widths, right, strict=True)).rstrip()

    return "\n".join([line(head), "  ".join("-" * width for width in widths), *map(line, cells)])


def epsilon_words(record: Record) -> str:
    """epsilon = 2.00 (delta = 1e-6, per user, add/remove, exact), or why there is none."""
    exact = record["epsilon"]["exact"]
    if exact is None or record["delta"] is None:
        return "epsilon: none" if exact is None else "epsilon = 0.00 (nothing is released)"
    unit, rule = record["guarantee"]["unit"], record.get("rule", "exact")
    return f"epsilon = {epsilon_text(exact)} (delta = {scientific(record['delta'])}, per {unit}, {neighbours(unit, record['relation'])}, {rule})"


def privacy(record: Record) -> str:
    """Epsilon in full, every rule's figure, the ledger, the guarantee."""
    parts = [epsilon_words(record)]
    if (group := record.get("group")) is not None:
        terms = f"delta = {scientific(record['delta'])}, {record['rule']}"
        parts.append(f"a group of {group['size']:,} {record['guarantee']['unit']}s: epsilon = {epsilon_text(group['epsilon'])} ({terms})")
    if record["ledger"] and record["epsilon"]["exact"] is not None:
        titles = RULES | {"exact": record.get("rule", "exact")}
        others = [f"{title} {'not valid here' if (at := record['epsilon'][rule]) is None else epsilon_text(at)}" for rule, title in titles.items()]
        parts.append("by every rule: " + "; ".join(others))
    if record["ledger"]:
        rows = [[e["statistic"], e["mechanism"], f"{e['sensitivity']:.4g}", f"{e['noise_multiplier']:.4g}", e["count"]] for e in record["ledger"]]
        parts.append(table(["released", "noise", "sensitivity", "noise multiplier", "count"], rows))
    parts.append(f"{record['guarantee']['status']}: {record['guarantee']['words']}")
    if record.get("noise"):
        parts.append(record["noise"])
    return "\n".join(parts)


def sentence(record: Record) -> str:
    """What was done, in one sentence with numbers."""
    shape, data = record["shape"], record["spec"]["data"]["id"]
    counts = f"{shape['n_users']:,} users, {shape['n_items']:,} items" if "n_users" in shape else f"{shape['n_samples']:,} x {shape['n_features']:,}"
    what = f"{record['title']} on {data} ({counts}; {record['split']}), seed {record['spec']['seed']}"
    figures = record["metrics"]
    if "rmse" in figures:
        return f"{what}: held-out RMSE {number(figures['rmse'])}."
    if "objective" in figures:
        return f"{what}: objective {number(figures['objective'], 4)}, the mean row {number(figures['trivial_objective'], 4)}."
    return f"{what}."


def run(record: Record) -> str:
    """One run, readable: the sentence, figures, privacy, timings."""
    figures = [[METRICS[name], number(value)] for name, value in record["metrics"].items() if name in METRICS]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in record["seconds"].items())
    given = ", ".join(f"{name} = {value}" for name, value in record["parameters"].items()) or "none"
    last = f"{seconds}; peak {record['peak_mb']:.0f} MB; key {record['key']}{' (from the store)' if record['cached'] else ''}"
    return "\n\n".join([sentence(record), table(["figure", ""], figures), privacy(record), f"parameters: {given}", last])


def script(record: Record) -> str:
    """A Python script that does a run again, exactly on public data. Whatever the record holds enters it as literals alone."""
    spec = RunSpec.model_validate(record["spec"])
    title = algorithms.find(spec.algorithm).title
    note = "" if record["public"] else "# Private data: the noise comes from the operating system, so figures differ from run to run.\n"
    return (
        f'"""{title}, again. Needs dpmf_core and datasets on the path."""\n\n'
        f"from dpmf_core.cli import show\nfrom dpmf_core.experiment import RunSpec, run\n\n{note}spec = RunSpec.parse(\n"
        + "".join(f"    {name}={value!r},\n" for name, value in spec.model_dump(mode="json").items())
        + ')\nresult = run(spec)\nprint(result.record["metrics"])\nprint(show.epsilon_words(result.record))\n'
    )
