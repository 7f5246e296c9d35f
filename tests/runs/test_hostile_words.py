"""Hostile text in every parameter of a link and every option ends in a sentence."""

import re
from collections.abc import Iterator

import click
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.cli import main, program
from tests.pages.driving import app_of, behind_sidebar, page_at

pytestmark = pytest.mark.slow
TEXTS = (
    "", " ", "0", "-1", "1e999", "nan", "inf", "-inf", "9" * 400, "1e-400", "0x10", "1,2", "1;2",
    "true", "None", "null", "[]", "{}", "../../../etc/passwd", "/dev/zero", "file:///etc/passwd",
    "a" * 5000, "\x00", "\x1b[31m", "\u202e", "😀", "Ж", "<script>alert(1)</script>",
    "![x](http://example.org/x.png)", "$\\frac{1}{0}$", "=1+1", "@SUM(A1)",
    "'; DROP TABLE runs; --", "%s%n", "{0}", "${HOME}", "g:1e308:99999999", "g:5:1," * 300,
    "dpals,dpals,als", "rank = 1, 2, 1e9", "5" + "0" * 30,
)  # fmt: skip
PAGES = {
    "explore/page.py": (
        "data", "top", "algo", "eps", "delta", "seed", "rule", "p.rank", "p.steps",
        "p.clip_norm", "p.sampling", "p.biases", "class",
    ),
    "tradeoff/page.py": ("fig", "methods", "epsilons", "draws", "grid", "noise", "judge", "metric"),
    "topics/page.py": ("data", "algo", "p.n_components", "p.start"),
    "faces/page.py": ("data", "algo", "p.n_components"),
    "accountant/page.py": ("from", "ledger"),
    "audit/page.py": ("attack", "at", "runs", "fault", "canary", "aseed"),
    "tune/page.py": ("algo", "eps"),
    "lessons/page.py": ("lesson",),
    "glossary/page.py": ("term",),
}  # fmt: skip


def open_page(page: str, name: str, text: str) -> AppTest:
    """The page as a link with this one strange value opens it, on the smallest data set."""
    app = app_of(behind_sidebar(page))
    if page_at(page).data_kind == "ratings":
        app.query_params["data"] = "cinema-small"
    if page == "audit/page.py":
        app.query_params["runs"] = "40"
    app.query_params[name] = text
    return app.run()


def texts_for(name: str) -> list[str]:
    """A sample of the texts that is always the same for one parameter."""
    rng = np.random.default_rng(list(name.encode()))
    return [TEXTS[place] for place in rng.choice(len(TEXTS), 2, replace=False)]


@pytest.mark.parametrize("page", PAGES)
def test_no_link_breaks_a_page(page):
    for name in PAGES[page]:
        text = texts_for(name)[0]
        app = open_page(page, name, text)
        assert not app.exception, (name, text[:60], [error.value for error in app.exception])
        texts = [
            str(element.value)
            for element in (*app.error, *app.warning, *app.title, *app.markdown, *app.caption)
        ]
        assert texts, (name, text[:60])
        assert not any(re.search(r"(?<!\\)(<script>|\[x\]\(http)", value) for value in texts), (
            name,
            text[:60],
        )


def commands_of(group: click.Group) -> dict[str, click.Command]:
    """All commands of a group, loaded."""
    context = click.Context(group)
    by_name = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in by_name.items() if command is not None}


def options() -> Iterator[tuple[str, str]]:
    """Every option of every command that takes a value."""
    for name, command in commands_of(program).items():
        group = isinstance(command, click.Group)
        parts = commands_of(command).values() if group else (command,)
        for part in parts:
            words = name if part is command else f"{name} {part.name}"
            yield from (
                (words, option.opts[0])
                for option in part.params
                if isinstance(option, click.Option) and not option.is_flag
            )


SOUND = {
    "fit": ["--dataset", "cinema-small", "--algorithm", "private-bias", "--epsilon", "2"],
    "sweep": [
        "--dataset", "cinema-small", "--algorithms", "private-bias", "--epsilons", "2",
        "--seeds", "0",
    ],
    "account": ["--release", "gaussian:5:1", "--delta", "1e-6"],
    "audit": ["--algorithm", "private-bias", "--epsilon", "1", "--runs", "40"],
    "tune": [
        "--dataset", "cinema-small", "--algorithm", "private-bias", "--epsilon", "2",
        "--vary", "prior_deviation", "--trials", "1",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "option"), list(options()), ids=lambda part: part.replace(" ", "-")
)
def test_no_value_of_an_option_breaks_a_command(words, option, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for text in texts_for(f"{words}{option}"):
        if option == "--out" and "/" in text:
            continue
        code = main(
            [*words.split(), *SOUND.get(words, []), f"{option}={text}".replace("\x00", "NUL")]
        )
        output = capsys.readouterr()
        assert code in (0, 2), (text[:60], output.err[-500:])
        assert "Traceback" not in output.err and "bug in dpmf" not in output.err
        assert code == 0 or len(output.err.strip()) > 10
