"""Lesson links: what they may say, and that nothing but their own name opens them."""

from pathlib import Path

import pytest

from dpmf_core.errors import BadInput
from dpmf_core.lesson_links import LessonLink, keep, opened


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))


def test_a_link_opens_what_was_kept() -> None:
    link = LessonLink.parse(page="explore", query={"eps": "1", "class": "x", "data": "cinema"}, locked=("eps",), hidden=("delta",), title="T", question="Q?")
    assert opened(keep(link)) == link
    assert link.fixed == {"eps", "delta"}
    assert "class" not in link.query
    assert keep(link) != keep(link)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"page": "runs"}, "the page must be one of"), ({"page": "explore", "locked": ("everything",)}, "no control 'everything'"),
        ({"page": "explore", "query": {"x": "y" * 5000}}, "too long"), ({"page": "explore", "title": "x" * 121}, "at most 120"),
        ({"page": "explore", "more": 1}, "not permitted"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_a_sentence(parts: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        LessonLink.parse(**parts)


@pytest.mark.parametrize("name", ["", "nothing-like-it", "../../etc/passwd", "a/b", "x" * 500, "..%2f..%2fx", "\x00abcdefgh"])
def test_no_other_name_opens_anything(name: str) -> None:
    with pytest.raises(BadInput, match="no lesson of this link"):
        opened(name)


def test_a_file_of_another_version_is_a_sentence(tmp_path: Path) -> None:
    ident = keep(LessonLink.parse(page="explore"))
    (tmp_path / "lessons" / f"{ident}.json").write_text('{"page": "explore", "locks": 7}')
    with pytest.raises(BadInput, match="another version"):
        opened(ident)
