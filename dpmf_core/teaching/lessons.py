"""All lessons in the order of the course: each uses what those before it said."""

import tomllib
from importlib.resources import files

from dpmf_core.registry import by_id
from dpmf_core.teaching.course import Lesson, Part


def _lessons() -> dict[str, Lesson]:
    content = tomllib.loads(files(__package__).joinpath("lessons.toml").read_text("utf-8"))
    lessons = []
    for fields in content["lesson"]:
        parts = [{**part, "answers": tuple(part["answers"])} for part in fields.pop("parts")]
        lessons.append(Lesson(**fields, parts=tuple(Part(**part) for part in parts)))
    return by_id(lessons)


LESSONS = _lessons()
