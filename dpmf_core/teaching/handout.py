"""A handout of lessons as one HTML file that prints on paper: what to predict, room to write, and,
for the teacher, the answers.
"""

from collections.abc import Sequence
from html import escape

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
TITLE = "What privacy costs: a course"
LINES = 5  # to write on


def handout_page(lessons: Sequence[Lesson], solved: bool = False) -> str:
    """The handout as an HTML page; solved: with the answers."""
    sections = "".join(_section(lesson, solved) for lesson in lessons)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{TITLE}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{TITLE}</h1>\n{sections}</body></html>\n"
    )


def _section(lesson: Lesson, solved: bool) -> str:
    parts = "".join(_part(part, solved) for part in lesson.parts)
    return (
        f"<section><h2>{escape(lesson.title)}</h2><p>{escape(lesson.idea)}</p>{parts}"
        f'<div class="part"><h3>In your own words</h3><p>{escape(lesson.own_words)}</p>'
        f"{_answer(lesson.model, solved)}</div></section>\n"
    )


def _part(part: Part, solved: bool) -> str:
    answers = "".join(
        f'<li class="{"right" if solved and place == part.right else ""}">{escape(answer)}</li>'
        for place, answer in enumerate(part.answers)
    )
    because = f'<p class="model">{escape(part.because)}</p>' if solved else ""
    return (
        f'<div class="part"><h3>{escape(part.heading)}</h3><p>{escape(part.words)}</p>'
        f"<p><b>{escape(part.question)}</b></p><ul>{answers}</ul>{because}"
        f"<p><i>Try it.</i> {escape(part.task)}</p></div>"
    )


def _answer(model: str, solved: bool) -> str:
    room = '<div class="room"></div>' * LINES
    return f'<p class="model">{escape(model)}</p>' if solved else room
