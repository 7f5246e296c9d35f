"""Runs as one HTML file that needs nothing else: settings that differ, figures, curves, ledgers. What a person named is text, never markup."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpmf_core.compare import differences, extremes
from dpmf_core.experiment import Run, RunSpec
from dpmf_core.privacy import noise_words
from dpmf_core.privacy.printed import budget_text, epsilon_text

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1d2330;background:#fff}"
    "table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{border:1px solid #cbd2dc;padding:.25rem .6rem;text-align:left;vertical-align:top}"
    "svg{max-width:100%;height:auto}@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#12161c}td,th{border-color:#3a4350}}"
)
TINTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
RULES = {"exact": "exact", "rdp_source": "RDP (source) = zCDP", "rdp_tight": "RDP (tight)", "advanced": "advanced composition", "naive": "naive sum"}
WIDTH, HEIGHT, EDGE = 720, 300, 46


def report(runs: Sequence[Run], title: str = "Runs") -> str:
    """An HTML page about up to six runs. Of private data nothing is told that is computed from raw rows."""
    records = [run.export() for run in runs]
    names = [f"{place + 1}. {record['title']}" for place, record in enumerate(records)]
    differing = _table(["setting", *names], ([row["setting"], *row["values"]] for row in differences(records)))
    parts = [f"<h1>{_text(title)}</h1>", "<h2>What differs</h2>", differing]
    metrics = dict.fromkeys(name for record in records for name in record.get("metrics", {}))
    parts += ["<h2>Figures</h2>", _table(["figure", *names], ([name, *(record.get("metrics", {}).get(name) for record in records)] for name in metrics))]
    drawn = [(name, record["curves"]) for name, record in zip(names, records, strict=True) if record.get("curves")]
    for metric in dict.fromkeys(name for _, curve in drawn for name in extremes({"curves": curve}) if name in ("test_rmse", "objective")):
        lines = [(name, [point for point in curve if point.get(metric) is not None]) for name, curve in drawn]
        lines = [(name, line) for name, line in lines if line]
        parts += [f"<h2>{_text(metric)} by step</h2>", _curves(lines, metric)]
        parts.append(_table(["run", "best", "last"], ([name, *extremes({"curves": line})[metric]] for name, line in lines)))
    for name, record in zip(names, records, strict=True):
        parts += [f"<h2>What was run: {_text(name)}</h2>", _table(["", ""], _facts(record))]
        parts += [f"<h2>Privacy: {_text(name)}</h2>", f"<p><b>{_text(record['guarantee']['status'])}</b> {_text(record['guarantee']['words'])}</p>"]
        head = ["released", "noise", "sensitivity", "noise multiplier", "count"]
        keys = ["statistic", "mechanism", "sensitivity", "noise_multiplier", "count"]
        parts.append(_table(head, ([entry[key] for key in keys] for entry in record["ledger"])))
        if "noise_is_reproducible" in record:
            parts.append(f"<p>{_text(noise_words((entry['mechanism'] for entry in record['ledger']), record['noise_is_reproducible']))}</p>")
        rules = [(RULES[rule], "not valid here" if epsilon is None else epsilon_text(epsilon)) for rule, epsilon in record["epsilon"].items() if rule in RULES]
        parts.append(_table(["ε by rule", ""], rules if record["epsilon"].get("exact") is not None else [("ε", "none")]))
    body = "\n".join(parts)
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_text(title)}</title><style>{STYLE}</style><body>{body}</body></html>'


def _facts(record: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """All that a reader needs to judge or repeat a run."""
    spec, promise, versions = RunSpec.model_validate(record["spec"]).model_dump(mode="json"), record["guarantee"], record.get("versions")
    given = {name: value for name, value in spec["data"].items() if name != "id" and value}
    budget = spec["budget"] or {}
    parameters = record.get("parameters") or spec["parameters"]
    facts = {
        "data": spec["data"]["id"] + ("" if record.get("public", True) else " (private)"),
        "data, prepared": ", ".join(f"{name} {value}" for name, value in given.items()) or "as it is",
        "judged by": record.get("split", ""),
        "algorithm": f"{record['title']} ({spec['algorithm']}, version {record.get('version', '?')})",
        "parameters": ", ".join(f"{name} {_plain(value)}" for name, value in parameters.items()) or "none",
        "seed": spec["seed"] if record.get("public", True) else f"{spec['seed']} (of split and start; the noise has none)",
        "budget": f"ε = {budget_text(budget['epsilon'])}, noise by {record.get('calibration', 'exact')} accounting" if budget else "none",
        "δ": "none" if record.get("delta") is None else f"{record['delta']:.3g}",
        "privacy unit": f"one {promise.get('unit', 'user')}",
        "neighbouring relation": record.get("relation", ""),
        "taken as public": ", ".join(map(str, promise.get("taken_as_public", []))) or "nothing",
        "made (UTC)": record.get("created", "not recorded"),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()) if isinstance(versions, dict) else "not recorded",
    }
    if not record.get("public", True):
        facts["errors"] = "none: they are computed on private data without noise"
    return list(facts.items())


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _text(value: Any) -> str:
    shown = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
    return html.escape(shown)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = "".join("<tr>" + "".join(f"<td>{_text(value)}</td>" for value in row) + "</tr>" for row in rows)
    return "<table><tr>" + "".join(f"<th>{_text(name)}</th>" for name in head) + f"</tr>{cells}</table>"


def _curves(lines: Sequence[tuple[str, Sequence[dict[str, float]]]], metric: str) -> str:
    """A line a run, as SVG."""
    steps = [point["step"] for _, curve in lines for point in curve]
    values = [point[metric] for _, curve in lines for point in curve]
    low, high, last = min(values), max(values), max(steps)

    def at(point: dict[str, float]) -> str:
        x = EDGE + (WIDTH - 2 * EDGE) * (point["step"] - min(steps)) / max(last - min(steps), 1)
        y = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (point[metric] - low) / max(high - low, 1e-12)
        return f"{x:.1f},{y:.1f}"

    drawn = []
    for place, (name, curve) in enumerate(lines):
        tint = TINTS[place % len(TINTS)]
        drawn.append(f'<polyline fill="none" stroke="{tint}" stroke-width="2.5" points="{" ".join(map(at, curve))}"/>')
        drawn.append(f'<text x="{EDGE + 8}" y="{18 + 15 * place}" fill="{tint}" font-size="13">{_text(name)}</text>')
    marks = ((2, HEIGHT - EDGE, f"{low:.3f}"), (2, EDGE, f"{high:.3f}"), (WIDTH - EDGE, HEIGHT - 12, f"step {last:g}"))
    axes = "".join(f'<text x="{x}" y="{y}" font-size="12" fill="currentColor">{mark}</text>' for x, y, mark in marks)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_text(metric)} by step">{axes}{"".join(drawn)}</svg>'
