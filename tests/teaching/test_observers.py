"""The diagrams of who sees what, against their words."""

import re

import pytest

from dpmf_core.teaching.lessons import LESSONS
from dpmf_core.teaching.observers import DESIGNS
from pages.kit.privacy import observer_diagram

EVERY_DESIGN = pytest.mark.parametrize("design", DESIGNS.values(), ids=list(DESIGNS))


@pytest.fixture(autouse=True)
def light(monkeypatch):
    monkeypatch.setattr("pages.kit.figures.colours.is_dark", lambda: False)


def nodes(dot):
    """The nodes of a diagram: look by id."""
    return dict(re.findall(r"^(\w+) \[label=(.*)\]$", dot, re.M))


@EVERY_DESIGN
def test_a_diagram_has_the_observers_of_its_table_and_no_others(design):
    for observer in design.observers:
        looks = nodes(observer_diagram.dot(design, observer))
        assert [name for name, look in looks.items() if "shape=oval" in look] == [
            one.id for one in design.observers
        ]
        bold = [name for name, look in looks.items() if "penwidth" in look]
        assert bold == [observer.id]
    rows = observer_diagram.table(design)
    assert list(rows["who looks"]) == [one.name for one in design.observers]


@EVERY_DESIGN
def test_what_an_observer_sees_is_coloured_and_the_rest_is_dashed(design):
    for observer in design.observers:
        looks = nodes(observer_diagram.dot(design, observer))
        for thing in design.things:
            if thing.has_noise:
                colour = observer_diagram.WITH_NOISE
            else:
                colour = observer_diagram.WITHOUT_NOISE
            is_seen = thing.id in observer.sees
            assert (colour in looks[thing.id]) == is_seen
            assert ("dashed" in looks[thing.id]) != is_seen


@EVERY_DESIGN
def test_words_and_diagram_agree_on_what_carries_noise(design):
    noisy = {thing.id for thing in design.things if thing.has_noise}
    for observer in design.observers:
        ids = {thing.id for thing in design.things}
        assert set(observer.sees) <= ids
        assert (observer.noisy != "nothing") == bool(noisy & set(observer.sees))
        if observer.exact == "nothing":
            assert set(observer.sees) <= noisy


@EVERY_DESIGN
def test_an_epsilon_bounds_only_what_passes_through_noise(design):
    """Whoever reads your own exact data is not bounded; with noise between, somebody is."""
    for observer in design.observers:
        if "yours" in observer.sees:
            assert "ε bounds it" not in observer.learns
    has_noise = any(thing.has_noise for thing in design.things)
    if not has_noise:
        assert not any(
            re.search("(?<!No )ε bounds", observer.learns)
            for observer in design.observers
        )


def test_the_lesson_shows_as_many_observers_as_its_heading_counts():
    assert LESSONS["joint"].parts[0].heading == "Four observers"
    for name in observer_diagram.IN_LESSON:
        assert len(DESIGNS[name].observers) == 4


def test_words_of_joint_privacy_follow_the_kind_of_data():
    for kind, noun in {
        "users": "ratings",
        "documents": "documents",
        "images": "images",
    }.items():
        labels = [thing.label for thing in DESIGNS[kind].things]
        assert f"Your {noun}" in labels
        assert "$" not in str(DESIGNS[kind])
