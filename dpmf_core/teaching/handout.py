"""A handout of lessons as one HTML file that prints on paper: what to predict, room to write, and,
for the teacher, the answers.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from dpmf_core.language import phrase, translated
from dpmf_core.teaching.course import Lesson, Part

STYLE = """
body { font: 11pt/1.45 Georgia, serif; max-width: 17cm; margin: 1cm auto; color: #111; }
h1 { font-size: 20pt; margin: 0 0 .3cm } h2 { font-size: 15pt; margin: 0 0 .2cm }
h3 { font-size: 12pt; margin: .5cm 0 .1cm } p { margin: .15cm 0 }
section { break-before: page } section:first-of-type { break-before: auto }
ul { list-style: none; padding-left: .3cm } li::before { content: "\\25a1\\00a0\\00a0" }
li.right::before { content: "\\25a0\\00a0\\00a0" }
.room { border-bottom: 1px solid #999; height: .9cm }
.model { border-left: 3px solid #999; padding-left: .3cm } .part { break-inside: avoid }
@page { margin: 1.5cm }
""".strip()
TITLE = phrase("What privacy costs: a course")
LINES = 5  # to write on


def handout_page(lessons: Sequence[Lesson], language: str, solved: bool = False) -> str:
    """The handout in a language; solved: with the answers."""

    def say(text: str, **values: Any) -> str:
        return escape(translated(language, text, **values))

    sections = "".join(_section(lesson, say, solved) for lesson in lessons)
    title = say(TITLE)
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{sections}</body></html>\n"
    )


def _section(lesson: Lesson, say: Any, solved: bool) -> str:
    parts = "".join(_part(part, say, solved) for part in lesson.parts)
    return (
        f"<section><h2>{say(lesson.title)}</h2><p>{say(lesson.idea)}</p>{parts}"
        f'<div class="part"><h3>{say("In your own words")}</h3><p>{say(lesson.own_words)}</p>'
        f"{_answer(say(lesson.model), solved)}</div></section>\n"
    )


def _part(part: Part, say: Any, solved: bool) -> str:
    answers = "".join(
        f'<li class="{"right" if solved and place == part.right else ""}">{say(answer)}</li>'
        for place, answer in enumerate(part.answers)
    )
    because = f'<p class="model">{say(part.because)}</p>' if solved else ""
    return (
        f'<div class="part"><h3>{say(part.heading)}</h3><p>{say(part.words)}</p>'
        f"<p><b>{say(part.question)}</b></p><ul>{answers}</ul>{because}"
        f"<p><i>{say('Try it.')}</i> {say(part.task)}</p></div>"
    )


def _answer(model: str, solved: bool) -> str:
    room = '<div class="room"></div>' * LINES
    return f'<p class="model">{model}</p>' if solved else room
