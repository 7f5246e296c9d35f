"""How far the sessions of a class have come, and what they answered: no names are asked, and none
are kept.

A session has a place of its own, drawn by the server, and one small file, replaced as a whole:
several servers may share the folder.
"""

import contextlib
import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder, data_folder, workplace
from dpmf_core.serving.settings import settings

SEAT = re.compile(r"[A-Za-z0-9_-]{16}")
CLASS = re.compile(r"[A-Za-z0-9_-]{8,32}")
MOST_SEATS = 500  # of one class
LONGEST = 2_000  # letters of an answer
MOST_ANSWERS = 200  # of one session
Answers = dict[str, str]  # by step


def _folder() -> Path:
    return data_folder() / "classes"


def _file(class_id: str, seat: str) -> Path:
    if not CLASS.fullmatch(class_id) or not SEAT.fullmatch(seat):
        raise ValueError("a class and a seat are named by letters that this server drew")
    return _folder() / f"{class_id}.{seat}.json"


def new_seat() -> str:
    return secrets.token_urlsafe(12)


def record(class_id: str, seat: str, answers: Mapping[str, str]) -> None:
    """Keep what one session has reached and answered. Raises BadInput where the class is full."""
    file = _file(class_id, seat)
    if not file.exists():
        create_folder(_folder())
        _make_room(class_id)
    short = {step[:40]: text[:LONGEST] for step, text in list(answers.items())[:MOST_ANSWERS]}
    aside = workplace() / f"{class_id}.{seat}"
    aside.write_text(json.dumps(short), "utf-8")
    aside.replace(file)


def answers_of(class_id: str, seat: str) -> Answers | None:
    """What a session had reached and answered; None where there is no such seat."""
    if not CLASS.fullmatch(class_id) or not SEAT.fullmatch(seat):
        return None
    file = _file(class_id, seat)
    return _read(file) if file.is_file() else None


def class_answers(class_id: str) -> list[Answers]:
    """One for each session of a class, in an order that says nothing of who came when."""
    if not CLASS.fullmatch(class_id):
        return []
    return [_read(file) for file in sorted(_folder().glob(f"{class_id}.*.json"))]


def count() -> int:
    """How many classes have given answers."""
    return len({file.name.split(".")[0] for file in _folder().glob("*.json")})


def _read(file: Path) -> Answers:
    try:
        answers = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return (
        {str(step): str(text) for step, text in answers.items()}
        if isinstance(answers, dict)
        else {}
    )


def _make_room(class_id: str) -> None:
    """Room for one more session: of other classes the one that was used longest ago goes."""
    newest: dict[str, float] = {}
    seats = 0
    for file in _folder().glob("*.json"):
        name = file.name.split(".")[0]
        with contextlib.suppress(FileNotFoundError):  # another server has just removed it
            newest[name] = max(newest.get(name, 0.0), file.stat().st_mtime)
            seats += name == class_id
    if seats >= MOST_SEATS:
        raise BadInput(
            f"{MOST_SEATS} sessions have opened this lesson already, and no more answers are kept."
        )
    others = sorted((name for name in newest if name != class_id), key=newest.__getitem__)
    for name in others[: max(0, len(others) + 1 - settings().most_lessons)]:
        for file in _folder().glob(f"{name}.*.json"):
            file.unlink(missing_ok=True)
