"""Lesson links: what they may say, and that nothing but what this server signed opens them."""

import hashlib
import json
import stat
import zlib
from datetime import date

import pytest
from itsdangerous import URLSafeSerializer
from itsdangerous.encoding import base64_decode, base64_encode

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import setting_rows, settings
from dpmf_core.teaching import completion, signing
from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
    sequence_of,
)

KEY = "k" * 40


@pytest.fixture(autouse=True)
def lesson_key(configure):
    configure(lesson_key=KEY)


def sequence(**more):
    link = LessonLink.parse(
        page="explore",
        query={"epsilon": "1", "class": "x", "seat": "y", "dataset": "cinema"},
        locked=("epsilon",),
        hidden=("delta",),
        title="T",
        question="Q?",
    )
    return LessonSequence.parse(steps=(link, link), title="All", **more)


def test_a_link_holds_everything_itself(tmp_path):
    lesson = sequence(gathers=True)
    token = link_token(lesson)
    assert sequence_of(token) == lesson
    assert len(token) < 500
    assert lesson.steps[0].fixed == {"epsilon", "delta"}
    assert lesson.steps[0].query == {"epsilon": "1", "dataset": "cinema"}
    assert not list(tmp_path.rglob("*"))
    assert link_token(sequence()) != link_token(sequence())
    assert sequence_of(link_token(lesson, TEACHER), TEACHER) == lesson


def test_a_link_that_no_address_could_hold_is_refused():
    link = LessonLink.parse(
        page="explore", query={"x": "".join(map(chr, range(33, 2_000)))}
    )
    with pytest.raises(BadInput):
        link_token(LessonSequence.parse(steps=(link,) * 20))


def edit(token):
    """The same with ε unlocked, under the old signature."""
    body, _, signature = token.rpartition(".")
    whole = json.loads(zlib.decompress(base64_decode(body.removeprefix("."))))
    for step in whole["steps"]:
        step["locked"] = []
    again = base64_encode(zlib.compress(json.dumps(whole).encode())).decode()
    return f".{again}.{signature}"


def by(key, purpose="lesson", **options):
    content = sequence().model_dump(mode="json")
    signer_options = options or {
        "key_derivation": "hmac",
        "digest_method": hashlib.sha256,
    }
    return lambda _: str(
        URLSafeSerializer(key, f"dpmf.{purpose}", signer_kwargs=signer_options).dumps(
            content
        )
    )


def at(text, place):
    """Another letter at one place."""
    if text[place] != "A":
        letter = "A"
    else:
        letter = "B"
    return text[:place] + letter + text[place:][1:]


def content_of(token):
    return token.rpartition(".")[0]


def signature_of_another():
    return link_token(sequence()).rpartition(".")[2]


BOMB = "." + base64_encode(zlib.compress(b"0" * 10**6)).decode() + ".x"
FORGERIES = {
    "the content edited": edit,
    "the signature cut": lambda token: token[:-1],
    "the signature gone": content_of,
    "one letter of the signature changed": lambda token: at(token, -2),
    "one letter of the content changed": lambda token: at(token, 9),
    "a signature of another link": lambda token: (
        f"{content_of(token)}.{signature_of_another()}"
    ),
    "another key": by("x" * 40),
    "no key": by(""),
    "another purpose": by(KEY, "teacher"),
    "another digest": by(KEY, key_derivation="hmac"),
    "another derivation": by(KEY, key_derivation="concat"),
    "a teacher's link as that of a class": lambda _: link_token(sequence(), TEACHER),
    "a bomb": lambda _: BOMB,
    "half a megabyte": lambda token: token * 1_000,
    "no ASCII": lambda token: f"{token}é.",
    "a dot": lambda _: ".",
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_link_does_not_open(forgery):
    token = FORGERIES[forgery](link_token(sequence()))
    assert token != link_token(sequence())
    with pytest.raises(BadInput):
        sequence_of(token)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nothing-like-it",
        "../../etc/passwd",
        "x" * 500,
        "..%2f..%2fx",
        "\x00abcdefgh",
    ],
)
def test_a_link_under_another_name_does_not_open(name):
    with pytest.raises(BadInput):
        sequence_of(name)


def test_links_outlive_the_disk_where_the_operator_has_set_a_key(tmp_path, monkeypatch):
    token = link_token(sequence())
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "another"))
    assert sequence_of(token).title == "All"
    assert signing.key_is_lasting()


