"""Presets of the two approaches that prove nothing: factors in a count sketch [B16], factorisation without retention [V14]."""

import itertools
import statistics
from collections.abc import Callable, Iterable, Sequence

from dpmf_core.experiment import DataSpec
from dpmf_core.figures import Mark, Preset, Verdict, first_present
from dpmf_core.sweeps import Method, Summary, Sweep

B16, V14 = "Balu & Furon 2016", "Vallet, Friedman & Berkovsky 2014"
NO_THRESHOLD = 1e6
LEVEL = {"rmse": 5e-4, "kl": 2e-4}  # smaller differences are of the draw
PENALTIES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
REGULAR = Method(algorithm="sgd-mf", label="Regular MF")


def _data(full: bool) -> DataSpec:
    if full:
        return DataSpec(id=first_present("eachmovie", "ml-1m", "cinema"))
    return DataSpec(id=first_present("ml-1m", "cinema"))


# ---- the sketch -------------------------------------------------------------------------------------------------------


def _sketches(depths: Iterable[int], **fixed: float | int) -> tuple[Method, ...]:
    return tuple(
        Method(algorithm="sketch", label=f"Count sketch, k = {depth}" if depth > 1 else "Feature hashing, k = 1", parameters={"depth": depth, **fixed})
        for depth in depths
    )


def _by_penalty(full: bool) -> tuple[Sweep, ...]:
    d = 32 if full else 8
    values = (10.0, 3.0, 1.0, *PENALTIES, 0.0) if full else (1.0, 0.1, 0.01, 0.0)
    methods = _sketches((1, 4), rank=d, steps=100 if full else 10, threshold=NO_THRESHOLD)
    return (Sweep(data=_data(full), methods=methods, grid={"penalty": values}, seeds=tuple(range(3 if full else 1))), _beside(full, d))


def _best_penalty(full: bool) -> tuple[Sweep, ...]:
    methods = _sketches((4,), threshold=NO_THRESHOLD, steps=100 if full else 10)
    ranks, gains = ((8, 16, 32), (1.0, 2.0, 4.0)) if full else ((4, 8), (1.0, 4.0))
    return (Sweep(data=_data(full), methods=methods, grid={"penalty": PENALTIES if full else (0.1, 0.03, 0.01), "rank": ranks, "space_gain": gains}),)


def _by_threshold(full: bool) -> tuple[Sweep, ...]:
    d = 32 if full else 8
    methods = _sketches((1, 4), rank=d, steps=100 if full else 10)
    thresholds = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, NO_THRESHOLD) if full else (0.25, 1.0, 2.0, 4.0, NO_THRESHOLD)
    gains = (1.0, 2.0, 4.0) if full else (1.0, 4.0)
    return (
        Sweep(data=_data(full), methods=methods, grid={"threshold": thresholds, "space_gain": gains}, seeds=tuple(range(3 if full else 1))),
        _beside(full, d),
    )


def _beside(full: bool, d: int) -> Sweep:
    return Sweep(data=_data(full), methods=(REGULAR.model_copy(update={"parameters": {"rank": d}}),), seeds=tuple(range(3 if full else 1)))


def _sketch_table(full: bool) -> tuple[Sweep, ...]:
    data = DataSpec(id=first_present("ml-1m", "cinema"))
    ranks, gains = ((8, 16, 32), (1.0, 2.0, 4.0)) if full else ((8,), (1.0, 4.0))
    thresholds = (2.0, 4.0, 8.0, NO_THRESHOLD) if full else (2.0, NO_THRESHOLD)
    methods = _sketches((1, 4), steps=40 if full else 10)
    return (
        Sweep(data=data, methods=methods, grid={"rank": ranks, "space_gain": gains, "threshold": thresholds}),
        Sweep(data=data, methods=(REGULAR,), grid={"rank": ranks}),
    )


def _along(found: Sequence[Summary], name: str, label: str) -> dict[float, float]:
    """Mean over everything else of a method's medians, by the value of one parameter."""
    groups: dict[float, list[float]] = {}
    for it in found:
        if it.label == label:
            groups.setdefault(float(it.grid[name]), []).append(it.median)
    return {value: statistics.fmean(groups[value]) for value in sorted(groups)}


