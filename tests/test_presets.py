"""The figures of the papers: runnable, of the size that is promised, and judged by what the runs say."""

import pytest

from datasets import SampleEntry
from dpmf_core.data import Shape
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, catalogue
from dpmf_core.presets import PRESETS, Preset, find_preset
from dpmf_core.samples import SampleShape
from dpmf_core.sweeps import Point

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

OURS = {"lowrank-table", "films-table", "all-films-table", "faces-table", "topics-table"}
NEEDED |= {"saha-fig2", "saha-fig3", "saha-table3", "saha-fig5", "saha-fig6", "saha-fig8", "saha-table4", "saha-fig10"}


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
        if preset.id == "saha-table4":
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
