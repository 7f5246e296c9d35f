"""The size of the project as one table: tokens, rooms, arrows, floors, circles, options, commands.

A token is one of Python's, without docstrings and comments; a code line holds at least one. A room
is a package or module directly in `dpmf_core`, or `pages` or `datasets`. An arrow is a room that
imports another. A circle is a set of files that import each other, in functions too.
Run: python .ci/size.py [FOLDER]
"""

import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

import click
import grimp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
sys.path.insert(0, str(ROOT))
Arrows = set[tuple[str, str]]


NO_TOKENS = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


@dataclass
class Weight:
    """The tokens, code lines and lines with a comment of some files."""

    tokens: int = 0
    code_lines: int = 0
    comments: int = 0

    @property
    def tokens_a_line(self) -> float:
        return self.tokens / max(self.code_lines, 1)

    @property
    def share_of_comments(self) -> float:
        return self.comments / max(self.code_lines + self.comments, 1)


def weight(*folders: str) -> Weight:
    total = Weight()
    for file in (file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        code_lines = set()
        with file.open("rb") as source:
            for token in tokenize.tokenize(source.readline):
                total.comments += token.type == tokenize.COMMENT
                is_docstring = (
                    token.type == tokenize.STRING and token.start[0] != token.end[0]
                )
                if token.type not in NO_TOKENS and not is_docstring:
                    total.tokens += 1
                    code_lines.add(token.start[0])
        total.code_lines += len(code_lines)
    return total


def imports() -> Arrows:
    graph = grimp.build_graph("dpmf_core", "dpmf_datasets", "pages", cache_dir=None)
    found = {
        (module, other)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
    }
    return {
        (module, other) for module, other in found if not module.startswith(f"{other}.")
    }


def circles(arrows: Arrows) -> list[list[str]]:
    names = sorted({name for arrow in arrows for name in arrow})
    at = {name: place for place, name in enumerate(names)}
    rows = [at[arrow[0]] for arrow in arrows]
    columns = [at[arrow[1]] for arrow in arrows]
    table = coo_array(
        ([1] * len(rows), (rows, columns)), shape=(len(names), len(names))
    )
    count, member = connected_components(table, connection="strong")
    sets = [
        [name for name in names if member[at[name]] == number]
        for number in range(count)
    ]
    return [them for them in sets if len(them) > 1]


def room(module: str) -> str:
    top, _, rest = module.partition(".")
    if top == "dpmf_core" and rest:
        return rest.partition(".")[0]
    return top


def floors(arrows: Arrows) -> int:
    """The number of rooms on the longest way down."""
    below: dict[str, int] = {}

    def depth(name: str, above: tuple[str, ...] = ()) -> int:
        if name not in below:
            lower = [b for a, b in arrows if a == name and b not in above]
            below[name] = 1 + max((depth(b, (*above, name)) for b in lower), default=0)
        return below[name]

    return max(depth(name) for arrow in arrows for name in arrow)


def main() -> None:
    from dpmf_core.cli import program

    by_file = imports()
    arrows = {(room(a), room(b)) for a, b in by_file if room(a) != room(b)}
    context = click.Context(program)
    fit = program.get_command(context, "fit")
    assert fit is not None
    options = [option for option in fit.params if isinstance(option, click.Option)]
    hidden = sum(option.hidden for option in options)
    weights = {
        "product": weight("dpmf_core", "pages", "datasets"),
        "tests": weight("tests"),
        "benchmarks": weight("benchmarks"),
    }
    for name, part in weights.items():
        print(f"| {name + ': tokens':45} | {part.tokens:>7,} |")
        print(f"| {name + ': tokens a code line':45} | {part.tokens_a_line:>7.1f} |")
        print(
            f"| {name + ': comments, share of lines':45} | {part.share_of_comments:>7.1%} |"
        )
    rows = {
        "rooms": len({name for arrow in arrows for name in arrow}),
        "floors": floors(arrows),
        "arrows": len(arrows),
        "circles of files": len(circles(by_file)),
        "options of fit": len(options) - hidden,
        "options of fit that --param lists": hidden,
        "commands": len(program.list_commands(context)),
    }
    for name, value in rows.items():
        print(f"| {name:45} | {value:>7,} |")
    for them in circles(by_file):
        print("circle:", ", ".join(them))


if __name__ == "__main__":
    main()