def _labels(found: Sequence[Summary]) -> list[str]:
    return [label for label in dict.fromkeys(it.label for it in found) if label != REGULAR.label]


def _said(values: dict[float, float]) -> str:
    return ", ".join(f"{value:.4f} at {'none' if at == NO_THRESHOLD else f'{at:g}'}" for at, value in values.items())


def _falling(values: Sequence[float], level: float) -> bool:
    """Whether no value is above the one before, but for `level`, and the last is below the first."""
    return values[-1] < values[0] and all(after <= before + level for before, after in itertools.pairwise(values))


def _falls_to_regular(found: Sequence[Summary]) -> Verdict:
    """[B16], Fig. 3: the error falls with the threshold, and comes near regular factorisation."""
    regular = statistics.fmean(it.median for it in found if it.label == REGULAR.label)
    lines = {label: _along(found, "threshold", label) for label in _labels(found)}
    holds = all(_falling(list(line.values()), LEVEL["rmse"]) for line in lines.values())
    words = "; ".join(f"{label}: {_said(line)}" for label, line in lines.items())
    return Verdict(
        holds,
        f"{'Reproduced: the error falls as the threshold rises' if holds else 'Differs: the error does not fall as the threshold rises'}. "
        f"Means over space gains of the draws' medians: {words}. Regular MF {regular:.4f}.",
    )


def _narrower_is_more_alike(found: Sequence[Summary]) -> Verdict:
    """[B16], Fig. 4: the divergence grows with the threshold and falls with the space gain."""
    words, holds = [], True
    for label in _labels(found):
        rising, falling = _along(found, "threshold", label), _along(found, "space_gain", label)
        holds &= _falling(list(rising.values())[::-1], LEVEL["kl"]) and _falling(list(falling.values()), LEVEL["kl"])
        words.append(f"{label}: by threshold {_said(rising)}, by space gain {_said(falling)}")
    return Verdict(holds, f"{'Reproduced' if holds else 'Differs from rising with the threshold and falling with the space gain'}. {'; '.join(words)}.")


def _bowl(found: Sequence[Summary]) -> Verdict:
    """[B16], Fig. 1: collisions make the error more sensitive to the regulariser."""
    lines = {label: _along(found, "penalty", label) for label in _labels(found)}
    best = {label: min(line, key=lambda at: line[at]) for label, line in lines.items()}
    words = "; ".join(f"{label}: best {line[best[label]]:.4f} at λ = {best[label]:g}, worst {max(line.values()):.4f}" for label, line in lines.items())
    holds = all(best[label] not in (min(line), max(line)) for label, line in lines.items())
    return Verdict(holds, f"{'Reproduced: neither the least nor the most regularisation is best' if holds else 'Differs: the best is at an end'}. {words}.")


def _best_by_size(found: Sequence[Summary]) -> Verdict:
    """[B16], Fig. 2: which regulariser is best for each dimension and space gain."""
    cells: dict[tuple[float, float], list[Summary]] = {}
    for it in found:
        cells.setdefault((float(it.grid["rank"]), float(it.grid["space_gain"])), []).append(it)
    best = {place: min(those, key=lambda it: it.median) for place, those in cells.items()}
    words = "; ".join(f"d {d:g}, γ {gamma:g}: λ {it.grid['penalty']:g} ({it.median:.4f})" for (d, gamma), it in sorted(best.items()))
    tight, loose = (
        max(float(it.grid["penalty"]) for (_, gamma), it in best.items() if gamma == end) for end in (max(g for _, g in best), min(g for _, g in best))
    )
    return Verdict(tight <= loose, f"Best λ by size: {words}.")


# ---- no retention -----------------------------------------------------------------------------------------------------

VARIANTS = {"static": "Static", "rated": "Rated", "new": "New", "online": "Online"}
PUBLISHED = {"Static": 0.0322, "Rated": 0.0209, "New": 0.0198, "Online": 0.0037, "Slope One": 0.0428}  # Table 1, MovieLens 10M, random split
BASELINE = Method(algorithm="no-retention", label="Baseline", parameters={"variant": "baseline"})


