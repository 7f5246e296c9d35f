"""Runs as one HTML file that needs nothing else: settings that differ, figures, curves, ledgers.

What a person named is text, never markup.
"""

from collections.abc import Mapping, Sequence

from dpmf_core.evaluation.registry import title_of
from dpmf_core.html_text import plain, table, text
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.privacy.rules import RULE_TITLES
from dpmf_core.runs.comparison import differences, extremes
from dpmf_core.runs.line_charts import line_chart
from dpmf_core.runs.record import Figures, Run, RunRecord

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0"
    " 1rem;color:#1d2330;background:#fff}"
    "table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{border:1px solid"
    " #cbd2dc;padding:.25rem .6rem;text-align:left;vertical-align:top}"
    "svg{max-width:100%;height:auto}@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#12161c}td,th{border-color:#3a4350}}"
)


def report(runs: Sequence[Run], title: str = "Runs") -> str:
    """An HTML page about up to six runs.

    Of private data nothing is told that is computed from raw rows.
    """
    records = {f"{place}. {run.title}": run.record.exported() for place, run in enumerate(runs, 1)}
    parts = [f"<h1>{text(title)}</h1>", *_comparison(records), *_all_curves(records)]
    for name, record in records.items():
        parts += [f"<h2>What was run: {text(name)}</h2>", table(["", ""], _facts(record))]
        parts += _privacy(name, record)
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{text(title)}</title><style>{STYLE}</style><body>{body}</body></html>"
    )


def _comparison(records: Mapping[str, RunRecord]) -> list[str]:
    """What differs between the runs, and their figures."""
    differing = [[row["setting"], *row["values"]] for row in differences(list(records.values()))]
    metrics = dict.fromkeys(name for record in records.values() for name in record.metrics)
    figures = [
        [title_of(name), *(it.metrics.get(name) for it in records.values())] for name in metrics
    ]
    return [
        "<h2>What differs</h2>",
        table(["setting", *records], differing),
        "<h2>Figures</h2>",
        table(["figure", *records], figures),
    ]


def _all_curves(records: Mapping[str, RunRecord]) -> list[str]:
    """A figure and a table for each held-out figure that some run has by step."""
    parts = []
    for metric in ("test_rmse", "objective"):
        lines = {name: _line(record, metric) for name, record in records.items()}
        lines = {name: line for name, line in lines.items() if line}
        if lines:
            ends = ((name, *extremes(line)[metric]) for name, line in lines.items())
            parts += [f"<h2>{text(title_of(metric))} by step</h2>", _by_step(lines, metric)]
            parts.append(table(["run", "best", "last"], ends))
    return parts


def _by_step(lines: Mapping[str, Sequence[Figures]], metric: str) -> str:
    """A line a run, as SVG."""
    points = {
        name: [(float(it["step"] or 0), float(it[metric] or 0)) for it in line]
        for name, line in lines.items()
    }
    return line_chart(points, "step", f"{title_of(metric)} by step")


def _line(record: RunRecord, metric: str) -> list[Figures]:
    return [point for point in record.curves if point.get(metric) is not None]


def _privacy(name: str, record: RunRecord) -> list[str]:
    promise, head = record.guarantee, ["released", "noise", "sensitivity", "noise multiplier"]
    rules = [("ε", "none")]
    if record.epsilon.exact is not None:
        epsilons = dict(record.epsilon)
        rules = [(title, _epsilon(epsilons[rule])) for rule, title in RULE_TITLES.items()]
    ledger = (
        (it.title, it.mechanism, it.sensitivity, it.noise_multiplier, it.count)
        for it in record.ledger
    )
    return [
        f"<h2>Privacy: {text(name)}</h2>",
        f"<p><b>{text(promise.status)}</b> {text(promise.words)}</p>",
        table([*head, "count"], ledger),
        f"<p>{text(record.noise)}</p>",
        table(["ε by rule", ""], rules),
    ]


def _epsilon(epsilon: float | None) -> str:
    return "not valid here" if epsilon is None else epsilon_text(epsilon)


def _facts(record: RunRecord) -> list[tuple[str, object]]:
    """All that a reader needs to judge or repeat a run."""
    spec, promise = record.spec, record.guarantee
    preparation = {name: value for name, value in spec.data.model_dump().items() if name != "id"}
    parameters = record.parameters or spec.parameters
    facts: dict[str, object] = {
        "data": spec.data.id + ("" if record.public else " (private)"),
        "data, prepared": _listing({name: it for name, it in preparation.items() if it})
        or "as it is",
        "judged by": record.split,
        "algorithm": f"{record.full_title} ({spec.algorithm}, version {record.version or '?'})",
        "parameters": _listing(parameters) or "none",
        "seed": str(spec.seed) + _of_the_seed(record),
        "budget": _budget(record),
        "δ": "none" if record.delta is None else f"{record.delta:.3g}",
        "privacy unit": f"one {promise.unit}",
        "neighbouring relation": record.relation,
        "taken as public": ", ".join(promise.taken_as_public) or "nothing",
        "made (UTC)": record.created,
        "versions": _listing(record.versions) or "not recorded",
    }
    if not record.public:
        facts["errors"] = "none: they are computed on private data without noise"
    return list(facts.items())


def _of_the_seed(record: RunRecord) -> str:
    return "" if record.public else " (of split and start; the noise has none)"


def _budget(record: RunRecord) -> str:
    budget = record.spec.budget
    if budget is None:
        return "none"
    rule = record.calibration or budget.calibration
    return f"ε = {budget_text(budget.epsilon)}, noise by {rule} accounting"


def _listing(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {plain(value)}" for name, value in values.items())