def test_without_a_setting_the_key_is_drawn_once_for_its_user_alone(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.delenv("DPMF_LESSON_KEY")
    settings.cache_clear()
    token = link_token(sequence())
    assert not signing.key_is_lasting()
    assert "DPMF_LESSON_KEY" in caplog.text
    file = tmp_path / signing.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(file.read_text()) == 64
    signing._key_in.cache_clear()  # another process
    assert sequence_of(token).title == "All"
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "another"))
    with pytest.raises(BadInput):
        sequence_of(token)


@pytest.mark.parametrize("key", ["", " " * 64, "x" * 31])
def test_a_file_that_holds_no_key_signs_nothing(monkeypatch, tmp_path, key):
    monkeypatch.delenv("DPMF_LESSON_KEY", raising=False)
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    (tmp_path / signing.FILE).write_text(key)
    with pytest.raises(BadInput, match="at least 32 letters"):
        signing.sign("sequence", {"title": "All"})
    (tmp_path / signing.FILE).unlink()
    assert signing.content("sequence", signing.sign("sequence", 1)) == 1


def test_the_key_is_printed_nowhere(configure):
    assert KEY not in str(setting_rows())
    assert KEY not in repr(settings())
    configure(lesson_key="too-short-a-key")
    with pytest.raises(BadInput, match="lesson_key") as error:
        settings()
    assert "too-short-a-key" not in str(error.value)


def test_a_code_says_what_was_finished_and_cannot_be_made():
    code = completion.code("found", 2, 3, "a seat", "2026-03-02")
    result = completion.read(f"  {code.lower().replace('-', ' ')} ")
    assert result.what == completion.mark("found")
    assert result.right == 2
    assert result.n_questions == 3
    assert result.day == date(2026, 3, 2)
    assert len(code) < 40
    # as after a reload
    assert completion.code("found", 2, 3, "a seat", "2026-03-02") == code
    assert completion.code("found", 2, 3, "another", "2026-03-02") != code
    letters = code.replace("-", "")
    changed = [at(letters, place) for place in range(len(letters))]
    for text in (
        "",
        "A",
        "1" * 32,
        letters[:-1],
        letters + "A",
        "é" * 32,
        "A" * 10_000,
        *changed,
    ):
        with pytest.raises(signing.ForgedToken):
            completion.read(text)


def finished_code():
    """A code, and the ways in which it may be written."""
    code = completion.code("neighbours", 2, 3, "a seat", "2026-03-02")
    ways = {
        "code": code,
        "lower": code.lower(),
        "spaced": code.replace("-", " "),
        "plain": code.replace("-", ""),
        "dashes": code.replace("-", "\u2013"),  # as a text program writes hyphens
        "changed": at(code, 3),
    }
    return completion.read(code), ways


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("{code}", ""),
        ("  {lower}  ", ""),
        ("Ada Lovelace, {code}", "Ada Lovelace"),
        ("Ada Lovelace: {code}", "Ada Lovelace"),
        ("Ada Lovelace {code}", "Ada Lovelace"),
        ("Adalovel {spaced} late", "Adalovel late"),  # a name like a group of letters
        (
            '"Lovelace, Ada";ada@example.org;{code};30.11.',
            "Lovelace, Ada, ada@example.org, 30.11.",
        ),
        ('17,"Lovelace, Ada","{code}",9.5', "17, Lovelace, Ada, 9.5"),
        ("Lovelace\tAda\t{plain}\t", "Lovelace, Ada"),
        ("Ada, {dashes}", "Ada"),
        ('a "b {code}', 'a "b'),
    ],
)
def test_a_code_is_read_out_of_its_line_and_the_rest_is_kept(line, rest):
    content, ways = finished_code()
    handed_in = completion.find(line.format_map(ways))
    assert handed_in.content == content
    assert handed_in.rest == rest


@pytest.mark.parametrize(
    ("line", "has_code", "rest"),
    [
        ("Name;E-mail;Code", False, "Name, E-mail, Code"),
        ("", False, ""),
        ("Ada, {changed}", True, "Ada"),
        ("Ada, {code}X", False, "Ada, {code}X"),
    ],
)
def test_a_line_without_a_valid_code_is_kept_too(line, has_code, rest):
    _, ways = finished_code()
    handed_in = completion.find(line.format_map(ways))
    assert handed_in.content is None
    assert bool(handed_in.code) == has_code
    assert handed_in.rest == rest.format_map(ways)


@pytest.mark.parametrize(
    "parts",
    [
        {"page": "../runs"}, {"page": "explore", "locked": ("everything",)},
        {"page": "explore", "query": {"x": "y" * 5000}}, {"page": "explore", "title": "x" * 121},
        {"page": "explore", "more": 1},
    ],
)  # fmt: skip
def test_what_cannot_be_a_link_is_refused(parts):
    with pytest.raises(BadInput):
        LessonLink.parse(**parts)
