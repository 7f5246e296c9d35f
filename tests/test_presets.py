"""The figures of the papers: runnable, of the size that is promised, and judged by what the runs say."""

import pytest

from datasets import SampleEntry
from dpmf_core.data import Shape
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, catalogue
from dpmf_core.other_roads import NO_THRESHOLD, ROAD_PRESETS, excesses
from dpmf_core.presets import PRESETS, Preset, find_preset
from dpmf_core.samples import SampleShape
from dpmf_core.sweeps import Point, Summary

every = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())
NEEDED = {
    "chien-fig3a",
    "chien-fig3b",
    "chien-fig3c",
    "chien-fig4",
    "chien-fig5",
    "chien-fig7",
    "chien-users",
    "chien-rank",
    "chien-lambda",
    "jain-fig2",
    "jain-fig3",
}

OURS = {"lowrank-table", "films-table", "all-films-table", "faces-table", "topics-table", "sketch-table"}
NEEDED |= {"saha-fig2", "saha-fig3", "saha-table3", "saha-fig5", "saha-fig6", "saha-fig8", "saha-table4", "saha-fig10"}
NEEDED |= {"balu-fig1", "balu-fig2", "balu-fig3", "balu-fig4", "vallet-table1"}


def test_all_figures_are_there() -> None:
    assert set(PRESETS) == NEEDED | OURS
    with pytest.raises(BadInput, match="Did you mean 'chien-fig3"):
        find_preset("chien-fig3")


@every
@pytest.mark.parametrize("full", [False, True])
def test_every_run_of_a_preset_could_start(preset: Preset, full: bool) -> None:
    entries = {entry.id: entry for entry in catalogue().catalogue()}
    for sweep in preset.sweeps(full):
        entry = entries[sweep.data.id]
        if isinstance(entry, SampleEntry):
            sweep.check(SampleShape(entry.n_samples, entry.n_features, entry.image))
            continue
        sweep.check(Shape(entry.n_users, min(sweep.data.top_items or entry.n_items, entry.n_items), entry.bounds))
        if preset.id == "saha-table4" or preset.id in ROAD_PRESETS:
            continue
        assert entry.n_users >= 5_000
        assert min(sweep.data.top_items or entry.n_items, entry.n_items) >= 200 or full
        assert len(sweep.seeds) >= 2
    assert preset.points(full)
    assert all(point.grid for point in preset.points(full)) or preset.axis in ("epsilon", "step") or any(point.grid for point in preset.points(full))


def made(points: list[Point], rmse: dict[str, float]) -> dict[str, Run]:
    return {
        point.key: Run({"spec": point.spec.model_dump(mode="json"), "metrics": {"rmse": rmse[point.label], "recall_at_20": rmse[point.label]}})
        for point in points
    }


def test_a_verdict_follows_the_runs() -> None:
    preset = PRESETS["chien-users"]
    points = preset.points()
    published = {"DPALS, a quarter of the users": 0.2, "DPFW, all users, source's noise": 0.9, "DPFW, all users": 0.4}
    assert preset.verdict(points, made(points, published)).reproduced
    other = preset.verdict(points, made(points, published | {"DPALS, a quarter of the users": 0.95}))
    assert not other.reproduced
    assert "0.950" in other.words
    assert "no verdict yet" in preset.verdict(points, {}).words


def test_a_verdict_says_how_much_of_a_gap_is_the_rule_alone() -> None:
    preset = PRESETS["chien-fig3a"]
    points = preset.points()
    figures = dict.fromkeys({point.label for point in points}, 0.95) | {"DPALS": 0.8, "DPFW": 0.85, "DPFW, source's noise": 0.9}
    verdict = preset.verdict(points, made(points, figures))
    assert verdict.reproduced
    assert "50% of the gap is the accounting rule alone" in verdict.words


def test_data_that_stand_in_are_named() -> None:
    preset = PRESETS["chien-fig3a"]
    used = preset.sweeps(False)[0].data.id
    assert (preset.stands_in() == "") == (used == preset.wants)
    assert PRESETS["chien-fig4"].stands_in() == ""


# ---- the two other roads ----------------------------------------------------------------------------------------------


def line(label: str, values: dict[object, float], **fixed: object) -> list[Summary]:
    name = next(iter(fixed.pop("along", ["threshold"])))  # type: ignore[call-overload]
    return [Summary(label, "sketch", None, {name: at, **fixed}, (value,)) for at, value in values.items()]  # type: ignore[dict-item]


def test_errors_should_fall_with_the_threshold() -> None:
    judge = ROAD_PRESETS["balu-fig3"].judge
    regular = [Summary("Regular MF", "sgd-mf", None, {}, (0.8,))]
    assert judge([*line("Count sketch, k = 4", {1.0: 0.9, NO_THRESHOLD: 0.85}, space_gain=1.0), *regular]).reproduced
    found = judge([*line("Count sketch, k = 4", {1.0: 0.84, NO_THRESHOLD: 0.85}, space_gain=1.0), *regular])
    assert not found.reproduced and "0.8500 at none" in found.words


def test_divergence_should_rise_with_the_threshold_and_fall_with_the_gain() -> None:
    judge = ROAD_PRESETS["balu-fig4"].judge
    rising = line("k", {1.0: 0.2, 2.0: 0.4}, space_gain=1.0) + line("k", {1.0: 0.1, 2.0: 0.2}, space_gain=4.0)
    assert judge(rising).reproduced
    assert not judge(line("k", {1.0: 0.1, 2.0: 0.2}, space_gain=1.0) + line("k", {1.0: 0.2, 2.0: 0.4}, space_gain=4.0)).reproduced
    assert not judge(line("k", {1.0: 0.4, 2.0: 0.2}, space_gain=1.0) + line("k", {1.0: 0.2, 2.0: 0.1}, space_gain=4.0)).reproduced


def test_the_best_regulariser_should_lie_inside() -> None:
    judge = ROAD_PRESETS["balu-fig1"].judge
    assert judge(line("k", {0.0: 0.9, 0.1: 0.8, 1.0: 0.9}, along=["penalty"])).reproduced
    assert not judge(line("k", {0.0: 0.7, 0.1: 0.8, 1.0: 0.9}, along=["penalty"])).reproduced


def test_excess_is_the_mean_over_shares_and_seeds_of_the_same_seeds_ratio() -> None:
    def at(label: str, share: float, *draws: float) -> Summary:
        return Summary(label, "no-retention", None, {"static_share": share}, draws)

    found = [at("Baseline", 0, 1.0, 2.0), at("Static", 0.0, 1.2, 2.2), at("Static", 0.5, 1.1, 2.0), at("Online", 0.0, 1.01, 2.02), at("Slope One", 0, 1.1, 2.2)]
    found += [at("Rated", 0.0, 1.05, 2.0), at("New", 0.0, 1.05, 2.0)]
    assert excesses(found) == pytest.approx({"Static": 0.1, "Online": 0.01, "Slope One": 0.1, "Rated": 0.025, "New": 0.025})
    verdict = ROAD_PRESETS["vallet-table1"].judge(found)
    assert verdict.reproduced and "Static +10.00% (published +3.22%)" in verdict.words
    swapped = [at("Online", 0.0, 1.5, 3.0) if it.label == "Online" else it for it in found]
    assert not ROAD_PRESETS["vallet-table1"].judge(swapped).reproduced
