"""What an epsilon means for one person, as a hundred figures that follow the slider."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from dpmf_core.privacy.interpretation import Meaning
from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent)
# {..}: filled in by the browser
WORDS = {
    "title": "What ε = {epsilon} means for one person",
    "suspicion": (
        "Someone who starts at 50:50 can become {about}at most {suspicion}% sure that you took"
        " part, except with probability {exception}."
    ),
    "always": (
        "Someone who starts at 50:50 can never become more than {about}{suspicion}% sure that you"
        " took part."
    ),
    "guess": (
        "The best attacker is right {about}{correct} times in 100; guessing is right 50 times."
    ),
    "about": "about ",
}


def draw(key: str, epsilon: float, meanings: Mapping[float, Meaning]) -> None:
    """meanings: by epsilon, what was computed from the exact curve; the browser draws what lies
    between as being about so much.
    """
    points = [{"epsilon": at, **asdict(meanings[at])} for at in sorted(meanings)]
    COMPONENT.mount(key, {"epsilon": epsilon, "points": points, "words": WORDS})