def _retention(full: bool) -> tuple[Sweep, ...]:
    epochs = {"steps": 200 if full else 30}
    data = DataSpec(id=first_present("ml-1m", "cinema"))
    seeds = tuple(range(3 if full else 1))
    moving = tuple(Method(algorithm="no-retention", label=label, parameters={"variant": name, **epochs}) for name, label in VARIANTS.items())
    whole = (BASELINE.model_copy(update={"parameters": {"variant": "baseline", **epochs}}), Method(algorithm="slope-one", label="Slope One"))
    return (
        Sweep(data=data, methods=whole, seeds=seeds),
        Sweep(data=data, methods=moving, seeds=seeds, grid={"static_share": SHARES if full else (0.1, 0.5, 0.9)}),
    )


def excesses(found: Sequence[Summary]) -> dict[str, float]:
    """Mean over shares and seeds of how much larger a variant's error is than the baseline's of the same seed."""
    base = next(it.draws for it in found if it.label == BASELINE.label)
    ratios: dict[str, list[float]] = {}
    for it in found:
        if it.label != BASELINE.label:
            ratios.setdefault(it.label, []).extend(error / whole - 1 for error, whole in zip(it.draws, base, strict=True))
    return {label: statistics.fmean(values) for label, values in ratios.items()}


def _like_table_1(found: Sequence[Summary]) -> Verdict:
    """[V14], Table 1: static is the worst of the factorisations, online the closest to the baseline, Slope One behind all."""
    ours = excesses(found)
    variants = {label: abs(value) for label, value in ours.items() if label != "Slope One"}
    holds = max(variants, key=lambda label: variants[label]) == "Static" and min(variants, key=lambda label: variants[label]) == "Online"
    words = ", ".join(f"{label} {value:+.2%} (published {PUBLISHED[label]:+.2%})" for label, value in ours.items())
    start = "Reproduced: static is worst, online closest to the baseline" if holds else "Differs from static worst and online closest"
    return Verdict(holds, f"{start}. Mean excess over the baseline: {words}. The source has ten times the ratings.")


def _figure(ident: str, title: str, source: str, words: str, sweeps: Callable[[bool], tuple[Sweep, ...]], judge: Callable[[Sequence[Summary]], Verdict],
            **more: str) -> Preset:  # fmt: skip
    return Preset(ident, title, source, words, sweeps, judge, **more)  # type: ignore[arg-type]


_FIGURES = (
    _figure("balu-fig1", "RMSE against the regulariser", f"{B16}, Fig. 1", "No threshold; γ = 1.", _by_penalty, _bowl, wants="eachmovie", axis="penalty"),
    _figure(
        "balu-fig2", "Best regulariser by dimension and space gain", f"{B16}, Fig. 2", "No threshold.", _best_penalty, _best_by_size, wants="eachmovie",
        axis="penalty",
    ),
    _figure("balu-fig3", "RMSE against the threshold", f"{B16}, Fig. 3", "Larger errors are passed over.", _by_threshold, _falls_to_regular,
            wants="eachmovie", axis="threshold"),
    _figure("balu-fig4", "KL divergence against the threshold", f"{B16}, Fig. 4", "Of the errors in training from those held out.", _by_threshold,
            _narrower_is_more_alike, wants="eachmovie", axis="threshold", metric="kl"),
    _figure("sketch-table", "Every size and threshold", "dpmf", "d, γ, k and ε of the source on MovieLens 1M.", _sketch_table, _falls_to_regular,
            wants="ml-1m", axis="threshold"),
    Preset(
        "vallet-table1", "Excess over keeping everything", f"{V14}, Table 1", "Mean over static shares from 0 to .9.", _retention, _like_table_1, "ml-10m",
        axis="static_share",
        marks=tuple(Mark(label, 0.5, value, f"{V14}, Table 1: excess, MovieLens 10M") for label, value in PUBLISHED.items()),
    ),
)  # fmt: skip
ROAD_PRESETS: dict[str, Preset] = {preset.id: preset for preset in _FIGURES}
